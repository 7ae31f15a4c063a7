#include "query/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "query/profile/scale.h"
#include "query/report/report_runs.h"
#include "query/report/zoom.h"

#define ROW(name_, help_, write_, ...)                                                                                 \
    { .name = name_, .help = help_, .write = write_, __VA_ARGS__ }

const struct report_format report_formats[] = {
    ROW("text", "functions by their own value", report_text, .nodes = REPORT_NODES_ALL, .table = REPORT_TABLE_TEXT,
        .has_nodes_only = true, .has_values_only = true),
    ROW("top", "the same as text", report_text, .nodes = REPORT_NODES_ALL, .table = REPORT_TABLE_TEXT,
        .has_nodes_only = true, .has_values_only = true),
    ROW("tree", "each function with its callers and callees", report_tree, .has_values_only = true),
    ROW("peek", "callers and callees of the functions that match", report_tree, .takes_pattern = true,
        .is_whole = true),
    ROW("traces", "every stack with its value and tags", report_traces, .spread = REPORT_SPREADS_NAMES),
    ROW("tags", "the tags of the samples and their values", report_tags),
    ROW("raw", "the whole profile as text", report_raw, .spread = REPORT_SPREADS_NUMBERS, .is_whole = true,
        .is_raw = true),
    ROW("comments", "what the profile says about itself", report_comments),
    ROW("list", "the functions that match, line by line with their source", report_list, .takes_pattern = true,
        .is_whole = true, .by_lines = true, .object_names = true),
    ROW("weblist", "list as a web page, with the machine code of each line", report_weblist, .takes_pattern = true,
        .is_whole = true, .is_binary = true, .by_addresses = true, .object_names = true),
    ROW("disasm", "the functions that match, as machine code", report_disasm, .takes_pattern = true, .is_whole = true,
        .by_addresses = true, .address_noinlines = true, .object_names = true),
    ROW("source", "list for programs, as JSON", report_source, .takes_pattern = true, .is_whole = true,
        .by_lines = true, .object_names = true, .media = "application/json"),
    ROW("code", "weblist for programs, as JSON", report_code, .takes_pattern = true, .is_whole = true,
        .by_addresses = true, .object_names = true, .media = "application/json"),
    {0},
};

/* Means divide by another type's values, and the units of tags are those of the first sample that has them. */
bool report_is_of_one_type(const struct report_format *format, const struct report_options *options) {
    const struct filter_options *filter = &options->filter;
    const char *tags[] = {filter->tagfocus, filter->tagignore, filter->tagroot, filter->tagleaf};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i] && *tags[i]) return false;
    return format->has_values_only && !options->mean;
}

/* ---- what is reported ---- */

/* A mapping without build id whose file is the URL that the profile came from is of no file. */
static bool is_url(const char *file) {
    size_t scheme = 0;
    while ((file[scheme] >= 'a' && file[scheme] <= 'z') || (file[scheme] >= 'A' && file[scheme] <= 'Z') ||
           (scheme && strchr("0123456789+-.", file[scheme]) && file[scheme]))
        scheme++;
    return scheme && file[scheme] == ':';
}

static bool is_set(const char *text) {
    return text && *text;
}

int report_finish_profile(struct profile *profile, const struct report_overrides *overrides, struct error *err) {
    static const struct report_overrides nothing;
    if (!overrides) overrides = &nothing;
    profile_give_mapping(profile);
    for (size_t i = 0; i < profile->mapping_count; i++)
        if (!*profile->mappings[i].build_id && is_url(profile->mappings[i].file))
            profile->mappings[i].file = profile_text(profile, "");
    if (is_set(overrides->executable)) {
        profile->mappings[0].file = profile_text(profile, overrides->executable);
        profile->mappings[0].is_named = true;
    }
    if (is_set(overrides->build_id)) profile->mappings[0].build_id = profile_text(profile, overrides->build_id);
    if (overrides->name_addresses) overrides->name_addresses(overrides->context, profile);
    if (filter_uninteresting(profile, err) < 0) return -1;
    if (is_set(overrides->comment)) profile_add_comment(profile, overrides->comment);
    return 0;
}

int report_find_sampling(struct report_options *options, struct db *db, int64_t run_id, const char *kind,
                         const struct profile *profile, struct error *err) {
    size_t type;
    if (db->is_private || options->mean || options->divide_by != 1) return 0;
    if (profile_find_type(profile, options->sample_index, &type, err) < 0) return -1;
    return sampling_scale_of(db, run_id, kind, profile->types[type].type, &options->sampling, err);
}

static int64_t size_of(int64_t value) {
    return value < 0 ? (int64_t)(0 - (uint64_t)value) : value;
}

static void apply_overrides(struct report *report) {
    const struct report_format *format = report->format;
    struct report_options *options = &report->options;
    bool trims = options->trim && !options->all && !format->is_whole;
    if (options->nodecount == -1) options->nodecount = format->nodes == REPORT_NODES_ALL ? 0 : 80;
    if (options->granularity == GRANULARITY_DEFAULT) options->granularity = GRANULARITY_FUNCTIONS;
    if (format->by_lines) options->granularity = GRANULARITY_LINES;
    if (format->by_addresses || format->is_raw) options->granularity = GRANULARITY_ADDRESSES;
    if (format->by_addresses) options->noinlines = format->address_noinlines;
    if (trims) return;
    options->nodecount = 0;
    options->nodefraction = options->edgefraction = 0;
}

static int too_large(const char *type, struct error *err) {
    return error_fail(err, "%s: the sum is larger than 2^63 - 1", type);
}

static int check_sum(const struct report *report, size_t type, struct error *err) {
    const struct profile *profile = report->profile;
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->sample_count && sum <= INT64_MAX; i++)
        sum += (uint64_t)size_of(profile_value(profile, i, type));
    return sum <= INT64_MAX ? 0 : too_large(profile->types[type].type, err);
}

static int check_shown_sums(const struct report *report, struct error *err) {
    if (check_sum(report, report->type, err) < 0) return -1;
    return report->mean_type == PROFILE_NONE ? 0 : check_sum(report, report->mean_type, err);
}

int report_check_sums(const struct report *report, struct error *err) {
    for (size_t i = 0; i < report->profile->type_count; i++)
        if (check_sum(report, i, err) < 0) return -1;
    return 0;
}

int64_t report_total(const struct report *report) {
    const struct profile *profile = report->profile;
    uint64_t total = 0, divisor = 0, base_total = 0, base_divisor = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        uint64_t value = (uint64_t)size_of(profile_value(profile, i, report->type));
        uint64_t each = report->mean_type == PROFILE_NONE ? 0 : (uint64_t)profile_value(profile, i, report->mean_type);
        total += value;
        divisor += each;
        if (!profile_labels_are_base(profile, profile->samples[i].labels)) continue;
        base_total += value;
        base_divisor += each;
    }
    if ((int64_t)base_total > 0) {
        total = base_total;
        divisor = base_divisor;
    }
    return divisor ? (int64_t)total / (int64_t)divisor : (int64_t)total;
}

/* Options that other formats do not take, or always obey. */
static int check_events(const struct report_format *format, const struct report_options *options, struct error *err) {
    const char *name = options->all_types ? "all_types" : options->before_after ? "before_after" : NULL;
    return name && format && !format->has_events ? error_usage(err, "%s is for callgrind, not %s", name, format->name)
                                                 : 0;
}

int report_choose_values(struct report *report, struct error *err) {
    const struct report_options *options = &report->options;
    if (report_options_check(options, err) < 0 || check_events(report->format, options, err) < 0 ||
        profile_find_type(report->profile, options->sample_index, &report->type, err) < 0)
        return -1;
    const struct profile_type *type = &report->profile->types[report->type];
    report->mean_type = options->mean ? 0 : PROFILE_NONE;
    report->type_name = xasprintf("%s%s", options->mean ? "mean_" : "", type->type);
    report->sample_unit = type->unit;
    report->ratio = 1 / options->divide_by;
    return 0;
}

void report_aggregate(struct report *report, bool keeps_places) {
    const struct report_options *options = &report->options;
    bool whole = keeps_places && options->granularity == GRANULARITY_FUNCTIONS;
    int granularity = whole ? GRANULARITY_ADDRESSES : options->granularity;
    if (granularity == GRANULARITY_ADDRESSES && !options->noinlines) return;
    filter_aggregate(report->profile, (enum filter_granularity)granularity, options->noinlines, options->showcolumns);
}

static int filter(struct report *report, const struct report_options *asked, filter_note *note, void *context,
                  struct error *err) {
    if (filter_apply(report->profile, &asked->filter, &report->units, note, context, err) < 0) return -1;
    return zoom_apply(report, asked, err);
}

int report_narrow(struct report *report, filter_note *note, void *context, struct error *err) {
    struct profile *profile = report->profile;
    struct report_options *options = &report->options;
    const struct report_options asked = *options;
    apply_overrides(report);
    report->output_unit = options->unit;
    report->exact = options->all && strcmp(options->unit, "minimum") == 0 && report->ratio == 1;
    filter_units_find(&report->units, profile, note, context);
    filter_add_tag_frames(profile, &options->filter, options->unit, note, context);
    bool relative = options->relative_percentages;
    if (relative && filter(report, &asked, note, context, err) < 0) return -1;
    if (check_shown_sums(report, err) < 0) return -1;
    report->total = report_total(report);
    if (!relative && filter(report, &asked, note, context, err) < 0) return -1;
    report_aggregate(report, report->format->keeps_places);
    return 0;
}

void report_free(struct report *report) {
    filter_units_free(&report->units);
    free(report->type_name);
}

/* ---- how much is written ---- */

/* What a location takes at least: a line of each of its functions. */
static uint64_t bytes_of_location(const struct profile *profile, const struct profile_location *location,
                                  enum report_spread spread) {
    uint64_t bytes = 0;
    if (spread == REPORT_SPREADS_NUMBERS || !location->line_count) return 2;
    for (uint32_t i = 0; i < location->line_count; i++)
        bytes += strlen(profile->functions[profile->lines[location->first_line + i].function].name) + 1;
    return bytes;
}

static int check_spread(const struct report *report, struct error *err) {
    const struct profile *profile = report->profile;
    uint64_t bytes = 0, *locations, *stacks;
    if (report->format->spread == REPORT_SPREADS_NOTHING) return 0;
    locations = xcalloc(profile->location_count + 1, sizeof *locations);
    stacks = xcalloc(profile->stack_count + 1, sizeof *stacks);
    for (size_t i = 0; i < profile->location_count; i++)
        locations[i] = bytes_of_location(profile, &profile->locations[i], report->format->spread);
    for (size_t i = 0; i < profile->stack_count; i++)
        for (uint32_t frame = 0; frame < profile->stacks[i].depth; frame++)
            stacks[i] += locations[profile->frames[profile->stacks[i].first + frame]];
    for (size_t i = 0; i < profile->sample_count; i++)
        bytes += stacks[profile->samples[i].stack];
    free(locations);
    free(stacks);
    return limit_check("the report", bytes, err);
}

int report_check_size(const struct buffer *out, struct error *err) {
    return limit_check("the report", out->size, err);
}

int report_write(struct profile *profile, const struct report_format *format, const struct report_options *options,
                 struct buffer *out, filter_note *note, void *context, struct error *err) {
    struct report report = {
        .profile = profile, .format = format, .options = *options, .note = note, .note_context = context};
    if (report_runs_wanted(options))
        return error_usage(err, "over_runs and by_tag need runs: a single profile has none");
    int code = report_choose_values(&report, err);
    if (code == 0) code = report_narrow(&report, note, context, err);
    if (code == 0) code = check_spread(&report, err);
    if (code == 0) code = format->write(&report, out, err);
    if (code == 0 && !format->is_binary && !format->media) buffer_make_visible(out);
    if (code == 0 && report.overflows) code = too_large(report.type_name, err);
    report_free(&report);
    return code;
}

int report_describe(struct profile *profile, const struct report_options *options, struct buffer *out, int64_t *total,
                    struct error *err) {
    struct report report = {.profile = profile, .options = *options, .output_unit = options->unit};
    int code = report_choose_values(&report, err);
    if (code == 0) code = check_shown_sums(&report, err);
    if (code == 0) {
        *total = report.total = report_total(&report);
        report_add_profile_labels(&report, out);
    }
    free(report.type_name);
    return code;
}

/* ---- graphs ---- */

static void format_tag(void *context, int64_t value, const char *unit, struct buffer *text) {
    const struct report *report = context;
    scale_label(text, value, unit, report->output_unit);
}

void report_graph_options(struct report *report, struct graph_options *options) {
    const struct report_format *format = report->format;
    *options = (struct graph_options){
        .type = report->type,
        .mean_type = report->mean_type == PROFILE_NONE ? PROFILE_NONE : report->mean_type,
        .object_names = format->object_names,
        .call_tree = report->options.call_tree && (format->is_visual || format->is_raw),
        .drop_negative = report->options.drop_negative,
        .edges = true,
        .tags = format->is_visual,
        .format_tag = format_tag,
        .context = report,
    };
}

/* "a:b" of a search path; NULL after the last. */
static const char *next_directory(const char **list, size_t *size) {
    while (**list == ':')
        ++*list;
    const char *start = *list;
    *size = strcspn(start, ":");
    *list += *size;
    return *size ? start : NULL;
}

/* Without -trim_path: what stands behind a directory that is called like one of -source_path. */
static const char *trim_by_source(const char *path, const char *source_path) {
    const char *directory;
    size_t size;
    while ((directory = next_directory(&source_path, &size))) {
        while (size > 1 && directory[size - 1] == '/')
            size--;
        size_t name = size;
        while (name > 0 && directory[name - 1] != '/')
            name--;
        char *wanted = xasprintf("/%.*s/", (int)(size - name), directory + name);
        const char *found = strstr(path, wanted);
        const char *rest = found ? found + strlen(wanted) : NULL;
        free(wanted);
        if (rest) return rest;
    }
    return NULL;
}

static const char *trim_by_prefix(const char *path, const char *prefix, size_t size) {
    if (strncmp(path, prefix, size) != 0) return NULL;
    if (size && prefix[size - 1] == '/') return path + size;
    return path[size] == '/' ? path + size + 1 : NULL;
}

const char *report_trim_path(const char *path, const char *trim, const char *source_path) {
    static const char *const always[] = {"/proc/self/cwd/./", "/proc/self/cwd/"};
    const char *rest = *trim ? NULL : trim_by_source(path, source_path), *prefix;
    size_t size;
    if (rest) return rest;
    while ((prefix = next_directory(&trim, &size)))
        if ((rest = trim_by_prefix(path, prefix, size))) return rest;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if ((rest = trim_by_prefix(path, always[i], strlen(always[i])))) return rest;
    return path;
}

/* Of numbers only sizes are shown in pictures, and the mark of a base nowhere. */
static void keep_shown_labels(struct report *report) {
    struct profile *profile = report->profile;
    for (size_t at = 0; at < profile->label_set_count; at++) {
        struct profile_labels *set = &profile->label_sets[at];
        struct profile_label *labels = profile->labels + set->first;
        uint32_t kept = 0;
        for (size_t i = 0; i < set->count; i++) {
            if (labels[i].text ? strcmp(labels[i].key, "pprof::base") == 0 : strcmp(labels[i].key, "bytes") != 0)
                continue;
            labels[kept] = labels[i];
            if (!labels[kept].text) labels[kept].unit = filter_units_of(&report->units, labels[kept].key);
            kept++;
        }
        set->count = kept;
    }
}

void report_trim_paths(struct report *report) {
    struct profile *profile = report->profile;
    for (size_t i = 0; i < profile->function_count; i++) {
        const char *path = profile->functions[i].file;
        const char *trimmed = report_trim_path(path, report->options.trim_path, report->options.source_path);
        if (trimmed != path) profile->functions[i].file = profile_text(profile, trimmed);
    }
}

void report_prepare_graph(struct report *report) {
    report_trim_paths(report);
    keep_shown_labels(report);
}

static bool has_inlined_frames(const struct profile *profile) {
    for (size_t i = 0; i < profile->location_count; i++)
        if (profile->locations[i].line_count > 1) return true;
    return false;
}

/* One unit for all: that of the smallest value, or where the largest is of a larger one, such that the smallest is 0.01. */
static void choose_unit(struct report *report, const struct graph *graph) {
    int64_t low = 0;
    if (report->exact) report->output_unit = report->sample_unit;
    if (graph->node_count == 0) return;
    for (size_t i = 0; i < graph->node_count; i++) {
        int64_t value = size_of(graph_flat(graph->nodes[i]));
        if (value == 0) value = size_of(graph_cum(graph->nodes[i]));
        if (value > 0 && (low == 0 || value < low)) low = value;
    }
    report_fit_unit(report, low);
}

void report_build_graph(struct report *report, struct graph *graph, struct graph_trimmed *trimmed) {
    struct graph_options options;
    const struct graph_trimming trimming = {.node_count = report->options.nodecount,
                                            .node_fraction = report->options.nodefraction,
                                            .edge_fraction = report->options.edgefraction,
                                            .cum_order = report->options.cum,
                                            .visual = report->format->is_visual};
    report_prepare_graph(report);
    report_graph_options(report, &options);
    if (report->format->has_nodes_only && !has_inlined_frames(report->profile)) options.edges = false;
    graph_build_trimmed(graph, report->profile, &options, &trimming, trimmed);
    choose_unit(report, graph);
}

void report_fit_unit(struct report *report, int64_t low) {
    int64_t high = report->total;
    const char *low_unit, *high_unit;
    if (strcmp(report->output_unit, "minimum") != 0) return;
    if (low == 0) low = high;
    if (report->ratio > 0 && report->ratio != 1) {
        low = (int64_t)((double)low * report->ratio);
        high = (int64_t)((double)high * report->ratio);
    }
    (void)scale_value(low, report->sample_unit, "minimum", &low_unit);
    (void)scale_value(high, report->sample_unit, "minimum", &high_unit);
    const char *unit = low_unit;
    if (strcmp(low_unit, high_unit) != 0 && low * 100 < high && !report->format->has_whole_units)
        (void)scale_value(100 * low, report->sample_unit, "minimum", &unit);
    report->output_unit = *unit ? unit : report->sample_unit;
}
