/* push_rule.h: `push` in clear.yaml: where `clear profile` sends each run. */
#ifndef CLEAR_SCHEMA_PUSH_RULE_H
#define CLEAR_SCHEMA_PUSH_RULE_H

#include <stdint.h>

#include "schema/document.h"

struct push_rule {
    char *to;           /* the address of the store; NULL: runs are not sent */
    char *project;      /* NULL: not set */
    int64_t timeout_ns; /* that a recording may wait for the store at its end */
};

enum { PUSH_TIMEOUT_MS = 10000 }; /* where clear.yaml says nothing */

/* Reads the value of the key `push`: an address, or a mapping. */
int push_rule_read(struct push_rule *rule, struct document *document, const yaml_node_t *value);
void push_rule_free(struct push_rule *rule);

#endif
