#include "ingest/shim/heap/arena_blocks.h"

#include "ingest/shim/core/locked_table.h"
#include "ingest/shim/heap/heap.h"

/* An arena is a list of nodes, newest first; a node is a page of addresses. The nodes of arenas that ended are used
 * again. */
enum { NODE_BLOCKS = 510 };
struct arena_node {
    struct arena_node *older;
    uint64_t count;
    const void *blocks[NODE_BLOCKS];
};
_Static_assert(sizeof(struct arena_node) == 4096, "a node is a page");

/* All arenas, in memory that a forked child does not get. One lock, because arenas have few blocks beside malloc. */
struct arenas {
    uint32_t lock;
    struct locked_table nodes; /* arena -> its newest node */
    struct arena_node *spare;
};

static struct arenas *arenas(void) {
    struct arenas *known = load_acquire(&process->arenas), *made;
    if (known || !(made = private_memory(sizeof *made))) return known;
    if (compare_exchange(&process->arenas, &known, made)) return made;
    private_memory_free(made, sizeof *made);
    return known;
}

static void lock_arenas(struct arenas *all) {
    while (exchange_acq_rel(&all->lock, 1))
        __builtin_ia32_pause();
}

static struct arena_node *new_node(struct arenas *all, struct arena_node *older) {
    struct arena_node *node = all->spare;
    if (node)
        all->spare = node->older;
    else
        node = private_memory(sizeof *node);
    if (node) *node = (struct arena_node){.older = older};
    return node;
}

void arena_add(const void *arena, const void *block) {
    struct arenas *all = arenas();
    if (!all) return;
    lock_arenas(all);
    struct table_entry entry = {.key = (uintptr_t)arena}, old;
    table_find(&all->nodes, (uintptr_t)arena, &entry);
    struct arena_node *node = (struct arena_node *)(uintptr_t)entry.first;
    if (!node || node->count == NODE_BLOCKS) {
        node = new_node(all, node);
        entry.first = (uintptr_t)node;
        if (node) table_put(&all->nodes, entry, &old);
    }
    if (node) node->blocks[node->count++] = block;
    store_release(&all->lock, 0);
}

void arena_freed(struct thread *thread, const void *arena) {
    struct arenas *all = arenas();
    struct table_entry entry;
    if (!all || !table_take(&all->nodes, (uintptr_t)arena, &entry)) return;
    for (struct arena_node *node = (struct arena_node *)(uintptr_t)entry.first, *older; node; node = older) {
        older = node->older;
        for (uint64_t i = 0; i < node->count; i++)
            heap_freed(thread, (void *)(uintptr_t)node->blocks[i]);
        lock_arenas(all);
        node->older = all->spare;
        all->spare = node;
        store_release(&all->lock, 0);
    }
}
