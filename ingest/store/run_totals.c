#include "ingest/store/run_totals.h"

#include <string.h>

#include "schema/schema.h"

int run_totals_keep(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *insert = db_prepare(db, embedded_text("ingest/run_totals.sql"), err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", run_id);
    if (db_run(db, insert, err) == 0) return 0;
    if (strcmp(sqlite3_errmsg(db->handle), "integer overflow") != 0) return -1;
    *err = (struct error){0};
    return 0;
}
