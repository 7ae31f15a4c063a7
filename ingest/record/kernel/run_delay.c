#include "ingest/record/kernel/run_delay.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

enum { THREADS_MOST = 1024 };
enum { LOOK_LEAST_NS = 20000000, LOOK_MOST_NS = 1000000000, LOOKS_OF_AGE = 40, REST_OF_LOOK = 50 };

/* "RAN DELAYED TURNS", in ns. */
static bool read_delay(int tasks, const char *thread, uint64_t *ns) {
    char path[32], text[96], *end;
    if ((size_t)snprintf(path, sizeof path, "%s/schedstat", thread) >= sizeof path) return false;
    int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (size <= 0) return false;
    text[size] = '\0';
    (void)strtoull(text, &end, 10);
    *ns = strtoull(end, NULL, 10);
    return true;
}

static void look_at_thread(struct run_delay *delay, pid_t process, int tasks, const char *thread) {
    uint64_t ns;
    if (!read_delay(tasks, thread, &ns)) return;
    const int64_t key[] = {process, strtol(thread, NULL, 10)};
    struct map_entry *known = map_put(&delay->threads, key, sizeof key, NULL);
    uint64_t before = (uint64_t)known->value;
    delay->ns += ns < before ? ns : ns - before; /* less: another thread has the number now */
    known->value = (int64_t)ns;
    delay->is_known = true;
}

void run_delay_look(struct run_delay *delay, pid_t process) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    if (!tasks) return;
    int seen = 0;
    for (struct dirent *entry; seen < THREADS_MOST && (entry = readdir(tasks));) {
        if (entry->d_name[0] == '.') continue;
        look_at_thread(delay, process, dirfd(tasks), entry->d_name);
        seen++;
    }
    closedir(tasks);
}

void run_delay_looked(struct run_delay *delay, int64_t cpu_ns, int64_t started_ns) {
    int64_t now_ns = clock_monotonic_ns(), rest_ns = (now_ns - started_ns) / LOOKS_OF_AGE;
    if (rest_ns < LOOK_LEAST_NS) rest_ns = LOOK_LEAST_NS;
    if (rest_ns > LOOK_MOST_NS) rest_ns = LOOK_MOST_NS;
    if (rest_ns < cpu_ns * REST_OF_LOOK) rest_ns = cpu_ns * REST_OF_LOOK;
    delay->due_ns = now_ns + rest_ns;
}

void run_delay_free(struct run_delay *delay) {
    map_free(&delay->threads);
}
