#include "ingest/shim/core/locked_table.h"

#include "ingest/shim/core/runtime.h"

enum { SLOTS_FIRST = 64 };

static void lock_table(struct locked_table *table) {
    while (exchange_acq_rel(&table->lock, 1))
        __builtin_ia32_pause();
}

static void unlock_table(struct locked_table *table) {
    store_release(&table->lock, 0);
}

static uint64_t slot_of(const struct locked_table *table, uint64_t key) {
    return (key * 0x9e3779b97f4a7c15ull >> 20) & (table->slots - 1);
}

static struct table_entry *entry_of(const struct locked_table *table, uint64_t key) {
    uint64_t slot = slot_of(table, key);
    while (table->entries[slot].key && table->entries[slot].key != key)
        slot = (slot + 1) & (table->slots - 1);
    return &table->entries[slot];
}

static bool grow(struct locked_table *table) {
    struct locked_table old = *table;
    uint64_t slots = old.slots ? old.slots * 2 : SLOTS_FIRST;
    struct table_entry *entries = private_memory(slots * sizeof *entries);
    if (!entries) return false;
    table->entries = entries;
    table->slots = slots;
    for (uint64_t i = 0; i < old.slots; i++)
        if (old.entries[i].key) *entry_of(table, old.entries[i].key) = old.entries[i];
    if (old.entries) private_memory_free(old.entries, old.slots * sizeof *entries);
    return true;
}

bool table_put(struct locked_table *table, struct table_entry entry, struct table_entry *old) {
    lock_table(table);
    bool has_room = table->count * 2 < table->slots || grow(table);
    if (has_room) {
        struct table_entry *place = entry_of(table, entry.key);
        *old = *place;
        if (!place->key) store_relaxed(&table->count, table->count + 1);
        *place = entry;
    }
    unlock_table(table);
    return has_room;
}

/* Moves later entries of the run back over the hole, so that every entry stays reachable from its own slot. */
static void remove_entry(struct locked_table *table, struct table_entry *hole) {
    uint64_t mask = table->slots - 1, at = (uint64_t)(hole - table->entries), next = at;
    for (;;) {
        next = (next + 1) & mask;
        if (!table->entries[next].key) break;
        uint64_t home = slot_of(table, table->entries[next].key);
        if (((next - home) & mask) < ((next - at) & mask)) continue;
        table->entries[at] = table->entries[next];
        at = next;
    }
    table->entries[at].key = 0;
    store_relaxed(&table->count, table->count - 1);
}

static bool look_up(struct locked_table *table, uint64_t key, struct table_entry *entry, bool is_taken) {
    if (load_relaxed(&table->count) == 0) return false;
    lock_table(table);
    struct table_entry *place = table->slots ? entry_of(table, key) : NULL;
    bool is_there = place && place->key;
    if (is_there) *entry = *place;
    if (is_there && is_taken) remove_entry(table, place);
    unlock_table(table);
    return is_there;
}

bool table_take(struct locked_table *table, uint64_t key, struct table_entry *entry) {
    return look_up(table, key, entry, true);
}

bool table_find(struct locked_table *table, uint64_t key, struct table_entry *entry) {
    return look_up(table, key, entry, false);
}

struct locked_table *table_shard_made(struct locked_table **shards, uint64_t key) {
    struct locked_table *known = load_acquire(shards), *made;
    if (!known && (made = private_memory(TABLE_SHARDS * sizeof *made))) {
        if (compare_exchange(shards, &known, made))
            known = made;
        else
            private_memory_free(made, TABLE_SHARDS * sizeof *made);
    }
    return known ? table_shard(known, key) : NULL;
}
