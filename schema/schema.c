#include "schema/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/hash.h"
#include "schema/queries.h"

/* ---- texts built into the program -------------------------------------------------------------------------------- */

const char *embedded_text(const char *name) {
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (strcmp(file->name, name) == 0) return file->text;
    bug("nothing is embedded as %s", name);
}

static bool is_view(const struct embedded *file) {
    return strncmp(file->name, "views/", 6) == 0 || strncmp(file->name, "doctor/", 7) == 0;
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
    return fingerprint(hash_text(0, embedded_text("rules.yaml")));
}

static struct fingerprint queries_fingerprint(void) {
    uint64_t hash = 0;
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (strncmp(file->name, "queries/", 8) == 0) hash = hash_text(hash_text(hash, file->name), file->text);
    return fingerprint(hash);
}

/* ---- meta -------------------------------------------------------------------------------------------------------- */

static int meta_set(struct db *db, const char *key, const char *value, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db,
                                         "INSERT INTO meta(key, value) VALUES (:key, :value) "
                                         "ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                                         err);
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

/* ---- what a file is ---------------------------------------------------------------------------------------------- */

static int foreign(struct db *db, int64_t application, struct error *err) {
    if (!application)
        return error_fail(err, "%s: is a SQLite database of something else: choose another --db FILE", db->path);
    return error_fail(err,
                      "%s: is a SQLite database of another program (application_id 0x%08llx): choose another "
                      "--db FILE",
                      db->path, (unsigned long long)application & 0xffffffff);
}

int schema_look(struct db *db, enum schema_state *state, struct error *err) {
    int64_t application, version, objects;
    if (db_int(db, "PRAGMA application_id", 0, &application, err) ||
        db_int(db, "PRAGMA user_version", 0, &version, err) ||
        db_int(db, "SELECT count(*) FROM sqlite_schema", 0, &objects, err))
        return -1;
    *state = SCHEMA_EMPTY;
    if (!application && !version && !objects) return 0;
    if (application != SCHEMA_APPLICATION_ID) return foreign(db, application, err);
    if (version > SCHEMA_VERSION)
        return error_fail(err, "%s: made by a newer clear (schema %lld, this one knows %d): update clear", db->path,
                          (long long)version, SCHEMA_VERSION);
    if (version < 1) return error_fail(err, "%s: is damaged: schema version %lld", db->path, (long long)version);
    *state = SCHEMA_OLDER;
    if (version < SCHEMA_VERSION) return 0;
    bool views = false, rules = false, queries = false;
    if (meta_is(db, "views_hash", views_fingerprint().text, &views, err) ||
        meta_is(db, "rules_hash", rules_fingerprint().text, &rules, err) ||
        meta_is(db, "queries_hash", queries_fingerprint().text, &queries, err))
        return -1;
    *state = views && rules && queries ? SCHEMA_CURRENT : SCHEMA_STALE;
    return 0;
}

/* ---- tables and views -------------------------------------------------------------------------------------------- */

/* Version N to N+1, in order. A step that changes what a view reads need not care: views are made anew after it. */
static const char *const migrations[] = {NULL};
_Static_assert(sizeof migrations / sizeof *migrations == SCHEMA_VERSION, "one step for each version after the first");

static int create_tables(struct db *db, struct error *err) {
    _Static_assert(SCHEMA_APPLICATION_ID == 1129071937 && SCHEMA_VERSION == 1,
                   "as the pragmas below and in tables.sql");
    return db_exec(db, "PRAGMA application_id = 1129071937; PRAGMA user_version = 1", err) ||
                   db_exec(db, embedded_text("tables.sql"), err) || meta_set(db, "created_by", CLEAR_VERSION, err)
               ? -1
               : 0;
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
    return error_prefix(err, "bringing the file up to date (nothing was changed): ");
}

/* Each file drops its own view first. Views that a user made stay. */
static int create_views(struct db *db, struct error *err) {
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (is_view(file) && db_exec(db, file->text, err)) return error_prefix(err, "schema/%s: ", file->name);
    return meta_set(db, "views_hash", views_fingerprint().text, err);
}

static int create_rules(struct db *db, struct error *err) {
    if (schema_load_rules(db, "rules.yaml", embedded_text("rules.yaml"), err)) return -1;
    return meta_set(db, "rules_hash", rules_fingerprint().text, err);
}

static int create_queries(struct db *db, struct error *err) {
    return queries_put_own(db, err) ? -1 : meta_set(db, "queries_hash", queries_fingerprint().text, err);
}

static int bring_up(struct db *db, struct error *err) {
    enum schema_state state;
    if (schema_look(db, &state, err)) return -1; /* again: another process may have been faster */
    if (state == SCHEMA_CURRENT) return 0;
    int code = state == SCHEMA_EMPTY ? create_tables(db, err) : schema_migrate(db, migrations, SCHEMA_VERSION - 1, err);
    return code || create_views(db, err) || create_rules(db, err) || create_queries(db, err) ? -1 : 0;
}

int schema_prepare(struct db *db, struct error *err) {
    enum schema_state state;
    if (schema_look(db, &state, err)) return -1;
    if (state == SCHEMA_CURRENT) return 0;
    if (db_begin(db, err)) return -1;
    if (bring_up(db, err)) {
        db_rollback(db);
        return -1;
    }
    return db_commit(db, err);
}

/* ---- rules.yaml -------------------------------------------------------------------------------------------------- */

struct reader {
    struct db *db;
    const char *name;
    yaml_document_t *document;
    struct error *err;
};

static int wrong(struct reader *reader, const yaml_node_t *node, const char *what) {
    return error_fail(reader->err, "%s:%zu: %s", reader->name, node->start_mark.line + 1, what);
}

static const char *scalar(const yaml_node_t *node) {
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* The scalar of that key in a mapping, or NULL with the error set. */
static const char *field(struct reader *reader, const yaml_node_t *node, const char *key) {
    if (node->type == YAML_MAPPING_NODE) {
        for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
            const char *name = scalar(yaml_document_get_node(reader->document, pair->key));
            const char *value = scalar(yaml_document_get_node(reader->document, pair->value));
            if (name && value && strcmp(name, key) == 0) return value;
        }
    }
    char what[64];
    snprintf(what, sizeof what, "no `%s:` here", key);
    wrong(reader, node, what);
    return NULL;
}

static int put_rule(struct reader *reader, const char *name, const yaml_node_t *node) {
    const char *value = field(reader, node, "value"), *unit = field(reader, node, "unit");
    const char *meaning = field(reader, node, "meaning");
    if (!value || !unit || !meaning) return -1;
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end) return wrong(reader, node, "`value:` is no number");
    sqlite3_stmt *statement = db_prepare(reader->db,
                                         "INSERT OR REPLACE INTO rules(name, value, unit, meaning) "
                                         "VALUES (:name, :value, :unit, :meaning)",
                                         reader->err);
    if (!statement) return -1;
    db_bind_text(statement, ":name", name);
    db_bind_real(statement, ":value", number);
    db_bind_text(statement, ":unit", unit);
    db_bind_text(statement, ":meaning", meaning);
    return db_run(reader->db, statement, reader->err);
}

static bool is_severity(const char *word) {
    static const char *const words[] = {"critical", "warning", "note", "ok"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

static int put_advice(struct reader *reader, const char *code, const yaml_node_t *node) {
    const char *severity = field(reader, node, "severity"), *title = field(reader, node, "title");
    const char *text = field(reader, node, "text");
    if (!severity || !title || !text) return -1;
    if (!is_severity(severity)) return wrong(reader, node, "`severity:` is critical, warning, note or ok");
    sqlite3_stmt *statement = db_prepare(reader->db,
                                         "INSERT OR REPLACE INTO advice(code, severity, title, text) "
                                         "VALUES (:code, :severity, :title, :text)",
                                         reader->err);
    if (!statement) return -1;
    db_bind_text(statement, ":code", code);
    db_bind_text(statement, ":severity", severity);
    db_bind_text(statement, ":title", title);
    db_bind_text(statement, ":text", text);
    return db_run(reader->db, statement, reader->err);
}

static int put_wrapper(struct reader *reader, const yaml_node_t *node) {
    const char *pattern = scalar(node);
    if (!pattern || !*pattern) return wrong(reader, node, "a wrapper is a pattern of function names");
    sqlite3_stmt *statement =
        db_prepare(reader->db, "INSERT OR IGNORE INTO wrappers(pattern) VALUES (:pattern)", reader->err);
    if (!statement) return -1;
    db_bind_text(statement, ":pattern", pattern);
    return db_run(reader->db, statement, reader->err);
}

static int put_all(struct reader *reader, const yaml_node_t *section,
                   int (*put)(struct reader *, const char *, const yaml_node_t *)) {
    if (section->type != YAML_MAPPING_NODE) return wrong(reader, section, "a mapping of names is wanted here");
    yaml_node_pair_t *pair = section->data.mapping.pairs.start;
    for (; pair < section->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
        if (!scalar(key)) return wrong(reader, key, "a name is wanted here");
        if (put(reader, scalar(key), yaml_document_get_node(reader->document, pair->value))) return -1;
    }
    return 0;
}

static int put_wrappers(struct reader *reader, const yaml_node_t *section) {
    if (section->type != YAML_SEQUENCE_NODE) return wrong(reader, section, "a list of patterns is wanted here");
    yaml_node_item_t *item = section->data.sequence.items.start;
    for (; item < section->data.sequence.items.top; item++)
        if (put_wrapper(reader, yaml_document_get_node(reader->document, *item))) return -1;
    return 0;
}

static int put_document(struct reader *reader) {
    const yaml_node_t *root = yaml_document_get_root_node(reader->document);
    if (!root) return error_fail(reader->err, "%s: is empty", reader->name);
    if (root->type != YAML_MAPPING_NODE) return wrong(reader, root, "rules:, advice: and wrappers: are wanted here");
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
        const yaml_node_t *section = yaml_document_get_node(reader->document, pair->value);
        const char *name = scalar(key) ? scalar(key) : "";
        int code;
        if (strcmp(name, "rules") == 0)
            code = put_all(reader, section, put_rule);
        else if (strcmp(name, "advice") == 0)
            code = put_all(reader, section, put_advice);
        else if (strcmp(name, "wrappers") == 0)
            code = put_wrappers(reader, section);
        else
            code = wrong(reader, key, "only rules:, advice: and wrappers: are known");
        if (code) return -1;
    }
    return 0;
}

int schema_load_rules(struct db *db, const char *name, const char *text, struct error *err) {
    yaml_parser_t parser;
    yaml_document_t document;
    if (!yaml_parser_initialize(&parser)) bug("libyaml cannot start");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (!yaml_parser_load(&parser, &document)) {
        error_fail(err, "%s:%zu: %s", name, parser.problem_mark.line + 1, parser.problem ? parser.problem : "no YAML");
        yaml_parser_delete(&parser);
        return -1;
    }
    struct reader reader = {db, name, &document, err};
    int code = db_begin(db, err);
    if (code == 0 && put_document(&reader)) {
        db_rollback(db);
        code = -1;
    } else if (code == 0) {
        code = db_commit(db, err);
    }
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    return code;
}
