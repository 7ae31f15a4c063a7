#include "query/runs/run_part.h"

#include <stdlib.h>
#include <string.h>

#include "schema/facts.h"
#include "schema/schema.h"

static int run_for(struct db *db, const char *text, int64_t run_id, const struct timespan *span, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text(text), err);
    if (!statement) return -1;
    if (sqlite3_bind_parameter_index(statement, ":run")) db_bind_int(statement, ":run", run_id);
    if (sqlite3_bind_parameter_index(statement, ":from")) timespan_bind(statement, span);
    return db_run(db, statement, err);
}

/* An open edge is that of the run. */
static int close_edges(struct db *db, int64_t run_id, struct timespan *span, struct error *err) {
    sqlite3_stmt *row =
        db_prepare(db, "SELECT started_ns, started_ns + duration_ns FROM main.runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code == 1 && span->from_ns < sqlite3_column_int64(row, 0)) span->from_ns = sqlite3_column_int64(row, 0);
    if (code == 1 && span->to_ns > sqlite3_column_int64(row, 1)) span->to_ns = sqlite3_column_int64(row, 1);
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

static int shadow(struct db *db, int64_t run_id, const struct timespan *span, struct error *err) {
    static const char *const steps[] = {"runs/part_run.sql", "runs/run_part/span", "runs/part_processes.sql",
                                        "runs/run_part/lives", "runs/run_part/profiles"};
    struct timespan closed = *span;
    if (close_edges(db, run_id, &closed, err) || db_exec(db, embedded_text("runs/selection_tables.sql"), err) ||
        db_exec(db, embedded_text("runs/run_part/tables"), err))
        return -1;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (run_for(db, steps[i], run_id, &closed, err)) return -1;
    return facts_shadow_tables(db, err) || schema_shadow_views(db, err) || facts_shadow_run(db, run_id, err) ? -1 : 0;
}

static char *kind_of(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("runs/run_part/kind"), err);
    if (!row) return NULL;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    char *kind = code < 0 ? NULL : xstrdup(code ? db_text(row, 0) : "heap");
    sqlite3_reset(row);
    return kind;
}

int run_part_shadow(struct db *db, int64_t run_id, const struct timespan_request *request, struct buffer *words,
                    struct error *err) {
    struct timespan span;
    char *kind = kind_of(db, run_id, err);
    int code = kind ? timespan_find(db, run_id, kind, request, &span, err) : -1;
    if (code == 0) code = timespan_describe(db, run_id, kind, &span, words, err);
    if (code == 0 && strncmp(words->data, "none", 4) == 0) code = error_usage(err, "%s", words->data);
    free(kind);
    return code ? -1 : shadow(db, run_id, &span, err);
}
