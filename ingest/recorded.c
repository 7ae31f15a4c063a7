#include "ingest/recorded.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/hash.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct recorded *recorded_new(const char *name) {
    struct recorded *recorded = xcalloc(1, sizeof *recorded);
    recorded->name = xstrdup(name);
    return recorded;
}

static void forget_rows(struct recorded *recorded) {
    free(recorded->sites);
    free(recorded->lock_rows);
    map_free(&recorded->site_index);
    map_free(&recorded->lock_index);
    recorded->sites = NULL;
    recorded->lock_rows = NULL;
    recorded->site_count = recorded->lock_row_count = 0;
    recorded->site_index = recorded->lock_index = (struct map){0};
}

void recorded_free(struct recorded *recorded) {
    if (!recorded) return;
    forget_rows(recorded);
    address_space_free(&recorded->space);
    free(recorded->stacks);
    free(recorded->locks);
    free(recorded->name);
    free(recorded);
}

/* Slots 0 .. id, the new ones zeroed. Ids were checked against the size of the segment. */
static void *grow(void *slots, size_t *capacity, uint64_t id, size_t each) {
    if (id < *capacity) return slots;
    size_t wanted = *capacity ? *capacity * 2 : SEGMENT_COUNTER_IDS;
    if (wanted <= id) wanted = id + 1;
    slots = xrealloc(slots, wanted * each);
    memset((char *)slots + *capacity * each, 0, (wanted - *capacity) * each);
    *capacity = wanted;
    return slots;
}

struct reading {
    struct recorded *recorded;
    struct resolver *resolver;
};

static void on_module(void *context, const struct segment_module *module) {
    struct reading *reading = context;
    address_space_put(reading->resolver, &reading->recorded->space, reading->recorded->module_index++, module);
}

static void on_stack(void *context, const struct segment_stack *stack, size_t offset) {
    struct recorded *recorded = ((struct reading *)context)->recorded;
    recorded->stacks = grow(recorded->stacks, &recorded->stack_capacity, stack->id, sizeof *recorded->stacks);
    recorded->stacks[stack->id].offset = offset;
}

static void on_lock(void *context, const struct segment_lock *lock) {
    struct recorded *recorded = ((struct reading *)context)->recorded;
    recorded->locks = grow(recorded->locks, &recorded->lock_capacity, lock->id, sizeof *recorded->locks);
    recorded->locks[lock->id].lock = *lock;
}

static bool is_zero(const void *counters, size_t size) {
    static const struct lock_counters none;
    return memcmp(counters, &none, size) == 0;
}

static void on_heap(void *context, uint64_t first_id, const struct heap_counters *counters, size_t count) {
    struct recorded *recorded = ((struct reading *)context)->recorded;
    for (size_t i = first_id ? 0 : 1; i < count; i++) {
        struct heap_counters more = counters[i];
        if (is_zero(&more, sizeof more)) continue;
        uint64_t id = first_id + i;
        recorded->stacks = grow(recorded->stacks, &recorded->stack_capacity, id, sizeof *recorded->stacks);
        struct heap_counters *sum = &recorded->stacks[id].sum;
        sum->alloc_count += more.alloc_count;
        sum->alloc_bytes += more.alloc_bytes;
        sum->free_count += more.free_count;
        sum->free_bytes += more.free_bytes;
    }
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void add_lock(struct lock_counters *sum, const struct lock_counters *more) {
    sum->acquires += more->acquires;
    sum->contended += more->contended;
    sum->wait += more->wait;
    sum->wait_max = larger(sum->wait_max, more->wait_max);
    sum->hold += more->hold;
    sum->hold_max = larger(sum->hold_max, more->hold_max);
    sum->read_acquires += more->read_acquires;
    sum->read_contended += more->read_contended;
    sum->read_wait += more->read_wait;
    sum->read_wait_max = larger(sum->read_wait_max, more->read_wait_max);
}

static void on_lock_counters(void *context, uint64_t first_id, const struct lock_counters *counters, size_t count) {
    struct recorded *recorded = ((struct reading *)context)->recorded;
    for (size_t i = first_id ? 0 : 1; i < count; i++) {
        struct lock_counters more = counters[i];
        if (is_zero(&more, sizeof more)) continue;
        uint64_t id = first_id + i;
        recorded->locks = grow(recorded->locks, &recorded->lock_capacity, id, sizeof *recorded->locks);
        add_lock(&recorded->locks[id].sum, &more);
    }
}

static void on_thread(void *context, const struct thread_counters *counters) {
    struct thread_counters *sum = &((struct reading *)context)->recorded->threads;
    sum->truncated += counters->truncated;
    sum->incomplete += counters->incomplete;
    sum->hold_lost += counters->hold_lost;
}

static void forget_sums(struct recorded *recorded) {
    for (size_t id = 0; id < recorded->stack_capacity; id++)
        recorded->stacks[id].sum = (struct heap_counters){0};
    for (size_t id = 0; id < recorded->lock_capacity; id++)
        recorded->locks[id].sum = (struct lock_counters){0};
    recorded->threads = (struct thread_counters){0};
    recorded->module_index = 0;
}

void recorded_read(struct recorded *recorded, struct resolver *resolver, struct segment_view *view) {
    /* Counters before lists: a stack is published before it is first counted, so every id that has a count
     * is in the lists by then. */
    static const struct segment_visitor counters = {
        .heap = on_heap, .lock_counters = on_lock_counters, .thread = on_thread};
    static const struct segment_visitor lists = {.module = on_module, .stack = on_stack, .lock = on_lock};
    struct reading reading = {recorded, resolver};
    forget_sums(recorded);
    recorded->head = view->head;
    segment_view_walk(view, &counters, &reading);
    segment_view_walk(view, &lists, &reading);
    recorded->dropped_heap = atomic_load_explicit(&view->head.dropped_heap, memory_order_relaxed);
    recorded->dropped_locks = atomic_load_explicit(&view->head.dropped_locks, memory_order_relaxed);
    recorded->truncated = recorded->threads.truncated + recorded->threads.incomplete;
    recorded->is_corrupt |= view->corrupt;
}

/* ---- rows from ids ----------------------------------------------------------------------------------------------- */

static int64_t trace_of(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t id,
                        struct error *err) {
    if (id >= recorded->stack_capacity || !recorded->stacks[id].offset) return 0;
    struct stack_slot *slot = &recorded->stacks[id];
    if (slot->trace_id) return slot->trace_id;
    struct segment_stack stack;
    const uint64_t *pcs = segment_view_stack(view, slot->offset, &stack);
    if (!pcs) return 0;
    return slot->trace_id = resolve_trace(resolver, &recorded->space, pcs, stack.depth, stack.epoch, err);
}

/* The row of a key, made where it is new. */
static size_t row_of(struct map *index, const void *key, size_t size, void **rows, size_t *count, size_t each) {
    bool added;
    struct map_entry *entry = map_put(index, key, size, &added);
    if (!added) return (size_t)entry->value;
    if ((*count & (*count - 1)) == 0) *rows = xrealloc(*rows, (*count ? *count * 2 : 1) * each);
    memset((char *)*rows + *count * each, 0, each);
    return (size_t)(entry->value = (int64_t)(*count)++);
}

/* 0 with slot->row left 0: the segment lacks the stack, and what it counted is lost. */
static int site_of(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t id,
                   struct error *err) {
    struct stack_slot *slot = &recorded->stacks[id];
    if (slot->row) return 0;
    if (!slot->offset) return 0;
    int64_t trace = trace_of(recorded, resolver, view, id, err);
    if (trace < 0) return -1;
    void *rows = recorded->sites;
    size_t row =
        row_of(&recorded->site_index, &trace, sizeof trace, &rows, &recorded->site_count, sizeof *recorded->sites);
    recorded->sites = rows;
    recorded->sites[row].trace_id = trace;
    slot->row = (uint32_t)row + 1;
    return 0;
}

static int lock_row_of(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, uint64_t id,
                       struct error *err) {
    struct lock_slot *slot = &recorded->locks[id];
    if (slot->row || !slot->lock.id) return 0;
    int64_t owner = slot->lock.owner ? trace_of(recorded, resolver, view, slot->lock.owner, err) : 0;
    int64_t object = owner < 0 ? -1 : resolve_lock(resolver, &recorded->space, &slot->lock, owner, err);
    if (object < 0) return -1;
    struct {
        int64_t object;
        uint64_t address;
    } key = {object, slot->lock.address};
    void *rows = recorded->lock_rows;
    size_t row =
        row_of(&recorded->lock_index, &key, sizeof key, &rows, &recorded->lock_row_count, sizeof *recorded->lock_rows);
    recorded->lock_rows = rows;
    recorded->lock_rows[row].object_id = object;
    recorded->lock_rows[row].address = slot->lock.address;
    recorded->lock_rows[row].kind = slot->lock.kind;
    slot->row = (uint32_t)row + 1;
    return 0;
}

/* Of a live process, a thread's frees may be seen without another's allocations that came before them. Nothing is ever
 * live less than zero times. */
static void clamp_frees(struct heap_counters *counters) {
    if (counters->free_count > counters->alloc_count) counters->free_count = counters->alloc_count;
    if (counters->free_bytes > counters->alloc_bytes) counters->free_bytes = counters->alloc_bytes;
}

static int sum_sites(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                     struct error *err) {
    recorded->heap_total = (struct heap_counters){0};
    for (size_t i = 0; i < recorded->site_count; i++)
        recorded->sites[i].now = (struct heap_counters){0};
    for (uint64_t id = 1; id < recorded->stack_capacity; id++) {
        const struct heap_counters *sum = &recorded->stacks[id].sum;
        if (is_zero(sum, sizeof *sum)) continue;
        if (site_of(recorded, resolver, view, id, err)) return -1;
        if (!recorded->stacks[id].row) {
            recorded->lost += sum->alloc_count + sum->free_count;
            continue;
        }
        struct heap_counters *to[] = {&recorded->sites[recorded->stacks[id].row - 1].now, &recorded->heap_total};
        for (int i = 0; i < 2; i++) {
            to[i]->alloc_count += sum->alloc_count;
            to[i]->alloc_bytes += sum->alloc_bytes;
            to[i]->free_count += sum->free_count;
            to[i]->free_bytes += sum->free_bytes;
        }
    }
    for (size_t i = 0; i < recorded->site_count && recorded->is_running; i++)
        clamp_frees(&recorded->sites[i].now);
    return 0;
}

static int sum_locks(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                     struct error *err) {
    recorded->acquires = 0;
    for (size_t i = 0; i < recorded->lock_row_count; i++)
        recorded->lock_rows[i].now = (struct lock_counters){0};
    for (uint64_t id = 1; id < recorded->lock_capacity; id++) {
        const struct lock_counters *sum = &recorded->locks[id].sum;
        if (is_zero(sum, sizeof *sum)) continue;
        if (lock_row_of(recorded, resolver, view, id, err)) return -1;
        if (!recorded->locks[id].row) {
            recorded->lost += sum->acquires + sum->read_acquires;
            continue;
        }
        add_lock(&recorded->lock_rows[recorded->locks[id].row - 1].now, sum);
        recorded->acquires += sum->acquires + sum->read_acquires;
    }
    return 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* What a broken segment holds may be any 64 bits; the columns are signed. */
static int64_t positive(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static int insert_process(struct recorded *recorded, struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db,
                                         "INSERT INTO processes(run_id, pid, ppid, executable, started_ns)"
                                         " VALUES (:run, :pid, :ppid, :executable, :started)",
                                         err);
    if (!statement) return -1;
    const struct segment *head = &recorded->head;
    db_bind_int(statement, ":run", run_id);
    db_bind_int(statement, ":pid", head->pid);
    db_bind_int(statement, ":ppid", head->ppid);
    db_bind_text(statement, ":executable", head->executable);
    db_bind_int(statement, ":started", positive(head->start_realtime_ns));
    if (db_run(db, statement, err)) return -1;
    recorded->process_id = sqlite3_last_insert_rowid(db->handle);
    return 0;
}

/* A kind of profile as DESIGN.md section 6 lists it. The period is 1: every event is recorded. */
struct kind {
    const char *name, *sample_types, *default_type, *period_type, *period_unit;
};
static const struct kind heap_kind = {"heap",
                                      "[[\"alloc_objects\",\"count\"],[\"alloc_space\",\"bytes\"],"
                                      "[\"inuse_objects\",\"count\"],[\"inuse_space\",\"bytes\"]]",
                                      "inuse_space", "space", "bytes"};
static const struct kind lock_kind = {"lock",
                                      "[[\"contentions\",\"count\"],[\"delay\",\"nanoseconds\"],"
                                      "[\"hold\",\"nanoseconds\"],[\"acquisitions\",\"count\"]]",
                                      "delay", "contentions", "count"};

static int64_t insert_profile(const struct recorded *recorded, struct db *db, int64_t run_id, const struct kind *kind,
                              struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(db,
                   "INSERT INTO profiles(run_id, process_id, kind, period, period_type, period_unit, sample_types,"
                   " default_type) VALUES (:run, :process, :kind, 1, :type, :unit, :samples, :default)",
                   err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    db_bind_int(statement, ":process", recorded->process_id);
    db_bind_text(statement, ":kind", kind->name);
    db_bind_text(statement, ":type", kind->period_type);
    db_bind_text(statement, ":unit", kind->period_unit);
    db_bind_text(statement, ":samples", kind->sample_types);
    db_bind_text(statement, ":default", kind->default_type);
    return db_run(db, statement, err) ? -1 : sqlite3_last_insert_rowid(db->handle);
}

static int insert_rows(struct recorded *recorded, struct db *db, int64_t run_id, struct error *err) {
    uint32_t features = recorded->head.features;
    if (!recorded->process_id && insert_process(recorded, db, run_id, err)) return -1;
    if (!recorded->heap_profile && features & FEATURE_HEAP)
        recorded->heap_profile = insert_profile(recorded, db, run_id, &heap_kind, err);
    if (!recorded->lock_profile && features & FEATURE_LOCKS && recorded->heap_profile >= 0)
        recorded->lock_profile = insert_profile(recorded, db, run_id, &lock_kind, err);
    return recorded->heap_profile < 0 || recorded->lock_profile < 0 ? -1 : 0;
}

static int write_sites(struct recorded *recorded, struct db *db, struct error *err) {
    static const char sql[] =
        "INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes)"
        " VALUES (:profile, :trace, :allocs, :alloc_bytes, :frees, :free_bytes)"
        " ON CONFLICT (profile_id, trace_id, label_set_id) DO UPDATE SET alloc_count = excluded.alloc_count,"
        " alloc_bytes = excluded.alloc_bytes, free_count = excluded.free_count, free_bytes = excluded.free_bytes";
    for (size_t i = 0; i < recorded->site_count && recorded->heap_profile; i++) {
        const struct site_row *row = &recorded->sites[i];
        if (memcmp(&row->now, &row->written, sizeof row->now) == 0) continue;
        sqlite3_stmt *statement = db_prepare(db, sql, err);
        if (!statement) return -1;
        db_bind_int(statement, ":profile", recorded->heap_profile);
        db_bind_int(statement, ":trace", row->trace_id);
        db_bind_int(statement, ":allocs", positive(row->now.alloc_count));
        db_bind_int(statement, ":alloc_bytes", positive(row->now.alloc_bytes));
        db_bind_int(statement, ":frees", positive(row->now.free_count));
        db_bind_int(statement, ":free_bytes", positive(row->now.free_bytes));
        if (db_run(db, statement, err)) return -1;
    }
    return 0;
}

static int64_t to_ns(uint64_t ticks, struct tick_rate rate) {
    unsigned __int128 ns = (unsigned __int128)ticks * rate.ns / (rate.ticks ? rate.ticks : 1);
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static const char *lock_kind_name(uint32_t kind) {
    switch (kind) {
    case LOCK_MUTEX: return "mutex";
    case LOCK_RWLOCK: return "rwlock";
    case LOCK_SPIN: return "spin";
    default: return "";
    }
}

static int write_lock(const struct recorded *recorded, struct db *db, const struct lock_row *row, struct tick_rate rate,
                      struct error *err) {
    static const char sql[] =
        "INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,"
        " max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns)"
        " VALUES (:profile, :object, :address, :kind, :acquires, :contended, :wait, :max_wait, :hold,"
        " :max_hold, :read_acquires, :read_contended, :read_wait, :read_max_wait)"
        " ON CONFLICT (profile_id, object_id, address, trace_id) DO UPDATE SET acquires = excluded.acquires,"
        " contended = excluded.contended, wait_ns = excluded.wait_ns, max_wait_ns = excluded.max_wait_ns,"
        " hold_ns = excluded.hold_ns, max_hold_ns = excluded.max_hold_ns, read_acquires = excluded.read_acquires,"
        " read_contended = excluded.read_contended, read_wait_ns = excluded.read_wait_ns,"
        " read_max_wait_ns = excluded.read_max_wait_ns";
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return -1;
    const struct lock_counters *now = &row->now;
    db_bind_int(statement, ":profile", recorded->lock_profile);
    db_bind_int(statement, ":object", row->object_id);
    db_bind_int(statement, ":address", (int64_t)row->address);
    db_bind_text(statement, ":kind", lock_kind_name(row->kind));
    db_bind_int(statement, ":acquires", positive(now->acquires));
    db_bind_int(statement, ":contended", positive(now->contended));
    db_bind_int(statement, ":wait", to_ns(now->wait, rate));
    db_bind_int(statement, ":max_wait", to_ns(now->wait_max, rate));
    db_bind_int(statement, ":hold", to_ns(now->hold, rate));
    db_bind_int(statement, ":max_hold", to_ns(now->hold_max, rate));
    db_bind_int(statement, ":read_acquires", positive(now->read_acquires));
    db_bind_int(statement, ":read_contended", positive(now->read_contended));
    db_bind_int(statement, ":read_wait", to_ns(now->read_wait, rate));
    db_bind_int(statement, ":read_max_wait", to_ns(now->read_wait_max, rate));
    return db_run(db, statement, err);
}

static int write_locks(struct recorded *recorded, struct db *db, struct tick_rate rate, struct error *err) {
    if (!(recorded->head.features & FEATURE_TSC)) rate = (struct tick_rate){1, 1};
    for (size_t i = 0; i < recorded->lock_row_count && recorded->lock_profile; i++) {
        const struct lock_row *row = &recorded->lock_rows[i];
        if (memcmp(&row->now, &row->written, sizeof row->now) == 0) continue;
        if (write_lock(recorded, db, row, rate, err)) return -1;
    }
    return 0;
}

/* What viewers print above the figures: losses that no column holds. JSON; the caller frees the buffer. */
static void describe_losses(const struct recorded *recorded, bool is_heap, struct buffer *json) {
    char text[160];
    uint64_t healed = is_heap ? atomic_load_explicit(&recorded->head.healed_frees, memory_order_relaxed) : 0;
    buffer_add_char(json, '[');
    if (recorded->is_corrupt) {
        int size = snprintf(text, sizeof text,
                            "# WARNING: the segment of process %d is damaged; what could be read of it is shown",
                            recorded->head.pid);
        buffer_add_json_string(json, text, (size_t)size);
    }
    if (healed) {
        int size = snprintf(text, sizeof text,
                            "# WARNING: %llu frees were not seen; their blocks count as freed where "
                            "the address was handed out again",
                            (unsigned long long)healed);
        if (json->size > 1) buffer_add_char(json, ',');
        buffer_add_json_string(json, text, (size_t)size);
    }
    if (!is_heap && recorded->threads.hold_lost) {
        int size = snprintf(text, sizeof text, "# WARNING: %llu holds were not timed: too many locks held at once",
                            (unsigned long long)recorded->threads.hold_lost);
        if (json->size > 1) buffer_add_char(json, ',');
        buffer_add_json_string(json, text, (size_t)size);
    }
    buffer_add_char(json, ']');
}

static int update_profile(struct recorded *recorded, struct db *db, bool is_heap, int64_t time_ns, struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(db,
                   "UPDATE profiles SET time_ns = :time, duration_ns = :duration, comments = :comments,"
                   " mappings = :mappings, dropped = :dropped, truncated = :truncated WHERE id = :profile",
                   err);
    if (!statement) return -1;
    struct buffer mappings = {0}, comments = {0};
    for (size_t i = 0; i < recorded->space.mapping_count; i++)
        buffer_printf(&mappings, "%s%lld", i ? "," : "[", (long long)recorded->space.mapping_ids[i]);
    buffer_add_text(&mappings, mappings.size ? "]" : "[]");
    describe_losses(recorded, is_heap, &comments);
    int64_t duration = time_ns - positive(recorded->head.start_realtime_ns);
    db_bind_int(statement, ":profile", is_heap ? recorded->heap_profile : recorded->lock_profile);
    db_bind_int(statement, ":time", time_ns);
    db_bind_int(statement, ":duration", duration > 0 ? duration : 0);
    db_bind_text(statement, ":comments", comments.data);
    db_bind_text(statement, ":mappings", mappings.data);
    db_bind_int(statement, ":dropped",
                positive(is_heap ? recorded->dropped_heap + recorded->lost : recorded->dropped_locks));
    db_bind_int(statement, ":truncated", is_heap ? positive(recorded->truncated) : 0);
    buffer_free(&mappings);
    buffer_free(&comments);
    return db_run(db, statement, err);
}

/* The executable's module, and so its build id, is known once an address inside it was met. */
static int update_process(struct recorded *recorded, struct db *db, int64_t time_ns, struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(db, "UPDATE processes SET build_id = :build, ended_ns = :ended WHERE id = :process", err);
    if (!statement) return -1;
    db_bind_int(statement, ":process", recorded->process_id);
    db_bind_text(statement, ":build", address_space_build_id(&recorded->space, recorded->head.executable));
    if (!recorded->is_running) db_bind_int(statement, ":ended", time_ns);
    return db_run(db, statement, err);
}

static uint64_t fingerprint(const struct recorded *recorded) {
    const uint64_t words[] = {recorded->heap_total.alloc_count,
                              recorded->heap_total.free_count,
                              recorded->acquires,
                              recorded->dropped_heap,
                              recorded->dropped_locks,
                              recorded->truncated,
                              recorded->threads.hold_lost,
                              recorded->lost,
                              recorded->is_corrupt};
    return hash_bytes(words, sizeof words);
}

/* Whether anything happened in the process since the last flush that was committed. */
static bool is_changed(const struct recorded *recorded) {
    return fingerprint(recorded) != recorded->written;
}

int recorded_write(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, int64_t run_id,
                   struct tick_rate rate, struct error *err) {
    struct db *db = resolver->db;
    recorded->lost = 0;
    if (insert_rows(recorded, db, run_id, err) || sum_sites(recorded, resolver, view, err) ||
        sum_locks(recorded, resolver, view, err) || write_sites(recorded, db, err) ||
        write_locks(recorded, db, rate, err))
        return -1;
    if (recorded->is_running && recorded->is_stored && !is_changed(recorded)) return 0;
    int64_t time_ns = now_ns();
    if (recorded->heap_profile && update_profile(recorded, db, true, time_ns, err)) return -1;
    if (recorded->lock_profile && update_profile(recorded, db, false, time_ns, err)) return -1;
    return update_process(recorded, db, time_ns, err);
}

void recorded_committed(struct recorded *recorded) {
    for (size_t i = 0; i < recorded->site_count; i++)
        recorded->sites[i].written = recorded->sites[i].now;
    for (size_t i = 0; i < recorded->lock_row_count; i++)
        recorded->lock_rows[i].written = recorded->lock_rows[i].now;
    recorded->is_stored = recorded->process_id != 0;
    recorded->written = fingerprint(recorded);
    recorded->is_finished = !recorded->is_running;
}

void recorded_rolled_back(struct recorded *recorded) {
    if (!recorded->is_stored) recorded->process_id = recorded->heap_profile = recorded->lock_profile = 0;
    recorded->written = 0;
    forget_rows(recorded);
    free(recorded->space.mapping_ids);
    recorded->space.mapping_ids = NULL;
    recorded->space.mapping_count = 0;
    for (size_t id = 0; id < recorded->stack_capacity; id++)
        recorded->stacks[id].trace_id = recorded->stacks[id].row = 0;
    for (size_t id = 0; id < recorded->lock_capacity; id++)
        recorded->locks[id].row = 0;
}
