/* The table of --by-tag: flat and cumulative values of each node, by column. */
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "query/profile/scale.h"
#include "query/report/by_tag.h"

enum { NAME_WIDTH = 16 }; /* a hash of a commit is told apart by fewer characters than it has */

struct table {
    struct graph graph;
    struct graph_trimmed trimmed;
    int64_t *flat, *cum; /* [node * columns + column] */
};

static void fill_table(struct by_tag *by, struct table *table) {
    struct report *report = &by->report;
    report_build_graph(report, &table->graph, &table->trimmed);
    size_t cells = table->graph.node_count * by->count;
    table->flat = xcalloc(cells + 1, sizeof *table->flat);
    table->cum = xcalloc(cells + 1, sizeof *table->cum);
    for (size_t column = 0; column < by->count; column++) {
        struct graph graph;
        struct graph_options options;
        report_graph_options(report, &options);
        options.type = (column + 1) * by->width;
        options.mean_type = by->width > 1 ? options.type + 1 : PROFILE_NONE;
        options.edges = false;
        graph_build(&graph, by->profile, &options);
        for (size_t i = 0; i < table->graph.node_count; i++) {
            const struct graph_node *node = graph_find(&graph, &table->graph.nodes[i]->info);
            if (!node) continue;
            table->flat[i * by->count + column] = graph_flat(node);
            table->cum[i * by->count + column] = graph_cum(node);
        }
        graph_free(&graph);
    }
}

static void free_table(struct table *table) {
    graph_free(&table->graph);
    free(table->flat);
    free(table->cum);
}

/* Names that are cut must still tell columns apart. */
static bool may_cut(const struct by_tag *by) {
    for (size_t i = 0; i < by->count; i++)
        for (size_t j = 0; j < i; j++) {
            const char *a = by->columns[i].value, *b = by->columns[j].value;
            if (strncmp(a, b, NAME_WIDTH - 3) == 0) return false;
        }
    return true;
}

static void column_name(const struct by_tag *by, size_t column, struct buffer *name) {
    buffer_clear(name);
    grid_visible(name, by->columns[column].value, may_cut(by) ? NAME_WIDTH : INT32_MAX);
}

static void write_columns_note(const struct by_tag *by, struct buffer *out) {
    buffer_printf(out, "Columns: %s by %s %s of %zu run%s\n", by->report.options.cum ? "cum" : "flat",
                  by->of_labels ? "label" : "tag", by->key, by->runs->runs->count,
                  by->runs->runs->count == 1 ? "" : "s");
    if (by->value_count <= by->most) return;
    buffer_printf(out, "Showing the %s %zu of %zu values of %s; the other %zu are in (other), see --columns\n",
                  by->of_labels ? "largest" : "newest", by->most, by->value_count, by->key, by->value_count - by->most);
}

static void write_cells(const struct by_tag *by, const size_t *widths, const int64_t *values, int64_t total,
                        struct buffer *out) {
    for (size_t i = 0; i < by->count; i++) {
        report_add_padded_value(&by->report, out, values ? values[i] : by->columns[i].total, widths[i]);
        buffer_add_char(out, ' ');
    }
    report_add_padded_value(&by->report, out, total, 10);
    buffer_printf(out, " %s ", scale_percentage(total, by->report.total).text);
}

/* Columns as wide as their names, or as what is in them. */
static void find_widths(const struct by_tag *by, const struct table *table, size_t *widths) {
    struct buffer text = {0};
    const int64_t *values = by->report.options.cum ? table->cum : table->flat;
    for (size_t i = 0; i < by->count; i++) {
        column_name(by, i, &text);
        size_t width = (size_t)grid_width(buffer_text(&text), text.size);
        for (size_t row = 0; row <= table->graph.node_count; row++) {
            buffer_clear(&text);
            report_add_value(&by->report, &text, row ? values[(row - 1) * by->count + i] : by->columns[i].total);
            if (text.size > width) width = text.size;
        }
        widths[i] = width < 10 ? 10 : width;
    }
    buffer_free(&text);
}

static void write_text(struct by_tag *by, struct table *table, struct buffer *out) {
    struct report *report = &by->report;
    struct graph *graph = &table->graph;
    bool cum = report->options.cum;
    size_t *widths = xcalloc(by->count + 1, sizeof *widths);
    struct buffer name = {0};
    int64_t sum = 0;
    find_widths(by, table, widths);
    report_add_labels(report, graph, &table->trimmed, false, out);
    write_columns_note(by, out);
    for (size_t i = 0; i < by->count; i++) {
        column_name(by, i, &name);
        for (size_t pad = (size_t)grid_width(buffer_text(&name), name.size); pad < widths[i]; pad++)
            buffer_add_char(out, ' ');
        buffer_printf(out, "%s ", buffer_text(&name));
    }
    buffer_printf(out, "%10s %5s%% %5s%%\n", "total", "total", "sum");
    write_cells(by, widths, NULL, report_total(report), out);
    buffer_printf(out, "%6s  (all)\n", "");
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = graph->nodes[i];
        sum = (int64_t)((uint64_t)sum + (uint64_t)graph_flat(node));
        write_cells(by, widths, (cum ? table->cum : table->flat) + i * by->count,
                    cum ? graph_cum(node) : graph_flat(node), out);
        buffer_printf(out, "%s  %s%s\n", scale_percentage(sum, report->total).text, graph_name(graph, graph->nodes[i]),
                      report_inline_note(node));
    }
    buffer_free(&name);
    free(widths);
}

/* ---- JSON ---- */

static void add_json_column(const struct by_tag *by, const struct tag_column *column, struct buffer *out) {
    static const char *const roles[] = {"value", "none", "other"};
    buffer_printf(out, "{\"role\":\"%s\",\"value\":", roles[column->role]);
    if (column->role == COLUMN_VALUE)
        buffer_add_json_text(out, column->value);
    else
        buffer_add_text(out, "null");
    if (column->role == COLUMN_OTHER) buffer_printf(out, ",\"values\":%zu", column->values);
    if (!by->of_labels) buffer_printf(out, ",\"runs\":%zu", column->runs.count);
    buffer_printf(out, ",\"total\":%lld}", (long long)column->total);
}

static void add_json_cells(struct buffer *out, const char *key, const int64_t *values, size_t count, int64_t total) {
    buffer_printf(out, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "%s%lld", i ? "," : "", (long long)values[i]);
    buffer_printf(out, "],\"total_%s\":%lld", key, (long long)total);
}

static void write_json(struct by_tag *by, struct table *table, struct buffer *out) {
    struct graph *graph = &table->graph;
    buffer_add_char(out, '{');
    buffer_add_json_field(out, "type", by->report.type_name);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "unit", by->report.sample_unit);
    buffer_printf(out, ",\"of\":\"%s\",", by->of_labels ? "samples" : "runs");
    buffer_add_json_field(out, "key", by->key);
    buffer_printf(out, ",\"total\":%lld,\n\"columns\":[", (long long)by->report.total);
    for (size_t i = 0; i < by->count; i++) {
        buffer_add_text(out, i ? ",\n" : "\n");
        add_json_column(by, &by->columns[i], out);
    }
    buffer_add_text(out, "],\n\"nodes\":[");
    for (size_t i = 0; i < graph->node_count; i++) {
        struct graph_node *node = graph->nodes[i];
        buffer_add_text(out, i ? ",\n{" : "\n{");
        report_json_info(out, graph_name(graph, node), &node->info);
        add_json_cells(out, "flat", table->flat + i * by->count, by->count, graph_flat(node));
        add_json_cells(out, "cum", table->cum + i * by->count, by->count, graph_cum(node));
        buffer_add_char(out, '}');
    }
    report_json_end(&by->report, out, table->trimmed.original_count, table->trimmed.dropped_nodes);
}

void by_tag_write(struct by_tag *by, struct buffer *out) {
    struct table table;
    fill_table(by, &table);
    if (by->report.format->table == REPORT_TABLE_JSON)
        write_json(by, &table, out);
    else
        write_text(by, &table, out);
    free_table(&table);
}
