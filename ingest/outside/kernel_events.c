#include "ingest/outside/kernel_events.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING_MAX = 2 << 20, RING_LEAST = 64 << 10 };
enum { STACK_COPY = 8 << 10 };
enum {
    WAITS_HZ = 1000
}; /* of a thread: up to there each wait is seen, above one of several, with their number as its weight */
enum { LISTS_MAX = 20 }; /* of the threads, until no new one is there */

/* The registers that unwinding needs (asm/perf_regs.h): all but the segments' of x86-64, all of the others. */
#if defined __x86_64__
#define USER_REGISTERS UINT64_C(0xff0fff)
#else
#define USER_REGISTERS ((UINT64_C(1) << 33) - 1)
#endif

static int open_event(const struct perf_event_attr *attr, pid_t thread, int processor) {
    return (int)syscall(SYS_perf_event_open, attr, thread, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ---- what is counted --------------------------------------------------------------------------------------------- */

static struct perf_event_attr attr_of(uint64_t config, const struct outside_request *request, bool is_user_only) {
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = config,
                                   .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                  PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
                                   .inherit = 1,
                                   .exclude_kernel = is_user_only,
                                   .sample_id_all = 1,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC};
    if (!request->copies_stacks) return attr;
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.exclude_callchain_user = 1;
    attr.sample_regs_user = USER_REGISTERS;
    attr.sample_stack_user = STACK_COPY;
    return attr;
}

static void choose_kinds(struct kernel_events *events, const struct outside_request *request) {
    struct perf_event_attr cpu = attr_of(PERF_COUNT_SW_CPU_CLOCK, request, events->is_user_only);
    struct perf_event_attr waits = attr_of(PERF_COUNT_SW_CONTEXT_SWITCHES, request, false);
    struct perf_event_attr faults = attr_of(PERF_COUNT_SW_PAGE_FAULTS, request, events->is_user_only);
    cpu.sample_period = UINT64_C(1000000000) / (request->hz ? request->hz : 1);
    cpu.mmap = cpu.mmap2 = cpu.comm = cpu.comm_exec = cpu.task = 1;
    waits.freq = faults.freq = 1;
    waits.sample_freq = faults.sample_freq = WAITS_HZ;
    waits.context_switch = 1;
    events->kinds[events->kind_count++].attr = cpu;
    if (request->has_waits && !events->is_user_only) events->kinds[events->kind_count++].attr = waits;
    if (request->has_faults) events->kinds[events->kind_count++].attr = faults;
}

int kernel_events_try(pid_t thread, bool is_user_only) {
    const struct outside_request request = {.hz = 1};
    struct perf_event_attr attr = attr_of(PERF_COUNT_SW_CPU_CLOCK, &request, is_user_only);
    attr.sample_period = UINT64_C(1000000000);
    attr.disabled = 1;
    return open_event(&attr, thread, -1);
}

/* ---- rings ------------------------------------------------------------------------------------------------------- */

/* As much as we may have: without rights, a user has 516 KiB for each processor. */
static int map_ring(struct kernel_ring *ring, int file) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t size = RING_MAX; size >= RING_LEAST; size /= 2) {
        void *pages = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (pages == MAP_FAILED) continue;
        *ring = (struct kernel_ring){file, pages, size};
        return 0;
    }
    return -1;
}

static void take_ring(struct kernel_ring *ring, struct buffer *records) {
    struct perf_event_mmap_page *control = (struct perf_event_mmap_page *)ring->pages;
    const unsigned char *data = ring->pages + sysconf(_SC_PAGESIZE);
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE), tail = control->data_tail;
    while (tail < head) {
        size_t at = tail % ring->size, size = head - tail;
        if (size > ring->size - at) size = ring->size - at;
        buffer_add(records, data + at, size);
        tail += size;
    }
    __atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
}

void kernel_events_take(struct kernel_events *events, struct buffer *records) {
    for (size_t i = 0; i < events->ring_count; i++)
        if (events->rings[i].leader >= 0) take_ring(&events->rings[i], records);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static int refused(pid_t thread, struct error *err) {
    if (errno == EMFILE)
        return error_fail(err, "more open files are needed than there may be (ulimit -n): one for each thread, "
                               "processor and event");
    return error_fail(err, "thread %d: perf_event_open: %s", (int)thread, strerror(errno));
}

/* 1: it is counted; 0: there is no such thread or processor any more. */
static int add_event(struct kernel_events *events, size_t kind, pid_t thread, size_t processor, struct error *err) {
    struct kernel_ring *ring = &events->rings[processor];
    uint64_t id = 0;
    int file = open_event(&events->kinds[kind].attr, thread, (int)processor);
    if (file < 0 && (errno == ESRCH || errno == ENODEV)) return 0;
    if (file < 0) return refused(thread, err);
    buffer_add(&events->files, &file, sizeof file);
    if (ring->leader < 0 ? map_ring(ring, file) : ioctl(file, PERF_EVENT_IOC_SET_OUTPUT, ring->leader))
        return error_fail(err, "thread %d: no memory for its events: %s", (int)thread, strerror(errno));
    if (ioctl(file, PERF_EVENT_IOC_ID, &id)) return refused(thread, err);
    buffer_add(&events->kinds[kind].ids, &id, sizeof id);
    return 1;
}

static int add_thread(struct kernel_events *events, pid_t thread, struct error *err) {
    for (size_t kind = 0; kind < events->kind_count; kind++)
        for (size_t processor = 0; processor < events->ring_count; processor++)
            if (add_event(events, kind, thread, processor, err) < 0) return -1;
    return 0;
}

static bool has_thread(const struct buffer *threads, pid_t thread) {
    for (size_t i = 0; i < threads->size / sizeof thread; i++)
        if (memcmp(threads->data + i * sizeof thread, &thread, sizeof thread) == 0) return true;
    return false;
}

/* Adds the threads that are not there yet; their number, or -1. */
static int add_new_threads(struct kernel_events *events, pid_t pid, struct buffer *threads, struct error *err) {
    char path[64];
    int added = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; added >= 0 && directory && (entry = readdir(directory));) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread <= 0 || has_thread(threads, thread)) continue;
        buffer_add(threads, &thread, sizeof thread);
        added = add_thread(events, thread, err) ? -1 : added + 1;
    }
    if (directory) closedir(directory);
    return added;
}

/* A thread that one without our events has started meanwhile has none: so until a list has nothing new. */
static int add_process(struct kernel_events *events, pid_t pid, struct error *err) {
    struct buffer threads = {0};
    int added = 1;
    for (int i = 0; i < LISTS_MAX && added > 0; i++)
        added = add_new_threads(events, pid, &threads, err);
    buffer_free(&threads);
    return added < 0 ? -1 : 0;
}

int kernel_events_open(struct kernel_events *events, const struct outside_request *request, struct error *err) {
    *events = (struct kernel_events){.ring_count = (size_t)sysconf(_SC_NPROCESSORS_CONF)};
    events->rings = xcalloc(events->ring_count, sizeof *events->rings);
    for (size_t i = 0; i < events->ring_count; i++)
        events->rings[i].leader = -1;
    int file = kernel_events_try(request->pids[0], false);
    events->is_user_only = file < 0 && (errno == EACCES || errno == EPERM);
    if (file >= 0) close(file);
    choose_kinds(events, request);
    for (size_t i = 0; i < request->pid_count; i++)
        if (add_process(events, request->pids[i], err)) return -1;
    return events->files.size ? 0 : error_fail(err, "process %d has ended", (int)request->pids[0]);
}

void kernel_events_close(struct kernel_events *events) {
    for (size_t i = 0; i < events->ring_count; i++)
        if (events->rings[i].leader >= 0)
            munmap(events->rings[i].pages, (size_t)sysconf(_SC_PAGESIZE) + events->rings[i].size);
    for (size_t i = 0; i < events->files.size / sizeof(int); i++) {
        int file;
        memcpy(&file, events->files.data + i * sizeof file, sizeof file);
        close(file);
    }
    for (size_t i = 0; i < events->kind_count; i++)
        buffer_free(&events->kinds[i].ids);
    buffer_free(&events->files);
    free(events->rings);
    *events = (struct kernel_events){0};
}
