#include "serve/cache.h"

#include <stdlib.h>
#include <string.h>

/* data_version counts the commits of other connections, total_changes the changes of this one. */
int cache_check(struct cache *cache, struct db *db, struct error *err) {
    int64_t data_version, changes = sqlite3_total_changes64(db->handle);
    if (db_int(db, "PRAGMA data_version", 0, &data_version, err)) return -1;
    if (data_version == cache->data_version && changes == cache->changes) return 0;
    cache_clear(cache);
    cache->data_version = data_version;
    cache->changes = changes;
    return 0;
}

bool cache_find(const struct cache *cache, const char *key, struct buffer *bytes) {
    for (size_t i = 0; i < cache->count; i++) {
        const struct cache_entry *entry = &cache->entries[i];
        if (strcmp(entry->key, key) != 0) continue;
        if (entry->bytes.size) buffer_add(bytes, entry->bytes.data, entry->bytes.size);
        return true;
    }
    return false;
}

static void forget_oldest(struct cache *cache) {
    struct cache_entry *oldest = &cache->entries[0];
    cache->size -= oldest->bytes.size;
    free(oldest->key);
    buffer_free(&oldest->bytes);
    memmove(oldest, oldest + 1, --cache->count * sizeof *oldest);
}

void cache_keep(struct cache *cache, const char *key, const struct buffer *bytes) {
    if (bytes->size > CACHE_BYTES / 4) return; /* a single one must not remove all others */
    while (cache->count == CACHE_ENTRIES || (cache->count && cache->size + bytes->size > CACHE_BYTES))
        forget_oldest(cache);
    struct cache_entry *entry = &cache->entries[cache->count++];
    *entry = (struct cache_entry){.key = xstrdup(key)};
    if (bytes->size) buffer_add(&entry->bytes, bytes->data, bytes->size);
    cache->size += bytes->size;
}

void cache_clear(struct cache *cache) {
    while (cache->count)
        forget_oldest(cache);
    *cache = (struct cache){0};
}
