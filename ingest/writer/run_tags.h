/* run_tags.h: the tags of a run, by key. A zeroed struct is an empty list; texts are copied. run_tags_free it. */
#ifndef CLEAR_INGEST_WRITER_RUN_TAGS_H
#define CLEAR_INGEST_WRITER_RUN_TAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/db.h"

struct run_tags {
    struct run_tag {
        char *key, *value;
    } * items;
    size_t count;
};

void run_tags_add(struct run_tags *tags, const char *key, const char *value);
bool run_tags_has(const struct run_tags *tags, const char *key);
/* Writes them as rows of `tags`. Of several values of a key the last one counts. `tags` NULL: there are none. */
int run_tags_insert(const struct run_tags *tags, struct db *db, int64_t run_id, struct error *err);
void run_tags_free(struct run_tags *tags);

#endif
