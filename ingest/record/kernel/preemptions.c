#include "ingest/record/kernel/preemptions.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

enum { RING_SIZE = 256 << 10, PROCESSES_MOST = 64, FILES_MOST = 2048, FILES_SHARE = 4 };
#define TAKE_NS 50000000

/* A record of a switch, as attr_of asks for it. */
struct switch_record {
    struct perf_event_header header;
    uint32_t process, tid;
    uint64_t at_ns;
};

static int open_event(pid_t thread, int processor) {
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                   .inherit = 1,
                                   .inherit_thread = 1,
                                   .exclude_kernel = 1,
                                   .sample_id_all = 1,
                                   .context_switch = 1,
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC};
    return (int)syscall(SYS_perf_event_open, &attr, thread, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool map_ring(struct preemption_ring *ring, int file) {
    void *pages = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pages == MAP_FAILED) return false;
    *ring = (struct preemption_ring){file, pages};
    return true;
}

static void watch_thread(struct preemptions *preemptions, pid_t thread) {
    for (size_t i = 0; i < preemptions->ring_count && preemptions->files.size < preemptions->files_most * sizeof(int);
         i++) {
        struct preemption_ring *ring = &preemptions->rings[i];
        int file = open_event(thread, (int)i);
        if (file < 0) continue;
        bool is_told =
            ring->leader < 0 ? map_ring(ring, file) : ioctl(file, PERF_EVENT_IOC_SET_OUTPUT, ring->leader) == 0;
        if (is_told)
            buffer_add(&preemptions->files, &file, sizeof file);
        else
            close(file);
    }
}

/* The recorder needs descriptors for much else, so these are at most one part in FILES_SHARE of its limit. */
static void make_rings(struct preemptions *preemptions) {
    struct rlimit limit;
    bool is_known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    preemptions->files_most =
        is_known && limit.rlim_cur / FILES_SHARE < FILES_MOST ? limit.rlim_cur / FILES_SHARE : FILES_MOST;
    preemptions->ring_count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
    preemptions->rings = xcalloc(preemptions->ring_count, sizeof *preemptions->rings);
    for (size_t i = 0; i < preemptions->ring_count; i++)
        preemptions->rings[i].leader = -1;
}

void preemptions_watch(struct preemptions *preemptions, pid_t process) {
    char path[64];
    bool added;
    if (preemptions->watched.count >= PROCESSES_MOST) return;
    map_put(&preemptions->watched, &process, sizeof process, &added);
    if (!added) return;
    if (!preemptions->rings) make_rings(preemptions);
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *threads = opendir(path);
    for (struct dirent *entry; threads && (entry = readdir(threads));)
        if (atoi(entry->d_name) > 0) watch_thread(preemptions, (pid_t)atoi(entry->d_name));
    if (threads) closedir(threads);
}

static void end_preemption(struct preemptions *preemptions, const struct preemption_switch *got, int64_t since_ns) {
    if (got->at_ns - since_ns < preemptions->shortest_ns) return;
    if (preemptions->count == PREEMPTIONS_MOST) {
        preemptions->lost++;
        return;
    }
    if (preemptions->count == preemptions->capacity) {
        preemptions->capacity = preemptions->capacity ? preemptions->capacity * 2 : 256;
        preemptions->items = xrealloc(preemptions->items, preemptions->capacity * sizeof *preemptions->items);
    }
    preemptions->items[preemptions->count++] =
        (struct preemption){got->process, got->tid, since_ns, got->at_ns - since_ns};
}

static int by_time(const void *left, const void *right) {
    const struct preemption_switch *a = left, *b = right;
    return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

void preemptions_add(struct preemptions *preemptions, struct preemption_switch *switches, size_t count) {
    if (count) qsort(switches, count, sizeof *switches, by_time);
    for (size_t i = 0; i < count; i++) {
        bool added;
        struct map_entry *entry = map_put(&preemptions->out, &switches[i].tid, sizeof switches[i].tid, &added);
        if (!switches[i].is_out && !switches[i].is_blocked && entry->value)
            end_preemption(preemptions, &switches[i], entry->value);
        entry->value = switches[i].is_out ? switches[i].at_ns : 0;
    }
}

static void note_record(struct preemptions *preemptions, const unsigned char *bytes, size_t size) {
    struct switch_record record;
    memcpy(&record, bytes, size < sizeof record ? size : sizeof record);
    if (size < sizeof record) return;
    if (record.header.type == PERF_RECORD_LOST)
        preemptions->lost += record.at_ns; /* their number stands in its place */
    if (record.header.type != PERF_RECORD_SWITCH) return;
    bool is_out = record.header.misc & PERF_RECORD_MISC_SWITCH_OUT;
    bool is_taken = record.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    struct preemption_switch made = {(int32_t)record.process, (int32_t)record.tid, (int64_t)record.at_ns,
                                     is_out && is_taken, is_out && !is_taken};
    buffer_add(&preemptions->switches, &made, sizeof made);
}

/* Records lie across the end of the memory, so they are copied. */
static void take_ring(struct preemptions *preemptions, const struct preemption_ring *ring) {
    struct perf_event_mmap_page *control = (struct perf_event_mmap_page *)ring->pages;
    const unsigned char *data = ring->pages + sysconf(_SC_PAGESIZE);
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE), tail = control->data_tail;
    while (head - tail >= sizeof(struct perf_event_header)) {
        unsigned char bytes[sizeof(struct switch_record)];
        struct perf_event_header header;
        for (size_t i = 0; i < sizeof header; i++)
            bytes[i] = data[(tail + i) % RING_SIZE];
        memcpy(&header, bytes, sizeof header);
        if (header.size < sizeof header || header.size > head - tail) break;
        size_t kept = header.size < sizeof bytes ? header.size : sizeof bytes;
        for (size_t i = 0; i < kept; i++)
            bytes[i] = data[(tail + i) % RING_SIZE];
        note_record(preemptions, bytes, kept);
        tail += header.size;
    }
    __atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
}

/* What a processor tells may be older than what another one told before, but not older than the take: so younger ones wait for the next. */
static void sort_out(struct preemptions *preemptions, int64_t until_ns) {
    size_t count = preemptions->switches.size / sizeof(struct preemption_switch), kept = 0;
    struct preemption_switch *all = xmalloc((count + 1) * sizeof *all);
    if (count) memcpy(all, preemptions->switches.data, count * sizeof *all);
    if (count) qsort(all, count, sizeof *all, by_time);
    while (kept < count && all[count - 1 - kept].at_ns >= until_ns)
        kept++;
    preemptions_add(preemptions, all, count - kept);
    preemptions->switches.size = 0;
    if (kept) buffer_add(&preemptions->switches, all + count - kept, kept * sizeof *all);
    free(all);
}

void preemptions_take(struct preemptions *preemptions) {
    int64_t now_ns = clock_monotonic_ns();
    preemptions->due_ns = now_ns + TAKE_NS;
    for (size_t i = 0; i < preemptions->ring_count; i++)
        if (preemptions->rings[i].leader >= 0) take_ring(preemptions, &preemptions->rings[i]);
    sort_out(preemptions, now_ns);
}

void preemptions_free(struct preemptions *preemptions) {
    for (size_t i = 0; i < preemptions->ring_count; i++)
        if (preemptions->rings[i].leader >= 0)
            munmap(preemptions->rings[i].pages, (size_t)sysconf(_SC_PAGESIZE) + RING_SIZE);
    for (size_t i = 0; i < preemptions->files.size / sizeof(int); i++) {
        int file;
        memcpy(&file, preemptions->files.data + i * sizeof file, sizeof file);
        close(file);
    }
    buffer_free(&preemptions->files);
    buffer_free(&preemptions->switches);
    map_free(&preemptions->watched);
    map_free(&preemptions->out);
    free(preemptions->rings);
    free(preemptions->items);
    *preemptions = (struct preemptions){0};
}
