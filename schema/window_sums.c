#include "schema/window_sums.h"

#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/sums.h"

enum { MAX_COLUMNS = 64 };

struct window_sums {
    struct sums rows;
    struct map texts; /* of keys: a row has the number of the text */
    int columns;
    bool is_text[MAX_COLUMNS];
};

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

static int64_t number_of_text(struct window_sums *sums, sqlite3_stmt *row, int column) {
    bool is_new;
    const char *text = db_text(row, column);
    struct map_entry *entry = map_put(&sums->texts, text, strlen(text) + 1, &is_new);
    if (is_new) entry->value = (int64_t)sums->texts.count - 1;
    sums->is_text[column] = true;
    return entry->value;
}

static int add_row(struct window_sums *sums, sqlite3_stmt *row) {
    int64_t cells[MAX_COLUMNS];
    for (int i = 0; i < (int)sums->rows.keys; i++)
        cells[i] =
            sqlite3_column_type(row, i) == SQLITE_TEXT ? number_of_text(sums, row, i) : sqlite3_column_int64(row, i);
    for (int i = (int)sums->rows.keys; i < sums->columns; i++) {
        cells[i] = sqlite3_column_int64(row, i);
        bool is_extreme = cells[i] == INT64_MAX || cells[i] == INT64_MIN;
        if (is_extreme && sqlite3_column_type(row, i) == SQLITE_FLOAT)
            return -1; /* a + b of the row is beyond 64 bits */
    }
    return sums_add(&sums->rows, cells);
}

/* The error that sum() has. */
static int fail_as_sum(struct db *db, struct error *err) {
    return db_exec(db, "SELECT abs(-9223372036854775807 - 1)", err) ? -1 : -1;
}

static int read_rows(struct window_sums *sums, struct db *db, sqlite3_stmt *row, struct error *err) {
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        if (add_row(sums, row) == 0) continue;
        sqlite3_reset(row);
        return fail_as_sum(db, err);
    }
    return code;
}

static int write_row(const struct window_sums *sums, const int64_t *cells, struct db *db, sqlite3_stmt *insert,
                     struct error *err) {
    for (int i = 0; i < sums->columns; i++) {
        if (sums->is_text[i])
            sqlite3_bind_text(insert, i + 1, sums->texts.entries[cells[i]].key, -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(insert, i + 1, cells[i]);
    }
    return db_run(db, insert, err);
}

static sqlite3_stmt *prepare_insert(struct db *db, const char *sql, int columns, struct error *err) {
    static const char into[] = "INSERT INTO ";
    const char *table = strstr(sql, into) + strlen(into);
    struct buffer text = {0};
    buffer_add_text(&text, "INSERT INTO temp.");
    buffer_add(&text, table, strcspn(table, " \n("));
    for (int i = 0; i < columns; i++)
        buffer_add_text(&text, i ? ", ?" : " VALUES (?");
    buffer_add_text(&text, ")");
    sqlite3_stmt *insert = db_prepare(db, buffer_text(&text), err);
    buffer_free(&text);
    return insert;
}

static int write_rows(const struct window_sums *sums, struct db *db, const char *sql, struct error *err) {
    sqlite3_stmt *insert = prepare_insert(db, sql, sums->columns, err);
    int code = insert ? 0 : -1;
    for (size_t i = 0; code == 0 && i < sums->rows.count; i++)
        code = write_row(sums, sums->rows.cells + i * sums->rows.width, db, insert, err);
    return code;
}

int window_sums_fill(struct db *db, const char *sql, int64_t run_id, struct error *err) {
    struct window_sums sums = {0};
    sqlite3_stmt *row = db_prepare(db, strstr(sql, "SELECT"), err);
    if (!row) return -1;
    if (sqlite3_bind_parameter_index(row, ":run")) db_bind_int(row, ":run", run_id);
    read_columns(&sums, row);
    int code = read_rows(&sums, db, row, err) || write_rows(&sums, db, sql, err) ? -1 : 0;
    sums_free(&sums.rows);
    map_free(&sums.texts);
    return code;
}
