#include "schema/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/nearest.h"
#include "base/owner.h"
#include "base/split.h"
#include "schema/document.h"
#include "schema/schema.h"

static const char file_name[] = "clear.yaml";

static void free_pairs(struct config_pair *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(pairs[i].key);
        free(pairs[i].value);
    }
    free(pairs);
}

void config_free(struct config *config) {
    free(config->path);
    free(config->database);
    free_pairs(config->toolchain, config->toolchain_count);
    free_pairs(config->tags, config->tag_count);
    for (size_t i = 0; i < config->filter_count; i++) {
        free(config->filters[i].name);
        free_pairs(config->filters[i].options, config->filters[i].option_count);
    }
    free(config->filters);
    for (size_t i = 0; i < config->threshold_count; i++)
        free(config->thresholds[i].name);
    for (size_t i = 0; i < config->query_count; i++)
        queries_free(&config->queries[i]);
    retention_free(&config->retention);
    push_rule_free(&config->push);
    free(config->thresholds);
    free(config->queries);
    gates_free_all(config->gates, config->gate_count);
    *config = (struct config){0};
}

/* ---- finding the file ---- */

/* 1: can be used, 0: does not exist, -1: belongs to somebody else, or a link on the way does, which could make a file of ours speak for
 * another directory. */
static int look_at(const char *path) {
    struct stat status;
    struct error ignored = {0};
    if (stat(path, &status) || !S_ISREG(status.st_mode)) return 0;
    if (!owner_is_trusted(status.st_uid)) return -1;
    char *file = owner_resolve(path, &ignored);
    free(file);
    return file ? 1 : -1;
}

static char *found_at(char *path, char **passed) {
    int found = look_at(path);
    if (found == 1) return path;
    if (found == -1 && !*passed)
        *passed = path;
    else
        free(path);
    return NULL;
}

static char *find_upward(char **passed) {
    char *directory = getcwd(NULL, 0), *found = NULL;
    while (directory && !found) {
        size_t size = strlen(directory);
        found = found_at(xasprintf("%s%s%s", directory, directory[size - 1] == '/' ? "" : "/", file_name), passed);
        if (size <= 1) break;
        char *slash = strrchr(directory, '/');
        slash[slash == directory] = '\0';
    }
    free(directory);
    return found;
}

char *config_find(char **passed) {
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    *passed = NULL;
    char *found = find_upward(passed);
    if (found) return found;
    if (xdg && *xdg == '/') return found_at(xasprintf("%s/clear/%s", xdg, file_name), passed);
    if (home && *home) return found_at(xasprintf("%s/.config/clear/%s", home, file_name), passed);
    return NULL;
}

/* ---- its sections ---- */

static void add_pair(struct config_pair **pairs, size_t *count, const char *key, const char *value) {
    *pairs = xrealloc(*pairs, (*count + 1) * sizeof **pairs);
    (*pairs)[(*count)++] = (struct config_pair){xstrdup(key), xstrdup(value)};
}

static int read_database(void *context, struct document *document, const char *key, const yaml_node_t *at,
                         const yaml_node_t *value) {
    struct config *config = context;
    const char *text = document_text(document, value), *slash = strrchr(config->path, '/');
    (void)key;
    (void)at;
    if (!text) return -1;
    if (*text == '/' || !slash || strstr(text, "://")) /* a store has an address */
        config->database = xstrdup(text);
    else
        config->database = xasprintf("%.*s%s", (int)(slash + 1 - config->path), config->path, text);
    return 0;
}

static int read_rule(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    struct config *config = context;
    const char *text = document_text(document, value);
    if (!text) return -1;
    if (*key != '.' || !key[1] || strchr(key, '/'))
        return document_wrong(document, at, "'%s' is not a file extension such as .c", key);
    if (!strstr(text, "{source}") || !strstr(text, "{output}"))
        return document_wrong(document, value, "must be a command with {source} and {output}");
    add_pair(&config->toolchain, &config->toolchain_count, key, text);
    return 0;
}

static int read_toolchain(void *context, struct document *document, const char *key, const yaml_node_t *at,
                          const yaml_node_t *value) {
    (void)key;
    (void)at;
    return document_pairs(document, value, read_rule, context);
}

static int read_tag(void *context, struct document *document, const char *key, const yaml_node_t *at,
                    const yaml_node_t *value) {
    struct config *config = context;
    const char *text = document_text(document, value);
    if (!text) return -1;
    if (strchr(key, '=')) return document_wrong(document, at, "the name of a tag cannot contain '='");
    if (strcmp(text, "auto") == 0 && strcmp(key, "git_commit") != 0 && strcmp(key, "git_branch") != 0)
        return document_wrong(document, value, "only git_commit and git_branch can be auto");
    add_pair(&config->tags, &config->tag_count, key, text);
    return 0;
}

static int read_tags(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    (void)key;
    (void)at;
    return document_pairs(document, value, read_tag, context);
}

static int read_query(void *context, struct document *document, const char *key, const yaml_node_t *at,
                      const yaml_node_t *value) {
    struct config *config = context;
    struct saved_query query;
    /* It would overwrite clear's own query in each file, and stay there without the configuration. */
    if (queries_is_own(key))
        return document_wrong(document, at, "@%s is one of clear's own queries: choose another name", key);
    if (!queries_is_name(key))
        return document_wrong(document, at, "'%s' is not a valid name: use letters, digits, - and _", key);
    if (queries_read(document, value, key, &query)) return -1;
    config->queries = xrealloc(config->queries, (config->query_count + 1) * sizeof *config->queries);
    config->queries[config->query_count++] = query;
    return 0;
}

static int read_queries(void *context, struct document *document, const char *key, const yaml_node_t *at,
                        const yaml_node_t *value) {
    (void)key;
    (void)at;
    return document_pairs(document, value, read_query, context);
}

static int read_retention(void *context, struct document *document, const char *key, const yaml_node_t *at,
                          const yaml_node_t *value) {
    struct config *config = context;
    (void)key;
    (void)at;
    return retention_read(&config->retention, document, value);
}

static int read_push(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    (void)key;
    (void)at;
    return push_rule_read(&((struct config *)context)->push, document, value);
}

/* ---- filters of the browser ---- */

/* Options of reports that have a parameter (query/report/options.c); browser_pure asks for each. */
static const char filter_switches[] = "noinlines mean relative_percentages normalize drop_negative";
static const char filter_values[] = "focus ignore hide show show_from prune_from tagfocus tagignore tagshow taghide "
                                    "tagroot tagleaf granularity nodecount nodefraction unit";

static int unknown_filter(struct document *document, const char *key, const yaml_node_t *at) {
    struct nearest nearest = {.word = key};
    char *words = xasprintf("%s %s", filter_switches, filter_values), *rest = words;
    for (char *word; (word = strsep(&rest, " "));)
        nearest_offer(&nearest, word);
    int code = *nearest.found
                   ? document_wrong(document, at, "unknown filter '%s'; did you mean '%s'?", key, nearest.found)
                   : document_wrong(document, at,
                                    "unknown filter '%s'; it is an option of clear report: focus, ignore, ...", key);
    free(words);
    return code;
}

/* As a URL has them: a switch is 1 or 0. */
static int read_option(void *context, struct document *document, const char *key, const yaml_node_t *at,
                       const yaml_node_t *value) {
    struct config_filter *filter = context;
    const char *text = document_text(document, value);
    if (!text) return -1;
    if (split_has(filter_switches, key)) {
        bool is_on = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        if (!is_on && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
            return document_wrong(document, value, "must be true or false");
        text = is_on ? "1" : "0";
    } else if (!split_has(filter_values, key)) {
        return unknown_filter(document, key, at);
    }
    add_pair(&filter->options, &filter->option_count, key, text);
    return 0;
}

static int read_filter(void *context, struct document *document, const char *key, const yaml_node_t *at,
                       const yaml_node_t *value) {
    struct config *config = context;
    (void)at;
    config->filters = xrealloc(config->filters, (config->filter_count + 1) * sizeof *config->filters);
    struct config_filter *filter = &config->filters[config->filter_count++];
    *filter = (struct config_filter){.name = xstrdup(key)};
    return document_pairs(document, value, read_option, filter);
}

static int read_filters(void *context, struct document *document, const char *key, const yaml_node_t *at,
                        const yaml_node_t *value) {
    (void)key;
    (void)at;
    return document_pairs(document, value, read_filter, context);
}

static int read_gate(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    struct config *config = context;
    struct gate_rule rule;
    (void)at;
    if (gates_read(document, value, key, &rule)) return -1;
    config->gates = xrealloc(config->gates, (config->gate_count + 1) * sizeof *config->gates);
    config->gates[config->gate_count++] = rule;
    return 0;
}

static int read_gates(void *context, struct document *document, const char *key, const yaml_node_t *at,
                      const yaml_node_t *value) {
    (void)key;
    (void)at;
    ((struct config *)context)->has_gates = true;
    return document_pairs(document, value, read_gate, context);
}

/* ---- thresholds, with the names of rules.yaml ---- */

struct known_rules {
    struct nearest nearest;
    bool found, is_percent;
};

static int offer_rule(void *context, struct document *document, const char *key, const yaml_node_t *at,
                      const yaml_node_t *value) {
    struct known_rules *known = context;
    (void)document;
    (void)at;
    (void)value;
    size_t size = strlen(key);
    nearest_offer(&known->nearest, key);
    if (strcmp(key, known->nearest.word) != 0) return 0;
    known->found = true;
    known->is_percent = size > 8 && strcmp(key + size - 8, "_percent") == 0;
    return 0;
}

static int offer_section(void *context, struct document *document, const char *key, const yaml_node_t *at,
                         const yaml_node_t *value) {
    (void)at;
    return strcmp(key, "rules") == 0 ? document_pairs(document, value, offer_rule, context) : 0;
}

/* The thresholds of a file, and rules.yaml, which is read once for all of them. */
struct thresholds {
    struct config *config;
    struct document rules;
};

static int check_threshold(struct thresholds *thresholds, struct document *document, const char *name,
                           const yaml_node_t *at, double number) {
    struct known_rules known = {.nearest = {.word = name}};
    struct document *rules = &thresholds->rules;
    int code = document_pairs(rules, document_root(rules), offer_section, &known);
    if (code == 0 && !known.found && *known.nearest.found)
        code = document_wrong(document, at, "unknown threshold '%s'; did you mean '%s'?", name, known.nearest.found);
    else if (code == 0 && !known.found)
        code = document_wrong(document, at, "unknown threshold '%s'; clear query \"SELECT * FROM rules\" lists them",
                              name);
    else if (code == 0 && (number < 0 || (known.is_percent && number > 100)))
        code = document_wrong(document, at, "%s is out of range: %g", name, number);
    return code;
}

static int read_threshold(void *context, struct document *document, const char *key, const yaml_node_t *at,
                          const yaml_node_t *value) {
    struct config *config = ((struct thresholds *)context)->config;
    double number;
    if (document_number(document, value, &number) || check_threshold(context, document, key, at, number)) return -1;
    config->thresholds = xrealloc(config->thresholds, (config->threshold_count + 1) * sizeof *config->thresholds);
    config->thresholds[config->threshold_count++] = (struct config_threshold){xstrdup(key), number};
    return 0;
}

static int read_thresholds(void *context, struct document *document, const char *key, const yaml_node_t *at,
                           const yaml_node_t *value) {
    (void)key;
    (void)at;
    struct thresholds thresholds = {.config = context};
    if (document_open(&thresholds.rules, "rules.yaml", embedded_text("rules.yaml"), document->err)) return -1;
    int code = document_pairs(document, value, read_threshold, &thresholds);
    document_close(&thresholds.rules);
    return code;
}

/* ---- the file ---- */

int config_parse(struct config *config, const char *path, const char *text, struct error *err) {
    static const struct document_key keys[] = {{"database", read_database},
                                               {"toolchain", read_toolchain},
                                               {"thresholds", read_thresholds},
                                               {"tags", read_tags},
                                               {"queries", read_queries},
                                               {"retention", read_retention},
                                               {"filters", read_filters},
                                               {"gates", read_gates},
                                               {"push", read_push},
                                               {0}};
    struct document document;
    *config = (struct config){.path = xstrdup(path)};
    int code = document_open(&document, path, text, err);
    if (code == 0) {
        const yaml_node_t *root = document_root(&document);
        code = root ? document_keys(&document, root, keys, config) : 0;
        document_close(&document);
    }
    if (code) config_free(config);
    return code;
}

int config_read(struct config *config, const char *path, struct error *err) {
    enum { FILE_MAX = 1 << 20 };
    FILE *file = fopen(path, "re");
    struct buffer text = {0};
    char block[4096];
    size_t size;
    *config = (struct config){0};
    while (file && text.size <= FILE_MAX && (size = fread(block, 1, sizeof block, file)) > 0)
        buffer_add(&text, block, size);
    int code = 0;
    if (!file || ferror(file))
        code = error_fail(err, "%s: %s", path, strerror(errno));
    else if (text.size > FILE_MAX || memchr(buffer_text(&text), '\0', text.size))
        code = error_fail(err, "%s: is not a configuration file", path);
    if (file) fclose(file);
    if (code == 0) code = config_parse(config, path, buffer_text(&text), err);
    buffer_free(&text);
    return code;
}

const char *config_toolchain(const struct config *config, const char *ending) {
    for (size_t i = 0; i < config->toolchain_count; i++)
        if (strcmp(config->toolchain[i].key, ending) == 0) return config->toolchain[i].value;
    return NULL;
}

/* ---- applying it ---- */

static int set_thresholds(const struct config *config, struct db *db, struct error *err) {
    for (size_t i = 0; i < config->threshold_count; i++) {
        sqlite3_stmt *statement = db_prepare(db, "UPDATE rules SET value = :value WHERE name = :name", err);
        if (!statement) return -1;
        db_bind_real(statement, ":value", config->thresholds[i].value);
        db_bind_text(statement, ":name", config->thresholds[i].name);
        if (db_run(db, statement, err)) return -1;
    }
    return 0;
}

static int put_queries(const struct config *config, struct db *db, struct error *err) {
    for (size_t i = 0; i < config->query_count; i++)
        if (queries_put(db, &config->queries[i], err)) return -1;
    return 0;
}

static int shadow_rules(const struct config *config, struct db *db, struct error *err) {
    if (db_exec(db, "CREATE TEMP TABLE rules AS SELECT * FROM main.rules", err)) return -1;
    return set_thresholds(config, db, err) || schema_shadow_views(db, err) ? -1 : 0;
}

/* First the newer texts of clear's own queries, then those in the file, then those of the configuration: the last one wins. */
static int shadow_queries(const struct config *config, struct db *db, bool is_stale, struct error *err) {
    if (db_exec(db, embedded_text("warehouse/shadow_queries.sql"), err) || (is_stale && queries_put_own(db, err)))
        return -1;
    return db_exec(db, "INSERT OR REPLACE INTO temp.queries SELECT * FROM main.queries", err) ||
                   put_queries(config, db, err)
               ? -1
               : 0;
}

/* An older file may not have the table. */
static int shadow_gates(const struct config *config, struct db *db, struct error *err) {
    if (gates_shadow(db, err)) return -1;
    return config->has_gates ? gates_put(db, config->gates, config->gate_count, err) : gates_put_own(db, err);
}

static int apply_in_file(const struct config *config, struct db *db, struct error *err) {
    if (db_begin(db, err)) return -1;
    if (set_thresholds(config, db, err) == 0 && put_queries(config, db, err) == 0 &&
        (!config->has_gates || gates_put(db, config->gates, config->gate_count, err) == 0))
        return db_commit(db, err);
    db_rollback(db);
    return -1;
}

int config_apply(const struct config *config, struct db *db, struct error *err) {
    enum schema_state state = SCHEMA_CURRENT;
    bool is_set = config->threshold_count || config->query_count || config->has_gates;
    if (db->writable) return is_set ? apply_in_file(config, db, err) : 0;
    if (!db->was_current && schema_read_state(db, &state, err)) return -1; /* a quarter of opening a small file */
    bool is_stale = state != SCHEMA_CURRENT && state != SCHEMA_UNSEALED;
    if ((config->query_count || is_stale) && shadow_queries(config, db, is_stale, err)) return -1;
    if ((config->has_gates || state == SCHEMA_OLDER) && shadow_gates(config, db, err)) return -1;
    return config->threshold_count ? shadow_rules(config, db, err) : 0;
}
