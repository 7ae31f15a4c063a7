/* flamegraph.c: a self-contained SVG. The root is on top; a box is as wide as what it and all below it cost; siblings are sorted by
 * name, so that two graphs can be compared by eye. The places are percentages, so it fits any window; a viewer without
 * scripts shows the whole picture and loses zoom and search (export/flamegraph.js).
 *
 * With a base (or negative values) a box is as wide as the larger of before and after, so that what vanished is seen as well;
 * red grew, blue shrank. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "export/call_tree.h"
#include "export/format.h"
#include "export/shorten.h"
#include "query/profile/usual_name.h"
#include "query/report/report.h"
#include "schema/schema.h"

/* ---- data for the script ---- */

/* The call trees of every sample type of a report, as JSON for the script of a flame graph (export/flamegraph.js).
 *
 *   {"shown": TYPE, "before": TEXT, "after": TEXT, "types": [{"name", "unit", "differs", "nodes"}, ...], "frames": ["NAME\nPLACE\nPARTS", ...]}
 *
 * `nodes` is a tree in the order of its boxes, from the top and from the left, as numbers: depth, frame (an index, -1 for siblings
 * too narrow to be drawn, together), the value with all below it; if the type differs between two sides also the value before, and
 * the width that the box has (struct tree_node). PARTS is the usual name with a tab before each part but the first, where a label may be cut; it
 * is missing where that is the name itself. The root is the first, its frame -1. "shown" is the index of the type in the
 * picture, "before" and "after" name the sides. */

/* Part of the whole below which a box is not drawn: 0.1 px of a window 1,000 px wide. It bounds the file: no more than
 * 10,000 boxes a level. */
#define FLAME_NARROWEST 1e-4

struct flame_writer {
    struct report *report;
    struct buffer *out;
    struct map frames; /* "NAME\nPLACE" or "NAME\nPLACE\nPARTS" to its index + 1 */
    const struct call_tree *tree;
    bool differs;
};

static void add_parts(struct buffer *out, const char *name) {
    size_t at = 0;
    for (size_t next; (next = name_next_part(name, at)); at = next) {
        buffer_add(out, name + at, next - at);
        buffer_add_char(out, '\t');
    }
    buffer_add_text(out, name + at);
}

/* The index of a frame's text in "frames". */
static int64_t frame_index(struct flame_writer *writer, const struct stack_frame *frame) {
    struct buffer text = {0}, plain = {0}, parts = {0};
    bool is_new;
    buffer_printf(&text, "%s\n%s", frame->name, *frame->file ? frame->file : frame->module);
    if (*frame->file && frame->line > 0) buffer_printf(&text, ":%" PRId64, frame->line);
    if (frame->is_inlined) buffer_add_text(&text, " (inlined)");
    usual_name(&plain, frame->name);
    add_parts(&parts, buffer_text(&plain));
    if (strcmp(buffer_text(&parts), frame->name) != 0) buffer_printf(&text, "\n%s", buffer_text(&parts));
    struct map_entry *entry = map_put(&writer->frames, text.data, text.size, &is_new);
    if (is_new) entry->value = (int64_t)writer->frames.count - 1;
    buffer_free(&text);
    buffer_free(&plain);
    buffer_free(&parts);
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

/* Appends the JSON. Of a mean, or where the sums of other types are too large, it has the shown type alone. */
static int flame_data_write(struct report *report, struct buffer *out, struct error *err) {
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

enum { ROW = 18, TOP = 92, BOTTOM = 14, PAGE = 1200, LABEL_X = 3 }; /* px */
#define LETTER 6.6                                                  /* px: the width of one in the font below */

struct flames {
    const struct report *report;
    const struct call_tree *tree;
    struct buffer *out;
    double *left; /* [node]: where it begins, 0 to 1 */
    size_t hidden;
    bool differs; /* there is a before */
};

static const char *unit_of(const struct flames *flames) {
    return flames->report->profile->types[flames->report->type].unit;
}

static const struct stack_frame *frame_of(const struct flames *flames, const struct tree_node *node) {
    return &flames->tree->frames.items[node->frame];
}

/* With its unit where that is known, else with thousands separated. */
static struct units_text value_text(const struct flames *flames, int64_t value) {
    if (strcmp(unit_of(flames), "bytes") == 0) return units_bytes(value);
    if (strcmp(unit_of(flames), "nanoseconds") == 0) return units_ns(value);
    return units_count(value);
}

/* ---- colour ---- */

static uint32_t hash_name(const char *name) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash ^ hash >> 15;
}

/* Equal names have equal colours; the unit gives the family: memory green, time orange, counts blue. */
static void add_plain_color(struct flames *flames, const char *name) {
    const char *unit = unit_of(flames);
    uint32_t hash = hash_name(name);
    int hue = strcmp(unit, "bytes") == 0 ? 95 : strcmp(unit, "nanoseconds") == 0 ? 12 : 190;
    buffer_printf(flames->out, "hsl(%d,%d%%,%d%%)", hue + (int)(hash % 45), 52 + (int)(hash / 45 % 25),
                  60 + (int)(hash / 2000 % 12));
}

static void add_change_color(struct flames *flames, const struct tree_node *node) {
    double change = (double)node->total[AFTER] - (double)node->total[BEFORE];
    double most = (double)(node->total[AFTER] > node->total[BEFORE] ? node->total[AFTER] : node->total[BEFORE]);
    double part = most > 0 ? sqrt(fabs(change) / most) : 0; /* the root: a change of 4 % is seen */
    if (change == 0)
        buffer_add_text(flames->out, "hsl(0,0%,86%)");
    else
        buffer_printf(flames->out, "hsl(%d,%d%%,%d%%)", change > 0 ? 4 : 215, 30 + (int)(part * 50),
                      88 - (int)(part * 24));
}

/* ---- boxes ---- */

static double part_of(const struct flames *flames, int64_t value) {
    int64_t whole = flames->tree->nodes[0].width;
    return whole ? (double)value / (double)whole : 0;
}

static void add_change(struct flames *flames, const struct tree_node *node) {
    int64_t before = node->total[BEFORE], after = node->total[AFTER];
    buffer_printf(flames->out, "\n%s \xe2\x86\x92 %s (%s%s", value_text(flames, before).text,
                  value_text(flames, after).text, after >= before ? "+" : "", value_text(flames, after - before).text);
    if (before) buffer_printf(flames->out, ", %+.0f %%", 100.0 * ((double)after - (double)before) / (double)before);
    buffer_add_text(flames->out, before ? ")" : after ? ", new)" : ")");
}

static void add_details(struct flames *flames, const struct tree_node *node, const char *name) {
    const struct stack_frame *frame = node->depth ? frame_of(flames, node) : NULL;
    escape_xml(flames->out, name);
    if (flames->differs) {
        add_change(flames, node);
    } else {
        buffer_printf(flames->out, "\n%s, %.2f %%", value_text(flames, node->total[AFTER]).text,
                      100 * part_of(flames, node->total[AFTER]));
        if (node->self[AFTER] != node->total[AFTER])
            buffer_printf(flames->out, "; itself %s", value_text(flames, node->self[AFTER]).text);
    }
    if (!frame || (!*frame->file && !*frame->module)) return;
    buffer_add_char(flames->out, '\n');
    escape_xml(flames->out, *frame->file ? frame->file : frame->module);
    if (*frame->file && frame->line > 0) buffer_printf(flames->out, ":%" PRId64, frame->line);
    if (frame->is_inlined) buffer_add_text(flames->out, " (inlined)");
}

/* The plain name, as much as fits where the picture is as wide as on most pages. The script looks at the real width. */
static void add_label(struct flames *flames, const char *name, double percent) {
    struct buffer label = {0}, plain = {0};
    usual_name(&plain, name);
    double letters = (PAGE * percent / 100 - 2 * LABEL_X) / LETTER;
    shorten_to(&label, buffer_text(&plain), letters > 0 ? (size_t)letters : 0);
    escape_xml(flames->out, buffer_text(&label));
    buffer_free(&label);
    buffer_free(&plain);
}

static void add_box(struct flames *flames, uint32_t at) {
    const struct tree_node *node = &flames->tree->nodes[at];
    const char *name = at ? frame_of(flames, node)->name : "all";
    double width = 100 * part_of(flames, node->width);
    buffer_printf(flames->out, "<svg class=\"f\" x=\"%.4f%%\" y=\"%u\" width=\"%.4f%%\" height=\"%d\" data-n=\"",
                  100 * flames->left[at], TOP + node->depth * ROW, width, ROW - 1);
    escape_xml(flames->out, name);
    buffer_add_text(flames->out, "\"><title>");
    add_details(flames, node, name);
    buffer_add_text(flames->out, "</title><rect fill=\"");
    if (flames->differs)
        add_change_color(flames, node);
    else
        add_plain_color(flames, name);
    buffer_add_text(flames->out, "\"/>");
    buffer_add_text(flames->out, "<text x=\"3\" y=\"12.5\">");
    add_label(flames, name, width);
    buffer_add_text(flames->out, "</text></svg>\n");
}

/* Children are placed one after the other, what is their parent's own comes after them. */
static int add_boxes(struct flames *flames, struct error *err) {
    const struct call_tree *tree = flames->tree;
    flames->left = xcalloc(tree->count, sizeof *flames->left);
    add_box(flames, 0);
    int code = 0;
    for (uint32_t at = tree->nodes[0].first_child; at && code == 0;) {
        const struct tree_node *node = &tree->nodes[at];
        code = report_check_size(flames->out, err);
        bool drawn = part_of(flames, node->width) >= FLAME_NARROWEST;
        if (drawn)
            add_box(flames, at);
        else
            flames->hidden++;
        if (drawn && node->first_child) {
            flames->left[node->first_child] = flames->left[at];
            at = node->first_child;
            continue;
        }
        while (at && !tree->nodes[at].next_sibling)
            at = tree->nodes[at].parent;
        if (!at) break;
        uint32_t next = tree->nodes[at].next_sibling;
        flames->left[next] = flames->left[at] + part_of(flames, tree->nodes[at].width);
        at = next;
    }
    free(flames->left);
    return code;
}

/* ---- the page ---- */

static const char style[] =
    "svg{font-family:ui-sans-serif,system-ui,'Segoe UI',Helvetica,Arial,sans-serif;color-scheme:light dark}\n"
    "#paper{fill:#fff}.head{fill:#1c2128}.dim{fill:#59636e}.f{cursor:pointer;font:11px "
    "ui-monospace,Menlo,Consolas,monospace}\n"
    ".f rect{width:100%;height:100%;rx:2px;stroke:#fff;stroke-width:.6px}.f text{fill:#14181d;pointer-events:none}\n"
    ".f:hover rect{stroke:#14181d;stroke-width:1.6px}.above{opacity:.55}.searching .f:not(.hit) rect{opacity:.35}\n"
    ".f.hit rect{fill:#d838c8}.f.hit text{fill:#fff}#reset{cursor:pointer;fill:#0969da}\n"
    "input{font:13px system-ui,sans-serif;width:100%;box-sizing:border-box;padding:4px 9px;border:1px solid #8886;"
    "border-radius:6px;background:transparent;color:inherit;outline-color:#0969da}.row{display:flex;gap:6px;"
    "justify-content:flex-end}select,button{font:12px system-ui,sans-serif;padding:2px 8px;border:1px solid #8886;"
    "border-radius:6px;background:transparent;color:inherit;outline-color:#0969da}button.on{background:#0969da;color:#"
    "fff}"
    ".f.at rect{stroke:#0969da;stroke-width:2px}input.wrong{outline:2px solid "
    "#d1242f}\n"
    "@media(prefers-color-scheme:dark){#paper{fill:#14181d}.head{fill:#e6edf3}.dim{fill:#9aa4af}.f rect{stroke:#14181d}"
    ".f:hover rect{stroke:#fff}#reset{fill:#58a6ff}div{color:#e6edf3}}\n";

static void add_subtitle(struct flames *flames) {
    const struct tree_node *root = &flames->tree->nodes[0];
    escape_xml(flames->out, flames->report->type_name);
    if (flames->differs) {
        const char *base = flames->report->options.base_title;
        buffer_printf(flames->out, ": %s, before ", value_text(flames, root->total[AFTER]).text);
        buffer_printf(flames->out, "%s%s", value_text(flames, root->total[BEFORE]).text, *base ? " (" : "");
        escape_xml(flames->out, base);
        buffer_printf(flames->out, "%s; red grew, blue shrank", *base ? ")" : "");
    } else {
        buffer_printf(flames->out, ": %s", value_text(flames, root->total[AFTER]).text);
    }
}

static void add_head(struct flames *flames, const char *title) {
    struct buffer *out = flames->out;
    unsigned height = TOP + (flames->tree->depth + 1) * ROW + BOTTOM;
    buffer_printf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"100%%\" height=\"%u\">\n<style>%s</style>\n"
        "<rect id=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
        "<svg x=\"14\" width=\"70%%\" height=\"40\"><text class=\"head\" y=\"30\" font-size=\"17\" "
        "font-weight=\"600\">",
        height, style);
    escape_xml(out, title);
    buffer_add_text(
        out, "</text></svg>\n<svg x=\"14\" width=\"70%\" height=\"60\"><text id=\"subtitle\" class=\"dim\" y=\"51\" "
             "font-size=\"13\">");
    add_subtitle(flames);
    buffer_add_text(
        out, "</text></svg>\n"
             "<svg x=\"14\" width=\"100%\" height=\"92\" id=\"line\"><text id=\"details\" class=\"head\" y=\"79\" "
             "font-size=\"12\" xml:space=\"preserve\"></text></svg>\n"
             "<g id=\"tools\" style=\"display:none\"><svg x=\"100%\" overflow=\"visible\">"
             "<foreignObject x=\"-254\" y=\"12\" width=\"240\" height=\"32\">"
             "<div xmlns=\"http://www.w3.org/1999/xhtml\"><input id=\"search\" type=\"search\" "
             "placeholder=\"search (a regular expression)\"/></div></foreignObject>\n"
             "<text id=\"matched\" class=\"head\" x=\"-14\" y=\"61\" font-size=\"13\" text-anchor=\"end\"></text>\n"
             "<text id=\"reset\" x=\"-254\" y=\"61\" font-size=\"13\">reset zoom</text>"
             "<foreignObject x=\"-474\" y=\"66\" width=\"460\" height=\"26\"><div class=\"row\" "
             "xmlns=\"http://www.w3.org/1999/xhtml\"><select id=\"type\" title=\"sample type (keys 1 to 9)\"></select>"
             "<button id=\"callers\" title=\"from the leaves: who calls them\">callers</button>"
             "<button id=\"flip\" title=\"root at the bottom\">flip</button></div></foreignObject></svg></g>\n"
             "<g id=\"boxes\">\n");
}

static void add_foot(struct flames *flames, const struct buffer *data) {
    buffer_add_text(flames->out, "</g>\n");
    if (flames->hidden)
        buffer_printf(flames->out, "<!-- %zu boxes narrower than 0.01 %% are not drawn -->\n", flames->hidden);
    buffer_add_text(flames->out, "<script id=\"data\" type=\"application/json\">");
    escape_xml(flames->out, buffer_text(data));
    buffer_add_text(flames->out, "</script>\n<script><![CDATA[\n");
    buffer_add_text(flames->out, embedded_text("export/flamegraph.js"));
    buffer_add_text(flames->out, "]]></script>\n</svg>\n");
}

int flamegraph_write(struct report *report, struct buffer *out, struct error *err) {
    struct call_tree tree;
    struct buffer data = {0};
    if (tree_build(&tree, report, err)) return -1;
    struct flames flames = {.report = report, .tree = &tree, .out = out};
    flames.differs = difference_has_base(report->profile) || tree.nodes[0].total[BEFORE] != 0;
    add_head(&flames, report->options.title);
    int code = add_boxes(&flames, err);
    if (code == 0) code = flame_data_write(report, &data, err);
    add_foot(&flames, &data);
    buffer_free(&data);
    tree_free(&tree);
    return code;
}
