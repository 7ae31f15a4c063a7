#include "ingest/writer/run_tags.h"

#include <stdlib.h>
#include <string.h>

#include "schema/schema.h"

void run_tags_add(struct run_tags *tags, const char *key, const char *value) {
    tags->items = xrealloc(tags->items, (tags->count + 1) * sizeof *tags->items);
    tags->items[tags->count++] = (struct run_tag){xstrdup(key), xstrdup(value)};
}

bool run_tags_has(const struct run_tags *tags, const char *key) {
    for (size_t i = 0; i < tags->count; i++)
        if (strcmp(tags->items[i].key, key) == 0) return true;
    return false;
}

int run_tags_insert(const struct run_tags *tags, struct db *db, int64_t run_id, struct error *err) {
    for (size_t i = 0; tags && i < tags->count; i++) {
        sqlite3_stmt *insert = db_prepare(db, embedded_text("ingest/tag.sql"), err);
        if (!insert) return -1;
        db_bind_int(insert, ":run", run_id);
        db_bind_text(insert, ":key", tags->items[i].key);
        db_bind_text(insert, ":value", tags->items[i].value);
        if (db_run(db, insert, err) != 0) return -1;
    }
    return 0;
}

void run_tags_free(struct run_tags *tags) {
    for (size_t i = 0; i < tags->count; i++) {
        free(tags->items[i].key);
        free(tags->items[i].value);
    }
    free(tags->items);
    *tags = (struct run_tags){0};
}
