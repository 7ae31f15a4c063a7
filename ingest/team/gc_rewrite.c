#include "ingest/team/gc_rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

/* The month, which is added where nothing was deleted of it this time. */
static struct team_gc_month *month_of(struct team_gc *gc, const char *text, int64_t kept) {
    for (size_t i = 0; i < gc->month_count; i++)
        if (strcmp(gc->months[i].text, text) == 0) return &gc->months[i];
    gc->months = xrealloc(gc->months, (gc->month_count + 1) * sizeof *gc->months);
    struct team_gc_month *month = &gc->months[gc->month_count++];
    *month = (struct team_gc_month){.kept = kept};
    snprintf(month->text, sizeof month->text, "%s", text);
    return month;
}

static int write_again(struct team_server *server, const char *part, int64_t *bytes, struct error *err) {
    char *name = xasprintf("clear.%s", part), *sql = xasprintf("VACUUM FULL ANALYZE %s", name);
    const char *values[] = {name};
    struct team_answer answer;
    int code = team_run(server, sql, err);
    if (code == 0) code = team_ask(server, "SELECT pg_total_relation_size($1::regclass)", values, 1, &answer, err);
    if (code == 0) {
        *bytes = team_int(&answer, 0, 0);
        team_answer_free(&answer);
    }
    free(name);
    free(sql);
    return code;
}

/* A month is noted until all its partitions are written. */
static int forget(struct team_server *server, const char *month, struct error *err) {
    char *key = xasprintf("deleted %s-01", month);
    const char *values[] = {key};
    int code = team_ask(server, "DELETE FROM clear.meta WHERE key = $1", values, 1, NULL, err);
    free(key);
    return code;
}

static int write_month(struct team_gc *gc, struct team_server *server, const struct team_answer *parts, int *at,
                       struct error *err) {
    const char *text = team_word(parts, *at, 0);
    struct team_gc_month *month = month_of(gc, text, team_int(parts, *at, 3));
    month->bytes = month->bytes_after = 0;
    bool is_done = true;
    for (; *at < parts->rows && strcmp(team_word(parts, *at, 0), text) == 0; ++*at) {
        struct error failure = {0};
        int64_t before = team_int(parts, *at, 2), after = before;
        if (is_done && write_again(server, team_word(parts, *at, 1), &after, &failure)) {
            if (strcmp(server->sqlstate, "55P03") != 0) /* lock_not_available */
                return error_fail(err, "%s", failure.message);
            is_done = false;
        }
        month->bytes += before;
        month->bytes_after += after;
    }
    gc->later_count += !is_done;
    return is_done ? forget(server, text, err) : 0;
}

int gc_rewrite(struct team_gc *gc, struct team_server *server, struct error *err) {
    struct team_answer parts;
    if (team_run(server, "SET lock_timeout = '900ms'", err) ||
        team_ask(server, embedded_text("team/gc_rewrite.sql"), NULL, 0, &parts, err))
        return -1;
    int code = 0;
    for (int at = 0; code == 0 && at < parts.rows;)
        code = write_month(gc, server, &parts, &at, err);
    team_answer_free(&parts);
    return code;
}
