#include "ingest/team/team_move.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "ingest/team/content_key.h"
#include "ingest/team/copy_text.h"
#include "ingest/team/give_runs.h"
#include "ingest/team/names.h"
#include "ingest/team/names_used.h"
#include "ingest/team/team.h"
#include "schema/schema.h"

enum { PIECE_RUNS = 50 };

struct moving {
    struct team_move *move;
    const struct team_move_wish *wish;
    struct team_server from, to, guard; /* guard: to the first store too; its transaction keeps others out */
    struct layout layout;
    char project[24]; /* its number */
    struct team_answer tables, runs;
    struct map there; /* uuid -> when it was changed last, of the other store */
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const struct names_used piece_users = {"used_", " JOIN pg_temp.piece USING (project, month, run)"};

struct name_sql {
    struct buffer out, make, in, insert, clash;
};

static void make_name_sql(struct name_sql *sql, const struct name_kind *kind) {
    const char *table = kind->table;
    /* layers-ok: tables and columns of clear's own */
    buffer_add_text(&sql->out, "COPY (SELECT name.project, name.key, name.\"check\", ");
    name_columns_add(&sql->out, kind, "name.");
    buffer_printf(&sql->out, " FROM clear.\"%s\" AS name", table); /* layers-ok: as above */
    buffer_printf(&sql->out,
                  " JOIN pg_temp.\"used_%s\" AS used ON used.project = name.project AND used.key = name.key)", table);
    buffer_add_text(&sql->out, " TO STDOUT");
    /* layers-ok: as above */
    buffer_printf(&sql->make, "CREATE TEMP TABLE IF NOT EXISTS \"new_%s\" (LIKE clear.\"%s\") ON COMMIT DELETE ROWS",
                  table, table);
    buffer_printf(&sql->in, "COPY pg_temp.\"new_%s\"(project, key, \"check\", ", table);
    name_columns_add(&sql->in, kind, "");
    buffer_add_text(&sql->in, ") FROM STDIN");
    /* layers-ok: as above */
    buffer_printf(&sql->insert, "INSERT INTO clear.\"%s\"(project, key, \"check\", ", table);
    name_columns_add(&sql->insert, kind, "");
    buffer_add_text(&sql->insert, ") SELECT project, key, \"check\", ");
    name_columns_add(&sql->insert, kind, "");
    /* layers-ok: as above */
    buffer_printf(&sql->insert, " FROM pg_temp.\"new_%s\" ORDER BY key ON CONFLICT DO NOTHING", table);
    /* layers-ok: as above */
    buffer_printf(&sql->clash, "SELECT 1 FROM pg_temp.\"new_%s\" AS new", table);
    buffer_printf(&sql->clash, " JOIN clear.\"%s\" AS old USING (project, key)", table);
    buffer_add_text(&sql->clash, " WHERE old.\"check\" <> new.\"check\" LIMIT 1");
}

static int copy_kind(struct moving *moving, const struct name_kind *kind, struct error *err) {
    struct name_sql sql = {0};
    struct team_answer clash = {0};
    make_name_sql(&sql, kind);
    int code = team_run(&moving->to, buffer_text(&sql.make), err) ||
                       team_relay(&moving->from, buffer_text(&sql.out), &moving->to, buffer_text(&sql.in),
                                  &moving->move->bytes, err) ||
                       team_run(&moving->to, buffer_text(&sql.insert), err) ||
                       team_ask(&moving->to, buffer_text(&sql.clash), NULL, 0, &clash, err)
                   ? -1
                   : 0;
    if (code == 0 && clash.rows)
        code = error_fail(err, "%s: the store has another %s under a key of %s", moving->to.name, kind->thing,
                          moving->from.name);
    team_answer_free(&clash);
    buffer_free(&sql.out);
    buffer_free(&sql.make);
    buffer_free(&sql.in);
    buffer_free(&sql.insert);
    buffer_free(&sql.clash);
    return code;
}

/* ---- a piece: runs of one month ---------------------------------------------------------------------------------- */

struct piece {
    const char *month;
    struct buffer months, uuids; /* arrays */
    int64_t count;
};

/* What the other store had of these runs is as they were before. */
static int replace_table(struct moving *moving, const struct piece *piece, int table, struct error *err) {
    const char *name = team_word(&moving->tables, table, 0), *columns = team_word(&moving->tables, table, 1);
    const char *values[] = {moving->project, piece->month, buffer_text(&piece->uuids)};
    struct buffer out = {0}, in = {0}, clean = {0};
    /* layers-ok: as above */
    buffer_printf(&clean, "DELETE FROM clear.\"%s\" WHERE project = $1 AND month = $2 AND run = ANY ($3::uuid[])",
                  name);
    /* layers-ok: as above */
    buffer_printf(&out, "COPY (SELECT %s FROM clear.\"%s\" JOIN pg_temp.piece USING (project, month, run)) TO STDOUT",
                  columns, name);
    buffer_printf(&in, "COPY clear.\"%s\"(%s) FROM STDIN", name, columns);
    int code =
        team_ask(&moving->to, buffer_text(&clean), values, 3, NULL, err) ||
                team_relay(&moving->from, buffer_text(&out), &moving->to, buffer_text(&in), &moving->move->bytes, err)
            ? -1
            : 0;
    buffer_free(&clean);
    buffer_free(&out);
    buffer_free(&in);
    return code;
}

static int choose_piece(struct moving *moving, const struct piece *piece, struct error *err) {
    const char *values[] = {moving->project, buffer_text(&piece->months), buffer_text(&piece->uuids)};
    return team_run(&moving->from, embedded_text("team/move_piece_table.sql"), err) ||
                   team_ask(&moving->from, embedded_text("team/move_piece.sql"), values, 3, NULL, err) ||
                   names_used_find(&moving->from, &moving->layout, &piece_users, err)
               ? -1
               : 0;
}

static int begin_there(struct moving *moving, const struct piece *piece, struct error *err) {
    struct buffer name = {0};
    const char *month[] = {piece->month};
    store_text_add(&name, moving->wish->project);
    const char *project[] = {moving->project, buffer_text(&name)};
    int code = team_ask(&moving->to, "SELECT clear.make_month($1)", month, 1, NULL, err) ||
                       team_run(&moving->to, embedded_text("team/push/begin"), err) ||
                       team_ask(&moving->to, embedded_text("team/push/put_project"), project, 2, NULL, err)
                   ? -1
                   : 0;
    buffer_free(&name);
    return code;
}

static int copy_piece(struct moving *moving, struct piece *piece, struct error *err) {
    if (!piece->count) return 0;
    buffer_add_text(&piece->months, "}");
    buffer_add_text(&piece->uuids, "}");
    int code = choose_piece(moving, piece, err) || begin_there(moving, piece, err);
    for (int kind = SOURCE_NONE + 1; code == 0 && kind < SOURCE_NAMES; kind++)
        code = copy_kind(moving, &name_kinds[kind], err);
    for (int i = 0; code == 0 && i < moving->tables.rows; i++)
        code = replace_table(moving, piece, i, err);
    if (code == 0) code = team_run(&moving->to, "COMMIT", err) || team_run(&moving->from, "ROLLBACK", err);
    moving->move->runs += code ? 0 : piece->count;
    buffer_clear(&piece->months);
    buffer_clear(&piece->uuids);
    piece->count = 0;
    return code ? -1 : 0;
}

/* ---- what the other lacks ---------------------------------------------------------------------------------------- */

static int read_lists(struct moving *moving, struct error *err) {
    const char *values[] = {moving->project};
    const char *sql = embedded_text("team/move_runs.sql");
    struct team_answer there;
    map_free(&moving->there);
    team_answer_free(&moving->runs);
    if (team_ask(&moving->from, sql, values, 1, &moving->runs, err) ||
        team_ask(&moving->to, sql, values, 1, &there, err))
        return -1;
    for (int i = 0; i < there.rows; i++) {
        const char *uuid = team_word(&there, i, 1);
        map_put(&moving->there, uuid, strlen(uuid), NULL)->value = team_int(&there, i, 2);
    }
    team_answer_free(&there);
    return 0;
}

/* Whether the other store has the run as it is here. */
static bool is_there(const struct moving *moving, int run) {
    const char *uuid = team_word(&moving->runs, run, 1);
    const struct map_entry *entry = map_find(&moving->there, uuid, strlen(uuid));
    return entry && entry->value == team_int(&moving->runs, run, 2);
}

static int copy_missing(struct moving *moving, struct error *err) {
    struct piece piece = {0};
    int code = read_lists(moving, err);
    for (int i = 0; code == 0 && i < moving->runs.rows; i++) {
        const char *month = team_word(&moving->runs, i, 0);
        if (is_there(moving, i)) continue;
        if (piece.count && (piece.count == PIECE_RUNS || strcmp(piece.month, month) != 0))
            code = copy_piece(moving, &piece, err);
        buffer_printf(&piece.months, "%c%s", piece.count ? ',' : '{', month);
        buffer_printf(&piece.uuids, "%c%s", piece.count ? ',' : '{', team_word(&moving->runs, i, 1));
        piece.month = month;
        piece.count++;
    }
    if (code == 0) code = copy_piece(moving, &piece, err);
    buffer_free(&piece.months);
    buffer_free(&piece.uuids);
    return code;
}

/* ---- the moment from which it is there --------------------------------------------------------------------------- */

/* The rows of the project in a small table, beside those that are there. */
static int copy_note(struct moving *moving, const char *table, const char *columns, struct error *err) {
    struct buffer make = {0}, out = {0}, in = {0}, put = {0};
    /* layers-ok: tables and columns of clear's own, and the number of the project, made by content_project */
    buffer_printf(&make, "CREATE TEMP TABLE IF NOT EXISTS \"new_%s\" (LIKE clear.\"%s\") ON COMMIT DELETE ROWS", table,
                  table);
    buffer_printf(&out, "COPY (SELECT %s FROM", columns); /* layers-ok: as above */
    buffer_printf(&out, " clear.\"%s\" WHERE project = %s) TO STDOUT", table, moving->project);
    buffer_printf(&in, "COPY pg_temp.\"new_%s\"(%s) FROM STDIN", table, columns);
    buffer_printf(&put, "INSERT INTO clear.\"%s\"(%s)", table, columns); /* layers-ok: as above */
    /* layers-ok: as above */
    buffer_printf(&put, " SELECT %s FROM pg_temp.\"new_%s\" ON CONFLICT DO NOTHING", columns, table);
    int code = team_run(&moving->to, buffer_text(&make), err) ||
                       team_relay(&moving->from, buffer_text(&out), &moving->to, buffer_text(&in), &moving->move->bytes,
                                  err) ||
                       team_run(&moving->to, buffer_text(&put), err)
                   ? -1
                   : 0;
    buffer_free(&make);
    buffer_free(&out);
    buffer_free(&in);
    buffer_free(&put);
    return code;
}

/* What was removed here goes there neither by a push nor by us, and what lacks names lacks them there. */
static int copy_notes(struct moving *moving, struct error *err) {
    const char *values[] = {moving->project};
    return team_run(&moving->to, "BEGIN", err) ||
                   copy_note(moving, "removed", "project, run, content_hash, removed_at", err) ||
                   copy_note(moving, "wanting", "project, month, run", err) ||
                   team_ask(&moving->to, embedded_text("team/move_removed.sql"), values, 1, NULL, err) ||
                   team_run(&moving->to, "COMMIT", err)
               ? -1
               : 0;
}

static int lock(void *context, struct error *err) {
    struct moving *moving = context;
    return team_run(&moving->guard, embedded_text("team/move_lock.sql"), err);
}

/* *is_away: the project was said to be there by a move that did not come to its end. */
static int find_place(struct moving *moving, struct team_server *server, bool *is_away, struct error *err) {
    const char *values[] = {moving->project};
    struct team_answer answer;
    int code = 0;
    if (team_ask(server, "SELECT address FROM clear.shards WHERE project = $1", values, 1, &answer, err)) return -1;
    *is_away = answer.rows;
    if (*is_away && strcmp(team_word(&answer, 0, 0), moving->wish->to_address) != 0) {
        char *shown = team_shown_address(team_word(&answer, 0, 0));
        code = error_fail(err, "%s: project %s is on %s", moving->from.name, moving->wish->project, shown);
        free(shown);
    }
    team_answer_free(&answer);
    return code;
}

/* Who pushes waits from the lock on: what was copied before is most of it. The lock is a transaction's, for a pooler would keep a session's. */
static int change_place(struct moving *moving, const char *uri, struct error *err) {
    const char *values[] = {moving->project, moving->wish->to_address};
    bool is_away;
    if (team_connect(&moving->guard, uri, err) || team_attempt(&moving->guard, lock, moving, err)) return -1;
    return find_place(moving, &moving->guard, &is_away, err) || copy_missing(moving, err) || copy_notes(moving, err) ||
                   team_ask(&moving->guard, embedded_text("team/move_put_shard.sql"), values, 2, NULL, err) ||
                   team_run(&moving->guard, "COMMIT", err)
               ? -1
               : 0;
}

/* ---- what was here ----------------------------------------------------------------------------------------------- */

/* Nobody pushes to the project here any more (ingest/team/push.c). What is not there for all that is not deleted. */
static int check_all_there(struct moving *moving, struct error *err) {
    if (read_lists(moving, err)) return -1;
    for (int i = 0; i < moving->runs.rows; i++)
        if (!is_there(moving, i))
            return error_fail(err, "%s: lacks run %s of %s: nothing was deleted there", moving->to.name,
                              team_word(&moving->runs, i, 1), moving->from.name);
    return 0;
}

static int drop_months(struct moving *moving, struct error *err) {
    const char *values[2] = {moving->project};
    const char *dropped = NULL;
    for (int i = 0; i < moving->runs.rows; i++) {
        values[1] = team_word(&moving->runs, i, 0);
        if (dropped && strcmp(dropped, values[1]) == 0) continue;
        dropped = values[1];
        if (team_ask(&moving->from, "SELECT clear.drop_runs($1, $2)", values, 2, NULL, err)) return -1;
    }
    return 0;
}

static int drop_names(struct moving *moving, struct error *err) {
    static const char *const notes[] = {"removed", "wanting"};
    const char *values[] = {moving->project};
    int code = 0;
    for (int i = SOURCE_NONE + 1; code == 0 && i < SOURCE_NAMES + 2; i++) {
        /* layers-ok: as above */
        char *sql = xasprintf("DELETE FROM clear.\"%s\" WHERE project = $1",
                              i < SOURCE_NAMES ? name_kinds[i].table : notes[i - SOURCE_NAMES]);
        code = team_ask(&moving->from, sql, values, 1, NULL, err);
        free(sql);
    }
    return code;
}

/* Those who asked a moment ago where the project is are still reading here. */
static int drop_here(struct moving *moving, struct error *err) {
    const struct timespec moment = {.tv_sec = 2};
    nanosleep(&moment, NULL);
    return check_all_there(moving, err) || drop_months(moving, err) || drop_names(moving, err) ? -1 : 0;
}

/* ---- to another server ------------------------------------------------------------------------------------------- */

/* Under two addresses there may be one store. */
static int check_two_stores(struct moving *moving, struct error *err) {
    struct team_answer here, there;
    const char *sql = embedded_text("team/move_same.sql");
    if (team_ask(&moving->from, sql, NULL, 0, &here, err)) return -1;
    int code = team_ask(&moving->to, sql, NULL, 0, &there, err);
    if (code == 0 && strcmp(team_word(&here, 0, 0), team_word(&there, 0, 0)) == 0 &&
        team_int(&here, 0, 1) == team_int(&there, 0, 1))
        code = error_fail(err, "%s: is the same store", moving->to.name);
    team_answer_free(&here);
    team_answer_free(&there);
    return code;
}

static int count_missing(struct moving *moving, struct error *err) {
    if (read_lists(moving, err)) return -1;
    for (int i = 0; i < moving->runs.rows; i++)
        ++*(is_there(moving, i) ? &moving->move->known : &moving->move->runs);
    return 0;
}

static int open_there(struct moving *moving, struct error *err) {
    int64_t version;
    return team_connect(&moving->to, moving->wish->to_address, err) || team_read_version(&moving->to, &version, err) ||
                   team_check_owner(&moving->to, err) || check_two_stores(moving, err) ||
                   team_ask(&moving->from, embedded_text("team/move_tables.sql"), NULL, 0, &moving->tables, err)
               ? -1
               : 0;
}

static int move_away(struct moving *moving, const char *uri, struct error *err) {
    const char *values[] = {moving->project};
    bool is_away;
    if (open_there(moving, err) || find_place(moving, &moving->from, &is_away, err) || count_missing(moving, err))
        return -1;
    if (moving->wish->is_trial) return 0;
    moving->move->runs = 0;
    if (!is_away && (copy_missing(moving, err) || change_place(moving, uri, err))) return -1;
    /* It may have been sent here from there. */
    return team_ask(&moving->to, "DELETE FROM clear.shards WHERE project = $1", values, 1, NULL, err) ||
                   drop_here(moving, err)
               ? -1
               : 0;
}

int team_move(struct team_move *move, const char *uri, const struct team_move_wish *wish, struct error *err) {
    struct moving moving = {.move = move, .wish = wish};
    int64_t version;
    *move = (struct team_move){0};
    snprintf(moving.project, sizeof moving.project, "%" PRId64, content_project(wish->project));
    if (wish->to_address && team_check_address(wish->to_address, err)) return -1;
    layout_make(&moving.layout);
    int code = team_connect(&moving.from, uri, err) || team_read_version(&moving.from, &version, err) ||
               team_check_owner(&moving.from, err) || team_check_project(&moving.from, wish->project, err);
    if (code == 0)
        code =
            wish->to_address ? move_away(&moving, uri, err) : give_runs(move, &moving.from, &moving.layout, wish, err);
    team_answer_free(&moving.tables);
    team_answer_free(&moving.runs);
    map_free(&moving.there);
    layout_free(&moving.layout);
    team_disconnect(&moving.guard);
    team_disconnect(&moving.to);
    team_disconnect(&moving.from);
    return code ? -1 : 0;
}
