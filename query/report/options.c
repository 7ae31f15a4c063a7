#include "query/report/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/nearest.h"

#define AT(member) offsetof(struct report_options, member)
#define TEXT(name, member, help)                                                                                       \
    { name, REPORT_TEXT, AT(member), 0, NULL, NULL, help }
#define BOOL(name, member, help)                                                                                       \
    { name, REPORT_BOOL, AT(member), 0, NULL, NULL, help }
#define CHOICE(name, member, value, group, help)                                                                       \
    { name, REPORT_CHOICE, AT(member), value, NULL, group, help }

const struct report_option report_options_table[] = {
    CHOICE("flat", cum, false, "sort", "sort by own value"),
    CHOICE("cum", cum, true, "sort", "sort by cumulative value"),
    CHOICE("functions", granularity, GRANULARITY_FUNCTIONS, "granularity", "a line for each function"),
    CHOICE("filefunctions", granularity, GRANULARITY_FILEFUNCTIONS, "granularity", "for each function and its file"),
    CHOICE("files", granularity, GRANULARITY_FILES, "granularity", "for each source file"),
    CHOICE("lines", granularity, GRANULARITY_LINES, "granularity", "for each source line"),
    CHOICE("addresses", granularity, GRANULARITY_ADDRESSES, "granularity", "for each address"),
    BOOL("noinlines", noinlines, "count inlined functions for their callers"),
    {"nodecount", REPORT_INT, AT(nodecount), 0, "-1", NULL, "most lines shown"},
    {"nodefraction", REPORT_REAL, AT(nodefraction), 0, "0.005", NULL, "leave out what is below this part of the total"},
    {"edgefraction", REPORT_REAL, AT(edgefraction), 0, "0.001", NULL, "leave out calls below this part of the total"},
    {"trim", REPORT_BOOL, AT(trim), 0, "true", NULL, "honour the three above"},
    BOOL("all", all, "leave out nothing, round nothing, and say whether the figures are exact"),
    BOOL("over_runs", over_runs, "mean and standard deviation over the runs: top and json"),
    TEXT("by_tag", by_tag, "a column for each value of this tag of the runs or of the samples: top and json"),
    {"columns", REPORT_INT, AT(columns), 0, "8", NULL, "most columns of by_tag; the rest is one"},
    BOOL("call_tree", call_tree, "a node for each path, in pictures and callgrind"),
    BOOL("relative_percentages", relative_percentages, "percentages of what is focused"),
    BOOL("compact_labels", compact_labels, "short header"),
    {"unit", REPORT_TEXT, AT(unit), 0, "minimum", NULL, "unit of the values: ms, MB, auto"},
    {"divide_by", REPORT_REAL, AT(divide_by), 0, "1", NULL, "divide all values"},
    BOOL("mean", mean, "divide each value by the first one, a count"),
    TEXT("sample_index", sample_index, "which value: its name, or number from 0"),
    BOOL("normalize", normalize, "scale to the total of the base"),
    BOOL("drop_negative", drop_negative, "leave out what became less"),
    TEXT("focus", filter.focus, "only samples through a frame that matches"),
    TEXT("ignore", filter.ignore, "no samples through a frame that matches"),
    TEXT("show", filter.show, "only frames that match"),
    TEXT("hide", filter.hide, "no frames that match"),
    TEXT("show_from", filter.show_from, "no frames above the highest that matches"),
    TEXT("prune_from", filter.prune_from, "no frames below the first that matches"),
    TEXT("tagfocus", filter.tagfocus, "only samples with such tags: RE, KEY=RE, KEY=128kb:512kb"),
    TEXT("tagignore", filter.tagignore, "no samples with such tags"),
    TEXT("tagshow", filter.tagshow, "only tags whose key matches"),
    TEXT("taghide", filter.taghide, "no tags whose key matches"),
    TEXT("tagroot", filter.tagroot, "frames at the root for these tag keys"),
    TEXT("tagleaf", filter.tagleaf, "frames at the leaf for these tag keys"),
    TEXT("source_path", source_path, "where to look for sources"),
    TEXT("trim_path", trim_path, "what to take off the front of source paths"),
    BOOL("intel_syntax", intel_syntax, "Intel's syntax in disasm and weblist"),
    {0},
};

/* pprof's older words for -sample_index. */
static const struct {
    const char *name, *index;
    bool mean;
} indices[] = {{"inuse_space", "inuse_space", false}, {"inuse_objects", "inuse_objects", false},
               {"alloc_space", "alloc_space", false}, {"alloc_objects", "alloc_objects", false},
               {"total_delay", "delay", false},       {"contentions", "contentions", false},
               {"mean_delay", "delay", true}};

static void *member_of(struct report_options *options, const struct report_option *option) {
    return (char *)options + option->offset;
}

static int parse_bool(const char *name, const char *text, bool *value, struct error *err) {
    static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"}, *const no[] = {"0",     "f",     "F",
                                                                                             "false", "FALSE", "False"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *value = strcmp(text, yes[i]) == 0;
            return 0;
        }
    return error_usage(err, "%s wants true or false, not '%s'", name, text);
}

/* A value that is refused changes nothing: at a prompt the options live on. */
static int set_number(void *member, const struct report_option *option, const char *value, struct error *err) {
    char *end;
    errno = 0;
    int64_t whole = option->kind == REPORT_INT ? strtoll(value, &end, 10) : 0;
    double real = option->kind == REPORT_INT ? 0 : strtod(value, &end);
    if (errno || end == value || *end) return error_usage(err, "%s wants a number, not '%s'", option->name, value);
    if (option->kind == REPORT_INT)
        *(int64_t *)member = whole;
    else
        *(double *)member = real;
    return 0;
}

static int set_choice(struct report_options *options, const struct report_option *option) {
    if (strcmp(option->group, "sort") == 0)
        options->cum = option->value;
    else
        options->granularity = option->value;
    return 0;
}

static int set(struct report_options *options, struct arena *arena, const struct report_option *option,
               const char *value, struct error *err) {
    void *member = member_of(options, option);
    bool is_set = true;
    switch (option->kind) {
    case REPORT_BOOL:
        if (value && parse_bool(option->name, value, &is_set, err) < 0) return -1;
        *(bool *)member = is_set;
        return 0;
    case REPORT_CHOICE:
        if (value && parse_bool(option->name, value, &is_set, err) < 0) return -1;
        return is_set ? set_choice(options, option) : 0;
    case REPORT_TEXT:
        if (!value) return error_usage(err, "%s needs a value", option->name);
        *(const char **)member = arena_text(arena, value, strlen(value));
        return 0;
    case REPORT_INT:
    case REPORT_REAL:
        if (!value) return error_usage(err, "%s needs a value", option->name);
        return set_number(member, option, value, err);
    }
    return 0;
}

const struct report_option *report_option_find(const char *name) {
    for (const struct report_option *option = report_options_table; option->name; option++)
        if (strcmp(option->name, name) == 0) return option;
    return NULL;
}

const char *report_option_nearest(const char *name) {
    static char found[NEAREST_WORD_MAX + 1];
    struct nearest nearest = {.word = name};
    for (const struct report_option *option = report_options_table; option->name; option++)
        nearest_offer(&nearest, option->name);
    memcpy(found, nearest.found, sizeof found);
    return *found ? found : NULL;
}

/* sort=cum, granularity=lines */
static int set_group(struct report_options *options, const char *group, const char *value, struct error *err) {
    for (const struct report_option *option = report_options_table; option->name; option++)
        if (option->group && strcmp(option->group, group) == 0 && value && strcmp(option->name, value) == 0)
            return set_choice(options, option);
    struct buffer members = {0};
    for (const struct report_option *option = report_options_table; option->name; option++)
        if (option->group && strcmp(option->group, group) == 0)
            buffer_printf(&members, "%s%s", members.size ? ", " : "", option->name);
    error_usage(err, "%s cannot be '%s'; it is one of %s", group, value ? value : "", buffer_text(&members));
    buffer_free(&members);
    return -1;
}

int report_option_set(struct report_options *options, struct arena *arena, const char *name, const char *value,
                      struct error *err) {
    const struct report_option *option = report_option_find(name);
    if (option) return set(options, arena, option, value, err);
    if (strcmp(name, "sort") == 0 || strcmp(name, "granularity") == 0) return set_group(options, name, value, err);
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        bool is_set = true;
        if (strcmp(indices[i].name, name) != 0) continue;
        if (value && parse_bool(name, value, &is_set, err) < 0) return -1;
        if (is_set && !*options->sample_index) options->sample_index = indices[i].index;
        if (is_set && indices[i].mean) options->mean = true;
        return 0;
    }
    return 1;
}

void report_options_init(struct report_options *options) {
    struct error ignored = {0};
    struct arena none = {0};
    *options =
        (struct report_options){.unit = "minimum", .sample_index = "", .source_path = "", .trim_path = "", .tools = ""};
    for (const struct report_option *option = report_options_table; option->name; option++)
        if (option->preset && option->kind != REPORT_TEXT) (void)set(options, &none, option, option->preset, &ignored);
}

int report_options_check(const struct report_options *options, struct error *err) {
    if (options->divide_by == 0) return error_usage(err, "divide_by must not be 0");
    return 0;
}
