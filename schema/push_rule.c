#include "schema/push_rule.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* The spool file has one line a run, so neither may have a line's end. */
static int read_text(char **text, struct document *document, const yaml_node_t *value) {
    const char *given = document_text(document, value);
    if (!given) return -1;
    for (const char *at = given; *at; at++)
        if ((unsigned char)*at < ' ') return document_wrong(document, value, "must not have control characters");
    free(*text);
    *text = xstrdup(given);
    return 0;
}

static int read_to(void *context, struct document *document, const char *key, const yaml_node_t *at,
                   const yaml_node_t *value) {
    struct push_rule *rule = context;
    (void)key;
    (void)at;
    if (read_text(&rule->to, document, value)) return -1;
    if (strncmp(rule->to, "postgresql://", 13) == 0 || strncmp(rule->to, "postgres://", 11) == 0) return 0;
    return document_wrong(document, value, "the address of a store is postgresql://[USER@]HOST[:PORT]/DATABASE");
}

static int read_project(void *context, struct document *document, const char *key, const yaml_node_t *at,
                        const yaml_node_t *value) {
    (void)key;
    (void)at;
    return read_text(&((struct push_rule *)context)->project, document, value);
}

static int read_timeout(void *context, struct document *document, const char *key, const yaml_node_t *at,
                        const yaml_node_t *value) {
    struct error wrong = {0};
    const char *text = document_text(document, value);
    (void)at;
    if (!text) return -1;
    if (number_duration(key, text, 1000000, INT64_C(86400000000000), &((struct push_rule *)context)->timeout_ns,
                        &wrong) == 0)
        return 0;
    return document_wrong(document, value, "%s", wrong.message);
}

int push_rule_read(struct push_rule *rule, struct document *document, const yaml_node_t *value) {
    static const struct document_key keys[] = {
        {"to", read_to}, {"project", read_project}, {"timeout", read_timeout}, {0}};
    rule->timeout_ns = (int64_t)PUSH_TIMEOUT_MS * 1000000;
    if (value->type == YAML_SCALAR_NODE) return read_to(rule, document, "push", value, value);
    if (document_keys(document, value, keys, rule)) return -1;
    return rule->to ? 0 : document_wrong(document, value, "push needs `to`, the address of the store");
}

void push_rule_free(struct push_rule *rule) {
    free(rule->to);
    free(rule->project);
    *rule = (struct push_rule){0};
}
