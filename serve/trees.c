#include "serve/trees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void free_entry(struct tree_entry *entry) {
    free(entry->key);
    if (entry->bytes) munmap(entry->bytes, entry->size);
    *entry = (struct tree_entry){0};
}

void trees_clear(struct trees *trees) {
    while (trees->count)
        free_entry(&trees->entries[--trees->count]);
    trees->size = 0;
}

void trees_check(struct trees *trees, const char *path) {
    const struct stamps stamps = stamps_of(path);
    if (memcmp(&stamps, &trees->stamps, sizeof stamps) != 0) trees_clear(trees);
    trees->stamps = stamps;
}

static void forget_oldest(struct trees *trees) {
    trees->size -= trees->entries[0].size;
    free_entry(&trees->entries[0]);
    memmove(trees->entries, trees->entries + 1, --trees->count * sizeof *trees->entries);
}

const struct packed_tree *trees_find(struct trees *trees, const char *key) {
    for (size_t i = 0; i < trees->count; i++) {
        struct tree_entry found = trees->entries[i];
        if (strcmp(found.key, key) != 0) continue;
        memmove(trees->entries + i, trees->entries + i + 1, (trees->count - i - 1) * sizeof found);
        trees->entries[trees->count - 1] = found;
        return &trees->entries[trees->count - 1].tree;
    }
    return NULL;
}

const struct packed_tree *trees_keep(struct trees *trees, const char *key, int file, struct error *err) {
    struct tree_entry entry = {0};
    struct stat status;
    if (fstat(file, &status) || !status.st_size) {
        error_fail(err, "the call tree is empty");
        return NULL;
    }
    entry.size = (size_t)status.st_size;
    entry.bytes = mmap(NULL, entry.size, PROT_READ, MAP_SHARED, file, 0);
    if (entry.bytes == MAP_FAILED) {
        error_fail(err, "the call tree: %s", strerror(errno));
        return NULL;
    }
    if (packed_tree_open(&entry.tree, entry.bytes, entry.size, err)) {
        free_entry(&entry);
        return NULL;
    }
    while (trees->count == TREES_MAX || (trees->count && trees->size + entry.size > TREES_BYTES))
        forget_oldest(trees);
    entry.key = xstrdup(key);
    trees->size += entry.size;
    trees->entries[trees->count++] = entry;
    return &trees->entries[trees->count - 1].tree;
}
