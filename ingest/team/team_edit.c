#include "ingest/team/team_edit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ingest/team/copy_text.h"
#include "schema/schema.h"

/* ---- the transaction --------------------------------------------------------------------------------------------- */

static bool has_run(const struct team_runs *runs, const struct team_run_item *item) {
    for (size_t i = 0; i < runs->count; i++)
        if (strcmp(runs->items[i].name.uuid, item->name.uuid) == 0) return true;
    return false;
}

static int add_set(struct team_edit *edit, const char *set, struct error *err) {
    struct team_runs found, *runs = &edit->runs;
    int code = team_runs_find_here(&found, &edit->team, set, err);
    for (size_t i = 0; code == 0 && i < found.count; i++) {
        if (has_run(runs, &found.items[i])) continue;
        runs->items = xrealloc(runs->items, (runs->count + 1) * sizeof *runs->items);
        runs->items[runs->count++] = found.items[i];
    }
    team_runs_free(&found);
    return code;
}

/* A project that was moved after team_open is not changed where it was. */
static int check_here(struct team *team, struct error *err) {
    const char *values[] = {team->project_number};
    struct team_answer answer;
    if (team_ask(&team->server, "SELECT 1 FROM clear.shards WHERE project = $1", values, 1, &answer, err)) return -1;
    bool has_moved = answer.rows;
    team_answer_free(&answer);
    if (!has_moved) return 0;
    return error_fail(err, "%s: project %s was moved to another server meanwhile: repeat it", team->server.name,
                      team->project_name);
}

int team_edit_begin(struct team_edit *edit, const char *address, const char *project, char *const *sets,
                    struct error *err) {
    *edit = (struct team_edit){0};
    if (team_open(&edit->team, address, project, err) || team_check_owner(&edit->team.server, err) ||
        team_run(&edit->team.server, embedded_text("team/edit/begin"), err) || check_here(&edit->team, err))
        return -1;
    for (; *sets; sets++)
        if (add_set(edit, *sets, err)) return -1;
    return 0;
}

int team_edit_end(struct team_edit *edit, bool is_kept, struct error *err) {
    int code = is_kept ? team_run(&edit->team.server, "COMMIT", err) : 0;
    if (!is_kept) team_rollback(&edit->team.server);
    team_runs_free(&edit->runs);
    team_close(&edit->team);
    return code;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* The statement has the parameters $1 project, $2 month, $3 run, then `values`; it runs for each run. */
static int change_each(struct team_edit *edit, const char *sql, const char *const *values, int count,
                       struct error *err) {
    const char *all[5] = {edit->team.project_number};
    for (int i = 0; i < count; i++)
        all[3 + i] = values[i];
    for (size_t i = 0; i < edit->runs.count; i++) {
        all[1] = edit->runs.items[i].name.month.text;
        all[2] = edit->runs.items[i].name.uuid;
        if (team_ask(&edit->team.server, sql, all, 3 + count, NULL, err) ||
            team_ask(&edit->team.server, embedded_text("team/edit/touch"), all, 3, NULL, err))
            return -1;
    }
    return 0;
}

int team_edit_tag(struct team_edit *edit, const char *key, const char *value, struct error *err) {
    struct buffer stored[2] = {{0}};
    store_text_add(&stored[0], key);
    store_text_add(&stored[1], value);
    const char *values[] = {buffer_text(&stored[0]), buffer_text(&stored[1])};
    int code = change_each(edit, embedded_text("team/edit/tag"), values, 2, err);
    buffer_free(&stored[0]);
    buffer_free(&stored[1]);
    return code;
}

int team_edit_label(struct team_edit *edit, const char *label, struct error *err) {
    struct buffer stored = {0};
    store_text_add(&stored, label);
    const char *values[] = {buffer_text(&stored)};
    int code = change_each(edit, embedded_text("team/edit/label"), values, 1, err);
    buffer_free(&stored);
    return code;
}

int team_edit_pin(struct team_edit *edit, const char *why, struct error *err) {
    struct buffer stored = {0};
    char now[24];
    if (why) store_text_add(&stored, why);
    snprintf(now, sizeof now, "%" PRId64, clock_realtime_ns());
    const char *values[] = {why ? buffer_text(&stored) : NULL, now};
    int code = change_each(edit, embedded_text("team/edit/pin"), values, 2, err);
    buffer_free(&stored);
    return code;
}

int team_edit_remove(struct team_edit *edit, int64_t *rows, struct error *err) {
    const char *values[3] = {edit->team.project_number};
    *rows = 0;
    for (size_t i = 0; i < edit->runs.count; i++) {
        struct team_answer answer;
        values[1] = edit->runs.items[i].name.month.text;
        values[2] = edit->runs.items[i].name.uuid;
        if (team_ask(&edit->team.server, "SELECT clear.remove_run($1, $2, $3)", values, 3, &answer, err)) return -1;
        *rows += team_int(&answer, 0, 0);
        team_answer_free(&answer);
    }
    return 0;
}

int team_edit_refuse_pinned(struct team_edit *edit, struct error *err) {
    const char *values[3] = {edit->team.project_number};
    for (size_t i = 0; i < edit->runs.count; i++) {
        struct team_answer answer;
        values[1] = edit->runs.items[i].name.month.text;
        values[2] = edit->runs.items[i].name.uuid;
        if (team_ask(&edit->team.server, embedded_text("team/edit/pin_of"), values, 3, &answer, err)) return -1;
        char *why = answer.rows ? team_plain_text(&answer, 0, 0) : NULL;
        team_answer_free(&answer);
        if (!why) continue;
        error_fail(err, "run %.8s is pinned%s%.200s: --force deletes it, clear pin --unpin %.8s frees it", values[2],
                   *why ? ": " : "", why, values[2]);
        free(why);
        return -1;
    }
    return 0;
}
