#include "ingest/record/recorded_fibers.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "schema/schema.h"

static int64_t positive(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* The window that is being written, and what each row counted in it. */
struct fibers {
    const struct counts *counts;
    struct window *window;
    struct db *db;
    struct task_counters *counters; /* by row */
};

/* A row with number 0 is that of the site; one with number n + 1 has the runs of scheduler n. */
static bool is_site(const struct counts *counts, size_t index) {
    return counts->rows[index].place == 0;
}

static int write_totals(const struct fibers *fibers, struct error *err) {
    uint64_t total[MEASURE_WORDS_MAX] = {0};
    recorded_difference(&measures[MEASURE_FIBER], fibers->counts->total, fibers->counts->written_total, total);
    const struct task_counters *counters = (const void *)total;
    sqlite3_stmt *statement = db_prepare(fibers->db, embedded_text("ingest/recorded_fibers/row"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", fibers->window->profile_id);
    db_bind_int(statement, ":fibers", positive(counters->spawns));
    db_bind_int(statement, ":under_1ms", positive(counters->under_1ms));
    db_bind_int(statement, ":under_10us", positive(counters->under_10us));
    db_bind_int(statement, ":lifetime", positive(counters->lifetime_ns));
    db_bind_int(statement, ":lifetime_max", positive(counters->lifetime_max_ns));
    return db_run(fibers->db, statement, err);
}

static int add_scheduler(const struct fibers *fibers, size_t index, struct error *err) {
    sqlite3_stmt *statement = db_prepare(fibers->db, embedded_text("ingest/recorded_fibers/schedulers_row"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", fibers->window->profile_id);
    db_bind_int(statement, ":scheduler", fibers->counts->rows[index].place - 1);
    db_bind_int(statement, ":runs", positive(fibers->counters[index].runs));
    return db_run(fibers->db, statement, err);
}

static int write_site(const struct fibers *fibers, int64_t site, const struct task_counters *counters, uint64_t runs,
                      const char *schedulers, struct error *err) {
    sqlite3_stmt *statement = db_prepare(fibers->db, embedded_text("ingest/recorded_fibers/task_sites_row"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", fibers->window->profile_id);
    db_bind_int(statement, ":site", site);
    db_bind_int(statement, ":spawns", positive(counters->spawns));
    db_bind_int(statement, ":runs", positive(runs));
    db_bind_int(statement, ":exits", positive(counters->exits));
    db_bind_int(statement, ":lifetime", positive(counters->lifetime_ns));
    db_bind_int(statement, ":lifetime_max", positive(counters->lifetime_max_ns));
    db_bind_text(statement, ":schedulers", schedulers);
    return db_run(fibers->db, statement, err);
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

static struct sorted *sort_rows(const struct counts *counts) {
    struct sorted *rows = xcalloc(counts->count, sizeof *rows);
    for (size_t i = 0; i < counts->count; i++)
        rows[i] = (struct sorted){counts->rows[i].thing, counts->rows[i].place, i};
    qsort(rows, counts->count, sizeof *rows, compare);
    return rows;
}

static bool is_zero(const struct task_counters *counters) {
    static const struct task_counters zero;
    return memcmp(counters, &zero, sizeof zero) == 0;
}

/* The rows of one site, from `first` to before `end`. */
static int write_group(const struct fibers *fibers, const struct sorted *rows, size_t first, size_t end,
                       struct error *err) {
    struct task_counters counters = {0};
    struct buffer schedulers = {0};
    uint64_t runs = 0;
    for (size_t i = first; i < end; i++) {
        const struct task_counters *more = &fibers->counters[rows[i].index];
        if (is_site(fibers->counts, rows[i].index)) {
            counters = *more;
        } else if (more->runs) {
            runs += more->runs;
            buffer_printf(&schedulers, "%s\"%lld\":%lld", schedulers.size ? "," : "{", (long long)rows[i].number - 1,
                          (long long)positive(more->runs));
        }
    }
    if (!runs && is_zero(&counters)) return 0;
    buffer_add_text(&schedulers, schedulers.size ? "}" : "{}");
    int code = write_site(fibers, rows[first].site, &counters, runs, schedulers.data, err);
    buffer_free(&schedulers);
    fibers->window->rows++;
    return code;
}

static int write_sites(const struct fibers *fibers, struct error *err) {
    const struct counts *counts = fibers->counts;
    struct sorted *rows = sort_rows(counts);
    int code = 0;
    for (size_t first = 0, end; first < counts->count && code == 0; first = end) {
        for (end = first + 1; end < counts->count && rows[end].site == rows[first].site;)
            end++;
        code = write_group(fibers, rows, first, end, err);
    }
    free(rows);
    return code;
}

static int write_schedulers(const struct fibers *fibers, struct error *err) {
    for (size_t i = 0; i < fibers->counts->count; i++)
        if (!is_site(fibers->counts, i) && fibers->counters[i].runs && add_scheduler(fibers, i, err)) return -1;
    return 0;
}

int recorded_write_fibers(const struct counts *counts, struct window *window, struct db *db, struct error *err) {
    const struct measure *measure = &measures[MEASURE_FIBER];
    struct fibers fibers = {counts, window, db, xcalloc(counts->count + 1, sizeof *fibers.counters)};
    for (size_t i = 0; i < counts->count; i++)
        recorded_difference(measure, counts->now + i * measure->words, counts->written + i * measure->words,
                            (uint64_t *)(void *)&fibers.counters[i]);
    int code = write_totals(&fibers, err);
    if (code == 0) code = write_schedulers(&fibers, err);
    if (code == 0) code = write_sites(&fibers, err);
    free(fibers.counters);
    return code;
}
