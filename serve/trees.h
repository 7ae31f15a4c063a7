/* trees.h: call trees of the last selections, in files without a name that are mapped (query/profile/packed/packed_tree.h), so that zooming does
 * not read the profile again. Private to serve/. */
#ifndef CLEAR_SERVE_TREES_H
#define CLEAR_SERVE_TREES_H

#include <stddef.h>
#include <stdint.h>

#include "query/profile/packed/packed_tree.h"
#include "serve/stamps.h"

enum { TREES_MAX = 12 };
#define TREES_BYTES ((size_t)512 << 20) /* of all; a single larger one is answered from and not kept */

struct tree_entry {
    char *key; /* what was selected, and the state of the warehouse that it was read from */
    void *bytes;
    size_t size;
    struct packed_tree tree;
};
/* A zeroed struct is empty. */
struct trees {
    struct tree_entry entries[TREES_MAX]; /* the least recently used first */
    size_t count, size;
    struct stamps stamps; /* when the trees were made */
};

/* Forgets all if the files of the warehouse have changed. They are looked at from outside, because a server closes its warehouse when
 * nobody asks for a while, and the trees stay. */
void trees_check(struct trees *trees, const char *path);
/* NULL: there is none. Valid until the next call. */
const struct packed_tree *trees_find(struct trees *trees, const char *key);
/* Maps the file, which the caller closes, and keeps its tree as long as there is room. The tree, valid until the next call; NULL with the
 * error set where it is none. */
const struct packed_tree *trees_keep(struct trees *trees, const char *key, int file, struct error *err);
void trees_clear(struct trees *trees);

#endif
