#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/path.h"
#include "base/utf8.h"
#include "query/profile/scale.h"
#include "query/report/report.h"

static int64_t size_of(int64_t value) {
    return value < 0 ? (int64_t)(0 - (uint64_t)value) : value;
}

/* ---- values ---- */

static void add_exact(const struct report *report, struct buffer *text, int64_t value) {
    const char *unit;
    (void)scale_value(1, report->sample_unit, report->sample_unit, &unit);
    buffer_printf(text, "%lld%s", (long long)value, value ? unit : "");
}

void report_add_value(const struct report *report, struct buffer *text, int64_t value) {
    if (report->exact) {
        add_exact(report, text, value);
        return;
    }
    if (report->ratio > 0 && report->ratio != 1) value = (int64_t)((double)value * report->ratio);
    scale_label(text, value, report->sample_unit, report->output_unit);
}

/* The unit is that of the nearest whole number. */
void report_add_real(const struct report *report, struct buffer *text, double value) {
    const char *unit, *ignored;
    char number[352];
    value *= report->ratio > 0 ? report->ratio : 1;
    (void)scale_value(llround(fabs(value)), report->sample_unit,
                      report->exact ? report->sample_unit : report->output_unit, &unit);
    value *= *unit ? scale_value(1, report->sample_unit, unit, &ignored) : 1;
    int size = snprintf(number, sizeof number, report->options.all ? "%.15g" : "%.2f", value);
    if (size > 3 && strcmp(number + size - 3, ".00") == 0) number[size - 3] = '\0';
    bool is_zero = strcmp(number, "0") == 0 || strcmp(number, "-0") == 0;
    buffer_printf(text, "%s%s", is_zero ? "0" : number, is_zero ? "" : unit);
}

void report_add_padded(struct buffer *text, const char *what, size_t width) {
    for (size_t count = utf8_count(what); count < width; count++)
        buffer_add_char(text, ' ');
    buffer_add_text(text, what);
}

void report_add_padded_value(const struct report *report, struct buffer *text, int64_t value, size_t width) {
    struct buffer label = {0};
    report_add_value(report, &label, value);
    report_add_padded(text, buffer_text(&label), width);
    buffer_free(&label);
}

void report_add_value_or_dot(const struct report *report, struct buffer *out, int64_t value) {
    if (value)
        report_add_padded_value(report, out, value, 10);
    else
        report_add_padded(out, ".", 10);
}

/* ---- the profile ---- */

/* 2026-11-21 15:04:05 UTC */
static void add_time(struct buffer *out, int64_t time_ns) {
    char text[64];
    time_t seconds = (time_t)(time_ns / 1000000000 - (time_ns % 1000000000 < 0));
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &local);
    buffer_printf(out, "Time: %s\n", text);
}

static void add_duration(const struct report *report, struct buffer *out) {
    const char *unit;
    int64_t duration = report->profile->duration_ns;
    double total = scale_value(report->total, report->sample_unit, "nanoseconds", &unit);
    buffer_add_text(out, "Duration: ");
    scale_label(out, duration, "nanoseconds", "auto");
    buffer_add_text(out, ", Total samples = ");
    report_add_value(report, out, report->total);
    buffer_add_char(out, ' ');
    if (strcmp(unit, "ns") == 0 && total != 0)
        buffer_printf(out, "(%s)", scale_percentage(trunc(total), duration).text);
    buffer_add_char(out, '\n');
}

void report_add_profile_labels(const struct report *report, struct buffer *out) {
    const struct profile *profile = report->profile;
    if (profile->mapping_count) {
        const struct profile_mapping *binary = &profile->mappings[0];
        if (*binary->file) buffer_printf(out, "File: %s\n", path_base(binary->file));
        if (*binary->build_id) buffer_printf(out, "Build ID: %s\n", binary->build_id);
    }
    for (size_t i = 0; i < profile->comment_count; i++)
        if (*profile->comments[i] != '#') buffer_printf(out, "%s\n", profile->comments[i]);
    if (*report->type_name) buffer_printf(out, "Type: %s\n", report->type_name);
    if (*profile->doc_url) buffer_printf(out, "Doc: %s\n", profile->doc_url);
    if (profile->time_ns) add_time(out, profile->time_ns);
    if (profile->duration_ns) add_duration(report, out);
}

/* ---- the report ---- */

void report_add_filters(const struct report *report, struct buffer *out) {
    const struct filter_options *filter = &report->options.filter;
    const struct {
        const char *name, *value;
    } filters[] = {{"focus", filter->focus},         {"ignore", filter->ignore},       {"hide", filter->hide},
                   {"show", filter->show},           {"show_from", filter->show_from}, {"tagfocus", filter->tagfocus},
                   {"tagignore", filter->tagignore}, {"tagshow", filter->tagshow},     {"taghide", filter->taghide}};
    bool any = false;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        if (!filters[i].value || !*filters[i].value) continue;
        if (!any) buffer_add_text(out, "Active filters:\n");
        any = true;
        struct buffer text = {0};
        buffer_printf(&text, "%s=%s", filters[i].name, filters[i].value);
        bool is_long = text.size > 80;
        buffer_printf(out, "   %.80s%s\n", buffer_text(&text), is_long ? "…" : "");
        buffer_free(&text);
    }
}

void report_add_dropped(const struct report *report, struct buffer *out, size_t count, const char *what,
                        const char *value, double fraction) {
    if (!count) return;
    buffer_printf(out, "Dropped %zu %s%s (%s <= ", count, what, count > 1 ? "s" : "", value);
    report_add_value(report, out, size_of((int64_t)((double)report->total * fraction)));
    buffer_add_text(out, ")\n");
}

static bool says(const struct profile *profile, const char *start) {
    for (size_t i = 0; i < profile->comment_count; i++)
        if (strncmp(profile->comments[i], start, strlen(start)) == 0) return true;
    return false;
}

/* What is asked for may round what was recorded exactly. */
static const char *rounding(const struct report *report) {
    if (report->options.over_runs) return "nothing left out; means and deviations to 15 digits";
    if (report->options.mean) return "nothing left out; means are rounded down";
    if (!report->exact)
        return "nothing left out; rounded to two decimals (without --unit and --divide_by they are exact)";
    return "exact, nothing truncated";
}

/* A period of more than 1 means that each sample stands for so many events. */
void report_add_exactness(const struct report *report, struct buffer *out) {
    const struct profile *profile = report->profile;
    if (says(profile, "WARNING: "))
        buffer_add_text(out, "nothing left out here, but not all was recorded");
    else if (profile->period > 1)
        buffer_printf(out, "nothing left out; sampled, one in %lld %s", (long long)profile->period,
                      *profile->period_type.unit ? profile->period_type.unit : "events");
    else if (says(profile, "sampled: "))
        buffer_add_text(out, "nothing left out; sampled");
    else
        buffer_add_text(out, rounding(report));
}

void report_add_exactness_line(const struct report *report, size_t count, const char *what, struct buffer *out) {
    buffer_printf(out, "All %zu %s: ", count, what);
    report_add_exactness(report, out);
    buffer_add_char(out, '\n');
}

void report_add_labels(const struct report *report, const struct graph *graph, const struct graph_trimmed *trimmed,
                       bool full, struct buffer *out) {
    int64_t flat = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        flat = (int64_t)((uint64_t)flat + (uint64_t)graph_flat(graph->nodes[i]));
    if (full || !report->options.compact_labels) report_add_profile_labels(report, out);
    report_add_filters(report, out);
    struct scale_percent percent = scale_percentage(flat, report->total);
    buffer_add_text(out, "Showing nodes accounting for ");
    report_add_value(report, out, flat);
    buffer_printf(out, ", %s of ", percent.text + strspn(percent.text, " "));
    report_add_value(report, out, report->total);
    buffer_add_text(out, " total\n");
    if (report->total != 0) {
        report_add_dropped(report, out, trimmed->dropped_nodes, "node", "cum", report->options.nodefraction);
        if (full) report_add_dropped(report, out, trimmed->dropped_edges, "edge", "freq", report->options.edgefraction);
        if (graph->node_count > 0 && graph->node_count < trimmed->original_count)
            buffer_printf(out, "Showing top %zu nodes out of %zu\n", graph->node_count, trimmed->original_count);
    }
    if (report->options.all) report_add_exactness_line(report, graph->node_count, "nodes", out);
    if (full) buffer_add_text(out, "\nSee https://git.io/JfYMW for how to read the graph\n");
}
