#include "ingest/recorded_fibers.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

static int64_t positive(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static const struct task_counters *counters_of(const struct tally *tally, size_t index) {
    return (const void *)(tally->now + index * measures[MEASURE_FIBER].words);
}

/* A row with number 0 is the site itself; one with number n + 1 what scheduler n ran of it. */
static bool is_site(const struct tally *tally, size_t index) {
    return tally->rows[index].place == 0;
}

static int write_totals(const struct tally *tally, struct db *db, struct error *err) {
    const struct task_counters *total = (const void *)tally->total;
    sqlite3_stmt *statement =
        db_prepare(db,
                   "INSERT OR REPLACE INTO fibers(profile_id, total_fibers, short_fibers, very_short_fibers,"
                   " total_lifetime_ns, max_lifetime_ns)"
                   " VALUES (:profile, :fibers, :under_1ms, :under_10us, :lifetime, :lifetime_max)",
                   err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", tally->profile_id);
    db_bind_int(statement, ":fibers", positive(total->spawns));
    db_bind_int(statement, ":under_1ms", positive(total->under_1ms));
    db_bind_int(statement, ":under_10us", positive(total->under_10us));
    db_bind_int(statement, ":lifetime", positive(total->lifetime_ns));
    db_bind_int(statement, ":lifetime_max", positive(total->lifetime_max_ns));
    return db_run(db, statement, err);
}

static int empty_schedulers(const struct tally *tally, struct db *db, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, "UPDATE schedulers SET fibers = 0 WHERE profile_id = :profile", err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", tally->profile_id);
    return db_run(db, statement, err);
}

static int add_scheduler(const struct tally *tally, size_t index, struct db *db, struct error *err) {
    sqlite3_stmt *statement =
        db_prepare(db,
                   "INSERT INTO schedulers(profile_id, scheduler, fibers) VALUES (:profile, :scheduler, :runs)"
                   " ON CONFLICT (profile_id, scheduler) DO UPDATE SET fibers = fibers + excluded.fibers",
                   err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", tally->profile_id);
    db_bind_int(statement, ":scheduler", tally->rows[index].place - 1);
    db_bind_int(statement, ":runs", positive(counters_of(tally, index)->runs));
    return db_run(db, statement, err);
}

static int write_site(const struct tally *tally, int64_t site, const struct task_counters *counters, uint64_t runs,
                      const char *schedulers, struct db *db, struct error *err) {
    sqlite3_stmt *statement = db_prepare(
        db,
        "INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns,"
        " schedulers) VALUES (:profile, :site, :spawns, :runs, :exits, :lifetime, :lifetime_max, :schedulers)"
        " ON CONFLICT (profile_id, site) DO UPDATE SET spawns = excluded.spawns, runs = excluded.runs,"
        " exits = excluded.exits, total_lifetime_ns = excluded.total_lifetime_ns,"
        " max_lifetime_ns = excluded.max_lifetime_ns, schedulers = excluded.schedulers",
        err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", tally->profile_id);
    db_bind_int(statement, ":site", site);
    db_bind_int(statement, ":spawns", positive(counters->spawns));
    db_bind_int(statement, ":runs", positive(runs));
    db_bind_int(statement, ":exits", positive(counters->exits));
    db_bind_int(statement, ":lifetime", positive(counters->lifetime_ns));
    db_bind_int(statement, ":lifetime_max", positive(counters->lifetime_max_ns));
    db_bind_text(statement, ":schedulers", schedulers);
    return db_run(db, statement, err);
}

/* Rows by site, the site's own first, then its schedulers in order. */
struct sorted {
    int64_t site, number;
    size_t index;
};

static int compare(const void *a, const void *b) {
    const struct sorted *one = a, *other = b;
    if (one->site != other->site) return one->site < other->site ? -1 : 1;
    return (one->number > other->number) - (one->number < other->number);
}

static struct sorted *sort_rows(const struct tally *tally) {
    struct sorted *rows = xcalloc(tally->count, sizeof *rows);
    for (size_t i = 0; i < tally->count; i++)
        rows[i] = (struct sorted){tally->rows[i].thing, tally->rows[i].place, i};
    qsort(rows, tally->count, sizeof *rows, compare);
    return rows;
}

/* The rows of one site, from `first` to before `end`. */
static int write_group(const struct tally *tally, const struct sorted *rows, size_t first, size_t end, struct db *db,
                       struct error *err) {
    struct task_counters counters = {0};
    struct buffer schedulers = {0};
    uint64_t runs = 0;
    for (size_t i = first; i < end; i++) {
        const struct task_counters *more = counters_of(tally, rows[i].index);
        if (is_site(tally, rows[i].index)) {
            counters = *more;
            continue;
        }
        runs += more->runs;
        buffer_printf(&schedulers, "%s\"%lld\":%lld", schedulers.size ? "," : "{", (long long)rows[i].number - 1,
                      (long long)positive(more->runs));
    }
    buffer_add_text(&schedulers, schedulers.size ? "}" : "{}");
    int code = write_site(tally, rows[first].site, &counters, runs, schedulers.data, db, err);
    buffer_free(&schedulers);
    return code;
}

static int write_sites(const struct tally *tally, struct db *db, struct error *err) {
    struct sorted *rows = sort_rows(tally);
    int code = 0;
    for (size_t first = 0, end; first < tally->count && code == 0; first = end) {
        for (end = first + 1; end < tally->count && rows[end].site == rows[first].site;)
            end++;
        code = write_group(tally, rows, first, end, db, err);
    }
    free(rows);
    return code;
}

int recorded_write_fibers(const struct tally *tally, struct db *db, struct error *err) {
    size_t size = tally->count * measures[MEASURE_FIBER].words * sizeof *tally->now;
    if (!tally->profile_id || !tally->count || memcmp(tally->now, tally->written, size) == 0) return 0;
    if (write_totals(tally, db, err) || empty_schedulers(tally, db, err)) return -1;
    for (size_t i = 0; i < tally->count; i++)
        if (!is_site(tally, i) && add_scheduler(tally, i, db, err)) return -1;
    return write_sites(tally, db, err);
}
