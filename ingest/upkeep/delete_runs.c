#include "ingest/upkeep/delete_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "ingest/record/live_recordings.h"
#include "ingest/upkeep/references.h"
#include "schema/schema.h"

/* ---- runs that are being recorded -------------------------------------------------------------------------------- */

/* The longest time between two flushes of a recorder that lives: --interval is at most an hour, and a laptop may sleep over night. */
static const int64_t silence_ns = INT64_C(24) * 3600 * 1000000000;

static enum recorder_state state_of(const char *uuid, bool is_recent) {
    if (live_recording_is(uuid)) return RECORDER_RUNS;
    return is_recent ? RECORDER_UNKNOWN : RECORDER_GONE;
}

static sqlite3_stmt *unfinished(struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("upkeep/delete_runs/being_recorded"), err);
    if (row) db_bind_int(row, ":since", clock_realtime_ns() - silence_ns);
    return row;
}

int recorder_state(struct db *db, int64_t run_id, enum recorder_state *state, struct error *err) {
    sqlite3_stmt *row = unfinished(db, err);
    int code = -1;
    *state = RECORDER_DONE;
    while (row && (code = db_step(db, row, err)) == 1)
        if (sqlite3_column_int64(row, 0) == run_id) *state = state_of(db_text(row, 1), sqlite3_column_int(row, 2));
    return code;
}

int runs_being_recorded(struct db *db, int64_t **ids, size_t *count, struct error *err) {
    sqlite3_stmt *row = unfinished(db, err);
    int code = -1;
    *ids = NULL;
    *count = 0;
    while (row && (code = db_step(db, row, err)) == 1) {
        if (state_of(db_text(row, 1), sqlite3_column_int(row, 2)) == RECORDER_GONE) continue;
        *ids = xrealloc(*ids, (*count + 1) * sizeof **ids);
        (*ids)[(*count)++] = sqlite3_column_int64(row, 0);
    }
    return code;
}

/* ---- deleting ---------------------------------------------------------------------------------------------------- */

static int64_t rows_changed(struct db *db) {
    return sqlite3_total_changes64(db->handle);
}

static int doom(struct db *db, const int64_t *ids, size_t count, struct error *err) {
    struct buffer json = {0};
    if (db_exec(db, embedded_text("upkeep/delete_runs/doomed"), err)) return -1;
    sqlite3_stmt *insert = db_prepare(db, embedded_text("upkeep/delete_runs/doom"), err);
    if (!insert) return -1;
    buffer_add_json_integers(&json, ids, count);
    db_bind_text(insert, ":ids", buffer_text(&json));
    buffer_free(&json);
    return db_run(db, insert, err) || db_exec(db, embedded_text("upkeep/delete_runs/doom_parts"), err) ? -1 : 0;
}

static int delete_referring(struct db *db, const char *target, const char *text, struct error *err) {
    struct references references;
    int code = references_read(&references, db, target, err);
    for (size_t i = 0; code == 0 && i < references.count; i++) {
        char *sql = reference_sql(text, &references.items[i]);
        code = db_exec(db, sql, err);
        free(sql);
    }
    references_free(&references);
    return code;
}

/* From the leaves to the run. */
static int delete_rows(struct db *db, struct error *err) {
    return delete_referring(db, "profiles",
                            "DELETE FROM main.{table} WHERE {column} IN (SELECT id FROM temp.doomed_profiles)", err) ||
                   db_exec(db, "DELETE FROM main.profiles WHERE id IN (SELECT id FROM temp.doomed_profiles)", err) ||
                   delete_referring(db, "processes",
                                    "DELETE FROM main.{table} WHERE {column} IN (SELECT id FROM temp.doomed_processes)",
                                    err) ||
                   delete_referring(db, "runs",
                                    "DELETE FROM main.{table} WHERE {column} IN (SELECT id FROM temp.doomed_runs)",
                                    err) ||
                   db_exec(db, "DELETE FROM main.runs WHERE id IN (SELECT id FROM temp.doomed_runs)", err)
               ? -1
               : 0;
}

static int free_bytes(struct db *db, int64_t *bytes, struct error *err) {
    int64_t pages, size;
    if (db_int(db, "PRAGMA freelist_count", 0, &pages, err) || db_int(db, "PRAGMA page_size", 0, &size, err)) return -1;
    *bytes = pages * size;
    return 0;
}

static int delete_doomed(struct db *db, const int64_t *ids, size_t count, struct deleted *deleted, struct error *err) {
    int64_t runs, before, after;
    if (doom(db, ids, count, err) || db_int(db, "SELECT count(*) FROM temp.doomed_runs", 0, &runs, err) ||
        free_bytes(db, &before, err))
        return -1;
    int64_t changed = rows_changed(db);
    if (delete_rows(db, err)) return -1;
    deleted->runs += runs;
    deleted->rows += rows_changed(db) - changed;
    if (free_bytes(db, &after, err)) return -1;
    deleted->bytes += after > before ? after - before : 0;
    return 0;
}

int upkeep_begin(struct db *db, struct error *err) {
    return db_exec(db, "PRAGMA foreign_keys = OFF", err);
}

void upkeep_end(struct db *db) {
    struct error ignored = {0};
    (void)db_exec(db, "PRAGMA foreign_keys = ON", &ignored);
}

int runs_delete(struct db *db, const int64_t *ids, size_t count, bool is_trial, struct deleted *deleted,
                struct error *err) {
    if (db_begin(db, err)) return -1;
    int code = delete_doomed(db, ids, count, deleted, err);
    if (code == 0 && !is_trial) return db_commit(db, err);
    db_rollback(db);
    return code;
}
