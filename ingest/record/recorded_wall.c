#include "ingest/record/recorded_wall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- what a thread was found in ---------------------------------------------------------------------------------- */

static const char *call_name(uint32_t call) {
    static const char *const names[WAITING_CALLS] = {
#define X(which, name) [IO_##which] = "[" name "]",
        SEGMENT_IO_CALLS(X)
#undef X
#define X(which, name) [CALL_##which] = "[" name "]",
            SEGMENT_WAITING_CALLS(X)
#undef X
    };
    return call < WAITING_CALLS && names[call] ? names[call] : "[blocked]";
}

static const char *object_name(uint32_t kind) {
    switch (kind) {
    case OBJECT_MUTEX: return "[mutex]";
    case OBJECT_RWLOCK: return "[rwlock]";
    case OBJECT_SPIN: return "[spin]";
    case OBJECT_LOCK: return "[lock]";
    case OBJECT_COND: return "[cond]";
    case OBJECT_SEM: return "[sem]";
    case OBJECT_BARRIER: return "[barrier]";
    case OBJECT_JOIN: return "[join]";
    case OBJECT_FUTEX: return "[futex]";
    default: return "[blocked]";
    }
}

/* The texts of places and states are literals of this file, so their addresses are keys. */
static uint32_t look_of(struct recorded *recorded, const struct look *look) {
    const struct {
        const char *place, *state;
        uint64_t thread;
    } key = {look->place, look->state, look->thread};
    bool added;
    struct map_entry *known = map_put(&recorded->look_ids, &key, sizeof key, &added);
    if (!added) return (uint32_t)known->value;
    if (recorded->look_count == recorded->look_capacity) {
        recorded->look_capacity = recorded->look_capacity ? recorded->look_capacity * 2 : 16;
        recorded->looks = xrealloc(recorded->looks, recorded->look_capacity * sizeof *recorded->looks);
    }
    recorded->looks[recorded->look_count] = *look;
    return (uint32_t)(known->value = (int64_t)recorded->look_count++);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

void recorded_add_running(struct recorded *recorded, const struct segment_cpu *entry) {
    const struct look running = {.state = "running", .thread = entry->thread};
    struct wall_counters counters = {entry->counters.samples, entry->counters.cpu_ns};
    recorded_add_pair(recorded, MEASURE_WALL, (struct pair_key){entry->stack, look_of(recorded, &running)},
                      &counters.samples);
}

static void add_waiting(struct recorded *recorded, uint32_t stack, const struct look *look,
                        const struct wall_counters *counters) {
    struct pair_key pair = {stack, look_of(recorded, look)};
    recorded_add_pair(recorded, MEASURE_OFF_CPU, pair, &counters->samples);
    recorded_add_pair(recorded, MEASURE_WALL, pair, &counters->samples);
}

static void add_look(struct recorded *recorded, const struct wall_row *row) {
    const struct wall_key *key = &row->key;
    struct look look = {.place = "[blocked]", .state = "waiting", .thread = key->tid};
    struct wall_counters counters = {row->samples, row->ns};
    uint32_t stack = key->stack;
    bool is_known = key->state == WALL_FOR && key->object < recorded->object_capacity;
    snprintf(look.name, sizeof look.name, "%s", row->name);
    if (key->state == WALL_IN_CALL) look.place = call_name(key->call);
    if (is_known) {
        const struct segment_object *object = &recorded->objects[key->object].object;
        look.place = object_name(object->kind);
        stack = object->stack;
    }
    if (key->state == WALL_READY) {
        look.place = "[ready]";
        look.state = "ready";
    }
    add_waiting(recorded, stack, &look, &counters);
}

void recorded_add_looks(struct recorded *recorded, const struct wall_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        add_look(recorded, &rows[i]);
}

static uint64_t sum_of_measure(const struct recorded *recorded, enum measure_id id) {
    const struct counts *counts = &recorded->counts[id];
    uint64_t sum = 0;
    for (size_t i = 1; i < counts->ids; i++)
        sum += counts->sums[i * measures[id].words + 1];
    return sum;
}

void recorded_add_unsampled(struct recorded *recorded, const struct recording_terms *terms) {
    const struct look unsampled = {.place = "[unsampled]", .state = "unsampled"};
    if (recorded->is_running || terms->was_paused || !(recorded->head.features & FEATURE_WALL)) return;
    _Static_assert(offsetof(struct wall_counters, wall_ns) == offsetof(struct cpu_counters, cpu_ns), "the second word");
    struct tick_rate rate = recorded->head.features & FEATURE_TSC ? terms->rate : (struct tick_rate){1, 1};
    uint64_t lived_ns = tick_scaled(recorded->thread_ticks, rate.ns, rate.ticks);
    uint64_t met_ns = sum_of_measure(recorded, MEASURE_WALL) + sum_of_measure(recorded, MEASURE_RECORDER);
    if (lived_ns > met_ns) add_waiting(recorded, 0, &unsampled, &(struct wall_counters){0, lived_ns - met_ns});
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int64_t trace_of(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint32_t id,
                        const char *place, struct error *err) {
    struct segment_stack stack = {0};
    bool is_known = id < recorded->stack_capacity && recorded->stacks[id].offset;
    const uint64_t *pcs = is_known ? segment_view_stack(view, recorded->stacks[id].offset, &stack) : NULL;
    return resolve_trace_below(resolver, &recorded->space, place, pcs, pcs ? stack.depth : 0, stack.epoch, err);
}

static int64_t labels_of(struct recorded *recorded, struct resolver *resolver, const struct look *look,
                         struct error *err) {
    const struct segment_thread *ran = !look->place && look->thread && look->thread < recorded->named_thread_capacity
                                           ? &recorded->named_threads[look->thread].thread
                                           : NULL;
    int64_t tid = ran ? ran->tid : look->place ? (int64_t)look->thread : 0;
    const char *name = ran ? ran->name : look->name;
    struct writer_label labels[3] = {{.key = "state", .text = look->state}};
    size_t count = 1;
    if (*name) labels[count++] = (struct writer_label){.key = "thread", .text = name};
    if (tid) labels[count++] = (struct writer_label){.key = "tid", .number = tid};
    return writer_label_set(&resolver->writer, labels, count, err);
}

int recorded_look_row(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                      struct pair_key pair, struct recorded_row *row, struct error *err) {
    const struct look *look = &recorded->looks[pair.part];
    row->trace = look->place ? trace_of(recorded, resolver, view, pair.stack, look->place, err)
                             : recorded_trace(recorded, resolver, view, pair.stack, err);
    if (row->trace < 0) return -1;
    row->thing = labels_of(recorded, resolver, look, err);
    return row->thing < 0 ? -1 : 1;
}
