/* pending.h: names and stacks on their way into the file. Each row gets its id at once; between pending_open and pending_close the
 * rows wait and are put in some thousand at a time (schema/bulk.h), outside of it each is written before the call returns.
 *
 * Ids of rows that wait are those that SQLite will give: one after the other after the greatest. So nobody else may insert
 * into these tables between pending_open and pending_close, which one open transaction sees to, and whoever reads them by SQL
 * calls pending_write first. After an error the transaction must be rolled back. */
#ifndef CLEAR_INGEST_STORE_PENDING_H
#define CLEAR_INGEST_STORE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "schema/db.h"

/* Texts must stay where they are until the row is written. */
struct function_row {
    const char *name, *system_name, *filename;
    int64_t start_line;
};
struct location_row {
    int64_t mapping_id, address, lines_hash, is_folded;
};
struct line_row {
    int64_t location_id, position, function_id, line, column;
};
struct trace_row {
    const int64_t *location_ids; /* as the texts */
    size_t count;
    uint64_t hash, signature;
    int64_t location_id, function_id, line; /* function_id 0: none is known */
};

struct pending_list {
    char *rows;
    size_t count, capacity;
    int64_t next_id; /* of the row after the last one that waits */
};
struct pending {
    struct db *db;
    bool is_open;
    struct pending_list functions, locations, lines, traces;
    struct buffer stack; /* JSON of the trace that is being written */
};

/* False in *is_open where the ids cannot be foretold, as in a file with an id at the end of 64 bits: nothing waits then. */
int pending_open(struct pending *pending, struct error *err);
/* Writes what waits; more may follow. */
int pending_write(struct pending *pending, struct error *err);
/* The same, and nothing waits from here on. */
int pending_close(struct pending *pending, struct error *err);
/* Forgets what waits. */
void pending_free(struct pending *pending);

/* The id of the new row, or -1. */
int64_t pending_function(struct pending *pending, const struct function_row *row, struct error *err);
int64_t pending_location(struct pending *pending, const struct location_row *row, struct error *err);
int64_t pending_trace(struct pending *pending, const struct trace_row *row, struct error *err);
int pending_line(struct pending *pending, const struct line_row *row, struct error *err);

/* The ids as JSON, as the column traces.stack has them. */
void pending_stack_text(struct buffer *text, const int64_t *location_ids, size_t count);

#endif
