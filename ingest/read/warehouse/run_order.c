#include "ingest/read/warehouse/run_order.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/upkeep/references.h"
#include "schema/schema.h"

/* What exports are sorted by. Objects come first, because they name stacks. */
static const struct ordered {
    enum source_name name;
    const char *table, *thing, *more; /* more: SQL that finds uses which do not hang on profiles */
} things[] = {
    {SOURCE_OBJECT, "objects", "object", NULL},
    {SOURCE_TRACE, "traces", "trace", "merge/run_order/used_traces"},
    {SOURCE_LABEL_SET, "label_sets", "label_set", "merge/run_order/used_label_sets"},
};
_Static_assert(sizeof things / sizeof *things == USED_THINGS, "a list of uses for each");

/* Which rows of a table are the wanted runs'. */
static const struct hanging {
    const char *target, *sql;
} hangings[] = {
    {"profiles", "INSERT OR IGNORE INTO temp.used(id) SELECT {column} FROM main.{table}"
                 " WHERE profile_id IN (SELECT id FROM temp.wanted_profiles) AND {column} IS NOT NULL"},
    {"processes", "INSERT OR IGNORE INTO temp.used(id) SELECT {column} FROM main.{table}"
                  " WHERE process_id IN (SELECT id FROM temp.wanted_processes) AND {column} IS NOT NULL"},
};
_Static_assert(sizeof hangings / sizeof *hangings == USE_HANGINGS, "a list of tables for each");

/* The statement stays prepared: for each run it is the same. */
static int use_column(struct db *db, const char *text, const struct reference *reference, struct error *err) {
    char *sql = reference_sql(text, reference);
    sqlite3_stmt *insert = db_prepare(db, sql, err);
    free(sql);
    return insert ? db_run(db, insert, err) : -1;
}

static bool has_table(const struct references *references, const char *table) {
    for (size_t i = 0; i < references->count; i++)
        if (strcmp(references->items[i].table, table) == 0) return true;
    return false;
}

static void find_uses(struct run_uses *uses) {
    for (int i = 0; i < USED_THINGS; i++)
        references_find_own(&uses->things[i], things[i].table);
    for (int i = 0; i < USE_HANGINGS; i++)
        references_find_own(&uses->hangings[i], hangings[i].target);
    uses->is_known = true;
}

/* Fills temp.used with the ids of a thing that the wanted runs name. */
static int find_used(struct db *db, struct run_uses *uses, const struct ordered *thing, struct error *err) {
    if (!uses->is_known) find_uses(uses);
    if (db_exec(db, "DELETE FROM temp.used", err)) return -1;
    const struct references *references = &uses->things[thing - things];
    int code = 0;
    for (int i = 0; i < USE_HANGINGS; i++)
        for (size_t j = 0; code == 0 && j < references->count; j++)
            if (has_table(&uses->hangings[i], references->items[j].table))
                code = use_column(db, hangings[i].sql, &references->items[j], err);
    if (code == 0 && thing->more) code = db_exec(db, embedded_text(thing->more), err);
    if (code == 0 && thing->name == SOURCE_OBJECT)
        code = db_exec(db, "INSERT INTO temp.used_objects SELECT id FROM temp.used", err);
    return code;
}

/* ---- all runs ---------------------------------------------------------------------------------------------------- */

static int put_used(struct source_names *names, const struct ordered *thing, bool *is_same, struct error *err) {
    sqlite3_stmt *row = db_prepare(names->source, "SELECT id FROM temp.used ORDER BY id", err);
    int64_t before = -1;
    int code = -1;
    while (row && (code = db_step(names->source, row, err)) == 1) {
        int64_t here = source_names_id(names, thing->name, sqlite3_column_int64(row, 0), err);
        if (here < 0) {
            sqlite3_reset(row);
            return -1;
        }
        if (here <= before) *is_same = false;
        before = here;
    }
    return code;
}

/* An object puts its stack, so the stacks go before the objects are put. */
int run_order_prepare(struct source_names *names, bool *is_same, struct error *err) {
    static const int order[USED_THINGS] = {1, 2, 0};
    int64_t has_places;
    *is_same = true;
    if (db_exec(names->source, embedded_text("merge/wanted.sql"), err) ||
        find_used(names->source, &names->uses, &things[0], err))
        return -1;
    for (int i = 0; i < USED_THINGS; i++) {
        const struct ordered *thing = &things[order[i]];
        if (thing->name == SOURCE_OBJECT) {
            if (db_exec(names->source, "DELETE FROM temp.used; INSERT INTO temp.used SELECT id FROM temp.used_objects",
                        err))
                return -1;
        } else if (find_used(names->source, &names->uses, thing, err)) {
            return -1;
        }
        if (put_used(names, thing, is_same, err)) return -1;
    }
    const char *sql = "SELECT EXISTS (SELECT 1 FROM main.run_places WHERE run_id IN (SELECT id FROM temp.wanted_runs))";
    if (db_int(names->source, sql, 0, &has_places, err)) return -1;
    if (has_places) *is_same = false;
    return 0;
}

/* ---- one run ----------------------------------------------------------------------------------------------------- */

struct run_place {
    int64_t id, place;
};

static int read_places(struct source_names *names, const struct ordered *thing, int64_t there, struct buffer *places,
                       bool *is_same, struct error *err) {
    sqlite3_stmt *row = db_prepare(names->source, embedded_text("merge/run_order/places"), err);
    int64_t before = -1;
    int code;
    if (!row) return -1;
    db_bind_int(row, ":run", there);
    db_bind_text(row, ":thing", thing->thing);
    *is_same = true;
    while ((code = db_step(names->source, row, err)) == 1) {
        struct run_place place = {source_names_id(names, thing->name, sqlite3_column_int64(row, 0), err),
                                  sqlite3_column_int64(row, 1)};
        if (place.id < 0) {
            sqlite3_reset(row);
            return -1;
        }
        if (place.id <= before) *is_same = false;
        before = place.id;
        buffer_add(places, &place, sizeof place);
    }
    return code;
}

static int put_places(struct db *db, int64_t run_id, const char *thing, const struct buffer *places,
                      struct error *err) {
    const struct run_place *items = (const struct run_place *)(void *)places->data;
    for (size_t i = 0; i < places->size / sizeof *items; i++) {
        sqlite3_stmt *insert = db_prepare(db, embedded_text("merge/run_order/put_place"), err);
        if (!insert) return -1;
        db_bind_int(insert, ":run", run_id);
        db_bind_text(insert, ":thing", thing);
        db_bind_int(insert, ":id", items[i].id);
        db_bind_int(insert, ":place", items[i].place);
        if (db_run(db, insert, err)) return -1;
    }
    return 0;
}

static int keep_one(struct source_names *names, const struct ordered *thing, int64_t there, int64_t here,
                    struct error *err) {
    struct buffer places = {0};
    bool is_same;
    int code =
        find_used(names->source, &names->uses, thing, err) || read_places(names, thing, there, &places, &is_same, err)
            ? -1
            : 0;
    if (code == 0 && !is_same) code = put_places(names->writer->db, here, thing->thing, &places, err);
    buffer_free(&places);
    return code;
}

static int want_one(struct db *db, int64_t run_id, struct error *err) {
    if (db_exec(db, "DELETE FROM temp.wanted_runs", err)) return -1;
    sqlite3_stmt *insert = db_prepare(db, "INSERT INTO temp.wanted_runs(id) VALUES (:run)", err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", run_id);
    return db_run(db, insert, err) || db_exec(db, embedded_text("merge/wanted.sql"), err) ? -1 : 0;
}

int run_order_keep(struct source_names *names, int64_t there, int64_t here, struct error *err) {
    if (want_one(names->source, there, err)) return -1;
    for (int i = 0; i < USED_THINGS; i++)
        if (keep_one(names, &things[i], there, here, err)) return -1;
    return 0;
}

/* ---- reading alone ----------------------------------------------------------------------------------------------- */

int run_order_want(struct db *db, int64_t run_id, struct error *err) {
    static const char make[] = "CREATE TEMP TABLE IF NOT EXISTS wanted_runs(id INTEGER PRIMARY KEY) STRICT";
    return db_exec(db, make, err) || want_one(db, run_id, err) ? -1 : 0;
}

int run_order_read(struct db *db, struct run_uses *uses, enum source_name name, int64_t run_id, struct buffer *ids,
                   struct error *err) {
    const struct ordered *thing = things;
    while (thing->name != name)
        thing++;
    if (find_used(db, uses, thing, err)) return -1;
    sqlite3_stmt *row = db_prepare(db, embedded_text("merge/run_order/places"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":thing", thing->thing);
    int code;
    while ((code = db_step(db, row, err)) == 1) {
        int64_t id = sqlite3_column_int64(row, 0);
        buffer_add(ids, &id, sizeof id);
    }
    return code;
}

int run_order_put(struct db *db, enum source_name name, int64_t run_id, const int64_t *ids, size_t count,
                  struct error *err) {
    const struct ordered *thing = things;
    struct buffer places = {0};
    bool is_same = true;
    while (thing->name != name)
        thing++;
    for (size_t i = 0; i < count; i++) {
        struct run_place place = {ids[i], (int64_t)i + 1};
        if (i && ids[i] <= ids[i - 1]) is_same = false;
        buffer_add(&places, &place, sizeof place);
    }
    int code = is_same ? 0 : put_places(db, run_id, thing->thing, &places, err);
    buffer_free(&places);
    return code;
}
