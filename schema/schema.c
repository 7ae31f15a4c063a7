#include "schema/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "base/map.h"
#include "schema/diagnoses.h"
#include "schema/empty_file.h"
#include "schema/facts.h"
#include "schema/gates.h"
#include "schema/inspect.h"
#include "schema/queries.h"
#include "schema/signature.h"

/* ---- texts built into the program -------------------------------------------------------------------------------- */

/* NULL: there is none of that name. */
static const struct embedded *find_embedded(const char *name) {
    static struct map files; /* name -> index; it stays, and only the main thread asks */
    for (size_t i = files.count; embedded_files[i].name; i++)
        map_put(&files, embedded_files[i].name, strlen(embedded_files[i].name), NULL)->value = (int64_t)i;
    const struct map_entry *found = map_find(&files, name, strlen(name));
    return found ? &embedded_files[found->value] : NULL;
}

const char *embedded_text(const char *name) {
    const struct embedded *file = find_embedded(name);
    if (!file) bug("nothing is embedded as %s", name);
    return file->text;
}

static bool is_view(const struct embedded *file) {
    return strncmp(file->name, "views/", 6) == 0 || strncmp(file->name, "doctor/", 7) == 0;
}

static const char create_view[] = "\nCREATE VIEW ";

static const char *text_in(const struct embedded *file) {
    const char *found = strstr(file->text, create_view);
    return found ? found + strlen(create_view) : NULL;
}

const char *schema_view_text(const char *view) {
    static const char diagnosis[] = "doctor_";
    bool is_diagnosis = strncmp(view, diagnosis, strlen(diagnosis)) == 0;
    char file_name[128];
    if (strcmp(view, "doctor") == 0) return NULL;
    snprintf(file_name, sizeof file_name, "%s%s.sql", is_diagnosis ? "doctor/" : "views/",
             is_diagnosis ? view + strlen(diagnosis) : view);
    const struct embedded *file = find_embedded(file_name);
    return file ? text_in(file) : NULL;
}

/* `sites` is a view among the tables, because rows are inserted into it. */
static const char *sites_and_more(void) {
    return strstr(embedded_text("tables.sql"), "\nCREATE VIEW sites ") + 1;
}

char *schema_sites_text(void) {
    const char *text = sites_and_more() + strlen(create_view) - 1;
    return xasprintf("%.*s", (int)(strstr(text, ";\n") - text), text);
}

size_t schema_view_count(void) {
    size_t count = 0;
    for (const struct embedded *file = embedded_files; file->name; file++)
        count += is_view(file) && strcmp(file->name, "views/doctor.sql") != 0;
    return count;
}

static uint64_t hash_text(uint64_t seed, const char *text) {
    return hash_combine(seed, hash_bytes(text, strlen(text)));
}

struct fingerprint {
    char text[17]; /* 16 hex digits */
};

static struct fingerprint fingerprint(uint64_t hash) {
    struct fingerprint print;
    snprintf(print.text, sizeof print.text, "%016llx", (unsigned long long)hash);
    return print;
}

static struct fingerprint views_fingerprint(void) {
    uint64_t hash = 0;
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (is_view(file)) hash = hash_text(hash_text(hash, file->name), file->text);
    return fingerprint(hash);
}

static struct fingerprint rules_fingerprint(void) {
    return fingerprint(hash_text(hash_text(0, embedded_text("rules.yaml")), embedded_text("gates.yaml")));
}

static struct fingerprint queries_fingerprint(void) {
    uint64_t hash = 0;
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (strncmp(file->name, "queries/", 8) == 0) hash = hash_text(hash_text(hash, file->name), file->text);
    return fingerprint(hash);
}

/* ---- meta -------------------------------------------------------------------------------------------------------- */

static int meta_set(struct db *db, const char *key, const char *value, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/set_meta.sql"), err);
    if (!statement) return -1;
    db_bind_text(statement, ":key", key);
    db_bind_text(statement, ":value", value);
    return db_run(db, statement, err);
}

static int meta_is(struct db *db, const char *key, const char *value, bool *equal, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, "SELECT value FROM meta WHERE key = :key", err);
    if (!statement) return -1;
    db_bind_text(statement, ":key", key);
    int code = db_step(db, statement, err);
    if (code < 0) return -1;
    *equal = code && strcmp(db_text(statement, 0), value) == 0;
    sqlite3_reset(statement);
    return 0;
}

/* ---- the state of a file -------------------------------------------------------------------------------------------- */

static int foreign(struct db *db, int64_t application, struct error *err) {
    if (!application)
        return error_fail(err, "%s: is a SQLite database, but not a warehouse: choose another --db FILE", db->path);
    return error_fail(err,
                      "%s: is a SQLite database of another program (application_id 0x%08llx): choose another "
                      "--db FILE",
                      db->path, (unsigned long long)application & 0xffffffff);
}

/* The schema of a file to which nobody added a table, index or view is word for word that of an empty warehouse: to compare it takes an eighth of
 * the instructions of the looks that are left out then. */
static int compare_schema(struct db *db, bool *is_as_made, struct error *err) {
    struct buffer schema = {0};
    int code = inspect_write(db, &schema, err);
    *is_as_made = code == 0 && empty_file_has_schema(schema.data, schema.size);
    buffer_free(&schema);
    return code;
}

static int look_at_schema(struct db *db, struct error *err) {
    if (compare_schema(db, &db->is_as_made, err)) return -1;
    db->has_own_views = true;
    return db->is_as_made || (inspect_tables(db, err) == 0 && inspect_views(db, &db->has_own_views, err) == 0) ? 0 : -1;
}

/* A writer looks twice, before and after it has the file for itself. Nobody has changed a table or a view where the schema's version is the same. */
static int inspect_schema(struct db *db, struct error *err) {
    int64_t version;
    if (db_int(db, "PRAGMA schema_version", 0, &version, err)) return -1;
    if (db->is_inspected && version == db->inspected_version) return 0;
    db->is_inspected = false;
    if (look_at_schema(db, err)) return -1;
    db->is_inspected = true;
    db->inspected_version = version;
    return 0;
}

static int check_computing(struct db *db, struct error *err) {
    return inspect_schema(db, err) || (!db->is_as_made && inspect_computing(db, err)) ? -1 : 0;
}

/* *good: the view doctor and those that it reads are as this clear and the users' diagnoses make them. */
static int views_are_current(struct db *db, bool *good, struct error *err) {
    *good = db->is_as_made;
    if (db->is_as_made || !db->has_own_views) return 0;
    if (meta_is(db, "views_hash", views_fingerprint().text, good, err)) return -1;
    return *good ? diagnoses_are_joined(db, good, err) : 0;
}

int schema_read_state(struct db *db, enum schema_state *state, struct error *err) {
    int64_t application, version, objects;
    if (db_int(db, "PRAGMA application_id", 0, &application, err) ||
        db_int(db, "PRAGMA user_version", 0, &version, err) ||
        db_int(db, "SELECT count(*) FROM sqlite_schema", 0, &objects, err))
        return -1;
    *state = SCHEMA_EMPTY;
    if (!application && !version && !objects) return 0;
    if (application != SCHEMA_APPLICATION_ID) return foreign(db, application, err);
    if (version > SCHEMA_VERSION)
        return error_fail(err, "%s: made by a newer clear (schema %lld; this clear supports %d): update clear",
                          db->path, (long long)version, SCHEMA_VERSION);
    if (version < 1) return error_fail(err, "%s: is damaged: schema version %lld", db->path, (long long)version);
    *state = SCHEMA_OLDER;
    if (version < SCHEMA_VERSION) return inspect_older(db, version, err);
    bool views = false, rules = false, queries = false, facts = false;
    if (inspect_schema(db, err) || views_are_current(db, &views, err) ||
        meta_is(db, "rules_hash", rules_fingerprint().text, &rules, err) ||
        meta_is(db, "queries_hash", queries_fingerprint().text, &queries, err) ||
        facts_tables_are_current(db, &facts, err) || (facts && facts_are_current(db, &facts, err)))
        return -1;
    *state = !views || !rules || !queries ? SCHEMA_STALE : facts ? SCHEMA_CURRENT : SCHEMA_UNSEALED;
    return 0;
}

/* ---- tables and views -------------------------------------------------------------------------------------------- */

/* migrations/N.sql migrates a file from version N-1 to N. Views are made again after the last step; a step that drops or alters a
 * table drops the views that read it first. */
static const char *const migration_files[] = {
    "migrations/2.sql", "migrations/3.sql", "migrations/4.sql", "migrations/5.sql",  "migrations/6.sql",
    "migrations/7.sql", "migrations/8.sql", "migrations/9.sql", "migrations/10.sql", "migrations/11.sql"};
enum { MIGRATIONS = sizeof migration_files / sizeof *migration_files };
_Static_assert(MIGRATIONS == SCHEMA_VERSION - 1, "one step for each version after the first");

static int create_tables(struct db *db, struct error *err) {
    int64_t application, version;
    if (db_exec(db, embedded_text("tables.sql"), err) || meta_set(db, "created_by", CLEAR_VERSION, err) ||
        db_int(db, "PRAGMA application_id", 0, &application, err) ||
        db_int(db, "PRAGMA user_version", 0, &version, err))
        return -1;
    if (application != SCHEMA_APPLICATION_ID || version != SCHEMA_VERSION)
        bug("tables.sql is of version %lld, schema.h of %d", (long long)version, SCHEMA_VERSION);
    return 0;
}

int schema_migrate(struct db *db, const char *const *steps, int count, struct error *err) {
    int64_t version;
    if (db_begin(db, err)) return -1;
    if (db_int(db, "PRAGMA user_version", 0, &version, err)) goto undo;
    for (int64_t at = version; at <= count; at++) {
        if (db_exec(db, steps[at - 1], err) || db_int(db, "PRAGMA user_version", 0, &version, err)) goto undo;
        if (version != at + 1) bug("step %lld left user_version %lld", (long long)at, (long long)version);
    }
    return db_commit(db, err);
undo:
    db_rollback(db);
    return error_prefix(err, "migrating the file (nothing was changed): ");
}

/* The signatures of version 2 depended on what the compiler inlined. SQL cannot compute the hash. */
static int migrate(struct db *db, struct error *err) {
    enum { NEW_SIGNATURES = 3 };
    const char *steps[MIGRATIONS];
    int64_t version;
    if (db_int(db, "PRAGMA user_version", 0, &version, err)) return -1;
    for (size_t i = 0; i < MIGRATIONS; i++)
        steps[i] = embedded_text(migration_files[i]);
    if (schema_migrate(db, steps, MIGRATIONS, err)) return -1;
    return version < NEW_SIGNATURES ? signatures_renew(db, err) : 0;
}

/* A clear of another version may have had other views: they are not a user's, so they go. */
static int drop_former_views(struct db *db, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/schema/former_views"), err);
    struct buffer sql = {0};
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        buffer_add_text(&sql, "DROP VIEW ");
        buffer_add_text(&sql, db_text(row, 0));
        buffer_add_text(&sql, ";\n");
    }
    if (code == 0) code = db_exec(db, buffer_text(&sql), err);
    buffer_free(&sql);
    return code;
}

/* "views/heap.sql" makes the view heap, "doctor/heap.sql" the view doctor_heap. */
static int remember_views(struct db *db, struct error *err) {
    struct buffer names = {0};
    for (const struct embedded *file = embedded_files; file->name; file++) {
        if (!is_view(file)) continue;
        const char *name = strchr(file->name, '/') + 1, *prefix = *file->name == 'd' ? "doctor_" : "";
        buffer_printf(&names, "%s\"%s%.*s\"", names.size ? "," : "[", prefix, (int)strcspn(name, "."), name);
    }
    buffer_add_char(&names, ']');
    int code = meta_set(db, "own_views", names.data, err);
    buffer_free(&names);
    return code;
}

/* The view with its triggers, which go with it. */
static int create_sites(struct db *db, struct error *err) {
    const char *text = sites_and_more();
    struct buffer sql = {0};
    buffer_add_text(&sql, "DROP VIEW IF EXISTS sites;\n");
    buffer_add(&sql, text, (size_t)(strstr(text, "\nCREATE TABLE ") - text));
    int code = db_exec(db, sql.data, err);
    buffer_free(&sql);
    return code;
}

/* The row of sqlite_schema that CREATE VIEW would write. */
static int put_view(struct db *db, const struct embedded *file, struct error *err) {
    sqlite3_stmt *insert = db_prepare(db, embedded_text("warehouse/schema/put_view"), err);
    if (!insert) return -1;
    const char *text = text_in(file), *end = strrchr(text, ';');
    char *name = xasprintf("%.*s", (int)strcspn(text, " ("), text);
    char *sql = xasprintf("%s%.*s", create_view + 1, (int)(end - text), text); /* layers-ok: clear's own text */
    db_bind_text(insert, ":name", name);
    db_bind_text(insert, ":sql", sql);
    free(name);
    free(sql);
    return db_run(db, insert, err);
}

/* In a new file, which has no others: all at once. Each CREATE VIEW goes through the whole schema again, and that was a third of the 364 million
 * instructions of a first recording. What is wrong with a view is said by whoever reads the schema next. */
static int put_views(struct db *db, struct error *err) {
    if (db_write_schema(db, true, err)) return -1;
    int code = 0;
    for (const struct embedded *file = embedded_files; file->name && code == 0; file++)
        if (is_view(file)) code = put_view(db, file, err);
    return db_write_schema(db, false, code ? NULL : err) ? -1 : code;
}

/* Each file drops its own view first. */
static int replace_views(struct db *db, struct error *err) {
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (is_view(file) && db_exec(db, file->text, err)) return error_prefix(err, "schema/%s: ", file->name);
    return 0;
}

/* Views of users stay. Users' diagnoses become part of the view doctor, which is made last because they may read any other view. */
static int create_views(struct db *db, enum schema_state state, struct error *err) {
    if (drop_former_views(db, err) || create_sites(db, err)) return -1;
    if (state == SCHEMA_EMPTY ? put_views(db, err) : replace_views(db, err)) return -1;
    if (diagnoses_join(db, err) || remember_views(db, err)) return -1;
    return meta_set(db, "views_hash", views_fingerprint().text, err);
}

/* Temporary views with the program's texts, which hide those of the file. */
static int shadow_own_views(struct db *db, struct error *err) {
    char *sites = schema_sites_text();
    int code = db_create_temp_view(db, sites, err);
    free(sites);
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (code == 0 && is_view(file) && strcmp(file->name, "views/doctor.sql") != 0)
            code = db_create_temp_view(db, text_in(file), err);
    return code;
}

static int create_rules(struct db *db, struct error *err) {
    if (schema_load_rules(db, "rules.yaml", embedded_text("rules.yaml"), err) || gates_put_own(db, err)) return -1;
    return meta_set(db, "rules_hash", rules_fingerprint().text, err);
}

static int create_queries(struct db *db, struct error *err) {
    return queries_put_own(db, err) ? -1 : meta_set(db, "queries_hash", queries_fingerprint().text, err);
}

/* Runs are sealed after the transaction: of many runs that takes a while. */
static int make_facts_tables(struct db *db, enum schema_state state, struct error *err) {
    bool is_current = false;
    if (facts_tables_are_current(db, &is_current, err)) return -1;
    return is_current ? 0 : facts_make_tables(db, state == SCHEMA_EMPTY, err);
}

static int bring_up(struct db *db, struct error *err) {
    enum schema_state state;
    if (schema_read_state(db, &state, err)) return -1; /* look again: another process may have been faster */
    if (state == SCHEMA_CURRENT) return 0;
    if (state == SCHEMA_UNSEALED) return make_facts_tables(db, state, err); /* rules that a user changed stay */
    int code = state == SCHEMA_EMPTY ? create_tables(db, err) : migrate(db, err);
    return code || make_facts_tables(db, state, err) || create_views(db, state, err) || create_rules(db, err) ||
                   create_queries(db, err)
               ? -1
               : 0;
}

int schema_prepare(struct db *db, enum schema_state state, struct error *err) {
    if (state == SCHEMA_CURRENT) return check_computing(db, err);
    if (db_begin(db, err)) return -1;
    if (bring_up(db, err) || check_computing(db, err)) {
        db_rollback(db);
        return -1;
    }
    return db_commit(db, err) ? -1 : facts_seal_pending(db, err);
}

/* The text of clear's own views comes from the program, that of others from the file, where SQLite stores it as "CREATE VIEW name ...". The view
 * doctor may be a temporary view already. */
int schema_shadow_views(struct db *db, struct error *err) {
    static const char create[] = "CREATE VIEW ";
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/schema/views_to_shadow"), err);
    struct arena texts = {0};
    const char **views = NULL;
    size_t count = 0;
    int code = -1;
    while (row && (code = db_step(db, row, err)) == 1) {
        const char *own = schema_view_text(db_text(row, 0)), *stored = db_text(row, 1);
        if (!own && strncmp(stored, create, strlen(create)) != 0) continue;
        views = xrealloc(views, (count + 1) * sizeof *views);
        views[count++] = own ? own : arena_text(&texts, stored + strlen(create), strlen(stored + strlen(create)));
    }
    for (size_t i = 0; code == 0 && i < count; i++)
        code = db_create_temp_view(db, views[i], err);
    free(views);
    arena_free(&texts);
    return code;
}

static int shadow_facts(struct db *db, struct error *err) {
    sqlite3_stmt *run = facts_shadow_tables(db, err) ? NULL : db_prepare(db, "SELECT id FROM main.runs", err);
    int code = -1;
    while (run && (code = db_step(db, run, err)) == 1)
        if (facts_shadow_run(db, sqlite3_column_int64(run, 0), err)) return -1;
    return code;
}

int schema_prepare_reader(struct db *db, struct error *err) {
    bool own = false, joined = true, facts = false;
    if (inspect_views(db, &own, err) || facts_tables_are_current(db, &facts, err) ||
        (facts && facts_are_current(db, &facts, err)))
        return -1;
    own = own && facts;
    /* Facts are filled by views, too. */
    if ((!own && shadow_own_views(db, err)) || (!facts && shadow_facts(db, err)) ||
        (own && diagnoses_are_joined(db, &joined, err)))
        return -1;
    return own && joined ? 0 : diagnoses_join_temporarily(db, err);
}
