/* listing.c: source lines with their figures for programs, as JSON: `source` has the figures of list, `code` those of weblist, with the
 * instructions of each line. Values are in the profile's own unit.
 *   {"type", "unit", "total", "functions": [{"name", "file", "flat", "cum", "error": why there is no source,
 *    "lines": [{"line", "flat", "cum", "text", "instructions": [{"address", "flat", "cum", "text", "inlined": if calls were, the outermost first
 *     [{"function", "file", "line"}]}]}]}], "left_out": places without code} */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/sum.h"
#include "query/code/machine_code.h"
#include "query/code/source_files.h"
#include "query/report/line_code.h"
#include "query/report/list_nodes.h"

enum { MARGIN = 5, APART = 20 /* as in weblist: lines between two parts of a function */ };

struct code_listing {
    struct report *report;
    struct buffer *out;
    bool any_function, any_line;
};

static void start(struct code_listing *listing) {
    buffer_add_char(listing->out, '{');
    buffer_add_json_field(listing->out, "type", listing->report->type_name);
    buffer_add_char(listing->out, ',');
    buffer_add_json_field(listing->out, "unit", listing->report->sample_unit);
    buffer_printf(listing->out, ",\"total\":%" PRId64 ",\n\"functions\":[", listing->report->total);
}

static void start_function(struct code_listing *listing, const char *name, const char *file, int64_t flat,
                           int64_t cum) {
    buffer_add_text(listing->out, listing->any_function ? ",\n{" : "\n{");
    buffer_add_json_field(listing->out, "name", name);
    buffer_add_char(listing->out, ',');
    buffer_add_json_field(listing->out, "file", file);
    buffer_printf(listing->out, ",\"flat\":%" PRId64 ",\"cum\":%" PRId64, flat, cum);
    listing->any_function = true;
    listing->any_line = false;
}

/* The source of what start_function began: an empty file, and the reason in the answer, where there is none. */
static void open_source(struct code_listing *listing, struct source_file *file, const char *path) {
    char *why = NULL;
    if (report_open_source(listing->report, file, path, &why)) {
        buffer_add_char(listing->out, ',');
        buffer_add_json_field(listing->out, "error", why ? why : "no source");
    }
    free(why);
    buffer_add_text(listing->out, ",\"lines\":[");
}

/* The caller adds what else the line has, and the brace. */
static void start_line(struct code_listing *listing, const struct source_file *file, int64_t line, int64_t flat,
                       int64_t cum) {
    bool is_there = line >= 1 && line <= (int64_t)file->count;
    buffer_printf(listing->out, "%s\n{\"line\":%" PRId64 ",\"flat\":%" PRId64 ",\"cum\":%" PRId64 ",",
                  listing->any_line ? "," : "", line, flat, cum);
    buffer_add_json_field(listing->out, "text", is_there ? file->lines[line - 1] : "");
    listing->any_line = true;
}

/* ---- source ---- */

static int add_function(void *context, struct graph_node **nodes, size_t count, bool is_only, struct error *err) {
    struct code_listing *listing = context;
    const struct graph_info *info = &nodes[0]->info;
    struct source_file file = {0};
    int64_t flat, cum, first, last;
    (void)is_only;
    list_sum(listing->report, nodes, count, 0, &flat, &cum);
    list_lines(nodes, count, &first, &last);
    start_function(listing, info->name, info->file, flat, cum);
    open_source(listing, &file, info->file);
    for (int64_t line = first; line <= last && (line <= (int64_t)file.count || !file.count); line++) {
        list_sum(listing->report, nodes, count, line, &flat, &cum);
        if (!file.count && !flat && !cum) continue;
        start_line(listing, &file, line, flat, cum);
        buffer_add_char(listing->out, '}');
    }
    buffer_add_text(listing->out, "]}");
    source_close(&file);
    return report_check_size(listing->out, err);
}

int report_source(struct report *report, struct buffer *out, struct error *err) {
    struct code_listing listing = {.report = report, .out = out};
    start(&listing);
    int64_t found = list_each_function(report, add_function, &listing, err);
    buffer_add_text(out, "]}\n");
    if (found == 0)
        error_usage(err, "no function matches '%s'%s", report->options.symbol, report_elsewhere(report).text);
    return found > 0 ? 0 : -1;
}

/* ---- code ---- */

static const struct code_point *point_at(const struct line_code *lines, size_t entry) {
    return &lines->points[lines->entries[entry].point];
}

static void sum_entries(struct line_code *lines, size_t first, size_t end, int64_t *flat, int64_t *cum) {
    *flat = *cum = 0;
    for (size_t i = first; i < end; i++) {
        sum_add(flat, point_at(lines, i)->flat, &lines->overflows);
        sum_add(cum, point_at(lines, i)->cum, &lines->overflows);
    }
}

/* What was inlined at the line is kept innermost first. */
static void add_inlined(struct code_listing *listing, const struct line_code *lines, const struct line_entry *entry) {
    buffer_add_text(listing->out, ",\"inlined\":[");
    for (size_t i = entry->callee_count; i-- > 0;) {
        const struct code_frame *call = &entry->callees[i];
        char *demangled = demangle_name(call->function, 0); /* without parameters */
        buffer_add_char(listing->out, '{');
        buffer_add_json_field(listing->out, "function",
                              demangled ? demangled : line_code_readable(lines, call->function));
        free(demangled);
        buffer_add_char(listing->out, ',');
        buffer_add_json_field(listing->out, "file", call->file);
        buffer_printf(listing->out, ",\"line\":%" PRId64 "}%s", call->line, i ? "," : "");
    }
    buffer_add_char(listing->out, ']');
}

static void add_instructions(struct code_listing *listing, const struct line_code *lines, size_t first, size_t end) {
    bool any = false;
    buffer_add_text(listing->out, ",\"instructions\":[");
    for (size_t i = first; i < end; i++) {
        const struct code_point *point = point_at(lines, i);
        if (!*point->text) continue;
        buffer_printf(listing->out, "%s{\"address\":\"%" PRIx64 "\",\"flat\":%" PRId64 ",\"cum\":%" PRId64 ",",
                      any ? "," : "", point->in_file, point->flat, point->cum);
        buffer_add_json_field(listing->out, "text", point->text);
        if (lines->entries[i].callee_count) add_inlined(listing, lines, &lines->entries[i]);
        buffer_add_char(listing->out, '}');
        any = true;
    }
    buffer_add_char(listing->out, ']');
}

/* The entries from `first` that are one part of a function: with less than APART lines between two of them. */
static size_t end_of_part(const struct line_code *lines, size_t first) {
    const struct line_entry *entries = lines->entries;
    const char *name = line_code_readable(lines, entries[first].function);
    size_t end = first + 1;
    while (end < lines->entry_count && entries[end].path == entries[first].path &&
           entries[end].line - entries[end - 1].line < APART &&
           strcmp(line_code_readable(lines, entries[end].function), name) == 0)
        end++;
    return end;
}

static void add_part(struct code_listing *listing, struct line_code *lines, size_t first, size_t end) {
    const struct line_entry *entries = lines->entries;
    struct source_file file = {0};
    int64_t flat, cum, line = entries[first].line > MARGIN ? entries[first].line - MARGIN : 1;
    int64_t last = entries[end - 1].line + MARGIN;
    sum_entries(lines, first, end, &flat, &cum);
    start_function(listing, line_code_readable(lines, entries[first].function), entries[first].path, flat, cum);
    open_source(listing, &file, entries[first].path);
    for (size_t at = first, next; line <= last || at < end; line++, at = next) {
        if (at < end && entries[at].line < line) line = entries[at].line; /* line 0: not known */
        for (next = at; next < end && entries[next].line == line; next++)
            continue;
        if (next == at && line > (int64_t)file.count) continue;
        sum_entries(lines, at, next, &flat, &cum);
        start_line(listing, &file, line, flat, cum);
        add_instructions(listing, lines, at, next);
        buffer_add_char(listing->out, '}');
    }
    buffer_add_text(listing->out, "]}");
    source_close(&file);
}

static int add_parts(struct code_listing *listing, struct line_code *lines, struct error *err) {
    int code = 0;
    for (size_t first = 0, end; first < lines->entry_count && code == 0; first = end) {
        int64_t flat, cum;
        end = end_of_part(lines, first);
        sum_entries(lines, first, end, &flat, &cum);
        if (cum) add_part(listing, lines, first, end);
        code = report_check_size(listing->out, err);
    }
    return code;
}

int report_code(struct report *report, struct buffer *out, struct error *err) {
    struct code_listing listing = {.report = report, .out = out};
    struct line_code lines = {0};
    struct code machine;
    struct pattern *pattern = pattern_compile("code", report->options.symbol, err);
    if (!pattern) return -1;
    report_open_code(report, &machine);
    int code = line_code_find(&lines, report, &machine, pattern, err);
    if (code == 1) code = error_usage(err, "no function matches '%s'", report->options.symbol);
    start(&listing);
    if (code == 0) code = add_parts(&listing, &lines, err);
    buffer_printf(out, "],\"left_out\":%zu}\n", lines.left_out);
    report->overflows |= lines.overflows;
    line_code_free(&lines);
    code_close(&machine);
    pattern_free(pattern);
    return code;
}
