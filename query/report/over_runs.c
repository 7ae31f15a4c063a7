/* The plain list over many runs, one of them in memory at a time: --over-runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "query/profile/scale.h"
#include "query/report/report_runs.h"

/* A value over the runs that have it, by Welford: no sum of squares that would lose what is small beside what is large. */
struct spread {
    long double sum; /* exact up to 2^64 */
    double mean, m2; /* of the runs that have it */
    size_t count;
};

struct line {
    struct graph_info info; /* texts are `names`' */
    const char *name;
    struct spread flat, cum;
};

struct over_runs {
    const struct report_runs *runs;
    size_t run_count, lossy_runs;
    struct profile about; /* what the header says: no samples */
    struct map index;     /* info -> line */
    struct line **lines;
    size_t line_count, line_room, original_count, dropped_count;
    struct arena memory;
    struct spread total;
    struct report shown; /* the options as they are in force, units, `total` the mean; its profile is `about` */
    struct map notes;    /* message -> how many runs */
};

/* ---- values ---- */

static void add_value(struct spread *spread, double value) {
    double before = value - spread->mean;
    spread->sum += (long double)value;
    spread->mean += before / (double)++spread->count;
    spread->m2 += before * (value - spread->mean);
}

static double mean_of(const struct spread *spread, size_t runs) {
    return (double)(spread->sum / (long double)runs);
}

/* The runs that lack it are so many zeros: two sets of values, joined. NAN for one run. */
static double sd_of(const struct spread *spread, size_t runs) {
    double with = (double)spread->count, without = (double)(runs - spread->count);
    if (runs < 2) return NAN;
    return sqrt((spread->m2 + spread->mean * spread->mean * with * without / (double)runs) / (double)(runs - 1));
}

/* ---- a run ---- */

static struct line *line_of(struct over_runs *over, const struct graph_info *info) {
    struct graph_info key = *info;
    bool added;
    key.name = profile_text(&over->about, info->name);
    key.file = profile_text(&over->about, info->file);
    key.object = profile_text(&over->about, info->object);
    struct map_entry *entry = map_put(&over->index, &key, sizeof key, &added);
    if (!added) return (struct line *)(intptr_t)entry->value;
    struct line *line = arena_alloc(&over->memory, sizeof *line);
    *line = (struct line){.info = key};
    entry->value = (int64_t)(intptr_t)line;
    if (over->line_count == over->line_room) {
        over->line_room = over->line_room ? over->line_room * 2 : 256;
        over->lines = xrealloc(over->lines, over->line_room * sizeof(struct line *));
    }
    return over->lines[over->line_count++] = line;
}

static void add_graph(struct over_runs *over, struct report *report, double factor) {
    struct graph graph;
    struct graph_options options;
    report_prepare_graph(report);
    report_graph_options(report, &options);
    options.edges = false;
    graph_build(&graph, report->profile, &options);
    for (size_t i = 0; i < graph.node_count; i++) {
        const struct graph_node *node = graph.nodes[i];
        struct line *line = line_of(over, &node->info);
        add_value(&line->flat, (double)graph_flat(node) * factor);
        add_value(&line->cum, (double)graph_cum(node) * factor);
    }
    add_value(&over->total, (double)report->total * factor);
    graph_free(&graph);
}

/* Of the first run; of the others, only what they have in common with it is kept. */
static void add_binary(struct over_runs *over, const struct profile *profile) {
    struct profile *about = &over->about;
    const struct profile_mapping *binary = profile->mapping_count ? &profile->mappings[0] : NULL;
    const char *file = profile_text(about, binary ? binary->file : "");
    const char *build_id = profile_text(about, binary ? binary->build_id : "");
    if (about->mapping_count == 0)
        (void)profile_add_mapping(about, &(struct profile_mapping){.file = file, .build_id = build_id});
    if (about->mappings[0].file != file) about->mappings[0].file = profile_text(about, "");
    if (about->mappings[0].build_id != build_id) about->mappings[0].build_id = profile_text(about, "");
}

/* As pprof merges it: the first that there is. */
static void add_doc_url(struct over_runs *over, const struct profile *profile) {
    if (!over->about.doc_url || !*over->about.doc_url)
        over->about.doc_url = profile_text(&over->about, profile->doc_url);
}

static void add_head(struct over_runs *over, const struct profile *profile) {
    static const char lossy[] = "WARNING: ", sampled[] = "sampled: ";
    bool is_lossy = false;
    add_binary(over, profile);
    add_doc_url(over, profile);
    for (size_t i = 0; i < profile->comment_count; i++) {
        const char *comment = profile->comments[i];
        is_lossy |= strncmp(comment, lossy, strlen(lossy)) == 0;
        if (strncmp(comment, sampled, strlen(sampled)) == 0) profile_add_comment(&over->about, comment);
    }
    over->lossy_runs += is_lossy;
    if (over->about.period >= profile->period && over->about.period_type.unit) return;
    over->about.period = profile->period;
    over->about.period_type.unit = profile_text(&over->about, profile->period_type.unit);
}

/* What a run's values must be multiplied by to be in the unit of the first. */
static int join_types(struct over_runs *over, struct report *report, const struct run_item *run, double *factor,
                      struct error *err) {
    struct report *shown = &over->shown;
    const char *unit;
    if (!shown->type_name) {
        *shown = *report;
        shown->profile = &over->about;
        shown->type_name = xstrdup(report->type_name);
        shown->sample_unit = profile_text(&over->about, report->sample_unit);
        shown->units = (struct filter_units){0};
    }
    if (strcmp(shown->type_name, report->type_name) != 0 ||
        !scale_is_compatible(shown->sample_unit, report->sample_unit))
        return error_usage(err, "run %lld of %s has %s/%s, and those before it %s/%s", (long long)run->id,
                           run->db->path, report->type_name, report->sample_unit, shown->type_name, shown->sample_unit);
    *factor = strcmp(shown->sample_unit, report->sample_unit) == 0
                  ? 1
                  : scale_value(1, report->sample_unit, shown->sample_unit, &unit);
    return 0;
}

static void keep_note(void *context, const char *message) {
    struct over_runs *over = context;
    map_put(&over->notes, message, strlen(message) + 1, NULL)->value++;
}

static int add_run(struct over_runs *over, const struct report_format *format, const struct report_options *options,
                   const struct run_item *run, struct error *err) {
    struct profile profile;
    struct report report = {.profile = &profile, .format = format, .options = *options};
    double factor = 1;
    const struct run_list only = {.items = (struct run_item[]){*run}, .count = 1};
    if (gather_profile(&profile, &only, over->runs->kind,
                       report_is_of_one_type(format, options) ? options->sample_index : NULL, over->runs->span,
                       err) < 0)
        return -1;
    int code = report_finish_profile(&profile, over->runs->overrides, err);
    if (code == 0) code = report_choose_values(&report, err);
    if (code == 0) code = report_narrow(&report, keep_note, over, err);
    if (code == 0) code = join_types(over, &report, run, &factor, err);
    if (code == 0) {
        add_head(over, &profile);
        add_graph(over, &report, factor);
    }
    report_free(&report);
    profile_free(&profile);
    return code;
}

/* That a pattern matched nothing is said only where it matched in no run. */
static void pass_notes(const struct over_runs *over, filter_note *note, void *context) {
    static const char nothing[] = " matched no samples";
    for (size_t i = 0; note && i < over->notes.count; i++) {
        const struct map_entry *entry = &over->notes.entries[i];
        const char *message = entry->key;
        size_t size = strlen(message), tail = strlen(nothing);
        bool is_nothing = size > tail && strcmp(message + size - tail, nothing) == 0;
        if (!is_nothing || (size_t)entry->value == over->run_count) note(context, message);
    }
}

/* ---- which lines, and their order ---- */

static int compare_sizes(long double a, long double b) {
    a = fabsl(a);
    b = fabsl(b);
    return a > b ? -1 : a < b;
}

static int compare_lines(const void *left, const void *right, void *context) {
    const struct line *a = *(struct line *const *)left, *b = *(struct line *const *)right;
    bool cum = ((const struct report_options *)context)->cum;
    int order = cum ? compare_sizes(a->cum.sum, b->cum.sum) : compare_sizes(a->flat.sum, b->flat.sum);
    if (!order) order = strcmp(a->name, b->name);
    if (!order) order = cum ? compare_sizes(a->flat.sum, b->flat.sum) : compare_sizes(a->cum.sum, b->cum.sum);
    if (!order) order = strcmp(a->info.file, b->info.file);
    return order ? order : strcmp(a->info.object, b->info.object);
}

static void name_lines(struct over_runs *over) {
    struct buffer name = {0};
    for (size_t i = 0; i < over->line_count; i++)
        over->lines[i]->name = profile_text(&over->about, graph_info_name(&over->lines[i]->info, &name));
    buffer_free(&name);
}

/* As pprof: whatever is below this part of the sum of all own values, in whole units. */
static void drop_rare(struct over_runs *over) {
    const struct report_options *options = &over->shown.options;
    long double total = 0;
    size_t kept = 0;
    for (size_t i = 0; i < over->line_count; i++)
        total += over->lines[i]->flat.sum;
    long double runs = (long double)over->run_count;
    long double cutoff = floorl(fabsl(total / runs) * (long double)options->nodefraction) * runs;
    for (size_t i = 0; i < over->line_count; i++)
        if (cutoff <= 0 || fabsl(over->lines[i]->cum.sum) >= cutoff) over->lines[kept++] = over->lines[i];
    over->dropped_count = over->line_count - kept;
    over->line_count = over->original_count = kept;
}

static void choose_lines(struct over_runs *over) {
    struct report_options *options = &over->shown.options;
    name_lines(over);
    drop_rare(over);
    if (over->line_count) qsort_r(over->lines, over->line_count, sizeof *over->lines, compare_lines, options);
    if (options->nodecount > 0 && (uint64_t)options->nodecount < over->line_count)
        over->line_count = (size_t)options->nodecount;
}

static void choose_unit(struct over_runs *over) {
    struct report *shown = &over->shown;
    double low = 0;
    if (shown->exact) shown->output_unit = shown->sample_unit;
    for (size_t i = 0; i < over->line_count; i++) {
        double value = fabs(mean_of(&over->lines[i]->flat, over->run_count));
        if (value == 0) value = fabs(mean_of(&over->lines[i]->cum, over->run_count));
        if (value >= 1 && (low == 0 || value < low)) low = value;
    }
    if (over->line_count) report_fit_unit(shown, sum_from_real(low));
}

/* ---- text ---- */

static void add_padded(const struct report *report, struct buffer *out, double value, size_t width) {
    struct buffer label = {0};
    if (isnan(value))
        buffer_add_text(&label, "-");
    else
        report_add_real(report, &label, value);
    report_add_padded(out, buffer_text(&label), width);
    buffer_free(&label);
}

static struct scale_percent percent_of(long double sum, const struct over_runs *over) {
    return scale_percentage((double)sum, (double)over->total.sum);
}

static void write_header(const struct over_runs *over, struct buffer *out) {
    const struct report *shown = &over->shown;
    long double sum = 0;
    if (!shown->options.compact_labels) report_add_profile_labels(shown, out);
    buffer_printf(
        out, "Over %zu run%s: mean, sd (sample standard deviation), n (runs that have it; the others count as 0)\n",
        over->run_count, over->run_count == 1 ? "" : "s");
    report_add_filters(shown, out);
    for (size_t i = 0; i < over->line_count; i++)
        sum += over->lines[i]->flat.sum;
    struct scale_percent percent = percent_of(sum, over);
    buffer_add_text(out, "Showing nodes accounting for ");
    report_add_real(shown, out, (double)(sum / (long double)over->run_count));
    buffer_printf(out, ", %s of ", percent.text + strspn(percent.text, " "));
    report_add_real(shown, out, mean_of(&over->total, over->run_count));
    buffer_add_text(out, " total, sd ");
    add_padded(shown, out, sd_of(&over->total, over->run_count), 0);
    buffer_add_char(out, '\n');
    if (shown->total) report_add_dropped(shown, out, over->dropped_count, "node", "cum", shown->options.nodefraction);
    if (over->line_count && over->line_count < over->original_count)
        buffer_printf(out, "Showing top %zu nodes out of %zu\n", over->line_count, over->original_count);
    if (shown->options.all) report_add_exactness_line(shown, over->line_count, "nodes", out);
}

enum { FLAT, FLAT_SD, CUM, CUM_SD, FIGURES };

static double figure_of(const struct over_runs *over, const struct line *line, int figure) {
    const struct spread *spread = figure < CUM ? &line->flat : &line->cum;
    return figure == FLAT || figure == CUM ? mean_of(spread, over->run_count) : sd_of(spread, over->run_count);
}

/* 10 as in pprof's lists; with --all figures may be longer. */
static void find_widths(const struct over_runs *over, size_t widths[FIGURES]) {
    struct buffer text = {0};
    for (int figure = 0; figure < FIGURES; figure++) {
        widths[figure] = 10;
        for (size_t i = 0; i < over->line_count; i++) {
            buffer_clear(&text);
            add_padded(&over->shown, &text, figure_of(over, over->lines[i], figure), 0);
            if (text.size > widths[figure]) widths[figure] = text.size;
        }
    }
    buffer_free(&text);
}

static void write_line(const struct over_runs *over, const struct line *line, const size_t widths[FIGURES],
                       long double sum, struct buffer *out) {
    for (int figure = 0; figure < FIGURES; figure++) {
        add_padded(&over->shown, out, figure_of(over, line, figure), widths[figure]);
        buffer_add_char(out, ' ');
        if (figure == FLAT)
            buffer_printf(out, "%s %s ", percent_of(line->flat.sum, over).text, percent_of(sum, over).text);
        if (figure == CUM) buffer_printf(out, "%s ", percent_of(line->cum.sum, over).text);
    }
    buffer_printf(out, "%6zu  %s\n", line->flat.count, line->name);
}

static void write_text(struct over_runs *over, struct buffer *out) {
    size_t widths[FIGURES];
    long double sum = 0;
    write_header(over, out);
    find_widths(over, widths);
    buffer_printf(out, "%*s %5s%% %5s%% %*s %*s %5s%% %*s %6s\n", (int)widths[FLAT], "flat", "flat", "sum",
                  (int)widths[FLAT_SD], "sd", (int)widths[CUM], "cum", "cum", (int)widths[CUM_SD], "sd", "n");
    for (size_t i = 0; i < over->line_count; i++) {
        sum += over->lines[i]->flat.sum;
        write_line(over, over->lines[i], widths, sum, out);
    }
}

/* ---- JSON ---- */

/* {"mean", "sd"}, in the profile's own unit; sd is null for one run. */
static void add_json_spread(const struct over_runs *over, struct buffer *out, const char *key,
                            const struct spread *spread) {
    double sd = sd_of(spread, over->run_count);
    buffer_printf(out, "\"%s\":{\"mean\":%.17g,\"sd\":", key, mean_of(spread, over->run_count));
    if (isnan(sd))
        buffer_add_text(out, "null}");
    else
        buffer_printf(out, "%.17g}", sd);
}

static void write_json(const struct over_runs *over, struct buffer *out) {
    const struct report *shown = &over->shown;
    buffer_add_char(out, '{');
    buffer_add_json_field(out, "type", shown->type_name);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "unit", shown->sample_unit);
    buffer_printf(out, ",\"runs\":%zu,", over->run_count);
    add_json_spread(over, out, "total", &over->total);
    buffer_add_text(out, ",\n\"nodes\":[");
    for (size_t i = 0; i < over->line_count; i++) {
        const struct line *line = over->lines[i];
        buffer_add_text(out, i ? ",\n{" : "\n{");
        report_json_info(out, line->name, &line->info);
        buffer_add_char(out, ',');
        add_json_spread(over, out, "flat", &line->flat);
        buffer_add_char(out, ',');
        add_json_spread(over, out, "cum", &line->cum);
        buffer_printf(out, ",\"n\":%zu}", line->flat.count);
    }
    report_json_end(shown, out, over->original_count, over->dropped_count);
}

/* ---- all of it ---- */

static void finish(struct over_runs *over, const struct report_format *format, struct buffer *out) {
    if (over->lossy_runs) {
        char *warning =
            xasprintf("WARNING: of %zu of %zu runs not all was recorded (clear report comments RUN says what)",
                      over->lossy_runs, over->run_count);
        profile_add_comment(&over->about, warning);
        free(warning);
    }
    const struct report_overrides *overrides = over->runs->overrides;
    if (overrides && overrides->comment && *overrides->comment) profile_add_comment(&over->about, overrides->comment);
    over->shown.total = llround(mean_of(&over->total, over->run_count));
    choose_lines(over);
    choose_unit(over);
    if (format->table == REPORT_TABLE_JSON)
        write_json(over, out);
    else
        write_text(over, out);
}

int report_over_runs(const struct report_runs *runs, const struct report_format *format,
                     const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                     struct error *err) {
    struct over_runs over = {.runs = runs, .run_count = runs->runs->count};
    int code = 0;
    for (size_t i = 0; code == 0 && i < over.run_count; i++)
        code = add_run(&over, format, options, &runs->runs->items[i], err);
    if (code == 0) {
        pass_notes(&over, note, context);
        finish(&over, format, out);
    }
    report_free(&over.shown);
    profile_free(&over.about);
    map_free(&over.index);
    map_free(&over.notes);
    arena_free(&over.memory);
    free(over.lines);
    return code;
}
