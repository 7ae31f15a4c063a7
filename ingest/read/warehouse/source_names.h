/* source_names.h: names and stacks of another warehouse, put into this one by content. */
#ifndef CLEAR_INGEST_READ_WAREHOUSE_SOURCE_NAMES_H
#define CLEAR_INGEST_READ_WAREHOUSE_SOURCE_NAMES_H

#include "base/buffer.h"
#include "base/map.h"
#include "ingest/upkeep/references.h"
#include "ingest/writer/row_writer.h"

/* A table of names of which rows of other tables have ids. */
enum source_name {
    SOURCE_NONE,
    SOURCE_MAPPING,
    SOURCE_FUNCTION,
    SOURCE_LOCATION,
    SOURCE_TRACE,
    SOURCE_LABEL_SET,
    SOURCE_OBJECT,
    SOURCE_TEXT,
    SOURCE_SUBJECT, /* of facts, which are not copied into a file but made there */
    SOURCE_NAMES
};
/* That of a table by its name, or SOURCE_NONE. */
enum source_name source_name_of(const char *table);

/* Which columns name objects, stacks and label sets, and which tables hang on profiles and processes. */
enum { USED_THINGS = 3, USE_HANGINGS = 2 }; /* run_order.c has them by name */

/* Zeros before they are known; run_uses_free it. */
struct run_uses {
    bool is_known;
    struct references things[USED_THINGS], hangings[USE_HANGINGS];
};

void run_uses_free(struct run_uses *uses);

struct source_names {
    struct db *source;
    struct row_writer *writer;    /* of this warehouse; the caller's */
    struct map ids[SOURCE_NAMES]; /* id there -> id here */
    struct run_uses uses;         /* run_order.h */
};

void source_names_open(struct source_names *names, struct db *source, struct row_writer *writer);
void source_names_free(struct source_names *names);

/* The id here of row `id` there, which is put here if it is new; 0 of 0 where row 0 means none. -1 with the error set: also where the row is
 * not there, which means that the file is damaged. */
int64_t source_names_id(struct source_names *names, enum source_name name, int64_t id, struct error *err);
/* A JSON array of ids of mappings, with the ids here. */
int source_names_mappings(struct source_names *names, const char *json, struct buffer *text, struct error *err);

#endif
