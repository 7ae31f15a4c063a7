#include "ingest/read/perf/recording.h"

#include <stdlib.h>

#include "ingest/read/perf/bytes.h"
#include "ingest/read/perf/user_stacks.h"

/* Words from here up are markers: they give the context of the addresses that follow (linux/perf_event.h). */
#define CONTEXT_KERNEL       ((uint64_t)-128)
#define CONTEXT_USER         ((uint64_t)-512)
#define CONTEXT_HYPERVISOR   ((uint64_t)-32)
#define CONTEXT_GUEST        ((uint64_t)-2048)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define CONTEXT_GUEST_USER   ((uint64_t)-2560)
#define CONTEXT_FIRST        ((uint64_t)-4095)

enum { KERNEL_STACK_MAX = 127 };  /* kernel.perf_event_max_stack, as it is shipped */
enum { RAW_KEYS_MAX = 64 << 20 }; /* bytes of the cache of samples; when it is emptied only speed is lost */
enum { PROGRESS_SAMPLES = 1 << 16 };

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* The context of a marker; false for a word that is not a marker, which a wrong frame pointer found. */
static bool context_mode(uint64_t word, enum perf_mode *mode) {
    switch (word) {
    case CONTEXT_KERNEL: *mode = PERF_MODE_KERNEL; return true;
    case CONTEXT_USER: *mode = PERF_MODE_USER; return true;
    case CONTEXT_HYPERVISOR: *mode = PERF_MODE_HYPERVISOR; return true;
    case CONTEXT_GUEST_KERNEL: *mode = PERF_MODE_GUEST_KERNEL; return true;
    case CONTEXT_GUEST:
    case CONTEXT_GUEST_USER: *mode = PERF_MODE_GUEST_USER; return true;
    default: return false;
    }
}

/* The frames of a chain. The first of each context is an instruction (a fault may be at the first one of a function),
 * all others are return addresses. */
static void push_chain(struct perf_recording *recording, const struct perf_space *space,
                       const struct perf_data_sample *sample) {
    enum perf_mode mode = sample->mode;
    bool is_call = false;
    for (size_t i = 0; i < sample->chain_count; i++) {
        uint64_t word = words_at(sample->chain, i);
        bool is_context = word >= CONTEXT_FIRST;
        if (is_context && !context_mode(word, &mode)) return; /* the frames before it are right */
        if (!is_context) perf_recording_push(recording, space, mode, word, is_call);
        is_call = !is_context;
    }
}

static uint32_t put_stack(struct perf_recording *recording) {
    const struct map_entry *entry =
        map_put(&recording->stacks, recording->stack, recording->depth * sizeof *recording->stack, NULL);
    return (uint32_t)(entry - recording->stacks.entries);
}

static void count_truncated(struct perf_recording *recording, const struct perf_event *event) {
    if (event->index >= recording->truncated_count) {
        recording->truncated = xrealloc(recording->truncated, (event->index + 1) * sizeof *recording->truncated);
        while (recording->truncated_count <= event->index)
            recording->truncated[recording->truncated_count++] = 0;
    }
    recording->truncated[event->index]++;
}

static uint32_t build_stack(struct perf_recording *recording, const struct perf_space *space,
                            const struct perf_data_sample *sample) {
    recording->depth = 0;
    push_chain(recording, space, sample);
    if (sample->regs && sample->stack_size) {
        if (!recording->unwinder) recording->unwinder = perf_unwinder_open(recording);
        if (!perf_unwind(recording->unwinder, space, sample)) count_truncated(recording, sample->event);
    }
    if (recording->depth == 0) perf_recording_push(recording, space, sample->mode, sample->ip, false);
    return put_stack(recording);
}

/* The stack of a sample. Equal bytes in equal address spaces are an equal stack, so their addresses need not be looked
 * up again. */
static uint32_t stack_of(struct perf_recording *recording, const struct perf_data_sample *sample) {
    const struct perf_space *space = perf_spaces_of(&recording->spaces, sample->pid);
    if (sample->chain_count >= KERNEL_STACK_MAX) count_truncated(recording, sample->event);
    if (sample->regs && sample->stack_size) return build_stack(recording, space, sample);
    uint64_t head[] = {space->version, perf_spaces_kernel(&recording->spaces)->version, sample->mode, sample->ip};
    struct buffer *key = &recording->key;
    buffer_clear(key);
    buffer_add(key, head, sizeof head);
    buffer_add(key, sample->chain, sample->chain_count * 8);
    if (recording->raw.keys.total > RAW_KEYS_MAX) {
        map_free(&recording->raw);
        recording->raw = (struct map){0};
    }
    bool added;
    struct map_entry *entry = map_put(&recording->raw, key->data, key->size, &added);
    if (added) entry->value = build_stack(recording, space, sample);
    return (uint32_t)entry->value;
}

/* ---- the visitor ------------------------------------------------------------------------------------------------- */

static uint32_t comm_number(struct perf_recording *recording, const char *name, size_t size) {
    return (uint32_t)(map_put(&recording->comms, name, size, NULL) - recording->comms.entries);
}

static struct perf_away *away_of(struct perf_recording *recording, uint32_t tid) {
    bool added;
    struct map_entry *entry = map_put(&recording->away_of, &tid, sizeof tid, &added);
    if (added) entry->value = (int64_t)recording->away_of.count - 1;
    if (recording->away_of.count > recording->away_capacity) {
        recording->away_capacity = recording->away_capacity ? recording->away_capacity * 2 : 64;
        recording->away = xrealloc(recording->away, recording->away_capacity * sizeof *recording->away);
    }
    struct perf_away *away = &recording->away[entry->value];
    if (added) *away = (struct perf_away){0};
    return away;
}

static int come_back(struct perf_recording *recording, struct perf_away *away, uint64_t time, struct error *err) {
    uint64_t ns = time > away->since ? time - away->since : 0, sum;
    struct perf_row *row = &recording->rows[away->row];
    if (!away->weight) return 0;
    if (__builtin_mul_overflow(ns, away->weight, &sum) || sum > INT64_MAX - row->away)
        return error_fail(err, "the times off the processor add up to more than 64 bits");
    row->away += sum;
    away->weight = 0;
    return 0;
}

static int take_switch(void *context, const struct perf_data_switch *change, struct error *err) {
    struct perf_recording *recording = context;
    if (change->is_out || !map_find(&recording->away_of, &change->tid, sizeof change->tid)) return 0;
    return come_back(recording, away_of(recording, change->tid), change->time, err);
}

/* Those that had not come back at the end were away until then. */
static int end_away(struct perf_recording *recording, struct error *err) {
    for (size_t i = 0; i < recording->away_of.count; i++)
        if (come_back(recording, &recording->away[i], recording->facts.last_time, err)) return -1;
    return 0;
}

static int take_sample(void *context, const struct perf_data_sample *sample, struct error *err) {
    struct perf_recording *recording = context;
    const struct map_entry *comm = map_find(&recording->threads, &sample->tid, sizeof sample->tid);
    struct perf_row row = {.event = (uint32_t)sample->event->index,
                           .stack = stack_of(recording, sample),
                           .comm = comm ? (uint32_t)comm->value : 0,
                           .tid = sample->tid,
                           .mode = sample->mode};
    uint32_t key[] = {row.event, row.stack, row.comm, row.tid, row.mode};
    bool added;
    struct map_entry *entry = map_put(&recording->row_index, key, sizeof key, &added);
    if (added) {
        if (recording->row_count == recording->row_capacity) {
            recording->row_capacity = recording->row_capacity ? recording->row_capacity * 2 : 256;
            recording->rows = xrealloc(recording->rows, recording->row_capacity * sizeof *recording->rows);
        }
        entry->value = (int64_t)recording->row_count;
        recording->rows[recording->row_count++] = row;
    }
    struct perf_row *sum = &recording->rows[entry->value];
    if (sample->period > INT64_MAX - sum->value)
        return error_fail(err, "the periods of %s add up to more than 64 bits", sample->event->name);
    sum->samples++;
    sum->value += sample->period;
    if (sample->event->has_switches && sample->time)
        *away_of(recording, row.tid) = (struct perf_away){sample->time, sample->period, (size_t)entry->value};
    const struct perf_access access = {row.stack, row.comm, sample->pid, row.tid, row.mode, 0, 0, {0}, 0, 0, 0};
    if (perf_lines_add(&recording->lines, sample, access, perf_spaces_of(&recording->spaces, sample->pid), err))
        return -1;
    if (recording->progress && recording->facts.sample_count % PROGRESS_SAMPLES == 0)
        recording->progress(recording->progress_context, recording->facts.sample_count);
    return 0;
}

static int take_mmap(void *context, const struct perf_data_mmap *mmap, struct error *err) {
    struct perf_recording *recording = context;
    return perf_spaces_map(&recording->spaces, mmap, err);
}

static int take_comm(void *context, uint32_t pid, uint32_t tid, const char *name, size_t size, bool is_exec,
                     struct error *err) {
    struct perf_recording *recording = context;
    (void)err;
    map_put(&recording->threads, &tid, sizeof tid, NULL)->value = comm_number(recording, name, size);
    if (is_exec) perf_spaces_exec(&recording->spaces, pid);
    return 0;
}

static int take_fork(void *context, const struct perf_data_task *task, struct error *err) {
    struct perf_recording *recording = context;
    (void)err;
    const struct map_entry *parent = map_find(&recording->threads, &task->parent_tid, sizeof task->parent_tid);
    int64_t comm = parent ? parent->value : 0;
    map_put(&recording->threads, &task->tid, sizeof task->tid, NULL)->value = comm;
    perf_spaces_fork(&recording->spaces, task);
    return 0;
}

static int take_build_id(void *context, const char *path, size_t path_size, const unsigned char *build_id, size_t size,
                         struct error *err) {
    struct perf_recording *recording = context;
    (void)err;
    perf_spaces_build_id(&recording->spaces, path, path_size, build_id, size);
    return 0;
}

static int take_ksymbol(void *context, uint64_t address, uint64_t size, const char *name, size_t name_size,
                        bool is_gone, struct error *err) {
    struct perf_recording *recording = context;
    return perf_spaces_ksymbol(&recording->spaces, address, size, name, name_size, is_gone, err);
}

int perf_recording_read(struct perf_recording *recording, const void *data, size_t size, struct error *err) {
    static const struct perf_data_visitor visitor = {.sample = take_sample,
                                                     .mmap = take_mmap,
                                                     .comm = take_comm,
                                                     .fork = take_fork,
                                                     .switched = take_switch,
                                                     .build_id = take_build_id,
                                                     .ksymbol = take_ksymbol};
    perf_spaces_open(&recording->spaces);
    comm_number(recording, "", 0);
    const uint32_t idle = 0; /* no record names it */
    map_put(&recording->threads, &idle, sizeof idle, NULL)->value = comm_number(recording, "swapper", 7);
    return perf_data_parse(data, size, &visitor, recording, &recording->facts, err) || end_away(recording, err) ? -1
                                                                                                                : 0;
}

void perf_recording_free(struct perf_recording *recording) {
    perf_unwinder_close(recording->unwinder);
    perf_spaces_free(&recording->spaces);
    perf_data_facts_free(&recording->facts);
    map_free(&recording->comms);
    map_free(&recording->threads);
    map_free(&recording->frames);
    map_free(&recording->stacks);
    map_free(&recording->raw);
    map_free(&recording->row_index);
    perf_lines_free(&recording->lines);
    free(recording->rows);
    map_free(&recording->away_of);
    free(recording->away);
    free(recording->truncated);
    free(recording->stack);
    buffer_free(&recording->key);
    *recording = (struct perf_recording){0};
}
