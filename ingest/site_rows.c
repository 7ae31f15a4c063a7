#include "ingest/site_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/many.h"

enum { KEY_COLUMNS = 2, TRACE = 0, LABEL_SET, ID, BLOCK_BYTES, WIDTH }; /* of store->site_keys */

/* A row and the key that it gets. */
struct placed {
    int64_t key_id, block_bytes;
    const struct site_row *row;
};

struct putting {
    struct store *store;
    int64_t next_id;            /* of a new key; 0: not known yet */
    bool knows_all;             /* every key of the file is in store->site_keys */
    int64_t fresh[MANY][WIDTH]; /* keys that are not written yet */
    size_t fresh_count;
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* The mean size, rounded down: of what was allocated, else of what was freed. */
static int64_t block_bytes(const struct site_row *row) {
    if (row->alloc_count > 0 && row->alloc_bytes > 0) return row->alloc_bytes / row->alloc_count;
    if (row->free_count > 0 && row->free_bytes > 0) return row->free_bytes / row->free_count;
    return 0;
}

static const int64_t *known_key(const struct store *store, const struct site_row *row) {
    const int64_t keys[KEY_COLUMNS] = {row->trace_id, row->label_set_id};
    return sums_find(&store->site_keys, keys);
}

static const int64_t *remember(struct store *store, const int64_t *key) {
    (void)sums_add(&store->site_keys, key); /* it is not there: nothing is summed */
    return store->site_keys.cells + (store->site_keys.count - 1) * WIDTH;
}

/* SQLite gives each row the id after the greatest, which costs less than to put a row at a given id. */
static int write_fresh(struct putting *putting, struct error *err) {
    static const char one[] = "INSERT INTO site_keys(trace_id, label_set_id, block_bytes) VALUES (?, ?, ?)";
    static const char many[] =
        "INSERT INTO site_keys(trace_id, label_set_id, block_bytes) VALUES " MANY_ROWS("(?, ?, ?)");
    struct db *db = putting->store->db;
    size_t step = putting->fresh_count == MANY ? MANY : 1;
    for (size_t i = 0; i < putting->fresh_count; i += step) {
        sqlite3_stmt *insert = db_prepare(db, step == MANY ? many : one, err);
        if (!insert) return -1;
        int parameter = 1;
        for (size_t j = i; j < i + step; j++) {
            sqlite3_bind_int64(insert, parameter++, putting->fresh[j][TRACE]);
            sqlite3_bind_int64(insert, parameter++, putting->fresh[j][LABEL_SET]);
            sqlite3_bind_int64(insert, parameter++, putting->fresh[j][BLOCK_BYTES]);
        }
        if (db_run(db, insert, err) != 0) return -1;
        if (sqlite3_last_insert_rowid(db->handle) != putting->fresh[i + step - 1][ID])
            return error_fail(err, "%s: site_keys: the ids are used up: damaged, or not made by clear", db->path);
    }
    putting->fresh_count = 0;
    return 0;
}

static int find_next_id(struct putting *putting, struct error *err) {
    if (putting->next_id) return 0;
    return db_int(putting->store->db, "SELECT coalesce(max(id), 0) + 1 FROM site_keys", 1, &putting->next_id, err);
}

static const int64_t *make_key(struct putting *putting, const struct site_row *row, struct error *err) {
    if (find_next_id(putting, err) != 0) return NULL;
    const int64_t key[WIDTH] = {row->trace_id, row->label_set_id, putting->next_id++, block_bytes(row)};
    memcpy(putting->fresh[putting->fresh_count++], key, sizeof key);
    if (putting->fresh_count == MANY && write_fresh(putting, err) != 0) return NULL;
    return remember(putting->store, key);
}

/* The key of a row that is not in memory: 1, 0 for none, -1. */
static int select_key(struct putting *putting, const struct site_row *row, const int64_t **key, struct error *err) {
    struct store *store = putting->store;
    if (putting->knows_all || store_is_new_trace(store, row->trace_id)) return 0;
    sqlite3_stmt *select =
        db_prepare(store->db, "SELECT id, block_bytes FROM site_keys WHERE trace_id = ?1 AND label_set_id = ?2", err);
    if (!select) return -1;
    sqlite3_bind_int64(select, 1, row->trace_id);
    sqlite3_bind_int64(select, 2, row->label_set_id);
    int state = db_step(store->db, select, err);
    if (state != 1) return state;
    const int64_t found[WIDTH] = {row->trace_id, row->label_set_id, sqlite3_column_int64(select, 0),
                                  sqlite3_column_int64(select, 1)};
    sqlite3_reset(select);
    *key = remember(store, found);
    return 1;
}

/* Cells of store->site_keys, good until the next key; NULL with the error set. */
static const int64_t *find_key(struct putting *putting, const struct site_row *row, struct error *err) {
    const int64_t *key = known_key(putting->store, row);
    if (key) return key;
    int state = select_key(putting, row, &key, err);
    if (state < 0) return NULL;
    return state == 1 ? key : make_key(putting, row, err);
}

static int read_all_keys(struct store *store, struct error *err) {
    sqlite3_stmt *select = db_prepare(store->db, "SELECT trace_id, label_set_id, id, block_bytes FROM site_keys", err);
    if (!select) return -1;
    int state;
    while ((state = db_step(store->db, select, err)) == 1) {
        int64_t key[WIDTH];
        for (int i = 0; i < WIDTH; i++)
            key[i] = sqlite3_column_int64(select, i);
        if (!sums_find(&store->site_keys, key)) remember(store, key);
    }
    return state;
}

/* Reading a key in order costs less than a fourth of looking one up. */
static int read_keys_if_worth(struct putting *putting, const struct site_row *rows, size_t count, struct error *err) {
    enum { WORTH_READING = 4 };
    struct store *store = putting->store;
    size_t missing = 0;
    for (size_t i = 0; i < count; i++)
        if (!store_is_new_trace(store, rows[i].trace_id) && !known_key(store, &rows[i])) missing++;
    if (missing == 0) return 0;
    if (find_next_id(putting, err) != 0) return -1;
    if ((uint64_t)putting->next_id > (uint64_t)missing * WORTH_READING) return 0;
    putting->knows_all = true;
    return read_all_keys(store, err);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int compare_placed(const void *left, const void *right) {
    const struct placed *a = left, *b = right;
    return a->key_id < b->key_id ? -1 : a->key_id > b->key_id;
}

static int place_rows(struct putting *putting, struct placed *placed, const struct site_row *rows, size_t count,
                      struct error *err) {
    bool is_sorted = true;
    for (size_t i = 0; i < count; i++) {
        const int64_t *key = find_key(putting, &rows[i], err);
        if (!key) return -1;
        placed[i] = (struct placed){key[ID], key[BLOCK_BYTES], &rows[i]};
        if (i && placed[i].key_id < placed[i - 1].key_id) is_sorted = false;
    }
    /* In the order of the table: pages that are filled at random stay half empty. */
    if (!is_sorted) qsort(placed, count, sizeof *placed, compare_placed);
    return write_fresh(putting, err);
}

static void bind_bytes(sqlite3_stmt *insert, int parameter, int64_t bytes, int64_t count, int64_t block) {
    int64_t product;
    if (!__builtin_mul_overflow(count, block, &product) && product == bytes)
        sqlite3_bind_null(insert, parameter);
    else
        sqlite3_bind_int64(insert, parameter, bytes);
}

static void bind_placed(sqlite3_stmt *insert, int parameter, int64_t profile_id, const struct placed *placed) {
    const struct site_row *row = placed->row;
    sqlite3_bind_int64(insert, parameter, profile_id);
    sqlite3_bind_int64(insert, parameter + 1, placed->key_id);
    sqlite3_bind_int64(insert, parameter + 2, row->alloc_count);
    sqlite3_bind_int64(insert, parameter + 3, row->free_count);
    bind_bytes(insert, parameter + 4, row->alloc_bytes, row->alloc_count, placed->block_bytes);
    bind_bytes(insert, parameter + 5, row->free_bytes, row->free_count, placed->block_bytes);
}

#define INTO_ROWS                                                                                                      \
    "INSERT INTO site_rows(profile_id, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes) VALUES "
#define OR_REPLACE                                                                                                     \
    " ON CONFLICT (profile_id, site_key_id) DO UPDATE SET alloc_count = excluded.alloc_count,"                         \
    " free_count = excluded.free_count, alloc_bytes = excluded.alloc_bytes, free_bytes = excluded.free_bytes"

static int write_placed(struct db *db, int64_t profile_id, const struct placed *placed, size_t count,
                        struct error *err) {
    enum { COLUMNS = 6 };
    static const char one[] = INTO_ROWS "(?, ?, ?, ?, ?, ?)" OR_REPLACE;
    static const char many[] = INTO_ROWS MANY_ROWS("(?, ?, ?, ?, ?, ?)") OR_REPLACE;
    for (size_t i = 0; i < count;) {
        size_t step = count - i >= MANY ? MANY : 1;
        sqlite3_stmt *insert = db_prepare(db, step == MANY ? many : one, err);
        if (!insert) return -1;
        for (size_t j = 0; j < step; j++)
            bind_placed(insert, 1 + (int)j * COLUMNS, profile_id, &placed[i + j]);
        if (db_run(db, insert, err) != 0) return -1;
        i += step;
    }
    return 0;
}

int site_rows_put(struct store *store, int64_t profile_id, const struct site_row *rows, size_t count,
                  struct error *err) {
    if (count == 0) return 0;
    if (!store->site_keys.width) sums_init(&store->site_keys, KEY_COLUMNS, WIDTH - KEY_COLUMNS, 0);
    struct putting putting = {.store = store};
    struct placed *placed = xmalloc(count * sizeof *placed);
    int code = read_keys_if_worth(&putting, rows, count, err);
    if (code == 0) code = place_rows(&putting, placed, rows, count, err);
    if (code == 0) code = write_placed(store->db, profile_id, placed, count, err);
    free(placed);
    return code;
}
