/* heap_rows.h: the rows of the view `sites`, of one profile after another: part of table_rows. The tables below the view are read. Of the
 * second profile on, the look-up of each site in site_keys is done here, and costs SQLite nothing: 1,200 instructions a row and not 2,200. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_HEAP_ROWS_H
#define CLEAR_QUERY_PROFILE_LOAD_HEAP_ROWS_H

#include "base/id_table.h"
#include "schema/db.h"
#include "schema/walk.h"

/* The figures of a row: first those of the types of the kind heap, in their order; the last one is 0. */
enum heap_figure {
    HEAP_ALLOC_COUNT,
    HEAP_ALLOC_BYTES,
    HEAP_INUSE_COUNT,
    HEAP_INUSE_BYTES,
    HEAP_FREE_COUNT,
    HEAP_FREE_BYTES,
    HEAP_NOTHING,
    HEAP_FIGURES
};

struct heap_site {
    int64_t trace_id, label_set_id, block_bytes;
};

struct heap_rows { /* zeroed at the start */
    struct id_table ids;
    struct heap_site *sites;
    size_t count, room;
    struct walk walk;
    bool has_read; /* a profile */
};

typedef int heap_row_use(void *context, int64_t trace_id, int64_t label_set_id, const int64_t figures[HEAP_FIGURES],
                         struct error *err);

/* Gives all rows of a profile, in the order in which the table has them. */
int heap_rows_read(struct heap_rows *heap, struct db *db, int64_t profile_id, heap_row_use *use, void *context,
                   struct error *err);
/* Lets the statement go that looks up sites; what is known stays. */
void heap_rows_pause(struct heap_rows *heap);
void heap_rows_free(struct heap_rows *heap);

#endif
