/* packed_tree.h: a call tree as bytes, which one process writes (export/packed_tree.c) and another one maps and cuts to what can be seen,
 * without reading the rest: of a tree of ten million nodes the first picture takes milliseconds.
 *
 * Native byte order: it lives as long as a server, on one machine. The head, then the arrays in this order, each aligned to 8 bytes:
 *   ids[nodes]          uint64  of the names from the root to the node, below 2^53; the same in every run
 *   totals[nodes]       int64   the node with all below it
 *   selves[nodes]       int64   without
 *   base_totals, base_selves, widths [nodes]   int64   where has_base: the old side, and what a node is wide: the larger side, where
 *                       a node has children at least their sum
 *   parents, firsts, names [nodes]   uint32   index of the parent; of the first child (children stand together, the widest first, and end
 *                       where those of the next node begin); index of the name, with PACKED_TREE_INLINED where each frame of the node was
 *                       inlined into its caller
 *   name_ends, place_ends [name_count]   uint64   the ends of the texts
 *   origins, modules [name_count]        uint32   enum origin (base/origin.h) and the index in the list "modules" of `about`, of the frame that
 *                       gives the place
 *   names, places       bytes   place: file and line of the first frame with that name; may be empty
 *   about               bytes   JSON fields of the answer, without braces
 * Node 0 is the root. A node comes before its children, and the children of one node before those of the next. */
#ifndef CLEAR_QUERY_PROFILE_PACKED_PACKED_TREE_H
#define CLEAR_QUERY_PROFILE_PACKED_PACKED_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

#define PACKED_TREE_MAGIC   "cleartre"
#define PACKED_TREE_INLINED UINT32_C(0x80000000)

struct packed_tree_head {
    char magic[8];
    uint64_t node_count, name_count, name_bytes, place_bytes, about_bytes;
    uint32_t depth, has_base;
};

/* Where the arrays are in `bytes`. */
struct packed_tree {
    struct packed_tree_head head;
    const uint64_t *ids;
    const int64_t *totals, *selves, *base_totals, *base_selves,
        *widths; /* base_…: NULL without a base; widths is then totals */
    const uint32_t *parents, *firsts, *names;
    const uint64_t *name_ends, *place_ends;
    const uint32_t *origins, *modules;
    const char *name_text, *place_text, *about;
};

/* The bytes that arrays of these sizes take; SIZE_MAX: too many. */
size_t packed_tree_size(const struct packed_tree_head *head);
/* Finds the arrays. A failure where the bytes are no such tree; what the arrays say is checked where it is used. The bytes stay the
 * caller's and begin at a multiple of 8. */
int packed_tree_open(struct packed_tree *tree, const void *bytes, size_t size, struct error *err);

/* The index of a node's name, below name_count. */
uint32_t packed_tree_name(const struct packed_tree *tree, uint32_t node);
/* The node with that id; false: there is none. */
bool packed_tree_find(const struct packed_tree *tree, uint64_t id, uint32_t *node);
/* One behind the last child of a node; the first is firsts[node]. */
uint32_t packed_tree_children_end(const struct packed_tree *tree, uint32_t node);

/* The id of the child with that name. */
uint64_t packed_tree_id(uint64_t parent, const char *name, size_t size);
#define PACKED_TREE_ROOT UINT64_C(1) /* the id of the root */

enum { PACKED_TREE_NODES_MAX = 20000, PACKED_TREE_BYTES_MAX = 500000 };

/* Appends the answer of docs/api.md: the nodes below `root` that are at least half a pixel wide if the root is `width` pixels wide. An id
 * that the tree does not have is a usage error. */
int packed_tree_cut(const struct packed_tree *tree, uint64_t root, int64_t width, struct buffer *out,
                    struct error *err);

#endif
