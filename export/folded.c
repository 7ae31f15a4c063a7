/* folded.c: Brendan Gregg's folded stacks: "root;...;leaf VALUE", sorted. Of a difference two columns, before and after, as
 * difffolded.pl gives and flamegraph.pl reads. */
#include <stdlib.h>

#include "export/call_tree.h"
#include "export/format.h"

struct folded {
    const struct call_tree *tree;
    bool has_base;
    struct buffer *out;
};

static void add_line(const struct folded *folded, const struct tree_node *node, const char *stack) {
    if (node->self[BEFORE] == 0 && node->self[AFTER] == 0) return;
    buffer_add_text(folded->out, stack);
    if (folded->has_base)
        buffer_printf(folded->out, " %lld %lld\n", (long long)node->self[BEFORE], (long long)node->self[AFTER]);
    else
        buffer_printf(folded->out, " %lld\n", (long long)(node->self[AFTER] - node->self[BEFORE]));
}

static void cut(struct buffer *text, size_t size) {
    if (text->data) text->data[size] = '\0';
    text->size = size;
}

/* Depth first, without recursion: a stack may be as deep as its program pleased. `ends` are where each depth's text ends. */
static int add_lines(const struct folded *folded, struct error *err) {
    const struct call_tree *tree = folded->tree;
    struct buffer stack = {0};
    size_t *ends = xcalloc((size_t)tree->depth + 1, sizeof *ends);
    int code = 0;
    for (uint32_t at = tree->nodes[0].first_child; at && code == 0;) {
        const struct tree_node *node = &tree->nodes[at];
        cut(&stack, ends[node->depth - 1]);
        if (node->depth > 1) buffer_add_char(&stack, ';');
        frames_add_name(&stack, tree->frames.items[node->frame].name);
        ends[node->depth] = stack.size;
        add_line(folded, node, buffer_text(&stack));
        code = report_check_size(folded->out, err);
        if (node->first_child) {
            at = node->first_child;
            continue;
        }
        while (at && !tree->nodes[at].next_sibling)
            at = tree->nodes[at].parent;
        at = at ? tree->nodes[at].next_sibling : 0;
    }
    free(ends);
    buffer_free(&stack);
    return code;
}

int folded_write(struct report *report, struct buffer *out, struct error *err) {
    struct call_tree tree;
    if (tree_build(&tree, report, err)) return -1;
    const struct folded folded = {&tree, difference_has_base(report->profile), out};
    int code = add_lines(&folded, err);
    /* Samples without a stack have no line of their own in this format; a name keeps the sum right. */
    add_line(&folded, &tree.nodes[0], "[no stack]");
    tree_free(&tree);
    return code;
}
