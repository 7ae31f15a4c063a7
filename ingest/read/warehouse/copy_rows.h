/* copy_rows.h: copies what hangs on a run from one warehouse to another: which tables that is, and which of their columns are ids, is read
 * from the foreign keys of clear's own schema, so a table that is new is not forgotten. */
#ifndef CLEAR_INGEST_READ_WAREHOUSE_COPY_ROWS_H
#define CLEAR_INGEST_READ_WAREHOUSE_COPY_ROWS_H

#include <stdbool.h>

#include "ingest/read/warehouse/source_names.h"

struct copy_plan {
    struct copy_table {
        char *name, *select, *insert;
        struct copy_column {
            enum copy_role { COPY_VALUE, COPY_ID, COPY_RUN, COPY_PROCESS, COPY_PROFILE, COPY_NAME, COPY_MAPPINGS } role;
            enum source_name target; /* of COPY_NAME */
        } * columns;
        int column_count;
        bool is_derived; /* made anew from the run's other rows when it is sealed: facts, totals, and the seal itself */
    } * tables;          /* runs, processes, profiles, then the others */
    size_t count;
};

/* copy_plan_free it. */
enum copy_tables { COPY_RECORDED, COPY_WITH_DERIVED };
void copy_plan_make(struct copy_plan *plan, enum copy_tables tables);
void copy_plan_free(struct copy_plan *plan);

struct copying {
    const struct copy_plan *plan;
    struct db *source, *db;
    struct source_names *names;
    struct map processes, profiles; /* id there -> id here; of the run that is copied */
    int64_t run_id;                 /* here; 0: not yet */
    int64_t rows;                   /* that were written */
};

/* Copies run `run_id` of the source: its row and all that hangs on it. copying_free it, whatever it returns. */
int copy_run(struct copying *copying, int64_t run_id, struct error *err);
void copying_free(struct copying *copying);

#endif
