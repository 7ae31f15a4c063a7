#include "ingest/team/team_views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/team/content_key.h"
#include "ingest/team/copy_text.h"
#include "schema/schema.h"

/* ---- which views a store has ------------------------------------------------------------------------------------- */

static const char *const texts[] = {"team/dialect.sql",   "team/names_views.sql", "team/sites_views.sql",
                                    "team/judgement.sql", "team/views.sql",       "rules.yaml",
                                    CLEAR_VERSION};
enum { TEXTS = sizeof texts / sizeof *texts };

/* Of all texts that make them, in hex. */
static char *fingerprint(void) {
    struct content_hash hash;
    content_begin(&hash, "views");
    for (int i = 0; i < TEXTS; i++)
        content_text(&hash, i == TEXTS - 1 ? texts[i] : embedded_text(texts[i]));
    content_int(&hash, SCHEMA_VERSION);
    struct content_key key = content_end(&hash);
    return xasprintf("%016" PRIx64 "%016" PRIx64, (uint64_t)key.key, (uint64_t)key.check);
}

int team_views_check(struct team_server *server, bool *is_current, struct error *err) {
    struct team_answer answer;
    char *wanted = fingerprint();
    int code = team_ask(server, embedded_text("team/store/views_hash"), NULL, 0, &answer, err);
    *is_current = code == 0 && answer.rows && strcmp(team_text(&answer, 0, 0), wanted) == 0;
    team_answer_free(&answer);
    free(wanted);
    return code;
}

/* ---- the tables of a file ---------------------------------------------------------------------------------------- */

/* An id of a process, profile or event: unique in the project. */
#define IN_RUN "(names.number << 32 | %s)"

/* The number of an event in its run: behind those of the processes before. */
static const char event_number[] =
    "(SELECT coalesce(sum(cardinality(earlier.\"tid\")), 0)::bigint FROM clear.\"events\" AS earlier WHERE "
    "earlier.project = row.project AND earlier.month = row.month AND earlier.run = row.run "
    "AND earlier.place < row.place) + item_place";

static const char *list_of(enum source_name thing) {
    return thing == SOURCE_TRACE ? "traces" : thing == SOURCE_LABEL_SET ? "label_sets" : "objects";
}

static void add_name(struct buffer *sql, const struct layout_table *table, const struct layout_column *column) {
    if (layout_has_places(table, column))
        buffer_printf(sql, "CASE WHEN item.\"%s\" = 0 THEN 0 ELSE names.\"%s\"[item.\"%s\"] END", column->name,
                      list_of(column->role.target), column->name);
    else
        buffer_printf(sql, "%s.\"%s\"", table->is_list ? "item" : "row", column->name);
}

static void add_id(struct buffer *sql, const struct layout_table *table, const struct layout_column *column) {
    char *of_row = xasprintf("row.\"%s\"", column->name);
    const char *number = column->is_left_out ? (table->is_list ? event_number : "row.place") : of_row;
    buffer_printf(sql, IN_RUN, number);
    free(of_row);
}

static void add_column(struct buffer *sql, const struct layout_table *table, int at) {
    const struct layout_column *column = &table->columns[at];
    enum copy_role role = column->role.role;
    if (role == COPY_RUN || (role == COPY_ID && table->is_run))
        buffer_add_text(sql, "names.number");
    else if (role == COPY_ID || role == COPY_PROCESS || role == COPY_PROFILE)
        add_id(sql, table, column);
    else if (role == COPY_NAME)
        add_name(sql, table, column);
    else if (role == COPY_MAPPINGS)
        buffer_printf(sql, "('[' || array_to_string(row.\"%s\", ',') || ']') COLLATE \"C\"", column->name);
    else if (column->is_left_out) /* of a run */
        buffer_add_text(sql, "row.run::text COLLATE \"C\"");
    else
        buffer_printf(sql, "%s.\"%s\"%s", table->is_list && at != table->owner ? "item" : "row", column->name,
                      column->type == LAYOUT_TEXT ? " COLLATE \"C\"" : "");
    buffer_printf(sql, " AS \"%s\"", column->name);
}

/* In the schema clear_rows with the number of the run as another column, by which the views of a file join them; in clear_views the columns
 * of a file. */
static void add_view(struct buffer *sql, const struct layout_table *table) {
    struct buffer names = {0};
    /* layers-ok: names of clear's own schema */
    buffer_printf(sql, "CREATE VIEW clear_rows.\"%s\" AS SELECT ", table->name);
    for (int i = 0; i < table->column_count; i++) {
        add_column(sql, table, i);
        buffer_add_text(sql, ", ");
        buffer_printf(&names, "%s\"%s\"", i ? ", " : "", table->columns[i].name);
    }
    buffer_add_text(sql, "names.number AS run_number");
    /* layers-ok: as above */
    buffer_printf(sql, " FROM clear.\"%s\" AS row JOIN clear.run_names AS names USING (project, month, run)",
                  table->name);
    if (table->is_list) layout_add_unnest(sql, table);
    buffer_add_text(sql, " WHERE row.project = clear_views.project();\n");
    /* layers-ok: as above */
    buffer_printf(sql, "CREATE VIEW clear_views.\"%s\" AS SELECT %s FROM clear_rows.\"%s\";\n", table->name,
                  buffer_text(&names), table->name);
    buffer_free(&names);
}

/* ---- clear's own rules ------------------------------------------------------------------------------------------- */

static void add_row(struct buffer *rows, sqlite3_stmt *row) {
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        if (i) copy_tab(rows);
        copy_text(rows, db_text(row, i));
    }
    copy_end(rows);
}

static int copy_table(struct team_server *server, struct db *db, const char *select, const char *copy,
                      struct error *err) {
    struct buffer rows = {0};
    sqlite3_stmt *row = db_prepare(db, select, err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1)
        add_row(&rows, row);
    if (code == 0) code = team_copy(server, copy, &rows, err);
    buffer_free(&rows);
    return code;
}

static int copy_judgement(struct team_server *server, struct db *db, struct error *err) {
    static const char *const tables[][2] = {
        {"SELECT name, value, unit, meaning FROM rules", "COPY clear_views.rules FROM STDIN"},
        {"SELECT code, severity, title, text FROM advice", "COPY clear_views.advice FROM STDIN"},
        {"SELECT pattern FROM wrappers", "COPY clear_views.wrappers FROM STDIN"}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (copy_table(server, db, tables[i][0], tables[i][1], err)) return -1;
    return 0;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static int make_tables(struct team_server *server, const struct layout *layout, struct error *err) {
    struct buffer sql = {0};
    for (size_t i = 0; i < layout->count; i++)
        add_view(&sql, &layout->tables[i]);
    int code = team_run(server, embedded_text("team/names_views.sql"), err) ||
                       team_run(server, buffer_text(&sql), err) ||
                       team_run(server, embedded_text("team/sites_views.sql"), err)
                   ? -1
                   : 0;
    buffer_free(&sql);
    return code;
}

static int put_hash(struct team_server *server, struct error *err) {
    char *hash = fingerprint();
    const char *values[] = {"views_hash", hash};
    int code = team_ask(server, embedded_text("team/store/put_meta"), values, 2, NULL, err);
    free(hash);
    return code;
}

int team_views_make(struct team_server *server, const struct layout *layout, struct db *db, struct error *err) {
    return team_run(server, embedded_text("team/new_views.sql"), err) ||
                   team_run(server, embedded_text("team/dialect.sql"), err) || make_tables(server, layout, err) ||
                   team_run(server, embedded_text("team/judgement.sql"), err) || copy_judgement(server, db, err) ||
                   team_run(server, embedded_text("team/views.sql"), err) ||
                   team_run(server, embedded_text("team/views_end.sql"), err) || put_hash(server, err)
               ? -1
               : 0;
}
