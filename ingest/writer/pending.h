/* pending.h: rows of names and stacks that are written in batches.
 *
 * Each row has its id at once. Between pending_open and pending_close rows wait in memory and are inserted some
 * thousand at a time (schema/bulk.h); at other times each is written before the call returns.
 *
 * The ids of waiting rows are those that SQLite will give: one after the other from the greatest. So nobody else may
 * insert into these tables between pending_open and pending_close, which the open transaction guarantees, and
 * pending_write must be called before these tables are read by SQL. After an error the transaction must be rolled
 * back. */
#ifndef CLEAR_INGEST_WRITER_PENDING_H
#define CLEAR_INGEST_WRITER_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "schema/db.h"

/* Texts are not copied: they must stay valid until the row is written. */
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
struct stack_row {
    const int64_t *location_ids; /* not copied either */
    size_t count;
    uint64_t hash, signature;
    int64_t location_id, function_id, line; /* function_id 0: none is known */
};

struct pending_list {
    char *rows;
    size_t count, capacity;
    int64_t next_id; /* of the next row */
};
struct pending {
    struct db *db;
    bool is_open;
    struct pending_list functions, locations, lines, stacks;
    struct buffer stack; /* JSON of the stack that is being written */
};

/* Leaves is_open false where the next ids are not known, as in a file with an id at the end of 64 bits; then no row
 * waits. */
int pending_open(struct pending *pending, struct error *err);
/* Writes the waiting rows; more may follow. */
int pending_write(struct pending *pending, struct error *err);
/* Writes the waiting rows; from here on no row waits. */
int pending_close(struct pending *pending, struct error *err);
/* Drops the waiting rows. */
void pending_free(struct pending *pending);

/* The id of the new row, or -1. */
int64_t pending_function(struct pending *pending, const struct function_row *row, struct error *err);
int64_t pending_location(struct pending *pending, const struct location_row *row, struct error *err);
int64_t pending_stack(struct pending *pending, const struct stack_row *row, struct error *err);
int pending_line(struct pending *pending, const struct line_row *row, struct error *err);

/* Writes the ids as JSON, in the form of the column traces.stack. */
void pending_stack_text(struct buffer *text, const int64_t *location_ids, size_t count);

#endif
