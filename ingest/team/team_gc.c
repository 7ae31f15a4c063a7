#include "ingest/team/team_gc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/team/names.h"
#include "ingest/team/team.h"
#include "schema/schema.h"

_Static_assert(sizeof((struct team_gc){0}.names) / sizeof(int64_t) == SOURCE_NAMES, "a number for each kind of name");

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static int find_doomed(struct team_server *server, int64_t oldest_ns, struct error *err) {
    struct team_month oldest = team_month(oldest_ns < 0 ? 0 : oldest_ns);
    const char *values[] = {oldest.text};
    return team_run(server, embedded_text("team/gc_doomed_table.sql"), err) ||
                   team_ask(server, embedded_text("team/gc_doomed.sql"), values, 1, NULL, err)
               ? -1
               : 0;
}

static int read_months(struct team_gc *gc, struct team_server *server, struct error *err) {
    struct team_answer answer;
    if (team_ask(server, embedded_text("team/gc_months.sql"), NULL, 0, &answer, err)) return -1;
    gc->months = xcalloc((size_t)answer.rows + 1, sizeof *gc->months);
    for (int i = 0; i < answer.rows; i++) {
        struct team_gc_month *month = &gc->months[gc->month_count++];
        snprintf(month->text, sizeof month->text, "%s", team_word(&answer, i, 0));
        month->runs = team_int(&answer, i, 1);
        month->kept = team_int(&answer, i, 2);
        month->bytes = team_int(&answer, i, 3);
        gc->runs += month->runs;
        if (!month->kept) gc->dropped_bytes += month->bytes;
    }
    team_answer_free(&answer);
    return 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Where keys of a kind stand: each adds a SELECT of them, of rows that stay. */
static void add_select(struct buffer *sql, const char *table, const char *column, bool is_list) {
    if (sql->size) buffer_add_text(sql, "\nUNION ");
    const char *form = is_list ? "unnest(item.\"%s\")" : "item.\"%s\"";
    buffer_add_text(sql, "SELECT item.project, ");
    buffer_printf(sql, form, column); /* layers-ok: tables and columns of clear's own */
    buffer_add_text(sql, " AS key");
    buffer_printf(sql, " FROM clear.\"%s\" AS item", table); /* layers-ok: as above */
}

static const char stays[] =
    " WHERE NOT EXISTS (SELECT 1 FROM pg_temp.doomed WHERE (doomed.project, doomed.month, doomed.run) ="
    " (item.project, item.month, item.run))";

static void add_uses_of_runs(struct buffer *sql, const struct layout *layout, enum source_name kind) {
    static const struct {
        enum source_name kind;
        const char *column;
    } lists[] = {{SOURCE_TRACE, "traces"}, {SOURCE_LABEL_SET, "label_sets"}, {SOURCE_OBJECT, "objects"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].kind == kind) {
            add_select(sql, "run_names", lists[i].column, true);
            buffer_add_text(sql, stays);
        }
    for (size_t i = 0; i < layout->count; i++) {
        const struct layout_table *table = &layout->tables[i];
        for (int j = 0; j < table->column_count && !table->is_list; j++) {
            const struct layout_column *column = &table->columns[j];
            bool is_mappings = column->role.role == COPY_MAPPINGS && kind == SOURCE_MAPPING;
            bool is_key = column->role.role == COPY_NAME && column->role.target == kind;
            if (column->is_left_out || (!is_mappings && !is_key)) continue;
            add_select(sql, table->name, column->name, is_mappings);
            buffer_add_text(sql, stays);
        }
    }
}

/* Of names that stay: their kinds were decided before. */
static void add_uses_of_names(struct buffer *sql, enum source_name kind) {
    for (int i = kind + 1; i < SOURCE_NAMES; i++)
        for (const struct name_column *column = name_kinds[i].columns; column->name; column++)
            if ((column->type == NAME_KEY || column->type == NAME_KEYS) && column->target == kind) {
                add_select(sql, name_kinds[i].table, column->name, column->type == NAME_KEYS);
                buffer_printf(sql, " JOIN pg_temp.\"used_%s\" AS used USING (project, key)", name_kinds[i].table);
            }
}

static int find_used(struct team_server *server, const struct layout *layout, enum source_name kind,
                     struct error *err) {
    struct buffer uses = {0};
    const char *table = name_kinds[kind].table;
    add_uses_of_runs(&uses, layout, kind);
    add_uses_of_names(&uses, kind);
    struct buffer sql = {0};
    buffer_printf(&sql, "CREATE TEMP TABLE \"used_%s\" ON COMMIT DROP AS\n", table); /* layers-ok: as above */
    buffer_add_text(&sql, buffer_text(&uses));
    buffer_printf(&sql, "; ANALYZE pg_temp.\"used_%s\"", table);
    int code = team_run(server, buffer_text(&sql), err);
    buffer_free(&sql);
    buffer_free(&uses);
    return code;
}

/* `verb`: SELECT count(*) or DELETE. */
static char *unused_sql(const char *verb, enum source_name kind) {
    const char *table = name_kinds[kind].table; /* layers-ok: as above */
    return xasprintf("%s FROM clear.\"%s\" AS name WHERE NOT EXISTS (SELECT 1 FROM pg_temp.\"used_%s\" AS used"
                     " WHERE used.project = name.project AND used.key = name.key)",
                     verb, table, table);
}

static int count_unused(struct team_server *server, enum source_name kind, int64_t *count, struct error *err) {
    struct team_answer answer;
    char *sql = unused_sql("SELECT count(*)", kind);
    int code = team_ask(server, sql, NULL, 0, &answer, err);
    if (code == 0) *count = team_int(&answer, 0, 0);
    team_answer_free(&answer);
    free(sql);
    return code;
}

static int delete_unused(struct team_server *server, enum source_name kind, int64_t *count, struct error *err) {
    char *sql = unused_sql("DELETE", kind);
    int code = team_change(server, sql, NULL, 0, count, err);
    free(sql);
    return code;
}

/* What names others comes before these. */
static int sweep_names(struct team_gc *gc, struct team_server *server, const struct layout *layout, bool is_trial,
                       struct error *err) {
    for (int kind = SOURCE_NAMES - 1; kind > SOURCE_NONE; kind--)
        if (find_used(server, layout, (enum source_name)kind, err)) return -1;
    for (int kind = SOURCE_NAMES - 1; kind > SOURCE_NONE; kind--) {
        int64_t *count = &gc->names[kind];
        if ((is_trial ? count_unused : delete_unused)(server, (enum source_name)kind, count, err)) return -1;
        gc->name_count += *count;
    }
    return 0;
}

/* ---- the transaction --------------------------------------------------------------------------------------------- */

static int collect(struct team_gc *gc, struct team_server *server, const struct layout *layout, int64_t oldest_ns,
                   bool is_trial, struct error *err) {
    if (team_run(server, embedded_text(is_trial ? "team/gc_look.sql" : "team/gc_begin.sql"), err) ||
        find_doomed(server, oldest_ns, err) || read_months(gc, server, err) ||
        sweep_names(gc, server, layout, is_trial, err))
        return -1;
    if (is_trial) return team_run(server, "ROLLBACK", err);
    return team_run(server, embedded_text("team/gc_drop.sql"), err) || team_run(server, "COMMIT", err) ? -1 : 0;
}

static int collect_with_layout(struct team_gc *gc, struct team_server *server, int64_t oldest_ns, bool is_trial,
                               struct error *err) {
    struct layout layout = {0};
    int64_t version;
    struct db db;
    if (team_read_version(server, &version, err) || db_open_private(&db, "the schema of a store", err)) return -1;
    int code = layout_make(&layout, &db, err) || collect(gc, server, &layout, oldest_ns, is_trial, err) ? -1 : 0;
    if (code) team_rollback(server);
    layout_free(&layout);
    return db_close(&db, err) ? -1 : code;
}

int team_gc(struct team_gc *gc, const char *uri, int64_t oldest_ns, bool is_trial, struct error *err) {
    struct team_server server;
    *gc = (struct team_gc){0};
    int code = team_connect(&server, uri, err) || collect_with_layout(gc, &server, oldest_ns, is_trial, err) ? -1 : 0;
    team_disconnect(&server);
    return code;
}

void team_gc_free(struct team_gc *gc) {
    free(gc->months);
    *gc = (struct team_gc){0};
}
