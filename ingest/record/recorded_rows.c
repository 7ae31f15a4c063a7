/* recorded_rows.c: writes a recorded process to the warehouse: its row, its profiles, and their rows. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/units.h"
#include "ingest/read/ingest.h"
#include "ingest/record/recorded.h"
#include "ingest/record/recorded_events.h"
#include "ingest/record/recorded_fibers.h"
#include "ingest/record/recorded_wall.h"
#include "ingest/writer/site_rows.h"
#include "schema/schema.h"

/* A broken segment may have any 64 bits; columns are signed. */
static int64_t positive(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* ---- process and profiles ---------------------------------------------------------------------------------------- */

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

struct period {
    const char *type, *unit;
    int64_t length; /* 1: every event */
};

static struct period period_of(enum measure_id id, const struct recording_terms *terms) {
    const struct kind *kind = &kinds[measures[id].kind];
    struct period period = {kind->period_type, kind->period_unit, 1};
    bool is_heap = id == MEASURE_HEAP || id == MEASURE_PEAK;
    if (measures[id].is_by_look) {
        period.length = terms->wall_hz ? 1000000000 / terms->wall_hz : 0;
    } else if (measures[id].is_by_thread) {
        period.length = terms->cpu_hz ? 1000000000 / terms->cpu_hz : 0;
    } else if (is_heap && terms->sample_bytes > 1) {
        period.length = positive(terms->sample_bytes);
    } else if (id == MEASURE_LOCK && terms->lock_n > 1) {
        period.length = terms->lock_n;
    } else if (measures[id].is_sampled && terms->sample_n > 1) {
        period.length = terms->sample_n;
        /* Allocations are skipped by number then, not by size. */
        if (is_heap) period = (struct period){"alloc_objects", "count", terms->sample_n};
    }
    return period;
}

static int insert_profile(struct recorded *recorded, struct db *db, enum measure_id id,
                          const struct recording_terms *terms, struct window *window, struct error *err) {
    const struct measure *measure = &measures[id];
    const struct kind *kind = &kinds[measure->kind];
    struct period period = period_of(id, terms);
    struct buffer types = {0};
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/recorded_rows/window"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", terms->run_id);
    db_bind_int(statement, ":process", recorded->process_id);
    db_bind_text(statement, ":kind", kind->name);
    db_bind_int(statement, ":time", window->end_ns);
    db_bind_int(statement, ":duration", window->end_ns - window->start_ns);
    db_bind_int(statement, ":period", period.length);
    db_bind_text(statement, ":type", period.type);
    db_bind_text(statement, ":unit", period.unit);
    kind_add_types(&types, kind);
    db_bind_text(statement, ":samples", buffer_text(&types));
    buffer_free(&types);
    db_bind_text(statement, ":default", kind->default_type);
    db_bind_int(statement, ":sample_n", measure->is_sampled && terms->sample_n > 1 ? terms->sample_n : 1);
    if (db_run(db, statement, err)) return -1;
    window->profile_id = sqlite3_last_insert_rowid(db->handle);
    return 0;
}

/* The time of the last committed flush, so a window includes what a failed flush could not write. */
static int64_t window_start(const struct recorded *recorded, int64_t end_ns) {
    int64_t start = recorded->committed_time_ns;
    if (!start) start = positive(recorded->head.start_realtime_ns);
    return start < end_ns ? start : end_ns;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int64_t to_ns(uint64_t ticks, struct tick_rate rate) {
    unsigned __int128 ns = (unsigned __int128)ticks * rate.ns / (rate.ticks ? rate.ticks : 1);
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

const char *recorded_object_kind(uint32_t kind) {
    switch (kind) {
    case OBJECT_MUTEX: return "mutex";
    case OBJECT_RWLOCK: return "rwlock";
    case OBJECT_SPIN: return "spin";
    case OBJECT_LOCK: return "own";
    case OBJECT_COND: return "cond";
    case OBJECT_SEM: return "sem";
    case OBJECT_BARRIER: return "barrier";
    case OBJECT_JOIN: return "join";
    case OBJECT_FUTEX: return "futex";
    default: return "";
    }
}

static const char *io_call_name(int64_t call) {
    static const char *const names[IO_CALLS] = {
#define X(which, name) [IO_##which] = name,
        SEGMENT_IO_CALLS(X)
#undef X
    };
    return names[call];
}

static void bind_bucket(sqlite3_stmt *statement, int64_t part) {
    int64_t bucket = part & ((1 << TALLY_BUCKET_BITS) - 1);
    db_bind_text(statement, ":histogram", ingest_histogram_name(part >> TALLY_BUCKET_BITS));
    db_bind_int(statement, ":from", bucket ? INT64_C(1) << (bucket - 1) : 0);
}

static void bind_key(sqlite3_stmt *statement, enum measure_id id, const struct recorded_row *row) {
    if (id != MEASURE_CHANNEL) db_bind_int(statement, ":trace", row->trace);
    if (!measures[id].is_by_stack) db_bind_int(statement, ":object", row->thing);
    bool is_lock = id == MEASURE_LOCK || id == MEASURE_WAIT;
    if (is_lock || id == MEASURE_CELL) db_bind_int(statement, ":address", row->place);
    if (is_lock) db_bind_text(statement, ":kind", recorded_object_kind(row->kind));
    if (measures[id].is_by_thread || measures[id].is_by_look) db_bind_int(statement, ":labels", row->thing);
    if (id == MEASURE_MMAP) {
        db_bind_text(statement, ":use", ingest_use_name(row->thing));
        db_bind_int(statement, ":labels", row->place);
    }
    if (id == MEASURE_LIFETIME) bind_bucket(statement, row->thing);
    if (id == MEASURE_IO) db_bind_text(statement, ":call", io_call_name(row->thing));
    if (is_lock) db_bind_int(statement, ":first", row->first);
    if (id == MEASURE_WAIT) db_bind_int(statement, ":guard", row->guard);
    if (id != MEASURE_CHANNEL) return;
    db_bind_int(statement, ":channel", row->place);
    db_bind_int(statement, ":capacity", positive(row->capacity));
}

/* Converts both sums and subtracts, so that rounding errors do not add up over windows. */
static void times_to_ns(const struct measure *measure, const uint64_t *now, const uint64_t *written,
                        struct tick_rate rate, uint64_t *difference) {
    for (size_t word = 0; word < measure->words; word++) {
        if (!(measure->ticks & 1u << word) || !difference[word]) continue;
        bool is_maximum = measure->maxima & 1u << word;
        int64_t before = is_maximum ? 0 : to_ns(written[word], rate);
        difference[word] = (uint64_t)(to_ns(now[word], rate) - before);
    }
}

/* Whether any column but a state is not 0. */
static bool needs_row(const struct measure *measure, const uint64_t *difference) {
    for (size_t word = 0; word < measure->words; word++)
        if (difference[word] && measure->parameters[word] && !(measure->states & 1u << word)) return true;
    return false;
}

static int write_row(const struct recorded_row *row, enum measure_id id, const char *sql, int64_t profile_id,
                     const uint64_t *difference, struct db *db, struct error *err) {
    const struct measure *measure = &measures[id];
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", profile_id);
    bind_key(statement, id, row);
    for (size_t word = 0; word < measure->words; word++)
        if (measure->parameters[word]) db_bind_int(statement, measure->parameters[word], positive(difference[word]));
    return db_run(db, statement, err);
}

static int write_rows(const struct recorded *recorded, enum measure_id id, struct window *window, struct db *db,
                      struct tick_rate rate, struct error *err) {
    const struct measure *measure = &measures[id];
    const struct counts *counts = &recorded->counts[id];
    const char *sql = embedded_text(measure->sql);
    if (!(recorded->head.features & FEATURE_TSC)) rate = (struct tick_rate){1, 1};
    for (size_t i = 0; i < counts->count; i++) {
        const uint64_t *now = counts->now + i * measure->words, *written = counts->written + i * measure->words;
        uint64_t difference[MEASURE_WORDS_MAX];
        if (memcmp(now, written, measure->words * sizeof *now) == 0) continue;
        recorded_difference(measure, now, written, difference);
        times_to_ns(measure, now, written, rate, difference);
        if (!needs_row(measure, difference)) continue;
        if (write_row(&counts->rows[i], id, sql, window->profile_id, difference, db, err)) return -1;
        window->rows++;
    }
    return 0;
}

/* Sites are written by ingest/writer/site_rows.h, their details as other rows. */
static int write_sites(const struct counts *counts, struct window *window, struct row_writer *writer,
                       struct error *err) {
    const struct measure *measure = &measures[MEASURE_HEAP];
    const struct heap_sums *now = (const struct heap_sums *)counts->now;
    const struct heap_sums *written = (const struct heap_sums *)counts->written;
    struct site_row *rows = xmalloc(counts->count * sizeof *rows + 1);
    size_t count = 0;
    int code = 0;
    for (size_t i = 0; i < counts->count && code == 0; i++) {
        struct heap_sums difference;
        if (memcmp(&now[i], &written[i], sizeof *now) == 0) continue;
        recorded_difference(measure, (const uint64_t *)&now[i], (const uint64_t *)&written[i], (uint64_t *)&difference);
        if (difference.alloc_count || difference.alloc_bytes || difference.free_count || difference.free_bytes)
            rows[count++] = (struct site_row){.trace_id = counts->rows[i].trace,
                                              .alloc_count = positive(difference.alloc_count),
                                              .alloc_bytes = positive(difference.alloc_bytes),
                                              .free_count = positive(difference.free_count),
                                              .free_bytes = positive(difference.free_bytes)};
        if (needs_row(measure, (const uint64_t *)&difference))
            code = write_row(&counts->rows[i], MEASURE_HEAP, embedded_text(measure->sql), window->profile_id,
                             (const uint64_t *)&difference, writer->db, err);
    }
    if (code == 0) code = site_rows_put(writer, window->profile_id, rows, count, err);
    window->rows = count;
    free(rows);
    return code;
}

static int remove_level(const char *sql, int64_t profile_id, int64_t trace_id, struct db *db, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", profile_id);
    db_bind_int(statement, ":trace", trace_id);
    return db_run(db, statement, err);
}

/* The rows of a snapshot that are not as they were written. A level of 0 has none. */
static int write_levels(const struct counts *counts, enum measure_id id, const struct window *window, struct db *db,
                        struct error *err) {
    const struct measure *measure = &measures[id];
    const char *sql = embedded_text(measure->sql);
    for (size_t i = 0; i < counts->count; i++) {
        const uint64_t *now = counts->now + i * measure->words, *written = counts->written + i * measure->words;
        if (memcmp(now, written, measure->words * sizeof *now) == 0) continue;
        int code = needs_row(measure, now) ? write_row(&counts->rows[i], id, sql, window->profile_id, now, db, err)
                                           : remove_level(embedded_text(measure->remove), window->profile_id,
                                                          counts->rows[i].trace, db, err);
        if (code) return -1;
    }
    return 0;
}

static int write_kind(const struct recorded *recorded, enum measure_id id, struct window *window,
                      struct row_writer *writer, struct tick_rate rate, struct error *err) {
    switch (id) {
    case MEASURE_HEAP: return write_sites(&recorded->counts[id], window, writer, err);
    case MEASURE_FIBER: return recorded_write_fibers(&recorded->counts[id], window, writer->db, err);
    default: return write_rows(recorded, id, window, writer->db, rate, err);
    }
}

/* ---- comments of a profile ------------------------------------------------------------------------------------- */

static void add_warning(struct buffer *json, const char *text) {
    if (json->size > 1) buffer_add_char(json, ',');
    buffer_add_json_string(json, text, strlen(text));
}

/* Frees that no hook saw are counted later. Fewer than one in so many tell nobody that figures are incomplete. */
enum { FREES_TOLD = 1000 };

static bool has_many_missed(const struct recorded *recorded, uint64_t missed) {
    const struct heap_sums *heap = (const void *)recorded->counts[MEASURE_HEAP].total;
    return missed > heap->free_count / FREES_TOLD;
}

/* Nor do fewer holds than one in so many: Erlang's machine takes the locks of all its queues as it ends, 98 holds of 47,366. */
enum { HOLDS_TOLD = 100 };

static bool has_many_untimed(const struct recorded *recorded, uint64_t lost) {
    const struct lock_counters *locks =
        &((const struct lock_sums *)(const void *)recorded->counts[MEASURE_LOCK].total)->counters;
    return lost > (locks->acquires + locks->read_acquires) / HOLDS_TOLD;
}

/* Comments of the profile about losses that have no column of their own, as JSON. The caller frees the buffer. */
static void describe_losses(const struct recorded *recorded, enum measure_id id, struct buffer *json) {
    char text[200];
    uint64_t missed = atomic_load_explicit(&recorded->head.missed_frees, memory_order_relaxed);
    buffer_add_char(json, '[');
    if (recorded->is_corrupt) {
        snprintf(text, sizeof text,
                 "# WARNING: the segment of process %d is damaged; only what could be read is stored",
                 recorded->head.pid);
        add_warning(json, text);
    }
    uint64_t blind = atomic_load_explicit(&recorded->head.blind_threads, memory_order_relaxed);
    uint64_t nameless = atomic_load_explicit(&recorded->head.nameless_addresses, memory_order_relaxed);
    if (blind) {
        snprintf(text, sizeof text,
                 "# WARNING: %llu threads of process %d asked for strict seccomp or PR_SET_TSC and are not recorded "
                 "from there on",
                 (unsigned long long)blind, recorded->head.pid);
        add_warning(json, text);
    }
    if (nameless) {
        snprintf(text, sizeof text,
                 "# WARNING: %llu addresses have no names: process %d loaded more libraries than are kept apart",
                 (unsigned long long)nameless, recorded->head.pid);
        add_warning(json, text);
    }
    if (id == MEASURE_HEAP && has_many_missed(recorded, missed)) {
        snprintf(text, sizeof text, "# WARNING: no hook saw %s: counted when the address was allocated again",
                 units_things((int64_t)missed, "free").text);
        add_warning(json, text);
    }
    if (id == MEASURE_LOCK && has_many_untimed(recorded, recorded->threads.hold_lost)) {
        snprintf(text, sizeof text, "# WARNING: %llu holds were not timed: too many locks held at once",
                 (unsigned long long)recorded->threads.hold_lost);
        add_warning(json, text);
    }
    if (id == MEASURE_CPU && !recorded->head.cpu_hz) {
        snprintf(text, sizeof text,
                 "# WARNING: use --cpu=perf: CPU time of process %d was not sampled, because it "
                 "sets SIGPROF itself, or locks itself in (seccomp, mlockall)",
                 recorded->head.pid);
        add_warning(json, text);
    }
    buffer_add_char(json, ']');
}

/* The segment counts truncated stacks of all kinds together. They are stored with the kind that usually has most
 * stacks. */
static enum measure_id measure_of_truncated(const struct recorded *recorded) {
    static const enum measure_id order[] = {MEASURE_HEAP, MEASURE_CPU, MEASURE_LOCK, MEASURE_CELL};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (recorded->head.features & measures[order[i]].feature) return order[i];
    return MEASURE_COUNT;
}

static uint64_t truncated_since(const struct recorded *recorded, enum measure_id id) {
    return measure_of_truncated(recorded) == id ? recorded->truncated - recorded->written_truncated : 0;
}

static uint64_t dropped_since(const struct counts *counts) {
    return counts->dropped - counts->written_dropped;
}

/* Stores the mappings that no earlier window of the process and kind has, the main binary first, and the losses of the
 * window. */
static int describe_window(struct recorded *recorded, struct db *db, enum measure_id id, const struct window *window,
                           struct error *err) {
    struct counts *counts = &recorded->counts[id];
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/recorded_rows/window_mappings"), err);
    if (!statement) return -1;
    struct buffer mappings = {0};
    for (size_t i = counts->mappings; i < recorded->space.mapping_count; i++)
        buffer_printf(&mappings, "%s%lld", mappings.size ? "," : "[", (long long)recorded->space.mapping_ids[i]);
    buffer_add_text(&mappings, mappings.size ? "]" : "[]");
    counts->mappings = recorded->space.mapping_count;
    db_bind_int(statement, ":profile", window->profile_id);
    db_bind_text(statement, ":mappings", mappings.data);
    db_bind_text(statement, ":executable", recorded->head.executable);
    db_bind_int(statement, ":dropped", positive(dropped_since(counts)));
    db_bind_int(statement, ":truncated", positive(truncated_since(recorded, id)));
    buffer_free(&mappings);
    return db_run(db, statement, err);
}

static int set_comments(struct db *db, int64_t profile_id, const char *comments, struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(db, "UPDATE profiles SET comments = :comments WHERE id = :profile AND comments <> :comments", err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", profile_id);
    db_bind_text(statement, ":comments", comments);
    return db_run(db, statement, err);
}

/* Warnings are about the process from its start, so only the newest window has them. */
static int write_comments(const struct recorded *recorded, struct db *db, enum measure_id id, struct error *err) {
    const struct counts *counts = &recorded->counts[id];
    const struct windows *windows = &counts->windows;
    struct buffer comments = {0};
    if (!windows->count) return 0;
    describe_losses(recorded, id, &comments);
    int code = set_comments(db, windows->items[windows->count - 1].profile_id, comments.data, err);
    if (code == 0 && counts->has_window && windows->count > 1)
        code = set_comments(db, windows->items[windows->count - 2].profile_id, "[]", err);
    buffer_free(&comments);
    return code;
}

static uint64_t threads_started(const struct recorded *recorded) {
    return atomic_load_explicit(&recorded->head.threads_started, memory_order_relaxed);
}

/* The build id is known when an address inside the executable was met. */
static int update_process(struct recorded *recorded, struct db *db, const struct recording_terms *terms,
                          struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/recorded_rows/process_state"), err);
    const struct segment *head = &recorded->head;
    struct tick_rate rate = head->features & FEATURE_TSC ? terms->rate : (struct tick_rate){1, 1};
    if (!statement) return -1;
    db_bind_int(statement, ":process", recorded->process_id);
    db_bind_text(statement, ":build", address_space_build_id(&recorded->space, head->executable));
    if (!recorded->is_running) db_bind_int(statement, ":ended", terms->time_ns);
    db_bind_int(statement, ":started", positive(threads_started(recorded)));
    db_bind_int(statement, ":most", positive(atomic_load_explicit(&head->threads_most, memory_order_relaxed)));
    db_bind_int(statement, ":thread_ns", to_ns(recorded->thread_ticks, rate));
    return db_run(db, statement, err);
}

/* ---- a flush ----------------------------------------------------------------------------------------------------- */

static uint64_t fingerprint(const struct recorded *recorded) {
    uint64_t words[MEASURE_COUNT * 2 + 6], used = 0;
    for (int i = 0; i < MEASURE_COUNT; i++) {
        words[used++] = recorded_events(recorded, i);
        words[used++] = recorded->counts[i].dropped;
    }
    words[used++] = recorded->truncated;
    words[used++] = recorded->threads.hold_lost;
    words[used++] = threads_started(recorded);
    words[used++] = recorded->is_corrupt;
    words[used++] = atomic_load_explicit(&recorded->head.blind_threads, memory_order_relaxed);
    words[used++] = atomic_load_explicit(&recorded->head.nameless_addresses, memory_order_relaxed);
    return hash_bytes(words, sizeof words);
}

static bool has_moved(const struct recorded *recorded, enum measure_id id) {
    const struct counts *counts = &recorded->counts[id];
    return dropped_since(counts) || truncated_since(recorded, id) || counts->count > counts->committed ||
           (counts->count &&
            memcmp(counts->now, counts->written, counts->count * measures[id].words * sizeof *counts->now) != 0);
}

/* A kind that is recorded has a first window even without rows, which says that nothing happened. A rare kind has
 * none. */
static bool needs_window(const struct recorded *recorded, enum measure_id id) {
    if (!(recorded->head.features & measures[id].feature)) return false;
    return has_moved(recorded, id) || (!measures[id].is_rare && !recorded->counts[id].windows.count);
}

/* The moment of the peak. Its profile covers what happened from the start to that moment. */
static struct window peak_window(const struct recorded *recorded, const struct recording_terms *terms) {
    const struct segment *head = &recorded->head;
    struct tick_rate rate = head->features & FEATURE_TSC ? terms->rate : (struct tick_rate){1, 1};
    uint64_t ticks = atomic_load_explicit(&head->peak_ticks, memory_order_relaxed);
    int64_t start_ns = positive(head->start_realtime_ns);
    int64_t since_ns = ticks > head->start_ticks ? to_ns(ticks - head->start_ticks, rate) : 0;
    if (start_ns > terms->time_ns) start_ns = terms->time_ns;
    if (since_ns > terms->time_ns - start_ns) since_ns = terms->time_ns - start_ns;
    return (struct window){.start_ns = start_ns, .end_ns = start_ns + since_ns};
}

static int move_profile(struct db *db, const struct window *window, struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(db, "UPDATE profiles SET time_ns = :time, duration_ns = :duration WHERE id = :profile", err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", window->profile_id);
    db_bind_int(statement, ":time", window->end_ns);
    db_bind_int(statement, ":duration", window->end_ns - window->start_ns);
    return db_run(db, statement, err);
}

/* The one profile of a snapshot, made or brought up to date. */
static int write_snapshot(struct recorded *recorded, struct row_writer *writer, enum measure_id id,
                          const struct recording_terms *terms, struct error *err) {
    struct counts *counts = &recorded->counts[id];
    struct window window = {.start_ns = positive(recorded->head.start_realtime_ns), .end_ns = terms->time_ns};
    if (id == MEASURE_PEAK) window = peak_window(recorded, terms);
    if (!needs_window(recorded, id) || (id == MEASURE_LEAK && !recorded_has_leaks(recorded))) return 0;
    if (counts->windows.count) {
        window.profile_id = counts->windows.items[0].profile_id;
        if (move_profile(writer->db, &window, err)) return -1;
    } else {
        if (insert_profile(recorded, writer->db, id, terms, &window, err)) return -1;
        windows_add(&counts->windows, &window);
    }
    counts->mappings = 0;
    if (describe_window(recorded, writer->db, id, &window, err)) return -1;
    return write_levels(counts, id, &window, writer->db, err);
}

bool recorded_is_here(const struct recorded *recorded, const struct resolver *resolver) {
    char link[40], path[sizeof recorded->head.executable];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)recorded->head.pid);
    ssize_t size = recorded->head.pid > 0 ? readlink(link, path, sizeof path - 1) : -1;
    if (size <= 0) return false;
    path[size] = '\0';
    return strcmp(resolver_path(resolver, path), recorded->head.executable) == 0;
}

/* Where its blocks are counted. */
static void look_at_memory(struct recorded *recorded, const struct resolver *resolver) {
    const struct heap_sums *heap = (const void *)recorded->counts[MEASURE_HEAP].total;
    struct resident *resident = &recorded->resident;
    resident->private_bytes = resident->heap_bytes = 0;
    if (recorded->is_running && recorded->head.features & FEATURE_HEAP && recorded_is_here(recorded, resolver))
        resident_look(resident, recorded->head.pid, positive(heap->alloc_bytes) - positive(heap->free_bytes));
}

static int write_memory(struct db *db, int64_t profile_id, const char *name, int64_t bytes, struct error *err) {
    if (bytes <= 0) return 0;
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/recorded_rows/memory"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", profile_id);
    db_bind_text(statement, ":name", name);
    db_bind_int(statement, ":bytes", bytes);
    return db_run(db, statement, err);
}

/* Beside the blocks of the window, as of its end. */
static int write_resident(const struct recorded *recorded, struct db *db, const struct window *window,
                          struct error *err) {
    const struct resident *resident = &recorded->resident;
    return write_memory(db, window->profile_id, "process.rss_bytes", resident->private_bytes, err) ||
                   write_memory(db, window->profile_id, "process.heap_bytes", resident->heap_bytes, err)
               ? -1
               : 0;
}

/* How long the threads had no processor since the last window: beside its CPU time. */
static int write_delay(struct recorded *recorded, struct db *db, const struct window *window, struct error *err) {
    uint64_t ns = recorded->run_delay_ns - recorded->written_delay_ns;
    if (!ns) return 0;
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/recorded_rows/delay"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", window->profile_id);
    db_bind_int(statement, ":ns", (int64_t)ns);
    recorded->written_delay_ns = recorded->run_delay_ns;
    return db_run(db, statement, err);
}

static int write_window(struct recorded *recorded, struct row_writer *writer, enum measure_id id,
                        const struct recording_terms *terms, struct error *err) {
    struct counts *counts = &recorded->counts[id];
    struct window window = {.start_ns = window_start(recorded, terms->time_ns), .end_ns = terms->time_ns};
    counts->has_window = needs_window(recorded, id);
    if (!counts->has_window) return 0;
    if (insert_profile(recorded, writer->db, id, terms, &window, err) ||
        describe_window(recorded, writer->db, id, &window, err) ||
        (id == MEASURE_HEAP && write_resident(recorded, writer->db, &window, err)) ||
        (id == MEASURE_CPU && write_delay(recorded, writer->db, &window, err)))
        return -1;
    int code = write_kind(recorded, id, &window, writer, terms->rate, err);
    windows_add(&counts->windows, &window);
    return code;
}

int recorded_write(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                   const struct recording_terms *terms, struct error *err) {
    struct db *db = resolver->db;
    recorded->time_ns = terms->time_ns;
    recorded_add_unsampled(recorded, terms);
    if (recorded_sum_rows(recorded, resolver, view, err)) return -1;
    look_at_memory(recorded, resolver);
    if (!recorded->process_id && insert_process(recorded, db, terms->run_id, err)) return -1;
    for (int i = 0; i < MEASURE_COUNT; i++) {
        int code = measures[i].is_snapshot ? write_snapshot(recorded, &resolver->writer, i, terms, err)
                                           : write_window(recorded, &resolver->writer, i, terms, err);
        if (code) return -1;
    }
    bool changed =
        !recorded->is_running || !recorded->committed_process_id || fingerprint(recorded) != recorded->written;
    for (int i = 0; i < MEASURE_COUNT; i++) {
        struct counts *counts = &recorded->counts[i];
        if ((changed || counts->has_window) && write_comments(recorded, db, i, err)) return -1;
        if (counts->has_window && windows_fold(&counts->windows, db, &measures[i], &terms->limits, terms->time_ns, err))
            return -1;
    }
    if (recorded->wants_events && recorded_write_events(recorded, resolver, view, terms, err)) return -1;
    if (!changed) return 0;
    return update_process(recorded, db, terms, err);
}

static void take_as_written(struct counts *counts, const struct measure *measure) {
    if (counts->count) memcpy(counts->written, counts->now, counts->count * measure->words * sizeof *counts->now);
    memcpy(counts->written_total, counts->total, sizeof counts->total);
    counts->committed = counts->count;
}

/* A snapshot is no sum: the other run has one, and this one needs its own. */
int recorded_pass(struct recorded *recorded, struct resolver *resolver, struct segment_view *view, int64_t time_ns,
                  struct error *err) {
    if (recorded_sum_rows(recorded, resolver, view, err)) return -1;
    for (int i = 0; i < MEASURE_COUNT; i++) {
        if (!measures[i].is_snapshot) take_as_written(&recorded->counts[i], &measures[i]);
        recorded->counts[i].written_dropped = recorded->counts[i].dropped;
    }
    recorded->committed_time_ns = time_ns;
    recorded->written_truncated = recorded->truncated;
    return 0;
}

void recorded_committed(struct recorded *recorded) {
    for (int i = 0; i < MEASURE_COUNT; i++) {
        struct counts *counts = &recorded->counts[i];
        take_as_written(counts, &measures[i]);
        counts->written_dropped = counts->dropped;
        counts->committed_mappings = counts->mappings;
        windows_copy(&counts->committed_windows, &counts->windows);
    }
    recorded_events_committed(recorded);
    recorded->committed_mapping_count = recorded->space.mapping_count;
    recorded->committed_time_ns = recorded->time_ns;
    recorded->committed_process_id = recorded->process_id;
    recorded->committed_delay_ns = recorded->written_delay_ns;
    recorded->written_truncated = recorded->truncated;
    recorded->written = fingerprint(recorded);
    recorded->is_finished = !recorded->is_running;
}
