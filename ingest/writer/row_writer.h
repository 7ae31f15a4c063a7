/* writer.h: puts names and stacks into the warehouse, each once.
 *
 * The room ingest/writer is the only writer of mappings, functions, locations, stacks, label sets, objects and
 * allocation sites, for recordings and for files that are read. It promises:
 *   - Equal things have one row in the file, and one id.
 *   - The signature of a stack is equal across rebuilds and machines (writer_stack).
 *
 * Each function returns the row id of a thing, which is made if the file does not have it, or -1 with the error set. A
 * `struct row_writer` keeps the ids that it met in memory, so a second look-up needs no SQL. After db_rollback a writer may
 * know ids that do not exist: free it and open a new one. */
#ifndef CLEAR_INGEST_WRITER_ROW_WRITER_H
#define CLEAR_INGEST_WRITER_ROW_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sums.h"
#include "ingest/writer/known.h"
#include "ingest/writer/pending.h"
#include "schema/db.h"

struct row_writer {
    struct db *db;
    struct map mappings, functions, locations, stacks, label_sets, objects; /* key bytes -> row id */
    struct sums first_keys, more_keys;                                      /* of allocation sites: site_rows.c */
    struct map resolved;     /* (mapping id, address) -> id of the location with lines there */
    struct known known;      /* functions and locations, for the signatures of stacks */
    struct pending pending;  /* rows that are not written yet */
    struct buffer key, text; /* room to put keys and JSON together */
    uint64_t frames;         /* of all distinct stacks that were stored here */
    int64_t *old_hashes;     /* sorted: of the stacks in the file when writer_expect was called */
    size_t old_hash_count;
    bool knows_hashes;
    int64_t first_new_stack; /* stacks from this id on were made after writer_expect was called; 0: unknown */
    bool is_fresh;    /* functions and locations were empty when writer_expect or the first writer_batch was called */
    bool has_batches; /* writer_batch was called */
    int64_t data_version; /* of the file at the latest writer_refresh; 0: there was none */
    char *late_indexes;   /* the SQL that makes the indexes which writer_expect dropped; NULL where it dropped none */
};

int writer_open(struct row_writer *writer, struct db *db, struct error *err);
void writer_free(struct row_writer *writer);
/* For a writer that lives longer than a transaction: call it at the beginning of each. If another process wrote to the file since the last
 * call, the writer forgets what it knows, because the other may have deleted names that nothing used (ingest/upkeep/gc.c). */
int writer_refresh(struct row_writer *writer, struct error *err);

/* Texts may be NULL for empty. The flags has_* are 0 or 1. Mapping 0 is none. */
struct writer_mapping {
    const char *filename, *build_id;
    uint64_t memory_start, memory_limit, file_offset;
    int has_functions, has_filenames, has_line_numbers, has_inline_frames;
};
int64_t writer_mapping(struct row_writer *writer, const struct writer_mapping *mapping, struct error *err);

int64_t writer_function(struct row_writer *writer, const char *name, const char *system_name, const char *filename,
                        int64_t start_line, struct error *err);

struct writer_line {
    int64_t function_id, line, column;
};
/* Lines innermost first, as in profile.proto. */
int64_t writer_location(struct row_writer *writer, int64_t mapping_id, uint64_t address, int is_folded,
                        const struct writer_line *lines, size_t line_count, struct error *err);
/* The location of that mapping and address with lines, which an earlier run resolved, or 0. Ask this before the
 * symbolizer: each (build id, address) is resolved once for a file. */
int64_t writer_find_location(struct row_writer *writer, int64_t mapping_id, uint64_t address, struct error *err);

/* Location ids leaf first. An empty stack has the id 0. Two columns are computed here:
 *   signature         the same in a rebuilt program (schema/signature.h)
 *   attributed frame  the first frame from the leaf, innermost inlined function first, whose function matches no
 *                     pattern of the table `wrappers` (GLOB) and whose file is no header or source of a compiler's
 *                     standard library; the leaf if all do. Where that is in the interpreter of Python, the script's
 *                     line that it works for, if there is one on the stack before code of others. */
int64_t writer_stack(struct row_writer *writer, const int64_t *location_ids, size_t count, struct error *err);

/* Announces about `count` stacks in the open transaction, and prepares for them:
 *   - If that costs less, the hashes of all stored stacks are read at once, so that a new stack needs no look-up.
 *   - If the warehouse has no stacks, their two indexes are dropped and built at the end, which costs a third of
 *     updating them in random order.
 *   - From here on functions, locations and stacks have ids before they are in the file. Call writer_flush before
 *     reading these tables by SQL.
 * Call writer_expect_end before the transaction is committed. A rollback followed by writer_free ends it too. */
int writer_expect(struct row_writer *writer, size_t count, struct error *err);
int writer_flush(struct row_writer *writer, struct error *err);
int writer_expect_end(struct row_writer *writer, struct error *err);
/* For a recorder, which meets few new names at a time and goes on for long: until writer_batch_end functions, locations and stacks wait as after
 * writer_expect, in the open transaction, and nothing else is prepared: call writer_flush before an object refers to such a stack. Of a file that
 * had no names before the first batch, and that nobody else has added names to, all are in memory and none is looked up. */
int writer_batch(struct row_writer *writer, struct error *err);
int writer_batch_end(struct row_writer *writer, struct error *err);
/* Whether the stack was made after writer_expect was called; then no other table refers to it yet. */
static inline bool writer_is_new_stack(const struct row_writer *writer, int64_t trace_id) {
    return writer->first_new_stack && trace_id >= writer->first_new_stack;
}

struct writer_label {
    const char *key;
    const char *text; /* NULL for a numeric label */
    int64_t number;
    const char *unit; /* numeric labels; NULL or empty for none */
};
/* Labels in any order; they are sorted. No labels are set 0. */
int64_t writer_label_set(struct row_writer *writer, const struct writer_label *labels, size_t count, struct error *err);

/* The same of a set in the form of the column label_sets.labels, which another warehouse had. */
int64_t writer_label_set_text(struct row_writer *writer, const char *labels, struct error *err);

/* A lock, cell or channel. Identities:
 *   "symbol:MODULE:SYMBOL+OFFSET"  a global variable (MODULE is a base name)
 *   "heap:SIGNATURE+OFFSET"        in a heap block, by the signature of its allocating stack
 *   "heap:SIGNATURE+OFFSET#N"      a lock or wait in the Nth such block, in the order of first use; from N = 2
 *   "local:MODULE:FUNCTION:VARIABLE+OFFSET"  on a thread's stack; without a variable by the offset in the frame; from the Nth such place on with #N
 *   "address:0x..."                only the address is known (text dumps)
 *   "channel:N"                    a channel, by its number
 *   "name:NAME"                    by the name that the program gave it */
int64_t writer_object(struct row_writer *writer, const char *kind, const char *identity, const char *name,
                      int64_t trace_id, uint64_t offset, struct error *err);

#endif
