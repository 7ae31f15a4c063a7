#include "query/history/known_changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "query/history/run_values.h"
#include "schema/schema.h"

static sqlite3_stmt *prepare(struct db *db, const char *sql, int64_t run_id, const struct known_change *change,
                             struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return NULL;
    db_bind_int(statement, ":run", run_id);
    db_bind_text(statement, ":figure", change->figure);
    db_bind_text(statement, ":subject", change->subject);
    return statement;
}

static const char *of(const char *subject) {
    return *subject ? subject : "the whole run";
}

int known_change_add(struct db *db, int64_t run_id, const struct known_change *change, struct error *err) {
    double ignored;
    if (change->why[strspn(change->why, " \t\n")] == '\0')
        return error_usage(err, "say why the change of %s is as it should be", change->figure);
    int code = run_value(db, run_id, change->figure, change->subject, &ignored, err);
    if (code < 0) return -1;
    if (code == 0)
        return error_usage(err, "%s: run %lld has no figure '%s' of %s; `clear trend --json` has those that there are",
                           db->path, (long long)run_id, change->figure, of(change->subject));
    sqlite3_stmt *statement = prepare(db, embedded_text("history/known_changes/accept"), run_id, change, err);
    if (!statement) return -1;
    db_bind_text(statement, ":why", change->why);
    db_bind_int(statement, ":now", clock_realtime_ns());
    return db_run(db, statement, err);
}

int known_change_forget(struct db *db, int64_t run_id, const struct known_change *change, struct error *err) {
    sqlite3_stmt *statement = prepare(db, embedded_text("history/known_changes/forget"), run_id, change, err);
    if (!statement || db_run(db, statement, err)) return -1;
    if (sqlite3_changes(db->handle) > 0) return 0;
    return error_usage(err, "%s: no accepted change of %s of %s in run %lld", db->path, change->figure,
                       of(change->subject), (long long)run_id);
}

int known_changes_read(struct known_changes *changes, struct db *db, struct error *err) {
    int64_t has_table; /* a warehouse of an older clear that cannot be written has none */
    if (db_int(db, "SELECT count(*) FROM main.sqlite_schema WHERE name = 'accepted_changes'", 0, &has_table, err))
        return -1;
    if (!has_table) return 0;
    sqlite3_stmt *row = db_prepare(db, embedded_text("history/known_changes/accepted"), err);
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        changes->items = xrealloc(changes->items, (changes->count + 1) * sizeof *changes->items);
        changes->items[changes->count++] =
            (struct known_change){xstrdup(db_text(row, 0)), xstrdup(db_text(row, 1)),     xstrdup(db_text(row, 2)),
                                  xstrdup(db_text(row, 3)), sqlite3_column_int64(row, 4), sqlite3_column_int64(row, 5)};
    }
    return code;
}

void known_changes_free(struct known_changes *changes) {
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->items[i].run_uuid);
        free(changes->items[i].figure);
        free(changes->items[i].subject);
        free(changes->items[i].why);
    }
    free(changes->items);
    *changes = (struct known_changes){0};
}

/* A name may have characters that GLOB takes for a pattern: operator[]. */
bool known_change_is_about(const struct known_change *change, const char *figure, const char *subject) {
    return strcmp(change->figure, figure) == 0 &&
           (strcmp(change->subject, subject) == 0 || sqlite3_strglob(change->subject, subject) == 0);
}

const struct known_change *known_changes_find(const struct known_changes *changes, const char *figure,
                                              const char *subject, const int64_t *run_ids, size_t count) {
    for (size_t i = 0; i < changes->count; i++)
        for (size_t run = 0; known_change_is_about(&changes->items[i], figure, subject) && run < count; run++)
            if (changes->items[i].run_id == run_ids[run]) return &changes->items[i];
    return NULL;
}
