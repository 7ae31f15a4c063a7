#include "ingest/writer/site_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schema/bulk.h"
#include "schema/schema.h"

/* writer->first_keys has the key of a stack's first label set, whose id is that of the stack; writer->more_keys those of
 * further label sets. */
enum { FIRST_TRACE, FIRST_SET, FIRST_BLOCK, FIRST_WIDTH };
enum { MORE_TRACE, MORE_SET, MORE_ID, MORE_BLOCK, MORE_WIDTH };

struct site_key {
    int64_t id, trace_id, label_set_id, block_bytes;
};

/* A row and the key that it gets. */
struct placed {
    int64_t key_id, block_bytes;
    const struct site_row *row;
};

enum { FRESH_MAX = 1024 }; /* keys of a batch: with so many the cost of the statement is negligible */
struct putting {
    struct row_writer *writer;
    int64_t smallest_id,
        greatest_id; /* of the keys in the file; 0: there is none. Further label sets have negative ids, downwards */
    bool has_bounds;
    bool knows_all; /* every key of the file is in memory */
    struct fresh {
        struct site_key keys[FRESH_MAX];
        size_t count;
    } first,
        more; /* keys that are not written yet. Two lists, because rows in the order of their ids cost SQLite half as much */
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* The mean size, rounded down: of what was allocated, else of what was freed. */
static int64_t block_bytes(const struct site_row *row) {
    if (row->alloc_count > 0 && row->alloc_bytes > 0) return row->alloc_bytes / row->alloc_count;
    if (row->free_count > 0 && row->free_bytes > 0) return row->free_bytes / row->free_count;
    return 0;
}

static void remember(struct row_writer *writer, const struct site_key *key) {
    const int64_t first[FIRST_WIDTH] = {key->trace_id, key->label_set_id, key->block_bytes};
    const int64_t more[MORE_WIDTH] = {key->trace_id, key->label_set_id, key->id, key->block_bytes};
    /* Neither key is stored, so nothing is summed. */
    (void)(key->id < 0 ? sums_add(&writer->more_keys, more) : sums_add(&writer->first_keys, first));
}

/* The key of a row from memory, or NULL. *is_first: no label set of the stack has a key. */
static bool find_known_key(const struct row_writer *writer, const struct site_row *row, struct site_key *key,
                           bool *is_first) {
    const int64_t *first = sums_find(&writer->first_keys, &row->trace_id);
    *is_first = !first;
    *key = (struct site_key){row->trace_id, row->trace_id, row->label_set_id, first ? first[FIRST_BLOCK] : 0};
    if (!first || first[FIRST_SET] == row->label_set_id) return first;
    const int64_t keys[] = {row->trace_id, row->label_set_id};
    const int64_t *more = sums_find(&writer->more_keys, keys);
    if (!more) return false;
    key->id = more[MORE_ID];
    key->block_bytes = more[MORE_BLOCK];
    return true;
}

/* Whether the ids are those that SQLite would choose: one after the other from the greatest. Then it need not search
 * for their place, which is a third of the work. This is so when stacks are new. */
static bool is_next(int64_t greatest_id, const struct site_key *keys, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (keys[i].id != greatest_id + 1 + (int64_t)i) return false;
    return true;
}

static void key_value(sqlite3_context *result, const void *rows, size_t row, int column) {
    const struct site_key *key = (const struct site_key *)rows + row;
    const int64_t values[] = {key->id, key->trace_id, key->label_set_id, key->block_bytes};
    sqlite3_result_int64(result, values[column]);
}

static int write_keys(struct putting *putting, bool with_id, const struct site_key *keys, size_t count,
                      struct error *err) {
    const struct bulk bulk = {count, keys, key_value};
    return bulk_insert(putting->writer->db,
                       with_id ? "INSERT OR FAIL INTO site_keys(id, trace_id, label_set_id, block_bytes)"
                                 " SELECT c0, c1, c2, c3 FROM memory_rows"
                               : "INSERT OR FAIL INTO site_keys(trace_id, label_set_id, block_bytes)"
                                 " SELECT c1, c2, c3 FROM memory_rows",
                       &bulk, err);
}

static int write_first(struct putting *putting, struct error *err) {
    struct fresh *fresh = &putting->first;
    size_t count = fresh->count;
    if (count == 0) return 0;
    fresh->count = 0;
    size_t said = putting->greatest_id <= 0 ? 1 : 0; /* SQLite would choose 0 after -1 */
    if (said && write_keys(putting, true, fresh->keys, 1, err) != 0) return -1;
    if (said) putting->greatest_id = fresh->keys[0].id;
    bool with_id = !is_next(putting->greatest_id, fresh->keys + said, count - said);
    for (size_t i = 0; i < count; i++)
        if (fresh->keys[i].id > putting->greatest_id) putting->greatest_id = fresh->keys[i].id;
    return write_keys(putting, with_id, fresh->keys + said, count - said, err);
}

static int write_more(struct putting *putting, struct error *err) {
    size_t count = putting->more.count;
    putting->more.count = 0;
    return write_keys(putting, true, putting->more.keys, count, err);
}

static int read_bounds(struct putting *putting, struct error *err) {
    struct db *db = putting->writer->db;
    if (putting->has_bounds) return 0;
    putting->has_bounds = true;
    return db_int(db, "SELECT min(id) FROM site_keys", 0, &putting->smallest_id, err) ||
                   db_int(db, "SELECT max(id) FROM site_keys", 0, &putting->greatest_id, err)
               ? -1
               : 0;
}

static int make_key(struct putting *putting, const struct site_row *row, bool is_first, struct site_key *key,
                    struct error *err) {
    *key = (struct site_key){row->trace_id, row->trace_id, row->label_set_id, block_bytes(row)};
    if (read_bounds(putting, err) != 0) return -1;
    if (!is_first) key->id = putting->smallest_id = (putting->smallest_id < 0 ? putting->smallest_id : 0) - 1;
    struct fresh *fresh = is_first ? &putting->first : &putting->more;
    fresh->keys[fresh->count++] = *key;
    remember(putting->writer, key);
    if (fresh->count < FRESH_MAX) return 0;
    return is_first ? write_first(putting, err) : write_more(putting, err);
}

/* Reads the first key of a stack, or that of a further label set, into memory, if the file has it. */
static int look_up(struct row_writer *writer, const struct site_row *row, bool is_first, struct error *err) {
    sqlite3_stmt *select = db_prepare(writer->db,
                                      is_first ? "SELECT id, label_set_id, block_bytes FROM site_keys WHERE id = ?1"
                                               : "SELECT id, label_set_id, block_bytes FROM site_keys"
                                                 " WHERE trace_id = ?1 AND label_set_id = ?2 AND id < 0",
                                      err);
    if (!select) return -1;
    sqlite3_bind_int64(select, 1, row->trace_id);
    if (!is_first) sqlite3_bind_int64(select, 2, row->label_set_id);
    int state = db_step(writer->db, select, err);
    if (state != 1) return state;
    remember(writer, &(struct site_key){sqlite3_column_int64(select, 0), row->trace_id, sqlite3_column_int64(select, 1),
                                        sqlite3_column_int64(select, 2)});
    sqlite3_reset(select);
    return 0;
}

static int find_key(struct putting *putting, const struct site_row *row, struct site_key *key, struct error *err) {
    struct row_writer *writer = putting->writer;
    bool is_first, is_known = find_known_key(writer, row, key, &is_first);
    if (!is_known && !putting->knows_all && !writer_is_new_stack(writer, row->trace_id)) {
        if (is_first && look_up(writer, row, true, err) != 0) return -1;
        is_known = find_known_key(writer, row, key, &is_first);
        if (!is_known && !is_first && look_up(writer, row, false, err) != 0) return -1;
        is_known = find_known_key(writer, row, key, &is_first);
    }
    return is_known ? 0 : make_key(putting, row, is_first, key, err);
}

static int read_all_keys(struct row_writer *writer, struct error *err) {
    sqlite3_stmt *select = db_prepare(writer->db, "SELECT id, trace_id, label_set_id, block_bytes FROM site_keys", err);
    if (!select) return -1;
    int state;
    sums_free(&writer->first_keys);
    sums_free(&writer->more_keys);
    sums_init(&writer->first_keys, FIRST_SET, FIRST_WIDTH - FIRST_SET, 0);
    sums_init(&writer->more_keys, MORE_ID, MORE_WIDTH - MORE_ID, 0);
    while ((state = db_step(writer->db, select, err)) == 1)
        remember(writer, &(struct site_key){sqlite3_column_int64(select, 0), sqlite3_column_int64(select, 1),
                                            sqlite3_column_int64(select, 2), sqlite3_column_int64(select, 3)});
    return state;
}

/* To read a key in order costs less than a fourth of a look-up. There are about as many keys as stacks. */
static int read_keys_if_cheaper(struct putting *putting, const struct site_row *rows, size_t count, struct error *err) {
    enum { LOOK_UP_COST = 4 };
    size_t missing = 0;
    bool is_first;
    for (size_t i = 0; i < count; i++)
        if (!writer_is_new_stack(putting->writer, rows[i].trace_id) &&
            !find_known_key(putting->writer, &rows[i], &(struct site_key){0}, &is_first))
            missing++;
    if (missing == 0) return 0;
    if (read_bounds(putting, err) != 0) return -1;
    if ((uint64_t)(putting->greatest_id - putting->smallest_id) > (uint64_t)missing * LOOK_UP_COST) return 0;
    putting->knows_all = true;
    return read_all_keys(putting->writer, err);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int compare_placed(const void *left, const void *right) {
    const struct placed *a = left, *b = right;
    return a->key_id < b->key_id ? -1 : a->key_id > b->key_id;
}

static void sort_placed(struct placed *placed, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (placed[i - 1].key_id < placed[i].key_id) continue;
        qsort(placed, count, sizeof *placed, compare_placed);
        return;
    }
}

/* Puts rows with the first key of a stack at the front of `placed` and the others at its back; *first_count is the
 * number of the former. New ids of the others count downwards, so rows in the order of their stacks are already
 * sorted. */
static int place_rows(struct putting *putting, struct placed *placed, const struct site_row *rows, size_t count,
                      size_t *first_count, struct error *err) {
    struct placed *front = placed, *back = placed + count;
    for (size_t i = 0; i < count; i++) {
        struct site_key key;
        if (find_key(putting, &rows[i], &key, err) != 0) return -1;
        *(key.id < 0 ? --back : front++) = (struct placed){key.id, key.block_bytes, &rows[i]};
    }
    *first_count = (size_t)(front - placed);
    sort_placed(placed, *first_count);
    sort_placed(back, count - *first_count);
    return write_first(putting, err) || write_more(putting, err) ? -1 : 0;
}

/* Bytes are NULL where they are the count times the block size of the key. */
static void give_bytes(sqlite3_context *result, int64_t bytes, int64_t count, int64_t block) {
    int64_t product;
    if (__builtin_mul_overflow(count, block, &product) || product != bytes) sqlite3_result_int64(result, bytes);
}

struct placing {
    int64_t profile_id;
    const struct placed *placed;
};

static void row_value(sqlite3_context *result, const void *rows, size_t number, int column) {
    const struct placing *placing = rows;
    const struct placed *placed = &placing->placed[number];
    const struct site_row *row = placed->row;
    switch (column) {
    case 0: sqlite3_result_int64(result, placing->profile_id); return;
    case 1: sqlite3_result_int64(result, placed->key_id); return;
    case 2: sqlite3_result_int64(result, row->alloc_count); return;
    case 3: sqlite3_result_int64(result, row->free_count); return;
    case 4: give_bytes(result, row->alloc_bytes, row->alloc_count, placed->block_bytes); return;
    default: give_bytes(result, row->free_bytes, row->free_count, placed->block_bytes);
    }
}

static int write_placed(struct db *db, int64_t profile_id, const struct placed *placed, size_t count,
                        struct error *err) {
    const struct placing placing = {profile_id, placed};
    const struct bulk bulk = {count, &placing, row_value};
    return bulk_insert(db, embedded_text("ingest/sites_bulk.sql"), &bulk, err);
}

int site_rows_put(struct row_writer *writer, int64_t profile_id, const struct site_row *rows, size_t count,
                  struct error *err) {
    if (count == 0) return 0;
    if (!writer->first_keys.width) {
        sums_init(&writer->first_keys, FIRST_SET, FIRST_WIDTH - FIRST_SET, 0);
        sums_init(&writer->more_keys, MORE_ID, MORE_WIDTH - MORE_ID, 0);
    }
    struct putting putting = {.writer = writer};
    struct placed *placed = xmalloc(count * sizeof *placed);
    size_t first_count = 0;
    int code = read_keys_if_cheaper(&putting, rows, count, err);
    if (code == 0) code = place_rows(&putting, placed, rows, count, &first_count, err);
    /* In the order of the table (negative ids first): pages that are filled in random order stay half empty. */
    if (code == 0) code = write_placed(writer->db, profile_id, placed + first_count, count - first_count, err);
    if (code == 0) code = write_placed(writer->db, profile_id, placed, first_count, err);
    free(placed);
    return code;
}
