#include <stdlib.h>
#include <string.h>

#include "ingest/read/gotrace/go_trace.h"
#include "ingest/read/input.h"
#include "ingest/read/trace/keyed_list.h"

enum { FRAMES_MAX = 4096, FRAME_NUMBERS = 4 };

static uint64_t offset_of(const struct go_reader *reader, struct wire at) {
    return (uint64_t)(at.at - reader->input->data);
}

static int fail_at(const struct go_reader *reader, struct wire at, const char *what, struct error *err) {
    return input_fail_byte(err, reader->input, offset_of(reader, at), "%s", what);
}

static int take_numbers(const struct go_reader *reader, struct wire *wire, uint64_t *numbers, int count,
                        struct error *err) {
    for (int i = 0; i < count; i++)
        if (wire_varint(wire, &numbers[i]) != WIRE_OK)
            return fail_at(reader, *wire, "a batch ends in the middle of an event", err);
    return 0;
}

/* ---- reading ---- */

static int read_string(struct go_reader *reader, struct wire *wire, struct error *err) {
    uint64_t numbers[2]; /* id, size */
    if (take_numbers(reader, wire, numbers, 2, err)) return -1;
    if (numbers[1] > wire_size(*wire)) return fail_at(reader, *wire, "a string is longer than its batch", err);
    const char *text = trace_text(&reader->rows, (const char *)wire->at, numbers[1]);
    map_put(&reader->generation.strings, &numbers[0], sizeof numbers[0], NULL)->value = (int64_t)(intptr_t)text;
    wire->at += numbers[1];
    return 0;
}

static int read_stack(struct go_reader *reader, struct wire *wire, struct error *err) {
    struct go_generation *generation = &reader->generation;
    uint64_t numbers[2], frame[FRAME_NUMBERS]; /* id, frames */
    if (take_numbers(reader, wire, numbers, 2, err)) return -1;
    if (numbers[1] > FRAMES_MAX) return fail_at(reader, *wire, "a stack has more than 4,096 frames", err);
    struct wire frames = *wire;
    for (uint64_t i = 0; i < numbers[1]; i++)
        if (take_numbers(reader, wire, frame, FRAME_NUMBERS, err)) return -1;
    frames.end = wire->at;
    struct go_stack *stack = keyed_list_entry(&generation->stacks, &numbers[0], sizeof numbers[0],
                                              (void **)&generation->stack_list, sizeof *generation->stack_list);
    *stack = (struct go_stack){.frames = frames, .count = numbers[1]};
    return 0;
}

static int read_sample(struct go_reader *reader, struct wire *wire, struct error *err) {
    struct go_generation *generation = &reader->generation;
    uint64_t numbers[5]; /* time, M, P, goroutine, stack */
    if (take_numbers(reader, wire, numbers, 5, err)) return -1;
    size_t count = generation->sample_count;
    if ((count & (count - 1)) == 0)
        generation->samples = xrealloc(generation->samples, (count ? 2 * count : 1) * sizeof *generation->samples);
    generation->samples[generation->sample_count++] = (struct go_sample){numbers[0], numbers[3], numbers[4]};
    return 0;
}

static int read_frequency(struct go_reader *reader, struct wire *wire, struct error *err) {
    if (take_numbers(reader, wire, &reader->generation.frequency, 1, err)) return -1;
    return reader->generation.frequency ? 0 : fail_at(reader, *wire, "the clock has a frequency of 0", err);
}

/* The time is that of the batch, from which its own is counted. */
static int read_clock(struct go_reader *reader, struct wire *wire, uint64_t ticks, struct error *err) {
    uint64_t numbers[4]; /* ticks since the batch, monotonic clock, seconds since 1970, ns */
    if (take_numbers(reader, wire, numbers, 4, err)) return -1;
    struct go_generation *generation = &reader->generation;
    generation->clock_ticks = ticks + numbers[0];
    generation->clock_seconds = numbers[2];
    generation->clock_ns = numbers[3];
    return 0;
}

int go_read_table(struct go_reader *reader, const struct go_batch *batch, struct error *err) {
    struct wire wire = batch->events;
    uint8_t table = wire.at < wire.end ? *wire.at : 0, type;
    if (table != GO_STRINGS && table != GO_STACKS && table != GO_CPU_SAMPLES && table != GO_FREQUENCY &&
        table != GO_SYNC)
        return 0;
    if (table != GO_FREQUENCY) wire.at++;
    while (wire.at < wire.end) {
        type = *wire.at++;
        int code = table == GO_STRINGS && type == GO_STRING           ? read_string(reader, &wire, err)
                   : table == GO_STACKS && type == GO_STACK           ? read_stack(reader, &wire, err)
                   : table == GO_CPU_SAMPLES && type == GO_CPU_SAMPLE ? read_sample(reader, &wire, err)
                   : table >= GO_FREQUENCY && type == GO_FREQUENCY    ? read_frequency(reader, &wire, err)
                   : table == GO_SYNC && type == GO_CLOCK_SNAPSHOT
                       ? read_clock(reader, &wire, batch->ticks, err)
                       : fail_at(reader, wire, "an event that does not belong in its batch", err);
        if (code) return -1;
    }
    return 1;
}

int64_t go_time(struct go_reader *reader, uint64_t ticks, struct error *err) {
    unsigned __int128 ns = (unsigned __int128)ticks * 1000000000 / reader->generation.frequency;
    if (ns > INT64_MAX / 2)
        return error_fail(err, "%s: a time of %llu ticks is more than 62 bits of ns", reader->input->path,
                          (unsigned long long)ticks);
    return (int64_t)ns;
}

/* ---- what is in them ---- */

const char *go_string(struct go_reader *reader, uint64_t id) {
    const struct map_entry *entry = map_find(&reader->generation.strings, &id, sizeof id);
    return entry ? (const char *)(intptr_t)entry->value : "";
}

/* The package of "net/http.(*conn).serve" is "net/http": up to the first point behind the last slash. */
static bool is_of(const char *function, const char *package) {
    size_t size = strlen(package);
    if (strncmp(function, package, size) != 0) return false;
    return package[size - 1] == '/' || function[size] == '.' || function[size] == '/';
}

static bool is_runtime(const char *function) {
    return is_of(function, "runtime") || is_of(function, "internal/") ||
           strncmp(function, "syscall.Syscall", 15) == 0 || strncmp(function, "syscall.RawSyscall", 18) == 0 ||
           strncmp(function, "syscall.rawSyscall", 18) == 0;
}

static bool is_helper(const char *function) {
    return is_runtime(function) || is_of(function, "sync") || is_of(function, "syscall") || is_of(function, "time");
}

/* Functions in which a goroutine stands that waits. The first that is on the stack counts: a lock for writing takes a mutex too. */
static const struct wait_place {
    const char *part, *kind, *what;
} wait_places[] = {
    {"sync.(*RWMutex).RLock", "read", "read lock"},
    {"sync.(*RWMutex).Lock", "rwlock", "write lock"},
    {"sync.(*Mutex).", "mutex", "mutex"},
    {"sync.(*Cond).Wait", "cond", "condition"},
    {"sync.(*WaitGroup).Wait", "sem", "wait group"},
    {"runtime.chanrecv", "channel", "chan receive"},
    {"runtime.chansend", "channel", "chan send"},
    {"runtime.selectgo", "channel", "select"},
    {"time.Sleep", "sleep", "sleep"},
    {"internal/poll.", "syscall", "network"},
};

static void look_at_frame(struct go_stack *stack, size_t *best, const char *function) {
    if (!*stack->call && !is_runtime(function)) stack->call = function;
    if (!*stack->place && !is_helper(function)) stack->place = function;
    stack->root = strcmp(function, "runtime.main") == 0 && *stack->root ? stack->root : function;
    for (size_t i = 0; i < *best; i++)
        if (strstr(function, wait_places[i].part)) *best = i;
}

static int resolve(struct go_reader *reader, struct go_stack *stack, struct error *err) {
    struct row_writer *writer = &reader->ingest->writer;
    int64_t *locations = xmalloc((stack->count + 1) * sizeof *locations);
    size_t best = sizeof wait_places / sizeof *wait_places;
    struct wire frames = stack->frames;
    uint64_t frame[FRAME_NUMBERS] = {0};
    int code = 0;
    stack->root = stack->call = stack->place = "";
    for (uint64_t i = 0; code == 0 && i < stack->count; i++) {
        (void)take_numbers(reader, &frames, frame, FRAME_NUMBERS, err); /* they were read before */
        const char *function = go_string(reader, frame[1]);
        look_at_frame(stack, &best, function);
        struct writer_line line = {.line = frame[3] > INT32_MAX ? 0 : (int64_t)frame[3]};
        line.function_id = writer_function(writer, function, function, go_string(reader, frame[2]), 0, err);
        locations[i] = line.function_id < 0 ? -1 : writer_location(writer, 0, frame[0], 0, &line, 1, err);
        if (locations[i] < 0) code = -1;
    }
    if (code == 0) stack->id = writer_stack(writer, locations, stack->count, err);
    free(locations);
    bool is_wait = best < sizeof wait_places / sizeof *wait_places;
    stack->kind = is_wait ? wait_places[best].kind : "futex";
    stack->what = is_wait ? wait_places[best].what : "";
    stack->is_known = true;
    return code || stack->id < 0 ? -1 : 0;
}

const struct go_stack *go_stack(struct go_reader *reader, uint64_t id, struct error *err) {
    static const struct go_stack none = {
        .is_known = true, .root = "", .call = "", .place = "", .kind = "futex", .what = ""};
    const struct map_entry *entry = map_find(&reader->generation.stacks, &id, sizeof id);
    if (!entry) return &none;
    struct go_stack *stack = &reader->generation.stack_list[entry->value];
    if (!stack->is_known && resolve(reader, stack, err)) return NULL;
    return stack;
}

void go_generation_free(struct go_generation *generation) {
    free(generation->batches);
    free(generation->stack_list);
    free(generation->samples);
    map_free(&generation->strings);
    map_free(&generation->stacks);
    *generation = (struct go_generation){0};
}
