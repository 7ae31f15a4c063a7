/* remote.h: SQL that a team's store answers itself, as ask.h is for a file: one statement, in a transaction that is read-only, as the role
 * clear_read where the user may be that, with a limit on its time. The SQL is PostgreSQL's; the views are those of a file
 * (ingest/team/team_views.h), of one project. */
#ifndef CLEAR_CLI_REMOTE_H
#define CLEAR_CLI_REMOTE_H

#include "ingest/team/team.h"
#include "ingest/team/team_rows.h"
#include "query/sql/ask.h"

struct remote {
    struct team team;
    struct db db; /* bare: a statement of it has each row */
    struct team_rows rows;
    int64_t timeout_ns;
    bool is_open;
};

/* remote_close it, whatever it returns. One at a time in a process. `timeout_ns` 0: no limit. */
int remote_open(struct remote *remote, const char *uri, const char *project, int64_t timeout_ns, struct error *err);
void remote_close(struct remote *remote);

/* The statement of `sql`, with its parameters :NAME bound from `arguments` as ask_bind does; "run" is a run as team_runs.h names them, and
 * its number is bound. The caller calls sqlite3_finalize. NULL: an error; one in the SQL shows its place on standard error. */
sqlite3_stmt *remote_prepare(struct remote *remote, const char *sql, char *const *arguments, size_t count,
                             struct error *err);
/* A table_step (query/sql/result_table.h). */
int remote_step(struct db *db, sqlite3_stmt *statement, struct error *err);

#endif
