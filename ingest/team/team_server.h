/* team_server.h: a connection to the PostgreSQL server of a store.
 *
 * The address is a URI as libpq reads it: postgresql://[USER@]HOST[:PORT]/DATABASE[?OPTIONS]. A password in it is a usage error, for
 * everybody on this machine sees it in ps: it belongs in ~/.pgpass, a service file or PGPASSWORD. On another host the certificate must
 * fit the host's name (sslmode=verify-full) unless sslmode says otherwise. Messages never show the options of a URI. */
#ifndef CLEAR_INGEST_TEAM_TEAM_SERVER_H
#define CLEAR_INGEST_TEAM_TEAM_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct team_server {
    void *connection; /* PGconn */
    char *name;       /* the address for messages */
    char sqlstate[6]; /* of the latest error that the server answered; empty: none */
    int position;     /* the character of the SQL that it is about, from 1; 0: not known */
};

bool team_is_address(const char *text);
/* The address without options and password, for messages; free() it. */
char *team_shown_address(const char *uri);

/* Whether it is an address of a store without a password, as far as that can be said without libpq. */
int team_check_address(const char *uri, struct error *err);

int team_connect(struct team_server *server, const char *uri, struct error *err);
void team_disconnect(struct team_server *server); /* a zeroed server is allowed */

/* Rows in text form. team_answer_free it. */
struct team_answer {
    void *result;
    int rows;
};
const char *team_text(const struct team_answer *answer, int row,
                      int column); /* NULL: NULL, or there is no such row or column */
const char *team_word(const struct team_answer *answer, int row, int column); /* "" of these */
int64_t team_int(const struct team_answer *answer, int row, int column);      /* 0 of these */
void team_answer_free(struct team_answer *answer);

/* The failure that a result has (PGresult), or without one the connection. */
int team_fail(struct team_server *server, const void *result, struct error *err);

/* One statement with parameters $1, $2, ...; a NULL value is NULL. `answer` may be NULL. */
int team_ask(struct team_server *server, const char *sql, const char *const *values, int count,
             struct team_answer *answer, struct error *err);
/* The same; *affected: rows that it changed. */
int team_change(struct team_server *server, const char *sql, const char *const *values, int count, int64_t *affected,
                struct error *err);
/* Statements without parameters. */
int team_run(struct team_server *server, const char *sql, struct error *err);
/* COPY ... FROM STDIN of rows in COPY's text format (ingest/team/copy_text.h). */
int team_copy(struct team_server *server, const char *sql, const struct buffer *rows, struct error *err);
/* The rows of COPY ... TO STDOUT of one server go to COPY ... FROM STDIN of another. *bytes grows. After a failure either connection may be of no
 * more use. */
int team_relay(struct team_server *from, const char *out, struct team_server *to, const char *in, int64_t *bytes,
               struct error *err);
/* Whether the server is gone, or was never there. */
bool team_is_lost(const struct team_server *server);
/* Ends a transaction that failed. */
void team_rollback(struct team_server *server);

#endif
