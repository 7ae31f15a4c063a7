/* rules.c: reads rules.yaml into rows of rules, advice and wrappers. */
#include <stdbool.h>
#include <string.h>

#include "schema/document.h"
#include "schema/schema.h"

/* One rule or one advice while it is read. Texts live as long as the document. */
struct rules_entry {
    double value;
    bool has_value;
    const char *unit, *meaning, *severity, *title, *text;
};

static int read_value(void *context, struct document *document, const char *key, const yaml_node_t *at,
                      const yaml_node_t *value) {
    struct rules_entry *entry = context;
    (void)key;
    (void)at;
    entry->has_value = true;
    return document_number(document, value, &entry->value);
}

static int read_text(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    struct rules_entry *entry = context;
    const struct {
        const char *key, **text;
    } fields[] = {{"unit", &entry->unit},
                  {"meaning", &entry->meaning},
                  {"severity", &entry->severity},
                  {"title", &entry->title},
                  {"text", &entry->text}};
    (void)at;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].key, key) == 0) return (*fields[i].text = document_text(document, value)) ? 0 : -1;
    bug("no field for %s", key);
}

static int missing(struct document *document, const yaml_node_t *node, const char *key) {
    return document_wrong(document, node, "`%s:` is missing", key);
}

static int put_rule(void *context, struct document *document, const char *name, const yaml_node_t *at,
                    const yaml_node_t *value) {
    static const struct document_key keys[] = {{"value", read_value}, {"unit", read_text}, {"meaning", read_text}, {0}};
    struct db *db = context;
    struct rules_entry entry = {0};
    (void)at;
    if (document_keys(document, value, keys, &entry)) return -1;
    if (!entry.has_value) return missing(document, value, "value");
    if (!entry.unit) return missing(document, value, "unit");
    if (!entry.meaning) return missing(document, value, "meaning");
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/put_rule.sql"), document->err);
    if (!statement) return -1;
    db_bind_text(statement, ":name", name);
    db_bind_real(statement, ":value", entry.value);
    db_bind_text(statement, ":unit", entry.unit);
    db_bind_text(statement, ":meaning", entry.meaning);
    return db_run(db, statement, document->err);
}

static int read_severity(void *context, struct document *document, const char *key, const yaml_node_t *at,
                         const yaml_node_t *value) {
    static const char *const words[] = {"critical", "warning", "note", "ok"};
    struct rules_entry *entry = context;
    if (read_text(context, document, key, at, value)) return -1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], entry->severity) == 0) return 0;
    return document_wrong(document, value, "`severity:` must be critical, warning, note or ok");
}

static int put_advice(void *context, struct document *document, const char *code, const yaml_node_t *at,
                      const yaml_node_t *value) {
    static const struct document_key keys[] = {
        {"severity", read_severity}, {"title", read_text}, {"text", read_text}, {0}};
    struct db *db = context;
    struct rules_entry entry = {0};
    (void)at;
    if (document_keys(document, value, keys, &entry)) return -1;
    if (!entry.severity) return missing(document, value, "severity");
    if (!entry.title) return missing(document, value, "title");
    if (!entry.text) return missing(document, value, "text");
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/put_advice.sql"), document->err);
    if (!statement) return -1;
    db_bind_text(statement, ":code", code);
    db_bind_text(statement, ":severity", entry.severity);
    db_bind_text(statement, ":title", entry.title);
    db_bind_text(statement, ":text", entry.text);
    return db_run(db, statement, document->err);
}

static int put_wrapper(struct db *db, struct document *document, const yaml_node_t *node) {
    const char *pattern = document_text(document, node);
    sqlite3_stmt *statement = NULL;
    if (pattern) statement = db_prepare(db, "INSERT OR IGNORE INTO wrappers(pattern) VALUES (:pattern)", document->err);
    if (!statement) return -1;
    db_bind_text(statement, ":pattern", pattern);
    return db_run(db, statement, document->err);
}

static int put_rules(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    (void)key;
    (void)at;
    return document_pairs(document, value, put_rule, context);
}

static int put_advices(void *context, struct document *document, const char *key, const yaml_node_t *at,
                       const yaml_node_t *value) {
    (void)key;
    (void)at;
    return document_pairs(document, value, put_advice, context);
}

static int put_wrappers(void *context, struct document *document, const char *key, const yaml_node_t *at,
                        const yaml_node_t *value) {
    (void)key;
    (void)at;
    if (value->type != YAML_SEQUENCE_NODE) return document_wrong(document, value, "must be a list of patterns");
    yaml_node_item_t *item = value->data.sequence.items.start;
    for (; item < value->data.sequence.items.top; item++)
        if (put_wrapper(context, document, yaml_document_get_node(&document->yaml, *item))) return -1;
    return 0;
}

int schema_load_rules(struct db *db, const char *name, const char *text, struct error *err) {
    static const struct document_key keys[] = {
        {"rules", put_rules}, {"advice", put_advices}, {"wrappers", put_wrappers}, {0}};
    struct document document;
    if (document_open(&document, name, text, err)) return -1;
    const yaml_node_t *root = document_root(&document);
    int code = root ? db_begin(db, err) : error_fail(err, "%s: is empty", name);
    if (code == 0 && document_keys(&document, root, keys, db)) {
        db_rollback(db);
        code = -1;
    } else if (code == 0) {
        code = db_commit(db, err);
    }
    document_close(&document);
    return code;
}
