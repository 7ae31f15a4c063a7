/* retention.h: how long runs are kept: the rules of clear gc, and of `retention` in clear.yaml, which applies them after each recording. */
#ifndef CLEAR_SCHEMA_RETENTION_H
#define CLEAR_SCHEMA_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/document.h"

struct retention {
    bool is_set;     /* clear.yaml has it */
    bool has_keep;   /* keep_ns is set */
    int64_t keep_ns; /* runs that started in this time before now stay */
    const char
        *thin; /* of older ones one an hour, day, week, month stays, for each command; NULL: none of them stays */
    int64_t max_bytes; /* then the oldest go until the file is no larger; 0: it may have any size */
    int64_t budget_ns; /* the time that it may take after a recording */
    char **bases;      /* sets of runs (query/runs/run_set.h) that stay */
    size_t base_count;
};

enum { RETENTION_BUDGET_MS = 1000 }; /* where clear.yaml says nothing */

/* Each reads the value of one rule; `name` is what messages call it. */
int retention_keep(struct retention *retention, const char *name, const char *text, struct error *err);
int retention_thin(struct retention *retention, const char *name, const char *text, struct error *err);
int retention_max_size(struct retention *retention, const char *name, const char *text, struct error *err);
void retention_add_base(struct retention *retention, const char *text);

/* Reads the value of the key `retention`. */
int retention_read(struct retention *retention, struct document *document, const yaml_node_t *value);
void retention_free(struct retention *retention);

#endif
