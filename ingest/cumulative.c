#include "ingest/cumulative.h"

#include <inttypes.h>
#include <string.h>

#include "ingest/input.h"

/* The profiles of the series before run :run, newest restart and later: of the same kind, label and main binary. */
#define SERIES                                                                                                         \
    "WITH this AS (SELECT runs.id, runs.label, profiles.kind, json_extract(profiles.mappings, '$[0]') AS main"         \
    " FROM runs JOIN profiles ON profiles.run_id = runs.id WHERE profiles.id = :profile),"                             \
    " kin AS (SELECT runs.id AS run_id, runs.flags, runs.started_ns, profiles.id AS profile_id"                        \
    " FROM this JOIN runs ON runs.id < this.id AND runs.label IS this.label AND instr(runs.flags, 'cumulative')"       \
    " JOIN profiles ON profiles.run_id = runs.id AND profiles.kind = this.kind"                                        \
    " AND json_extract(profiles.mappings, '$[0]') IS this.main),"                                                      \
    " series AS (SELECT * FROM kin WHERE run_id >="                                                                    \
    " coalesce((SELECT max(run_id) FROM kin WHERE instr(flags, 'restart')), 0)) "

static sqlite3_stmt *prepare(struct ingest *ingest, const char *sql, struct error *err) {
    sqlite3_stmt *statement = db_prepare(ingest->db, sql, err);
    if (statement) db_bind_int(statement, ":profile", ingest->profile_id);
    return statement;
}

static int one_int(struct ingest *ingest, const char *sql, int64_t *value, struct error *err) {
    sqlite3_stmt *select = prepare(ingest, sql, err);
    if (!select) return -1;
    int state = db_step(ingest->db, select, err);
    if (state == 1) *value = sqlite3_column_int64(select, 0);
    sqlite3_reset(select);
    return state < 0 ? -1 : 0;
}

static int check_order(struct ingest *ingest, struct error *err) {
    int64_t newer = 0;
    if (one_int(ingest,
                SERIES "SELECT kin.run_id FROM kin WHERE started_ns > (SELECT started_ns FROM runs WHERE id ="
                       " (SELECT run_id FROM profiles WHERE id = :profile)) LIMIT 1",
                &newer, err) != 0)
        return -1;
    if (!newer) return 0;
    return error_fail(err, "%s: is older than run %" PRId64 " of its series: cumulative snapshots come oldest first",
                      ingest->input->path, newer);
}

/* What a process has counted since its start, as one number that can only grow. */
static double total(const struct sums *sums, size_t first, size_t second) {
    double sum = 0;
    for (size_t i = 0; i < sums->count; i++)
        sum += (double)sums->cells[i * sums->width + first] + (double)sums->cells[i * sums->width + second];
    return sum;
}

static int mark_restart(struct ingest *ingest, struct error *err) {
    sqlite3_stmt *update = db_prepare(
        ingest->db, "UPDATE runs SET flags = flags || ' restart' WHERE id = :run AND NOT instr(flags, 'restart')", err);
    if (!update) return -1;
    db_bind_int(update, ":run", ingest->run_id);
    return db_run(ingest->db, update, err);
}

/* What one kind of rows needs. `subtract` selects keys and then what to add, negative, in the order of the row. */
struct series {
    const char *total, *subtract;
    size_t first, second; /* columns whose sums `total` gives */
};

static const struct series heap = {
    SERIES "SELECT total(alloc_count) + total(alloc_bytes) FROM series JOIN sites USING (profile_id)",
    SERIES "SELECT trace_id, label_set_id, -sum(alloc_count), -sum(alloc_bytes), -sum(alloc_count), -sum(alloc_bytes)"
           " FROM series JOIN sites USING (profile_id) GROUP BY 1, 2",
    2, 3};
static const struct series lock = {
    SERIES "SELECT total(contended) + total(wait_ns) FROM series JOIN locks USING (profile_id)",
    SERIES "SELECT object_id, address, trace_id, 0, -sum(acquires), -sum(contended), -sum(wait_ns), 0, -sum(hold_ns),"
           " 0, -sum(read_acquires), -sum(read_contended), -sum(read_wait_ns), 0"
           " FROM series JOIN locks USING (profile_id) GROUP BY 1, 2, 3",
    5, 6};

static int subtract(struct ingest *ingest, const struct series *series, struct sums *sums, struct error *err) {
    sqlite3_stmt *select = prepare(ingest, series->subtract, err);
    if (!select) return -1;
    int state, code = 0;
    int64_t row[16];
    while (code == 0 && (state = db_step(ingest->db, select, err)) == 1) {
        for (size_t i = 0; i < sums->width; i++)
            row[i] = sqlite3_column_int64(select, (int)i);
        if (sums_add(sums, row) != 0)
            code = error_fail(err, "%s: the difference to its series is beyond 64 bits", ingest->input->path);
    }
    sqlite3_reset(select);
    return code == 0 && state == 0 ? 0 : -1;
}

static int has_cumulative_types(struct ingest *ingest, int64_t *has, struct error *err) {
    return one_int(ingest,
                   "SELECT sample_types NOT LIKE '%inuse_%' OR sample_types LIKE '%alloc_%' FROM profiles"
                   " WHERE id = :profile",
                   has, err);
}

int cumulative_subtract(struct ingest *ingest, const char *kind, struct sums *sites, struct sums *locks,
                        struct error *err) {
    bool is_heap = strcmp(kind, "heap") == 0 && sites->width;
    bool is_lock = strcmp(kind, "lock") == 0 && locks->width;
    if (!is_heap && !is_lock) return 0;
    const struct series *series = is_heap ? &heap : &lock;
    struct sums *sums = is_heap ? sites : locks;
    int64_t has_types = 0;
    double before = 0;
    if (has_cumulative_types(ingest, &has_types, err) != 0) return -1;
    if (!has_types) return 0;
    if (check_order(ingest, err) != 0) return -1;
    sqlite3_stmt *select = prepare(ingest, series->total, err);
    if (!select) return -1;
    int state = db_step(ingest->db, select, err);
    if (state == 1) before = sqlite3_column_double(select, 0);
    sqlite3_reset(select);
    if (state < 0) return -1;
    if (total(sums, series->first, series->second) < before) return mark_restart(ingest, err);
    return subtract(ingest, series, sums, err);
}
