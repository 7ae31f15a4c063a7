/* table_rows.h: the rows of a kind's table (schema/kinds.h) in the order of their stacks: part of profile_load. */
#ifndef CLEAR_QUERY_PROFILE_LOAD_TABLE_ROWS_H
#define CLEAR_QUERY_PROFILE_LOAD_TABLE_ROWS_H

#include "query/profile/load/heap_rows.h"
#include "query/profile/load/run_places.h"
#include "query/profile/model.h"
#include "schema/db.h"
#include "schema/kinds.h"

struct table_row {
    int64_t trace_id, label_set_id;
    size_t index; /* of its values, and of the row among all */
};

struct table_rows {
    struct db *db;
    const struct kind *kind; /* whose table it is */
    const struct profile_type *types;
    size_t type_count;
    size_t only;     /* the type whose values alone are read, the others are 0; SIZE_MAX: all */
    bool keeps_zero; /* rows without any value too */
    /* How the next one that is read is given; and what was collected: */
    int64_t *values; /* [type_count] */
    struct table_row *rows;
    int64_t *collected;
    size_t count, room, profile_count;
    uint32_t *slots; /* index + 1 of a row, by hash; from the second profile on */
    size_t slot_count, found;
    struct run_places places; /* of the run that is being read */
    char *sql[2];             /* of what counts in full, and of what left a state */
    struct heap_rows heap;
    enum heap_figure *figures; /* [type_count]: which each type takes of the profile that is read */
};

typedef int table_row_use(void *context, int64_t trace_id, int64_t label_set_id, const int64_t *values,
                          struct error *err);

/* The order of the next rows is that of run `run_id`, whose stacks and label sets may have places that are not their ids (table run_places). */
int table_rows_of_run(struct table_rows *rows, int64_t run_id, struct error *err);
/* Reads the kind's rows as values of these types, in their order. */
void table_rows_open(struct table_rows *rows, struct db *db, const struct kind *kind, const struct profile_type *types,
                     size_t type_count);
void table_rows_free(struct table_rows *rows);

/* Collects the rows of a profile; where it does not count, of its values the state alone. */
int table_rows_collect(struct table_rows *rows, int64_t profile_id, bool is_counted, struct error *err);
/* Gives all that was collected by trace, then label set, and forgets it. Rows of several profiles are summed; without any value they
 * are left out. */
int table_rows_give(struct table_rows *rows, table_row_use *use, void *context, struct error *err);
/* Gives the rows of a profile by trace, then label set, as they are read. */
int table_rows_stream(struct table_rows *rows, int64_t profile_id, table_row_use *use, void *context,
                      struct error *err);

#endif
