/* packed_search.h: what a search finds in a call tree, narrow nodes included. */
#ifndef CLEAR_QUERY_PROFILE_PACKED_PACKED_SEARCH_H
#define CLEAR_QUERY_PROFILE_PACKED_PACKED_SEARCH_H

#include "query/profile/packed/packed_tree.h"

struct packed_found {
    uint64_t count;      /* nodes whose name matches */
    int64_t value, base; /* their sums, in which a match below another one counts once; base: 0 without one */
};

/* Searches the node with the id `root` and all below it. An id that the tree does not have, a wrong pattern, and one that takes too long
 * are usage errors. */
int packed_tree_search(const struct packed_tree *tree, uint64_t root, const char *regex, struct packed_found *found,
                       struct error *err);

#endif
