/* Functions as machine code, with flat and cumulative values of each instruction: disasm. */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/sum.h"
#include "base/utf8.h"
#include "query/code/function_symbols.h"
#include "query/code/machine_code.h"
#include "query/profile/scale.h"
#include "query/report/report.h"

struct placed_node { /* a node of the graph, where its code stands in the file */
    uint64_t address;
    const struct graph_node *node;
};

/* A function that is shown, and its part of the placed nodes of its file. */
struct routine {
    struct code_symbol symbol;
    const char *path;
    const struct placed_node *placed;
    size_t count;
};

struct listing {
    struct report *report;
    struct code code;
    struct graph graph;
    struct pattern *pattern;
    uint64_t address; /* the pattern as a number; 0 it is none */
    struct routine *routines;
    size_t count;
    struct placed_node **placed; /* of each file */
    size_t file_count;
};

/* ---- which functions ---- */

/* Does a function match that has samples in that mapping's file? */
static bool is_wanted(struct listing *listing, const struct profile_mapping *mapping) {
    for (size_t i = 0; i < listing->graph.node_count; i++) {
        struct graph_node *node = listing->graph.nodes[i];
        if (node->info.object == mapping->file && *mapping->file &&
            pattern_matches(listing->pattern, graph_name(&listing->graph, node)))
            return true;
    }
    return listing->address && mapping->start <= listing->address && listing->address <= mapping->limit;
}

static int compare_placed(const void *left, const void *right) {
    const struct placed_node *a = left, *b = right;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return (a->node->index > b->node->index) - (a->node->index < b->node->index);
}

/* The nodes of a file, whichever of its mappings they are in, by address. */
static struct placed_node *place_nodes(struct listing *listing, uint32_t mapping, size_t *count) {
    const struct profile *profile = listing->report->profile;
    struct placed_node *placed = xcalloc(listing->graph.node_count + 1, sizeof *placed);
    *count = 0;
    for (size_t i = 0; i < listing->graph.node_count; i++) {
        const struct graph_node *node = listing->graph.nodes[i];
        if (node->info.object != profile->mappings[mapping].file) continue;
        for (uint32_t at = 0; at < profile->mapping_count; at++) {
            if (!code_is_one_file(profile, at, mapping)) continue;
            if (!code_address(&listing->code, at, node->info.address, &placed[*count].address)) continue;
            placed[(*count)++].node = node;
            break;
        }
    }
    if (*count) qsort(placed, *count, sizeof *placed, compare_placed);
    return placed;
}

static void add_routine(struct listing *listing, const struct code_symbol *symbol, const char *path,
                        const struct placed_node *placed, size_t count) {
    size_t first = 0, last;
    while (first < count && placed[first].address < symbol->start)
        first++;
    for (last = first; last < count && placed[last].address < symbol->end; last++)
        continue;
    if (first == last) return;
    listing->routines = xrealloc(listing->routines, (listing->count + 1) * sizeof *listing->routines);
    listing->routines[listing->count++] = (struct routine){*symbol, path, placed + first, last - first};
}

static void find_routines_of(struct listing *listing, uint32_t mapping) {
    struct binary *binary = code_binary(&listing->code, mapping);
    size_t symbol_count, placed_count;
    if (!binary) return;
    struct code_symbol *symbols =
        code_symbols_find(binary, listing->pattern, listing->address, &listing->code.arena, &symbol_count);
    struct placed_node *placed = place_nodes(listing, mapping, &placed_count);
    listing->placed = xrealloc(listing->placed, (listing->file_count + 1) * sizeof *listing->placed);
    listing->placed[listing->file_count++] = placed;
    for (size_t i = 0; i < symbol_count; i++)
        add_routine(listing, &symbols[i], binary_path(binary), placed, placed_count);
    free(symbols);
}

static int compare_routines(const void *left, const void *right) {
    const struct code_symbol *a = &((const struct routine *)left)->symbol,
                             *b = &((const struct routine *)right)->symbol;
    int order = strcmp(a->names[0], b->names[0]);
    return order ? order : (a->start > b->start) - (a->start < b->start);
}

static void find_routines(struct listing *listing) {
    const struct profile *profile = listing->report->profile;
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        bool is_done = false;
        for (uint32_t before = 0; before < i && !is_done; before++)
            is_done = listing->code.binaries[before].tried && code_is_one_file(profile, before, i);
        if (!is_done && is_wanted(listing, &profile->mappings[i])) find_routines_of(listing, i);
    }
    if (listing->count) qsort(listing->routines, listing->count, sizeof *listing->routines, compare_routines);
}

/* ---- instructions ---- */

/* An instruction with what was sampled from it up to the next one. */
struct code_row {
    const struct instruction *code;
    int64_t flat, flat_div, cum, cum_div;
    const char *function, *file; /* "" unknown */
    int64_t line;
};

static void add_node(struct code_row *row, const struct graph_node *node, bool *overflows) {
    sum_add(&row->flat, node->flat, overflows);
    sum_add(&row->flat_div, node->flat_div, overflows);
    sum_add(&row->cum, node->cum, overflows);
    sum_add(&row->cum_div, node->cum_div, overflows);
    if (!*row->file && *node->info.file) row->file = path_base(node->info.file);
    if (!row->line) row->line = node->info.line;
    if (!*row->function) row->function = node->info.name;
}

static struct code_row *annotate(const struct instructions *code, const struct routine *routine, bool *overflows) {
    struct code_row *rows = xcalloc(code->count + 1, sizeof *rows);
    size_t at = 0;
    for (size_t i = 0; i < code->count; i++) {
        const struct instruction *each = &code->items[i];
        uint64_t next = i + 1 < code->count ? each[1].address : UINT64_MAX;
        rows[i] = (struct code_row){.code = each, .function = each->function, .line = each->line};
        rows[i].file = *each->file ? path_base(each->file) : "";
        for (; at < routine->count && routine->placed[at].address < next; at++)
            add_node(&rows[i], routine->placed[at].node, overflows);
    }
    return rows;
}

static int64_t mean(int64_t value, int64_t divisor) {
    return divisor ? value / divisor : value;
}

static bool is_same_place(const struct code_row *a, const struct code_row *b) {
    return strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0 && a->line == b->line;
}

static void add_place(const struct code_row *row, struct buffer *out) {
    if (*row->function) buffer_printf(out, "%s ", row->function);
    buffer_add_text(out, row->file);
    if (*row->file && row->line) buffer_printf(out, ":%lld", (long long)row->line);
}

/* The place behind a short instruction, or on a line of its own before a long one, where it is not that of the row before. */
static void add_row(const struct report *report, const struct code_row *row, const struct code_row *before,
                    struct buffer *out) {
    enum { SHORT = 40, INDENT = 74 };
    struct buffer place = {0};
    size_t size = strlen(row->code->text);
    if (!is_same_place(row, before)) add_place(row, &place);
    if (place.size && size >= SHORT) buffer_printf(out, "%*s;%s\n", INDENT, "", place.data);
    report_add_value_or_dot(report, out, mean(row->flat, row->flat_div));
    buffer_add_char(out, ' ');
    report_add_value_or_dot(report, out, mean(row->cum, row->cum_div));
    buffer_printf(out, " %10llx: %s", (unsigned long long)row->code->address, row->code->text);
    if (place.size && size < SHORT)
        buffer_printf(out, "%*s;%s", SHORT - (int)utf8_count(row->code->text), "", place.data);
    buffer_add_char(out, '\n');
    buffer_free(&place);
}

static void add_heading(struct report *report, const struct routine *routine, struct buffer *out) {
    int64_t flat = 0, cum = 0;
    for (size_t i = 0; i < routine->count; i++) {
        sum_add(&flat, routine->placed[i].node->flat, &report->overflows);
        sum_add(&cum, routine->placed[i].node->cum, &report->overflows);
    }
    buffer_printf(out, "ROUTINE ======================== %s\n", routine->symbol.names[0]);
    for (size_t i = 1; i < routine->symbol.name_count; i++)
        buffer_printf(out, "    AKA ======================== %s\n", routine->symbol.names[i]);
    report_add_padded_value(report, out, flat, 10);
    buffer_add_char(out, ' ');
    report_add_padded_value(report, out, cum, 10);
    buffer_printf(out, " (flat, cum) %s of Total\n", scale_percentage(cum, report->total).text);
}

static int add_routine_code(struct listing *listing, const struct routine *routine, struct buffer *out,
                            struct error *err) {
    static const struct code_row nowhere = {.function = "", .file = ""};
    struct instructions code;
    if (objdump_disassemble(&listing->code.tools, routine->path, routine->symbol.start, routine->symbol.end,
                            &listing->code.arena, &code, err) < 0)
        return -1;
    struct code_row *rows = annotate(&code, routine, &listing->report->overflows);
    add_heading(listing->report, routine, out);
    for (size_t i = 0; i < code.count; i++)
        add_row(listing->report, &rows[i], i ? &rows[i - 1] : &nowhere, out);
    free(rows);
    free(code.items);
    return 0;
}

/* ---- the report ---- */

static int add_routines(struct listing *listing, struct buffer *out, struct error *err) {
    if (listing->count == 0)
        return error_fail(err, "no matches found for regexp: %s%s", listing->report->options.symbol,
                          report_elsewhere(listing->report).text);
    buffer_add_text(out, "Total: ");
    report_add_value(listing->report, out, listing->report->total);
    buffer_add_char(out, '\n');
    for (size_t i = 0; i < listing->count; i++)
        if (add_routine_code(listing, &listing->routines[i], out, err) < 0) return -1;
    return 0;
}

int report_disasm(struct report *report, struct buffer *out, struct error *err) {
    struct listing listing = {.report = report};
    struct graph_options options;
    listing.pattern = pattern_compile("disasm", report->options.symbol, err);
    if (!listing.pattern) return -1;
    if (!code_parse_address(report->options.symbol, &listing.address)) listing.address = 0;
    report_open_code(report, &listing.code);
    report_prepare_graph(report);
    report_graph_options(report, &options);
    options.edges = false;
    graph_build(&listing.graph, report->profile, &options);
    int code = objdump_check(&listing.code.tools, err);
    if (code == 0) {
        find_routines(&listing);
        code = add_routines(&listing, out, err);
    }
    graph_free(&listing.graph);
    for (size_t i = 0; i < listing.file_count; i++)
        free(listing.placed[i]);
    free(listing.placed);
    free(listing.routines);
    code_close(&listing.code);
    pattern_free(listing.pattern);
    return code;
}
