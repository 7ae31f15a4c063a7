/* store.h: how every reader of records, ours and foreign, puts names and stacks into the warehouse.
 *
 * Each function returns the row id of a thing, made where the file does not have it yet, or -1 with the error set.
 * Everything is stored once a file: a `struct store` keeps what it met in memory, so that a second look costs no SQL.
 * A store belongs to one open transaction's life at most of its db: after db_rollback it must be dropped (store_free)
 * and made anew, because it may know ids that were rolled back. */
#ifndef CLEAR_INGEST_STORE_STORE_H
#define CLEAR_INGEST_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "ingest/store/known.h"
#include "ingest/store/pending.h"
#include "ingest/store/sums.h"
#include "schema/db.h"

struct store {
    struct db *db;
    struct map mappings, functions, locations, traces, label_sets, objects; /* key bytes -> row id */
    struct sums first_keys, more_keys; /* of allocation sites: ingest/store/site_rows.c */
    struct map resolved;               /* (mapping id, address) -> id of the location with lines there */
    struct known known;                /* what signing and attributing a trace needs */
    struct pending pending;            /* names and stacks that are not written yet */
    struct buffer key, text;           /* room to put keys and JSON together */
    int64_t *old_hashes;               /* sorted: of the traces that were there when store_expect was called */
    size_t old_hash_count;
    bool knows_hashes;
    int64_t
        first_new_trace; /* traces from this id on were not there when store_expect was called; 0: nothing is known */
    bool is_fresh;       /* functions and locations were empty when store_expect was called */
    char *late_indexes;  /* the SQL that makes the indexes which store_expect took away; NULL where it took none */
};

int store_open(struct store *store, struct db *db, struct error *err);
void store_free(struct store *store);

/* Texts may be NULL for empty. The has_* flags are 0 or 1. Mapping 0 is "none". */
struct store_mapping {
    const char *filename, *build_id;
    uint64_t memory_start, memory_limit, file_offset;
    int has_functions, has_filenames, has_line_numbers, has_inline_frames;
};
int64_t store_mapping(struct store *store, const struct store_mapping *mapping, struct error *err);

int64_t store_function(struct store *store, const char *name, const char *system_name, const char *filename,
                       int64_t start_line, struct error *err);

struct store_line {
    int64_t function_id, line, column;
};
/* Lines innermost first, as in profile.proto. */
int64_t store_location(struct store *store, int64_t mapping_id, uint64_t address, int is_folded,
                       const struct store_line *lines, size_t line_count, struct error *err);
/* The location of that mapping and address that an earlier run resolved, or 0. "Each (build id, address) is resolved
 * once in the file's life": ask this before the symbolizer. */
int64_t store_find_location(struct store *store, int64_t mapping_id, uint64_t address, struct error *err);

/* Location ids leaf first. An empty stack is trace 0. Worked out here:
 *   signature        of the name and the file's name without its directories, for every frame, inlined ones too: the
 *                    same source built in another directory signs the same. Not of lines, so that an edit above a
 *                    function changes nothing. A location without lines signs by its module's file name and its
 *                    offset in that file.
 *   attributed frame the first frame, from the leaf, innermost inlined function first, whose function is none of the
 *                    table `wrappers` (GLOB over its name); the leaf where all are. */
int64_t store_trace(struct store *store, const int64_t *location_ids, size_t count, struct error *err);

/* About `count` traces are to come in the open transaction. Where that is worth it, the hashes of the stored ones are read
 * at once, so that a trace that is new costs no look-up; and where the warehouse has none yet, the two indexes of traces
 * are built at the end, in order, which costs a third of keeping them up in random order. From here on functions, locations and
 * traces have their ids before they are in the file: whoever reads those tables by SQL calls store_flush first. All of that ends
 * with store_expect_end, which must come before the transaction is committed; a rollback and store_free undo it too. */
int store_expect(struct store *store, size_t count, struct error *err);
int store_flush(struct store *store, struct error *err);
int store_expect_end(struct store *store, struct error *err);
/* Known not to have been in the file when store_expect was called, and so in no other table of it. */
static inline bool store_is_new_trace(const struct store *store, int64_t trace_id) {
    return store->first_new_trace && trace_id >= store->first_new_trace;
}

struct store_label {
    const char *key;
    const char *text; /* NULL for a numeric label */
    int64_t number;
    const char *unit; /* numeric labels; NULL or empty for none */
};
/* Any order; they are sorted. No labels is set 0. */
int64_t store_label_set(struct store *store, const struct store_label *labels, size_t count, struct error *err);

/* A lock, cell or channel. Identities:
 *   "symbol:MODULE:SYMBOL+OFFSET"  a global (module by file name, not path)
 *   "heap:SIGNATURE+OFFSET"        in a heap block, by the signature of its allocating trace
 *   "address:0x..."                nothing better is known (text dumps)
 *   "channel:N"                    a channel by its number
 *   "name:NAME"                    what the program itself calls it */
int64_t store_object(struct store *store, const char *kind, const char *identity, const char *name, int64_t trace_id,
                     uint64_t offset, struct error *err);

#endif
