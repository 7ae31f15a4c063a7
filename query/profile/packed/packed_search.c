#include "query/profile/packed/packed_search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "query/profile/pattern.h"

/* The names are tried by the process that answers everybody: no pattern may keep it longer. */
enum { MATCH_MS_MAX = 500, NAMES_BETWEEN_LOOKS = 256 };

enum { UNKNOWN, NO, YES };

struct tree_search {
    const struct packed_tree *tree;
    struct pattern *pattern;
    unsigned char *names;   /* [name]: UNKNOWN, NO or YES */
    unsigned char *insides; /* [node]: below a match, or one itself */
    struct buffer text;
    int64_t deadline_ns;
    size_t tried;
    bool is_late;
};

static bool try_name(struct tree_search *search, uint32_t name) {
    const struct packed_tree *tree = search->tree;
    uint64_t begin = name ? tree->name_ends[name - 1] : 0, end = tree->name_ends[name];
    if (begin > end || end > tree->head.name_bytes) return false;
    if (search->tried++ % NAMES_BETWEEN_LOOKS == 0 && clock_monotonic_ns() > search->deadline_ns)
        search->is_late = true;
    buffer_clear(&search->text);
    buffer_add(&search->text, tree->name_text + begin, (size_t)(end - begin));
    return !search->is_late && pattern_matches(search->pattern, buffer_text(&search->text));
}

/* Each name is tried once. The root of all is no function. */
static bool is_match(struct tree_search *search, uint32_t node) {
    uint32_t name = packed_tree_name(search->tree, node);
    if (!node || name >= search->tree->head.name_count) return false;
    if (search->names[name] == UNKNOWN) search->names[name] = try_name(search, name) ? YES : NO;
    return search->names[name] == YES;
}

static void visit(struct tree_search *search, uint32_t node, bool is_root, struct packed_found *found) {
    const struct packed_tree *tree = search->tree;
    bool is_inside = !is_root && search->insides[tree->parents[node]], matches = is_match(search, node);
    search->insides[node] = is_inside || matches;
    found->count += matches;
    if (!matches || is_inside) return;
    found->value = (int64_t)((uint64_t)found->value + (uint64_t)tree->totals[node]);
    if (tree->base_totals) found->base = (int64_t)((uint64_t)found->base + (uint64_t)tree->base_totals[node]);
}

/* Level by level: the children of nodes that stand together stand together. */
static int walk(struct tree_search *search, uint32_t root, struct packed_found *found, struct error *err) {
    const struct packed_tree *tree = search->tree;
    uint32_t begin = root, end = root + 1;
    while (begin < end) {
        for (uint32_t node = begin; node < end; node++) {
            if (node != root && tree->parents[node] >= node) return error_fail(err, "the call tree is broken");
            visit(search, node, node == root, found);
        }
        uint32_t next = tree->firsts[begin], next_end = packed_tree_children_end(tree, end - 1);
        if (next_end > tree->head.node_count || (next < next_end && next < end))
            return error_fail(err, "the call tree is broken");
        begin = next;
        end = next_end;
    }
    return 0;
}

int packed_tree_search(const struct packed_tree *tree, uint64_t root, const char *regex, struct packed_found *found,
                       struct error *err) {
    struct tree_search search = {.tree = tree, .deadline_ns = clock_monotonic_ns() + MATCH_MS_MAX * INT64_C(1000000)};
    uint32_t at;
    *found = (struct packed_found){0};
    if (!packed_tree_find(tree, root, &at)) return error_usage(err, "the tree has no node %" PRIu64, root);
    search.pattern = pattern_compile("search", regex, err);
    if (!search.pattern) return -1;
    search.names = xcalloc(tree->head.name_count + 1, 1);
    search.insides = xcalloc(tree->head.node_count, 1);
    int code = walk(&search, at, found, err);
    if (code == 0) code = pattern_check(search.pattern, err);
    if (code == 0 && search.is_late)
        code = error_usage(err, "search '%.100s' takes longer than %d ms: use a simpler one", regex, MATCH_MS_MAX);
    pattern_free(search.pattern);
    free(search.names);
    free(search.insides);
    buffer_free(&search.text);
    return code;
}
