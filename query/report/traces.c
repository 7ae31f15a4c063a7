/* Every sample with its stack: traces. */
#include <stdlib.h>
#include <string.h>

#include "query/profile/scale.h"
#include "query/report/report.h"

static const char separator[] = "-----------+-------------------------------------------------------\n";

/* Names of frames, made once each. */
struct names {
    struct report *report;
    const char **lines, **locations; /* [line], [location without lines]; NULL not yet */
};

static const char *name_of(struct names *names, const struct profile_location *location,
                           const struct profile_line *line) {
    struct profile *profile = names->report->profile;
    const char **known = line ? &names->lines[line - profile->lines] : &names->locations[location - profile->locations];
    if (*known) return *known;
    struct buffer text = {0};
    struct graph_info info;
    graph_info_of(profile, location, line, false, &info);
    *known = profile_text(profile, graph_info_name(&info, &text));
    buffer_free(&text);
    return *known;
}

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* A line for each key of the set's texts, or numbers: "       key:  value value". */
static void add_labels(const struct report *report, const struct profile_labels *set, bool texts, struct buffer *out) {
    const struct profile_label *labels = report->profile->labels + set->first;
    char **lines = xcalloc(set->count + 1, sizeof(char *));
    size_t count = 0;
    for (size_t i = 0; i < set->count;) {
        struct buffer line = {0};
        const char *key = labels[i].key;
        if ((labels[i].text != NULL) != texts) {
            i++;
            continue;
        }
        report_add_padded(&line, key, 10);
        buffer_add_text(&line, ": ");
        for (; i < set->count && labels[i].key == key && (labels[i].text != NULL) == texts; i++) {
            buffer_add_char(&line, ' ');
            if (texts)
                buffer_add_text(&line, labels[i].text);
            else
                scale_label(&line, labels[i].number, filter_units_of(&report->units, key), "auto");
        }
        lines[count++] = buffer_take(&line);
    }
    qsort(lines, count, sizeof(char *), compare_texts);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
}

static void add_frame(struct names *names, const struct profile_location *location, const struct profile_line *line,
                      bool is_inline, bool is_first, int64_t value, struct buffer *out) {
    if (is_first)
        report_add_padded_value(names->report, out, value, 10);
    else
        buffer_add_text(out, "          ");
    buffer_add_text(out, "   ");
    buffer_add_text(out, name_of(names, location, line));
    buffer_add_text(out, is_inline ? " (inline)\n" : "\n");
}

static void add_sample(struct names *names, size_t index, struct buffer *out) {
    struct report *report = names->report;
    const struct profile *profile = report->profile;
    const struct profile_stack *stack = &profile->stacks[profile->samples[index].stack];
    const struct profile_labels *set = &profile->label_sets[profile->samples[index].labels];
    int64_t value = profile_value(profile, index, report->type);
    int64_t divisor = report->mean_type == PROFILE_NONE ? 0 : profile_value(profile, index, report->mean_type);
    if (stack->depth == 0 && !report->options.all) return; /* as pprof does */
    if (divisor) value /= divisor;
    buffer_add_text(out, separator);
    add_labels(report, set, true, out);
    add_labels(report, set, false, out);
    if (stack->depth == 0) {
        report_add_padded_value(report, out, value, 10);
        buffer_add_text(out, "   <no stack>\n");
    }
    for (uint32_t i = 0; i < stack->depth; i++) {
        const struct profile_location *location = &profile->locations[profile->frames[stack->first + i]];
        if (location->line_count == 0) add_frame(names, location, NULL, false, i == 0, value, out);
        for (uint32_t at = 0; at < location->line_count; at++)
            add_frame(names, location, &profile->lines[location->first_line + at], at + 1 < location->line_count,
                      i == 0 && at == 0, value, out);
    }
}

int report_traces(struct report *report, struct buffer *out, struct error *err) {
    const struct profile *profile = report->profile;
    struct names names = {.report = report};
    int code = 0;
    names.lines = xcalloc(profile->line_count + 1, sizeof *names.lines);
    names.locations = xcalloc(profile->location_count + 1, sizeof *names.locations);
    report_add_profile_labels(report, out);
    if (report->options.all) report_add_exactness_line(report, profile->sample_count, "samples", out);
    for (size_t i = 0; i < profile->sample_count && code == 0; i++) {
        add_sample(&names, i, out);
        code = report_check_size(out, err);
    }
    buffer_add_text(out, separator);
    free(names.lines);
    free(names.locations);
    return code;
}
