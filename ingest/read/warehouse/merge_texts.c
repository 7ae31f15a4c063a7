#include "ingest/read/warehouse/merge_texts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "ingest/upkeep/edit_runs.h"
#include "schema/queries.h"
#include "schema/schema.h"

static void tell(struct merge *merge, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void tell(struct merge *merge, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (merge->tell) merge->tell(text);
}

/* ---- runs that are here too -------------------------------------------------------------------------------------- */

/* 1: *text is the value of the only row, free() it; 0: there is none; -1. */
static int read_text(struct db *db, sqlite3_stmt *row, char **text, struct error *err) {
    if (!row) return -1;
    int code = db_step(db, row, err);
    if (code == 1) *text = xstrdup(db_text(row, 0));
    sqlite3_reset(row);
    return code;
}

static int add_tag(struct merge *merge, int64_t here, const char *key, const char *value, struct error *err) {
    sqlite3_stmt *row = db_prepare(merge->db, "SELECT value FROM main.tags WHERE run_id = :run AND key = :key", err);
    char *known = NULL;
    if (!row) return -1;
    db_bind_int(row, ":run", here);
    db_bind_text(row, ":key", key);
    int code = read_text(merge->db, row, &known, err);
    if (code == 0) code = run_set_tag(merge->db, here, key, value, err);
    if (code == 1 && strcmp(known, value) != 0)
        tell(merge, "run %" PRId64 " keeps its tag %.100s=%.100s, which is %.100s there", here, key, known, value);
    free(known);
    return code < 0 ? -1 : 0;
}

static int add_tags(struct merge *merge, struct db *source, int64_t there, int64_t here, struct error *err) {
    sqlite3_stmt *row = db_prepare(source, "SELECT key, value FROM main.tags WHERE run_id = :run", err);
    int code = -1;
    if (row) db_bind_int(row, ":run", there);
    while (row && (code = db_step(source, row, err)) == 1)
        if (add_tag(merge, here, db_text(row, 0), db_text(row, 1), err)) {
            sqlite3_reset(row);
            return -1;
        }
    return code;
}

static int label_of(struct db *db, int64_t run_id, char **label, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT coalesce(label, '') FROM main.runs WHERE id = :run", err);
    *label = NULL;
    if (row) db_bind_int(row, ":run", run_id);
    return read_text(db, row, label, err) == 1 ? 0 : -1;
}

static int add_label(struct merge *merge, struct db *source, int64_t there, int64_t here, struct error *err) {
    char *known, *other = NULL;
    int code = label_of(merge->db, here, &known, err) || label_of(source, there, &other, err) ? -1 : 0;
    if (code == 0 && *other && !*known) code = run_set_label(merge->db, here, other, err);
    if (code == 0 && *other && *known && strcmp(known, other) != 0)
        tell(merge, "run %" PRId64 " keeps its label %.100s, which is %.100s there", here, known, other);
    free(known);
    free(other);
    return code;
}

static int add_pin(struct merge *merge, struct db *source, int64_t there, int64_t here, struct error *err) {
    sqlite3_stmt *row = db_prepare(source, "SELECT why, pinned_ns FROM main.pins WHERE run_id = :run", err);
    sqlite3_stmt *insert = db_prepare(merge->db, embedded_text("merge/merge_texts/put_missing_pin"), err);
    if (!row || !insert) return -1;
    db_bind_int(row, ":run", there);
    int code = db_step(source, row, err);
    if (code == 1) {
        db_bind_int(insert, ":run", here);
        db_bind_text(insert, ":why", db_text(row, 0));
        db_bind_int(insert, ":pinned", sqlite3_column_int64(row, 1));
        code = db_run(merge->db, insert, err);
    }
    sqlite3_reset(row);
    return code;
}

int merge_known_run(struct merge *merge, struct db *source, int64_t there, int64_t here, struct error *err) {
    return add_tags(merge, source, there, here, err) || add_label(merge, source, there, here, err) ||
                   add_pin(merge, source, there, here, err)
               ? -1
               : 0;
}

/* ---- saved queries ----------------------------------------------------------------------------------------------- */

static sqlite3_stmt *bind_query(struct db *db, const char *file, sqlite3_stmt *row, struct error *err) {
    static const char *const names[] = {":name", ":description", ":params", ":sql", ":export"};
    sqlite3_stmt *statement = db_prepare(db, embedded_text(file), err);
    for (int i = 0; statement && i < (int)(sizeof names / sizeof *names); i++)
        db_bind_text(statement, names[i], db_text(row, i));
    return statement;
}

static int add_query(struct merge *merge, sqlite3_stmt *row, struct merge_result *result, struct error *err) {
    const char *name = db_text(row, 0);
    if (queries_is_own(name)) return 0;
    if (!queries_is_name(name)) {
        tell(merge, "a saved query is left out, because its name is none: %.100s", name);
        return 0;
    }
    sqlite3_stmt *insert = bind_query(merge->db, "merge/merge_texts/put_query", row, err);
    if (!insert || db_run(merge->db, insert, err)) return -1;
    result->queries += sqlite3_changes(merge->db->handle);
    if (sqlite3_changes(merge->db->handle)) return 0;
    sqlite3_stmt *same = bind_query(merge->db, "merge/merge_texts/same_query", row, err);
    if (!same || db_step(merge->db, same, err) < 0) return -1;
    if (!sqlite3_column_int(same, 0)) tell(merge, "the saved query @%s differs there: it stays as it is here", name);
    sqlite3_reset(same);
    return 0;
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

static bool is_own_view(const char *name) {
    return schema_view_text(name) || strcmp(name, "doctor") == 0 || strcmp(name, "sites") == 0;
}

/* 1: something has that name here, and *is_same says whether it is this view; 0: nothing has. */
static int find_view(struct db *db, const char *name, const char *text, bool *is_same, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT sql FROM main.sqlite_schema WHERE name = :name COLLATE NOCASE", err);
    if (!row) return -1;
    db_bind_text(row, ":name", name);
    int code = db_step(db, row, err);
    *is_same = code == 1 && strcmp(db_text(row, 0), text) == 0;
    sqlite3_reset(row);
    return code;
}

/* In a transaction of its own, so that a text which makes something else leaves no trace. */
static int try_view(struct merge *merge, const char *name, const char *text, bool *is_made, struct error *err) {
    struct error wrong = {0};
    *is_made = false;
    if (db_begin(merge->db, err)) return -1;
    if (db_create_view(merge->db, text, &wrong) == 0 && find_view(merge->db, name, text, is_made, &wrong) < 0)
        *is_made = false;
    if (*is_made) return db_commit(merge->db, err);
    db_rollback(merge->db);
    tell(merge, "the view %.100s is left out: %.200s", name,
         wrong.status == ERROR_NONE ? "its text is not that of this view" : wrong.message);
    return 0;
}

static int add_view(struct merge *merge, sqlite3_stmt *row, struct merge_result *result, struct error *err) {
    const char *name = db_text(row, 0), *text = db_text(row, 1);
    bool is_same;
    if (is_own_view(name)) return 0;
    int code = find_view(merge->db, name, text, &is_same, err);
    if (code < 0) return -1;
    if (code == 1 && !is_same) tell(merge, "the view %.100s differs there: it stays as it is here", name);
    if (code == 1) return 0;
    bool is_made;
    if (try_view(merge, name, text, &is_made, err)) return -1;
    result->views += is_made;
    return 0;
}

/* ---- accepted changes -------------------------------------------------------------------------------------------- */

static int add_accepted(struct merge *merge, sqlite3_stmt *row, struct merge_result *result, struct error *err) {
    sqlite3_stmt *insert = db_prepare(merge->db, embedded_text("merge/merge_texts/put_accepted"), err);
    if (!insert) return -1;
    db_bind_text(insert, ":uuid", db_text(row, 0));
    db_bind_text(insert, ":figure", db_text(row, 1));
    db_bind_text(insert, ":subject", db_text(row, 2));
    db_bind_text(insert, ":why", db_text(row, 3));
    db_bind_int(insert, ":accepted", sqlite3_column_int64(row, 4));
    if (db_run(merge->db, insert, err)) return -1;
    result->accepted += sqlite3_changes(merge->db->handle);
    return 0;
}

static int each_row(struct merge *merge, struct db *source, const char *sql,
                    int (*add)(struct merge *, sqlite3_stmt *, struct merge_result *, struct error *),
                    struct merge_result *result, struct error *err) {
    sqlite3_stmt *row = db_prepare(source, sql, err);
    int code = -1;
    while (row && (code = db_step(source, row, err)) == 1)
        if (add(merge, row, result, err)) {
            sqlite3_reset(row);
            return -1;
        }
    return code;
}

int merge_texts(struct merge *merge, struct db *source, struct merge_result *result, struct error *err) {
    const char *queries = "SELECT name, description, params, sql, export FROM main.queries ORDER BY name";
    if (each_row(merge, source, queries, add_query, result, err) ||
        each_row(merge, source, embedded_text("merge/views.sql"), add_view, result, err))
        return -1;
    return each_row(merge, source, embedded_text("merge/merge_texts/accepted"), add_accepted, result, err);
}
