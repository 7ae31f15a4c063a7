#include "ingest/team/team_gc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ingest/team/content_key.h"
#include "ingest/team/gc_rewrite.h"
#include "ingest/team/names.h"
#include "ingest/team/names_used.h"
#include "ingest/team/team.h"
#include "schema/schema.h"

_Static_assert(sizeof((struct team_gc){0}.names) / sizeof(int64_t) == SOURCE_NAMES, "a number for each kind of name");

/* What is collected: of one project, or all. */
struct collecting {
    struct team_gc *gc;
    struct team_server server;
    struct layout layout;
    const struct team_gc_wish *wish;
    char project[24]; /* its number; empty: of all */
};

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static int find_doomed(struct collecting *collecting, struct error *err) {
    int64_t oldest_ns = collecting->wish->oldest_ns;
    struct team_month oldest = team_month(oldest_ns < 0 ? 0 : oldest_ns);
    const char *values[] = {oldest.text, *collecting->project ? collecting->project : NULL};
    return team_run(&collecting->server, embedded_text("team/gc/doomed_table"), err) ||
                   team_ask(&collecting->server, embedded_text("team/gc/doomed"), values, 2, NULL, err)
               ? -1
               : 0;
}

static int read_months(struct team_gc *gc, struct team_server *server, struct error *err) {
    struct team_answer answer;
    if (team_ask(server, embedded_text("team/gc/months"), NULL, 0, &answer, err)) return -1;
    gc->months = xcalloc((size_t)answer.rows + 1, sizeof *gc->months);
    for (int i = 0; i < answer.rows; i++) {
        struct team_gc_month *month = &gc->months[gc->month_count++];
        snprintf(month->text, sizeof month->text, "%s", team_word(&answer, i, 0));
        month->runs = team_int(&answer, i, 1);
        month->kept = team_int(&answer, i, 2);
        month->bytes = team_int(&answer, i, 3);
        gc->runs += month->runs;
        month->bytes_after = month->kept ? month->bytes : 0;
    }
    team_answer_free(&answer);
    return 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const struct names_used all_users = {
    "used_", " WHERE NOT EXISTS (SELECT 1 FROM pg_temp.doomed WHERE (doomed.project, doomed.month, doomed.run) ="
             " (item.project, item.month, item.run))"};
static const struct names_used newer_users = {"again_", " JOIN pg_temp.newer USING (project, month, run)"};

static int find_all_used(struct collecting *collecting, const struct names_used *users, struct error *err) {
    return names_used_find(&collecting->server, &collecting->layout, users, err);
}

/* The names that are used by nothing, as a table that outlives the transaction. */
static int find_idle(struct collecting *collecting, enum source_name kind, int64_t *count, struct error *err) {
    const char *table = name_kinds[kind].table;
    struct buffer sql = {0}, drop = {0};
    /* layers-ok: as above, and as in gc_seen.sql */
    buffer_printf(&drop, "DROP TABLE IF EXISTS pg_temp.\"idle_%s\"", table);
    /* layers-ok: as above */
    buffer_printf(&sql, "CREATE TEMP TABLE \"idle_%s\" AS SELECT project, key FROM clear.\"%s\" AS name", table, table);
    buffer_printf(&sql, " WHERE NOT EXISTS (SELECT 1 FROM pg_temp.\"used_%s\" AS used", table); /* layers-ok: same */
    buffer_add_text(&sql, " WHERE used.project = name.project AND used.key = name.key)");
    if (*collecting->project) /* layers-ok: a number, made by content_project */
        buffer_printf(&sql, " AND name.project = %s", collecting->project);
    int code = team_run(&collecting->server, buffer_text(&drop), err) ||
                       team_change(&collecting->server, buffer_text(&sql), NULL, 0, count, err)
                   ? -1
                   : 0;
    buffer_free(&drop);
    buffer_free(&sql);
    return code;
}

/* Those of them that no newer run uses. */
static int delete_idle(struct collecting *collecting, enum source_name kind, int64_t *count, struct error *err) {
    const char *table = name_kinds[kind].table;
    struct buffer sql = {0};
    /* layers-ok: as above */
    buffer_printf(&sql, "DELETE FROM clear.\"%s\" AS name USING pg_temp.\"idle_%s\" AS idle", table, table);
    buffer_add_text(&sql, " WHERE name.project = idle.project AND name.key = idle.key AND NOT EXISTS");
    buffer_printf(&sql, " (SELECT 1 FROM pg_temp.\"again_%s\" AS used", table); /* layers-ok: as above */
    buffer_add_text(&sql, " WHERE used.project = name.project AND used.key = name.key)");
    int code = team_change(&collecting->server, buffer_text(&sql), NULL, 0, count, err);
    buffer_free(&sql);
    return code;
}

static int each_kind(struct collecting *collecting,
                     int (*act)(struct collecting *, enum source_name, int64_t *, struct error *), struct error *err) {
    struct team_gc *gc = collecting->gc;
    gc->name_count = 0;
    for (int kind = SOURCE_NAMES - 1; kind > SOURCE_NONE; kind--) {
        if (act(collecting, (enum source_name)kind, &gc->names[kind], err)) return -1;
        gc->name_count += gc->names[kind];
    }
    return 0;
}

/* ---- transactions ------------------------------------------------------------------------------------------------ */

/* What would go, all of it at one moment. */
static int look(struct collecting *collecting, struct error *err) {
    struct team_server *server = &collecting->server;
    return team_run(server, embedded_text("team/gc/look"), err) || find_doomed(collecting, err) ||
                   read_months(collecting->gc, server, err) || find_all_used(collecting, &all_users, err) ||
                   each_kind(collecting, find_idle, err) || team_run(server, "ROLLBACK", err)
               ? -1
               : 0;
}

static int delete_runs(void *context, struct error *err) {
    struct collecting *collecting = context;
    struct team_server *server = &collecting->server;
    free(collecting->gc->months); /* of an attempt that gave way */
    *collecting->gc = (struct team_gc){0};
    return team_run(server, embedded_text("team/gc/begin"), err) || find_doomed(collecting, err) ||
                   read_months(collecting->gc, server, err) || team_run(server, embedded_text("team/gc/drop"), err) ||
                   team_run(server, "COMMIT", err)
               ? -1
               : 0;
}

/* Nobody waits for this, however long it takes. */
static int find_idle_names(struct collecting *collecting, struct error *err) {
    struct team_server *server = &collecting->server;
    return team_run(server, embedded_text("team/gc/seen"), err) ||
                   team_run(server, embedded_text("team/gc/doomed_table"), err) ||
                   find_all_used(collecting, &all_users, err) || each_kind(collecting, find_idle, err) ||
                   team_run(server, "COMMIT", err)
               ? -1
               : 0;
}

static int sweep_names(void *context, struct error *err) {
    struct collecting *collecting = context;
    struct team_server *server = &collecting->server;
    return team_run(server, embedded_text("team/gc/sweep_begin"), err) ||
                   find_all_used(collecting, &newer_users, err) || each_kind(collecting, delete_idle, err) ||
                   team_run(server, "COMMIT", err)
               ? -1
               : 0;
}

/* ---- all of it ---------------------------------------------------------------------------------------------------- */

/* What was found out in one transaction is needed in the next. */
static int fail_pooled(struct collecting *collecting, struct error *err) {
    if (strcmp(collecting->server.sqlstate, "42P01") != 0) return -1; /* undefined_table */
    *err = (struct error){0};
    return error_fail(err,
                      "%s: gives each transaction another session: ask the server itself, not a pooler of transactions",
                      collecting->server.name);
}

static int collect_all(struct collecting *collecting, struct error *err) {
    return team_check_owner(&collecting->server, err) ||
                   team_attempt(&collecting->server, delete_runs, collecting, err) ||
                   find_idle_names(collecting, err) ||
                   team_attempt(&collecting->server, sweep_names, collecting, err) ||
                   gc_rewrite(collecting->gc, &collecting->server, err)
               ? -1
               : 0;
}

static int collect(struct collecting *collecting, struct error *err) {
    if (collecting->wish->is_trial) return look(collecting, err);
    return collect_all(collecting, err) ? fail_pooled(collecting, err) : 0;
}

static int find_project(struct collecting *collecting, struct error *err) {
    const char *name = collecting->wish->project;
    if (!name) return 0;
    snprintf(collecting->project, sizeof collecting->project, "%" PRId64, content_project(name));
    return team_check_project(&collecting->server, name, err);
}

int team_gc(struct team_gc *gc, const char *uri, const struct team_gc_wish *wish, struct error *err) {
    struct collecting collecting = {.gc = gc, .wish = wish};
    int64_t version;
    *gc = (struct team_gc){0};
    layout_make(&collecting.layout);
    int code = team_connect(&collecting.server, uri, err) || team_read_version(&collecting.server, &version, err) ||
                       find_project(&collecting, err) || collect(&collecting, err)
                   ? -1
                   : 0;
    if (code) team_rollback(&collecting.server);
    layout_free(&collecting.layout);
    team_disconnect(&collecting.server);
    return code;
}

void team_gc_free(struct team_gc *gc) {
    free(gc->months);
    *gc = (struct team_gc){0};
}
