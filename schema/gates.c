#include "schema/gates.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "schema/figure_kinds.h"
#include "schema/queries.h"
#include "schema/schema.h"

static const char *const directions[] = {[GATE_UP] = "up", [GATE_DOWN] = "down", [GATE_BOTH] = "both"};
enum { DIRECTIONS = sizeof directions / sizeof *directions };

void gates_free(struct gate_rule *rule) {
    free(rule->name);
    free(rule->figure);
    free(rule->query);
    free(rule->subject);
    free(rule->base);
    *rule = (struct gate_rule){0};
}

const char *gates_direction(enum gate_direction direction) {
    return directions[direction];
}

/* Does the figure differ from run to run of a program that does the same? Of counters and samples, whose unit is their own, the rule says it. */
static bool is_timed(const struct figure_kind *kind) {
    return kind && !kind->is_exact && kind->variation != FIGURE_EXACT && kind->unit != FIGURE_OWN_UNIT;
}

/* ---- one rule in YAML ---- */

/* A rule while it is read. The unit of `limit` is that of the figure, which may stand behind it. */
struct reading {
    struct gate_rule *rule;
    const yaml_node_t *limit; /* NULL: none */
    const yaml_node_t *runs;
    bool has_timed, has_direction;
};

static int read_text(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    struct gate_rule *rule = ((struct reading *)context)->rule;
    const struct {
        const char *key;
        char **text;
    } fields[] = {
        {"figure", &rule->figure}, {"query", &rule->query}, {"subject", &rule->subject}, {"base", &rule->base}};
    const char *text = document_text(document, value);
    (void)at;
    if (!text) return -1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].key, key) == 0) *fields[i].text = xstrdup(text);
    return 0;
}

static int read_direction(void *context, struct document *document, const char *key, const yaml_node_t *at,
                          const yaml_node_t *value) {
    struct reading *reading = context;
    const char *text = document_text(document, value);
    (void)key;
    (void)at;
    reading->has_direction = true;
    if (!text) return -1;
    for (int i = 0; i < DIRECTIONS; i++) {
        reading->rule->direction = (enum gate_direction)i;
        if (strcmp(directions[i], text) == 0) return 0;
    }
    return document_wrong(document, value, "unknown direction '%s'; write up, down or both", text);
}

static int read_percent(void *context, struct document *document, const char *key, const yaml_node_t *at,
                        const yaml_node_t *value) {
    struct reading *reading = context;
    (void)key;
    (void)at;
    if (document_number(document, value, &reading->rule->limit_percent)) return -1;
    return reading->rule->limit_percent >= 0 ? 0 : document_wrong(document, value, "must not be negative");
}

static int read_limit(void *context, struct document *document, const char *key, const yaml_node_t *at,
                      const yaml_node_t *value) {
    (void)key;
    (void)at;
    ((struct reading *)context)->limit = value;
    return document_text(document, value) ? 0 : -1;
}

static int read_runs(void *context, struct document *document, const char *key, const yaml_node_t *at,
                     const yaml_node_t *value) {
    struct reading *reading = context;
    (void)key;
    (void)at;
    reading->runs = value;
    if (document_integer(document, value, &reading->rule->runs)) return -1;
    return reading->rule->runs >= 1 ? 0 : document_wrong(document, value, "must be 1 or more");
}

static int read_timed(void *context, struct document *document, const char *key, const yaml_node_t *at,
                      const yaml_node_t *value) {
    struct reading *reading = context;
    const char *text = document_text(document, value);
    (void)key;
    (void)at;
    reading->has_timed = true;
    if (!text) return -1;
    reading->rule->is_timed = strcmp(text, "true") == 0;
    return reading->rule->is_timed || strcmp(text, "false") == 0
               ? 0
               : document_wrong(document, value, "must be true or false");
}

static int read_action(void *context, struct document *document, const char *key, const yaml_node_t *at,
                       const yaml_node_t *value) {
    struct reading *reading = context;
    const char *text = document_text(document, value);
    (void)key;
    (void)at;
    if (!text) return -1;
    reading->rule->only_warns = strcmp(text, "warn") == 0;
    return reading->rule->only_warns || strcmp(text, "fail") == 0
               ? 0
               : document_wrong(document, value, "unknown action '%s'; write fail or warn", text);
}

/* "64KiB" of bytes, "10ms" of times, a plain number of all others. */
static int set_limit(struct document *document, const struct reading *reading, const struct figure_kind *kind) {
    struct gate_rule *rule = reading->rule;
    const char *text = document_text(document, reading->limit);
    bool is_bytes = kind && kind->unit == FIGURE_BYTES, is_time = kind && kind->unit == FIGURE_NS;
    struct error wrong = {0};
    int64_t whole;
    if (!is_bytes && !is_time) {
        if (document_number(document, reading->limit, &rule->limit)) return -1;
        return rule->limit >= 0 ? 0 : document_wrong(document, reading->limit, "must not be negative");
    }
    int code = is_bytes ? number_bytes("limit", text, 0, INT64_MAX, &whole, &wrong)
                        : number_duration("limit", text, 0, INT64_MAX, &whole, &wrong);
    if (code < 0) return document_wrong(document, reading->limit, "%s", wrong.message);
    rule->limit = (double)whole;
    return 0;
}

static int complete(struct document *document, const yaml_node_t *node, struct reading *reading) {
    struct gate_rule *rule = reading->rule;
    if (!rule->figure == !rule->query)
        return document_wrong(document, node, "a gate needs either `figure:` or `query:`");
    const struct figure_kind *kind = rule->figure ? figure_kind_find(rule->figure) : NULL;
    if (!reading->has_timed) rule->is_timed = is_timed(kind);
    if (!reading->has_direction && kind && kind->more_is_better) rule->direction = GATE_DOWN;
    if (!rule->subject) rule->subject = xstrdup(rule->figure ? "" : "*");
    if (!rule->base) rule->base = xstrdup("");
    if (reading->limit && set_limit(document, reading, kind)) return -1;
    if (!reading->runs) rule->runs = 1;
    return 0;
}

int gates_read(struct document *document, const yaml_node_t *node, const char *name, struct gate_rule *rule) {
    static const struct document_key keys[] = {{"figure", read_text},
                                               {"query", read_text},
                                               {"subject", read_text},
                                               {"base", read_text},
                                               {"direction", read_direction},
                                               {"limit_percent", read_percent},
                                               {"limit", read_limit},
                                               {"runs", read_runs},
                                               {"timed", read_timed},
                                               {"action", read_action},
                                               {0}};
    struct reading reading = {.rule = rule};
    *rule = (struct gate_rule){.name = xstrdup(name)};
    int code = queries_is_name(name)
                   ? 0
                   : document_wrong(document, node, "'%s' is not a valid name: use letters, digits, - and _", name);
    if (code == 0 && document_keys(document, node, keys, &reading) == 0 && complete(document, node, &reading) == 0)
        return 0;
    gates_free(rule);
    return -1;
}

/* ---- the table ---- */

static int put(struct db *db, const struct gate_rule *rule, bool is_own, struct error *err) {
    sqlite3_stmt *statement = db_prepare(db, embedded_text("warehouse/put_gate.sql"), err);
    if (!statement) return -1;
    db_bind_text(statement, ":name", rule->name);
    db_bind_text(statement, ":figure", rule->figure ? rule->figure : "");
    db_bind_text(statement, ":query", rule->query ? rule->query : "");
    db_bind_text(statement, ":subject", rule->subject);
    db_bind_text(statement, ":base", rule->base);
    db_bind_text(statement, ":direction", directions[rule->direction]);
    db_bind_real(statement, ":limit_percent", rule->limit_percent);
    db_bind_real(statement, ":limit_value", rule->limit);
    db_bind_int(statement, ":runs", rule->runs);
    db_bind_int(statement, ":is_timed", rule->is_timed);
    db_bind_text(statement, ":action", rule->only_warns ? "warn" : "fail");
    db_bind_int(statement, ":is_own", is_own);
    return db_run(db, statement, err);
}

int gates_put(struct db *db, const struct gate_rule *rules, size_t count, struct error *err) {
    if (db_exec(db, "DELETE FROM gates", err)) return -1;
    for (size_t i = 0; i < count; i++)
        if (put(db, &rules[i], false, err)) return -1;
    return 0;
}

static int put_own(void *context, struct document *document, const char *name, const yaml_node_t *at,
                   const yaml_node_t *value) {
    struct gate_rule rule;
    (void)at;
    if (gates_read(document, value, name, &rule)) return -1;
    int code = put(context, &rule, true, document->err);
    gates_free(&rule);
    return code;
}

int gates_put_own(struct db *db, struct error *err) {
    struct document document;
    int64_t others;
    if (db_int(db, "SELECT count(*) FROM gates WHERE is_own = 0", 0, &others, err)) return -1;
    if (others) return 0;
    if (db_exec(db, "DELETE FROM gates", err)) return -1;
    if (document_open(&document, "gates.yaml", embedded_text("gates.yaml"), err)) return -1;
    int code = document_pairs(&document, document_root(&document), put_own, db);
    document_close(&document);
    return code;
}

int gates_shadow(struct db *db, struct error *err) {
    return db_exec(db, embedded_text("warehouse/gates/shadow_gates"), err);
}

/* Rows that were changed by hand may hold any text. */
static int load_one(struct db *db, sqlite3_stmt *row, struct gate_rule *rule, struct error *err) {
    const char *figure = db_text(row, 1), *query = db_text(row, 2), *direction = db_text(row, 4);
    int found = 0;
    while (found < DIRECTIONS && strcmp(directions[found], direction) != 0)
        found++;
    if (found == DIRECTIONS || !*figure == !*query)
        return error_fail(err,
                          "%s: the row %s of the table gates is wrong: it needs a figure or a query, and a "
                          "direction of up, down or both",
                          db->path, db_text(row, 0));
    *rule = (struct gate_rule){.name = xstrdup(db_text(row, 0)),
                               .figure = *figure ? xstrdup(figure) : NULL,
                               .query = *query ? xstrdup(query) : NULL,
                               .subject = xstrdup(db_text(row, 3)),
                               .base = xstrdup(db_text(row, 11)),
                               .direction = (enum gate_direction)found,
                               .limit_percent = sqlite3_column_double(row, 5),
                               .limit = sqlite3_column_double(row, 6),
                               .runs = sqlite3_column_int64(row, 7),
                               .is_timed = sqlite3_column_int(row, 8) != 0,
                               .only_warns = strcmp(db_text(row, 9), "warn") == 0};
    if (rule->runs < 1) rule->runs = 1;
    return 0;
}

int gates_load(struct db *db, struct gate_rule **rules, size_t *count, bool *are_own, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("warehouse/gates/gates"), err);
    int code = -1;
    *rules = NULL;
    *count = 0;
    *are_own = true;
    while (row && (code = db_step(db, row, err)) == 1) {
        *rules = xrealloc(*rules, (*count + 1) * sizeof **rules);
        if ((code = load_one(db, row, &(*rules)[*count], err))) break;
        ++*count;
        *are_own = *are_own && sqlite3_column_int(row, 10);
    }
    if (code == 0) return 0;
    if (row) sqlite3_reset(row);
    gates_free_all(*rules, *count);
    *rules = NULL;
    *count = 0;
    return -1;
}

void gates_free_all(struct gate_rule *rules, size_t count) {
    while (count)
        gates_free(&rules[--count]);
    free(rules);
}

int gates_base(const struct gate_rule *rules, size_t count, char **base, struct error *err) {
    const struct gate_rule *first = NULL;
    *base = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!*rules[i].base) continue;
        if (first && strcmp(first->base, rules[i].base) != 0)
            return error_usage(err, "the rule %s has the base %s and the rule %s has %s: name one with --base",
                               first->name, first->base, rules[i].name, rules[i].base);
        first = &rules[i];
    }
    if (first) *base = xstrdup(first->base);
    return 0;
}
