#include "ingest/upkeep/gc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/path.h"
#include "ingest/upkeep/delete_runs.h"
#include "ingest/upkeep/give_back.h"
#include "ingest/upkeep/references.h"
#include "schema/companions.h"
#include "schema/db.h"
#include "schema/schema.h"

/* ---- names that nothing uses ---- */

/* Deletes names and stacks that nothing uses: site keys, objects, stacks, label sets, source texts, locations with their lines,
 * functions, mappings. What uses them is read from the foreign keys of the schema (ingest/upkeep/references.h).
 *
 * A program that writes keeps ids in memory. A recorder has an unfinished run, so nothing is swept while there is one; whoever reads files
 * looks at PRAGMA data_version at the start of each transaction (writer_refresh of ingest/writer/row_writer.h). */

struct swept {
    int64_t rows;     /* deleted */
    bool is_recorded; /* nothing was done, because a run is being recorded */
};

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
     "location_lines", "upkeep/gc/used_locations"},
    {"functions", "DELETE FROM main.functions WHERE id NOT IN (SELECT id FROM temp.used)", NULL, NULL},
    {"mappings", "DELETE FROM main.mappings WHERE id <> 0 AND id NOT IN (SELECT id FROM temp.used)", NULL,
     "upkeep/gc/used_mappings"},
};

static int mark(struct db *db, const struct named *named, struct error *err) {
    struct references references;
    int code = db_exec(db, embedded_text("upkeep/gc/used"), err);
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

/* In one transaction, between upkeep_begin and upkeep_end (ingest/upkeep/delete_runs.h). */
static int names_sweep(struct db *db, struct swept *swept, struct error *err) {
    if (db_begin(db, err)) return -1;
    int code = is_recorded(db, &swept->is_recorded, err);
    if (code == 0 && !swept->is_recorded) code = sweep_all(db, swept, err);
    if (code == 0) return db_commit(db, err);
    db_rollback(db);
    return -1;
}

/* ---- the file anew ---- */

/* Writes the whole file anew (VACUUM), where pages cannot be given back one by one or are half empty. */

/* ---- room -------------------------------------------------------------------------------------------------------- */

static int64_t room_at(const char *path, dev_t *device) {
    struct statvfs room;
    struct stat about;
    if (statvfs(path, &room) || stat(path, &about)) return 0;
    *device = about.st_dev;
    return (int64_t)room.f_bavail * (int64_t)room.f_frsize;
}

/* A copy in the temporary directory, and a -wal as large beside the file; a tenth more for what grows meanwhile. */
static int64_t missing_room(const char *warehouse, int64_t bytes) {
    const char *temporary = companions_temporary();
    dev_t here = 0, there = 0;
    int64_t needed = bytes + bytes / 10;
    int64_t beside = room_at(warehouse, &here), copy = room_at(temporary ? temporary : ".", &there);
    if (here == there) return beside < needed * 2 ? needed * 2 : 0;
    return beside < needed || copy < needed ? needed : 0;
}

/* ---- whether ----------------------------------------------------------------------------------------------------- */

static int is_loose(struct db *db, int64_t bytes_before, int64_t *used, bool *is, struct error *err) {
    int64_t pages, unused, size;
    bool does;
    if (db_int(db, "PRAGMA page_count", 0, &pages, err) || db_int(db, "PRAGMA freelist_count", 0, &unused, err) ||
        db_int(db, "PRAGMA page_size", 0, &size, err) || gives_back(db, &does, err))
        return -1;
    *used = (pages - unused) * size;
    *is = *used < bytes_before / 2 || (!does && unused > pages / 10);
    return 0;
}

/* Does so where less than half of `bytes_before`, its size in use before rows were deleted, is in use now: what is left is then cheaper to
 * write than the deletion was, and lies in half empty pages. And for a file that cannot give pages back, if a tenth of it is unused. Not if
 * there is no room for it: *room_needed is then how much it takes, else 0. From then on the file can give pages back. A kill leaves the file
 * as it was. Not within a transaction. */
static int rewrite_if_loose(struct db *db, int64_t bytes_before, int64_t *room_needed, struct error *err) {
    int64_t used;
    bool is;
    *room_needed = 0;
    if (is_loose(db, bytes_before, &used, &is, err)) return -1;
    if (is) *room_needed = missing_room(db->path, used);
    return is && !*room_needed ? db_exec(db, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM", err) : 0;
}

struct candidates {
    int64_t *expired, *others; /* too old by the rules; the rest, for which only the size of the file counts */
    size_t expired_count, other_count;
};

static bool is_late(const struct gc_policy *policy, struct gc_result *result) {
    if (clock_monotonic_ns() >= policy->deadline_ns) result->is_late = true;
    return result->is_late;
}

/* ---- which runs -------------------------------------------------------------------------------------------------- */

static void add_id(int64_t **ids, size_t *count, int64_t id) {
    *ids = xrealloc(*ids, (*count + 1) * sizeof **ids);
    (*ids)[(*count)++] = id;
}

static void bind_ids(sqlite3_stmt *statement, const char *name, const int64_t *ids, size_t count) {
    struct buffer json = {0};
    buffer_add_json_integers(&json, ids, count);
    db_bind_text(statement, name, buffer_text(&json));
    buffer_free(&json);
}

static int bind_accepted(struct db *db, sqlite3_stmt *statement, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("upkeep/gc/accepted_runs"), err);
    if (!row || db_step(db, row, err) != 1) return -1;
    db_bind_text(statement, ":accepted", db_text(row, 0));
    sqlite3_reset(row);
    return 0;
}

static sqlite3_stmt *prepare_candidates(struct db *db, const struct gc_policy *policy, struct error *err) {
    int64_t *recorded;
    size_t count;
    sqlite3_stmt *row = runs_being_recorded(db, &recorded, &count, err)
                            ? NULL
                            : db_prepare(db, embedded_text("upkeep/gc/expired"), err);
    if (row) {
        const struct retention *rules = policy->rules;
        db_bind_int(row, ":until", rules->has_keep || rules->thin ? clock_realtime_ns() - rules->keep_ns : INT64_MIN);
        db_bind_text(row, ":thin", rules->thin);
        bind_ids(row, ":bases", policy->bases, policy->base_count);
        bind_ids(row, ":recorded", recorded, count);
        if (bind_accepted(db, row, err)) row = NULL;
    }
    free(recorded);
    return row;
}

static int find_candidates(struct db *db, const struct gc_policy *policy, struct candidates *found, struct error *err) {
    sqlite3_stmt *row = prepare_candidates(db, policy, err);
    int code = -1;
    *found = (struct candidates){0};
    while (row && (code = db_step(db, row, err)) == 1) {
        int64_t id = sqlite3_column_int64(row, 0);
        if (sqlite3_column_int(row, 1))
            add_id(&found->expired, &found->expired_count, id);
        else
            add_id(&found->others, &found->other_count, id);
    }
    return code;
}

/* ---- the size of the file ---------------------------------------------------------------------------------------- */

static int used_bytes(struct db *db, int64_t *used, int64_t *unused, struct error *err) {
    int64_t pages, size;
    if (db_int(db, "PRAGMA page_count", 0, &pages, err) || db_int(db, "PRAGMA freelist_count", 0, unused, err) ||
        db_int(db, "PRAGMA page_size", 0, &size, err))
        return -1;
    *used = (pages - *unused) * size;
    *unused *= size;
    return 0;
}

/* ---- deleting ---------------------------------------------------------------------------------------------------- */

enum { BATCH_RUNS = 64 };

static int delete_batch(struct db *db, const int64_t *ids, size_t count, struct gc_result *result, struct error *err) {
    if (runs_delete(db, ids, count, false, &result->deleted, err)) return -1;
    for (size_t i = 0; i < count; i++)
        add_id(&result->ids, &result->id_count, ids[i]);
    return 0;
}

static int delete_expired(struct db *db, const struct gc_policy *policy, const struct candidates *found,
                          struct gc_result *result, struct error *err) {
    for (size_t at = 0; at < found->expired_count && !is_late(policy, result); at += BATCH_RUNS) {
        size_t left = found->expired_count - at;
        if (delete_batch(db, found->expired + at, left < BATCH_RUNS ? left : BATCH_RUNS, result, err)) return -1;
    }
    return 0;
}

static int sweep(struct db *db, const struct gc_policy *policy, struct gc_result *result, struct error *err) {
    struct swept swept = {0};
    if (is_late(policy, result)) return 0;
    int code = names_sweep(db, &swept, err);
    result->names += swept.rows;
    result->is_recorded = swept.is_recorded;
    return code;
}

/* A quarter of the runs that are too many by the mean size of a run, so that no more than needed go. */
static size_t next_batch(int64_t used, int64_t max_bytes, int64_t runs, size_t left) {
    int64_t mean = used / (runs ? runs : 1) + 1, wanted = (used - max_bytes) / mean / 4 + 1;
    if (wanted > BATCH_RUNS) wanted = BATCH_RUNS;
    return (size_t)wanted < left ? (size_t)wanted : left;
}

static int delete_until_small(struct db *db, const struct gc_policy *policy, const struct candidates *found,
                              struct gc_result *result, struct error *err) {
    int64_t used, unused, runs;
    for (size_t at = 0, count; at < found->other_count && !is_late(policy, result); at += count) {
        if (used_bytes(db, &used, &unused, err) || db_int(db, "SELECT count(*) FROM runs", 0, &runs, err)) return -1;
        if (used <= policy->rules->max_bytes) break;
        count = next_batch(used, policy->rules->max_bytes, runs, found->other_count - at);
        if (delete_batch(db, found->others + at, count, result, err)) return -1;
    }
    return 0;
}

static int limit_size(struct db *db, const struct gc_policy *policy, const struct candidates *found,
                      struct gc_result *result, struct error *err) {
    size_t before = result->id_count;
    if (!policy->rules->max_bytes) return 0;
    if (delete_until_small(db, policy, found, result, err)) return -1;
    return result->id_count > before ? sweep(db, policy, result, err) : 0;
}

static int collect(struct db *db, const struct gc_policy *policy, struct gc_result *result, struct error *err) {
    struct candidates found;
    int code = find_candidates(db, policy, &found, err);
    if (code == 0) code = delete_expired(db, policy, &found, result, err);
    if (code == 0) code = sweep(db, policy, result, err);
    if (code == 0) code = limit_size(db, policy, &found, result, err);
    free(found.expired);
    free(found.others);
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int try_it(struct db *db, const struct gc_policy *policy, struct gc_result *result, struct error *err) {
    int64_t unused;
    if (db_begin(db, err)) return -1;
    int code = collect(db, policy, result, err);
    if (code == 0) code = used_bytes(db, &result->bytes_after, &unused, err);
    db_rollback(db);
    return code;
}

static int do_it(struct db *db, const struct gc_policy *policy, struct gc_result *result, struct error *err) {
    if (collect(db, policy, result, err)) return -1;
    if (policy->may_rewrite && !result->is_recorded &&
        rewrite_if_loose(db, result->bytes_before, &result->room_needed, err))
        return -1;
    return give_back(db, policy->deadline_ns, err) || used_bytes(db, &result->bytes_after, &result->free_bytes, err)
               ? -1
               : 0;
}

int gc_run(struct db *db, const struct gc_policy *policy, struct gc_result *result, struct error *err) {
    int64_t unused;
    *result = (struct gc_result){0};
    if (used_bytes(db, &result->bytes_before, &unused, err) || upkeep_begin(db, err)) return -1;
    int code = policy->is_trial ? try_it(db, policy, result, err) : do_it(db, policy, result, err);
    upkeep_end(db);
    return code;
}
