#include "ingest/team/team_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "ingest/team/copy_text.h"
#include "ingest/team/name_uses.h"
#include "ingest/team/names_check.h"
#include "ingest/team/team.h"
#include "schema/schema.h"

struct checking {
    struct team_check *check;
    struct team_server server;
    struct layout layout;
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static int delete_wrong(struct checking *checking, enum source_name kind, struct error *err) {
    struct buffer sql = {0};
    int64_t count = 0;
    /* layers-ok: a table of clear's own */
    buffer_printf(&sql, "DELETE FROM clear.\"%s\" WHERE ", name_kinds[kind].table);
    names_check_add_wrong(&sql, kind);
    int code = team_change(&checking->server, buffer_text(&sql), NULL, 0, &count, err);
    checking->check->wrong += count;
    buffer_free(&sql);
    return code;
}

static void add_use(struct buffer *sql, const struct name_use *use) {
    buffer_add_text(sql, sql->size ? " UNION SELECT project, " : "SELECT project, ");
    buffer_printf(sql, use->is_list ? "unnest(\"%s\")" : "\"%s\"", use->column);
    buffer_add_text(sql, " AS key"); /* layers-ok: as above */
    buffer_printf(sql, " FROM clear.\"%s\"", use->table);
}

/* Names of the kind that something uses, and that are not there. */
static int find_missing(struct checking *checking, enum source_name kind, const struct name_use *uses, size_t count,
                        struct error *err) {
    const char *table = name_kinds[kind].table;
    struct buffer sql = {0}, selects = {0};
    int64_t missing = 0;
    for (size_t i = 0; i < count; i++)
        if (!uses[i].is_derived) add_use(&selects, &uses[i]);
    buffer_printf(&sql, "CREATE TEMP TABLE \"lacking_%s\" ON COMMIT DROP AS ", table); /* layers-ok: as above */
    buffer_add_text(&sql, "SELECT DISTINCT used.project, used.key FROM (");
    buffer_add_text(&sql, buffer_text(&selects));
    buffer_add_text(&sql, ") AS used WHERE used.key <> 0 AND NOT EXISTS"); /* layers-ok: as above */
    buffer_printf(&sql, " (SELECT 1 FROM clear.\"%s\" AS name", table);
    buffer_add_text(&sql, " WHERE name.project = used.project AND name.key = used.key)");
    int code = team_change(&checking->server, buffer_text(&sql), NULL, 0, &missing, err);
    checking->check->missing += missing;
    buffer_free(&sql);
    buffer_free(&selects);
    return code;
}

/* Whoever uses a name that is lacking lacks it too: names into their kind's table, runs into `wanting`. */
static int pass_on(struct checking *checking, enum source_name kind, const struct name_use *use, struct error *err) {
    struct buffer sql = {0};
    if (use->is_derived) return 0;
    if (use->of == SOURCE_NONE) /* layers-ok: as above */
        buffer_add_text(&sql, "INSERT INTO clear.wanting SELECT DISTINCT item.project, item.month, item.run");
    else /* layers-ok: as above */
        buffer_printf(&sql, "INSERT INTO pg_temp.\"lacking_%s\" SELECT item.project, item.key", use->table);
    /* layers-ok: as above */
    buffer_printf(&sql, " FROM clear.\"%s\" AS item", use->table);
    buffer_printf(&sql, " JOIN pg_temp.\"lacking_%s\" AS lacking ON", name_kinds[kind].table);
    buffer_printf(&sql, " lacking.project = item.project AND lacking.key = %s(item.\"%s\")", use->is_list ? "ANY " : "",
                  use->column);
    if (use->of == SOURCE_NONE) buffer_add_text(&sql, " ON CONFLICT DO NOTHING");
    int code = team_run(&checking->server, buffer_text(&sql), err);
    buffer_free(&sql);
    return code;
}

/* What is named comes before what names it; all the tables of what is lacking are there before one is added to another. */
static int check_kinds(struct checking *checking, struct error *err) {
    struct name_use uses[NAME_USES_MAX];
    for (int kind = SOURCE_NONE + 1; kind < SOURCE_NAMES; kind++)
        if (delete_wrong(checking, (enum source_name)kind, err)) return -1;
    for (int kind = SOURCE_NONE + 1; kind < SOURCE_NAMES; kind++) {
        size_t count = name_uses_of(&checking->layout, (enum source_name)kind, uses);
        if (find_missing(checking, (enum source_name)kind, uses, count, err)) return -1;
    }
    for (int kind = SOURCE_NONE + 1; kind < SOURCE_NAMES; kind++) {
        size_t count = name_uses_of(&checking->layout, (enum source_name)kind, uses);
        for (size_t i = 0; i < count; i++)
            if (pass_on(checking, (enum source_name)kind, &uses[i], err)) return -1;
    }
    return 0;
}

/* ---- the transaction --------------------------------------------------------------------------------------------- */

static int read_runs(struct checking *checking, struct error *err) {
    struct team_check *check = checking->check;
    struct team_answer answer;
    if (team_ask(&checking->server, embedded_text("team/store/check_runs"), NULL, 0, &answer, err)) return -1;
    check->runs = xcalloc((size_t)answer.rows + 1, sizeof *check->runs);
    for (int i = 0; i < answer.rows; i++) {
        struct team_check_run *run = &check->runs[check->run_count++];
        run->project = team_plain_text(&answer, i, 0);
        snprintf(run->uuid, sizeof run->uuid, "%s", team_word(&answer, i, 1));
    }
    team_answer_free(&answer);
    return 0;
}

/* Without a repair all of it is done, and taken back. */
static int check_all(struct checking *checking, bool repairs, struct error *err) {
    struct team_server *server = &checking->server;
    return team_run(server, repairs ? embedded_text("team/store/check_begin") : "BEGIN", err) ||
                   team_run(server, "DELETE FROM clear.wanting", err) || check_kinds(checking, err) ||
                   read_runs(checking, err) || team_run(server, repairs ? "COMMIT" : "ROLLBACK", err)
               ? -1
               : 0;
}

int team_check(struct team_check *check, const char *uri, bool repairs, struct error *err) {
    struct checking checking = {.check = check};
    int64_t version;
    *check = (struct team_check){0};
    layout_make(&checking.layout);
    int code = team_connect(&checking.server, uri, err) || team_read_version(&checking.server, &version, err) ||
                       team_check_owner(&checking.server, err) || check_all(&checking, repairs, err)
                   ? -1
                   : 0;
    if (code) team_rollback(&checking.server);
    layout_free(&checking.layout);
    team_disconnect(&checking.server);
    return code;
}

void team_check_free(struct team_check *check) {
    for (size_t i = 0; i < check->run_count; i++)
        free(check->runs[i].project);
    free(check->runs);
    *check = (struct team_check){0};
}
