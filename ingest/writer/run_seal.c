#include "ingest/writer/run_seal.h"

#include <string.h>

#include "schema/facts.h"
#include "schema/schema.h"

static int keep_totals(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *insert = db_prepare(db, embedded_text("ingest/run_totals.sql"), err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", run_id);
    if (db_run(db, insert, err) == 0) return 0;
    if (strcmp(sqlite3_errmsg(db->handle), "integer overflow") != 0) return -1;
    *err = (struct error){0};
    return 0;
}

int run_seal(struct db *db, int64_t run_id, struct error *err) {
    return facts_seal(db, run_id, err) || keep_totals(db, run_id, err) ? -1 : 0;
}
