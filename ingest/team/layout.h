/* layout.h: the tables of a store that hold what hangs on a run, made from the tables of a file: a table that is new in clear's schema is
 * not forgotten. Each has the columns project, month, run and place; then
 *   a table of rows has the columns of the file's, with content keys for ids of names, and the file's ids of processes and profiles;
 *   a table of lists has a row a profile or process, or one for the run, and an array for each column, with places in run_names for ids of
 *   names that are listed there, and content keys for those of others. */
#ifndef CLEAR_INGEST_TEAM_LAYOUT_H
#define CLEAR_INGEST_TEAM_LAYOUT_H

#include "ingest/read/warehouse/copy_rows.h"

enum { LAYOUT_OF_RUN = -1 };

struct layout {
    struct copy_plan plan; /* of a file */
    struct layout_table {
        const char *name;
        const char *select; /* from a file, of run :run */
        const struct copy_table
            *table; /* how its rows are written to a file; NULL of sites, which have their own writer */
        struct layout_column {
            char *name;
            enum layout_type { LAYOUT_INT, LAYOUT_REAL, LAYOUT_TEXT } type;
            struct copy_column role;
            bool is_left_out; /* the run's own id and uuid, and ids that nothing refers to */
        } * columns;
        int column_count;
        bool is_list;
        int owner;       /* of a list: the column that says of which profile or process it is; LAYOUT_OF_RUN */
        bool is_run;     /* the table runs: one row a run */
        bool is_monthly; /* a partition a month, which clear store gc drops or rewrites; the others are plain tables */
    } * tables;
    size_t count;
};

/* layout_free it. */
void layout_make(struct layout *layout);
void layout_free(struct layout *layout);

/* Whether NULL instead of a list says that it is 1, 2, 3, ...: the places of stacks mostly are. */
bool layout_may_be_counted(const struct layout_column *column);

/* Whether ids of names in the column are stored as places in run_names. */
bool layout_has_places(const struct layout_table *table, const struct layout_column *column);

/* The names of the tables with partitions, of those with a list for each run, as an array of PostgreSQL: {"sites",...}. */
void layout_add_monthly(struct buffer *array, const struct layout *layout);
void layout_add_of_run(struct buffer *array, const struct layout *layout);

/* Adds the SQL that makes, in a store, the tables, and columns that an older store lacks. */
void layout_add_tables(struct buffer *sql, const struct layout *layout);
/* COPY into the table. */
void layout_add_copy(struct buffer *sql, const struct layout_table *table);
/* Rows of the run ($1: project, $2: month, $3: run), every column of the file's table in order: NULL for what is left out. */
void layout_add_select(struct buffer *sql, const struct layout_table *table);

/* The same of several runs ($2, $3: arrays of months and runs), behind a column with the place in the arrays, from 1. Not of lists. */
void layout_add_select_many(struct buffer *sql, const struct layout_table *table);
/* The rows of a list's arrays as `item`, behind the list's row `row`. */
void layout_add_unnest(struct buffer *sql, const struct layout_table *table);

#endif
