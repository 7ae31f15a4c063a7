#include "ingest/record/kernel/run_delay.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
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

/* -1: it is gone. */
static int64_t look_at_process(struct run_delay *delay, pid_t process) {
    char path[48];
    uint64_t ns = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(path);
    if (!tasks) return -1;
    int seen = 0;
    for (struct dirent *entry; seen < THREADS_MOST && (entry = readdir(tasks));) {
        if (entry->d_name[0] == '.') continue;
        ns += look_at_thread(delay, process, dirfd(tasks), entry->d_name);
        seen++;
    }
    closedir(tasks);
    return (int64_t)ns;
}

/* ---- all processes ----------------------------------------------------------------------------------------------- */

int64_t run_delay_rest(int64_t age_ns, int64_t cpu_ns) {
    int64_t rest_ns = age_ns / LOOKS_OF_AGE;
    if (rest_ns < LOOK_LEAST_NS) rest_ns = LOOK_LEAST_NS;
    if (rest_ns > LOOK_MOST_NS) rest_ns = LOOK_MOST_NS;
    return rest_ns < cpu_ns * REST_OF_LOOK ? cpu_ns * REST_OF_LOOK : rest_ns;
}

static void look_at_all(struct run_delay *delay) {
    int64_t began_cpu_ns =
        clock_thread_cpu_ns(); /* not the time in which it waited itself, or it would look least where most is lost */
    delay->looked_ns = delay->looking_ns ? delay->looking_ns : delay->started_ns;
    delay->looking_ns = clock_monotonic_ns();
    for (size_t i = delay->watched_count; i-- > 0;) {
        struct watched_process *watched = &delay->watched[i];
        int64_t more = look_at_process(delay, watched->pid);
        if (more > 0)
            watched->untaken_ns += (uint64_t)more;
        else if (more < 0 && !watched->untaken_ns)
            *watched = delay->watched[--delay->watched_count];
    }
    int64_t now_ns = clock_monotonic_ns();
    delay->due_ns = now_ns + run_delay_rest(now_ns - delay->started_ns, clock_thread_cpu_ns() - began_cpu_ns);
    /* Where there are processors for all, nobody is asked for its state. */
    delay->asks_states =
        (delay->ns - delay->looked_sum_ns) * PARTS_OF_DELAY >= (uint64_t)(delay->looking_ns - delay->looked_ns);
    delay->looked_sum_ns = delay->ns;
}

static struct watched_process *find_watched(struct run_delay *delay, pid_t process) {
    for (size_t i = 0; i < delay->watched_count; i++)
        if (delay->watched[i].pid == process) return &delay->watched[i];
    return NULL;
}

void run_delay_watch(struct run_delay *delay, pid_t process) {
    pthread_mutex_lock(&delay->lock);
    if (!find_watched(delay, process)) {
        if (delay->watched_count == delay->watched_capacity) {
            delay->watched_capacity = delay->watched_capacity ? delay->watched_capacity * 2 : 4;
            delay->watched = xrealloc(delay->watched, delay->watched_capacity * sizeof *delay->watched);
        }
        delay->watched[delay->watched_count++] = (struct watched_process){.pid = process};
        delay->due_ns = 0; /* it may be gone soon */
    }
    pthread_mutex_unlock(&delay->lock);
}

void run_delay_look(struct run_delay *delay) {
    pthread_mutex_lock(&delay->lock);
    if (clock_monotonic_ns() >= delay->due_ns) look_at_all(delay);
    pthread_mutex_unlock(&delay->lock);
}

uint64_t run_delay_take(struct run_delay *delay, pid_t process, bool is_over) {
    pthread_mutex_lock(&delay->lock);
    struct watched_process *watched = find_watched(delay, process);
    uint64_t ns = watched ? watched->untaken_ns : 0;
    if (watched) watched->untaken_ns = 0;
    if (watched && is_over) *watched = delay->watched[--delay->watched_count];
    pthread_mutex_unlock(&delay->lock);
    return ns;
}

struct run_delay_sum run_delay_sum(struct run_delay *delay) {
    pthread_mutex_lock(&delay->lock);
    struct run_delay_sum sum = {delay->ns, delay->is_known};
    pthread_mutex_unlock(&delay->lock);
    return sum;
}

struct thread_delay *run_delay_threads(struct run_delay *delay, pid_t process, size_t *count) {
    *count = 0;
    pthread_mutex_lock(&delay->lock);
    struct thread_delay *copy = delay->count ? xmalloc(delay->count * sizeof *copy) : NULL;
    for (size_t i = 0; i < delay->count; i++)
        if (delay->threads[i].process == process && delay->threads[i].ns >= DELAY_NAMED_NS)
            copy[(*count)++] = delay->threads[i];
    pthread_mutex_unlock(&delay->lock);
    return copy;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void *look_where_late(void *context) {
    enum { LATE_NS = 5000000 };
    struct run_delay *delay = context;
    pthread_mutex_lock(&delay->lock);
    while (!delay->is_stopping) {
        int64_t now_ns = clock_monotonic_ns(), due_ns = delay->due_ns + LATE_NS;
        if (now_ns >= due_ns && delay->watched_count) look_at_all(delay);
        due_ns = (delay->due_ns > now_ns ? delay->due_ns : now_ns) + LATE_NS;
        const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
        pthread_cond_clockwait(&delay->stopped, &delay->lock, CLOCK_MONOTONIC, &due);
    }
    pthread_mutex_unlock(&delay->lock);
    return NULL;
}

void run_delay_look_beside(struct run_delay *delay) {
    sigset_t all, before;
    if (delay->has_thread) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    delay->has_thread = pthread_create(&delay->thread, NULL, look_where_late, delay) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void run_delay_open(struct run_delay *delay, int64_t started_ns) {
    *delay = (struct run_delay){.started_ns = started_ns};
    pthread_mutex_init(&delay->lock, NULL);
    pthread_cond_init(&delay->stopped, NULL);
}

void run_delay_close(struct run_delay *delay) {
    pthread_mutex_lock(&delay->lock);
    delay->is_stopping = true;
    pthread_cond_signal(&delay->stopped);
    pthread_mutex_unlock(&delay->lock);
    if (delay->has_thread) pthread_join(delay->thread, NULL);
    pthread_cond_destroy(&delay->stopped);
    pthread_mutex_destroy(&delay->lock);
    map_free(&delay->index);
    free(delay->threads);
    free(delay->watched);
}
