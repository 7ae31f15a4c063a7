#include "ingest/record/kernel/run_delay.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

enum { THREADS_MOST = 1024 };
enum { LOOK_LEAST_NS = 20000000, LOOK_MOST_NS = 1000000000, LOOKS_OF_AGE = 40, REST_OF_LOOK = 50, PARTS_OF_DELAY = 10 };

/* A file of a thread, as a text. */
static bool read_text(int tasks, const char *thread, const char *name, char *text, size_t room) {
    char path[32];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", thread, name) >= sizeof path) return false;
    int file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, room - 1);
    if (file >= 0) close(file);
    if (size <= 0) return false;
    text[size] = '\0';
    return true;
}

static void read_name(int tasks, const char *thread, struct thread_delay *seen) {
    char text[sizeof seen->name + 1] = "";
    if (!read_text(tasks, thread, "comm", text, sizeof text)) return;
    text[strcspn(text, "\n")] = '\0';
    snprintf(seen->name, sizeof seen->name, "%.15s", text);
}

static struct thread_delay *thread_of(struct run_delay *delay, pid_t process, const char *thread) {
    const int64_t key[] = {process, strtol(thread, NULL, 10)};
    bool added;
    struct map_entry *entry = map_put(&delay->index, key, sizeof key, &added);
    if (!added) return &delay->threads[entry->value];
    if (delay->count == delay->capacity) {
        delay->capacity = delay->capacity ? delay->capacity * 2 : 16;
        delay->threads = xrealloc(delay->threads, delay->capacity * sizeof *delay->threads);
    }
    entry->value = (int64_t)delay->count;
    delay->threads[delay->count] = (struct thread_delay){.process = (int32_t)key[0], .tid = (int32_t)key[1]};
    return &delay->threads[delay->count++];
}

static bool is_ready(int tasks, const char *thread) {
    char text[160];
    if (!read_text(tasks, thread, "stat", text, sizeof text)) return false;
    const char *behind = strrchr(text, ')'); /* of the name, which may hold anything */
    return behind && strncmp(behind, ") R", 3) == 0;
}

/* Of a stay that is over, less what was counted while it went on. */
static uint64_t add_counted(struct thread_delay *seen, uint64_t ns) {
    uint64_t more = ns < seen->read_ns ? ns : ns - seen->read_ns; /* less: another thread has the number now */
    more = more > seen->pending_ns ? more - seen->pending_ns : 0;
    seen->pending_ns = 0;
    return more;
}

bool thread_delay_has_run(const struct thread_delay *seen, const struct thread_look *look) {
    return !seen->is_seen || look->ran_ns != seen->ran_ns || look->turns != seen->turns;
}

uint64_t thread_delay_add(struct thread_delay *seen, const struct thread_look *look) {
    uint64_t more = 0;
    if (thread_delay_has_run(seen, look)) {
        more = add_counted(seen, look->delay_ns);
    } else if (seen->is_ready && look->is_ready) { /* all the time: without running no thread goes to sleep */
        more = look->since_ns;
        seen->pending_ns += more;
    }
    seen->is_seen = true;
    seen->is_ready = look->is_ready;
    seen->ran_ns = look->ran_ns;
    seen->read_ns = look->delay_ns;
    seen->turns = look->turns;
    seen->ns += more;
    return more;
}

/* "RAN DELAYED TURNS", the first two in ns. */
static uint64_t look_at_thread(struct run_delay *delay, pid_t process, int tasks, const char *thread) {
    char text[96], *end;
    if (!read_text(tasks, thread, "schedstat", text, sizeof text)) return 0;
    struct thread_look look = {.since_ns = (uint64_t)(delay->looking_ns - delay->looked_ns)};
    look.ran_ns = strtoull(text, &end, 10);
    look.delay_ns = strtoull(end, &end, 10);
    look.turns = strtoull(end, NULL, 10);
    struct thread_delay *seen = thread_of(delay, process, thread);
    look.is_ready = delay->asks_states && !thread_delay_has_run(seen, &look) && is_ready(tasks, thread);
    uint64_t more = thread_delay_add(seen, &look);
    if (seen->ns >= DELAY_NAMED_NS && !*seen->name) read_name(tasks, thread, seen);
    delay->ns += more;
    delay->is_known = true;
    return more;
}

void run_delay_begin_look(struct run_delay *delay, int64_t started_ns) {
    delay->looked_ns = delay->looking_ns ? delay->looking_ns : started_ns;
    delay->looking_ns = clock_monotonic_ns();
}

uint64_t run_delay_look(struct run_delay *delay, pid_t process) {
    char path[48];
    uint64_t ns = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    if (!tasks) return 0;
    int seen = 0;
    for (struct dirent *entry; seen < THREADS_MOST && (entry = readdir(tasks));) {
        if (entry->d_name[0] == '.') continue;
        ns += look_at_thread(delay, process, dirfd(tasks), entry->d_name);
        seen++;
    }
    closedir(tasks);
    return ns;
}

void run_delay_looked(struct run_delay *delay, int64_t cpu_ns, int64_t started_ns) {
    int64_t now_ns = clock_monotonic_ns(), rest_ns = (now_ns - started_ns) / LOOKS_OF_AGE;
    if (rest_ns < LOOK_LEAST_NS) rest_ns = LOOK_LEAST_NS;
    if (rest_ns > LOOK_MOST_NS) rest_ns = LOOK_MOST_NS;
    if (rest_ns < cpu_ns * REST_OF_LOOK) rest_ns = cpu_ns * REST_OF_LOOK;
    delay->due_ns = now_ns + rest_ns;
    /* Where there are processors for all, nobody is asked for its state. */
    delay->asks_states =
        (delay->ns - delay->looked_sum_ns) * PARTS_OF_DELAY >= (uint64_t)(delay->looking_ns - delay->looked_ns);
    delay->looked_sum_ns = delay->ns;
}

void run_delay_free(struct run_delay *delay) {
    map_free(&delay->index);
    free(delay->threads);
}
