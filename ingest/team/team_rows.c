#include "ingest/team/team_rows.h"

#include <string.h>

#include "ingest/team/libpq.h"

#define STATEMENT "clear_rows" /* of this connection */

/* Types of PostgreSQL by their numbers (pg_type.oid), which never change. */
enum { BOOL = 16, INT8 = 20, INT2 = 21, INT4 = 23, OID = 26, FLOAT4 = 700, FLOAT8 = 701, NUMERIC = 1700 };

static int check(struct team_rows *rows, PGresult *result, ExecStatusType wanted, struct error *err) {
    if (pq.result_status(result) == wanted) return 0;
    return team_fail(rows->server, result, err);
}

int team_rows_prepare(struct team_rows *rows, struct team_server *server, const char *sql, struct error *err) {
    *rows = (struct team_rows){.server = server};
    PGresult *prepared = pq.prepare(server->connection, STATEMENT, sql, 0, NULL);
    int code = check(rows, prepared, PGRES_COMMAND_OK, err);
    pq.clear_result(prepared);
    if (code) return -1;
    rows->description = pq.describe(server->connection, STATEMENT);
    if (check(rows, rows->description, PGRES_COMMAND_OK, err)) return -1;
    rows->columns = pq.columns(rows->description);
    if (rows->columns) return 0;
    return error_usage(err, "only reading is allowed: this statement writes, or returns no rows");
}

static void drop_row(struct team_rows *rows) {
    if (rows->row) pq.clear_result(rows->row);
    rows->row = NULL;
}

void team_rows_end(struct team_rows *rows) {
    drop_row(rows);
    if (rows->description) pq.clear_result(rows->description);
    *rows = (struct team_rows){0};
}

const char *team_rows_name(const struct team_rows *rows, int column) {
    return pq.column_name(rows->description, column);
}

enum team_kind team_rows_kind(const struct team_rows *rows, int column) {
    switch (pq.column_type(rows->description, column)) {
    case BOOL: return TEAM_BOOLEAN;
    case INT2:
    case INT4:
    case INT8:
    case OID: return TEAM_INT;
    case FLOAT4:
    case FLOAT8: return TEAM_REAL;
    case NUMERIC: return TEAM_NUMBER;
    default: return TEAM_TEXT;
    }
}

int team_rows_start(struct team_rows *rows, const char *const *values, int count, struct error *err) {
    void *connection = rows->server->connection;
    rows->is_running = pq.send(connection, STATEMENT, count, values, NULL, NULL, 0) && pq.row_by_row(connection);
    return rows->is_running ? 0 : team_fail(rows->server, NULL, err);
}

/* Each row is a result of its own; then comes one without rows. */
int team_rows_next(struct team_rows *rows, struct error *err) {
    drop_row(rows);
    if (!rows->is_running) return 0;
    rows->row = pq.result(rows->server->connection);
    if (rows->row && pq.result_status(rows->row) == PGRES_SINGLE_TUPLE) return 1;
    int code = rows->row ? check(rows, rows->row, PGRES_TUPLES_OK, err) : 0;
    rows->is_running = false;
    drop_row(rows);
    return code;
}

const char *team_rows_text(const struct team_rows *rows, int column) {
    return pq.is_null(rows->row, 0, column) ? NULL : pq.value(rows->row, 0, column);
}
