#include "query/runs/select.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "schema/schema.h"

enum { UUID_PREFIX_MIN = 8 }; /* a shorter one is probably a misspelt label */

/* The id from a statement with one row: 1 found, 0 no row, -1 the error is set. */
static int one_id(struct db *db, sqlite3_stmt *statement, int64_t *run_id, struct error *err) {
    int row = db_step(db, statement, err);
    if (row == 1) *run_id = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return row;
}

static int named(struct db *db, const char *sql, const char *name, int64_t *run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, sql, err);
    if (!statement) return -1;
    db_bind_text(statement, ":name", name);
    return one_id(db, statement, run_id, err);
}

/* True if the whole text is a decimal number. */
static bool number(const char *text, int64_t *value) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

static int latest(struct db *db, int64_t back, int64_t *run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("runs/newest_first.sql"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":back", back);
    return one_id(db, statement, run_id, err);
}

static int by_number(struct db *db, int64_t id, int64_t *run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, "SELECT id FROM runs WHERE id = :id", err);
    if (!statement) return -1;
    db_bind_int(statement, ":id", id);
    return one_id(db, statement, run_id, err);
}

static int by_tag(struct db *db, const char *name, const char *equals, int64_t *run_id, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("runs/select/newest_with_tag"), err);
    if (!statement) return -1;
    char *key = xstrdup(name);
    key[equals - name] = '\0';
    db_bind_text(statement, ":key", key);
    db_bind_text(statement, ":value", equals + 1);
    free(key);
    return one_id(db, statement, run_id, err);
}

static int by_label(struct db *db, const char *name, int64_t *run_id, struct error *err) {
    return named(db, embedded_text("runs/select/newest_with_label"), name, run_id, err);
}

static int by_uuid(struct db *db, const char *name, int64_t *run_id, struct error *err) {
    if (strlen(name) < UUID_PREFIX_MIN) return 0;
    int64_t other;
    int found = named(db, "SELECT min(id) FROM runs WHERE substr(uuid, 1, length(:name)) = lower(:name) HAVING min(id)",
                      name, run_id, err);
    if (found != 1) return found;
    found =
        named(db, "SELECT max(id) FROM runs WHERE substr(uuid, 1, length(:name)) = lower(:name)", name, &other, err);
    if (found == 1 && other != *run_id)
        return error_usage(err, "several runs have a uuid that begins with %s: give more characters", name);
    return found;
}

/* 1 found, 0 not, -1 the error is set. */
static int look_up(struct db *db, const char *name, int64_t *run_id, struct error *err) {
    int64_t value;
    if (!name || strcmp(name, "latest") == 0) return latest(db, 0, run_id, err);
    if (strcmp(name, "last=1") == 0) return latest(db, 0, run_id, err); /* a set of one run */
    if (strncmp(name, "latest~", 7) == 0 && number(name + 7, &value)) return latest(db, value, run_id, err);
    int found = number(name, &value) ? by_number(db, value, run_id, err) : 0;
    const char *equals = strchr(name, '=');
    if (found == 0 && equals) found = by_tag(db, name, equals, run_id, err);
    if (found == 0) found = by_label(db, name, run_id, err);
    return found == 0 ? by_uuid(db, name, run_id, err) : found;
}

static int nothing_found(struct db *db, const char *name, struct error *err) {
    int64_t count, newest = 0;
    if (db_int(db, "SELECT count(*) FROM runs", 0, &count, err) < 0) return -1;
    if (count == 0)
        return error_usage(err, "%s: holds no run yet; `clear profile --db %s TARGET` records one", db->path, db->path);
    if (latest(db, 0, &newest, err) < 0) return -1;
    return error_usage(err, "%s: no run '%s' among %lld (the latest is %lld); `clear runs --db %s` lists them",
                       db->path, name, (long long)count, (long long)newest, db->path);
}

int select_run(struct db *db, const char *name, int64_t *run_id, struct error *err) {
    if (name && !*name) /* of a shell's variable that is not set: clear rm must not take the newest run for it */
        return error_usage(err, "the name of a run is empty; latest is the newest one");
    if (db_want(db, name, err)) return -1;
    int found = look_up(db, name, run_id, err);
    if (found < 0) return -1;
    return found ? 0 : nothing_found(db, name ? name : "latest", err);
}

void warehouse_words_add(struct buffer *line, const struct db *db) {
    buffer_add_text(line, "--db ");
    escape_shell(line, db->path);
    if (!db->source) return;
    buffer_add_text(line, " --project ");
    escape_shell(line, db->source->project);
}

int run_word_add(struct buffer *line, struct db *db, int64_t run_id, struct error *err) {
    if (!db->source) {
        buffer_printf(line, "%lld", (long long)run_id);
        return 0;
    }
    sqlite3_stmt *row = db_prepare(db, "SELECT substr(uuid, 1, 8) FROM runs WHERE id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code == 1) buffer_add_text(line, db_text(row, 0));
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}
