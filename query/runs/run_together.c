#include "query/runs/run_together.h"

#include <inttypes.h>
#include <stdlib.h>

#include "schema/facts.h"
#include "schema/schema.h"

struct joining {
    struct db *db;
    int64_t *ids; /* ascending */
    size_t count;
    struct buffer json; /* the same as a JSON array */
    int64_t run_id;
};

static int smaller_first(const void *left, const void *right) {
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static int open_joining(struct joining *joining, const struct run_list *runs, struct error *err) {
    joining->db = runs->items[0].db;
    joining->ids = xmalloc(runs->count * sizeof *joining->ids);
    for (size_t i = 0; i < runs->count; i++) {
        if (runs->items[i].db != joining->db)
            return error_usage(err, "runs and files are not judged together: ingest the files to use both");
        joining->ids[joining->count++] = runs->items[i].id;
    }
    qsort(joining->ids, joining->count, sizeof *joining->ids, smaller_first);
    buffer_add_json_integers(&joining->json, joining->ids, joining->count);
    return 0;
}

static void close_joining(struct joining *joining) {
    free(joining->ids);
    buffer_free(&joining->json);
}

static sqlite3_stmt *prepare(const struct joining *joining, const char *text, struct error *err) {
    sqlite3_stmt *statement = db_prepare(joining->db, embedded_text(text), err);
    if (!statement) return NULL;
    if (sqlite3_bind_parameter_index(statement, ":run")) db_bind_int(statement, ":run", joining->run_id);
    if (sqlite3_bind_parameter_index(statement, ":runs")) db_bind_text(statement, ":runs", buffer_text(&joining->json));
    return statement;
}

static int find_first(struct joining *joining, struct error *err) {
    enum { ID, RECORDED, INGESTED };
    sqlite3_stmt *row = prepare(joining, "runs/run_together/first", err);
    int code = row ? db_step(joining->db, row, err) : -1;
    if (code < 1) return code < 0 ? -1 : error_fail(err, "%s: the runs no longer exist", joining->db->path);
    joining->run_id = sqlite3_column_int64(row, ID);
    bool is_mixed = sqlite3_column_int64(row, RECORDED) && sqlite3_column_int64(row, INGESTED);
    sqlite3_reset(row);
    if (!is_mixed) return 0;
    return error_usage(err, "some of the runs were recorded and some ingested: these are not judged together");
}

static int run_step(const struct joining *joining, const char *text, struct error *err) {
    sqlite3_stmt *statement = prepare(joining, text, err);
    return statement ? db_run(joining->db, statement, err) : -1;
}

static int run_steps(const struct joining *joining, const char *const *steps, const char *rest, struct error *err) {
    for (; *steps; steps++)
        if (run_step(joining, *steps, err)) return -1;
    return db_exec(joining->db, embedded_text(rest), err);
}

static int add_view(const struct joining *joining, const char *table, struct error *err) {
    sqlite3_stmt *row = prepare(joining, "runs/run_together/view", err);
    if (!row) return -1;
    db_bind_text(row, ":table", table);
    int code = db_step(joining->db, row, err);
    char *text = code == 1 ? xstrdup(db_text(row, 0)) : NULL;
    sqlite3_reset(row);
    if (text) code = db_create_temp_view(joining->db, text, err);
    free(text);
    return code;
}

/* The tables with stacks, but for locks and cells. */
static int add_views(const struct joining *joining, struct error *err) {
    static const char *const tables[] = {"site_keys", "site_details", "leaks", "io",      "histograms",   "maps",
                                         "spins",     "heap_peaks",   "cpu",   "samples", "thread_starts"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (add_view(joining, tables[i], err)) return -1;
    return 0;
}

static int shadow(const struct joining *joining, struct error *err) {
#define STEP(name) "runs/run_together/" name
    static const char *const windows[] = {STEP("members"),   STEP("run"),     STEP("sums"),
                                          STEP("processes"), STEP("lives"),   STEP("twins"),
                                          STEP("profiles"),  STEP("windows"), NULL};
    static const char *const rows[] = {STEP("places"),      STEP("stacks"), STEP("locks"),
                                       STEP("lock_places"), STEP("cells"),  STEP("cell_places"),
                                       STEP("counters"),    STEP("counts"), NULL};
    struct db *db = joining->db;
    if (db_exec(db, embedded_text("runs/selection_tables.sql"), err) ||
        db_exec(db, embedded_text(STEP("tables")), err) || run_steps(joining, windows, STEP("keys"), err) ||
        run_steps(joining, rows, STEP("rows"), err) || add_views(joining, err))
        return -1;
    if (facts_shadow_tables(db, err) || schema_shadow_views(db, err) || facts_shadow_run(db, joining->run_id, err))
        return -1;
    return db_exec(db, embedded_text(STEP("events")), err);
#undef STEP
}

static bool are_in_a_row(const struct joining *joining) {
    return joining->ids[joining->count - 1] - joining->ids[0] == (int64_t)joining->count - 1;
}

static void describe(const struct joining *joining, const char *name, struct run_together *made) {
    enum { IDS_NAMED = 8 };
    struct buffer *out = &made->title;
    const size_t count = joining->count, last = count - 1;
    const char *things = count == 1 ? "run" : "runs";
    if (joining->db->is_private || joining->db->source) {
        buffer_printf(out, "%zu %s (%s)", count, things, name);
    } else if (count > 2 && are_in_a_row(joining)) {
        buffer_printf(out, "runs %" PRId64 " to %" PRId64 " (%zu runs)", joining->ids[0], joining->ids[last], count);
    } else if (count > IDS_NAMED) {
        buffer_printf(out, "%zu runs of %" PRId64 " to %" PRId64, count, joining->ids[0], joining->ids[last]);
    } else {
        for (size_t i = 0; i < count; i++)
            buffer_printf(out, "%s %" PRId64, i ? "," : things, joining->ids[i]);
        buffer_printf(out, " (%zu %s)", count, things);
    }
    buffer_add_text(out, ", together");
}

/* For the reader, who may run it again. */
static void add_condition(const struct joining *joining, struct buffer *out) {
    const int64_t first = joining->ids[0], last = joining->ids[joining->count - 1];
    if (joining->count > 2 && are_in_a_row(joining)) {
        buffer_printf(out, "run_id BETWEEN %" PRId64 " AND %" PRId64, first, last); /* layers-ok: shown, not run */
        return;
    }
    buffer_add_text(out, "run_id IN (");
    for (size_t i = 0; i < joining->count; i++)
        buffer_printf(out, "%s%" PRId64, i ? ", " : "", joining->ids[i]);
    buffer_add_char(out, ')');
}

static int add_exits(const struct joining *joining, struct buffer *out, struct error *err) {
    sqlite3_stmt *row = prepare(joining, "runs/run_together/exits", err);
    int code = row ? db_step(joining->db, row, err) : -1;
    if (code == 1) buffer_add_text(out, db_text(row, 0));
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

int run_together_shadow(const struct run_list *runs, const char *name, struct run_together *made, struct error *err) {
    struct joining joining = {0};
    int code = open_joining(&joining, runs, err);
    if (code == 0) code = find_first(&joining, err);
    if (code == 0) code = shadow(&joining, err);
    if (code == 0) code = add_exits(&joining, &made->exits, err);
    if (code == 0) {
        made->run_id = joining.run_id;
        describe(&joining, name, made);
        add_condition(&joining, &made->condition);
    }
    close_joining(&joining);
    return code;
}

void run_together_free(struct run_together *made) {
    buffer_free(&made->title);
    buffer_free(&made->exits);
    buffer_free(&made->condition);
}
