#include "export/flame_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/call_tree.h"
#include "query/profile/plain_name.h"

struct flame_writer {
    struct report *report;
    struct buffer *out;
    struct map frames; /* "NAME\nPLACE", or "NAME\nPLACE\nPLAIN NAME" where that is another, to its index + 1 */
    const struct call_tree *tree;
    bool differs;
};

/* The index of a frame's text in "frames". */
static int64_t frame_index(struct flame_writer *writer, const struct stack_frame *frame) {
    struct buffer text = {0}, plain = {0};
    bool is_new;
    buffer_printf(&text, "%s\n%s", frame->name, *frame->file ? frame->file : frame->module);
    if (*frame->file && frame->line > 0) buffer_printf(&text, ":%" PRId64, frame->line);
    if (frame->is_inlined) buffer_add_text(&text, " (inlined)");
    plain_name(&plain, frame->name);
    if (strcmp(buffer_text(&plain), frame->name) != 0) buffer_printf(&text, "\n%s", buffer_text(&plain));
    struct map_entry *entry = map_put(&writer->frames, text.data, text.size, &is_new);
    if (is_new) entry->value = (int64_t)writer->frames.count - 1;
    buffer_free(&text);
    buffer_free(&plain);
    return entry->value;
}

static void add_node(struct flame_writer *writer, const struct tree_node *node, int64_t frame) {
    buffer_printf(writer->out, "%s%" PRIu32 ",%" PRId64 ",%" PRId64, node->depth ? "," : "", node->depth, frame,
                  node->total[AFTER]);
    if (writer->differs) buffer_printf(writer->out, ",%" PRId64 ",%" PRId64, node->total[BEFORE], node->width);
}

static bool is_drawn(const struct flame_writer *writer, const struct tree_node *node) {
    int64_t whole = writer->tree->nodes[0].width;
    return whole && (double)node->width / (double)whole >= FLAME_NARROWEST;
}

/* The children that are too narrow, as one node. */
static void add_narrow(struct flame_writer *writer, const struct tree_node *parent) {
    struct tree_node sum = {.depth = parent->depth + 1};
    for (uint32_t at = parent->first_child; at; at = writer->tree->nodes[at].next_sibling) {
        const struct tree_node *node = &writer->tree->nodes[at];
        if (is_drawn(writer, node)) continue;
        sum.total[BEFORE] += node->total[BEFORE];
        sum.total[AFTER] += node->total[AFTER];
        sum.width += node->width;
    }
    if (sum.total[BEFORE] || sum.total[AFTER]) add_node(writer, &sum, -1);
}

static uint32_t next_drawn(const struct flame_writer *writer, uint32_t at) {
    while (at && !is_drawn(writer, &writer->tree->nodes[at]))
        at = writer->tree->nodes[at].next_sibling;
    return at;
}

static int add_nodes(struct flame_writer *writer, struct error *err) {
    const struct tree_node *nodes = writer->tree->nodes;
    uint32_t at = 0;
    add_node(writer, nodes, -1);
    for (;;) {
        uint32_t next = next_drawn(writer, nodes[at].first_child);
        while (!next && at) {
            add_narrow(writer, &nodes[at]);
            next = next_drawn(writer, nodes[at].next_sibling);
            at = nodes[at].parent;
        }
        if (!next) break;
        at = next;
        add_node(writer, &nodes[at], frame_index(writer, &writer->tree->frames.items[nodes[at].frame]));
        if (report_check_size(writer->out, err) < 0) return -1;
    }
    add_narrow(writer, nodes);
    return 0;
}

static int add_type(struct flame_writer *writer, size_t type, bool is_first, struct error *err) {
    const struct profile_type *about = &writer->report->profile->types[type];
    size_t shown = writer->report->type;
    struct call_tree tree;
    writer->report->type = type;
    int code = tree_build(&tree, writer->report, err);
    writer->report->type = shown;
    if (code < 0) return -1;
    writer->tree = &tree;
    writer->differs = difference_has_base(writer->report->profile) || tree.nodes[0].total[BEFORE] != 0;
    buffer_add_text(writer->out, is_first ? "{" : ",{");
    buffer_add_json_field(writer->out, "name", type == shown ? writer->report->type_name : about->type);
    buffer_add_char(writer->out, ',');
    buffer_add_json_field(writer->out, "unit", about->unit);
    buffer_printf(writer->out, ",\"differs\":%s,\"nodes\":[", writer->differs ? "true" : "false");
    code = add_nodes(writer, err);
    buffer_add_text(writer->out, "]}");
    tree_free(&tree);
    return code;
}

static void add_frames(struct flame_writer *writer) {
    for (size_t i = 0; i < writer->frames.count; i++) {
        if (i) buffer_add_char(writer->out, ',');
        buffer_add_json_string(writer->out, writer->frames.entries[i].key, writer->frames.entries[i].size);
    }
}

int flame_data_write(struct report *report, struct buffer *out, struct error *err) {
    struct flame_writer writer = {.report = report, .out = out};
    struct error ignored = {0};
    bool has_all = report->mean_type == PROFILE_NONE && report_check_sums(report, &ignored) == 0;
    size_t first = has_all ? 0 : report->type, end = has_all ? report->profile->type_count : report->type + 1;
    int code = 0;
    buffer_printf(out, "{\"shown\":%zu,", report->type - first);
    buffer_add_json_field(out, "before", report->options.base_title);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "after", report->options.title);
    buffer_add_text(out, ",\"types\":[");
    for (size_t type = first; type < end && code == 0; type++)
        code = add_type(&writer, type, type == first, err);
    buffer_add_text(out, "],\"frames\":[");
    add_frames(&writer);
    buffer_add_text(out, "]}");
    map_free(&writer.frames);
    return code;
}
