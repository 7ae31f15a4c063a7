#include "ingest/record/wall.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "ingest/record/kernel/thread_clock.h"
#include "ingest/record/kernel/thread_records.h"
#include "ingest/record/segment_view.h"

enum { NAME_LOOKS = 64 }; /* after which a thread's name is read again */

/* A record of a thread in the segment, and the thread that has it now. */
struct watched {
    uint32_t tid; /* 0: none, or not met yet */
    uint32_t looks;
    struct thread_clock clock;
    uint64_t since_ns, busy_since_ns;  /* CLOCK_MONOTONIC and what it had run, both when it was met */
    uint64_t busy_ns, ready_ns, at_ns; /* as of the last look: ran; was ready to run; when that was */
    uint64_t credited_ns;              /* since it was met */
    char name[16];
};

struct looked_at {
    char *name;
    int32_t pid;
    struct thread_records records;
    struct watched *threads; /* by record */
    size_t count, capacity;
    struct map index; /* struct wall_key -> its row */
    struct wall_row *rows;
    size_t row_count, row_capacity;
};

struct wall {
    int directory;
    uint32_t hz;
    bool is_paused, is_stopping;
    pthread_t thread;
    pthread_mutex_t lock; /* guards everything here */
    pthread_cond_t stopped;
    struct map names; /* of segments -> index of the process, or -1 where it was forgotten */
    struct looked_at **processes;
    size_t count, capacity;
};

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static void *room_for(void *items, size_t count, size_t *capacity, size_t each) {
    if (count < *capacity) return items;
    *capacity = *capacity ? *capacity * 2 : 16;
    return xrealloc(items, *capacity * each);
}

static void credit(struct looked_at *process, const struct watched *thread, struct wall_key key, uint64_t samples,
                   uint64_t ns) {
    bool added;
    key.tid = thread->tid;
    struct map_entry *entry = map_put(&process->index, &key, sizeof key, &added);
    if (added) {
        process->rows = room_for(process->rows, process->row_count, &process->row_capacity, sizeof *process->rows);
        process->rows[process->row_count] = (struct wall_row){.key = key};
        entry->value = (int64_t)process->row_count++;
    }
    struct wall_row *row = &process->rows[entry->value];
    row->samples += samples;
    row->ns += ns;
    memcpy(row->name, thread->name, sizeof row->name);
}

/* ---- what the kernel says --------------------------------------------------------------------------------------- */

/* The text of a small file of a thread; false: the thread is gone. */
static bool read_of_thread(const struct looked_at *process, uint32_t tid, const char *what, char *text, size_t room) {
    int file = thread_file_open(process->pid, tid, what);
    ssize_t size = file < 0 ? -1 : read(file, text, room - 1);
    if (file >= 0) close(file);
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* Whether it runs or could run; false too where it is gone. */
static bool is_runnable(const struct looked_at *process, uint32_t tid) {
    char text[128];
    const char *after = read_of_thread(process, tid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    return after && after[1] == ' ' && after[2] == 'R';
}

static void read_name(const struct looked_at *process, struct watched *thread) {
    char text[sizeof thread->name + 1];
    if (!read_of_thread(process, thread->tid, "comm", text, sizeof text)) return;
    text[strcspn(text, "\n")] = '\0';
    snprintf(thread->name, sizeof thread->name, "%.15s", text);
}

/* Without such clocks the thread ran since the last look if it runs now. */
static void update_clocks(const struct looked_at *process, struct watched *thread, uint64_t now_ns) {
    if (thread_clock_look(&thread->clock, process->pid, thread->tid)) {
        thread->busy_ns = thread->clock.ran_ns + thread->clock.ready_ns;
        thread->ready_ns = thread->clock.ready_ns;
    } else if (thread->at_ns && is_runnable(process, thread->tid)) {
        thread->busy_ns += now_ns - thread->at_ns;
    }
    thread->at_ns = now_ns;
}

/* ---- a look ----------------------------------------------------------------------------------------------------- */

static void leave(struct watched *thread) {
    thread_clock_close(&thread->clock);
    thread->tid = 0;
}

static void meet(const struct looked_at *process, struct watched *thread, uint32_t tid, uint64_t now_ns) {
    leave(thread);
    *thread = (struct watched){.tid = tid, .clock.file = -1, .since_ns = now_ns};
    update_clocks(process, thread, now_ns);
    read_name(process, thread);
    thread->busy_since_ns = thread->busy_ns;
}

/* Where the thread is, by what it published. */
static struct wall_key place_of(const struct thread_counters *counters) {
    if (counters->wait_since) return (struct wall_key){.state = WALL_FOR, .object = counters->wait_object};
    if (counters->in_call)
        return (struct wall_key){
            .state = WALL_IN_CALL, .stack = (uint32_t)counters->in_call, .call = (uint32_t)(counters->in_call >> 32)};
    return (struct wall_key){.state = WALL_ELSEWHERE, .stack = counters->routine};
}

static void look_at_thread(struct looked_at *process, struct watched *thread, const struct thread_counters *counters,
                           uint64_t now_ns) {
    uint64_t was_ready_ns = thread->ready_ns;
    struct wall_key place = place_of(counters);
    struct wall_key ready = {.state = WALL_READY, .stack = counters->ran_at ? counters->ran_at : counters->routine};
    update_clocks(process, thread, now_ns);
    if (++thread->looks % NAME_LOOKS == 0) read_name(process, thread);
    if (thread->ready_ns > was_ready_ns) credit(process, thread, ready, 0, thread->ready_ns - was_ready_ns);
    uint64_t busy_ns = thread->busy_ns - thread->busy_since_ns, whole_ns = now_ns - thread->since_ns;
    if (whole_ns <= busy_ns + thread->credited_ns) return;
    if (place.state == WALL_ELSEWHERE && is_runnable(process, thread->tid)) return;
    credit(process, thread, place, 1, whole_ns - busy_ns - thread->credited_ns);
    thread->credited_ns = whole_ns - busy_ns;
}

static void look_at_record(struct looked_at *process, size_t record, bool is_paused) {
    struct watched *thread = &process->threads[record];
    struct thread_counters counters;
    if (!thread_records_read(&process->records, record, &counters)) return;
    uint32_t tid = counters.born_at && !is_paused ? counters.tid : 0;
    uint64_t now_ns = (uint64_t)clock_monotonic_ns();
    if (!tid)
        leave(thread);
    else if (tid != thread->tid)
        meet(process, thread, tid, now_ns);
    else
        look_at_thread(process, thread, &counters, now_ns);
}

static void find_records(struct looked_at *process, uint64_t used) {
    thread_records_find(&process->records, used);
    while (process->count < process->records.count) {
        process->threads = room_for(process->threads, process->count, &process->capacity, sizeof *process->threads);
        process->threads[process->count++] = (struct watched){.clock.file = -1};
    }
}

/* It has ended, or another program runs in it: its threads' ids may mean others then. One that is about to end says so, and may
 * take that back. */
static bool is_over(const struct wall *wall, const struct looked_at *process) {
    return segment_is_written(wall->directory, process->name) == 0 || kill(process->pid, 0) != 0;
}

static void end(struct looked_at *process) {
    for (size_t i = 0; i < process->count; i++)
        leave(&process->threads[i]);
    process->count = 0;
    thread_records_close(&process->records);
}

static void look_at_process(struct wall *wall, struct looked_at *process) {
    struct segment head;
    if (process->records.file < 0) return;
    if (!thread_records_head(&process->records, &head) || is_over(wall, process)) return end(process);
    if (head.end_ticks) return;
    find_records(process, head.used);
    for (size_t i = 0; i < process->count; i++)
        look_at_record(process, i, wall->is_paused);
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

static void add_process(struct wall *wall, const char *name) {
    struct thread_records records;
    if (!thread_records_open(&records, wall->directory, name))
        return; /* it is looked for again: its header comes later */
    struct looked_at *process = xcalloc(1, sizeof *process);
    *process = (struct looked_at){.name = xstrdup(name), .pid = records.pid, .records = records};
    wall->processes = room_for(wall->processes, wall->count, &wall->capacity, sizeof *wall->processes);
    map_put(&wall->names, name, strlen(name), NULL)->value = (int64_t)wall->count;
    wall->processes[wall->count++] = process;
}

static void find_processes(struct wall *wall) {
    int copy = openat(wall->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list && copy >= 0) close(copy);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        size_t size = strlen(entry->d_name);
        if (size > 4 && strcmp(entry->d_name + size - 4, ".seg") == 0 && !map_find(&wall->names, entry->d_name, size))
            add_process(wall, entry->d_name);
    }
    if (list) closedir(list);
}

static struct looked_at *find_process(const struct wall *wall, const char *name) {
    const struct map_entry *entry = map_find(&wall->names, name, strlen(name));
    return entry && entry->value >= 0 ? wall->processes[entry->value] : NULL;
}

static void free_process(struct looked_at *process) {
    if (!process) return;
    end(process);
    free(process->threads);
    free(process->rows);
    map_free(&process->index);
    free(process->name);
    free(process);
}

/* ---- the thread that looks -------------------------------------------------------------------------------------- */

static void *look(void *context) {
    struct wall *wall = context;
    int64_t period_ns = 1000000000 / wall->hz, due_ns = clock_monotonic_ns();
    pthread_mutex_lock(&wall->lock);
    while (!wall->is_stopping) {
        find_processes(wall);
        for (size_t i = 0; i < wall->count; i++)
            if (wall->processes[i]) look_at_process(wall, wall->processes[i]);
        int64_t now_ns = clock_monotonic_ns();
        due_ns = due_ns + period_ns > now_ns ? due_ns + period_ns : now_ns + period_ns;
        const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
        pthread_cond_clockwait(&wall->stopped, &wall->lock, CLOCK_MONOTONIC, &due);
    }
    pthread_mutex_unlock(&wall->lock);
    return NULL;
}

struct wall *wall_start(int directory, uint32_t hz, bool is_paused) {
    struct wall *wall = xcalloc(1, sizeof *wall);
    sigset_t all, before;
    *wall = (struct wall){.directory = directory, .hz = hz, .is_paused = is_paused};
    pthread_mutex_init(&wall->lock, NULL);
    pthread_cond_init(&wall->stopped, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&wall->thread, NULL, look, wall) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_started) return wall;
    free(wall);
    return NULL;
}

void wall_stop(struct wall *wall) {
    if (!wall) return;
    pthread_mutex_lock(&wall->lock);
    wall->is_stopping = true;
    pthread_cond_signal(&wall->stopped);
    pthread_mutex_unlock(&wall->lock);
    pthread_join(wall->thread, NULL);
    for (size_t i = 0; i < wall->count; i++)
        free_process(wall->processes[i]);
    free(wall->processes);
    map_free(&wall->names);
    pthread_cond_destroy(&wall->stopped);
    pthread_mutex_destroy(&wall->lock);
    free(wall);
}

void wall_pause(struct wall *wall, bool is_paused) {
    if (!wall) return;
    pthread_mutex_lock(&wall->lock);
    for (size_t i = 0; i < wall->count; i++)
        if (wall->processes[i]) look_at_process(wall, wall->processes[i]);
    wall->is_paused = is_paused;
    pthread_mutex_unlock(&wall->lock);
}

size_t wall_read(struct wall *wall, const char *segment, struct wall_row **rows) {
    *rows = NULL;
    if (!wall) return 0;
    pthread_mutex_lock(&wall->lock);
    struct looked_at *process = find_process(wall, segment);
    size_t count = 0;
    if (process) look_at_process(wall, process);
    if (process && process->row_count) {
        count = process->row_count;
        *rows = xmalloc(count * sizeof **rows);
        memcpy(*rows, process->rows, count * sizeof **rows);
    }
    pthread_mutex_unlock(&wall->lock);
    return count;
}

void wall_forget(struct wall *wall, const char *segment) {
    if (!wall) return;
    pthread_mutex_lock(&wall->lock);
    struct looked_at *process = find_process(wall, segment);
    if (process) {
        struct map_entry *entry = map_find(&wall->names, segment, strlen(segment));
        wall->processes[entry->value] = NULL;
        entry->value = -1;
        free_process(process);
    }
    pthread_mutex_unlock(&wall->lock);
}
