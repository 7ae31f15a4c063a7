#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { FIRST_SLOTS = 64 };

/* Not hash_bytes, which is stored and so can never change, and which mixes 8 bytes by two dependent multiplications.
 * Keys are stacks of hundreds of bytes, and hashing them took a sixth of the time to read a recording of many stacks.
 * Here one multiplication to 128 bits mixes 16 bytes (as in Wang Yi's wyhash, public domain). */
static uint64_t fold(uint64_t a, uint64_t b) {
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_key(const void *key, size_t size) {
    const uint64_t first = 0xa0761d6478bd642full, second = 0xe7037ed1a0b428dbull;
    const unsigned char *at = key;
    uint64_t hash = size * 0x9e3779b97f4a7c15ull, words[2];
    for (; size >= sizeof words; at += sizeof words, size -= sizeof words) {
        memcpy(words, at, sizeof words);
        hash = fold(words[0] ^ first, words[1] ^ hash);
    }
    memset(words, 0, sizeof words);
    memcpy(words, at, size);
    return fold(fold(words[0] ^ first, words[1] ^ hash) ^ second, first);
}

static uint32_t tag_of(uint64_t hash) {
    return (uint32_t)(hash >> 32);
}

static struct map_slot *find_slot(const struct map *map, const void *key, size_t size, uint64_t hash) {
    size_t mask = map->slot_count - 1, at = hash & mask;
    for (; map->slots[at].entry; at = (at + 1) & mask) {
        if (map->slots[at].tag != tag_of(hash)) continue;
        const struct map_entry *entry = &map->entries[map->slots[at].entry - 1];
        if (entry->hash == hash && entry->size == size && memcmp(entry->key, key, size) == 0) break;
    }
    return &map->slots[at];
}

static void grow_slots(struct map *map) {
    size_t count = map->slot_count ? map->slot_count * 2 : FIRST_SLOTS;
    free(map->slots);
    map->slots = xcalloc(count, sizeof *map->slots);
    map->slot_count = count;
    for (size_t i = 0; i < map->count; i++) {
        uint64_t hash = map->entries[i].hash;
        size_t at = hash & (count - 1);
        while (map->slots[at].entry)
            at = (at + 1) & (count - 1);
        map->slots[at] = (struct map_slot){tag_of(hash), (uint32_t)i + 1};
    }
}

struct map_entry *map_find(const struct map *map, const void *key, size_t size) {
    if (!map->count) return NULL;
    const struct map_slot *slot = find_slot(map, key, size, hash_key(key, size));
    return slot->entry ? &map->entries[slot->entry - 1] : NULL;
}

struct map_entry *map_put(struct map *map, const void *key, size_t size, bool *added) {
    if ((map->count + 1) * 4 > map->slot_count * 3) grow_slots(map);
    uint64_t hash = hash_key(key, size);
    struct map_slot *slot = find_slot(map, key, size, hash);
    if (added) *added = !slot->entry;
    if (slot->entry) return &map->entries[slot->entry - 1];
    if (map->count == UINT32_MAX - 1) bug("map with more than 2^32 keys");
    if (map->count == map->capacity) {
        map->capacity = map->capacity ? map->capacity * 2 : FIRST_SLOTS;
        map->entries = xrealloc(map->entries, map->capacity * sizeof *map->entries);
    }
    struct map_entry *entry = &map->entries[map->count++];
    *entry = (struct map_entry){.key = arena_copy(&map->keys, key, size), .size = size, .hash = hash};
    *slot = (struct map_slot){tag_of(hash), (uint32_t)map->count};
    return entry;
}

void map_free(struct map *map) {
    free(map->entries);
    free(map->slots);
    arena_free(&map->keys);
    *map = (struct map){0};
}
