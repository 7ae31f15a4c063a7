/* The plain list with a column for each value of a tag: --by-tag. A profile with a value for each column, and one for the sum, is
 * made of the runs; from there on it is one report. */
#include <stdlib.h>
#include <string.h>

#include "query/compare.h"
#include "query/grid.h"
#include "query/report_runs.h"
#include "query/scale.h"

enum { NAME_WIDTH = 16 }; /* a hash of a commit is told apart by fewer characters than it has */

enum column_role { COLUMN_VALUE, COLUMN_NONE, COLUMN_OTHER };

struct column {
    enum column_role role;
    const char *value; /* of the tag; of the others "(none)", "(other)" */
    struct run_list runs;
    size_t values;      /* how many values of the tag it stands for */
    int64_t started_ns; /* of its oldest run */
    int64_t total;
};

struct by_tag {
    const struct report_runs *runs;
    const char *key;
    const char *type; /* of gather_profile */
    bool of_labels;   /* of the samples, and not tags of the runs */
    size_t most;      /* columns, but for the last two */
    struct column *columns;
    size_t count, value_count; /* all values that there are */
    struct arena texts;
    struct report report;
    struct profile
        *profile; /* with `width` values for the sum, then for each column: the value, and the divisor of a mean */
    size_t width;
    bool is_wide;
};

static struct column *add_column(struct by_tag *by, enum column_role role, const char *value) {
    by->columns = xrealloc(by->columns, (by->count + 1) * sizeof *by->columns);
    by->columns[by->count] = (struct column){
        .role = role, .value = arena_text(&by->texts, value, strlen(value)), .values = 1, .started_ns = INT64_MAX};
    return &by->columns[by->count++];
}

static struct column *column_of(struct by_tag *by, enum column_role role, const char *value) {
    for (size_t i = 0; i < by->count; i++)
        if (by->columns[i].role == role && strcmp(by->columns[i].value, value) == 0) return &by->columns[i];
    return add_column(by, role, value);
}

static struct column *none_column(struct by_tag *by) {
    return column_of(by, COLUMN_NONE, "(none)");
}

/* ---- tags of runs ---- */

static int add_tagged_run(struct by_tag *by, const struct run_item *run, struct error *err) {
    sqlite3_stmt *row = db_prepare(run->db,
                                   "SELECT started_ns, value FROM runs"
                                   " LEFT JOIN tags ON tags.run_id = runs.id AND tags.key = :key WHERE runs.id = :run",
                                   err);
    if (!row) return -1;
    db_bind_text(row, ":key", by->key);
    db_bind_int(row, ":run", run->id);
    if (db_step(run->db, row, err) < 0) return -1;
    bool has = sqlite3_column_type(row, 1) != SQLITE_NULL;
    struct column *column = has ? column_of(by, COLUMN_VALUE, db_text(row, 1)) : none_column(by);
    if (sqlite3_column_int64(row, 0) < column->started_ns) column->started_ns = sqlite3_column_int64(row, 0);
    run_list_add(&column->runs, run->db, run->id);
    sqlite3_reset(row);
    return 0;
}

/* Oldest first; what has no value comes last. */
static int by_start(const void *left, const void *right) {
    const struct column *a = left, *b = right;
    if (a->role != b->role) return a->role < b->role ? -1 : 1;
    if (a->started_ns != b->started_ns) return a->started_ns < b->started_ns ? -1 : 1;
    return strcmp(a->value, b->value);
}

/* The columns from `first` on, `count` of them, become one, which is the last but for (none). */
static void fold_columns(struct by_tag *by, size_t first, size_t count) {
    struct column other = {.role = COLUMN_OTHER, .value = "(other)"}, none = {0};
    bool has_none = by->count && by->columns[by->count - 1].role == COLUMN_NONE;
    if (count == 0) return;
    for (size_t i = first; i < first + count; i++) {
        for (size_t run = 0; run < by->columns[i].runs.count; run++)
            run_list_add(&other.runs, by->columns[i].runs.items[run].db, by->columns[i].runs.items[run].id);
        run_list_free(&by->columns[i].runs);
        other.values++;
        other.total = (int64_t)((uint64_t)other.total + (uint64_t)by->columns[i].total);
    }
    memmove(by->columns + first, by->columns + first + count, (by->count - first - count) * sizeof *by->columns);
    by->count -= count;
    if (has_none) none = by->columns[--by->count];
    by->columns[by->count++] = other; /* at least one went: there is room */
    if (has_none) by->columns[by->count++] = none;
}

static size_t count_values(const struct by_tag *by) {
    size_t count = 0;
    for (size_t i = 0; i < by->count; i++)
        count += by->columns[i].role == COLUMN_VALUE;
    return count;
}

/* 1: some run has the tag. */
static int find_tags(struct by_tag *by, struct error *err) {
    for (size_t i = 0; i < by->runs->runs->count; i++)
        if (add_tagged_run(by, &by->runs->runs->items[i], err) < 0) return -1;
    by->value_count = count_values(by);
    qsort(by->columns, by->count, sizeof *by->columns, by_start);
    if (by->value_count > by->most) fold_columns(by, 0, by->value_count - by->most);
    return by->value_count > 0;
}

/* ---- a value for each column ---- */

/* Of each sample what is shown of it, for the sum and, where `column` is not SIZE_MAX, that column; `columns` for each
 * sample otherwise. */
static void widen(struct by_tag *by, struct profile *profile, size_t type, size_t mean_type, size_t column,
                  const size_t *columns) {
    size_t old = profile->type_count, width = by->width, count = (by->count + 1) * width;
    struct profile_type *types = xcalloc(count + 1, sizeof *types);
    int64_t *values = xcalloc(profile->sample_count * count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        types[i] = profile->types[i % width == 0 ? type : mean_type];
    for (size_t i = 0; i < profile->sample_count; i++) {
        const int64_t *from = profile->values + i * old;
        size_t at = (1 + (columns ? columns[i] : column)) * width;
        int64_t *to = values + i * count;
        to[0] = to[at] = from[type];
        if (width > 1) to[1] = to[at + 1] = from[mean_type];
    }
    free(profile->types);
    free(profile->values);
    profile->types = types;
    profile->values = values;
    profile->type_count = count;
    profile->room.values = profile->sample_count * count;
}

/* Which value is shown is asked of each part: its types may stand in another order. */
static int load_column(struct by_tag *by, size_t column, struct profile *profile, struct error *err) {
    struct report part = {.profile = profile, .format = by->report.format, .options = by->report.options};
    if (gather_profile(profile, &by->columns[column].runs, by->runs->kind, by->type, err) < 0) return -1;
    int code = report_choose_values(&part, err);
    if (code == 0) widen(by, profile, part.type, part.mean_type, column, NULL);
    if (code == 0 && !by->report.type_name) {
        by->report.type_name = part.type_name;
        part.type_name = NULL;
    }
    report_free(&part);
    if (code < 0) profile_free(profile);
    return code;
}

static int join_columns(struct by_tag *by, struct error *err) {
    for (size_t i = 0; i < by->count; i++) {
        struct profile more;
        if (load_column(by, i, i ? &more : by->profile, err) < 0) return -1;
        by->is_wide = true;
        if (i == 0) continue;
        int code = compare_add(by->profile, &more, err);
        profile_free(&more);
        if (code < 0) return -1;
    }
    return 0;
}

/* ---- labels of samples ---- */

static const char *label_value(struct by_tag *by, const struct profile_labels *set) {
    const struct profile *profile = by->profile;
    for (size_t i = set->first; i < (size_t)set->first + set->count; i++) {
        const struct profile_label *label = &profile->labels[i];
        if (strcmp(label->key, by->key) != 0) continue;
        if (label->text) return label->text;
        struct buffer text = {0};
        scale_label(&text, label->number, filter_units_of(&by->report.units, label->key), "auto");
        const char *kept = arena_text(&by->texts, buffer_text(&text), text.size);
        buffer_free(&text);
        return kept;
    }
    return NULL;
}

static int by_total(const void *left, const void *right) {
    const struct column *a = left, *b = right;
    uint64_t size_a = a->total < 0 ? -(uint64_t)a->total : (uint64_t)a->total;
    uint64_t size_b = b->total < 0 ? -(uint64_t)b->total : (uint64_t)b->total;
    if (a->role != b->role) return a->role < b->role ? -1 : 1;
    if (size_a != size_b) return size_a > size_b ? -1 : 1;
    return strcmp(a->value, b->value);
}

/* The largest become columns. `values`: of each sample, NULL for none. */
static void choose_labels(struct by_tag *by, const char **values) {
    for (size_t i = 0; i < by->profile->sample_count; i++) {
        struct column *column = values[i] ? column_of(by, COLUMN_VALUE, values[i]) : none_column(by);
        column->total += profile_value(by->profile, i, by->report.type);
    }
    by->value_count = count_values(by);
    qsort(by->columns, by->count, sizeof *by->columns, by_total);
    if (by->value_count > by->most) fold_columns(by, by->most, by->value_count - by->most);
}

static size_t find_column(const struct by_tag *by, const char *value) {
    for (size_t i = 0; i < by->count; i++) {
        const struct column *column = &by->columns[i];
        if (value ? column->role == COLUMN_OTHER : column->role == COLUMN_NONE) return i;
        if (value && column->role == COLUMN_VALUE && strcmp(column->value, value) == 0) return i;
    }
    bug("a value without a column");
}

static void split_samples(struct by_tag *by, const char **set_values) {
    struct profile *profile = by->profile;
    const char **values = xcalloc(profile->sample_count + 1, sizeof *values);
    size_t *columns = xcalloc(profile->sample_count + 1, sizeof *columns);
    for (size_t i = 0; i < profile->sample_count; i++)
        values[i] = set_values[profile->samples[i].labels];
    choose_labels(by, values);
    for (size_t i = 0; i < profile->sample_count; i++)
        columns[i] = find_column(by, values[i]);
    widen(by, profile, by->report.type, by->report.mean_type, SIZE_MAX, columns);
    by->report.type = 0;
    by->report.mean_type = by->width > 1 ? 1 : PROFILE_NONE;
    free(values);
    free(columns);
}

/* ---- the report ---- */

static int no_such_tag(const struct by_tag *by, struct error *err) {
    return error_usage(
        err, "by_tag=%s: no run has such a tag, and no sample such a label (clear report tags lists labels)", by->key);
}

/* Filters see the labels of the samples, so the values are read before and the samples split after them. */
static int prepare_labels(struct by_tag *by, filter_note *note, void *context, struct error *err) {
    struct report *report = &by->report;
    if (gather_profile(by->profile, by->runs->runs, by->runs->kind, by->type, err) < 0) return -1;
    by->is_wide = true;
    if (report_finish_profile(by->profile, by->runs->overrides, err) < 0 || report_choose_values(report, err) < 0)
        return -1;
    const char **values = xcalloc(by->profile->label_set_count + 1, sizeof *values);
    bool any = false;
    filter_units_find(&report->units, by->profile, NULL, NULL);
    for (size_t i = 0; i < by->profile->label_set_count; i++)
        any |= (values[i] = label_value(by, &by->profile->label_sets[i])) != NULL;
    filter_units_free(&report->units);
    int code = any ? report_narrow(report, note, context, err) : no_such_tag(by, err);
    if (code == 0) split_samples(by, values);
    free(values);
    return code;
}

static int prepare_runs(struct by_tag *by, filter_note *note, void *context, struct error *err) {
    struct report *report = &by->report;
    if (join_columns(by, err) < 0) return -1;
    report->sample_unit = by->profile->types[0].unit;
    report->ratio = 1 / report->options.divide_by;
    if (report_finish_profile(by->profile, by->runs->overrides, err) < 0) return -1;
    report->type = 0;
    report->mean_type = by->width > 1 ? 1 : PROFILE_NONE;
    return report_narrow(report, note, context, err);
}

static void add_totals(struct by_tag *by) {
    struct report part = by->report;
    for (size_t i = 0; i < by->count; i++) {
        part.type = (i + 1) * by->width;
        part.mean_type = by->width > 1 ? part.type + 1 : PROFILE_NONE;
        by->columns[i].total = report_total(&part);
    }
}

/* ---- the table ---- */

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

static void add_json_column(const struct by_tag *by, const struct column *column, struct buffer *out) {
    static const char *const roles[] = {"value", "none", "other"};
    buffer_printf(out, "{\"role\":\"%s\",\"value\":", roles[column->role]);
    if (column->role == COLUMN_VALUE)
        buffer_add_json_string(out, column->value, strlen(column->value));
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
    buffer_add_text(out, "{\"type\":");
    buffer_add_json_string(out, by->report.type_name, strlen(by->report.type_name));
    buffer_add_text(out, ",\"unit\":");
    buffer_add_json_string(out, by->report.sample_unit, strlen(by->report.sample_unit));
    buffer_printf(out, ",\"of\":\"%s\",\"key\":", by->of_labels ? "samples" : "runs");
    buffer_add_json_string(out, by->key, strlen(by->key));
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
    buffer_printf(out, "],\n\"original_nodes\":%zu,\"dropped_nodes\":%zu}\n", table->trimmed.original_count,
                  table->trimmed.dropped_nodes);
}

/* ---- all of it ---- */

static void write_table(struct by_tag *by, struct buffer *out) {
    struct table table;
    add_totals(by);
    fill_table(by, &table);
    if (by->report.format->write == report_json)
        write_json(by, &table, out);
    else
        write_text(by, &table, out);
    free_table(&table);
}

int report_by_tag(const struct report_runs *runs, const struct report_format *format,
                  const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                  struct error *err) {
    struct profile profile;
    struct by_tag by = {.runs = runs,
                        .key = options->by_tag,
                        .type = report_is_of_one_type(format, options) ? options->sample_index : NULL,
                        .most = (size_t)options->columns,
                        .profile = &profile,
                        .width = options->mean ? 2 : 1,
                        .report = {.profile = &profile, .format = format, .options = *options}};
    int code = find_tags(&by, err);
    if (code == 0) {
        for (size_t i = 0; i < by.count; i++)
            run_list_free(&by.columns[i].runs);
        by.count = 0;
        by.of_labels = true;
    }
    if (code >= 0) code = (by.of_labels ? prepare_labels : prepare_runs)(&by, note, context, err);
    if (code == 0) write_table(&by, out);
    for (size_t i = 0; i < by.count; i++)
        run_list_free(&by.columns[i].runs);
    free(by.columns);
    arena_free(&by.texts);
    report_free(&by.report);
    if (by.is_wide) profile_free(&profile);
    return code;
}
