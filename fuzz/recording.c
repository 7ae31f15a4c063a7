#include "fuzz/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

enum { STACKS = 5, OBJECTS = 12 };

#define BIAS UINT64_C(0x7f0000000000)

static struct buffer segments[FUZZ_RECORDINGS];
static const char run[] =
    "{\"uuid\":\"0190aaaa-0000-7000-8000-000000000001\",\"command\":\"./server 'it''s'\",\"label\":null,"
    "\"started_ns\":1700000000000000000,\"host\":\"here\",\"sample_n\":1,\"flags\":\"unfinished\",\"tags\":{\"a\":"
    "\"b\"},"
    "\"warehouse\":\"/nowhere/runs.sqlite\",\"program\":\"/nowhere/program\",\"build\":null,\"source\":null}";

static void add_chunk(struct buffer *segment, uint32_t kind, uint32_t count, const void *body, size_t size) {
    static const char zeros[SEGMENT_ALIGNMENT];
    size_t padding = (SEGMENT_ALIGNMENT - size % SEGMENT_ALIGNMENT) % SEGMENT_ALIGNMENT;
    struct chunk chunk = {.kind = kind, .count = count, .size = sizeof chunk + size + padding};
    buffer_add(segment, &chunk, sizeof chunk);
    buffer_add(segment, body, size);
    buffer_add(segment, zeros, padding);
}

/* Counters of the first ids, `words` each, that differ. */
static void add_counters(struct buffer *segment, uint32_t kind, size_t words) {
    uint64_t counters[OBJECTS * 32];
    for (size_t i = 0; i < OBJECTS * words; i++)
        counters[i] = i >= words ? 1000 - i : 0;
    add_chunk(segment, kind, 0, counters, OBJECTS * words * sizeof *counters);
}

static void add_head(struct buffer *segment) {
    struct segment head = {.magic = SEGMENT_MAGIC,
                           .version = SEGMENT_VERSION,
                           .header_size = SEGMENT_HEADER_SIZE,
                           .features = FUZZ_RECORDING_FEATURES,
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
    buffer_add(segment, page, sizeof page);
}

static void add_names(struct buffer *segment) {
    struct segment_object objects[OBJECTS];
    struct buffer stacks = {0};
    const struct segment_module modules[] = {
        {.bias = BIAS, .low = BIAS, .high = BIAS + 4096, .build_id_size = 20, .path = "/nowhere/program"},
        {.bias = BIAS * 2, .low = BIAS * 2, .high = BIAS * 2 + 4096, .epoch_end = 1, .path = "[vdso]"}};
    const struct segment_thread threads[] = {{.id = 1, .tid = 77, .name = "worker"}, {.id = 2, .tid = 78}};
    for (uint32_t id = 1; id <= STACKS; id++) {
        const struct segment_stack stack = {.id = id, .depth = 2, .epoch = id == STACKS};
        const uint64_t python = PYTHON_FRAME | (uint64_t)(id % 3) << PYTHON_CODE_SHIFT | id;
        const uint64_t pcs[] = {id % 2 ? BIAS * (1 + id % 3) + id : python, BIAS + 99};
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
    add_chunk(segment, CHUNK_MODULES, 2, modules, sizeof modules);
    add_chunk(segment, CHUNK_STACKS, STACKS, stacks.data, stacks.size);
    add_chunk(segment, CHUNK_OBJECTS, OBJECTS, objects, sizeof objects);
    add_chunk(segment, CHUNK_THREADS, 2, threads, sizeof threads);
    buffer_free(&stacks);
}

static void add_heap_lists(struct buffer *segment) {
    const struct segment_tally tallies[] = {{.stack = 1, .part = HISTOGRAM_SIZE << TALLY_BUCKET_BITS | 5, .count = 9}};
    const struct segment_mapping maps[] = {{.stack = 3, .use = MAPPING_FILE, .counters = {2, 8192, 1, 4096, 0}}};
    add_chunk(segment, CHUNK_TALLY, 1, tallies, sizeof tallies);
    add_chunk(segment, CHUNK_MAPPING, 1, maps, sizeof maps);
}

/* Two functions of a script, with tables of lines. */
static void add_codes(struct buffer *segment) {
    static const unsigned char lines[] = {0xd1, 4, 9, 0xe1, 4, 9, 0xf0, 3, 1, 5, 9, 0xe8, 2, 0xf8};
    struct buffer codes = {0};
    for (uint32_t id = 1; id <= 2; id++) {
        const struct segment_code code = {
            .id = id, .first_line = 7, .name_size = 5, .file_size = 5, .lines_size = sizeof lines};
        buffer_add(&codes, &code, sizeof code);
        buffer_add(&codes, "C.run", 5);
        buffer_add(&codes, "m4.py", 5);
        buffer_add(&codes, lines, sizeof lines);
    }
    add_chunk(segment, CHUNK_CODES, 2, codes.data, codes.size);
    buffer_free(&codes);
}

static void add_time_lists(struct buffer *segment) {
    const struct segment_cpu cpu[] = {{.stack = 1, .thread = 1, .counters = {2, 20}},
                                      {.stack = 4, .thread = 9},
                                      {.stack = 1, .flags = CPU_OF_RECORDER, .counters = {5, 50}}};
    const struct segment_io io[] = {{.stack = 2, .call = IO_READ, .counters = {.calls = 3}}};
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
    add_chunk(segment, CHUNK_CPU, 3, cpu, sizeof cpu);
    add_chunk(segment, CHUNK_IO, 1, io, sizeof io);
    add_chunk(segment, CHUNK_THREAD, 0, threads, sizeof threads);
    add_chunk(segment, CHUNK_EVENTS, EVENT_KINDS, events, sizeof events);
}

static void end(void) {
    for (int i = 0; i < FUZZ_RECORDINGS; i++)
        buffer_free(&segments[i]);
}

static void add_measures(struct buffer *segment, enum fuzz_recorded which) {
    static const struct {
        uint32_t kind;
        size_t size;
        enum fuzz_recorded of;
    } counters[] = {{CHUNK_HEAP, sizeof(struct heap_counters), FUZZ_HEAP},
                    {CHUNK_HEAP_DETAILS, sizeof(struct heap_details), FUZZ_HEAP},
                    {CHUNK_LOCK, sizeof(struct lock_counters), FUZZ_OBJECTS},
                    {CHUNK_CELL, sizeof(struct cell_counters), FUZZ_OBJECTS},
                    {CHUNK_CHANNEL, sizeof(struct channel_counters), FUZZ_OBJECTS},
                    {CHUNK_TASK, sizeof(struct task_counters), FUZZ_TIMES},
                    {CHUNK_WAIT, sizeof(struct wait_counters), FUZZ_OBJECTS},
                    {CHUNK_LEAK, sizeof(struct leak_counters), FUZZ_HEAP},
                    {CHUNK_START, sizeof(struct start_counters), FUZZ_TIMES},
                    {CHUNK_SPIN, sizeof(struct spin_counters), FUZZ_OBJECTS}};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (which == FUZZ_WHOLE || which == counters[i].of)
            add_counters(segment, counters[i].kind, counters[i].size / sizeof(uint64_t));
    if (which == FUZZ_WHOLE || which == FUZZ_HEAP) add_heap_lists(segment);
    if (which == FUZZ_WHOLE || which == FUZZ_TIMES) add_time_lists(segment);
}

static void make_note(struct recording_note *note) {
    recording_note_init(note);
    note->start_ns = note->start_ticks = 1000;
    note->start_realtime_ns = 1700000000000000000;
    note->flush_ns = note->flush_ticks = note->program_ended_ns = 2000;
    note->has_status = 1;
}

static void make(struct fuzz_recording *made, enum fuzz_recorded which) {
    struct buffer *segment = &segments[which];
    add_head(segment);
    add_names(segment);
    add_codes(segment);
    add_measures(segment, which);
    ((struct segment *)(void *)segment->data)->used = segment->size;
    made->segment = segment->data;
    made->segment_size = segment->size;
    made->run = run;
    make_note(&made->note);
    made->control = (struct control){.magic = SEGMENT_MAGIC,
                                     .version = SEGMENT_VERSION,
                                     .size = sizeof(struct control),
                                     .features = FUZZ_RECORDING_FEATURES,
                                     .depth = 64,
                                     .cpu_hz = 99};
}

const struct fuzz_recording *fuzz_recording(enum fuzz_recorded which) {
    static struct fuzz_recording made[FUZZ_RECORDINGS];
    static bool is_known;
    if (!is_known) atexit(end);
    is_known = true;
    if (!made[which].segment) make(&made[which], which);
    return &made[which];
}
