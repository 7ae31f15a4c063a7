/* recorded_rows.c: what a recorded process is in the warehouse: its row, its profiles, and the rows of those. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "ingest/recorded.h"
#include "ingest/recorded_fibers.h"
#include "ingest/site_rows.h"

/* What a broken segment holds may be any 64 bits; the columns are signed. */
static int64_t positive(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
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
    struct period period = {measures[id].period_type, measures[id].period_unit, 1};
    if (id == MEASURE_CPU) {
        period.length = terms->cpu_hz ? 1000000000 / terms->cpu_hz : 0;
    } else if (id == MEASURE_HEAP && terms->sample_bytes > 1) {
        period.length = positive(terms->sample_bytes);
    } else if (measures[id].is_sampled && terms->sample_n > 1) {
        period.length = terms->sample_n;
        /* Allocations are skipped by number then, not by size. */
        if (id == MEASURE_HEAP) period = (struct period){"alloc_objects", "count", terms->sample_n};
    }
    return period;
}

static int insert_profile(struct recorded *recorded, struct db *db, enum measure_id id,
                          const struct recording_terms *terms, struct error *err) {
    const struct measure *measure = &measures[id];
    struct period period = period_of(id, terms);
    sqlite3_stmt *statement =
        db_prepare(db,
                   "INSERT INTO profiles(run_id, process_id, kind, period, period_type, period_unit, sample_types,"
                   " default_type, sample_n)"
                   " VALUES (:run, :process, :kind, :period, :type, :unit, :samples, :default, :sample_n)",
                   err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", terms->run_id);
    db_bind_int(statement, ":process", recorded->process_id);
    db_bind_text(statement, ":kind", measure->kind);
    db_bind_int(statement, ":period", period.length);
    db_bind_text(statement, ":type", period.type);
    db_bind_text(statement, ":unit", period.unit);
    db_bind_text(statement, ":samples", measure->sample_types);
    db_bind_text(statement, ":default", measure->default_type);
    db_bind_int(statement, ":sample_n", measure->is_sampled && terms->sample_n > 1 ? terms->sample_n : 1);
    if (db_run(db, statement, err)) return -1;
    recorded->tallies[id].profile_id = sqlite3_last_insert_rowid(db->handle);
    return 0;
}

/* A kind that is recorded has a profile even without a row (nothing happened, and that is known), but not one that hardly
 * any program knows. */
static int insert_rows(struct recorded *recorded, struct db *db, const struct recording_terms *terms,
                       struct error *err) {
    if (!recorded->process_id && insert_process(recorded, db, terms->run_id, err)) return -1;
    for (int i = 0; i < MEASURE_COUNT; i++) {
        const struct tally *tally = &recorded->tallies[i];
        if (tally->profile_id || !(recorded->head.features & measures[i].feature)) continue;
        if (measures[i].is_rare && !tally->count && !tally->dropped) continue;
        if (insert_profile(recorded, db, i, terms, err)) return -1;
    }
    return 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int64_t to_ns(uint64_t ticks, struct tick_rate rate) {
    unsigned __int128 ns = (unsigned __int128)ticks * rate.ns / (rate.ticks ? rate.ticks : 1);
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static const char *lock_kind_name(uint32_t kind) {
    switch (kind) {
    case OBJECT_MUTEX: return "mutex";
    case OBJECT_RWLOCK: return "rwlock";
    case OBJECT_SPIN: return "spin";
    case OBJECT_LOCK: return "own";
    default: return "";
    }
}

static void bind_key(sqlite3_stmt *statement, enum measure_id id, const struct row *row) {
    if (id != MEASURE_CHANNEL) db_bind_int(statement, ":trace", row->trace);
    if (!measures[id].is_by_stack) db_bind_int(statement, ":object", row->thing);
    if (id == MEASURE_LOCK || id == MEASURE_CELL) db_bind_int(statement, ":address", row->place);
    if (id == MEASURE_LOCK) db_bind_text(statement, ":kind", lock_kind_name(row->kind));
    if (id != MEASURE_CHANNEL) return;
    db_bind_int(statement, ":channel", row->place);
    db_bind_int(statement, ":capacity", positive(row->capacity));
}

static int write_row(const struct tally *tally, enum measure_id id, size_t index, struct db *db, struct tick_rate rate,
                     struct error *err) {
    const struct measure *measure = &measures[id];
    const uint64_t *now = tally->now + index * measure->words;
    sqlite3_stmt *statement = db_prepare(db, measure->sql, err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", tally->profile_id);
    bind_key(statement, id, &tally->rows[index]);
    for (size_t word = 0; word < measure->words; word++) {
        if (!measure->parameters[word]) continue;
        bool is_ticks = measure->ticks & 1u << word;
        db_bind_int(statement, measure->parameters[word], is_ticks ? to_ns(now[word], rate) : positive(now[word]));
    }
    return db_run(db, statement, err);
}

static int write_rows(const struct recorded *recorded, enum measure_id id, struct db *db, struct tick_rate rate,
                      struct error *err) {
    const struct tally *tally = &recorded->tallies[id];
    size_t words = measures[id].words;
    if (!(recorded->head.features & FEATURE_TSC)) rate = (struct tick_rate){1, 1};
    for (size_t i = 0; i < tally->count && tally->profile_id; i++) {
        if (memcmp(tally->now + i * words, tally->written + i * words, words * sizeof *tally->now) == 0) continue;
        if (write_row(tally, id, i, db, rate, err)) return -1;
    }
    return 0;
}

/* Those that changed; site_rows has its own SQL. */
static int write_sites(const struct tally *tally, struct store *store, struct error *err) {
    const struct heap_counters *now = (const struct heap_counters *)tally->now;
    const struct heap_counters *written = (const struct heap_counters *)tally->written;
    struct site_row *rows = xmalloc(tally->count * sizeof *rows + 1);
    size_t count = 0;
    for (size_t i = 0; i < tally->count && tally->profile_id; i++) {
        if (memcmp(&now[i], &written[i], sizeof *now) == 0) continue;
        rows[count++] = (struct site_row){.trace_id = tally->rows[i].trace,
                                          .alloc_count = positive(now[i].alloc_count),
                                          .alloc_bytes = positive(now[i].alloc_bytes),
                                          .free_count = positive(now[i].free_count),
                                          .free_bytes = positive(now[i].free_bytes)};
    }
    int code = site_rows_put(store, tally->profile_id, rows, count, err);
    free(rows);
    return code;
}

static int write_kind(const struct recorded *recorded, enum measure_id id, struct store *store, struct tick_rate rate,
                      struct error *err) {
    switch (id) {
    case MEASURE_HEAP: return write_sites(&recorded->tallies[id], store, err);
    case MEASURE_FIBER: return recorded_write_fibers(&recorded->tallies[id], store->db, err);
    default: return write_rows(recorded, id, store->db, rate, err);
    }
}

static int write_all_rows(const struct recorded *recorded, struct store *store, struct tick_rate rate,
                          struct error *err) {
    for (int i = 0; i < MEASURE_COUNT; i++) {
        int code = write_kind(recorded, i, store, rate, err);
        if (code) return -1;
    }
    return 0;
}

/* ---- what a profile says of itself ------------------------------------------------------------------------------- */

static void add_warning(struct buffer *json, const char *text) {
    if (json->size > 1) buffer_add_char(json, ',');
    buffer_add_json_string(json, text, strlen(text));
}

/* What viewers print above the figures: losses that no column holds. JSON; the caller frees the buffer. */
static void describe_losses(const struct recorded *recorded, enum measure_id id, struct buffer *json) {
    char text[160];
    uint64_t healed = atomic_load_explicit(&recorded->head.healed_frees, memory_order_relaxed);
    buffer_add_char(json, '[');
    if (recorded->is_corrupt) {
        snprintf(text, sizeof text,
                 "# WARNING: the segment of process %d is damaged; what could be read of it is shown",
                 recorded->head.pid);
        add_warning(json, text);
    }
    if (id == MEASURE_HEAP && healed) {
        snprintf(
            text, sizeof text,
            "# WARNING: %llu frees were not seen; their blocks count as freed where the address was handed out again",
            (unsigned long long)healed);
        add_warning(json, text);
    }
    if (id == MEASURE_LOCK && recorded->threads.hold_lost) {
        snprintf(text, sizeof text, "# WARNING: %llu holds were not timed: too many locks held at once",
                 (unsigned long long)recorded->threads.hold_lost);
        add_warning(json, text);
    }
    if (id == MEASURE_CPU && !recorded->head.cpu_hz) {
        snprintf(text, sizeof text, "# WARNING: process %d could get no CPU timers; its CPU time is not sampled",
                 recorded->head.pid);
        add_warning(json, text);
    }
    buffer_add_char(json, ']');
}

/* The segment counts cut stacks of all kinds together; they stand with the profile that takes most of them. */
static enum measure_id measure_of_truncated(const struct recorded *recorded) {
    static const enum measure_id order[] = {MEASURE_HEAP, MEASURE_CPU, MEASURE_LOCK, MEASURE_CELL};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (recorded->tallies[order[i]].profile_id) return order[i];
    return MEASURE_COUNT;
}

static int update_profile(const struct recorded *recorded, struct db *db, enum measure_id id, int64_t time_ns,
                          struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(db,
                   "UPDATE profiles SET time_ns = :time, duration_ns = :duration, comments = :comments,"
                   " mappings = (SELECT json_group_array(value) FROM (SELECT met.value FROM json_each(:mappings) AS met"
                   " LEFT JOIN mappings AS known ON known.id = met.value"
                   " ORDER BY known.filename IS :executable DESC, met.key)), dropped = :dropped, truncated = "
                   ":truncated WHERE id = :profile",
                   err);
    if (!statement) return -1;
    struct buffer mappings = {0}, comments = {0};
    for (size_t i = 0; i < recorded->space.mapping_count; i++)
        buffer_printf(&mappings, "%s%lld", i ? "," : "[", (long long)recorded->space.mapping_ids[i]);
    buffer_add_text(&mappings, mappings.size ? "]" : "[]");
    describe_losses(recorded, id, &comments);
    int64_t duration = time_ns - positive(recorded->head.start_realtime_ns);
    db_bind_int(statement, ":profile", recorded->tallies[id].profile_id);
    db_bind_int(statement, ":time", time_ns);
    db_bind_int(statement, ":duration", duration > 0 ? duration : 0);
    db_bind_text(statement, ":comments", comments.data);
    db_bind_text(statement, ":mappings", mappings.data);
    db_bind_text(statement, ":executable", recorded->head.executable); /* the main binary comes first */
    db_bind_int(statement, ":dropped", positive(recorded->tallies[id].dropped));
    db_bind_int(statement, ":truncated", measure_of_truncated(recorded) == id ? positive(recorded->truncated) : 0);
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

/* ---- a flush ----------------------------------------------------------------------------------------------------- */

static uint64_t fingerprint(const struct recorded *recorded) {
    uint64_t words[MEASURE_COUNT * 2 + 3], used = 0;
    for (int i = 0; i < MEASURE_COUNT; i++) {
        words[used++] = recorded_events(recorded, i);
        words[used++] = recorded->tallies[i].dropped;
    }
    words[used++] = recorded->truncated;
    words[used++] = recorded->threads.hold_lost;
    words[used++] = recorded->is_corrupt;
    return hash_bytes(words, sizeof words);
}

int recorded_write(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                   const struct recording_terms *terms, struct error *err) {
    struct db *db = resolver->db;
    if (recorded_sum_rows(recorded, resolver, view, err) || insert_rows(recorded, db, terms, err) ||
        write_all_rows(recorded, &resolver->store, terms->rate, err))
        return -1;
    if (recorded->is_running && recorded->committed_process_id && fingerprint(recorded) == recorded->written) return 0;
    int64_t time_ns = now_ns();
    for (int i = 0; i < MEASURE_COUNT; i++)
        if (recorded->tallies[i].profile_id && update_profile(recorded, db, i, time_ns, err)) return -1;
    return update_process(recorded, db, time_ns, err);
}

void recorded_committed(struct recorded *recorded) {
    for (int i = 0; i < MEASURE_COUNT; i++) {
        struct tally *tally = &recorded->tallies[i];
        if (tally->count) memcpy(tally->written, tally->now, tally->count * measures[i].words * sizeof *tally->now);
        tally->committed_profile_id = tally->profile_id;
    }
    recorded->committed_process_id = recorded->process_id;
    recorded->written = fingerprint(recorded);
    recorded->is_finished = !recorded->is_running;
}
