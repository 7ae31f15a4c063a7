/* recorded.c: sums the counters of a segment by id, and turns ids into rows. recorded_rows.c writes the rows. */
#include "ingest/record/recorded.h"
#include "ingest/record/recorded_events.h"
#include "ingest/record/recorded_wall.h"
#include "ingest/record/wait_circles.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/read/ingest.h"

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct recorded *recorded_new(const char *name) {
    struct recorded *recorded = xcalloc(1, sizeof *recorded);
    recorded->name = xstrdup(name);
    wait_delays_init(&recorded->wait_delays);
    return recorded;
}

static void free_counts(struct counts *counts) {
    free(counts->sums);
    free(counts->row_of);
    free(counts->rows);
    free(counts->now);
    free(counts->written);
    map_free(&counts->index);
    map_free(&counts->pair_ids);
    free(counts->pairs);
    windows_free(&counts->windows);
    windows_free(&counts->committed_windows);
}

void recorded_free(struct recorded *recorded) {
    if (!recorded) return;
    for (int i = 0; i < MEASURE_COUNT; i++)
        free_counts(&recorded->counts[i]);
    address_space_free(&recorded->space);
    map_free(&recorded->stack_chunks);
    free(recorded->stacks);
    free(recorded->objects);
    free(recorded->event_chunks);
    free(recorded->rings);
    free(recorded->open_waits);
    map_free(&recorded->gone_waits);
    free(recorded->open_lives);
    free(recorded->named_threads);
    map_free(&recorded->look_ids);
    free(recorded->looks);
    wait_delays_free(&recorded->wait_delays);
    free(recorded->name);
    free(recorded);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

enum { FIRST_IDS = 64 }; /* of each of some twenty measures, for each process */

/* The new capacity of an array that needs that index. Ids were checked against the size of the segment. */
static size_t grown(size_t capacity, uint64_t index) {
    size_t wanted = capacity ? capacity * 2 : FIRST_IDS;
    return wanted > index ? wanted : index + 1;
}

static void *resized(void *array, size_t before, size_t after, size_t each) {
    array = xrealloc(array, after * each);
    memset((char *)array + before * each, 0, (after - before) * each);
    return array;
}

static void *with_slot(void *slots, size_t *capacity, uint64_t id, size_t each) {
    if (id < *capacity) return slots;
    size_t wanted = grown(*capacity, id);
    slots = resized(slots, *capacity, wanted, each);
    *capacity = wanted;
    return slots;
}

static uint64_t *sum_of(struct counts *counts, uint64_t id, size_t words) {
    if (id >= counts->ids) {
        size_t wanted = grown(counts->ids, id);
        counts->sums = resized(counts->sums, counts->ids, wanted, words * sizeof *counts->sums);
        counts->row_of = resized(counts->row_of, counts->ids, wanted, sizeof *counts->row_of);
        counts->ids = wanted;
    }
    return counts->sums + id * words;
}

struct segment_reading {
    struct recorded *recorded;
    struct resolver *resolver;
};

static void on_module(void *context, const struct segment_module *module) {
    struct segment_reading *reading = context;
    address_space_put(reading->resolver, &reading->recorded->space, reading->recorded->module_index++, module);
}

/* Stacks are appended and never change, so chunks that were read whole before are skipped. */
static bool wants_stacks(void *context, size_t offset, uint64_t count) {
    struct recorded *recorded = ((struct segment_reading *)context)->recorded;
    struct map_entry *met = map_put(&recorded->stack_chunks, &offset, sizeof offset, NULL);
    bool has_new = (uint64_t)met->value != count;
    met->value = (int64_t)count;
    return has_new;
}

static void on_stack(void *context, const struct segment_stack *stack, size_t offset) {
    struct recorded *recorded = ((struct segment_reading *)context)->recorded;
    recorded->stacks = with_slot(recorded->stacks, &recorded->stack_capacity, stack->id, sizeof *recorded->stacks);
    recorded->stacks[stack->id].offset = offset;
}

static void on_code(void *context, const struct segment_code *code) {
    python_codes_put(&((struct segment_reading *)context)->recorded->space.python, code);
}

static void on_object(void *context, const struct segment_object *object) {
    struct recorded *recorded = ((struct segment_reading *)context)->recorded;
    recorded->objects = with_slot(recorded->objects, &recorded->object_capacity, object->id, sizeof *recorded->objects);
    recorded->objects[object->id].object = *object;
}

struct event_chunk *recorded_event_chunk(struct recorded *recorded, size_t offset, uint64_t turn, uint64_t count) {
    size_t index = recorded->event_chunk_index++;
    recorded->event_chunks =
        with_slot(recorded->event_chunks, &recorded->event_chunk_capacity, index, sizeof *recorded->event_chunks);
    struct event_chunk *chunk = &recorded->event_chunks[index];
    if (recorded->event_chunk_count <= index) recorded->event_chunk_count = index + 1;
    chunk->offset = offset;
    chunk->turn = turn;
    chunk->count = count;
    return chunk;
}

static void on_event_chunk(void *context, size_t offset, uint64_t turn, uint64_t count) {
    struct recorded *recorded = ((struct segment_reading *)context)->recorded;
    if (!recorded->rings) recorded_event_chunk(recorded, offset, turn, count);
}

/* Three times a flush for each site. Four words at once, where all are sums: a third of the instructions of a flush of 100,000 sites of which few moved
 * were in the loop that asks for each word. */
static void add(const struct measure *measure, uint64_t *restrict sum, const uint64_t *restrict more) {
    size_t word = 0;
    for (; !measure->maxima && word + 4 <= measure->words; word += 4) {
        sum[word] += more[word];
        sum[word + 1] += more[word + 1];
        sum[word + 2] += more[word + 2];
        sum[word + 3] += more[word + 3];
    }
    for (; word < measure->words; word++) {
        if (!(measure->maxima & 1u << word))
            sum[word] += more[word];
        else if (sum[word] < more[word])
            sum[word] = more[word];
    }
}

static bool is_zero(const uint64_t *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (words[i]) return false;
    return true;
}

static void add_counters(struct recorded *recorded, enum measure_id id, uint64_t stack_or_object,
                         const uint64_t *words) {
    const struct measure *measure = &measures[id];
    if (!is_zero(words, measure->words))
        add(measure, sum_of(&recorded->counts[id], stack_or_object, measure->words), words);
}

/* What a stack had live at the peak: ingest/segment.h says where that is. In one thread it may be negative. */
static struct peak_levels levels_at_peak(const struct heap_counters *heap, uint64_t epoch) {
    if (heap->peak_epoch == epoch) return (struct peak_levels){heap->peak_count, heap->peak_bytes};
    return (struct peak_levels){heap->alloc_count - heap->free_count, heap->alloc_bytes - heap->free_bytes};
}

static void on_heap_counters(struct recorded *recorded, uint64_t id, const struct heap_counters *heap) {
    uint64_t epoch = atomic_load_explicit(&recorded->head.peak_epoch, memory_order_relaxed);
    struct peak_levels peak = levels_at_peak(heap, epoch);
    struct heap_sums sums = {.alloc_count = heap->alloc_count,
                             .alloc_bytes = heap->alloc_bytes,
                             .free_count = heap->free_count,
                             .free_bytes = heap->free_bytes,
                             .temporary = heap->temporary};
    add_counters(recorded, MEASURE_HEAP, id, &sums.alloc_count);
    add_counters(recorded, MEASURE_PEAK, id, &peak.peak_count);
}

static void on_heap_details(struct recorded *recorded, uint64_t id, const struct heap_details *details) {
    struct heap_sums sums = {.calloc_count = details->calloc_count,
                             .aligned_count = details->aligned_count,
                             .realloc_count = details->realloc_count,
                             .moved_count = details->moved_count,
                             .moved_bytes = details->moved_bytes,
                             .realloc_bytes = details->realloc_bytes,
                             .resized_count = details->resized_count,
                             .resized_bytes = details->resized_bytes,
                             .step_count = details->step_count,
                             .step_bytes = details->step_bytes,
                             .replaced_count = details->replaced_count,
                             .copy_step_count = details->copy_step_count,
                             .copy_step_bytes = details->copy_step_bytes,
                             .copy_growth_bytes = details->copy_growth_bytes};
    add_counters(recorded, MEASURE_HEAP, id, &sums.alloc_count);
}

static void on_counters(void *context, uint32_t kind, uint64_t first_id, const uint64_t *counters, size_t words,
                        size_t count) {
    struct recorded *recorded = ((struct segment_reading *)context)->recorded;
    int id = 0;
    /* A flush beside the search takes none: what it took would count as written, and it writes no profile of them yet. */
    if (kind == CHUNK_LEAK && !recorded_has_leaks(recorded)) return;
    while (id < MEASURE_COUNT && measures[id].chunk != kind)
        id++;
    for (size_t i = first_id ? 0 : 1; i < count; i++) {
        uint64_t copy[MEASURE_WORDS_MAX] = {0}; /* the program may be writing */
        memcpy(copy, counters + i * words, words * sizeof *copy);
        if (kind == CHUNK_HEAP)
            on_heap_counters(recorded, first_id + i, (const void *)copy);
        else if (kind == CHUNK_HEAP_DETAILS)
            on_heap_details(recorded, first_id + i, (const void *)copy);
        else
            add_counters(recorded, id, first_id + i, copy);
    }
}

static uint64_t id_of_pair(struct counts *counts, struct pair_key pair) {
    bool added;
    struct map_entry *known = map_put(&counts->pair_ids, &pair, sizeof pair, &added);
    if (!added) return (uint64_t)known->value;
    uint64_t id = counts->pair_ids.count;
    known->value = (int64_t)id;
    counts->pairs = with_slot(counts->pairs, &counts->pair_capacity, id, sizeof *counts->pairs);
    counts->pairs[id] = pair;
    return id;
}

/* What counted nothing gets no id: an id of a pair has sums. */
void recorded_add_pair(struct recorded *recorded, enum measure_id id, struct pair_key pair, const uint64_t *words) {
    if (!is_zero(words, measures[id].words)) add_counters(recorded, id, id_of_pair(&recorded->counts[id], pair), words);
}

static void on_cpu(void *context, const struct segment_cpu *entry) {
    struct recorded *recorded = ((struct segment_reading *)context)->recorded;
    enum measure_id id = entry->flags & CPU_OF_RECORDER ? MEASURE_RECORDER : MEASURE_CPU;
    recorded_add_pair(recorded, id, (struct pair_key){entry->stack, entry->thread}, &entry->counters.samples);
    if (id == MEASURE_CPU && recorded->head.features & FEATURE_WALL) recorded_add_running(recorded, entry);
}

static void on_io(void *context, const struct segment_io *entry) {
    recorded_add_pair(((struct segment_reading *)context)->recorded, MEASURE_IO,
                      (struct pair_key){entry->stack, entry->call}, &entry->counters.calls);
}

static void on_tally(void *context, const struct segment_tally *tally) {
    recorded_add_pair(((struct segment_reading *)context)->recorded, MEASURE_LIFETIME,
                      (struct pair_key){tally->stack, tally->part}, &tally->count);
}

static void on_mapping(void *context, const struct segment_mapping *entry) {
    recorded_add_pair(((struct segment_reading *)context)->recorded, MEASURE_MMAP,
                      (struct pair_key){entry->stack, entry->use}, &entry->counters.map_count);
}

static void on_named_thread(void *context, const struct segment_thread *thread) {
    struct recorded *recorded = ((struct segment_reading *)context)->recorded;
    recorded->named_threads = with_slot(recorded->named_threads, &recorded->named_thread_capacity, thread->id,
                                        sizeof *recorded->named_threads);
    recorded->named_threads[thread->id].thread = *thread;
}

static void on_thread(void *context, const struct thread_counters *counters) {
    struct thread_counters *sum = &((struct segment_reading *)context)->recorded->threads;
    sum->truncated += counters->truncated;
    sum->incomplete += counters->incomplete;
    sum->hold_lost += counters->hold_lost;
    sum->heap_recorded += counters->heap_recorded;
    sum->heap_passed += counters->heap_passed;
    sum->lock_passed += counters->lock_passed;
    sum->lock_left += counters->lock_left;
    sum->lock_excess += counters->lock_excess;
    sum->lived += counters->lived;
}

/* Where more is live now than there was at the newest peak that the process noted, now is the peak. */
static void choose_peak(struct recorded *recorded) {
    struct counts *heap = &recorded->counts[MEASURE_HEAP], *peak = &recorded->counts[MEASURE_PEAK];
    const struct heap_sums *sums = (const void *)heap->sums;
    const struct peak_levels *levels = (const void *)peak->sums;
    uint64_t live = 0, at_peak = 0;
    for (size_t id = 1; id < heap->ids; id++)
        live += sums[id].alloc_bytes - sums[id].free_bytes;
    for (size_t id = 1; id < peak->ids; id++)
        at_peak += levels[id].peak_bytes;
    for (size_t id = 1; id < heap->ids && (int64_t)live > (int64_t)at_peak; id++) {
        struct peak_levels now = {sums[id].alloc_count - sums[id].free_count,
                                  sums[id].alloc_bytes - sums[id].free_bytes};
        memcpy(sum_of(peak, id, measures[MEASURE_PEAK].words), &now, sizeof now);
    }
}

/* The account of a wait is closed when it ends: first the thread takes the wait from its record, then it counts. So the
 * records are read before the counters, and again after them: a wait that is there both times is in no counter. */
static void on_wait(struct recorded *recorded, const struct thread_counters *counters) {
    uint64_t since = __atomic_load_n(&counters->wait_since, __ATOMIC_ACQUIRE);
    if (!since) return;
    if (recorded->open_count == recorded->open_capacity) {
        recorded->open_capacity = grown(recorded->open_capacity, recorded->open_count);
        recorded->open_waits = xrealloc(recorded->open_waits, recorded->open_capacity * sizeof *recorded->open_waits);
    }
    recorded->open_waits[recorded->open_count++] = (struct open_wait){.at = counters,
                                                                      .since = since,
                                                                      .object = counters->wait_object,
                                                                      .weight = counters->wait_weight,
                                                                      .is_shared = counters->wait_shared};
}

/* The account of a life is closed in the same way. */
static void on_life(struct recorded *recorded, const struct thread_counters *counters) {
    uint64_t born_at = __atomic_load_n(&counters->born_at, __ATOMIC_ACQUIRE);
    if (!born_at) return;
    if (recorded->life_count == recorded->life_capacity) {
        recorded->life_capacity = grown(recorded->life_capacity, recorded->life_count);
        recorded->open_lives = xrealloc(recorded->open_lives, recorded->life_capacity * sizeof *recorded->open_lives);
    }
    recorded->open_lives[recorded->life_count++] =
        (struct open_life){.at = counters, .born_at = born_at, .starter = counters->starter};
}

static void on_thread_state(void *context, const struct thread_counters *counters) {
    struct recorded *recorded = ((struct segment_reading *)context)->recorded;
    on_wait(recorded, counters);
    on_life(recorded, counters);
}

static void drop_ended_lives(struct recorded *recorded) {
    size_t kept = 0;
    for (size_t i = 0; i < recorded->life_count; i++) {
        struct open_life life = recorded->open_lives[i];
        if (__atomic_load_n(&life.at->born_at, __ATOMIC_ACQUIRE) == life.born_at) recorded->open_lives[kept++] = life;
    }
    recorded->life_count = kept;
}

static bool lasts(const struct open_wait *wait) {
    return __atomic_load_n(&wait->at->wait_since, __ATOMIC_ACQUIRE) == wait->since;
}

static void drop_ended_waits(struct recorded *recorded) {
    size_t kept = 0;
    for (size_t i = 0; i < recorded->open_count; i++) {
        struct open_wait wait = recorded->open_waits[i];
        if (lasts(&wait)) recorded->open_waits[kept++] = wait;
    }
    recorded->open_count = kept;
}

static bool is_lock(const struct recorded *recorded, uint32_t object) {
    uint32_t kind = object < recorded->object_capacity ? recorded->objects[object].object.kind : 0;
    return kind >= OBJECT_MUTEX && kind <= OBJECT_LOCK;
}

/* What the looks of the collector found. */
static void add_wait_delays(struct recorded *recorded) {
    for (size_t i = 0; i < recorded->wait_delays.sum_count; i++) {
        const struct wait_delay *found = &recorded->wait_delays.sums[i];
        if (!is_lock(recorded, found->object)) continue;
        struct lock_sums *sum =
            (void *)sum_of(&recorded->counts[MEASURE_LOCK], found->object, measures[MEASURE_LOCK].words);
        sum->wait_seen = found->seen_ns;
        sum->wait_delay = found->delay_ns;
        sum->hold_delay = found->hold_delay_ns;
    }
}

struct wait_words {
    uint64_t *wait, *wait_max, *unfinished;
};

/* Where an object's waits are counted; NULLs: it has none. */
static struct wait_words words_of_wait(struct recorded *recorded, const struct open_wait *wait) {
    struct counts *counts = recorded->counts;
    uint32_t kind = wait->object < recorded->object_capacity ? recorded->objects[wait->object].object.kind : 0;
    if (is_lock(recorded, wait->object)) {
        struct lock_counters *sum = (void *)sum_of(&counts[MEASURE_LOCK], wait->object, measures[MEASURE_LOCK].words);
        return wait->is_shared ? (struct wait_words){&sum->read_wait, &sum->read_wait_max, &sum->unfinished}
                               : (struct wait_words){&sum->wait, &sum->wait_max, &sum->unfinished};
    }
    if (kind < OBJECT_COND || kind > OBJECT_FUTEX) return (struct wait_words){0};
    struct wait_counters *sum = (void *)sum_of(&counts[MEASURE_WAIT], wait->object, measures[MEASURE_WAIT].words);
    return (struct wait_words){&sum->wait, &sum->wait_max, &sum->unfinished};
}

/* Of the last flush of a process that goes on. Each wait was seen before who has its lock is asked, and is looked at once more after that: so all of them
 * last at the same time, and as nobody who waits gives a lock back meanwhile, those in a circle have no end (but for one with a time limit). */
static void find_endless(struct recorded *recorded) {
    struct circle_wait *waits = xcalloc(recorded->open_count + 1, sizeof *waits);
    size_t *wait_of = xcalloc(recorded->open_count + 1, sizeof *wait_of), count = 0;
    for (size_t i = 0; i < recorded->open_count; i++) {
        const struct open_wait *wait = &recorded->open_waits[i];
        if (!wait->at->tid || !is_lock(recorded, wait->object)) continue;
        wait_of[count] = i;
        waits[count++] = (struct circle_wait){
            .lock = wait->at->wait_lock, .kind = recorded->objects[wait->object].object.kind, .tid = wait->at->tid};
    }
    wait_circles_look(recorded->head.pid, waits, count);
    for (size_t i = 0; i < count; i++)
        if (!lasts(&recorded->open_waits[wait_of[i]])) waits[i].owner = 0;
    wait_circles_find(waits, count);
    for (size_t i = 0; i < count; i++)
        recorded->open_waits[wait_of[i]].is_endless = waits[i].is_endless;
    free(waits);
    free(wait_of);
}

static bool has_thread(pid_t pid, uint32_t tid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%u", (int)pid, tid);
    return access(path, F_OK) == 0;
}

/* A wait from before the process was attached to ends with its thread's first call that is seen. If that never came, it has ended when the thread is
 * found to be gone; from then on it stays as long as it was, for sums must not fall. */
static uint64_t end_of_wait(struct recorded *recorded, const struct open_wait *wait) {
    bool is_earlier = !__atomic_load_n(&wait->at->born_at, __ATOMIC_ACQUIRE) && wait->at->tid;
    if (!is_earlier || !recorded->is_running) return recorded->read_ticks;
    struct map_entry *gone = map_find(&recorded->gone_waits, &wait->since, sizeof wait->since);
    if (!gone && has_thread(recorded->head.pid, wait->at->tid)) return recorded->read_ticks;
    if (!gone) {
        gone = map_put(&recorded->gone_waits, &wait->since, sizeof wait->since, NULL);
        gone->value = (int64_t)recorded->read_ticks;
    }
    return (uint64_t)gone->value;
}

/* Adds the open waits, up to now. When the process is gone, they are the last thing that those threads did. */
static void add_open_waits(struct recorded *recorded) {
    for (size_t i = 0; i < recorded->open_count; i++) {
        const struct open_wait *wait = &recorded->open_waits[i];
        struct wait_words words = words_of_wait(recorded, wait);
        uint64_t until = end_of_wait(recorded, wait), took = until > wait->since ? until - wait->since : 0;
        if (!words.wait) continue;
        *words.wait += took * wait->weight;
        if (*words.wait_max < took) *words.wait_max = took;
        if (!recorded->is_running || wait->is_endless) *words.unfinished += wait->weight;
    }
}

/* The threads that the process ended. */
static void end_life(struct recorded *recorded, const struct open_life *life, uint64_t took) {
    if (!life->starter || life->starter >= recorded->stack_capacity) return;
    const struct measure *measure = &measures[MEASURE_START];
    const struct start_counters ended = {.ended = 1, .life = took, .life_max = took};
    add(measure, sum_of(&recorded->counts[MEASURE_START], life->starter, measure->words), (const uint64_t *)&ended);
}

static void add_open_lives(struct recorded *recorded) {
    recorded->thread_ticks = recorded->threads.lived;
    for (size_t i = 0; i < recorded->life_count; i++) {
        const struct open_life *life = &recorded->open_lives[i];
        uint64_t took = recorded->read_ticks > life->born_at ? recorded->read_ticks - life->born_at : 0;
        recorded->thread_ticks += took;
        if (!recorded->is_running) end_life(recorded, life, took);
    }
}

static void forget_sums(struct recorded *recorded) {
    for (int i = 0; i < MEASURE_COUNT; i++) {
        struct counts *counts = &recorded->counts[i];
        if (counts->ids) memset(counts->sums, 0, counts->ids * measures[i].words * sizeof *counts->sums);
    }
    recorded->threads = (struct thread_counters){0};
    recorded->module_index = 0;
    recorded->open_count = recorded->life_count = 0;
}

static void read_losses(struct recorded *recorded, const struct segment *head) {
    const _Atomic uint64_t *const dropped[MEASURE_COUNT] = {
        [MEASURE_HEAP] = &head->dropped_heap,
        [MEASURE_LOCK] = &head->dropped_locks,
        [MEASURE_CELL] = &head->dropped_cells,
        [MEASURE_CHANNEL] = &head->dropped_channels,
        [MEASURE_CPU] = &head->dropped_cpu,
        [MEASURE_IO] = &head->dropped_io,
        [MEASURE_LIFETIME] = &head->dropped_lifetimes,
        [MEASURE_MMAP] = &head->dropped_mappings,
    };
    for (int i = 0; i < MEASURE_COUNT; i++)
        recorded->counts[i].dropped = dropped[i] ? atomic_load_explicit(dropped[i], memory_order_relaxed) : 0;
    recorded->truncated = recorded->threads.truncated + recorded->threads.incomplete;
}

/* What the process said of its end, where it said it. */
static uint64_t end_of(const struct recorded *recorded, uint64_t ticks) {
    uint64_t ended = atomic_load_explicit(&recorded->head.end_ticks, memory_order_relaxed);
    return !recorded->is_running && ended && ended < ticks ? ended : ticks;
}

void recorded_read(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t ticks) {
    /* Counters first: a stack is published before it is counted, so the lists that are read afterwards have every id
     * that has a count. */
    static const struct segment_visitor waiting = {.thread = on_thread_state};
    static const struct segment_visitor counters = {.counters = on_counters,
                                                    .thread = on_thread,
                                                    .cpu = on_cpu,
                                                    .io = on_io,
                                                    .tally = on_tally,
                                                    .mapping = on_mapping,
                                                    .event_chunk = on_event_chunk};
    static const struct segment_visitor lists = {.module = on_module,
                                                 .stack = on_stack,
                                                 .object = on_object,
                                                 .code = on_code,
                                                 .wants_stacks = wants_stacks,
                                                 .named_thread = on_named_thread};
    /* What is live moves on while it is read: a stack may be newer than what was read of the modules before it. */
    static const struct segment_visitor modules = {.module = on_module, .code = on_code};
    struct segment_reading reading = {recorded, resolver};
    struct wall_row *looks;
    size_t look_count = wall_read(recorded->wall, recorded->name, &looks);
    forget_sums(recorded);
    recorded->event_chunk_index = 0;
    recorded->head = view->head;
    snprintf(recorded->head.executable, sizeof recorded->head.executable, "%s",
             resolver_path(resolver, view->head.executable));
    if (!recorded->rings)
        recorded->dropped_events = atomic_load_explicit(&view->head.dropped_events, memory_order_relaxed);
    recorded->read_ticks = end_of(recorded, ticks);
    segment_view_walk(view, &waiting, &reading);
    segment_view_walk(view, &counters, &reading);
    drop_ended_waits(recorded);
    drop_ended_lives(recorded);
    choose_peak(recorded);
    segment_view_walk(view, &lists, &reading);
    recorded->module_index = 0;
    segment_view_walk(view, &modules, &reading);
    if (recorded->is_last && recorded->is_running) find_endless(recorded);
    add_open_waits(recorded);
    add_wait_delays(recorded);
    add_open_lives(recorded);
    recorded_add_looks(recorded, looks, look_count);
    free(looks);
    read_losses(recorded, &view->head);
    recorded->is_corrupt |= view->corrupt;
}

void recorded_meet(struct recorded *recorded, struct resolver *resolver, struct segment_view *view) {
    static const struct segment_visitor lists = {.module = on_module, .stack = on_stack, .wants_stacks = wants_stacks};
    struct segment_reading reading = {recorded, resolver};
    struct segment_stack stack;
    recorded->module_index = 0;
    segment_view_walk(view, &lists, &reading);
    for (size_t id = 0; id < recorded->stack_capacity; id++) {
        const size_t offset = recorded->stacks[id].offset;
        const uint64_t *pcs = offset ? segment_view_stack(view, offset, &stack) : NULL;
        if (pcs) address_space_meet(&recorded->space, pcs, stack.depth, stack.epoch);
    }
}

/* ---- rows from ids ----------------------------------------------------------------------------------------------- */

/* What recorded_sum_rows passes to its parts. */
struct summing {
    struct recorded *recorded;
    struct resolver *resolver;
    struct segment_view *view;
    const struct measure *measure;
    struct counts *counts;
};

/* 0: the segment has no such stack. */
static int64_t trace_of(struct summing *summing, uint64_t id, struct error *err) {
    struct recorded *recorded = summing->recorded;
    if (id >= recorded->stack_capacity || !recorded->stacks[id].offset) return 0;
    struct stack_slot *slot = &recorded->stacks[id];
    if (slot->trace_id) return slot->trace_id;
    struct segment_stack stack;
    const uint64_t *pcs = segment_view_stack(summing->view, slot->offset, &stack);
    if (!pcs) return 0;
    return slot->trace_id = resolve_trace(summing->resolver, &recorded->space, pcs, stack.depth, stack.epoch, err);
}

static bool is_of_measure(const struct measure *measure, uint32_t object_kind) {
    switch (measure->chunk) {
    case CHUNK_LOCK: return object_kind >= OBJECT_MUTEX && object_kind <= OBJECT_LOCK;
    case CHUNK_CELL: return object_kind == OBJECT_CELL;
    case CHUNK_CHANNEL: return object_kind == OBJECT_CHANNEL;
    case CHUNK_WAIT: return object_kind >= OBJECT_COND && object_kind <= OBJECT_FUTEX;
    default: return object_kind == OBJECT_TASK_SITE;
    }
}

/* The row of an object's id. 1: there is one, 0: the segment has no such object. */
static int row_of_object(struct summing *summing, uint64_t id, struct recorded_row *row, struct error *err) {
    struct recorded *recorded = summing->recorded;
    struct object_slot *slot = &recorded->objects[id];
    if (!slot->object.kind) return 0;
    const struct segment_object *object = &slot->object;
    *row = (struct recorded_row){.kind = object->kind, .capacity = object->capacity};
    if (object->kind == OBJECT_TASK_SITE) {
        row->thing = (int64_t)object->address;
        row->place = object->number;
        return 1;
    }
    if (!slot->object_id) {
        int64_t owner = object->owner ? trace_of(summing, object->owner, err) : 0;
        if (owner < 0) return -1;
        slot->object_id = resolve_object(summing->resolver, &recorded->space, object, owner, err);
    }
    row->thing = slot->object_id;
    row->place = object->kind == OBJECT_CHANNEL ? object->number : (int64_t)object->address;
    if (object->stack && object->kind != OBJECT_CHANNEL) row->trace = trace_of(summing, object->stack, err);
    row->guard = (int64_t)object->guard;
    if (object->number && object->kind != OBJECT_CELL && object->kind != OBJECT_CHANNEL)
        row->first = trace_of(summing, object->number, err);
    return row->thing < 0 || row->trace < 0 || row->first < 0 ? -1 : 1;
}

static int object_row(struct summing *summing, uint64_t id, struct recorded_row *row, struct error *err) {
    const struct recorded *recorded = summing->recorded;
    bool is_there = id < recorded->object_capacity;
    if (!is_there || !is_of_measure(summing->measure, recorded->objects[id].object.kind)) return 0;
    return row_of_object(summing, id, row, err);
}

int64_t recorded_trace(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t id,
                       struct error *err) {
    struct summing summing = {.recorded = recorded, .resolver = resolver, .view = view};
    return trace_of(&summing, id, err);
}

int recorded_object_row(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t id,
                        struct recorded_row *row, struct error *err) {
    bool is_there = id < recorded->object_capacity;
    struct summing summing = {.recorded = recorded, .resolver = resolver, .view = view};
    *row = (struct recorded_row){0};
    return is_there ? row_of_object(&summing, id, row, err) : 0;
}

/* Resolves what is new of the locks and waits in heap blocks, in the order in which the process met them. Their names
 * depend on it, and the rows come in another. */
static int name_objects(struct summing *summing, struct error *err) {
    struct recorded *recorded = summing->recorded;
    for (size_t id = recorded->named_objects + 1; id < recorded->object_capacity; id++) {
        struct object_slot *slot = &recorded->objects[id];
        if (!slot->object.id) break;
        bool is_named = slot->object.owner && slot->object.kind != OBJECT_CELL && !slot->object_id;
        int64_t owner = is_named ? trace_of(summing, slot->object.owner, err) : 0;
        if (owner > 0) slot->object_id = resolve_object(summing->resolver, &recorded->space, &slot->object, owner, err);
        if (owner < 0 || slot->object_id < 0) return -1;
        recorded->named_objects = id;
    }
    return 0;
}

/* The labels of a thread; 0 of one that is not known. -1 with the error set. */
static int64_t labels_of(struct summing *summing, uint32_t id, struct error *err) {
    if (id == 0 || id >= summing->recorded->named_thread_capacity) return 0;
    struct thread_slot *slot = &summing->recorded->named_threads[id];
    if (slot->thread.id == 0 || slot->label_set_id) return slot->label_set_id;
    const struct writer_label labels[] = {{.key = "thread", .text = slot->thread.name},
                                          {.key = "tid", .number = slot->thread.tid}};
    bool is_named = *slot->thread.name;
    return slot->label_set_id =
               writer_label_set(&summing->resolver->writer, is_named ? labels : labels + 1, is_named ? 2 : 1, err);
}

static int64_t labels_of_use(struct summing *summing, uint32_t use, struct error *err) {
    const struct writer_label label = {.key = "use", .text = ingest_use_name(use)};
    return writer_label_set(&summing->resolver->writer, &label, 1, err);
}

/* As object_row, of a stack's id. */
static int stack_row(struct summing *summing, uint64_t id, struct recorded_row *row, struct error *err) {
    *row = (struct recorded_row){0};
    if (summing->measure->is_by_pair) {
        const struct pair_key pair = summing->counts->pairs[id];
        if (summing->measure->is_by_look)
            return recorded_look_row(summing->recorded, summing->resolver, summing->view, pair, row, err);
        row->thing = summing->measure->is_by_thread ? labels_of(summing, pair.part, err) : pair.part;
        if (summing->measure->kind == KIND_MMAP) row->place = labels_of_use(summing, pair.part, err);
        if (row->thing < 0 || row->place < 0) return -1;
        id = pair.stack;
    }
    row->trace = trace_of(summing, id, err);
    if (row->trace) return row->trace < 0 ? -1 : 1;
    return id < summing->recorded->stack_capacity && summing->recorded->stacks[id].offset != 0;
}

/* The index of a row, made where its key is new. */
static size_t put_row(struct counts *counts, const struct recorded_row *row, size_t words) {
    bool added;
    struct map_entry *entry = map_put(&counts->index, row->key, sizeof row->key, &added);
    if (!added) return (size_t)entry->value;
    if (counts->count == counts->capacity) {
        size_t wanted = grown(counts->capacity, counts->count), each = words * sizeof *counts->now;
        counts->rows = resized(counts->rows, counts->capacity, wanted, sizeof *counts->rows);
        counts->now = resized(counts->now, counts->capacity, wanted, each);
        counts->written = resized(counts->written, counts->capacity, wanted, each);
        counts->capacity = wanted;
    }
    counts->rows[counts->count] = *row;
    return (size_t)(entry->value = (int64_t)counts->count++);
}

static uint64_t events_of(const struct measure *measure, const uint64_t *words) {
    uint64_t events = 0;
    for (size_t word = 0; word < measure->words; word++)
        if (measure->events & 1u << word) events += words[word];
    return events;
}

static int add_to_row(struct summing *summing, uint64_t id, struct error *err) {
    struct counts *counts = summing->counts;
    size_t words = summing->measure->words;
    const uint64_t *sum = counts->sums + id * words;
    if (is_zero(sum, words)) return 0;
    if (!counts->row_of[id]) {
        struct recorded_row row;
        int found =
            summing->measure->is_by_stack ? stack_row(summing, id, &row, err) : object_row(summing, id, &row, err);
        if (found < 0) return -1;
        if (!found) {
            counts->lost += events_of(summing->measure, sum);
            return 0;
        }
        counts->row_of[id] = (uint32_t)put_row(counts, &row, words) + 1;
    }
    add(summing->measure, counts->now + (counts->row_of[id] - 1) * words, sum);
    add(summing->measure, counts->total, sum);
    return 0;
}

/* In a running process the frees of one thread may be read without the earlier allocations of another. What is live is
 * never negative. The first words are those of struct heap_sums; of mappings they mean the same. */
static void clamp_frees(struct counts *counts, size_t words) {
    _Static_assert(offsetof(struct heap_sums, free_bytes) == offsetof(struct mapping_counters, unmap_bytes),
                   "the order");
    for (size_t i = 0; i < counts->count; i++) {
        struct heap_sums *row = (void *)(counts->now + i * words);
        if (row->free_count > row->alloc_count) row->free_count = row->alloc_count;
        if (row->free_bytes > row->alloc_bytes) row->free_bytes = row->alloc_bytes;
    }
}

/* Far above any real counter. With it the sums of windows fit in 64 bits, whatever is in a damaged segment. */
#define COUNTER_MAX ((uint64_t)INT64_MAX / 8)

static void bound(uint64_t *counter, uint64_t least) {
    uint64_t most = *counter < COUNTER_MAX ? *counter : COUNTER_MAX;
    *counter = most > least ? most : least;
}

/* Levels rise and fall. In a running process one may read as negative, as in clamp_frees. */
static void clamp_levels(uint64_t *levels, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (levels[i] > COUNTER_MAX) levels[i] = (int64_t)levels[i] < 0 ? 0 : COUNTER_MAX;
}

/* Counters only grow. If one is smaller than before, the segment was damaged, and what was written stays. */
static void keep_written(const struct measure *measure, uint64_t *now, const uint64_t *written) {
    for (size_t word = 0; word < measure->words; word++)
        bound(&now[word], written[word]);
}

bool recorded_difference(const struct measure *measure, const uint64_t *now, const uint64_t *written,
                         uint64_t *difference) {
    bool moved = false;
    for (size_t word = 0; word < measure->words; word++) {
        bool rose = now[word] > written[word];
        moved |= rose;
        if (measure->states & 1u << word)
            difference[word] = now[word];
        else if (measure->maxima & 1u << word)
            difference[word] = rose ? now[word] : 0;
        else
            difference[word] = rose ? now[word] - written[word] : 0;
    }
    return moved;
}

static int sum_rows(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                    struct error *err) {
    jit_names_begin(&recorded->space.jit, recorded->head.pid, recorded->is_running);
    for (int i = 0; i < MEASURE_COUNT; i++) {
        struct counts *counts = &recorded->counts[i];
        struct summing summing = {recorded, resolver, view, &measures[i], counts};
        memset(counts->total, 0, sizeof counts->total);
        if (counts->count) memset(counts->now, 0, counts->count * measures[i].words * sizeof *counts->now);
        counts->lost = 0;
        if (i == MEASURE_LOCK && name_objects(&summing, err)) return -1;
        for (uint64_t id = 1; id < counts->ids; id++)
            if (add_to_row(&summing, id, err)) return -1;
        /* A running process may have counted in a stack that it published beyond what this reading sees. The next one has both. */
        if (!recorded->is_running) counts->dropped += counts->lost < COUNTER_MAX ? counts->lost : COUNTER_MAX;
        bound(&counts->dropped, counts->written_dropped);
        if ((i == MEASURE_HEAP || i == MEASURE_MMAP) && recorded->is_running) clamp_frees(counts, measures[i].words);
        if (measures[i].is_snapshot) {
            clamp_levels(counts->now, counts->count * measures[i].words);
            clamp_levels(counts->total, measures[i].words);
            continue;
        }
        for (size_t row = 0; row < counts->count; row++)
            keep_written(&measures[i], counts->now + row * measures[i].words,
                         counts->written + row * measures[i].words);
        keep_written(&measures[i], counts->total, counts->written_total);
    }
    bound(&recorded->truncated, recorded->written_truncated);
    return 0;
}

/* Names in batches: each of 80,000 stacks of a compiler by a statement of its own kept copies of 140,000 pages for its rollback. */
int recorded_sum_rows(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                      struct error *err) {
    if (writer_batch(&resolver->writer, err) || sum_rows(recorded, resolver, view, err)) return -1;
    return writer_batch_end(&resolver->writer, err);
}

bool recorded_has_leaks(const struct recorded *recorded) {
    return atomic_load_explicit(&recorded->head.has_leaks, memory_order_relaxed);
}

uint64_t recorded_events(const struct recorded *recorded, enum measure_id id) {
    return events_of(&measures[id], recorded->counts[id].total);
}

/* ---- after a rollback -------------------------------------------------------------------------------------------- */

/* Rows of committed flushes stay, because the ids in their keys were committed too. */
static void forget_new_rows(struct counts *counts, size_t words) {
    size_t fresh = counts->count - counts->committed;
    if (fresh) memset(counts->now + counts->committed * words, 0, fresh * words * sizeof *counts->now);
    map_free(&counts->index);
    counts->count = counts->committed;
    for (size_t i = 0; i < counts->count; i++)
        map_put(&counts->index, counts->rows[i].key, sizeof counts->rows[i].key, NULL)->value = (int64_t)i;
    for (size_t id = 0; id < counts->ids; id++)
        if (counts->row_of[id] > counts->committed) counts->row_of[id] = 0;
}

void recorded_rolled_back(struct recorded *recorded) {
    recorded->process_id = recorded->committed_process_id;
    recorded->written_delay_ns = recorded->committed_delay_ns;
    recorded->written = 0;
    recorded_events_rolled_back(recorded);
    for (int i = 0; i < MEASURE_COUNT; i++) {
        struct counts *counts = &recorded->counts[i];
        forget_new_rows(counts, measures[i].words);
        windows_copy(&counts->windows, &counts->committed_windows);
        counts->mappings = counts->committed_mappings;
    }
    recorded->space.mapping_count = recorded->committed_mapping_count;
    for (size_t id = 0; id < recorded->stack_capacity; id++)
        recorded->stacks[id].trace_id = 0;
    for (size_t id = 0; id < recorded->object_capacity; id++)
        recorded->objects[id].object_id = 0;
    for (size_t id = 0; id < recorded->named_thread_capacity; id++)
        recorded->named_threads[id].label_set_id = 0;
}
