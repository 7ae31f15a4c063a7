#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "schema/facts.h"

enum { SILENT_NS = 1000000000 };

static void show(void *context, const char *path, uint64_t done, uint64_t total) {
    struct progress *progress = context;
    if (!progress->is_shown && clock_monotonic_ns() - progress->started_ns < SILENT_NS) return;
    progress->is_shown = true;
    fprintf(stderr, "\r%s: %.0f %%\033[K", path, total ? 100.0 * (double)done / (double)total : 0.0);
}

void progress_connect(struct progress *progress, struct ingest_options *options) {
    if (!isatty(STDERR_FILENO)) return;
    options->progress = show;
    options->progress_context = progress;
}

void progress_start(struct progress *progress) {
    progress->started_ns = clock_monotonic_ns();
}

void progress_clear(struct progress *progress) {
    if (progress->is_shown) fputs("\r\033[K", stderr);
    progress->is_shown = false;
}

/* Facts are made while a file is opened, by whichever command. */
static void show_facts(int64_t done, int64_t total) {
    static int64_t started_ns;
    static bool is_shown;
    if (!started_ns) started_ns = clock_monotonic_ns();
    if (done < total && clock_monotonic_ns() - started_ns >= SILENT_NS) {
        fprintf(stderr, "\rmaking the facts of runs: %lld of %lld\033[K", (long long)done, (long long)total);
        is_shown = true;
    } else if (done >= total && is_shown) {
        fputs("\r\033[K", stderr);
        is_shown = false;
    }
}

void progress_of_facts(void) {
    if (isatty(STDERR_FILENO)) facts_show_progress(show_facts);
}
