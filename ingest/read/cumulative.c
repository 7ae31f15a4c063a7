#include "ingest/read/cumulative.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "ingest/read/input.h"
#include "schema/schema.h"

enum { ROW_MAX = 16 }; /* columns of a row of sites or locks */

static int one_int(struct ingest *ingest, sqlite3_stmt *select, int64_t *value, struct error *err) {
    if (!select) return -1;
    int state = db_step(ingest->db, select, err);
    if (state == 1) *value = sqlite3_column_int64(select, 0);
    sqlite3_reset(select);
    return state < 0 ? -1 : 0;
}

/* A statement on the series of the open profile: schema/ingest/series.sql, then the file of that name. */
static sqlite3_stmt *prepare(struct ingest *ingest, bool releases, const char *name, struct error *err) {
    struct buffer sql = {0};
    buffer_add_text(&sql, embedded_text("ingest/cumulative/series"));
    buffer_add_text(&sql, embedded_text(name));
    sqlite3_stmt *statement = db_prepare(ingest->db, sql.data, err);
    buffer_free(&sql);
    if (!statement) return NULL;
    db_bind_int(statement, ":profile", ingest->profile_id);
    db_bind_int(statement, ":releases", releases);
    return statement;
}

static int check_order(struct ingest *ingest, bool releases, struct error *err) {
    int64_t newer = 0;
    sqlite3_stmt *select = prepare(ingest, releases, "ingest/cumulative/series_newer", err);
    if (one_int(ingest, select, &newer, err) != 0) return -1;
    if (!newer) return 0;
    return error_fail(err, "%s: is older than run %" PRId64 " of its series: cumulative snapshots come oldest first",
                      ingest->input->path, newer);
}

/* The total of two columns, which only grows while a process runs. */
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

/* What one kind of rows needs. `earlier` selects keys and then the sums of the series, in the order of the row. */
struct series {
    const char *total, *earlier; /* SQL, by its name in schema/ */
    size_t first, second;        /* columns whose sums `total` gives */
    bool is_exact; /* no row of column `first` gets smaller; heaps are scaled by a mean size, which changes */
};

static const struct series heap = {"ingest/cumulative/series_heap_total", "ingest/cumulative/series_heap", 2, 3, false};
static const struct series lock = {"ingest/cumulative/series_lock_total", "ingest/cumulative/series_lock", 5, 6, true};

static void read_row(sqlite3_stmt *select, size_t width, int64_t row[]) {
    for (size_t i = 0; i < width; i++)
        row[i] = sqlite3_column_int64(select, (int)i);
}

/* Whether any row counts less than the series has already. */
static int has_decreased(struct ingest *ingest, const struct series *series, bool releases, const struct sums *sums,
                         bool *fallen, struct error *err) {
    int64_t row[ROW_MAX];
    *fallen = false;
    sqlite3_stmt *select = prepare(ingest, releases, series->earlier, err);
    if (!select) return -1;
    int state;
    while (!*fallen && (state = db_step(ingest->db, select, err)) == 1) {
        read_row(select, sums->width, row);
        const int64_t *now = sums_find(sums, row);
        *fallen = (now ? now[series->first] : 0) < row[series->first];
    }
    sqlite3_reset(select);
    return state < 0 ? -1 : 0;
}

static int subtract(struct ingest *ingest, const struct series *series, bool releases, struct sums *sums,
                    struct error *err) {
    int64_t row[ROW_MAX];
    sqlite3_stmt *select = prepare(ingest, releases, series->earlier, err);
    if (!select) return -1;
    int state, code = 0;
    while (code == 0 && (state = db_step(ingest->db, select, err)) == 1) {
        read_row(select, sums->width, row);
        for (size_t i = sums->keys; i < sums->width && code == 0; i++)
            code = __builtin_sub_overflow(0, row[i], &row[i]);
        if (code != 0 || sums_add(sums, row) != 0)
            code = error_fail(err, "%s: the difference to its series exceeds 64 bits", ingest->input->path);
    }
    sqlite3_reset(select);
    return code == 0 && state == 0 ? 0 : -1;
}

/* Whether a stack of the profile unlocks a mutex (1 or 0, or -1). Its rows are not written yet. */
static int find_release(struct ingest *ingest, const struct sums *locks, struct error *err) {
    enum { TRACE = 2 };
    for (size_t i = 0; i < locks->count; i++) {
        int64_t releases = 0;
        sqlite3_stmt *select = db_prepare(ingest->db,
                                          "SELECT 1 FROM traces JOIN functions ON functions.id = function_id"
                                          " WHERE traces.id = ?1 AND functions.name GLOB '*[uU]nlock*'",
                                          err);
        if (select) sqlite3_bind_int64(select, 1, locks->cells[i * locks->width + TRACE]);
        if (one_int(ingest, select, &releases, err) != 0) return -1;
        if (releases) return 1;
    }
    return 0;
}

static int has_cumulative_types(struct ingest *ingest, int64_t *has, struct error *err) {
    sqlite3_stmt *select = db_prepare(ingest->db,
                                      "SELECT sample_types NOT LIKE '%inuse_%' OR sample_types LIKE '%alloc_%'"
                                      " FROM profiles WHERE id = :profile",
                                      err);
    if (select) db_bind_int(select, ":profile", ingest->profile_id);
    return one_int(ingest, select, has, err);
}

/* Whether the process was restarted: it counts less than the series has already. */
static int is_restart(struct ingest *ingest, const struct series *series, bool releases, const struct sums *sums,
                      bool *restart, struct error *err) {
    sqlite3_stmt *select = prepare(ingest, releases, series->total, err);
    if (!select) return -1;
    int state = db_step(ingest->db, select, err);
    *restart = state == 1 && total(sums, series->first, series->second) < sqlite3_column_double(select, 0);
    sqlite3_reset(select);
    if (state < 0) return -1;
    return *restart || !series->is_exact ? 0 : has_decreased(ingest, series, releases, sums, restart, err);
}

int cumulative_subtract(struct ingest *ingest, const char *kind, struct sums *sites, struct sums *locks,
                        struct error *err) {
    bool is_heap = strcmp(kind, "heap") == 0 && sites->width, restart;
    bool is_lock = strcmp(kind, "lock") == 0 && locks->width;
    if (!is_heap && !is_lock) return 0;
    const struct series *series = is_heap ? &heap : &lock;
    struct sums *sums = is_heap ? sites : locks;
    int64_t has_types = 0;
    if (has_cumulative_types(ingest, &has_types, err) != 0) return -1;
    if (!has_types) return 0;
    int releases = is_lock ? find_release(ingest, locks, err) : 0;
    if (releases < 0 || check_order(ingest, releases, err) != 0) return -1;
    if (is_restart(ingest, series, releases, sums, &restart, err) != 0) return -1;
    return restart ? mark_restart(ingest, err) : subtract(ingest, series, releases, sums, err);
}
