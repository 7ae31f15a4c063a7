#include "ingest/team/give_runs.h"

#include <inttypes.h>
#include <stdio.h>

#include "ingest/team/content_key.h"
#include "ingest/team/copy_text.h"
#include "ingest/team/names.h"
#include "ingest/team/names_used.h"
#include "ingest/team/team.h"
#include "schema/schema.h"

enum { VALUES = 5 };

struct giving {
    struct team_server *server;
    const struct layout *layout;
    const struct team_move_wish *wish;
    const char *values[VALUES]; /* project, other project, last month, program, month */
};

/* Names are each project's own: the other one gets those that the runs use. Those that nothing uses afterwards, clear store gc deletes. */
static int copy_names(struct giving *giving, struct error *err) {
    static const struct names_used users = {"used_", " JOIN pg_temp.piece USING (project, month, run)"};
    int code = names_used_find(giving->server, giving->layout, &users, err);
    for (int i = SOURCE_NONE + 1; code == 0 && i < SOURCE_NAMES; i++) {
        const struct name_kind *kind = &name_kinds[i];
        struct buffer sql = {0};
        /* layers-ok: tables and columns of clear's own */
        buffer_printf(&sql, "INSERT INTO clear.\"%s\"(project, key, \"check\", ", kind->table);
        name_columns_add(&sql, kind, "");
        buffer_add_text(&sql, ") SELECT $1::bigint, name.key, name.\"check\", ");
        name_columns_add(&sql, kind, "name.");
        buffer_printf(&sql, " FROM clear.\"%s\" AS name", kind->table); /* layers-ok: as above */
        buffer_printf(&sql, " JOIN pg_temp.\"used_%s\" AS used USING (project, key)", kind->table);
        buffer_add_text(&sql, " ORDER BY name.key ON CONFLICT DO NOTHING");
        code = team_ask(giving->server, buffer_text(&sql), &giving->values[1], 1, NULL, err);
        buffer_free(&sql);
    }
    return code;
}

static int give_month(void *context, struct error *err) {
    struct giving *giving = context;
    struct buffer name = {0};
    store_text_add(&name, giving->wish->to_project);
    const char *project[] = {giving->values[1], buffer_text(&name)};
    int code =
        team_run(giving->server, embedded_text("team/give_begin.sql"), err) ||
                team_ask(giving->server, embedded_text("team/push/put_project"), project, 2, NULL, err) ||
                team_ask(giving->server, embedded_text("team/give_piece.sql"), giving->values, VALUES, NULL, err) ||
                copy_names(giving, err) ||
                team_ask(giving->server, "SELECT clear.give_runs($1)", project, 1, NULL, err) ||
                team_run(giving->server, "COMMIT", err)
            ? -1
            : 0;
    buffer_free(&name);
    return code;
}

static int check_elsewhere(const struct giving *giving, struct error *err) {
    const char *values[] = {giving->values[1], giving->values[0]};
    struct team_answer answer;
    if (team_ask(giving->server, "SELECT 1 FROM clear.shards WHERE project IN ($1, $2)", values, 2, &answer, err))
        return -1;
    bool is_elsewhere = answer.rows;
    team_answer_free(&answer);
    return is_elsewhere ? error_fail(err,
                                     "%s: project %s or %s is on another server: give runs to another project on "
                                     "the server of both, then move that",
                                     giving->server->name, giving->wish->project, giving->wish->to_project)
                        : 0;
}

int give_runs(struct team_move *move, struct team_server *server, const struct layout *layout,
              const struct team_move_wish *wish, struct error *err) {
    char from[24], to[24];
    struct giving giving = {
        .server = server, .layout = layout, .wish = wish, .values = {from, to, wish->until, wish->program}};
    struct team_answer months;
    snprintf(from, sizeof from, "%" PRId64, content_project(wish->project));
    snprintf(to, sizeof to, "%" PRId64, content_project(wish->to_project));
    if (check_elsewhere(&giving, err) ||
        team_ask(server, embedded_text("team/give_list.sql"), giving.values, 4, &months, err))
        return -1;
    int code = 0;
    for (int i = 0; code == 0 && i < months.rows; i++) {
        giving.values[4] = team_word(&months, i, 0);
        if (!wish->is_trial && team_int(&months, i, 1)) code = team_attempt(server, give_month, &giving, err);
        move->runs += code ? 0 : team_int(&months, i, 1);
        move->known += team_int(&months, i, 2);
    }
    team_answer_free(&months);
    return code;
}
