/* document.h: reads a YAML text strictly: every key must be known, every value must have its type. An error names file, line and
 * column. A thin layer over libyaml's documents. */
#ifndef CLEAR_SCHEMA_DOCUMENT_H
#define CLEAR_SCHEMA_DOCUMENT_H

#include <stdint.h>
#include <yaml.h>

#include "base/error.h"

struct document {
    const char *name; /* of the file, for messages; not copied */
    struct error *err;
    yaml_document_t yaml;
    size_t given; /* bytes of its texts, each as often as an alias repeats it */
};

/* `text` is not used after the call. After a failure there is nothing to close. */
int document_open(struct document *document, const char *name, const char *text, struct error *err);
void document_close(struct document *document);
/* NULL if the text is empty but for comments. */
const yaml_node_t *document_root(struct document *document);

/* Sets the failure "NAME:LINE:COLUMN: what is wrong", lines and columns from 1; returns -1. */
int document_wrong(struct document *document, const yaml_node_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A scalar: as text, which may not be empty, nor be repeated by aliases to many times the file; as an integer; as a number. NULL or -1 with the error set. The document owns the
 * text. */
const char *document_text(struct document *document, const yaml_node_t *node);
int document_integer(struct document *document, const yaml_node_t *node, int64_t *value);
int document_number(struct document *document, const yaml_node_t *node, double *value);

/* Reads a value; `key` is its name, `at` the node of the name. Returns 0, or -1 with the error set. */
typedef int document_read(void *context, struct document *document, const char *key, const yaml_node_t *at,
                          const yaml_node_t *value);
/* Calls `read` for each pair of a mapping; a node that is not a mapping, and a key given twice, are errors. */
int document_pairs(struct document *document, const yaml_node_t *mapping, document_read *read, void *context);

/* The keys that a mapping may have; the array ends with a NULL name. */
struct document_key {
    const char *name;
    document_read *read;
};
/* As document_pairs, with a reader for each key. An unknown key is an error that names the nearest key, or all. */
int document_keys(struct document *document, const yaml_node_t *mapping, const struct document_key *keys,
                  void *context);

#endif
