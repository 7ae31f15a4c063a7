/* locked_table.h: a hash table with a lock, from a non-zero 64-bit key to two words, for what is too rare for a
 * lock-free structure. Open addressing, at most half full, backward-shift deletion, one spin lock. A zeroed table is an
 * empty one. Its entries are in memory that a forked child does not get. */
#ifndef CLEAR_SHIM_LOCKED_TABLE_H
#define CLEAR_SHIM_LOCKED_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct table_entry {
    uint64_t key; /* 0 is free */
    uint64_t first, second;
};

struct locked_table {
    uint32_t lock;
    uint64_t count, slots;
    struct table_entry *entries;
};

/* Puts an entry. *old is the entry of that key before (old->key 0: none). False when there is no memory. */
bool table_put(struct locked_table *table, struct table_entry entry, struct table_entry *old);
/* Takes an entry out; false where the key has none. */
bool table_take(struct locked_table *table, uint64_t key, struct table_entry *entry);
bool table_find(struct locked_table *table, uint64_t key, struct table_entry *entry);

/* The shard of a key among TABLE_SHARDS tables that are made when the first one is asked for; NULL: no memory. */
struct locked_table *table_shard_made(struct locked_table **shards, uint64_t key);

/* Independent tables, so that two threads seldom wait for one lock. */
enum { TABLE_SHARDS = 64 };
static inline struct locked_table *table_shard(struct locked_table *shards, uint64_t key) {
    return &shards[key * 0x9e3779b97f4a7c15ull >> 58];
}

#endif
