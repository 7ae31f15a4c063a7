/* A recording whose files are foreign input: what `clear recover` finds in a directory, and what a program writes into its segment while
 * `clear profile` reads it. The first byte of the input chooses the part, the rest is that file as it is, or damage (warehouse.h) of a
 * sound one. Whatever it is: nothing outside of it is read, a failure has a message, no segment makes one, and the warehouse stays whole. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/warehouse.h"
#include "ingest/record/collector.h"
#include "ingest/record/lost.h"
#include "ingest/record/recording_note.h"

enum part {
    PART_SEGMENT,     /* damage of a segment that is recovered */
    PART_LIVE,        /* the same of one that was read before, while it is written */
    PART_RUN,         /* run.json */
    PART_NOTE,        /* damage of the note */
    PART_CONTROL,     /* damage of the control file */
    PART_RAW_SEGMENT, /* chunks of a segment behind a sound header */
    PARTS,
};

enum { RENEW = 200, STACKS = 5, OBJECTS = 12 };

#define BIAS UINT64_C(0x7f0000000000)
#define EVERYTHING                                                                                                     \
    (FEATURE_HEAP | FEATURE_LOCKS | FEATURE_CELLS | FEATURE_CHANNELS | FEATURE_FIBERS | FEATURE_CPU | FEATURE_LEAKS |  \
     FEATURE_IO | FEATURE_LIFETIMES | FEATURE_MMAP | FEATURE_TRACE | FEATURE_WALL)

static char directory[] = "/dev/shm/fuzz-clear.XXXXXX";
static int directory_file = -1;
static struct buffer segment; /* the sound one */
static const char run[] =
    "{\"uuid\":\"0190aaaa-0000-7000-8000-000000000001\",\"command\":\"./server 'it''s'\",\"label\":null,"
    "\"started_ns\":1700000000000000000,\"host\":\"here\",\"sample_n\":1,\"flags\":\"unfinished\",\"tags\":{\"a\":"
    "\"b\"},"
    "\"warehouse\":\"/nowhere/runs.sqlite\",\"program\":\"/nowhere/program\",\"build\":null,\"source\":null}";
static struct recording_note note;
static struct control control;
static struct db db;
static unsigned inputs;

/* ---- a sound recording ---- */

static void add_chunk(uint32_t kind, uint32_t count, const void *body, size_t size) {
    static const char zeros[SEGMENT_ALIGNMENT];
    size_t padding = (SEGMENT_ALIGNMENT - size % SEGMENT_ALIGNMENT) % SEGMENT_ALIGNMENT;
    struct chunk chunk = {.kind = kind, .count = count, .size = sizeof chunk + size + padding};
    buffer_add(&segment, &chunk, sizeof chunk);
    buffer_add(&segment, body, size);
    buffer_add(&segment, zeros, padding);
}

/* Counters of the first ids, `words` each, that differ. */
static void add_counters(uint32_t kind, size_t words) {
    uint64_t counters[OBJECTS * 32];
    for (size_t i = 0; i < OBJECTS * words; i++)
        counters[i] = i >= words ? 1000 - i : 0;
    add_chunk(kind, 0, counters, OBJECTS * words * sizeof *counters);
}

static void add_head(void) {
    struct segment head = {.magic = SEGMENT_MAGIC,
                           .version = SEGMENT_VERSION,
                           .header_size = SEGMENT_HEADER_SIZE,
                           .features = EVERYTHING,
                           .pid = 999999999,
                           .ppid = 7,
                           .start_realtime_ns = 1700000000000000000,
                           .start_monotonic_ns = 1000,
                           .start_ticks = 1000,
                           .executable = "/nowhere/program",
                           .depth = 64,
                           .cpu_hz = 99,
                           .stacks = STACKS,
                           .objects = OBJECTS,
                           .threads_started = 2,
                           .peak_epoch = 1,
                           .has_leaks = 1};
    char page[SEGMENT_HEADER_SIZE] = {0};
    memcpy(page, &head, sizeof head);
    buffer_add(&segment, page, sizeof page);
}

static void add_names(void) {
    struct segment_object objects[OBJECTS];
    struct buffer stacks = {0};
    const struct segment_module modules[] = {
        {.bias = BIAS, .low = BIAS, .high = BIAS + 4096, .build_id_size = 20, .path = "/nowhere/program"},
        {.bias = BIAS * 2, .low = BIAS * 2, .high = BIAS * 2 + 4096, .epoch_end = 1, .path = "[vdso]"}};
    const struct segment_thread threads[] = {{.id = 1, .tid = 77, .name = "worker"}, {.id = 2, .tid = 78}};
    for (uint32_t id = 1; id <= STACKS; id++) {
        const struct segment_stack stack = {.id = id, .depth = 2, .epoch = id == STACKS};
        const uint64_t pcs[] = {BIAS * (1 + id % 3) + id, BIAS + 99};
        buffer_add(&stacks, &stack, sizeof stack);
        buffer_add(&stacks, pcs, sizeof pcs);
    }
    for (uint32_t i = 0; i < OBJECTS; i++)
        objects[i] = (struct segment_object){.id = i + 1,
                                             .kind = i + 1,
                                             .address = i % 2 ? BIAS + i : 0x5000 + i,
                                             .owner = i % 4 == 1 ? 2 : 0,
                                             .stack = i % 3,
                                             .number = i % 5,
                                             .name = "orders"};
    add_chunk(CHUNK_MODULES, 2, modules, sizeof modules);
    add_chunk(CHUNK_STACKS, STACKS, stacks.data, stacks.size);
    add_chunk(CHUNK_OBJECTS, OBJECTS, objects, sizeof objects);
    add_chunk(CHUNK_THREADS, 2, threads, sizeof threads);
    buffer_free(&stacks);
}

static void add_lists(void) {
    const struct segment_cpu cpu[] = {{.stack = 1, .thread = 1, .counters = {2, 20}},
                                      {.stack = 4, .thread = 9},
                                      {.stack = 1, .flags = CPU_OF_RECORDER, .counters = {5, 50}}};
    const struct segment_io io[] = {{.stack = 2, .call = IO_READ, .counters = {.calls = 3}}};
    const struct segment_tally tallies[] = {{.stack = 1, .part = HISTOGRAM_SIZE << TALLY_BUCKET_BITS | 5, .count = 9}};
    const struct segment_mapping maps[] = {{.stack = 3, .use = MAPPING_FILE, .counters = {2, 8192, 1, 4096, 0}}};
    const struct thread_counters threads[] = {{.truncated = 1,
                                               .wait_since = 500,
                                               .wait_object = 1,
                                               .wait_weight = 1,
                                               .born_at = 10,
                                               .starter = 2,
                                               .tid = 77}};
    struct segment_event events[EVENT_KINDS];
    for (uint32_t i = 0; i < EVENT_KINDS; i++)
        events[i] = (struct segment_event){.kind = i ? i : EVENT_MARK,
                                           .begin = 1000 + i,
                                           .end = 1100 + i,
                                           .tid = 77,
                                           .object = 1 + i % OBJECTS,
                                           .stack = i % STACKS};
    add_chunk(CHUNK_CPU, 3, cpu, sizeof cpu);
    add_chunk(CHUNK_IO, 1, io, sizeof io);
    add_chunk(CHUNK_TALLY, 1, tallies, sizeof tallies);
    add_chunk(CHUNK_MAPPING, 1, maps, sizeof maps);
    add_chunk(CHUNK_THREAD, 0, threads, sizeof threads);
    add_chunk(CHUNK_EVENTS, EVENT_KINDS, events, sizeof events);
}

static void make_sound(void) {
    static const struct {
        uint32_t kind;
        size_t size;
    } counters[] = {{CHUNK_HEAP, sizeof(struct heap_counters)},       {CHUNK_HEAP_DETAILS, sizeof(struct heap_details)},
                    {CHUNK_LOCK, sizeof(struct lock_counters)},       {CHUNK_CELL, sizeof(struct cell_counters)},
                    {CHUNK_CHANNEL, sizeof(struct channel_counters)}, {CHUNK_TASK, sizeof(struct task_counters)},
                    {CHUNK_WAIT, sizeof(struct wait_counters)},       {CHUNK_LEAK, sizeof(struct leak_counters)},
                    {CHUNK_START, sizeof(struct start_counters)},     {CHUNK_SPIN, sizeof(struct spin_counters)}};
    add_head();
    add_names();
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        add_counters(counters[i].kind, counters[i].size / sizeof(uint64_t));
    add_lists();
    ((struct segment *)(void *)segment.data)->used = segment.size;
    recording_note_init(&note);
    note.start_ns = note.start_ticks = 1000;
    note.start_realtime_ns = 1700000000000000000;
    note.flush_ns = note.flush_ticks = note.program_ended_ns = 2000;
    note.has_status = 1;
    control = (struct control){.magic = SEGMENT_MAGIC,
                               .version = SEGMENT_VERSION,
                               .size = sizeof control,
                               .features = EVERYTHING,
                               .depth = 64,
                               .cpu_hz = 99};
}

/* ---- the directory and the warehouse ---- */

static void end(void) {
    static const char *const names[] = {"run.json", "note", "control", "1-1.seg", "owner"};
    struct error ignored = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlinkat(directory_file, names[i], 0);
    rmdir(directory);
    close(directory_file);
    buffer_free(&segment);
    if (db.handle) db_close(&db, &ignored);
}

static void start(void) {
    if (directory_file >= 0) return;
    directory_file = mkdtemp(directory) ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory_file < 0) bug("%s cannot be made", directory);
    make_sound();
    atexit(end);
}

static void expect_none(const char *sql) {
    struct error err = {0};
    int64_t rows = -1;
    if (db_int(&db, sql, -1, &rows, &err) != 0) bug("%s", err.message);
    if (rows) bug("%lld rows: %s", (long long)rows, sql);
}

static void check_warehouse(void) {
    expect_none("SELECT count(*) FROM pragma_foreign_key_check");
    expect_none("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'");
    expect_none(
        "SELECT count(*) FROM sites WHERE alloc_count < 0 OR alloc_bytes < 0 OR typeof(alloc_bytes) <> 'integer'");
}

static void renew(void) {
    struct error err = {0};
    if (db.handle) check_warehouse();
    if (db.handle && db_close(&db, &err) != 0) bug("%s", err.message);
    if (db_open(&db, ":memory:", DB_WRITE, &err) != 0) bug("%s", err.message);
}

/* Over what is there, as a program does: the file stays the same one. */
static void save(const char *name, const void *bytes, size_t size) {
    int file = openat(directory_file, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, 0) || write(file, bytes, size) != (ssize_t)size) bug("%s cannot be written", name);
    close(file);
}

static void save_damaged(const char *name, const void *sound, size_t sound_size, const uint8_t *data, size_t size) {
    char *bytes = xmalloc(sound_size);
    struct damage damage;
    memcpy(bytes, sound, sound_size);
    for (const uint8_t *at = data; fuzz_damage_next(&at, data + size, &damage);) {
        size_t place = damage.place % sound_size, left = sound_size - place;
        memcpy(bytes + place, damage.bytes, damage.size < left ? damage.size : left);
    }
    save(name, bytes, sound_size);
    free(bytes);
}

static void save_raw_segment(const uint8_t *data, size_t size) {
    struct buffer raw = {0};
    buffer_add(&raw, segment.data, SEGMENT_HEADER_SIZE);
    buffer_add(&raw, data, size);
    ((struct segment *)(void *)raw.data)->used = raw.size;
    save("1-1.seg", raw.data, raw.size);
    buffer_free(&raw);
}

/* ---- one input ---- */

static void pass_over(const char *message) {
    if (!*message) bug("a warning without words");
}

/* Other processes are in the same transaction: what one has in its segment may not fail it. */
static void expect_stored(int code, const struct error *err) {
    fuzz_check(code, err);
    if (code) bug("a segment fails the recording: %s", err->message);
}

static void recover(bool is_segment) {
    struct lost lost;
    struct error err = {0};
    int code = lost_open(&lost, directory, &err);
    if (code == 0) bug("somebody has %s", directory);
    if (code == 1) {
        bool was_over = false;
        int64_t run_id = lost_store(&lost, &db, pass_over, &was_over, &err);
        code = run_id < 0 ? -1 : 0;
        if (code == 0 && db.depth) bug("a transaction is open");
        lost_close(&lost);
    }
    if (is_segment)
        expect_stored(code, &err);
    else
        fuzz_check(code, &err);
}

static void record_live(const uint8_t *data, size_t size) {
    char *command[] = {(char *)"./server", NULL};
    const struct run_description description = {.command = command};
    const struct collector_options options = {.features = EVERYTHING,
                                              .depth = 64,
                                              .cpu_hz = 99,
                                              .wall_hz = 99,
                                              .streams_events = true,
                                              .windows = {.most = 2}};
    struct collector *collector;
    struct error err = {0};
    int64_t run_id = run_begin(&db, &description, &err);
    unlinkat(directory_file, "control", 0);
    if (run_id < 0 || collector_open(&collector, &db, run_id, directory_file, &options, &err)) bug("%s", err.message);
    int writer = openat(directory_file, "1-1.seg", O_RDWR | O_CLOEXEC); /* so it runs */
    int code = collector_flush(collector, false, &err);
    save_damaged("1-1.seg", segment.data, segment.size, data, size);
    for (int i = 0; i < 2 && code == 0; i++)
        code = collector_flush(collector, false, &err);
    close(writer);
    if (code == 0) code = collector_flush(collector, true, &err);
    collector_close(collector);
    expect_stored(code, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum part part = size ? data[0] % PARTS : PART_SEGMENT;
    const uint8_t *rest = data + (size > 0);
    size_t left = size - (size > 0);
    start();
    if (inputs++ % RENEW == 0) renew();
    save("run.json", run, sizeof run - 1);
    save("note", &note, sizeof note);
    save("control", &control, sizeof control);
    save("1-1.seg", segment.data, segment.size);
    switch (part) {
    case PART_SEGMENT: save_damaged("1-1.seg", segment.data, segment.size, rest, left); break;
    case PART_RUN: save("run.json", rest, left); break;
    case PART_NOTE: save_damaged("note", &note, sizeof note, rest, left); break;
    case PART_CONTROL: save_damaged("control", &control, sizeof control, rest, left); break;
    case PART_RAW_SEGMENT: save_raw_segment(rest, left); break;
    default: break;
    }
    if (part == PART_LIVE)
        record_live(rest, left);
    else
        recover(part == PART_SEGMENT || part == PART_RAW_SEGMENT);
    return 0;
}
