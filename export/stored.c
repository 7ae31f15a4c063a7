#include "export/stored.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/read/pprof/sample_kind.h"
#include "schema/schema.h"

enum { FIRST_VALUE = 2, SAMPLE_COLUMNS = 8 }; /* in the queries: trace_id, label_set_id, then values */

struct stored {
    struct db *db;
    int64_t run_id;
    const char *kind_name;
    struct names *names;
    struct ingest_type types[INGEST_TYPES_MAX];
    size_t type_count;
    struct pprof_kind kind;
    struct arena texts;
    int64_t values[INGEST_TYPES_MAX];
};

int stored_has(struct db *db, int64_t run_id, const char *kind, struct error *err) {
    sqlite3_stmt *row = db_prepare(db,
                                   "SELECT count(DISTINCT sample_types) = 1 AND max(sample_types) <> '[]'"
                                   " AND count(process_id) = 0 FROM profiles WHERE run_id = :run AND kind = :kind",
                                   err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":kind", kind);
    if (db_step(db, row, err) != 1) return -1;
    int has = sqlite3_column_int(row, 0);
    sqlite3_reset(row);
    return has;
}

static sqlite3_stmt *prepare(struct stored *stored, const char *sql, struct error *err) {
    sqlite3_stmt *rows = db_prepare(stored->db, sql, err);
    if (!rows) return NULL;
    db_bind_int(rows, ":run", stored->run_id);
    db_bind_text(rows, ":kind", stored->kind_name);
    return rows;
}

static const char *keep_text(struct stored *stored, sqlite3_stmt *row, int column) {
    const char *text = db_text(row, column);
    return arena_text(&stored->texts, text, strlen(text));
}

static int read_types(struct stored *stored, struct error *err) {
    sqlite3_stmt *rows = prepare(stored,
                                 "SELECT value ->> 0, value ->> 1 FROM (SELECT sample_types FROM profiles WHERE"
                                 " run_id = :run AND kind = :kind LIMIT 1), json_each(sample_types) ORDER BY key",
                                 err);
    if (!rows) return -1;
    int state;
    while ((state = db_step(stored->db, rows, err)) == 1 && stored->type_count < INGEST_TYPES_MAX) {
        struct ingest_type *type = &stored->types[stored->type_count++];
        type->type = keep_text(stored, rows, 0);
        type->unit = keep_text(stored, rows, 1);
        pprof_sample_type(stored->names->writer, type->type, type->unit);
    }
    sqlite3_reset(rows);
    if (state < 0) return -1;
    pprof_kind_find(&stored->kind, stored->types, stored->type_count, &stored->texts);
    if (strcmp(stored->kind.name, stored->kind_name) != 0) stored->kind.id = KIND_COUNT;
    return 0;
}

/* The ninth value and those after it. */
static int read_more(struct stored *stored, sqlite3_stmt *row, struct error *err) {
    for (size_t i = SAMPLE_COLUMNS; i < stored->type_count; i++)
        stored->values[i] = 0;
    if (sqlite3_column_type(row, FIRST_VALUE + SAMPLE_COLUMNS) == SQLITE_NULL) return 0;
    sqlite3_stmt *values = db_prepare(stored->db, "SELECT value FROM json_each(:json) ORDER BY key", err);
    if (!values) return -1;
    db_bind_text(values, ":json", db_text(row, FIRST_VALUE + SAMPLE_COLUMNS));
    size_t at = SAMPLE_COLUMNS;
    int state;
    while ((state = db_step(stored->db, values, err)) == 1 && at < stored->type_count)
        stored->values[at++] = sqlite3_column_int64(values, 0);
    sqlite3_reset(values);
    return state < 0 ? -1 : 0;
}

static int read_values(struct stored *stored, sqlite3_stmt *row, struct error *err) {
    const struct pprof_kind *kind = &stored->kind;
    if (kind->id != KIND_COUNT) {
        for (int i = 0; i < PPROF_FIGURES; i++)
            if (kind->figures[i] >= 0) stored->values[kind->figures[i]] = sqlite3_column_int64(row, FIRST_VALUE + i);
        return 0;
    }
    for (size_t i = 0; i < stored->type_count && i < SAMPLE_COLUMNS; i++)
        stored->values[i] = sqlite3_column_int64(row, FIRST_VALUE + (int)i);
    return stored->type_count > SAMPLE_COLUMNS ? read_more(stored, row, err) : 0;
}

static int write_sample(struct stored *stored, sqlite3_stmt *row, struct error *err) {
    struct stack stack;
    struct labels labels;
    if (read_values(stored, row, err) < 0) return -1;
    if (names_labels(stored->names, sqlite3_column_int64(row, 1), &labels, err) < 0) return -1;
    if (names_trace(stored->names, sqlite3_column_int64(row, 0), &stack, err) < 0) return -1;
    return pprof_sample(stored->names->writer, stack.locations, stack.count, stored->values, labels.items, labels.count,
                        err);
}

static int write_samples(struct stored *stored, struct error *err) {
    static const char *const queries[] = {
        [KIND_COUNT] = "export/stored_samples.sql",
        [KIND_HEAP] = "export/stored_sites.sql",
        [KIND_LOCK] = "export/stored_locks.sql",
        [KIND_CPU] = "export/stored_cpu.sql",
    };
    sqlite3_stmt *rows = prepare(stored, embedded_text(queries[stored->kind.id]), err);
    if (!rows) return -1;
    int state;
    while ((state = db_step(stored->db, rows, err)) == 1)
        if (write_sample(stored, rows, err) < 0) {
            sqlite3_reset(rows);
            return -1;
        }
    return state;
}

int stored_write(struct db *db, int64_t run_id, const char *kind, struct names *names, struct error *err) {
    struct stored *stored = xcalloc(1, sizeof *stored);
    stored->db = db;
    stored->run_id = run_id;
    stored->kind_name = kind;
    stored->names = names;
    int code = read_types(stored, err);
    if (code == 0) code = write_samples(stored, err);
    arena_free(&stored->texts);
    free(stored);
    return code;
}
