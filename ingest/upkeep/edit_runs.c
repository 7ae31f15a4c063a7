#include "ingest/upkeep/edit_runs.h"

#include "base/clock.h"
#include "schema/schema.h"

static int run_statement(struct db *db, sqlite3_stmt *statement, int64_t run_id, struct error *err) {
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    return db_run(db, statement, err);
}

int run_set_tag(struct db *db, int64_t run_id, const char *key, const char *value, struct error *err) {
    sqlite3_stmt *statement = db_prepare(
        db, *value ? embedded_text("ingest/tag.sql") : "DELETE FROM tags WHERE run_id = :run AND key = :key", err);
    if (!statement) return -1;
    db_bind_text(statement, ":key", key);
    if (*value) db_bind_text(statement, ":value", value);
    return run_statement(db, statement, run_id, err);
}

int run_set_label(struct db *db, int64_t run_id, const char *label, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, "UPDATE runs SET label = nullif(:label, '') WHERE id = :run", err);
    if (statement) db_bind_text(statement, ":label", label);
    return run_statement(db, statement, run_id, err);
}

int run_set_pin(struct db *db, int64_t run_id, const char *why, struct error *err) {
    if (!why) return run_statement(db, db_prepare(db, "DELETE FROM pins WHERE run_id = :run", err), run_id, err);
    sqlite3_stmt *statement = db_prepare(db, embedded_text("upkeep/put_pin.sql"), err);
    if (!statement) return -1;
    db_bind_text(statement, ":why", why);
    db_bind_int(statement, ":now", clock_realtime_ns());
    return run_statement(db, statement, run_id, err);
}
