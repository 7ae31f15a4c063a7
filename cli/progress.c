#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

static double seconds_since(const struct timespec *then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

static void show(void *context, const char *path, uint64_t done, uint64_t total) {
    struct progress *progress = context;
    if (!progress->is_shown && seconds_since(&progress->started) < 1) return;
    progress->is_shown = true;
    fprintf(stderr, "\r%s: %.0f %%\033[K", path, total ? 100.0 * (double)done / (double)total : 0.0);
}

void progress_connect(struct progress *progress, struct ingest_options *options) {
    if (!isatty(STDERR_FILENO)) return;
    options->progress = show;
    options->progress_context = progress;
}

void progress_start(struct progress *progress) {
    clock_gettime(CLOCK_MONOTONIC, &progress->started);
}

void progress_clear(struct progress *progress) {
    if (progress->is_shown) fputs("\r\033[K", stderr);
    progress->is_shown = false;
}
