/* merge.h: runs of other warehouses, into this one: `clear merge`, and `clear ingest` of a warehouse.
 *
 * A run is the same if its uuid is, or the hash of the file that it was read from; it is stored once. Names and stacks are shared by content. The
 * source may come from a stranger: only its tables are read, after a look that they are clear's (schema/inspect.h); nothing of its views and triggers
 * runs. All of a file is one transaction. */
#ifndef CLEAR_INGEST_READ_WAREHOUSE_MERGE_H
#define CLEAR_INGEST_READ_WAREHOUSE_MERGE_H

#include "ingest/read/warehouse/copy_rows.h"
#include "ingest/writer/row_writer.h"

struct merge {
    struct db *db; /* the caller's; writable */
    struct row_writer writer;
    struct copy_plan plan;
    /* Called with a line about what differs here and there, and was left out. May be NULL. */
    void (*tell)(const char *line);
};

struct merge_result {
    int64_t runs, known, replaced,
        unfinished; /* of runs: those without an end yet; of known: replaced by what is more complete */
    int64_t rows;
    int64_t queries, views, accepted; /* that came along */
    int64_t first_run, last_run;      /* ids here; 0: none */
};

int merge_open(struct merge *merge, struct db *db, struct error *err);
void merge_close(struct merge *merge);

/* Merges the file at `path`. After a failure nothing of it is here. */
int merge_file(struct merge *merge, const char *path, struct merge_result *result, struct error *err);
/* An unfinished copy of a run, made while it was recorded, makes way for the whole: run `here` is deleted, unless it is recorded into this file
 * now. For a caller in a transaction, with foreign keys off. */
int merge_drop_copy(struct db *db, int64_t here, bool *is_dropped, struct error *err);
/* True if the file begins as SQLite's do. */
bool merge_is_warehouse(const char *path);

#endif
