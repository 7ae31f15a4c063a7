#include "ingest/team/pull_heads.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/team/copy_text.h"
#include "schema/schema.h"

struct heads {
    struct team *team;
    struct db *db;
    const char *values[5]; /* of the statements: project, months, uuids, figure, subjects */
    struct buffer months, uuids;
    const struct team_run_item **runs; /* in the order of the arrays */
    int64_t *ids;                      /* in the file, of each */
    size_t count;
};

static void heads_free(struct heads *heads) {
    buffer_free(&heads->months);
    buffer_free(&heads->uuids);
    free(heads->runs);
    free(heads->ids);
}

/* 0: the run is not here. */
static int find_here(struct db *db, const char *uuid, int64_t *id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT id FROM main.runs WHERE uuid = :uuid", err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", uuid);
    int code = db_step(db, row, err);
    *id = code == 1 ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* The runs that are not here. */
static int choose(struct heads *heads, struct team *team, struct db *db, const struct team_runs *runs,
                  struct error *err) {
    *heads = (struct heads){.team = team, .db = db};
    heads->runs = xcalloc(runs->count + 1, sizeof(const struct team_run_item *));
    heads->ids = xcalloc(runs->count + 1, sizeof *heads->ids);
    for (size_t i = 0; i < runs->count; i++) {
        const struct team_run_item *run = &runs->items[i];
        if (find_here(db, run->name.uuid, &heads->ids[heads->count], err)) return -1;
        if (heads->ids[heads->count]) continue;
        buffer_printf(&heads->months, "%c%s", heads->count ? ',' : '{', run->name.month.text);
        buffer_printf(&heads->uuids, "%c%s", heads->count ? ',' : '{', run->name.uuid);
        heads->runs[heads->count++] = run;
    }
    buffer_add_text(&heads->months, heads->count ? "}" : "{}");
    buffer_add_text(&heads->uuids, heads->count ? "}" : "{}");
    heads->values[0] = team->project_number;
    heads->values[1] = buffer_text(&heads->months);
    heads->values[2] = buffer_text(&heads->uuids);
    return 0;
}

/* The place in the arrays that the first column says; -1: none. */
static int64_t place_of(const struct heads *heads, const struct team_answer *answer, int row) {
    int64_t place = team_int(answer, row, 0) - 1;
    return place >= 0 && (size_t)place < heads->count ? place : -1;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

struct head_rows {
    struct heads *heads;
    const struct layout_table *table;
    const struct team_answer *answer;
    struct map *processes; /* (place, id in the store) -> id in the file */
};

struct process_key {
    int64_t place, id;
};

static void bind_process(const struct head_rows *rows, sqlite3_stmt *insert, int at, int64_t place, const char *text) {
    struct process_key key = {place, strtoll(text, NULL, 10)};
    const struct map_entry *entry = map_find(rows->processes, &key, sizeof key);
    if (entry) sqlite3_bind_int64(insert, at, entry->value);
}

/* Ids of names are left out: there are no names. */
static void bind_column(const struct head_rows *rows, sqlite3_stmt *insert, int i, int64_t place, const char *text) {
    const struct layout_column *column = &rows->table->columns[i];
    if (column->role.role == COPY_ID) return;
    if (column->role.role == COPY_RUN)
        sqlite3_bind_int64(insert, i + 1, rows->heads->ids[place]);
    else if (column->role.role == COPY_MAPPINGS)
        sqlite3_bind_text(insert, i + 1, "[]", -1, SQLITE_STATIC);
    else if (rows->table->is_run && strcmp(column->name, "uuid") == 0)
        sqlite3_bind_text(insert, i + 1, rows->heads->runs[place]->name.uuid, -1, SQLITE_STATIC);
    else if (text && column->role.role == COPY_PROCESS)
        bind_process(rows, insert, i + 1, place, text);
    else if (text && column->role.role == COPY_VALUE && column->type == LAYOUT_TEXT)
        file_text_bind(insert, i + 1, text);
    else if (text && column->role.role == COPY_VALUE && column->type == LAYOUT_REAL)
        sqlite3_bind_double(insert, i + 1, strtod(text, NULL));
    else if (text && column->role.role == COPY_VALUE)
        sqlite3_bind_int64(insert, i + 1, strtoll(text, NULL, 10));
}

static int put_row(const struct head_rows *rows, int row, struct error *err) {
    struct heads *heads = rows->heads;
    int64_t place = place_of(heads, rows->answer, row);
    sqlite3_stmt *insert = db_prepare(heads->db, rows->table->table->insert, err);
    if (!insert || place < 0) return -1;
    for (int i = 0; i < rows->table->column_count; i++)
        bind_column(rows, insert, i, place, team_text(rows->answer, row, i + 1));
    if (db_run(heads->db, insert, err)) return -1;
    int64_t here = sqlite3_last_insert_rowid(heads->db->handle);
    if (rows->table->is_run) heads->ids[place] = here;
    if (strcmp(rows->table->name, "processes") == 0) {
        struct process_key key = {place, team_int(rows->answer, row, 1)};
        map_put(rows->processes, &key, sizeof key, NULL)->value = here;
    }
    return 0;
}

static int put_table(struct heads *heads, const struct layout_table *table, struct map *processes, struct error *err) {
    struct buffer sql = {0};
    struct team_answer answer;
    layout_add_select_many(&sql, table);
    int code = team_ask(&heads->team->server, buffer_text(&sql), heads->values, 3, &answer, err);
    struct head_rows rows = {heads, table, &answer, processes};
    for (int row = 0; code == 0 && row < answer.rows; row++)
        code = put_row(&rows, row, err);
    team_answer_free(&answer);
    buffer_free(&sql);
    return code;
}

/* In the order in which a row may refer to another; totals last, for they go where other rows of a run come. */
static int put_tables(struct heads *heads, bool with_figures, struct error *err) {
    static const char *const of_lists[] = {"runs", "tags", "pins", "processes", "profiles", "run_totals", NULL},
                             *const of_figures[] = {"runs", "tags", "run_totals", NULL};
    const struct layout *layout = &heads->team->layout;
    struct map processes = {0};
    int code = 0;
    for (const char *const *name = with_figures ? of_figures : of_lists; *name; name++)
        for (size_t j = 0; j < layout->count && code == 0; j++)
            if (strcmp(layout->tables[j].name, *name) == 0)
                code = put_table(heads, &layout->tables[j], &processes, err);
    map_free(&processes);
    return code;
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static int put_figure(const struct heads *heads, const struct team_answer *answer, int row, struct error *err) {
    int64_t place = place_of(heads, answer, row);
    const char *value = team_text(answer, row, 3);
    sqlite3_stmt *insert =
        db_prepare(heads->db, "INSERT INTO temp.store_figures VALUES (:run, :figure, :subject, :value, :place)", err);
    if (!insert || place < 0) return -1;
    sqlite3_bind_int64(insert, 1, heads->ids[place]);
    file_text_bind(insert, 2, team_word(answer, row, 1));
    file_text_bind(insert, 3, team_word(answer, row, 2));
    if (value) sqlite3_bind_double(insert, 4, strtod(value, NULL));
    sqlite3_bind_int64(insert, 5, team_int(answer, row, 4));
    return db_run(heads->db, insert, err);
}

static int put_figures(struct heads *heads, const char *sql, int values, struct error *err) {
    struct team_answer answer;
    int code = team_ask(&heads->team->server, sql, heads->values, values, &answer, err);
    for (int row = 0; code == 0 && row < answer.rows; row++)
        code = put_figure(heads, &answer, row, err);
    team_answer_free(&answer);
    return code;
}

/* The views of the store show the project that the transaction has. */
static int put_subjects(struct heads *heads, const char *of, struct error *err) {
    struct team_server *server = &heads->team->server;
    struct buffer pattern = {0};
    store_text_add(&pattern, of);
    heads->values[4] = buffer_text(&pattern);
    int code = team_run(server, "BEGIN READ ONLY", err) ||
                       team_ask(server, "SELECT set_config('clear.project', $1, true)", heads->values, 1, NULL, err) ||
                       put_figures(heads, embedded_text("team/head_subjects.sql"), 5, err) ||
                       team_run(server, "COMMIT", err)
                   ? -1
                   : 0;
    if (code) team_rollback(server);
    buffer_free(&pattern);
    return code;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static int put_all(struct heads *heads, const struct head_figures *figures, struct error *err) {
    if (put_tables(heads, figures->are_wanted, err)) return -1;
    if (figures->are_wanted && put_figures(heads, embedded_text("team/head_figures.sql"), 4, err)) return -1;
    return figures->of ? put_subjects(heads, figures->of, err) : 0;
}

static int put_heads(struct heads *heads, const struct head_figures *figures, struct error *err) {
    struct team_server *server = &heads->team->server;
    if (figures->are_wanted && db_exec(heads->db, embedded_text("team/figures_view.sql"), err)) return -1;
    if (heads->count == 0) return 0;
    /* One snapshot: a run that is deleted meanwhile is here as a whole, or not at all. */
    if (team_run(server, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err) || db_begin(heads->db, err)) return -1;
    if (put_all(heads, figures, err) == 0 && team_run(server, "COMMIT", err) == 0) return db_commit(heads->db, err);
    db_rollback(heads->db);
    team_rollback(server);
    return err->status == ERROR_NONE ? error_fail(err, "%s: is damaged: a list of runs", heads->team->server.name) : -1;
}

int pull_heads(struct team *team, struct db *db, const struct team_runs *runs, const struct head_figures *figures,
               struct error *err) {
    struct heads heads;
    int code = choose(&heads, team, db, runs, err);
    heads.values[3] = figures->name;
    if (code == 0) code = put_heads(&heads, figures, err);
    heads_free(&heads);
    return code;
}
