/* team_rows.h: the rows of one SELECT that is not clear's own, one after the other as the server sends them. */
#ifndef CLEAR_INGEST_TEAM_TEAM_ROWS_H
#define CLEAR_INGEST_TEAM_TEAM_ROWS_H

#include "ingest/team/team_server.h"

struct team_rows {
    struct team_server *server;
    void *description, *row; /* PGresult; row: the one that is read */
    int columns;
    bool is_running;
};

/* What a column's values are, for a program. */
enum team_kind { TEAM_INT, TEAM_REAL, TEAM_NUMBER, TEAM_BOOLEAN, TEAM_TEXT }; /* TEAM_NUMBER: a decimal number */

/* Sends one statement with parameters $1, $2, ...; the server checks it and says which columns it has. One that returns no rows is a
 * usage error, as is SQL that is wrong: then server->position is the character of the SQL, from 1; 0: not known. team_rows_end it. */
int team_rows_prepare(struct team_rows *rows, struct team_server *server, const char *sql, struct error *err);
void team_rows_end(struct team_rows *rows);

const char *team_rows_name(const struct team_rows *rows, int column);
enum team_kind team_rows_kind(const struct team_rows *rows, int column);

int team_rows_start(struct team_rows *rows, const char *const *values, int count, struct error *err);
/* 1: a row, 0: there are no more. */
int team_rows_next(struct team_rows *rows, struct error *err);
const char *team_rows_text(const struct team_rows *rows, int column); /* NULL: NULL */

#endif
