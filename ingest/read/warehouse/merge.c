#include "ingest/read/warehouse/merge.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/read/warehouse/merge_texts.h"
#include "ingest/read/warehouse/run_order.h"
#include "ingest/upkeep/delete_runs.h"
#include "ingest/upkeep/edit_runs.h"
#include "ingest/writer/run_seal.h"
#include "schema/schema.h"

int merge_open(struct merge *merge, struct db *db, struct error *err) {
    *merge = (struct merge){.db = db};
    if (upkeep_begin(db, err)) return -1;
    if (db_exec(db, "PRAGMA cache_size = -65536", err)) return -1;
    copy_plan_make(&merge->plan, COPY_RECORDED);
    return writer_open(&merge->writer, db, err);
}

void merge_close(struct merge *merge) {
    struct error ignored = {0};
    if (!merge->db) return;
    writer_free(&merge->writer);
    copy_plan_free(&merge->plan);
    upkeep_end(merge->db);
    (void)db_exec(merge->db, "PRAGMA cache_size = -2000", &ignored);
    *merge = (struct merge){0};
}

bool merge_is_warehouse(const char *path) {
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    bool is = file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
              read(file, head, sizeof head) == (ssize_t)sizeof head && memcmp(head, magic, sizeof magic) == 0;
    if (file >= 0) close(file);
    return is;
}

/* ---- which runs -------------------------------------------------------------------------------------------------- */

struct merging {
    struct merge *merge;
    struct db source;
    struct source_names names;
    struct merge_result *result;
    struct buffer wanted; /* int64_t: runs there */
    bool has_same_order;
};

/* 1: the run is here as *here, 0: not, -1. */
static int find_known(struct merging *merging, sqlite3_stmt *there, int64_t *here, bool *is_unfinished,
                      struct error *err) {
    struct db *db = merging->merge->db;
    sqlite3_stmt *row = db_prepare(db, embedded_text("merge/known_run.sql"), err);
    if (!row) return -1;
    db_bind_text(row, ":uuid", db_text(there, 1));
    db_bind_text(row, ":hash", sqlite3_column_type(there, 2) == SQLITE_NULL ? NULL : db_text(there, 2));
    int code = db_step(db, row, err);
    if (code == 1) {
        *here = sqlite3_column_int64(row, 0);
        *is_unfinished = sqlite3_column_int(row, 1);
    }
    sqlite3_reset(row);
    return code;
}

int merge_drop_copy(struct db *db, int64_t here, bool *is_dropped, struct error *err) {
    struct deleted deleted = {0};
    enum recorder_state state;
    if (recorder_state(db, here, &state, err)) return -1;
    *is_dropped = state != RECORDER_RUNS;
    return *is_dropped ? runs_delete(db, &here, 1, false, &deleted, err) : 0;
}

static int want(struct merging *merging, int64_t there, bool is_unfinished, struct error *err) {
    sqlite3_stmt *insert = db_prepare(&merging->source, "INSERT INTO temp.wanted_runs(id) VALUES (:run)", err);
    if (!insert) return -1;
    db_bind_int(insert, ":run", there);
    buffer_add(&merging->wanted, &there, sizeof there);
    merging->result->runs++;
    merging->result->unfinished += is_unfinished;
    return db_run(&merging->source, insert, err);
}

static int take_run(struct merging *merging, sqlite3_stmt *row, struct error *err) {
    int64_t there = sqlite3_column_int64(row, 0), here = 0;
    bool is_whole = !sqlite3_column_int(row, 3), is_unfinished = false, is_dropped = false;
    int known = find_known(merging, row, &here, &is_unfinished, err);
    if (known == 1 && is_unfinished && is_whole && merge_drop_copy(merging->merge->db, here, &is_dropped, err))
        return -1;
    if (known < 0) return -1;
    merging->result->replaced += is_dropped;
    if (known == 0 || is_dropped) return want(merging, there, !is_whole, err);
    merging->result->known++;
    return merge_known_run(merging->merge, &merging->source, there, here, err);
}

static int choose_runs(struct merging *merging, struct error *err) {
    if (db_exec(&merging->source, embedded_text("merge/wanted.sql"), err)) return -1;
    sqlite3_stmt *row = db_prepare(&merging->source, embedded_text("merge/runs.sql"), err);
    int code = -1;
    while (row && (code = db_step(&merging->source, row, err)) == 1)
        if (take_run(merging, row, err)) {
            sqlite3_reset(row);
            return -1;
        }
    return code;
}

/* ---- the runs ---------------------------------------------------------------------------------------------------- */

static int copy_one(struct merging *merging, int64_t there, struct error *err) {
    struct merge *merge = merging->merge;
    struct merge_result *result = merging->result;
    struct copying copying = {
        .plan = &merge->plan, .source = &merging->source, .db = merge->db, .names = &merging->names};
    int code = copy_run(&copying, there, err);
    if (code == 0 && !merging->has_same_order) code = run_order_keep(&merging->names, there, copying.run_id, err);
    if (code == 0) code = writer_flush(&merge->writer, err);
    if (code == 0) code = run_seal(merge->db, copying.run_id, err);
    if (code == 0 && !result->first_run) result->first_run = copying.run_id;
    if (code == 0) result->last_run = copying.run_id;
    result->rows += copying.rows;
    copying_free(&copying);
    return code;
}

static int copy_all(struct merging *merging, struct error *err) {
    const int64_t *wanted = (const int64_t *)(void *)merging->wanted.data;
    size_t count = merging->wanted.size / sizeof *wanted;
    int64_t traces;
    if (count == 0) return 0;
    /* without a condition SQLite counts pages, and does not look at the clock meanwhile */
    if (db_int(&merging->source, "SELECT count(*) FROM main.traces WHERE id > 0", 0, &traces, err) ||
        writer_expect(&merging->merge->writer, (size_t)traces, err) ||
        run_order_prepare(&merging->names, &merging->has_same_order, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (copy_one(merging, wanted[i], err)) return -1;
    return writer_expect_end(&merging->merge->writer, err);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static bool is_same_file(const char *one, const char *other) {
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int merge_all(struct merging *merging, struct error *err) {
    struct merge *merge = merging->merge;
    if (writer_refresh(&merge->writer, err)) return -1;
    source_names_open(&merging->names, &merging->source, &merge->writer);
    return choose_runs(merging, err) || copy_all(merging, err) ||
                   merge_texts(merge, &merging->source, merging->result, err)
               ? -1
               : 0;
}

/* The store may know ids that were rolled back. */
static void undo(struct merge *merge, struct error *err) {
    struct error second = {0};
    db_rollback(merge->db);
    writer_free(&merge->writer);
    if (writer_open(&merge->writer, merge->db, &second)) error_fail(err, "%s", second.message);
}

static int merge_opened(struct merging *merging, struct error *err) {
    struct merge *merge = merging->merge;
    if (db_begin(merge->db, err)) return -1;
    int code = db_exec(&merging->source, "BEGIN", err); /* what a recorder writes meanwhile does not show */
    if (code == 0) code = merge_all(merging, err);
    if (code == 0 && db_commit(merge->db, err) == 0) return 0;
    undo(merge, err);
    return -1;
}

int merge_file(struct merge *merge, const char *path, struct merge_result *result, struct error *err) {
    struct merging merging = {.merge = merge, .result = result};
    struct error ignored = {0};
    *result = (struct merge_result){0};
    if (is_same_file(path, merge->db->path))
        return error_fail(err, "%s: is the warehouse itself: it cannot be merged into itself", path);
    if (db_open(&merging.source, path, DB_SOURCE, err)) return -1;
    int code = merge_opened(&merging, err);
    if (code) *result = (struct merge_result){0};
    source_names_free(&merging.names);
    buffer_free(&merging.wanted);
    db_close(&merging.source, &ignored);
    return code ? error_prefix(err, "%s, nothing of it was merged: ", path) : 0;
}
