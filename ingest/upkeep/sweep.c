#include "ingest/upkeep/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/upkeep/delete_runs.h"
#include "ingest/upkeep/references.h"
#include "schema/schema.h"

/* A table of names, after those that use it. Row 0 of some means "none" and stays. */
static const struct named {
    const char *table, *delete;
    const char *part; /* a table that is part of it: its rows go with theirs, and do not count as use */
    const char *more; /* SQL that finds uses which are no foreign keys */
} names[] = {
    {"site_keys", "DELETE FROM main.site_keys WHERE id NOT IN (SELECT id FROM temp.used)", NULL, NULL},
    {"subjects", "DELETE FROM main.subjects WHERE id <> 0 AND id NOT IN (SELECT id FROM temp.used)", NULL, NULL},
    {"objects", "DELETE FROM main.objects WHERE id NOT IN (SELECT id FROM temp.used)", NULL, NULL},
    {"traces", "DELETE FROM main.traces WHERE id <> 0 AND id NOT IN (SELECT id FROM temp.used)", NULL, NULL},
    {"label_sets", "DELETE FROM main.label_sets WHERE id <> 0 AND id NOT IN (SELECT id FROM temp.used)", NULL, NULL},
    {"source_texts", "DELETE FROM main.source_texts WHERE id NOT IN (SELECT id FROM temp.used)", NULL, NULL},
    {"locations",
     "DELETE FROM main.location_lines WHERE location_id NOT IN (SELECT id FROM temp.used);"
     "DELETE FROM main.locations WHERE id NOT IN (SELECT id FROM temp.used)",
     "location_lines", "upkeep/used_locations.sql"},
    {"functions", "DELETE FROM main.functions WHERE id NOT IN (SELECT id FROM temp.used)", NULL, NULL},
    {"mappings", "DELETE FROM main.mappings WHERE id <> 0 AND id NOT IN (SELECT id FROM temp.used)", NULL,
     "upkeep/used_mappings.sql"},
};

static int mark(struct db *db, const struct named *named, struct error *err) {
    struct references references;
    int code = db_exec(db, embedded_text("upkeep/used.sql"), err);
    if (code || references_read(&references, db, named->table, err)) return -1;
    for (size_t i = 0; code == 0 && i < references.count; i++) {
        if (named->part && strcmp(references.items[i].table, named->part) == 0) continue;
        char *sql = reference_sql("INSERT OR IGNORE INTO temp.used(id)"
                                  " SELECT {column} FROM main.{table} WHERE {column} IS NOT NULL",
                                  &references.items[i]);
        code = db_exec(db, sql, err);
        free(sql);
    }
    references_free(&references);
    return code == 0 && named->more ? db_exec(db, embedded_text(named->more), err) : code;
}

static int sweep_all(struct db *db, struct swept *swept, struct error *err) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (mark(db, &names[i], err)) return -1;
        int64_t before = sqlite3_total_changes64(db->handle);
        if (db_exec(db, names[i].delete, err)) return -1;
        swept->rows += sqlite3_total_changes64(db->handle) - before;
    }
    return 0;
}

static int is_recorded(struct db *db, bool *is, struct error *err) {
    int64_t *ids;
    size_t count;
    int code = runs_being_recorded(db, &ids, &count, err);
    free(ids);
    *is = count > 0;
    return code;
}

int names_sweep(struct db *db, struct swept *swept, struct error *err) {
    if (db_begin(db, err)) return -1;
    int code = is_recorded(db, &swept->is_recorded, err);
    if (code == 0 && !swept->is_recorded) code = sweep_all(db, swept, err);
    if (code == 0) return db_commit(db, err);
    db_rollback(db);
    return -1;
}
