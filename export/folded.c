/* folded.c: Brendan Gregg's folded stacks: "root;...;leaf VALUE", sorted. With a base, two columns, before and after, as
 * difffolded.pl gives and `flamegraph.pl` reads. */
#include <stdlib.h>

#include "export/format.h"
#include "export/tree.h"

/* A semicolon divides frames and a newline lines; in a name they become what looks like them. */
static void add_name(struct buffer *out, const char *name) {
    for (; *name; name++)
        buffer_add_char(out, *name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name);
}

static void add_line(const struct drawing *drawing, const struct tree_node *node, const struct buffer *stack) {
    if (node->self[BEFORE] == 0 && node->self[AFTER] == 0) return;
    buffer_add(drawing->out, stack->data, stack->size);
    if (drawing->model->has_base)
        buffer_printf(drawing->out, " %lld %lld\n", (long long)node->self[BEFORE], (long long)node->self[AFTER]);
    else
        buffer_printf(drawing->out, " %lld\n", (long long)(node->self[AFTER] - node->self[BEFORE]));
}

/* Depth first, without recursion: a stack may be as deep as its program pleased. `ends` are where each depth's text ends. */
static void add_lines(const struct drawing *drawing, const struct tree *tree) {
    struct buffer stack = {0};
    size_t *ends = xcalloc((size_t)tree->depth + 1, sizeof *ends);
    for (uint32_t at = tree->nodes[0].first_child; at;) {
        const struct tree_node *node = &tree->nodes[at];
        stack.size = ends[node->depth - 1];
        if (stack.size) buffer_add_char(&stack, ';');
        add_name(&stack, drawing->model->frames[node->frame].name);
        ends[node->depth] = stack.size;
        add_line(drawing, node, &stack);
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
}

int folded_render(const struct drawing *drawing, struct error *err) {
    struct tree tree;
    int code = tree_build(&tree, drawing->model, err);
    if (code == 0) add_lines(drawing, &tree);
    /* Samples without a stack have no line of their own in this format; a name keeps the sum right. */
    if (code == 0 && (tree.nodes[0].self[BEFORE] || tree.nodes[0].self[AFTER])) {
        struct buffer none = {0};
        buffer_add_text(&none, "[no stack]");
        add_line(drawing, &tree.nodes[0], &none);
        buffer_free(&none);
    }
    tree_free(&tree);
    return code;
}
