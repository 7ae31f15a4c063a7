#include "ingest/team/team.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ingest/team/content_key.h"
#include "ingest/team/copy_text.h"
#include "ingest/team/names_check.h"
#include "ingest/team/team_views.h"
#include "schema/schema.h"

/* Of both parts: what clear's schema of a file makes of the tables, and what schema/team does. */
static int64_t current_version(void) {
    return SCHEMA_VERSION * 1000 + TEAM_VERSION;
}

/* 0: there is no store. */
static int read_version(struct team_server *server, int64_t *version, struct error *err) {
    struct team_answer answer;
    *version = 0;
    if (team_ask(server, "SELECT to_regclass('clear.meta')", NULL, 0, &answer, err)) return -1;
    bool is_there = team_text(&answer, 0, 0);
    team_answer_free(&answer);
    if (!is_there) return 0;
    if (team_ask(server, "SELECT value FROM clear.meta WHERE key = 'version'", NULL, 0, &answer, err)) return -1;
    if (answer.rows) *version = team_int(&answer, 0, 0);
    team_answer_free(&answer);
    return 0;
}

static int check_version(struct team_server *server, struct error *err) {
    int64_t version;
    if (read_version(server, &version, err)) return -1;
    if (version == 0) return error_fail(err, "%s: there is no store: make it with clear store init", server->name);
    if (version > current_version())
        return error_fail(err,
                          "%s: the store was made by a newer clear (version %" PRId64 "; this one knows %" PRId64 ")",
                          server->name, version, current_version());
    if (version < current_version())
        return error_fail(err, "%s: the store was made by an older clear: clear store upgrade", server->name);
    return 0;
}

int team_read_version(struct team_server *server, int64_t *version, struct error *err) {
    return check_version(server, err) || read_version(server, version, err) ? -1 : 0;
}

/* The address of the server that has the project; NULL: this one. free() it. */
static int find_shard(struct team *team, char **address, struct error *err) {
    const char *values[] = {team->project_number};
    struct team_answer answer;
    *address = NULL;
    if (team_ask(&team->server, "SELECT address FROM clear.shards WHERE project = $1", values, 1, &answer, err))
        return -1;
    if (answer.rows) *address = xstrdup(team_word(&answer, 0, 0));
    team_answer_free(&answer);
    return 0;
}

/* A shard's own table does not send us further: two that name each other would send us round for ever. */
static int go_to_shard(struct team *team, struct error *err) {
    char *address, *from = xstrdup(team->server.name);
    int code = find_shard(team, &address, err);
    if (code == 0 && address) {
        team_disconnect(&team->server);
        code = team_connect(&team->server, address, err) || check_version(&team->server, err) ? -1 : 0;
        if (code) error_prefix(err, "%s, project %s is on another server: ", from, team->project_name);
        team->is_shard = true;
    }
    free(address);
    free(from);
    return code;
}

int team_follow(struct team *team, bool *has_moved, struct error *err) {
    bool was_shard = team->is_shard;
    *has_moved = false;
    if (was_shard) return 0;
    int code = go_to_shard(team, err);
    *has_moved = team->is_shard;
    return code;
}

int team_is_elsewhere(struct team *team, bool *is_elsewhere, struct error *err) {
    char *address;
    int code = find_shard(team, &address, err);
    *is_elsewhere = address;
    free(address);
    return code;
}

int team_open(struct team *team, const char *uri, const char *project, struct error *err) {
    *team = (struct team){.project_name = project, .project = content_project(project)};
    snprintf(team->project_number, sizeof team->project_number, "%" PRId64, team->project);
    if (team_connect(&team->server, uri, err) || check_version(&team->server, err) || go_to_shard(team, err)) return -1;
    layout_make(&team->layout);
    return 0;
}

void team_close(struct team *team) {
    layout_free(&team->layout);
    team_disconnect(&team->server);
}

/* ---- making the tables ------------------------------------------------------------------------------------------- */

static int put_version(struct team_server *server, struct error *err) {
    char *version = xasprintf("%" PRId64, current_version());
    const char *values[] = {"version", version};
    int code = team_ask(server, embedded_text("team/store/put_meta"), values, 2, NULL, err);
    free(version);
    return code;
}

/* free() it; NULL with the error set. */
static char *read_shape(struct team_server *server, struct error *err) {
    struct team_answer answer;
    if (team_ask(server, embedded_text("team/store/shape"), NULL, 0, &answer, err)) return NULL;
    char *shape = xstrdup(team_word(&answer, 0, 0));
    team_answer_free(&answer);
    return shape;
}

static int put_shape(struct team_server *server, struct error *err) {
    char *shape = read_shape(server, err);
    const char *values[] = {"shape", shape};
    int code = shape ? team_ask(server, embedded_text("team/store/put_meta"), values, 2, NULL, err) : -1;
    free(shape);
    return code;
}

/* Whether all is there that was made: a dump that was restored may have left out views, functions or triggers. */
static int check_shape(struct team_server *server, bool *is_whole, struct error *err) {
    struct team_answer answer;
    char *shape = read_shape(server, err);
    int code = -1;
    if (shape) code = team_ask(server, "SELECT value FROM clear.meta WHERE key = 'shape'", NULL, 0, &answer, err);
    if (code == 0) {
        *is_whole = strcmp(team_word(&answer, 0, 0), shape) == 0;
        team_answer_free(&answer);
    }
    free(shape);
    return code;
}

/* Who could push before may push after it. The roles are of all databases of the server: they are no sign of themselves. */
static int grant_again(struct team_server *server, struct error *err) {
    struct team_answer answer;
    if (team_ask(server, embedded_text("team/store/is_granted"), NULL, 0, &answer, err)) return -1;
    bool is_granted = answer.rows;
    team_answer_free(&answer);
    return is_granted ? team_run(server, embedded_text("team/grant.sql"), err) : 0;
}

/* What keeps the store as it is: a name is what its key says, and a run is changed by nobody but the owner. */
static int make_guards(struct team_server *server, struct error *err) {
    struct buffer sql = {0};
    names_check_add_triggers(&sql);
    int code = team_run(server, embedded_text("team/run_tables.sql"), err) ||
                       team_run(server, embedded_text("team/name_bytes.sql"), err) ||
                       team_run(server, buffer_text(&sql), err) ||
                       team_run(server, embedded_text("team/own_runs.sql"), err) ||
                       team_run(server, embedded_text("team/remove_run.sql"), err) ||
                       team_run(server, embedded_text("team/drop_runs.sql"), err)
                   ? -1
                   : 0;
    buffer_free(&sql);
    return code;
}

/* `columns`: of which lists are made, as an array of PostgreSQL; NULL: of none. */
static int remake_table(struct team_server *server, const char *table, const char *columns, struct error *err) {
    const char *values[] = {table, columns};
    int code =
        team_run(server, "BEGIN; SELECT pg_advisory_xact_lock(4998189, 1); SET LOCAL lock_timeout = '5s'", err) ||
                team_ask(server, "SELECT pg_temp.remake($1, $2)", values, 2, NULL, err) ||
                team_run(server, "COMMIT", err)
            ? -1
            : 0;
    if (code) team_rollback(server);
    if (code && strcmp(server->sqlstate, "55P03") == 0) team_give_way(server, err); /* lock_not_available */
    return code;
}

static int begin_remaking(struct team_server *server, const struct team_answer *tables, struct error *err) {
    struct buffer names = {0};
    for (int i = 0; i < tables->rows; i++)
        array_text(&names, team_word(tables, i, 0));
    char *array = xasprintf("{%s}", buffer_text(&names));
    const char *values[] = {array};
    int code = team_run(server, embedded_text("team/remake_begin.sql"), err) ||
                       team_ask(server, "SELECT pg_temp.refuse_readers($1)", values, 1, NULL, err) ||
                       team_run(server, embedded_text("team/remake_views.sql"), err)
                   ? -1
                   : 0;
    free(array);
    buffer_free(&names);
    return code;
}

/* One transaction a table: the locks of all partitions of all tables are more than a server has room for. Until the last is done the store has
 * its old version, and the next upgrade goes on. */
static int remake_tables(struct team_server *server, const struct layout *layout, struct error *err) {
    struct buffer monthly = {0}, of_run = {0};
    struct team_answer answer;
    layout_add_monthly(&monthly, layout);
    layout_add_of_run(&of_run, layout);
    const char *values[] = {buffer_text(&monthly), buffer_text(&of_run)};
    int code = team_ask(server, embedded_text("team/remake_list.sql"), values, 2, &answer, err);
    if (code == 0 && answer.rows) code = begin_remaking(server, &answer, err);
    for (int i = 0; code == 0 && i < answer.rows; i++)
        code = remake_table(server, team_word(&answer, i, 0), team_text(&answer, i, 1), err);
    team_answer_free(&answer);
    buffer_free(&monthly);
    buffer_free(&of_run);
    return code;
}

/* Two who make it at once wait for each other. */
static int make_tables(struct team_server *server, const struct layout *layout, struct db *db, struct error *err) {
    struct buffer sql = {0};
    layout_add_tables(&sql, layout);
    int code =
        team_run(server, "BEGIN; SELECT pg_advisory_xact_lock(4998189, 1); SET LOCAL lock_timeout = '5s'", err) ||
                team_run(server, embedded_text("team/tables.sql"), err) || team_run(server, buffer_text(&sql), err) ||
                team_run(server, embedded_text("team/indexes.sql"), err) ||
                team_run(server, embedded_text("team/add_month.sql"), err) ||
                team_run(server, embedded_text("team/analyze_grown.sql"), err) ||
                team_run(server, embedded_text("team/fill_totals.sql"), err) || make_guards(server, err) ||
                team_views_make(server, layout, db, err) || grant_again(server, err) || put_version(server, err) ||
                put_shape(server, err) || team_run(server, "COMMIT", err)
            ? -1
            : 0;
    if (code) team_rollback(server);
    if (code && strcmp(server->sqlstate, "55P03") == 0) team_give_way(server, err); /* lock_not_available */
    buffer_free(&sql);
    return code;
}

static int check_encoding(struct team_server *server, struct error *err) {
    struct team_answer answer;
    if (team_ask(server, "SHOW server_encoding", NULL, 0, &answer, err)) return -1;
    int code = strcmp(team_word(&answer, 0, 0), "UTF8") == 0
                   ? 0
                   : error_fail(err, "%s: the database is in %s: make one with ENCODING 'UTF8'", server->name,
                                team_word(&answer, 0, 0));
    team_answer_free(&answer);
    return code;
}

static int make_or_upgrade(struct team_server *server, bool may_make, int64_t *version, bool *is_mended,
                           struct error *err) {
    struct layout layout = {0};
    struct db db;
    bool is_current = false, is_whole = false;
    *is_mended = false;
    if (check_encoding(server, err) || read_version(server, version, err)) return -1;
    if (*version == 0 && !may_make) return check_version(server, err);
    if (*version > current_version()) return check_version(server, err);
    if (*version == current_version() &&
        (team_views_check(server, &is_current, err) || (is_current && check_shape(server, &is_whole, err))))
        return -1;
    if (is_current && is_whole) return 0;
    *is_mended = *version == current_version();
    if (db_open_private(&db, "the schema of a store", err)) return -1;
    layout_make(&layout);
    int code = remake_tables(server, &layout, err) || make_tables(server, &layout, &db, err) ? -1 : 0;
    layout_free(&layout);
    return db_close(&db, err) ? -1 : code;
}

int team_make(const char *uri, bool may_make, int64_t *version, bool *is_mended, struct error *err) {
    struct team_server server;
    int code = team_connect(&server, uri, err) || make_or_upgrade(&server, may_make, version, is_mended, err) ? -1 : 0;
    team_disconnect(&server);
    return code;
}

/* PostgreSQL runs several statements without parameters as one transaction. */
int team_grant(const char *uri, struct error *err) {
    struct team_server server;
    int code = team_connect(&server, uri, err) || check_version(&server, err) ||
                       team_run(&server, embedded_text("team/grant.sql"), err)
                   ? -1
                   : 0;
    if (code && strstr(err->message, "create role")) {
        *err = (struct error){0};
        error_fail(
            err,
            "%s: you may not make roles: ask for CREATEROLE, or let who has it say CREATE ROLE clear_push NOLOGIN; "
            "CREATE ROLE clear_read NOLOGIN, and repeat clear store grant",
            server.name);
    }
    team_disconnect(&server);
    return code;
}

static int put_shard(struct team_server *server, const char *project, const char *shard, struct error *err) {
    char number[24];
    int64_t changed;
    snprintf(number, sizeof number, "%" PRId64, content_project(project));
    struct buffer name = {0};
    const char *values[] = {number, shard};
    store_text_add(&name, project);
    const char *named[] = {number, buffer_text(&name)};
    int code = check_version(server, err) ||
               team_change(server, embedded_text("team/store/put_shard"), values, 2, &changed, err) ||
               (changed && team_ask(server, embedded_text("team/push/put_project"), named, 2, NULL, err));
    buffer_free(&name);
    if (code) return -1;
    return changed ? 0
                   : error_fail(err, "%s: project %s has runs here, which would be found no more: clear store move",
                                server->name, project);
}

int team_put_shard(const char *uri, const char *project, const char *shard, struct error *err) {
    struct team_server server;
    if (team_check_address(shard, err)) return -1;
    int code = team_connect(&server, uri, err) || put_shard(&server, project, shard, err) ? -1 : 0;
    team_disconnect(&server);
    return code;
}

int team_check_owner(struct team_server *server, struct error *err) {
    struct team_answer answer;
    int code = 0;
    if (team_ask(server, embedded_text("team/store/is_owner"), NULL, 0, &answer, err)) return -1;
    if (*team_word(&answer, 0, 0) != 't')
        code = error_fail(err, "%s: permission denied: runs of a store are changed by the owner of its tables, %.100s",
                          server->name, team_word(&answer, 0, 1));
    team_answer_free(&answer);
    return code;
}

int team_check_project(struct team_server *server, const char *name, struct error *err) {
    char number[24];
    const char *values[] = {number};
    struct team_answer answer;
    snprintf(number, sizeof number, "%" PRId64, content_project(name));
    if (team_ask(server, "SELECT 1 FROM clear.projects WHERE project = $1", values, 1, &answer, err)) return -1;
    bool is_there = answer.rows;
    team_answer_free(&answer);
    if (is_there) return 0;
    return error_usage(err, "%s: has no project '%s'; clear store status lists them", server->name, name);
}

int team_give_way(struct team_server *server, struct error *err) {
    struct error ignored = {0};
    struct team_answer answer;
    if (team_ask(server, embedded_text("team/gc/others"), NULL, 0, &answer, &ignored)) return -1;
    if (answer.rows) *err = (struct error){0}; /* "canceling statement due to lock timeout" */
    if (answer.rows)
        error_fail(err,
                   "%s: gave way: %s of others under way, the oldest of %.60s since %s UTC (process %s of the server); "
                   "try again, or end it: SELECT pg_terminate_backend(%s)",
                   server->name, team_int(&answer, 0, 3) == 1 ? "a transaction" : "transactions",
                   team_word(&answer, 0, 0), team_word(&answer, 0, 2), team_word(&answer, 0, 1),
                   team_word(&answer, 0, 1));
    team_answer_free(&answer);
    return -1;
}

enum { ATTEMPTS = 30 }; /* of 0.9 s, with a second between them in which others go on: a minute */

int team_attempt(struct team_server *server, int (*act)(void *context, struct error *err), void *context,
                 struct error *err) {
    const struct timespec pause = {.tv_sec = 1};
    for (int i = 0;; i++) {
        if (act(context, err) == 0) return 0;
        team_rollback(server);
        if (strcmp(server->sqlstate, "55P03") != 0) return -1; /* lock_not_available */
        if (i + 1 == ATTEMPTS) return team_give_way(server, err);
        *err = (struct error){0};
        server->sqlstate[0] = '\0';
        nanosleep(&pause, NULL);
    }
}

bool team_is_uuid(const char *text) {
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (strlen(text) != sizeof form - 1) return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '-' ? text[i] != '-' : !strchr("0123456789abcdef", text[i])) return false;
    return true;
}

/* ---- months ------------------------------------------------------------------------------------------------------ */

struct team_month team_month(int64_t ns) {
    struct team_month month;
    time_t seconds = ns / 1000000000 - (ns % 1000000000 < 0);
    struct tm day;
    gmtime_r(&seconds, &day);
    snprintf(month.text, sizeof month.text, "%04u-%02u-01", (unsigned)(day.tm_year + 1900) % 10000,
             (unsigned)(day.tm_mon + 1) % 100);
    return month;
}
