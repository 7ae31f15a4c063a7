/* The collector against segments made here by hand, sound and broken ones. Expectations are sums that this file keeps
 * itself while it writes the segments. Broken segments must be survived; run under -fsanitize=address,undefined (make
 * asan) they also prove that nothing outside of the map is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "ingest/record/collector.h"
#include "ingest/record/ids_limit.h"
#include "ingest/record/kernel/resident.h"
#include "ingest/record/segment_view.h"
#include "schema/facts.h"

#define MODULE_BIAS 0x7f0000000000ull
#define MODULE_SIZE 0x100000ull

/* ---- a recording without a program ------------------------------------------------------------------------------- */

struct fixture {
    char path[64];
    int directory;
    struct db db;
    int64_t run_id;
    struct collector *collector;
};

static struct fixture *start_with(const struct collector_options *options) {
    struct fixture *fixture = xcalloc(1, sizeof *fixture);
    struct error err = {0};
    char *command[] = {(char *)"./server", (char *)"it's", NULL};
    struct run_description run = {
        .command = command, .label = "unit", .sample_n = options->sample_n, .sample_bytes = options->sample_bytes};
    strcpy(fixture->path, "/tmp/clear-unit-XXXXXX");
    assert_non_null(mkdtemp(fixture->path));
    fixture->directory = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fixture->directory >= 0);
    assert_int_equal(db_open(&fixture->db, ":memory:", DB_WRITE, &err), 0);
    fixture->run_id = run_begin(&fixture->db, &run, &err);
    assert_true(fixture->run_id > 0);
    assert_int_equal(
        collector_open(&fixture->collector, &fixture->db, fixture->run_id, fixture->directory, options, &err), 0);
    return fixture;
}

static struct fixture *start(void) {
    return start_with(&(struct collector_options){.features = FEATURE_HEAP | FEATURE_LOCKS, .depth = 64});
}

static void stop(struct fixture *fixture) {
    struct error err = {0};
    collector_close(fixture->collector);
    assert_int_equal(db_close(&fixture->db, &err), 0);
    DIR *list = opendir(fixture->path);
    for (struct dirent *entry; (entry = readdir(list));)
        unlinkat(fixture->directory, entry->d_name, 0);
    closedir(list);
    close(fixture->directory);
    assert_int_equal(rmdir(fixture->path), 0);
    free(fixture);
}

static void flush(struct fixture *fixture) {
    struct error err = {0};
    if (collector_flush(fixture->collector, false, &err)) fail_msg("%s", err.message);
}

/* Makes the facts of what was flushed: a flush does where that takes little of the recorder's time. */
static void seal(struct fixture *fixture) {
    struct error err = {0};
    if (collector_seal(fixture->collector, &err)) fail_msg("%s", err.message);
}

static int64_t ask(struct fixture *fixture, const char *sql) {
    struct error err = {0};
    int64_t value = -1;
    if (db_int(&fixture->db, sql, -1, &value, &err)) fail_msg("%s", err.message);
    return value;
}

static void save(struct fixture *fixture, const char *name, const void *bytes, size_t size) {
    int file = openat(fixture->directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    assert_int_equal(close(file), 0);
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static void segment_begin(struct buffer *segment) {
    struct segment head = {.magic = SEGMENT_MAGIC,
                           .version = SEGMENT_VERSION,
                           .header_size = SEGMENT_HEADER_SIZE,
                           .features = FEATURE_HEAP | FEATURE_LOCKS,
                           .pid = 77,
                           .ppid = 7,
                           .start_realtime_ns = 1700000000000000000ull,
                           .executable = "/nowhere/program",
                           .depth = 64};
    char page[SEGMENT_HEADER_SIZE] = {0};
    memcpy(page, &head, sizeof head);
    buffer_clear(segment);
    buffer_add(segment, page, sizeof page);
}

static void segment_end(struct buffer *segment) {
    struct segment *head = (void *)segment->data;
    head->used = segment->size;
}

/* A chunk, padded to its alignment. */
static void add_chunk(struct buffer *segment, uint32_t kind, uint32_t count, uint64_t first_id, const void *body,
                      size_t size) {
    static const char zeros[SEGMENT_ALIGNMENT];
    size_t padding = (SEGMENT_ALIGNMENT - size % SEGMENT_ALIGNMENT) % SEGMENT_ALIGNMENT;
    struct chunk chunk = {.kind = kind, .count = count, .size = sizeof chunk + size + padding, .first_id = first_id};
    buffer_add(segment, &chunk, sizeof chunk);
    buffer_add(segment, body, size);
    buffer_add(segment, zeros, padding);
}

static void add_module(struct buffer *segment, uint64_t bias, uint32_t epoch_start, uint32_t epoch_end) {
    struct segment_module module = {.bias = bias,
                                    .low = bias,
                                    .high = bias + MODULE_SIZE,
                                    .epoch_start = epoch_start,
                                    .epoch_end = epoch_end,
                                    .build_id_size = 20,
                                    .build_id = {0xab, 0xcd, 0xef},
                                    .path = "/nowhere/program"};
    add_chunk(segment, CHUNK_MODULES, 1, 0, &module, sizeof module);
}

static void put_stack(struct buffer *stacks, uint32_t id, uint32_t epoch, const uint64_t *pcs, uint16_t depth) {
    struct segment_stack stack = {.id = id, .depth = depth, .epoch = epoch};
    buffer_add(stacks, &stack, sizeof stack);
    buffer_add(stacks, pcs, depth * sizeof *pcs);
}

/* Stacks 1 .. count, all different, of one to seven frames. */
static void add_stacks(struct buffer *segment, uint32_t count) {
    struct buffer stacks = {0};
    for (uint32_t id = 1; id <= count; id++) {
        uint64_t pcs[7];
        uint16_t depth = (uint16_t)(1 + id % 7);
        for (uint16_t i = 0; i < depth; i++)
            pcs[i] = MODULE_BIAS + 0x1001 + id * 16 * (i == 0) + i * 8;
        put_stack(&stacks, id, 0, pcs, depth);
    }
    add_chunk(segment, CHUNK_STACKS, count, 0, stacks.data, stacks.size);
    buffer_free(&stacks);
}

static uint64_t random_state = 88172645463325252ull;
static uint64_t next_random(void) { /* xorshift64: the same numbers in every run */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Counters of one thread for ids first_id .. first_id + 255, those above `last` zero; added to *sum as well. */
static void add_heap(struct buffer *segment, uint64_t first_id, uint64_t last, struct heap_counters *sum) {
    struct heap_counters counters[SEGMENT_COUNTER_IDS] = {0};
    for (uint64_t i = 0; i < SEGMENT_COUNTER_IDS; i++) {
        if (first_id + i < 1 || first_id + i > last) continue;
        counters[i].alloc_count = 10 + next_random() % 1000;
        counters[i].alloc_bytes = counters[i].alloc_count * 24;
        counters[i].free_count = next_random() % 10;
        counters[i].free_bytes = counters[i].free_count * 24;
        sum->alloc_count += counters[i].alloc_count;
        sum->alloc_bytes += counters[i].alloc_bytes;
        sum->free_count += counters[i].free_count;
        sum->free_bytes += counters[i].free_bytes;
    }
    add_chunk(segment, CHUNK_HEAP, 0, first_id, counters, sizeof counters);
}

static void add_locks(struct buffer *segment) {
    const struct segment_object locks[] = {
        {.id = 1, .kind = OBJECT_MUTEX, .address = 0x1000},                           /* nothing known */
        {.id = 2, .kind = OBJECT_RWLOCK, .address = MODULE_BIAS + 0x2000},            /* in a module's data */
        {.id = 3, .kind = OBJECT_MUTEX, .address = 0x5000, .owner = 2, .offset = 24}, /* in a heap block */
    };
    add_chunk(segment, CHUNK_OBJECTS, 3, 0, locks, sizeof locks);
}

static void add_lock_counters(struct buffer *segment, uint64_t acquires, uint64_t wait_max) {
    struct lock_counters counters[SEGMENT_COUNTER_IDS] = {0};
    for (uint64_t id = 1; id <= 3; id++)
        counters[id] = (struct lock_counters){.acquires = acquires * id,
                                              .contended = id,
                                              .wait = wait_max * 2,
                                              .wait_max = wait_max,
                                              .hold = 1000 * id,
                                              .hold_max = 500 + id,
                                              .read_acquires = id == 2 ? 40 : 0};
    add_chunk(segment, CHUNK_LOCK, 0, 0, counters, sizeof counters);
}

/* All kinds of chunks, counters of two threads; what a broken one is made from. */
static void make_segment(struct buffer *segment, uint32_t stacks, struct heap_counters *sum) {
    struct thread_counters thread = {.truncated = 3, .incomplete = 2, .hold_lost = 1};
    segment_begin(segment);
    add_module(segment, MODULE_BIAS, 0, 0);
    add_stacks(segment, stacks);
    add_locks(segment);
    for (int i = 0; i < 2; i++) {
        add_chunk(segment, CHUNK_THREAD, 0, 0, &thread, sizeof thread);
        for (uint64_t first_id = 0; first_id <= stacks; first_id += SEGMENT_COUNTER_IDS)
            add_heap(segment, first_id, stacks, sum);
        add_lock_counters(segment, 100, i ? 9000 : 400);
    }
    segment_end(segment);
}

/* The first chunk of a kind. */
static struct chunk *find_chunk(struct buffer *segment, uint32_t kind) {
    struct chunk *chunk = (void *)(segment->data + SEGMENT_HEADER_SIZE);
    while (chunk->kind != kind)
        chunk = (void *)((char *)chunk + chunk->size);
    return chunk;
}

/* One free in a thousand or fewer says nothing of the figures: it is counted when the address is allocated again. */
static void few_missed_frees_are_no_warning(void **state) {
    (void)state;
    for (int missed = 1; missed <= 2; missed++) {
        struct fixture *fixture = start();
        struct buffer segment = {0};
        struct heap_counters counters[SEGMENT_COUNTER_IDS] = {[1] = {.alloc_count = 1999, .free_count = 1999}};
        segment_begin(&segment);
        add_module(&segment, MODULE_BIAS, 0, 0);
        add_stacks(&segment, 1);
        add_chunk(&segment, CHUNK_HEAP, 0, 0, counters, sizeof counters);
        segment_end(&segment);
        ((struct segment *)(void *)segment.data)->missed_frees = (uint64_t)missed;
        save(fixture, "77-1.seg", segment.data, segment.size);
        flush(fixture);
        assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE comments LIKE '%no hook saw 2 frees%'"),
                         missed - 1);
        assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE comments LIKE '%no hook saw%'"), missed - 1);
        buffer_free(&segment);
        stop(fixture);
    }
}

/* One hold in a hundred or fewer, of 640 here. */
static void few_untimed_holds_are_no_warning(void **state) {
    (void)state;
    for (int lost = 6; lost <= 7; lost++) {
        struct fixture *fixture = start();
        struct buffer segment = {0};
        struct thread_counters thread = {.hold_lost = (uint64_t)lost};
        segment_begin(&segment);
        add_module(&segment, MODULE_BIAS, 0, 0);
        add_stacks(&segment, 1);
        add_locks(&segment);
        add_chunk(&segment, CHUNK_THREAD, 0, 0, &thread, sizeof thread);
        add_lock_counters(&segment, 100, 400);
        segment_end(&segment);
        save(fixture, "77-1.seg", segment.data, segment.size);
        flush(fixture);
        assert_int_equal(ask(fixture, "SELECT sum(acquires + read_acquires) FROM locks"), 640);
        assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE comments LIKE '%7 holds were not timed%'"),
                         lost - 6);
        assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE comments LIKE '%not timed%'"), lost - 6);
        buffer_free(&segment);
        stop(fixture);
    }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void sums_are_exact_over_threads(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    make_segment(&segment, 600, &sum);
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM sites"), 600);
    assert_int_equal(ask(fixture, "SELECT sum(alloc_count) FROM sites"), sum.alloc_count);
    assert_int_equal(ask(fixture, "SELECT sum(alloc_bytes) FROM sites"), sum.alloc_bytes);
    assert_int_equal(ask(fixture, "SELECT sum(free_count) FROM sites"), sum.free_count);
    assert_int_equal(ask(fixture, "SELECT sum(free_bytes) FROM sites"), sum.free_bytes);
    assert_int_equal(ask(fixture, "SELECT truncated FROM profiles WHERE kind = 'heap'"), 10);
    assert_int_equal(ask(fixture, "SELECT dropped FROM profiles WHERE kind = 'heap'"), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM processes WHERE pid = 77 AND ppid = 7"
                                  " AND build_id LIKE 'abcdef0000%' AND ended_ns IS NOT NULL"),
                     1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM traces WHERE id AND json_array_length(stack) <> 1 + (id % 7)"),
                     0);
    buffer_free(&segment);
    stop(fixture);
}

/* It walks the stacks of the segment before a flush does, and they are read once. */
static void reading_ahead_takes_nothing_from_a_flush(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    make_segment(&segment, 600, &sum);
    save(fixture, "77-1.seg", "", 0); /* the process is about to make it, and that is no damage */
    collector_read_ahead(fixture->collector);
    save(fixture, "77-1.seg", segment.data, segment.size);
    collector_read_ahead(fixture->collector);
    collector_read_ahead(fixture->collector);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM processes"), 0);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM sites"), 600);
    assert_int_equal(ask(fixture, "SELECT sum(alloc_count) FROM sites"), sum.alloc_count);
    assert_int_equal(ask(fixture, "SELECT sum(free_bytes) FROM sites"), sum.free_bytes);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM mappings WHERE id"), 1);
    struct collector_totals totals;
    collector_totals(fixture->collector, &totals);
    assert_int_equal(totals.corrupt, 0);
    assert_int_equal(ask(fixture, "SELECT dropped FROM profiles WHERE kind = 'heap'"), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM traces WHERE id AND json_array_length(stack) <> 1 + (id % 7)"),
                     0);
    buffer_free(&segment);
    stop(fixture);
}

static void locks_are_summed_and_named(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    make_segment(&segment, 5, &sum);
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM locks"), 3);
    assert_int_equal(ask(fixture, "SELECT sum(acquires) FROM locks"), 2 * 100 * (1 + 2 + 3));
    assert_int_equal(ask(fixture, "SELECT sum(hold_ns) FROM locks"), 2 * 1000 * (1 + 2 + 3));
    assert_int_equal(ask(fixture, "SELECT max_wait_ns FROM locks WHERE address = 4096"), 9000);
    assert_int_equal(ask(fixture, "SELECT wait_ns FROM locks WHERE address = 4096"), 2 * 9000 + 2 * 400);
    assert_int_equal(ask(fixture, "SELECT read_acquires FROM locks WHERE kind = 'rwlock'"), 80);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM objects WHERE name = '0x1000' AND identity = 'address:0x1000'"),
                     1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM objects WHERE name = 'program:0x2000'"
                                  " AND identity = 'symbol:program:0x2000+0'"),
                     1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM objects JOIN traces ON traces.id = trace_id"
                                  " JOIN functions ON functions.id = function_id WHERE offset = 24"
                                  " AND objects.name = functions.name || '+24' AND identity ="
                                  " 'heap:' || printf('%016x', signature) || '+24'"),
                     1);
    buffer_free(&segment);
    stop(fixture);
}

/* A counter of the newest epoch has kept what it had then; others have it still. In one thread that may be negative. */
static void what_was_live_at_the_peak_is_kept(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0}, stacks = {0};
    struct heap_counters first[SEGMENT_COUNTER_IDS] = {
        [1] = {9, 900, 9, 900, .peak_epoch = 7, 4, 400}, [2] = {3, 30, 1, 10, .peak_epoch = 6, 50, 5000}};
    struct heap_counters second[SEGMENT_COUNTER_IDS] = {
        [1] = {0, 0, 0, 0, .peak_epoch = 7, (uint64_t)-1, (uint64_t)-100}};
    uint64_t pcs[] = {MODULE_BIAS + 0x1234, MODULE_BIAS + 0x1300};
    put_stack(&stacks, 1, 0, &pcs[0], 1);
    put_stack(&stacks, 2, 0, &pcs[1], 1);
    segment_begin(&segment);
    ((struct segment *)(void *)segment.data)->peak_epoch = 7;
    add_module(&segment, MODULE_BIAS, 0, 0);
    add_chunk(&segment, CHUNK_STACKS, 2, 0, stacks.data, stacks.size);
    add_chunk(&segment, CHUNK_HEAP, 0, 0, first, sizeof first);
    add_chunk(&segment, CHUNK_HEAP, 0, 0, second, sizeof second);
    segment_end(&segment);
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM heap_peaks"), 2);
    assert_int_equal(ask(fixture, "SELECT peak_count FROM heap_peaks WHERE peak_bytes = 300"), 3);
    assert_int_equal(ask(fixture, "SELECT peak_count FROM heap_peaks WHERE peak_bytes = 20"), 2);
    assert_int_equal(ask(fixture, "SELECT peak_bytes FROM peaks"), 320);
    buffer_free(&segment);
    buffer_free(&stacks);
    stop(fixture);
}

/* One stack, met before and after its library came back at another address: one trace, one row. */
static void ids_of_one_trace_share_a_row(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0}, stacks = {0};
    struct heap_counters counters[SEGMENT_COUNTER_IDS] = {[1] = {5, 50, 1, 10}, [2] = {7, 70, 2, 20}};
    uint64_t old = MODULE_BIAS + 0x1234, moved = MODULE_BIAS * 2 + 0x1234;
    put_stack(&stacks, 1, 0, &old, 1);
    put_stack(&stacks, 2, 1, &moved, 1);
    segment_begin(&segment);
    add_module(&segment, MODULE_BIAS, 0, 1);
    add_module(&segment, MODULE_BIAS * 2, 1, 0);
    add_chunk(&segment, CHUNK_STACKS, 2, 0, stacks.data, stacks.size);
    add_chunk(&segment, CHUNK_HEAP, 0, 0, counters, sizeof counters);
    segment_end(&segment);
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM sites"), 1);
    assert_int_equal(ask(fixture, "SELECT alloc_count FROM sites"), 12);
    assert_int_equal(ask(fixture, "SELECT free_bytes FROM sites"), 30);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM locations WHERE address = 0x1233"), 1);
    buffer_free(&segment);
    buffer_free(&stacks);
    stop(fixture);
}

/* ---- the kinds that few programs have ------------------------------------------------------------------------------ */

enum { CELL = 1, SPLIT_CELL, NAMED_CHANNEL, TWIN_CHANNEL, NUMBERED_CHANNEL, SITE, SITE_ON_0, SITE_ON_3, OBJECTS };
#define EVERYTHING                                                                                                     \
    (FEATURE_HEAP | FEATURE_LOCKS | FEATURE_CELLS | FEATURE_CHANNELS | FEATURE_FIBERS | FEATURE_CPU |                  \
     FEATURE_SYNC_STACKS)

static void add_objects(struct buffer *segment) {
    const struct segment_object objects[] = {
        {.id = CELL, .kind = OBJECT_CELL, .address = 0x5018, .owner = 2, .offset = 24},
        {.id = SPLIT_CELL, .kind = OBJECT_CELL, .address = 0x5018, .owner = 2, .offset = 24, .stack = 3},
        {.id = NAMED_CHANNEL, .kind = OBJECT_CHANNEL, .address = 0x6000, .number = 1, .capacity = 64, .name = "orders"},
        {.id = TWIN_CHANNEL, .kind = OBJECT_CHANNEL, .address = 0x7000, .number = 2, .capacity = 8, .name = "orders"},
        {.id = NUMBERED_CHANNEL, .kind = OBJECT_CHANNEL, .address = 0x8000, .number = 3},
        {.id = SITE, .kind = OBJECT_TASK_SITE, .address = 42},
        {.id = SITE_ON_0, .kind = OBJECT_TASK_SITE, .address = 42, .number = 1},
        {.id = SITE_ON_3, .kind = OBJECT_TASK_SITE, .address = 42, .number = 4},
    };
    add_chunk(segment, CHUNK_OBJECTS, OBJECTS - 1, 0, objects, sizeof objects);
}

/* Counters of one thread; `n` makes threads differ, so that a maximum is no sum. */
static void add_rare_counters(struct buffer *segment, uint64_t n) {
    struct cell_counters cells[SEGMENT_COUNTER_IDS] = {
        [CELL] = {.struct_size = 64 * n, .reads = 100, .commits = 20, .multi_commits = 3, .retries = 5 * n},
        [SPLIT_CELL] = {.struct_size = 8, .commits = 7, .update_failures = 2}};
    struct channel_counters channels[SEGMENT_COUNTER_IDS] = {
        [NAMED_CHANNEL] =
            {.pushes = 50, .pops = 40, .push_blocked = 30, .push_blocked_ns = 1000 * n, .max_depth = 10 * n},
        [TWIN_CHANNEL] = {.pushes = 1},
        [NUMBERED_CHANNEL] = {.pops = 2, .pop_blocked = 1, .pop_blocked_ns = 77}};
    struct task_counters tasks[SEGMENT_COUNTER_IDS] = {
        [SITE] =
            {.spawns = 9, .exits = 8, .lifetime_ns = 900, .lifetime_max_ns = 300 * n, .under_1ms = 6, .under_10us = 4},
        [SITE_ON_0] = {.runs = 11},
        [SITE_ON_3] = {.runs = 2}};
    const struct segment_thread threads[] = {{.id = 1, .tid = 77, .name = "worker"}, {.id = 2, .tid = 78}};
    /* Two entries of one stack in one thread are one row; what the runtime took is a profile of its own. */
    const struct segment_cpu cpu[] = {{.stack = 1, .thread = 1, .counters = {2 * n, 20 * n}},
                                      {.stack = 1, .thread = 1, .counters = {n, 10 * n}},
                                      {.stack = 4, .thread = 9, .counters = {1, 10}},
                                      {.stack = 1, .thread = 2, .flags = CPU_OF_RECORDER, .counters = {5 * n, 50}}};
    add_chunk(segment, CHUNK_CELL, 0, 0, cells, sizeof cells);
    add_chunk(segment, CHUNK_CHANNEL, 0, 0, channels, sizeof channels);
    add_chunk(segment, CHUNK_TASK, 0, 0, tasks, sizeof tasks);
    add_chunk(segment, CHUNK_THREADS, 2, 0, threads, sizeof threads);
    add_chunk(segment, CHUNK_CPU, 4, 0, cpu, sizeof cpu);
}

static void make_rare_segment(struct buffer *segment, uint32_t features) {
    segment_begin(segment);
    struct segment *head = (void *)segment->data;
    head->features = features;
    head->cpu_hz = 250;
    head->dropped_cells = 11;
    head->dropped_channels = 12;
    head->dropped_cpu = 13;
    add_module(segment, MODULE_BIAS, 0, 0);
    add_stacks(segment, 5);
    add_objects(segment);
    add_rare_counters(segment, 1);
    add_rare_counters(segment, 2);
    segment_end(segment);
}

static struct fixture *record_rare(const struct collector_options *options) {
    struct fixture *fixture = start_with(options);
    struct buffer segment = {0};
    make_rare_segment(&segment, options->features);
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    buffer_free(&segment);
    return fixture;
}

static void cells_are_known_by_owner_and_split_by_caller(void **state) {
    (void)state;
    struct fixture *fixture = record_rare(&(struct collector_options){.features = EVERYTHING, .depth = 64});
    assert_int_equal(ask(fixture, "SELECT count(*) FROM cells WHERE address = 0x5018"), 2);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM objects WHERE kind = 'cell' AND identity LIKE 'heap:%+24'"), 1);
    assert_int_equal(ask(fixture, "SELECT struct_size FROM cells WHERE trace_id = 0"), 128); /* of the larger thread */
    assert_int_equal(ask(fixture, "SELECT retries FROM cells WHERE trace_id = 0"), 5 + 10);
    assert_int_equal(ask(fixture, "SELECT multi_commits FROM cells WHERE trace_id = 0"), 6);
    assert_int_equal(ask(fixture, "SELECT commits FROM cells WHERE trace_id > 0"), 14);
    assert_int_equal(ask(fixture, "SELECT update_failures FROM cells WHERE trace_id > 0"), 4);
    /* Stack 3 has 1 + 3 % 7 frames. */
    assert_int_equal(
        ask(fixture, "SELECT json_array_length(stack) FROM traces WHERE id = (SELECT max(trace_id) FROM cells)"), 4);
    assert_int_equal(ask(fixture, "SELECT dropped FROM profiles WHERE kind = 'mvcc'"), 11);
    stop(fixture);
}

static void channels_are_known_by_name_and_number(void **state) {
    (void)state;
    struct fixture *fixture = record_rare(&(struct collector_options){.features = EVERYTHING, .depth = 64});
    seal(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM channel_use WHERE object = 'orders'"), 2); /* two of one name */
    assert_int_equal(ask(fixture, "SELECT count(*) FROM objects WHERE kind = 'channel' AND identity = 'name:orders'"),
                     1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM objects WHERE identity = 'channel:3' AND name = 'channel#3'"),
                     1);
    assert_int_equal(ask(fixture, "SELECT capacity FROM channels WHERE channel = 1"), 64);
    assert_int_equal(ask(fixture, "SELECT max_depth FROM channels WHERE channel = 1"), 20);
    assert_int_equal(ask(fixture, "SELECT push_blocked_ns FROM channels WHERE channel = 1"), 3000);
    assert_int_equal(ask(fixture, "SELECT pop_blocked_ns FROM channels WHERE channel = 3"), 154);
    assert_int_equal(ask(fixture, "SELECT dropped FROM profiles WHERE kind = 'channels'"), 12);
    stop(fixture);
}

static void fibers_are_summed_by_site_and_scheduler(void **state) {
    (void)state;
    struct fixture *fixture = record_rare(&(struct collector_options){.features = EVERYTHING, .depth = 64});
    assert_int_equal(ask(fixture, "SELECT total_fibers = 18 AND short_fibers = 12 AND very_short_fibers = 8"
                                  " AND total_lifetime_ns = 1800 AND max_lifetime_ns = 600 FROM fibers"),
                     1);
    assert_int_equal(ask(fixture, "SELECT fibers FROM schedulers WHERE scheduler = 0"), 22);
    assert_int_equal(ask(fixture, "SELECT fibers FROM schedulers WHERE scheduler = 3"), 4);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM task_sites WHERE site = 42 AND spawns = 18 AND exits = 16"
                                  " AND runs = 26 AND schedulers = '{\"0\":22,\"3\":4}' AND max_lifetime_ns = 600"),
                     1);
    stop(fixture);
}

static void cpu_samples_have_their_period(void **state) {
    (void)state;
    struct fixture *fixture =
        record_rare(&(struct collector_options){.features = EVERYTHING, .depth = 64, .cpu_hz = 250});
#define CPU_OF(kind) " FROM cpu JOIN profiles ON profiles.id = profile_id WHERE kind = '" kind "'"
    assert_int_equal(ask(fixture, "SELECT count(*)" CPU_OF("cpu")), 2);
    assert_int_equal(ask(fixture, "SELECT sum(samples)" CPU_OF("cpu")), 3 + 6 + 1 + 1);
    assert_int_equal(ask(fixture, "SELECT sum(cpu_ns)" CPU_OF("cpu")), 30 + 60 + 10 + 10);
    assert_int_equal(ask(fixture, "SELECT sum(samples) = 15 AND sum(cpu_ns) = 100" CPU_OF("recorder")), 1);
    assert_int_equal(ask(fixture, "SELECT sum(cpu_ns) FROM cpu JOIN label_sets ON label_sets.id = label_set_id"
                                  " WHERE labels = '[[\"thread\",\"worker\"],[\"tid\",77]]'"),
                     90);
    assert_int_equal(ask(fixture, "SELECT sum(cpu_ns) FROM cpu JOIN label_sets ON label_sets.id = label_set_id"
                                  " WHERE labels = '[[\"tid\",78]]'"),
                     100);
    assert_int_equal(ask(fixture, "SELECT sum(cpu_ns) FROM cpu WHERE label_set_id = 0"), 20);
    assert_int_equal(ask(fixture, "SELECT period = 4000000 AND period_type = 'cpu' AND period_unit = 'nanoseconds'"
                                  " AND sample_n = 1 AND dropped = 13 FROM profiles WHERE kind = 'cpu'"),
                     1);
    stop(fixture);
}

/* Threads without a sample yet have entries of zeros: no sum is made for them, and none is read. Once the segment has no sum at all, once
 * more pairs than the sums have room for. */
static void entries_that_counted_nothing_are_passed_over(void **state) {
    (void)state;
    enum { ENTRIES = 2 * SEGMENT_COUNTER_IDS };
    const uint32_t features = FEATURE_CPU | FEATURE_WALL;
    struct segment_cpu cpu[ENTRIES];
    struct buffer segment = {0};
    for (uint32_t counted = 0; counted < 2; counted++) {
        struct fixture *fixture = start_with(&(struct collector_options){.features = features, .depth = 64});
        for (uint32_t i = 0; i < ENTRIES; i++)
            cpu[i] = (struct segment_cpu){.stack = 1, .thread = i + 1, .counters = {i < counted, i < counted ? 10 : 0}};
        segment_begin(&segment);
        ((struct segment *)(void *)segment.data)->features = features;
        add_module(&segment, MODULE_BIAS, 0, 0);
        add_stacks(&segment, 1);
        add_chunk(&segment, CHUNK_CPU, ENTRIES, 0, cpu, sizeof cpu);
        segment_end(&segment);
        save(fixture, "77-1.seg", segment.data, segment.size);
        flush(fixture);
        assert_int_equal(ask(fixture, "SELECT ifnull(sum(cpu_ns), 0)" CPU_OF("cpu")), 10 * counted);
        stop(fixture);
    }
    buffer_free(&segment);
}

/* The rate stands with every figure that it made, and with no other. */
static void sampled_kinds_say_so(void **state) {
    (void)state;
    struct fixture *fixture =
        record_rare(&(struct collector_options){.features = EVERYTHING, .depth = 64, .sample_n = 100, .cpu_hz = 99});
    assert_int_equal(ask(fixture, "SELECT sample_n FROM runs"), 100);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE sample_n = 100 AND period = 100"
                                  " AND kind IN ('heap', 'lock', 'mvcc')"),
                     3);
    assert_int_equal(
        ask(fixture, "SELECT count(*) FROM profiles WHERE sample_n = 1 AND kind IN ('channels', 'fibers', 'cpu')"), 3);
    stop(fixture);
    fixture = record_rare(&(struct collector_options){.features = EVERYTHING, .depth = 64, .sample_bytes = 524288});
    assert_int_equal(ask(fixture, "SELECT sample_n = 1 AND flags LIKE '% sample_bytes=524288' FROM runs"), 1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind = 'heap' AND period = 524288"
                                  " AND period_type = 'space' AND period_unit = 'bytes' AND sample_n = 1"),
                     1);
    assert_int_equal(ask(fixture, "SELECT period FROM profiles WHERE kind = 'lock'"), 1);
    stop(fixture);
}

static void kinds_that_are_off_or_unheard_of_have_no_profile(void **state) {
    (void)state;
    struct fixture *fixture = record_rare(&(struct collector_options){.features = FEATURE_LOCKS, .depth = 64});
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind = 'lock'"), 1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles"), 1);
    stop(fixture);
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    fixture = start_with(&(struct collector_options){.features = EVERYTHING, .depth = 64});
    make_segment(&segment, 5, &sum);
    ((struct segment *)(void *)segment.data)->features = EVERYTHING; /* recorded, and nothing of the kind met */
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    seal(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind IN ('heap', 'lock', 'cpu')"), 3);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind <> 'heap-peak'"), 3);
    /* cpu_hz is 0 in this header: the timers could not be had. */
    assert_int_equal(ask(fixture, "SELECT count(*) FROM doctor WHERE code = 'warning'"
                                  " AND subject LIKE '%--cpu=perf%sets SIGPROF itself%'"),
                     1);
    buffer_free(&segment);
    stop(fixture);
}

/* A lock's counters under a channel's id mean nothing: they are lost, and counted. */
static void counters_of_another_kind_are_dropped_events(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct lock_counters counters[SEGMENT_COUNTER_IDS] = {[NAMED_CHANNEL] = {.acquires = 5}};
    segment_begin(&segment);
    add_module(&segment, MODULE_BIAS, 0, 0);
    add_stacks(&segment, 5);
    add_objects(&segment);
    add_chunk(&segment, CHUNK_LOCK, 0, 0, counters, sizeof counters);
    segment_end(&segment);
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM locks"), 0);
    assert_int_equal(ask(fixture, "SELECT dropped FROM profiles WHERE kind = 'lock'"), 5);
    buffer_free(&segment);
    stop(fixture);
}

static void locks_are_split_by_caller(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    const struct segment_object locks[] = {
        {.id = 1, .kind = OBJECT_MUTEX, .address = MODULE_BIAS + 0x2000, .stack = 1},
        {.id = 2, .kind = OBJECT_MUTEX, .address = MODULE_BIAS + 0x2000, .stack = 2},
        {.id = 3, .kind = OBJECT_LOCK, .address = MODULE_BIAS + 0x3000},
    };
    segment_begin(&segment);
    add_module(&segment, MODULE_BIAS, 0, 0);
    add_stacks(&segment, 2);
    add_chunk(&segment, CHUNK_OBJECTS, 3, 0, locks, sizeof locks);
    add_lock_counters(&segment, 100, 10);
    segment_end(&segment);
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    seal(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM lock_use WHERE object = 'program:0x2000'"), 2);
    assert_int_equal(ask(fixture, "SELECT count(DISTINCT trace_id) FROM locks WHERE trace_id > 0"), 2);
    assert_int_equal(ask(fixture, "SELECT acquires FROM lock_use WHERE stack_of = 'caller' ORDER BY acquires LIMIT 1"),
                     100);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM locks WHERE kind = 'own' AND trace_id = 0"), 1);
    struct collector_totals totals;
    collector_totals(fixture->collector, &totals);
    assert_int_equal(totals.locks, 2); /* three rows */
    buffer_free(&segment);
    stop(fixture);
}

/* ---- flushes ----------------------------------------------------------------------------------------------------- */

/* A segment that a process (we) still has mapped. */
static void *map_segment(struct fixture *fixture, const char *name, struct buffer *segment) {
    segment_end(segment);
    save(fixture, name, segment->data, segment->size);
    int file = openat(fixture->directory, name, O_RDWR | O_CLOEXEC);
    void *map = mmap(NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    close(file);
    return map;
}

static struct heap_counters *map_live(struct fixture *fixture, const char *name, void **map, size_t *size) {
    struct buffer segment = {0};
    struct heap_counters counters[SEGMENT_COUNTER_IDS] = {[1] = {5, 50, 9, 90}};
    segment_begin(&segment);
    add_module(&segment, MODULE_BIAS, 0, 0);
    add_stacks(&segment, 1);
    size_t at = segment.size + sizeof(struct chunk);
    add_chunk(&segment, CHUNK_HEAP, 0, 0, counters, sizeof counters);
    *map = map_segment(fixture, name, &segment);
    *size = segment.size;
    buffer_free(&segment);
    return (void *)((char *)*map + at);
}

static void flushes_write_what_moved(void **state) {
    (void)state;
    struct fixture *fixture = start();
    void *map;
    size_t size;
    struct heap_counters *live = map_live(fixture, "77-1.seg", &map, &size);
    flush(fixture);
    assert_int_equal(collector_running(fixture->collector), 1);
    assert_int_equal(ask(fixture, "SELECT alloc_count FROM sites"), 5);
    assert_int_equal(ask(fixture, "SELECT free_count FROM sites"), 5); /* 9 were seen: what is live is never negative */
    assert_int_equal(ask(fixture, "SELECT ended_ns IS NULL FROM processes"), 1);
    live[1] = (struct heap_counters){.alloc_count = 30, .alloc_bytes = 300, .free_count = 12, .free_bytes = 120};
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT alloc_count FROM sites ORDER BY profile_id DESC LIMIT 1"), 30 - 5);
    assert_int_equal(ask(fixture, "SELECT free_count FROM sites ORDER BY profile_id DESC LIMIT 1"), 12 - 5);
    assert_int_equal(ask(fixture, "SELECT alloc_count FROM heap"), 30);
    munmap(map, size);
    assert_int_equal(collector_running(fixture->collector), 0);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT alloc_count FROM heap"), 30);
    assert_int_equal(ask(fixture, "SELECT free_bytes FROM heap"), 120);
    assert_int_equal(ask(fixture, "SELECT ended_ns IS NULL FROM processes"), 0);
    assert_int_equal(faccessat(fixture->directory, "77-1.seg", F_OK, 0), -1); /* its memory is given back */
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM processes"), 1);
    /* The last flush saw the process end and nothing else: no window of it. */
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind = 'heap'"), 2);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind = 'lock'"), 1);
    stop(fixture);
}

/* Where a flush falls into the moments in which the lost blocks are counted, the last one has them. */
static void lost_blocks_are_taken_when_all_are_counted(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct leak_counters counters[SEGMENT_COUNTER_IDS] = {[1] = {5, 50, 1, 10}, [2] = {0}};
    segment_begin(&segment);
    ((struct segment *)(void *)segment.data)->features |= FEATURE_LEAKS;
    add_module(&segment, MODULE_BIAS, 0, 0);
    add_stacks(&segment, 2);
    size_t at = segment.size + sizeof(struct chunk);
    add_chunk(&segment, CHUNK_LEAK, 0, 0, counters, sizeof counters);
    struct segment *head = map_segment(fixture, "77-1.seg", &segment);
    struct leak_counters *live = (void *)((char *)head + at);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind = 'leak'"), 0);
    live[2] = (struct leak_counters){7, 70, 0, 0};
    head->has_leaks = 1;
    munmap(head, segment.size);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM leaks"), 2);
    assert_int_equal(ask(fixture, "SELECT sum(lost_count) FROM leaks"), 12);
    assert_int_equal(ask(fixture, "SELECT sum(indirect_bytes) FROM leaks"), 10);
    buffer_free(&segment);
    stop(fixture);
}

static void a_failed_flush_is_made_up_for(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct error err = {0};
    void *map;
    size_t size;
    struct heap_counters *live = map_live(fixture, "77-1.seg", &map, &size);
    assert_int_equal(
        db_exec(&fixture->db,
                "CREATE TEMP TRIGGER refuse BEFORE INSERT ON site_rows BEGIN SELECT raise(ABORT, 'no'); END", &err),
        0);
    assert_int_equal(collector_flush(fixture->collector, false, &err), -1);
    assert_int_equal(err.status, ERROR_FAILURE);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM processes"), 0); /* rolled back as a whole */
    assert_int_equal(ask(fixture, "SELECT count(*) FROM traces WHERE id > 0"), 0);
    err = (struct error){0};
    assert_int_equal(db_exec(&fixture->db, "DROP TRIGGER refuse", &err), 0);
    live[1] = (struct heap_counters){.alloc_count = 8, .alloc_bytes = 80, .free_count = 2, .free_bytes = 20};
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT alloc_count FROM heap"), 8);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    munmap(map, size);
    stop(fixture);
}

static void a_run_is_unfinished_until_its_end(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct error err = {0};
    assert_int_equal(ask(fixture, "SELECT flags = 'unfinished' AND exit_status IS NULL FROM runs"), 1);
    assert_int_equal(ask(fixture, "SELECT command = './server ''it''\\''''s''' FROM runs"), 1);
    assert_int_equal(run_end(&fixture->db, fixture->run_id, &(struct run_ending){3 << 8, 70, 900}, &err), 0);
    assert_int_equal(ask(fixture, "SELECT flags = '' AND exit_status = 3 AND exit_signal IS NULL FROM runs"), 1);
    assert_int_equal(run_end(&fixture->db, fixture->run_id, &(struct run_ending){9, 70, 900}, &err), 0);
    assert_int_equal(ask(fixture, "SELECT exit_status IS NULL AND exit_signal = 9 FROM runs"), 1);
    assert_int_equal(ask(fixture, "SELECT symbolize_ns = 70 AND write_ns = 900 FROM runs"), 1);
    stop(fixture);
}

/* What was recorded is stored and said to be complete before its facts are made: if these do not come, the next command makes them. */
static void an_end_before_the_facts(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct error err = {0};
    assert_int_equal(run_end(&fixture->db, fixture->run_id, &(struct run_ending){0, 70, 900}, &err), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM seals"), 1);
    assert_int_equal(run_end_unsealed(&fixture->db, fixture->run_id, &(struct run_ending){3 << 8, 70, 900}, &err), 0);
    assert_int_equal(ask(fixture, "SELECT flags = '' AND exit_status = 3 FROM runs"), 1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM seals"), 0);
    assert_int_equal(run_seal_ended(&fixture->db, fixture->run_id, &err), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM seals"), 1);
    stop(fixture);
}

/* A flush that is late, and takes long, is not the program's time. */
static void duration_is_the_programs(void **state) {
    (void)state;
    struct fixture *fixture = start();
    flush(fixture);
    assert_true(ask(fixture, "SELECT duration_ns FROM runs") < INT64_C(3600000000000));
    collector_set_span(fixture->collector, 1000, 5000000001000);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT duration_ns FROM runs"), 5000000000000);
    stop(fixture);
}

/* Profiles that came to be in a flush that failed must come again: of kinds that begin late too. */
static void late_kinds_survive_a_failed_flush(void **state) {
    (void)state;
    struct fixture *fixture = start_with(&(struct collector_options){.features = EVERYTHING, .depth = 64});
    struct error err = {0};
    struct buffer segment = {0};
    void *map;
    size_t size;
    make_rare_segment(&segment, EVERYTHING);
    struct segment *head = (void *)segment.data;
    size_t whole = head->used;
    head->dropped_cells = head->dropped_channels = 0;
    head->used = (size_t)((char *)find_chunk(&segment, CHUNK_CELL) - segment.data); /* nothing has been counted yet */
    save(fixture, "77-1.seg", segment.data, segment.size);
    buffer_free(&segment);
    int file = openat(fixture->directory, "77-1.seg", O_RDWR | O_CLOEXEC);
    map = mmap(NULL, size = whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    close(file);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind IN ('mvcc', 'channels', 'fibers')"), 0);
    ((struct segment *)map)->used = whole;
    assert_int_equal(db_exec(&fixture->db,
                             "CREATE TEMP TRIGGER refuse BEFORE INSERT ON cpu BEGIN SELECT raise(ABORT, 'no'); END",
                             &err),
                     0);
    assert_int_equal(collector_flush(fixture->collector, false, &err), -1);
    err = (struct error){0};
    assert_int_equal(db_exec(&fixture->db, "DROP TRIGGER refuse", &err), 0);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind IN ('mvcc', 'channels', 'fibers')"), 3);
    assert_int_equal(ask(fixture, "SELECT count(DISTINCT kind) FROM profiles"), 7);
    assert_int_equal(ask(fixture, "SELECT sum(pushes) FROM channels"), 2 * 51);
    assert_int_equal(ask(fixture, "SELECT sum(fibers) FROM schedulers"), 2 * 13);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT sum(fibers) FROM schedulers"), 2 * 13); /* written anew, not added to */
    assert_int_equal(ask(fixture, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    munmap(map, size);
    stop(fixture);
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* A program that goes on under our hands: what it counted so far, in its segment. */
struct live {
    void *map;
    size_t size;
    struct segment *head;
    struct heap_counters *heap;
    struct lock_counters *locks;
    struct cell_counters *cells;
    struct channel_counters *channels;
    struct task_counters *tasks;
    struct segment_cpu *cpu;
};

static void *counters_of(struct live *live, uint32_t kind) {
    struct chunk *chunk = (void *)((char *)live->map + SEGMENT_HEADER_SIZE);
    while (chunk->kind != kind)
        chunk = (void *)((char *)chunk + chunk->size);
    return chunk + 1;
}

static void live_begin(struct live *live, struct fixture *fixture) {
    static const char zeros[SEGMENT_COUNTER_IDS * sizeof(struct lock_counters)];
    const struct segment_object lock = {.id = OBJECTS, .kind = OBJECT_RWLOCK, .address = 0x1000};
    const struct {
        uint32_t kind;
        size_t size;
    } chunks[] = {{CHUNK_HEAP, sizeof(struct heap_counters)},
                  {CHUNK_LOCK, sizeof(struct lock_counters)},
                  {CHUNK_CELL, sizeof(struct cell_counters)},
                  {CHUNK_CHANNEL, sizeof(struct channel_counters)},
                  {CHUNK_TASK, sizeof(struct task_counters)}};
    struct buffer segment = {0};
    segment_begin(&segment);
    ((struct segment *)(void *)segment.data)->features = EVERYTHING;
    add_module(&segment, MODULE_BIAS, 0, 0);
    add_stacks(&segment, 40);
    add_objects(&segment);
    add_chunk(&segment, CHUNK_OBJECTS, 1, 0, &lock, sizeof lock);
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
        add_chunk(&segment, chunks[i].kind, 0, 0, zeros, SEGMENT_COUNTER_IDS * chunks[i].size);
    struct segment_cpu cpu[40];
    for (uint32_t i = 0; i < 40; i++)
        cpu[i] = (struct segment_cpu){.stack = i + 1};
    add_chunk(&segment, CHUNK_CPU, 40, 0, cpu, sizeof cpu);
    segment_end(&segment);
    save(fixture, "77-1.seg", segment.data, live->size = segment.size);
    buffer_free(&segment);
    int file = openat(fixture->directory, "77-1.seg", O_RDWR | O_CLOEXEC);
    live->map = mmap(NULL, live->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(live->map, MAP_FAILED);
    close(file);
    live->head = live->map;
    live->heap = counters_of(live, CHUNK_HEAP), live->locks = counters_of(live, CHUNK_LOCK);
    live->cells = counters_of(live, CHUNK_CELL), live->channels = counters_of(live, CHUNK_CHANNEL);
    live->tasks = counters_of(live, CHUNK_TASK), live->cpu = counters_of(live, CHUNK_CPU);
}

static void raise_to(uint64_t *maximum, uint64_t value) {
    if (value > *maximum) *maximum = value;
}

/* Something of every kind happens; much of it to few, a little to one of many. */
static void live_step(struct live *live) {
    uint64_t id = 1 + next_random() % 40, n = 1 + next_random() % 9, wait = next_random() % 5000;
    live->heap[id].alloc_count += n, live->heap[id].alloc_bytes += n * 16;
    if (live->heap[2].alloc_count > live->heap[2].free_count)
        live->heap[2].free_count++, live->heap[2].free_bytes += 16;
    live->heap[2].alloc_count += 2, live->heap[2].alloc_bytes += 32;
    struct lock_counters *lock = &live->locks[OBJECTS];
    lock->acquires += n, lock->contended++, lock->wait += wait, lock->hold += 3 * n;
    raise_to(&lock->wait_max, wait), raise_to(&lock->hold_max, 3 * n);
    if (n > 6) lock->read_acquires++, lock->read_wait += wait, raise_to(&lock->read_wait_max, wait);
    struct cell_counters *cell = &live->cells[n > 5 ? CELL : SPLIT_CELL];
    cell->struct_size = 64, cell->reads += n, cell->commits++, cell->retries += n % 3;
    struct channel_counters *channel = &live->channels[n > 5 ? NAMED_CHANNEL : NUMBERED_CHANNEL];
    channel->pushes += n, channel->pops += n - 1, channel->push_blocked++, channel->push_blocked_ns += wait;
    raise_to(&channel->max_depth, wait / 100);
    live->tasks[SITE].spawns += n, live->tasks[SITE].exits += n, live->tasks[SITE].lifetime_ns += wait;
    raise_to(&live->tasks[SITE].lifetime_max_ns, wait);
    live->tasks[n > 5 ? SITE_ON_0 : SITE_ON_3].runs += n;
    live->cpu[id - 1].counters.samples += n, live->cpu[id - 1].counters.cpu_ns += n * 1000;
    live->head->dropped_cells += n > 7;
    live->head->dropped_heap += n > 8;
}

/* What the program came to, as the query below words it. */
static char *told(const struct live *live) {
    struct heap_counters heap = {0};
    struct cpu_counters cpu = {0};
    const struct lock_counters *lock = &live->locks[OBJECTS];
    const struct cell_counters *a = &live->cells[CELL], *b = &live->cells[SPLIT_CELL];
    const struct channel_counters *c = &live->channels[NAMED_CHANNEL], *d = &live->channels[NUMBERED_CHANNEL];
    const struct task_counters *site = &live->tasks[SITE];
    for (int id = 1; id <= 40; id++) {
        heap.alloc_count += live->heap[id].alloc_count, heap.alloc_bytes += live->heap[id].alloc_bytes;
        heap.free_count += live->heap[id].free_count, heap.free_bytes += live->heap[id].free_bytes;
        cpu.samples += live->cpu[id - 1].counters.samples, cpu.cpu_ns += live->cpu[id - 1].counters.cpu_ns;
    }
    return xasprintf(
        "%lu %lu %lu %lu/%lu %lu %lu %lu %lu %lu %lu %lu %lu/%lu %lu %lu %lu/%lu %lu %lu %lu %lu/%lu %lu %lu/%lu %lu "
        "{\"0\":%lu,\"3\":%lu}/%lu %lu/%lu %lu",
        heap.alloc_count, heap.alloc_bytes, heap.free_count, heap.free_bytes, lock->acquires, lock->contended,
        lock->wait, lock->wait_max, lock->hold, lock->hold_max, lock->read_acquires, lock->read_wait,
        lock->read_wait_max, a->reads + b->reads, a->commits + b->commits, a->retries + b->retries, a->struct_size,
        c->pushes + d->pushes, c->pops + d->pops, c->push_blocked_ns + d->push_blocked_ns, c->max_depth, d->max_depth,
        site->spawns, site->lifetime_ns, site->lifetime_max_ns, live->tasks[SITE_ON_0].runs,
        live->tasks[SITE_ON_3].runs, live->tasks[SITE_ON_0].runs, live->tasks[SITE_ON_3].runs, cpu.samples, cpu.cpu_ns,
        live->head->dropped_heap, live->head->dropped_cells);
}

static char *ask_text(struct fixture *fixture, const char *sql) {
    struct error err = {0};
    sqlite3_stmt *row = db_prepare(&fixture->db, sql, &err);
    assert_non_null(row);
    assert_int_equal(db_step(&fixture->db, row, &err), 1);
    char *text = xstrdup(db_text(row, 0));
    sqlite3_reset(row);
    return text;
}

static char *stored(struct fixture *fixture) {
    return ask_text(
        fixture,
        "SELECT (SELECT printf('%d %d %d %d', sum(alloc_count), sum(alloc_bytes), sum(free_count), sum(free_bytes))"
        " FROM sites)"
        " || (SELECT printf('/%d %d %d %d %d %d %d %d %d', sum(acquires), sum(contended), sum(wait_ns),"
        " max(max_wait_ns), sum(hold_ns), max(max_hold_ns), sum(read_acquires), sum(read_wait_ns),"
        " max(read_max_wait_ns)) FROM locks)"
        " || (SELECT printf('/%d %d %d %d', sum(reads), sum(commits), sum(retries), max(struct_size)) FROM cells)"
        " || (SELECT printf('/%d %d %d %d %d', sum(pushes), sum(pops), sum(push_blocked_ns),"
        " max(max_depth) FILTER (WHERE channel = 1), max(max_depth) FILTER (WHERE channel = 3)) FROM channels)"
        " || (SELECT printf('/%d %d %d', sum(total_fibers), sum(total_lifetime_ns), max(max_lifetime_ns)) FROM fibers)"
        " || (SELECT printf('/%d %d', sum(fibers) FILTER (WHERE scheduler = 0), sum(fibers) FILTER (WHERE scheduler ="
        " 3)) FROM schedulers)"
        " || (SELECT ' {\"0\":' || coalesce(sum(schedulers ->> '$.0'), 0) || ',\"3\":' || coalesce(sum(schedulers ->> "
        "'$.3'), 0) || '}' FROM"
        " task_sites)"
        " || (SELECT printf('/%d %d', sum(samples), sum(cpu_ns)) FROM cpu)"
        " || (SELECT printf('/%d %d', sum(dropped) FILTER (WHERE kind = 'heap'), sum(dropped) FILTER (WHERE kind ="
        " 'mvcc')) FROM profiles)");
}

/* The sums of all windows are what the program told. */
static void expect_told(struct fixture *fixture, const struct live *live) {
    char *want = told(live), *got = stored(fixture);
    assert_string_equal(got, want);
    free(want);
    free(got);
}

/* One flush, and a line in the table `truth`: the time of it, and what was in use then. */
static void live_flush(struct fixture *fixture, const struct live *live) {
    struct error err = {0};
    flush(fixture);
    sqlite3_stmt *line = db_prepare(
        &fixture->db, "INSERT OR REPLACE INTO truth SELECT max(time_ns), :allocs, :frees FROM profiles", &err);
    int64_t allocs = 0, frees = 0;
    for (int id = 1; id <= 40; id++)
        allocs += (int64_t)live->heap[id].alloc_count, frees += (int64_t)live->heap[id].free_count;
    db_bind_int(line, ":allocs", allocs);
    db_bind_int(line, ":frees", frees);
    assert_int_equal(db_run(&fixture->db, line, &err), 0);
}

/* A recording of 200 flushes, of which every 17th fails, under some limits. */
static struct fixture *record_windows(const struct window_limits *limits, struct live *live) {
    struct fixture *fixture =
        start_with(&(struct collector_options){.features = EVERYTHING, .depth = 64, .windows = *limits});
    struct error err = {0};
    random_state = 88172645463325252ull;
    live_begin(live, fixture);
    assert_int_equal(db_exec(&fixture->db, "CREATE TEMP TABLE truth(time_ns INTEGER PRIMARY KEY, allocs, frees)", &err),
                     0);
    for (int i = 0; i < 200; i++) {
        live_step(live);
        live_step(live);
        if (i % 17 == 5) {
            static const char refuse[] =
                "CREATE TEMP TRIGGER refuse BEFORE INSERT ON cpu BEGIN SELECT raise(ABORT, 'no'); END";
            assert_int_equal(db_exec(&fixture->db, refuse, &err), 0);
            assert_int_equal(collector_flush(fixture->collector, false, &err), -1);
            err = (struct error){0};
            assert_int_equal(db_exec(&fixture->db, "DROP TRIGGER refuse", &err), 0);
        } else {
            live_flush(fixture, live);
        }
        if (i % 40 == 0) expect_told(fixture, live);
    }
    expect_told(fixture, live);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    /* What was in use at the end of each window that is left is what was in use at that flush. */
    assert_int_equal(ask(fixture,
                         "SELECT count(*) FROM (SELECT profiles.time_ns, sum(sum(alloc_count)) OVER upto AS allocs,"
                         " sum(sum(free_count)) OVER upto AS frees FROM profiles JOIN sites ON profile_id = profiles.id"
                         " GROUP BY profiles.id WINDOW upto AS (ORDER BY profiles.time_ns)) AS state"
                         " LEFT JOIN truth USING (time_ns)"
                         " WHERE state.allocs IS NOT truth.allocs OR state.frees IS NOT truth.frees"),
                     0);
    /* Windows neither overlap nor leave out a moment in which something happened. */
    assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles AS one JOIN profiles AS next"
                                  " ON next.kind = one.kind AND next.time_ns > one.time_ns"
                                  " WHERE next.time_ns - next.duration_ns < one.time_ns"),
                     0);
    return fixture;
}

static void windows_are_differences(void **state) {
    (void)state;
    struct live live;
    struct fixture *fixture = record_windows(&(struct window_limits){0}, &live);
    assert_int_equal(ask(fixture, "SELECT min(n) = 188 AND max(n) = 188 FROM (SELECT count(*) AS n FROM profiles WHERE"
                                  " kind <> 'heap-peak' GROUP BY kind)"), /* 200 flushes, 12 of them failed */
                     1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM sites WHERE alloc_count = 0 AND free_count = 0"), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM channels WHERE pushes = 0 AND pops = 0"), 0);
    assert_true(ask(fixture, "SELECT max(n) FROM (SELECT count(*) AS n FROM sites GROUP BY profile_id)") <= 5);
    /* A mapping stands in the first window that met it and in no other, but for those after a failure. */
    assert_int_equal(ask(fixture, "SELECT sum(json_array_length(mappings)) FROM profiles WHERE kind = 'lock'"), 1);
    munmap(live.map, live.size);
    stop(fixture);
}

static void folded_windows_keep_every_sum(void **state) {
    (void)state;
    static const uint64_t most[] = {1, 64, 2, 3, 10};
    const size_t tried =
        getenv("SANITIZED") ? 2 : sizeof most / sizeof *most; /* the ends, where a flush takes ten times as long */
    for (size_t i = 0; i < tried; i++) {
        struct live live;
        struct fixture *fixture = record_windows(&(struct window_limits){.most = most[i]}, &live);
        assert_int_equal(ask(fixture, "SELECT max(n) FROM (SELECT count(*) AS n FROM profiles GROUP BY kind)"),
                         most[i]);
        assert_int_equal(ask(fixture, "SELECT min(n) FROM (SELECT count(*) AS n FROM profiles WHERE"
                                      " kind <> 'heap-peak' GROUP BY kind)"),
                         most[i]);
        assert_int_equal(ask(fixture, "SELECT count(*) FROM profiles WHERE kind = 'heap-peak'"), 1);
        if (most[i] >= 10) /* the oldest are the longest; on a busy machine each is as long as it happens to be */
            assert_int_equal(ask(fixture,
                                 "SELECT (SELECT max(duration_ns) FROM (SELECT duration_ns FROM profiles WHERE"
                                 " kind = 'heap' ORDER BY time_ns LIMIT 5)) > (SELECT min(duration_ns) FROM (SELECT"
                                 " duration_ns FROM profiles WHERE kind = 'heap' ORDER BY time_ns DESC LIMIT 5))"),
                             1);
        munmap(live.map, live.size);
        stop(fixture);
    }
}

/* The run's first part is one window, the newest are as they were. */
static void a_ring_keeps_the_newest_and_every_sum(void **state) {
    (void)state;
    struct live live;
    struct fixture *fixture = record_windows(&(struct window_limits){.keep_ns = 20000000}, &live);
    int64_t windows = ask(fixture, "SELECT count(*) FROM profiles WHERE kind = 'heap'");
    assert_true(windows >= 2 && windows < 188);
    assert_int_equal(ask(fixture,
                         "SELECT count(*) FROM (SELECT * FROM profiles WHERE kind = 'heap' ORDER BY time_ns"
                         " LIMIT -1 OFFSET 1) WHERE time_ns <= (SELECT max(time_ns) FROM profiles) - 20000000"),
                     0);
    assert_int_equal(ask(fixture, "SELECT count(DISTINCT time_ns) FROM profiles WHERE kind = 'heap' AND time_ns >"
                                  " (SELECT max(time_ns) FROM profiles) - 20000000"),
                     ask(fixture, "SELECT count(*) FROM truth WHERE time_ns > (SELECT max(time_ns) FROM profiles) -"
                                  " 20000000"));
    munmap(live.map, live.size);
    stop(fixture);
}

/* What no columns hold, again and again, under limits that make sums of it: a flush must not fail for it. */
static void absurd_counters_are_survived(void **state) {
    (void)state;
    struct live live;
    struct fixture *fixture = record_windows(&(struct window_limits){.most = 2}, &live);
    for (int i = 0; i < 4; i++) {
        for (size_t at = 0; at < sizeof live.heap[1] / 8 * 40; at++)
            ((uint64_t *)(void *)live.heap)[at] = UINT64_MAX - (at * i) % 64;
        memset(live.locks, 0xff - i, SEGMENT_COUNTER_IDS * sizeof *live.locks);
        memset(live.tasks, 0xff - i, SEGMENT_COUNTER_IDS * sizeof *live.tasks);
        memset(live.cells, 0x7f + i, SEGMENT_COUNTER_IDS * sizeof *live.cells);
        live.head->dropped_heap = UINT64_MAX - (uint64_t)i;
        live.head->dropped_cells = UINT64_MAX / 2 + (uint64_t)i;
        flush(fixture);
    }
    munmap(live.map, live.size);
    flush(fixture);
    assert_int_equal(
        ask(fixture, "SELECT count(*) FROM sites WHERE typeof(alloc_bytes) <> 'integer' OR alloc_count < 0"), 0);
    assert_int_equal(
        ask(fixture, "SELECT count(*) FROM (SELECT count(*) AS n FROM profiles GROUP BY kind) WHERE n > 2"), 0);
    stop(fixture);
}

/* A segment that is cut short while the program runs takes nothing back of what is stored. */
static void a_damaged_segment_takes_nothing_back(void **state) {
    (void)state;
    struct live live;
    struct fixture *fixture = record_windows(&(struct window_limits){0}, &live);
    char *before = stored(fixture);
    memset(live.heap, 0, SEGMENT_COUNTER_IDS * sizeof *live.heap);
    memset(live.locks, 0, SEGMENT_COUNTER_IDS * sizeof *live.locks);
    memset(live.tasks, 0, SEGMENT_COUNTER_IDS * sizeof *live.tasks);
    flush(fixture);
    munmap(live.map, live.size);
    flush(fixture);
    char *after = stored(fixture);
    assert_string_equal(after, before);
    free(before);
    free(after);
    stop(fixture);
}

/* ---- broken segments --------------------------------------------------------------------------------------------- */

/* The gate (tests/run --suite) tries a part of the cuts and flips. */
static bool in_gate(void) {
    return getenv("SANITIZED_CLEAR") != NULL;
}

static void cut_segments_are_survived(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct collector_totals totals;
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    uint64_t cuts = 0;
    make_segment(&segment, 300, &sum);
    for (size_t size = 0; size < segment.size; size += in_gate() ? 5 * 64 : 64, cuts++) {
        char name[32];
        snprintf(name, sizeof name, "%zu-1.seg", size);
        save(fixture, name, segment.data, size);
        flush(fixture);
    }
    collector_totals(fixture->collector, &totals);
    assert_int_equal(totals.corrupt, cuts); /* every one of them, and each is noticed */
    assert_int_equal(totals.running, 0);
    assert_true(totals.processes > 0 && totals.processes < cuts); /* some kept their header */
    /* A process whose counters were cut has no more than the whole one. */
    assert_int_equal(ask(fixture,
                         "SELECT count(*) FROM (SELECT sum(alloc_count) AS total FROM sites GROUP BY profile_id)"
                         " WHERE total > 1000 * 2 * 300 + 20 * 300"),
                     0);
    buffer_free(&segment);
    stop(fixture);
}

static void flipped_bits_are_survived(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    make_segment(&segment, 40, &sum);
    add_objects(&segment);
    add_rare_counters(&segment, 1);
    segment_end(&segment);
    ((struct segment *)(void *)segment.data)->features = EVERYTHING;
    char *broken = xmalloc(segment.size);
    for (int round = 0, rounds = in_gate() ? 500 : 3000; round < rounds; round++) {
        char name[32];
        memcpy(broken, segment.data, segment.size);
        for (uint64_t flips = 1 + next_random() % 4; flips; flips--) {
            /* Half of them where a flip hurts most: in the words of headers and lists, not in counters. */
            size_t at = next_random() % (next_random() % 2 ? segment.size : SEGMENT_HEADER_SIZE + 4096);
            broken[at] = (char)(broken[at] ^ 1 << next_random() % 8);
        }
        snprintf(name, sizeof name, "%d-2.seg", round);
        save(fixture, name, broken, segment.size);
        flush(fixture);
    }
    assert_int_equal(ask(fixture, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM sites WHERE alloc_count < 0 OR alloc_bytes < 0"), 0);
    free(broken);
    buffer_free(&segment);
    stop(fixture);
}

/* What a lie in one place makes of an otherwise sound segment of 5 stacks: `corrupt` and no crash. */
static void expect_corrupt(struct fixture *fixture, const char *what, void (*lie)(struct buffer *segment)) {
    struct collector_totals totals;
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    char name[32];
    collector_totals(fixture->collector, &totals);
    uint64_t before = totals.corrupt;
    make_segment(&segment, 5, &sum);
    lie(&segment);
    snprintf(name, sizeof name, "%d-1.seg", (int)before + 77);
    save(fixture, name, segment.data, segment.size);
    flush(fixture);
    collector_totals(fixture->collector, &totals);
    if (totals.corrupt != before + 1) fail_msg("%s: not noticed", what);
    buffer_free(&segment);
}

static void lie_size_zero(struct buffer *segment) {
    find_chunk(segment, CHUNK_STACKS)->size = 0;
}
static void lie_size_huge(struct buffer *segment) {
    find_chunk(segment, CHUNK_STACKS)->size = UINT64_MAX - 63;
}
static void lie_size_odd(struct buffer *segment) {
    find_chunk(segment, CHUNK_STACKS)->size += 8;
}
static void lie_kind(struct buffer *segment) {
    find_chunk(segment, CHUNK_THREAD)->kind = 99;
}
static void lie_stack_count(struct buffer *segment) {
    find_chunk(segment, CHUNK_STACKS)->count = UINT32_MAX;
}
static void lie_lock_count(struct buffer *segment) {
    find_chunk(segment, CHUNK_OBJECTS)->count = UINT32_MAX;
}
static void lie_module_count(struct buffer *segment) {
    find_chunk(segment, CHUNK_MODULES)->count = 1000000;
}
static void lie_depth(struct buffer *segment) {
    ((struct segment_stack *)(find_chunk(segment, CHUNK_STACKS) + 1))->depth = UINT16_MAX;
}
static void lie_stack_id(struct buffer *segment) {
    ((struct segment_stack *)(find_chunk(segment, CHUNK_STACKS) + 1))->id = UINT32_MAX;
}
static void lie_lock_id(struct buffer *segment) {
    ((struct segment_object *)(find_chunk(segment, CHUNK_OBJECTS) + 1))->id = UINT32_MAX;
}
static void lie_object_kind(struct buffer *segment) {
    ((struct segment_object *)(find_chunk(segment, CHUNK_OBJECTS) + 1))->kind = OBJECT_NAME + 1;
}
static void lie_build_id(struct buffer *segment) {
    ((struct segment_module *)(find_chunk(segment, CHUNK_MODULES) + 1))->build_id_size = UINT32_MAX;
}
static void lie_used(struct buffer *segment) {
    ((struct segment *)(void *)segment->data)->used = UINT64_MAX;
}

static void lies_are_noticed(void **state) {
    (void)state;
    struct fixture *fixture = start();
    expect_corrupt(fixture, "a chunk of size 0", lie_size_zero);
    expect_corrupt(fixture, "a chunk of 2^64 bytes", lie_size_huge);
    expect_corrupt(fixture, "a chunk of odd size", lie_size_odd);
    expect_corrupt(fixture, "a kind that is none", lie_kind);
    expect_corrupt(fixture, "too many stacks", lie_stack_count);
    expect_corrupt(fixture, "too many locks", lie_lock_count);
    expect_corrupt(fixture, "too many modules", lie_module_count);
    expect_corrupt(fixture, "a stack that is too deep", lie_depth);
    expect_corrupt(fixture, "a stack's id", lie_stack_id);
    expect_corrupt(fixture, "a lock's id", lie_lock_id);
    expect_corrupt(fixture, "an object of no kind", lie_object_kind);
    expect_corrupt(fixture, "a build id that is too long", lie_build_id);
    expect_corrupt(fixture, "more used than there is", lie_used);
    stop(fixture);
}

/* Counters of ids that no list has are losses, and are counted as such. */
static void counters_without_a_stack_are_dropped_events(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct heap_counters counters[SEGMENT_COUNTER_IDS] = {[1] = {5, 50, 0, 0}, [9] = {3, 30, 2, 20}};
    segment_begin(&segment);
    add_module(&segment, MODULE_BIAS, 0, 0);
    add_stacks(&segment, 1);
    add_chunk(&segment, CHUNK_HEAP, 0, 0, counters, sizeof counters);
    segment_end(&segment);
    save(fixture, "77-1.seg", segment.data, segment.size);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT sum(alloc_count) FROM sites"), 5);
    assert_int_equal(ask(fixture, "SELECT dropped FROM profiles WHERE kind = 'heap'"), 5);
    buffer_free(&segment);
    stop(fixture);
}

/* Processes that could not even make a segment count themselves in `control`; doctor must say so. */
/* A stack takes about 1.3 KiB in the recorder. */
static void stacks_are_limited_by_memory(void **state) {
    (void)state;
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_in_range(ids_limit_default(), 65536, 262144);
    if (ids_limit_default() > 65536) assert_true(ids_limit_default() * 1300 < memory / 64);
}

static void unrecorded_processes_are_a_warning(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    struct error err = {0};
    struct control control;
    make_segment(&segment, 5, &sum);
    save(fixture, "77-1.seg", segment.data, segment.size);
    int file = openat(fixture->directory, "control", O_RDWR | O_CLOEXEC);
    assert_int_equal(read(file, &control, sizeof control), sizeof control);
    assert_int_equal(control.magic, SEGMENT_MAGIC);
    assert_int_equal(control.depth, 64);
    control.unrecorded_processes = 4;
    assert_int_equal(pwrite(file, &control, sizeof control, 0), sizeof control);
    close(file);
    assert_int_equal(collector_flush(fixture->collector, true, &err), 0);
    assert_int_equal(facts_seal(&fixture->db, ask(fixture, "SELECT max(id) FROM runs"), &err), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM doctor WHERE section = 'saturation' AND code = 'warning'"
                                  " AND subject LIKE 'WARNING: 4 processes%'"),
                     1);
    assert_int_equal(ask(fixture, "SELECT value FROM counters WHERE name = 'recorder.events'"),
                     sum.alloc_count + sum.free_count + 2 * 100 * (1 + 2 + 3) + 80);
    buffer_free(&segment);
    stop(fixture);
}

struct seen {
    struct fixture *fixture;
    size_t stacks;
};

static void count_stack(void *context, const struct segment_stack *stack, size_t offset) {
    (void)stack;
    (void)offset;
    ((struct seen *)context)->stacks++;
}

/* A program may cut its own segment while we read it: no SIGBUS. */
static void a_file_that_shrinks_under_the_map_is_survived(void **state) {
    (void)state;
    static const struct segment_visitor visitor = {.stack = count_stack};
    struct fixture *fixture = start();
    struct seen seen = {.fixture = fixture};
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    struct segment_view view;
    struct error err = {0};
    make_segment(&segment, 600, &sum);
    save(fixture, "77-1.seg", segment.data, segment.size);
    assert_int_equal(segment_view_open(&view, fixture->directory, "77-1.seg", &err), 1);
    segment_view_walk(&view, &visitor, &seen);
    assert_int_equal(seen.stacks, 600);
    assert_false(view.corrupt);
    int file = openat(fixture->directory, "77-1.seg", O_RDWR | O_CLOEXEC);
    assert_int_equal(ftruncate(file, SEGMENT_HEADER_SIZE * 2), 0);
    close(file);
    seen.stacks = 0;
    segment_view_walk(&view, &visitor, &seen);
    assert_true(view.corrupt);
    assert_true(seen.stacks < 600);
    segment_view_close(&view);
    buffer_free(&segment);
    stop(fixture);
}

/* Names that end like a segment and are none. */
static void other_files_are_left_alone(void **state) {
    (void)state;
    struct fixture *fixture = start();
    struct buffer segment = {0};
    struct heap_counters sum = {0};
    save(fixture, "text.seg", "not a segment\n", 14);
    make_segment(&segment, 5, &sum);
    ((struct segment *)(void *)segment.data)->version = 99;
    save(fixture, "newer.seg", segment.data, segment.size);
    assert_int_equal(symlinkat("/etc/passwd", fixture->directory, "link.seg"), 0);
    assert_int_equal(mkfifoat(fixture->directory, "fifo.seg", 0600), 0);
    flush(fixture);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM processes"), 0);
    buffer_free(&segment);
    stop(fixture);
}

/* ---- memory in RAM ------------------------------------------------------------------------------------------------ */

/* What /proc/PID/smaps may have: a heap that grew while it was written is there twice, and an arena with huge pages. Others are no heap: the next to an arena, one that
 * no thread may write, a file, a stack, and one that is larger than an arena. */
static void the_heap_is_found_among_the_mappings(void **state) {
    (void)state;
    static char text[] = "00400000-00452000 rw-p 00000000 08:02 173521 /usr/bin/[heap]\n"
                         "Size:               328 kB\nAnonymous:             1 kB\nAnonHugePages:         0 kB\n"
                         "5571f0eae000-5571f0f00000 rw-p 00000000 00:00 0                          [heap]\n"
                         "Size:               328 kB\nAnonymous:            64 kB\nAnonHugePages:         0 kB\n"
                         "5571f0eae000-5571f1000000 rw-p 00000000 00:00 0                          [heap]\n"
                         "Size:              1352 kB\nAnonymous:           128 kB\nAnonHugePages:         0 kB\n"
                         "7f0000000000-7f0004000000 rw-p 00000000 00:00 0 \n"
                         "Anonymous:          4096 kB\nAnonHugePages:      2048 kB\n"
                         "7f0008000000-7f0008021000 ---p 00000000 00:00 0 \n"
                         "Anonymous:             1 kB\n"
                         "7f000c001000-7f000c021000 rw-p 00000000 00:00 0 \n"
                         "Anonymous:             1 kB\n"
                         "7f0010000000-7f0014001000 rw-p 00000000 00:00 0 \n"
                         "Anonymous:             1 kB\n"
                         "7f0018000000-7f0018021000 rw-p 00000000 00:00 0 [stack]\n"
                         "Anonymous:             1 kB\nVmFlags: rd wr\n";
    FILE *smaps = fmemopen(text, sizeof text - 1, "r");
    assert_non_null(smaps);
    assert_int_equal(resident_heap(smaps), (128 + 4096 - 2048) * 1024);
    fclose(smaps);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_missed_frees_are_no_warning),
        cmocka_unit_test(few_untimed_holds_are_no_warning),
        cmocka_unit_test(sums_are_exact_over_threads),
        cmocka_unit_test(reading_ahead_takes_nothing_from_a_flush),
        cmocka_unit_test(locks_are_summed_and_named),
        cmocka_unit_test(ids_of_one_trace_share_a_row),
        cmocka_unit_test(cells_are_known_by_owner_and_split_by_caller),
        cmocka_unit_test(channels_are_known_by_name_and_number),
        cmocka_unit_test(fibers_are_summed_by_site_and_scheduler),
        cmocka_unit_test(cpu_samples_have_their_period),
        cmocka_unit_test(entries_that_counted_nothing_are_passed_over),
        cmocka_unit_test(sampled_kinds_say_so),
        cmocka_unit_test(what_was_live_at_the_peak_is_kept),
        cmocka_unit_test(kinds_that_are_off_or_unheard_of_have_no_profile),
        cmocka_unit_test(counters_of_another_kind_are_dropped_events),
        cmocka_unit_test(locks_are_split_by_caller),
        cmocka_unit_test(flushes_write_what_moved),
        cmocka_unit_test(lost_blocks_are_taken_when_all_are_counted),
        cmocka_unit_test(a_failed_flush_is_made_up_for),
        cmocka_unit_test(late_kinds_survive_a_failed_flush),
        cmocka_unit_test(a_run_is_unfinished_until_its_end),
        cmocka_unit_test(an_end_before_the_facts),
        cmocka_unit_test(duration_is_the_programs),
        cmocka_unit_test(windows_are_differences),
        cmocka_unit_test(folded_windows_keep_every_sum),
        cmocka_unit_test(a_ring_keeps_the_newest_and_every_sum),
        cmocka_unit_test(absurd_counters_are_survived),
        cmocka_unit_test(a_damaged_segment_takes_nothing_back),
        cmocka_unit_test(cut_segments_are_survived),
        cmocka_unit_test(flipped_bits_are_survived),
        cmocka_unit_test(lies_are_noticed),
        cmocka_unit_test(counters_without_a_stack_are_dropped_events),
        cmocka_unit_test(unrecorded_processes_are_a_warning),
        cmocka_unit_test(stacks_are_limited_by_memory),
        cmocka_unit_test(a_file_that_shrinks_under_the_map_is_survived),
        cmocka_unit_test(other_files_are_left_alone),
        cmocka_unit_test(the_heap_is_found_among_the_mappings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
