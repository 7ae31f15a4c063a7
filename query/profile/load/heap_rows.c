#include "query/profile/load/heap_rows.h"

#include <stdlib.h>

#include "schema/bulk.h"
#include "schema/schema.h"

enum { KEY_ID, ALLOC_COUNT, FREE_COUNT, ALLOC_BYTES, FREE_BYTES, TRACE_ID, LABEL_SET_ID, BLOCK_BYTES }; /* of a row */

struct heap_reading {
    struct heap_rows *heap;
    struct db *db;
    heap_row_use *use;
    void *context;
};

/* NULL: so many blocks of that size. */
static int read_bytes(sqlite3_value *bytes, int64_t count, int64_t block_bytes, int64_t *result, struct error *err) {
    if (sqlite3_value_type(bytes) != SQLITE_NULL)
        *result = sqlite3_value_int64(bytes);
    else if (__builtin_mul_overflow(count, block_bytes, result))
        return error_fail(err, "%lld blocks of %lld bytes are more than 2^63 - 1 bytes", (long long)count,
                          (long long)block_bytes);
    return 0;
}

static int give_row(const struct heap_reading *reading, const struct heap_site *site, sqlite3_value **row,
                    struct error *err) {
    const int64_t allocs = sqlite3_value_int64(row[ALLOC_COUNT]), frees = sqlite3_value_int64(row[FREE_COUNT]);
    int64_t alloc_bytes, free_bytes;
    if (read_bytes(row[ALLOC_BYTES], allocs, site->block_bytes, &alloc_bytes, err) ||
        read_bytes(row[FREE_BYTES], frees, site->block_bytes, &free_bytes, err))
        return -1;
    const int64_t figures[HEAP_FIGURES] = {
        [HEAP_ALLOC_COUNT] = allocs,
        [HEAP_ALLOC_BYTES] = alloc_bytes,
        [HEAP_INUSE_COUNT] = (int64_t)((uint64_t)allocs - (uint64_t)frees),
        [HEAP_INUSE_BYTES] = (int64_t)((uint64_t)alloc_bytes - (uint64_t)free_bytes),
        [HEAP_FREE_COUNT] = frees,
        [HEAP_FREE_BYTES] = free_bytes,
    };
    return reading->use(reading->context, site->trace_id, site->label_set_id, figures, err);
}

static int take_joined(void *context, sqlite3_value **row, struct error *err) {
    const struct heap_site site = {sqlite3_value_int64(row[TRACE_ID]), sqlite3_value_int64(row[LABEL_SET_ID]),
                                   sqlite3_value_int64(row[BLOCK_BYTES])};
    return give_row(context, &site, row, err);
}

static int find_site(struct heap_rows *heap, struct db *db, int64_t id, uint32_t *index, struct error *err) {
    if (id_table_find(&heap->ids, id, index)) return 0;
    if (walk_to_row(db, &heap->walk, embedded_text("profile/heap_rows/sites"), "site", id, err) < 0) return -1;
    if (heap->count == heap->room) {
        heap->room = heap->room ? heap->room * 2 : 1024;
        heap->sites = xrealloc(heap->sites, heap->room * sizeof *heap->sites);
    }
    sqlite3_stmt *at = heap->walk.at;
    *index = (uint32_t)heap->count;
    heap->sites[heap->count++] =
        (struct heap_site){sqlite3_column_int64(at, 1), sqlite3_column_int64(at, 2), sqlite3_column_int64(at, 3)};
    id_table_put(&heap->ids, id, *index);
    return 0;
}

static int take_plain(void *context, sqlite3_value **row, struct error *err) {
    const struct heap_reading *reading = context;
    uint32_t index;
    if (find_site(reading->heap, reading->db, sqlite3_value_int64(row[KEY_ID]), &index, err)) return -1;
    return give_row(reading, &reading->heap->sites[index], row, err);
}

int heap_rows_read(struct heap_rows *heap, struct db *db, int64_t profile_id, heap_row_use *use, void *context,
                   struct error *err) {
    struct heap_reading reading = {heap, db, use, context};
    sqlite3_stmt *statement =
        bulk_prepare(db, embedded_text(heap->has_read ? "profile/heap_rows/plain" : "profile/heap_rows/joined"), err);
    if (!statement) return -1;
    db_bind_int(statement, ":profile", profile_id);
    bulk_take *take = heap->has_read ? take_plain : take_joined;
    heap->has_read = true;
    return bulk_read(db, statement, take, &reading, err);
}

void heap_rows_pause(struct heap_rows *heap) {
    walk_end(&heap->walk);
}

void heap_rows_free(struct heap_rows *heap) {
    heap_rows_pause(heap);
    id_table_free(&heap->ids);
    free(heap->sites);
    *heap = (struct heap_rows){0};
}
