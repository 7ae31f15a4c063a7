#include "schema/document.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/nearest.h"

enum { GIVEN_MAX = 16 << 20 }; /* a file has 1 MiB at most */

static int unreadable(struct document *document, const yaml_parser_t *parser) {
    /* libyaml counts lines from 0, and has no place for a byte that is no UTF-8, only its offset. */
    const char *problem = parser->problem ? parser->problem : "is no YAML";
    if (parser->error == YAML_READER_ERROR)
        return error_fail(document->err, "%s: byte %zu: %s", document->name, parser->problem_offset, problem);
    return error_fail(document->err, "%s:%zu:%zu: %s", document->name, parser->problem_mark.line + 1,
                      parser->problem_mark.column + 1, problem);
}

int document_open(struct document *document, const char *name, const char *text, struct error *err) {
    yaml_parser_t parser;
    *document = (struct document){.name = name, .err = err};
    if (!yaml_parser_initialize(&parser)) bug("libyaml cannot start");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    int code = yaml_parser_load(&parser, &document->yaml) ? 0 : unreadable(document, &parser);
    yaml_parser_delete(&parser);
    return code;
}

void document_close(struct document *document) {
    yaml_document_delete(&document->yaml);
}

const yaml_node_t *document_root(struct document *document) {
    return yaml_document_get_root_node(&document->yaml);
}

int document_wrong(struct document *document, const yaml_node_t *node, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_vset(document->err, ERROR_FAILURE, format, args);
    va_end(args);
    return error_prefix(document->err, "%s:%zu:%zu: ", document->name, node->start_mark.line + 1,
                        node->start_mark.column + 1);
}

/* ---- values ---- */

const char *document_text(struct document *document, const yaml_node_t *node) {
    bool is_text = node->type == YAML_SCALAR_NODE && node->data.scalar.length &&
                   strlen((const char *)node->data.scalar.value) == node->data.scalar.length;
    if (is_text && node->data.scalar.length <= GIVEN_MAX - document->given) {
        document->given += node->data.scalar.length;
        return (const char *)node->data.scalar.value;
    }
    document_wrong(document, node, is_text ? "aliases repeat more than 16 MiB of text" : "must be a text");
    return NULL;
}

int document_number(struct document *document, const yaml_node_t *node, double *value) {
    const char *text = node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
    char *end;
    *value = strtod(text, &end);
    /* strtod would also take "nan", "infinity" and hexadecimal; a quoted "30" is a text. */
    bool is_plain = node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (is_plain && end != text && !*end && !strpbrk(text, "xXnN")) return 0;
    return document_wrong(document, node, "must be a number");
}

int document_integer(struct document *document, const yaml_node_t *node, int64_t *value) {
    const char *text = node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end != text && !*end && !errno && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) return 0;
    return document_wrong(document, node, "must be a whole number");
}

/* ---- mappings ---- */

int document_pairs(struct document *document, const yaml_node_t *mapping, document_read *read, void *context) {
    if (mapping->type != YAML_MAPPING_NODE) return document_wrong(document, mapping, "must be `key: value` lines");
    const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
    struct map seen = {0};
    int code = 0;
    for (; code == 0 && pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *at = yaml_document_get_node(&document->yaml, pair->key);
        const char *key = document_text(document, at);
        bool is_new = key != NULL;
        if (key) map_put(&seen, key, strlen(key), &is_new);
        if (key && !is_new) document_wrong(document, at, "the key '%s' is given twice", key);
        code = is_new ? read(context, document, key, at, yaml_document_get_node(&document->yaml, pair->value)) : -1;
    }
    map_free(&seen);
    return code ? -1 : 0;
}

struct keyed {
    const struct document_key *keys;
    void *context;
};

static int unknown_key(struct document *document, const struct document_key *keys, const char *key,
                       const yaml_node_t *at) {
    struct nearest nearest = {.word = key};
    struct buffer all = {0};
    for (; keys->name; keys++) {
        nearest_offer(&nearest, keys->name);
        buffer_printf(&all, "%s%s", all.size ? ", " : "", keys->name);
    }
    if (*nearest.found)
        document_wrong(document, at, "unknown key '%s'; did you mean '%s'?", key, nearest.found);
    else
        document_wrong(document, at, "unknown key '%s'; valid keys are %s", key, buffer_text(&all));
    buffer_free(&all);
    return -1;
}

static int read_known(void *context, struct document *document, const char *key, const yaml_node_t *at,
                      const yaml_node_t *value) {
    const struct keyed *keyed = context;
    for (const struct document_key *known = keyed->keys; known->name; known++)
        if (strcmp(known->name, key) == 0) return known->read(keyed->context, document, key, at, value);
    return unknown_key(document, keyed->keys, key, at);
}

int document_keys(struct document *document, const yaml_node_t *mapping, const struct document_key *keys,
                  void *context) {
    struct keyed keyed = {keys, context};
    return document_pairs(document, mapping, read_known, &keyed);
}
