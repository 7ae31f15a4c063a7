/* run.c: the row of a run, from before its start to its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/escape.h"
#include "ingest/record/collector.h"
#include "ingest/record/names/spin_loops.h"
#include "ingest/writer/run_seal.h"
#include "ingest/writer/run_uuid.h"
#include "schema/facts.h"
#include "schema/schema.h"

/* The one that the caller chose, if no run has it, or a random one. */
static int choose_uuid(struct db *db, const char *wanted, char uuid[RUN_UUID_SIZE], struct error *err) {
    if (!wanted) return run_uuid(uuid, err);
    sqlite3_stmt *row = db_prepare(db, "SELECT id FROM runs WHERE uuid = :uuid", err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", wanted);
    int code = db_step(db, row, err);
    if (code == 1)
        error_usage(err, "%s: run %lld has the UUID %s already", db->path, (long long)sqlite3_column_int64(row, 0),
                    wanted);
    sqlite3_reset(row);
    if (code) return -1;
    snprintf(uuid, RUN_UUID_SIZE, "%s", wanted);
    return 0;
}

static int insert_run(struct db *db, const struct run_description *description, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/run/recorded"), err);
    char uuid[RUN_UUID_SIZE], host[256] = "";
    if (!statement || choose_uuid(db, description->uuid, uuid, err)) return -1;
    gethostname(host, sizeof host - 1);
    struct buffer command = {0};
    escape_shell_words(&command, description->command);
    db_bind_text(statement, ":uuid", uuid);
    db_bind_text(statement, ":command", buffer_text(&command));
    db_bind_text(statement, ":label", description->label);
    db_bind_int(statement, ":started", clock_realtime_ns());
    db_bind_text(statement, ":host", host);
    db_bind_int(statement, ":sample_n", description->sample_n > 1 ? description->sample_n : 1);
    if (description->sample_bytes > 1) db_bind_int(statement, ":sample_bytes", (int64_t)description->sample_bytes);
    buffer_free(&command);
    return db_run(db, statement, err);
}

int64_t run_begin(struct db *db, const struct run_description *description, struct error *err) {
    if (db_begin(db, err)) return -1;
    int code = insert_run(db, description, err);
    int64_t run_id = sqlite3_last_insert_rowid(db->handle);
    if (code == 0) code = run_tags_insert(description->tags, db, run_id, err);
    if (code == 0) facts_keep_sums(db, run_id);
    if (code == 0) return db_commit(db, err) ? -1 : run_id;
    db_rollback(db);
    return -1;
}

static int store_ending(struct db *db, int64_t run_id, const struct run_ending *ending, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("ingest/run/end"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    int status = ending->wait_status;
    if (WIFEXITED(status)) db_bind_int(statement, ":status", WEXITSTATUS(status));
    if (WIFSIGNALED(status)) db_bind_int(statement, ":signal", WTERMSIG(status));
    db_bind_int(statement, ":symbolize", (int64_t)ending->symbolize_ns);
    db_bind_int(statement, ":write", (int64_t)ending->write_ns);
    return db_run(db, statement, err);
}

static int end_transaction(struct db *db, int code, struct error *err) {
    if (code == 0 && db_commit(db, err) == 0) return 0;
    db_rollback(db);
    return -1;
}

/* `last`: what the transaction does with the facts. */
static int end_with(int (*last)(struct db *, int64_t, struct error *), struct db *db, int64_t run_id,
                    const struct run_ending *ending, struct error *err) {
    if (db_begin(db, err)) return -1;
    int code = store_ending(db, run_id, ending, err);
    if (code == 0) code = spin_loops_insert(db, run_id, err);
    if (code == 0) code = last(db, run_id, err);
    return end_transaction(db, code, err);
}

int run_end(struct db *db, int64_t run_id, const struct run_ending *ending, struct error *err) {
    return end_with(run_seal, db, run_id, ending, err);
}

int run_end_unsealed(struct db *db, int64_t run_id, const struct run_ending *ending, struct error *err) {
    return end_with(facts_unseal, db, run_id, ending, err);
}

int run_seal_ended(struct db *db, int64_t run_id, struct error *err) {
    return db_begin(db, err) ? -1 : end_transaction(db, run_seal(db, run_id, err), err);
}

int run_cancel(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, "DELETE FROM runs WHERE id = :run", err);
    if (!statement) return -1;
    db_bind_int(statement, ":run", run_id);
    return db_run(db, statement, err);
}
