#include "schema/window_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/sums.h"
#include "schema/bulk.h"
#include "schema/schema.h"

enum { MAX_COLUMNS = BULK_COLUMNS };

struct window_sums {
    struct sums rows;
    struct map texts; /* of keys: a row has the number of the text */
    int columns;
    bool is_text[MAX_COLUMNS];
    int64_t latest[MAX_COLUMNS]; /* the number of the text in the row before: neighbours are alike */
    bool is_beyond;              /* a sum exceeds 64 bits */
};

static void free_sums(struct window_sums *sums) {
    sums_free(&sums->rows);
    map_free(&sums->texts);
    *sums = (struct window_sums){0};
}

bool window_sums_are_meant(const char *sql) {
    return strstr(sql, "-- Summed in memory") != NULL;
}

static void read_columns(struct window_sums *sums, sqlite3_stmt *row) {
    uint64_t maxima = 0;
    int keys = 0;
    sums->columns = sqlite3_column_count(row);
    if (sums->columns > MAX_COLUMNS) bug("%d columns to sum", sums->columns);
    for (int i = 0; i < sums->columns; i++) {
        const char *name = sqlite3_column_name(row, i);
        bool is_max = strcmp(name, "max") == 0;
        if (is_max) maxima |= (uint64_t)1 << i;
        if (!is_max && strcmp(name, "sum") != 0 && keys++ != i) bug("the key %s stands behind a value", name);
    }
    sums_init(&sums->rows, (size_t)keys, (size_t)(sums->columns - keys), maxima);
}

/* ---- one row ----------------------------------------------------------------------------------------------------- */

static int64_t number_of_text(struct window_sums *sums, sqlite3_value *value, int column) {
    const char *text = (const char *)sqlite3_value_text(value);
    const size_t size = (size_t)sqlite3_value_bytes(value) + 1;
    if (sums->is_text[column]) {
        const struct map_entry *latest = &sums->texts.entries[sums->latest[column]];
        if (latest->size == size && memcmp(latest->key, text, size) == 0) return sums->latest[column];
    }
    bool is_new;
    struct map_entry *entry = map_put(&sums->texts, text, size, &is_new);
    if (is_new) entry->value = (int64_t)sums->texts.count - 1;
    sums->is_text[column] = true;
    return sums->latest[column] = entry->value;
}

/* 5,000,000 rows of locks take 2.6 s of CPU time so, and 3.7 s where each is a step of its own. */
static int add_row(void *context, sqlite3_value **row, struct error *err) {
    struct window_sums *sums = context;
    int64_t cells[MAX_COLUMNS];
    (void)err;
    for (int i = 0; i < sums->columns; i++) {
        if (i < (int)sums->rows.keys && sqlite3_value_type(row[i]) == SQLITE_TEXT) {
            cells[i] = number_of_text(sums, row[i], i);
            continue;
        }
        cells[i] = sqlite3_value_int64(row[i]);
        bool is_extreme = cells[i] == INT64_MAX || cells[i] == INT64_MIN;
        if (is_extreme && sqlite3_value_type(row[i]) == SQLITE_FLOAT)
            sums->is_beyond = true; /* a + b of the row is beyond 64 bits */
    }
    if (sums_add(&sums->rows, cells)) sums->is_beyond = true;
    return 0;
}

/* ---- kept from seal to seal --------------------------------------------------------------------------------------- */

/* What tells that the profiles are still those that were summed: folded windows have other times, and one less. */
struct digest {
    int64_t profiles, ids, times, durations;
};

/* The sums of one statement. */
struct kept {
    char *sql;
    struct window_sums sums;
    int64_t after; /* the greatest id of a profile that was read */
    struct digest digest;
};

struct kept_sums {
    int64_t run_id; /* 0: none are kept */
    struct kept items[4];
    size_t count;
};

static void free_items(struct kept_sums *kept) {
    for (size_t i = 0; i < kept->count; i++) {
        free_sums(&kept->items[i].sums);
        free(kept->items[i].sql);
    }
    *kept = (struct kept_sums){0};
}

static struct kept_sums *kept_sums_of(struct db *db) {
    if (!db->kept_sums) db->kept_sums = xcalloc(1, sizeof *db->kept_sums);
    return db->kept_sums;
}

void window_sums_free(struct db *db) {
    window_sums_forget(db);
    free(db->kept_sums);
    db->kept_sums = NULL;
}

void window_sums_keep(struct db *db, int64_t run_id) {
    free_items(kept_sums_of(db));
    db->kept_sums->run_id = run_id;
}

void window_sums_forget(struct db *db) {
    if (db->kept_sums) free_items(db->kept_sums);
}

/* Where the sums of the statement are kept; NULL: they are not. */
static struct kept *kept_of(struct kept_sums *kept, const char *sql, int64_t run_id) {
    if (kept->run_id != run_id || !strstr(sql, ":after")) return NULL;
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->items[i].sql, sql) == 0) return &kept->items[i];
    if (kept->count == sizeof kept->items / sizeof *kept->items) return NULL;
    kept->items[kept->count] = (struct kept){.sql = xstrdup(sql), .after = INT64_MIN};
    return &kept->items[kept->count++];
}

/* Adds the profiles of the run above `after` and up to `last` to the digest; *last becomes the greatest of them. */
static int add_profiles(struct db *db, int64_t run_id, int64_t after, int64_t *last, struct digest *digest,
                        struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/facts/summed_profiles"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_int(row, ":after", after);
    db_bind_int(row, ":last", *last);
    if (db_step(db, row, err) < 0) return -1;
    *last = sqlite3_column_int64(row, 0);
    digest->profiles += sqlite3_column_int64(row, 1);
    digest->ids += sqlite3_column_int64(row, 2);
    digest->times += sqlite3_column_int64(row, 3);
    digest->durations += sqlite3_column_int64(row, 4);
    sqlite3_reset(row);
    return 0;
}

/* Takes what is kept for the sums of all profiles up to kept->after, or empties it. */
static int check_kept(struct kept *kept, struct db *db, int64_t run_id, struct error *err) {
    struct digest now = {0};
    int64_t last = kept->after;
    if (kept->after != INT64_MIN && add_profiles(db, run_id, INT64_MIN, &last, &now, err)) return -1;
    if (memcmp(&now, &kept->digest, sizeof now) == 0) return 0;
    free_sums(&kept->sums);
    kept->after = INT64_MIN;
    kept->digest = (struct digest){0};
    return 0;
}

/* After all profiles were read. */
static int remember_profiles(struct kept *kept, struct db *db, int64_t run_id, struct error *err) {
    int64_t last = INT64_MAX;
    if (add_profiles(db, run_id, kept->after, &last, &kept->digest, err)) return -1;
    if (last > kept->after) kept->after = last;
    return 0;
}

/* ---- reading the rows --------------------------------------------------------------------------------------------- */

/* The statement in the form that bulk.h takes. */
static sqlite3_stmt *prepare_rows(struct db *db, const char *select, int columns, struct error *err) {
    struct buffer text = {0};
    for (int i = 0; i < columns; i++)
        buffer_printf(&text, "%s c%d", i ? "," : "WITH windows(", i); /* layers-ok: a number of a column */
    buffer_add_text(&text, ") AS (");
    buffer_add_text(&text, select);
    buffer_add_text(&text, ") SELECT take_row(:into");
    for (int i = 0; i < columns; i++)
        buffer_printf(&text, ", c%d", i); /* layers-ok: a number of a column */
    buffer_add_text(&text, ") FROM windows");
    sqlite3_stmt *rows = bulk_prepare(db, buffer_text(&text), err);
    buffer_free(&text);
    return rows;
}

/* The error that sum() has. */
static int fail_as_sum(struct db *db, struct error *err) {
    return db_exec(db, "SELECT abs(-9223372036854775807 - 1)", err) ? -1 : -1;
}

static int read_rows(struct window_sums *sums, struct db *db, const char *select, int64_t run_id, int64_t after,
                     struct error *err) {
    sqlite3_stmt *rows = prepare_rows(db, select, sums->columns, err);
    if (!rows) return -1;
    if (sqlite3_bind_parameter_index(rows, ":run")) db_bind_int(rows, ":run", run_id);
    if (sqlite3_bind_parameter_index(rows, ":after")) db_bind_int(rows, ":after", after);
    if (bulk_read(db, rows, add_row, sums, err)) return -1;
    return sums->is_beyond ? fail_as_sum(db, err) : 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A row, with its first key beside it. */
struct keyed_row {
    int64_t key;
    uint32_t row;
};

struct ordered_sums {
    const struct window_sums *sums;
    struct keyed_row *order;
};

static const int64_t *cells_of(const struct window_sums *sums, size_t row) {
    return sums->rows.cells + row * sums->rows.width;
}

static int compare_keys(const void *left, const void *right, void *context) {
    const struct keyed_row *a = left, *b = right;
    const struct window_sums *sums = context;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    const int64_t *keys = cells_of(sums, a->row), *others = cells_of(sums, b->row);
    for (size_t i = 1; i < sums->rows.keys; i++)
        if (keys[i] != others[i]) return keys[i] < others[i] ? -1 : 1;
    return 0;
}

/* By key, as the table has them. 5,529,259 rows that came by process and are found by stack made SQLite read and write pages of its temporary file
 * over and over, 15 s in the kernel alone. */
static struct keyed_row *order_rows(const struct window_sums *sums) {
    struct keyed_row *order = xcalloc(sums->rows.count + 1, sizeof *order);
    for (size_t i = 0; i < sums->rows.count; i++)
        order[i] = (struct keyed_row){sums->rows.keys ? *cells_of(sums, i) : 0, (uint32_t)i};
    qsort_r(order, sums->rows.count, sizeof *order, compare_keys, (void *)(uintptr_t)sums);
    return order;
}

static void give_cell(sqlite3_context *result, const void *rows, size_t row, int column) {
    const struct ordered_sums *ordered = rows;
    const struct window_sums *sums = ordered->sums;
    int64_t cell = cells_of(sums, ordered->order[row].row)[column];
    if (sums->is_text[column])
        sqlite3_result_text(result, sums->texts.entries[cell].key, -1, SQLITE_STATIC);
    else
        sqlite3_result_int64(result, cell);
}

static int write_rows(const struct window_sums *sums, struct db *db, const char *sql, struct error *err) {
    static const char into[] = "INSERT INTO ";
    const char *table = strstr(sql, into) + strlen(into);
    const struct ordered_sums ordered = {sums, order_rows(sums)};
    const struct bulk bulk = {sums->rows.count, &ordered, give_cell};
    struct buffer text = {0};
    buffer_add_text(&text, "INSERT OR FAIL INTO temp.");
    buffer_add(&text, table, strcspn(table, " \n("));
    for (int i = 0; i < sums->columns; i++)
        buffer_printf(&text, "%s c%d", i ? "," : " SELECT", i); /* layers-ok: a number of a column */
    buffer_add_text(&text, " FROM memory_rows");
    int code = bulk_insert(db, buffer_text(&text), &bulk, err);
    buffer_free(&text);
    free(ordered.order);
    return code;
}

static int fill(struct window_sums *sums, struct db *db, const char *sql, int64_t run_id, int64_t after,
                struct error *err) {
    const char *select = strstr(sql, "SELECT");
    sqlite3_stmt *named = db_prepare(db, select, err);
    if (!named) return -1;
    if (!sums->columns) read_columns(sums, named);
    return read_rows(sums, db, select, run_id, after, err) || write_rows(sums, db, sql, err) ? -1 : 0;
}

int window_sums_fill(struct db *db, const char *sql, int64_t run_id, struct error *err) {
    struct kept *kept = kept_of(kept_sums_of(db), sql, run_id);
    if (!kept) {
        struct window_sums sums = {0};
        int code = fill(&sums, db, sql, run_id, INT64_MIN, err);
        free_sums(&sums);
        return code;
    }
    if (check_kept(kept, db, run_id, err) == 0 && fill(&kept->sums, db, sql, run_id, kept->after, err) == 0 &&
        remember_profiles(kept, db, run_id, err) == 0)
        return 0;
    kept->digest.profiles = -1; /* incomplete: to be emptied */
    return -1;
}
