#include "schema/queries.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "schema/schema.h"

void queries_free(struct saved_query *query) {
    free(query->name);
    free(query->description);
    free(query->params);
    free(query->sql);
    free(query->export);
    *query = (struct saved_query){0};
}

bool queries_is_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return *name && strchr(letters, *name) && !name[strspn(name, more)];
}

/* ---- one query in YAML ---- */

static void add_json_text(struct buffer *json, const char *text) {
    buffer_add_json_string(json, text, strlen(text));
}

struct param {
    const char *type;
    const yaml_node_t *value; /* the default; NULL for none */
};

static int read_type(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    static const char *const types[] = {"run", "integer", "real", "text", NULL};
    struct param *param = context;
    (void)key;
    (void)at;
    const char *text = document_text(document, value);
    if (!text) return -1;
    for (const char *const *type = types; *type; type++)
        if (strcmp(*type, text) == 0) param->type = *type;
    return param->type ? 0
                       : document_wrong(document, value, "unknown type '%s'; types are run, integer, real, text", text);
}

static int read_default(void *context, struct document *document, const char *key, const yaml_node_t *at,
                        const yaml_node_t *value) {
    struct param *param = context;
    (void)document;
    (void)key;
    (void)at;
    param->value = value;
    return 0;
}

static int add_default(struct buffer *json, struct document *document, const struct param *param) {
    int64_t integer;
    double real;
    buffer_add_text(json, ",\"default\":");
    if (strcmp(param->type, "integer") == 0) {
        if (document_integer(document, param->value, &integer)) return -1;
        buffer_printf(json, "%lld", (long long)integer);
    } else if (strcmp(param->type, "real") == 0) {
        if (document_number(document, param->value, &real)) return -1;
        buffer_printf(json, "%.17g", real);
    } else {
        /* An empty text is a valid default. */
        if (param->value->type != YAML_SCALAR_NODE) return document_wrong(document, param->value, "must be a text");
        add_json_text(json, (const char *)param->value->data.scalar.value);
    }
    return 0;
}

static int read_param(void *context, struct document *document, const char *key, const yaml_node_t *at,
                      const yaml_node_t *value) {
    static const struct document_key keys[] = {{"type", read_type}, {"default", read_default}, {0}};
    struct buffer *json = context;
    struct param param = {0};
    if (!queries_is_name(key)) return document_wrong(document, at, "'%s' cannot be the name of a parameter", key);
    if (document_keys(document, value, keys, &param)) return -1;
    if (!param.type) return document_wrong(document, value, "`type:` is missing; types are run, integer, real, text");
    buffer_add_text(json, json->size ? ",{\"name\":" : "{\"name\":");
    add_json_text(json, key);
    buffer_printf(json, ",\"type\":\"%s\"", param.type);
    if (param.value && add_default(json, document, &param)) return -1;
    buffer_add_char(json, '}');
    return 0;
}

static int read_params(void *context, struct document *document, const char *key, const yaml_node_t *at,
                       const yaml_node_t *value) {
    struct saved_query *query = context;
    struct buffer json = {0};
    (void)key;
    (void)at;
    int code = document_pairs(document, value, read_param, &json);
    query->params = xasprintf("[%s]", buffer_text(&json));
    buffer_free(&json);
    return code;
}

static int read_setting(void *context, struct document *document, const char *key, const yaml_node_t *at,
                        const yaml_node_t *value) {
    struct buffer *json = context;
    (void)at;
    const char *text = document_text(document, value);
    if (!text) return -1;
    if (json->size) buffer_add_char(json, ',');
    add_json_text(json, key);
    buffer_add_char(json, ':');
    add_json_text(json, text);
    return 0;
}

static int read_export(void *context, struct document *document, const char *key, const yaml_node_t *at,
                       const yaml_node_t *value) {
    static const struct document_key keys[] = {
        {"format", read_setting}, {"type", read_setting}, {"title", read_setting}, {"base", read_setting}, {0}};
    struct saved_query *query = context;
    struct buffer json = {0};
    (void)key;
    (void)at;
    int code = document_keys(document, value, keys, &json);
    query->export = xasprintf("{%s}", buffer_text(&json));
    buffer_free(&json);
    return code;
}

static int read_name(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    struct saved_query *query = context;
    (void)key;
    (void)at;
    const char *text = document_text(document, value);
    if (!text) return -1;
    if (query->name)
        return document_wrong(document, value, "the name is already '%s', from the key above", query->name);
    query->name = xstrdup(text);
    return 0;
}

static int read_description(void *context, struct document *document, const char *key, const yaml_node_t *at,
                            const yaml_node_t *value) {
    struct saved_query *query = context;
    (void)key;
    (void)at;
    const char *text = document_text(document, value);
    if (!text) return -1;
    if (strchr(text, '\n')) return document_wrong(document, value, "a description must be one line");
    query->description = xstrdup(text);
    return 0;
}

static int read_sql(void *context, struct document *document, const char *key, const yaml_node_t *at,
                    const yaml_node_t *value) {
    struct saved_query *query = context;
    (void)key;
    (void)at;
    const char *text = document_text(document, value);
    if (!text) return -1;
    query->sql = xstrdup(text);
    return 0;
}

static int check(struct document *document, const yaml_node_t *node, struct saved_query *query) {
    if (!query->name) return document_wrong(document, node, "`name:` is missing");
    if (!queries_is_name(query->name))
        return document_wrong(document, node, "'%s' is not a valid name: use letters, digits, - and _", query->name);
    if (!query->description) return document_wrong(document, node, "`description:` is missing");
    if (!query->sql) return document_wrong(document, node, "`sql:` is missing");
    if (!query->params) query->params = xstrdup("[]");
    if (!query->export) query->export = xstrdup("{}");
    return 0;
}

int queries_read(struct document *document, const yaml_node_t *node, const char *name, struct saved_query *query) {
    static const struct document_key keys[] = {{"name", read_name},     {"description", read_description},
                                               {"params", read_params}, {"sql", read_sql},
                                               {"export", read_export}, {0}};
    *query = (struct saved_query){.name = name ? xstrdup(name) : NULL};
    if (document_keys(document, node, keys, query) == 0 && check(document, node, query) == 0) return 0;
    queries_free(query);
    return -1;
}

/* ---- the table ---- */

int queries_put(struct db *db, const struct saved_query *query, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/put_query.sql"), err);
    if (!statement) return -1;
    db_bind_text(statement, ":name", query->name);
    db_bind_text(statement, ":description", query->description);
    db_bind_text(statement, ":params", query->params);
    db_bind_text(statement, ":sql", query->sql);
    db_bind_text(statement, ":export", query->export);
    return db_run(db, statement, err);
}

static bool is_query(const struct embedded *file) {
    return strncmp(file->name, "queries/", 8) == 0;
}

static int put_own(struct db *db, const struct embedded *file, struct error *err) {
    struct document document;
    struct saved_query query;
    if (document_open(&document, file->name, file->text, err)) return -1;
    const yaml_node_t *root = document_root(&document);
    int code = root ? queries_read(&document, root, NULL, &query) : error_fail(err, "%s: is empty", file->name);
    document_close(&document);
    if (code) return -1;
    code = queries_put(db, &query, err);
    queries_free(&query);
    return code;
}

int queries_put_own(struct db *db, struct error *err) {
    for (const struct embedded *file = embedded_files; file->name; file++)
        if (is_query(file) && put_own(db, file, err)) return -1;
    return 0;
}

bool queries_is_own(const char *name) {
    for (const struct embedded *file = embedded_files; file->name; file++) {
        size_t size = strlen(name);
        if (is_query(file) && strncmp(file->name + 8, name, size) == 0 && strcmp(file->name + 8 + size, ".yaml") == 0)
            return true;
    }
    return false;
}
