#include "query/report/options.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/buffer.h"

#define AT(member) offsetof(struct report_options, member)
#define TEXT(name_, parameter_, member, argument_, words_, help_)                                                      \
    {                                                                                                                  \
        .name = name_, .parameter = parameter_, .type = OPTION_TEXT, .offset = AT(member), .argument = argument_,      \
        .words = words_, .help = help_                                                                                 \
    }
#define SWITCH(name_, parameter_, member, help_)                                                                       \
    { .name = name_, .parameter = parameter_, .type = OPTION_SWITCH, .offset = AT(member), .help = help_ }
#define NUMBER(name_, parameter_, type_, preset_, argument_, help_)                                                    \
    {                                                                                                                  \
        .name = #name_, .parameter = parameter_, .type = type_, .offset = AT(name_), .preset = preset_,                \
        .argument = argument_, .help = help_                                                                           \
    }
#define SORT(name_, value, help_)                                                                                      \
    { .name = name_, .type = OPTION_CHOICE, .offset = AT(cum), .choice_of = "sort", .choice = value, .help = help_ }
#define GRANULARITY(name_, value, help_)                                                                               \
    {                                                                                                                  \
        .name = name_, .parameter = "g", .type = OPTION_CHOICE, .offset = AT(granularity), .choice_of = "granularity", \
        .choice = value, .help = help_                                                                                 \
    }

const struct option_row report_shown_rows[] = {
    SORT("flat", 0, "Sort by flat value: the function's own (default)."),
    SORT("cum", 1, "Sort by cumulative value: the function and all that it calls."),
    GRANULARITY("functions", GRANULARITY_FUNCTIONS, "One entry for each function (default)."),
    GRANULARITY("filefunctions", GRANULARITY_FILEFUNCTIONS, "One entry for each function and source file."),
    GRANULARITY("files", GRANULARITY_FILES, "One entry for each source file."),
    GRANULARITY("lines", GRANULARITY_LINES, "One entry for each source line."),
    GRANULARITY("addresses", GRANULARITY_ADDRESSES, "One entry for each address."),
    SWITCH("noinlines", "noinlines", noinlines,
           "Attribute inlined functions to their first caller that is not inlined."),
    SWITCH("showcolumns", NULL, showcolumns, "With `--lines` and `--addresses`, distinguish the columns of a line."),
    {.name = "nodecount",
     .parameter = "n",
     .letter = 'n',
     .type = OPTION_INTEGER,
     .offset = AT(nodecount),
     .preset = "-1",
     .is_number = true,
     .argument = "N",
     .help = "Show at most N entries; `-5` is short for `-n 5`. Default: all in text, 80 elsewhere."},
    NUMBER(nodefraction, "nf", OPTION_REAL, "0.005", "F",
           "Hide entries below this fraction of the total. Default: 0.005."),
    NUMBER(edgefraction, NULL, OPTION_REAL, "0.001", "F",
           "Hide calls below this fraction of the total. Default: 0.001."),
    {.name = "trim",
     .type = OPTION_SWITCH,
     .offset = AT(trim),
     .preset = "true",
     .help = "Apply nodecount, nodefraction and edgefraction (default). `trim=false` shows everything."},
    SWITCH("all", NULL, all, "Show everything, print unrounded numbers, and say whether the values are exact."),
    SWITCH("margin", NULL, margin,
           "For `top` of sampled figures: a column that says how far flat% may be off, in 95 of 100 runs. "
           "`clear top` has it by itself; `margin=false` leaves it out."),
    SWITCH("call_tree", NULL, call_tree, "One node for each call path, in graphs and callgrind."),
    SWITCH("all_types", NULL, all_types,
           "For callgrind: an event for each sample type, not only the one that is shown."),
    SWITCH("before_after", NULL, before_after, "For callgrind: two events for a difference, before and after."),
    SWITCH("inverted", NULL, inverted, "For packed and `root`: the leaf at the root."),
    TEXT("pivot", NULL, pivot, "REGEX", NULL,
         "For packed and `root`: the functions that match at the root, and what they call; with inverted, what calls "
         "them."),
    SWITCH("fold", NULL, fold, "For `root`: a function that calls itself is its outermost call."),
    TEXT("around", NULL, around, "REGEX", NULL,
         "For json: the functions that match, what calls them, and what they call."),
    TEXT("title", NULL, title, "TEXT", NULL, "Title of a flame graph. Default: the kind and the run."),
    SWITCH("compact_labels", NULL, compact_labels, "Print a short header."),
    {0},
};

const struct option_row report_value_rows[] = {
    TEXT("sample_index", NULL, sample_index, "TYPE", "<sample-type>",
         "The sample type to show: its name, or its number from 0."),
    {.name = "unit",
     .parameter = "unit",
     .type = OPTION_TEXT,
     .offset = AT(unit),
     .preset = "minimum",
     .argument = "UNIT",
     .words = "minimum auto ns us ms s B kB MB GB",
     .help = "Unit of the values: `ms`, `MB`, ..., `auto`, or `minimum` (default)."},
    NUMBER(divide_by, NULL, OPTION_REAL, "1", "N", "Divide all values by N."),
    SWITCH("mean", "mean", mean, "Divide each value by the first sample type, a count."),
    SWITCH("relative_percentages", "rel", relative_percentages,
           "Percentages of what the filters leave, not of the whole profile."),
    SWITCH("normalize", "norm", normalize, "Scale the profile to the total of the base before subtracting it."),
    SWITCH("drop_negative", "dropneg", drop_negative, "Ignore negative differences."),
    {0},
};

const struct option_row report_filter_rows[] = {
    TEXT("focus", "f", filter.focus, "REGEX", NULL,
         "Keep samples that have a frame that matches: function, file or binary name."),
    TEXT("ignore", "i", filter.ignore, "REGEX", NULL, "Drop samples that have a frame that matches."),
    TEXT("show", "s", filter.show, "REGEX", NULL, "Keep frames that match; others are removed from the stacks."),
    TEXT("hide", "h", filter.hide, "REGEX", NULL, "Remove frames that match from the stacks."),
    TEXT("show_from", "sf", filter.show_from, "REGEX", NULL, "Remove frames above the topmost one that matches."),
    TEXT("root", NULL, root, "STACK", NULL,
         "Keep samples whose stack begins with these names: `main;parse`, as folded stacks have them; with inverted, "
         "from the leaf. Or those of a box of the browser's flame graph, by its number in the URL (`zoom=`)."),
    TEXT("prune_from", "p", filter.prune_from, "REGEX", NULL, "Remove frames below the first one that matches."),
    {0},
};

const struct option_row report_label_rows[] = {
    TEXT("tagfocus", "tf", filter.tagfocus, "TAGS", NULL,
         "Keep samples with a label that matches: `REGEX`, `REGEX,REGEX`, `KEY=REGEX`, or a range of a number "
         "(`128kb:512kb`, `KEY=1ms:`)."),
    TEXT("tagignore", "ti", filter.tagignore, "TAGS", NULL, "Drop samples with a label that matches."),
    TEXT("tagshow", "ts", filter.tagshow, "REGEX", NULL, "Keep labels whose key matches."),
    TEXT("taghide", "th", filter.taghide, "REGEX", NULL, "Remove labels whose key matches."),
    TEXT("tagroot", "tagroot", filter.tagroot, "KEYS", NULL,
         "Add a frame at the root of each stack for the values of these labels."),
    TEXT("tagleaf", "tagleaf", filter.tagleaf, "KEYS", NULL,
         "Add a frame at the leaf of each stack for the values of these labels."),
    {0},
};

const struct option_row report_runs_rows[] = {
    SWITCH("over_runs", NULL, over_runs, "`top`, `json`: mean and standard deviation of each function over the runs."),
    TEXT("by_tag", NULL, by_tag, "KEY", "<tag-key>",
         "`top`, `json`: one column for each value of a tag of the runs, or else of a label of the samples."),
    TEXT(
        "history", NULL, history, "REGEX", NULL,
        "`json`: for each run, the oldest first, what the functions that match cost together, and where that changed."),
    NUMBER(columns, NULL, OPTION_INTEGER, "8", "N",
           "With `by_tag`: at most N columns; the others are summed. Default: 8."),
    {0},
};

const struct option_row report_code_rows[] = {
    TEXT("source_path", NULL, source_path, "PATHS", "<directory>",
         "Directories to search for source files, separated by colons."),
    TEXT("only_source_path", NULL, only_source_path, "PATHS", "<directory>",
         "Read source files below these directories (`:` for none) and that of the warehouse alone."),
    TEXT("trim_path", NULL, trim_path, "PATHS", "<directory>",
         "Prefixes to remove from source paths, separated by colons."),
    SWITCH("intel_syntax", NULL, intel_syntax, "Show machine code in Intel syntax."),
    {0},
};

/* ---- older names ---- */

/* pprof's older words for -sample_index. */
static const struct {
    const char *name, *index;
    bool mean;
} indices[] = {{"inuse_space", "inuse_space", false}, {"inuse_objects", "inuse_objects", false},
               {"alloc_space", "alloc_space", false}, {"alloc_objects", "alloc_objects", false},
               {"total_delay", "delay", false},       {"contentions", "contentions", false},
               {"mean_delay", "delay", true}};

static int take_index(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct report_options *options = into;
    bool is_set = true;
    size_t i = 0;
    while (strcmp(indices[i].name, row->name) != 0)
        i++;
    if (text && option_bool(row->name, text, &is_set, err) < 0) return -1;
    if (is_set && !*options->sample_index) options->sample_index = indices[i].index;
    if (is_set && indices[i].mean) options->mean = true;
    return 0;
}

/* sort=cum, granularity=lines; and granularity=(default), as the prompt lists it. */
static int take_choice(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct buffer members = {0};
    if (strcmp(row->name, "granularity") == 0 && strcmp(text, "(default)") == 0) {
        ((struct report_options *)into)->granularity = GRANULARITY_DEFAULT;
        return 0;
    }
    for (const struct option_row *member = report_shown_rows; member->name; member++) {
        if (!member->choice_of || strcmp(member->choice_of, row->name) != 0) continue;
        if (strcmp(member->name, text) == 0) {
            buffer_free(&members);
            return option_set(&(struct option_place){member, into}, row->name, NULL, err);
        }
        buffer_printf(&members, "%s%s", members.size ? ", " : "", member->name);
    }
    error_usage(err, "%s cannot be '%s'; it is one of %s", row->name, text, buffer_text(&members));
    buffer_free(&members);
    return -1;
}

#define OLDER(name_)                                                                                                   \
    { .name = name_, .type = OPTION_TAKE, .take = take_index }
const struct option_row report_older_rows[] = {
    OLDER("inuse_space"),
    OLDER("inuse_objects"),
    OLDER("alloc_space"),
    OLDER("alloc_objects"),
    OLDER("total_delay"),
    OLDER("contentions"),
    OLDER("mean_delay"),
    {.name = "sort", .type = OPTION_TAKE, .take = take_choice, .argument = "flat|cum"},
    {.name = "granularity", .type = OPTION_TAKE, .take = take_choice, .argument = "NAME"},
    {0},
};

/* ---- all of them ---- */

static const struct option_group option_groups[] = {REPORT_OPTION_GROUPS(0), {0}};

bool report_option_next(struct option_walk *walk) {
    if (!walk->group) walk->group = option_groups;
    while (option_next(walk))
        if (walk->row->help) return true;
    return false;
}

const struct option_row *report_option_find(const char *name) {
    for (struct option_walk walk = {0}; report_option_next(&walk);)
        if (strcmp(walk.row->name, name) == 0) return walk.row;
    return NULL;
}

int report_option_set(struct report_options *options, struct arena *arena, const char *name, const char *value,
                      struct error *err) {
    const struct option_place place = option_find(option_groups, options, name);
    if (!place.row) return 1;
    return option_set(&place, name, value ? arena_text(arena, value, strlen(value)) : NULL, err);
}

void report_options_init(struct report_options *options) {
    *options = (struct report_options){.sample_index = "",
                                       .source_path = "",
                                       .only_source_path = "",
                                       .trim_path = "",
                                       .tools = "",
                                       .title = "",
                                       .base_title = ""};
    option_preset(option_groups, options);
}

int report_options_check(const struct report_options *options, struct error *err) {
    if (options->divide_by == 0) return error_usage(err, "divide_by must not be 0");
    return 0;
}

static bool is_same_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same(const struct option_row *row, const void *a, const void *b) {
    switch (row->type) {
    case OPTION_SWITCH: return *(const bool *)a == *(const bool *)b;
    case OPTION_CHOICE: return *(const int *)a == *(const int *)b;
    case OPTION_INTEGER: return *(const int64_t *)a == *(const int64_t *)b;
    case OPTION_REAL: return *(const double *)a == *(const double *)b;
    case OPTION_TEXT: return is_same_text(*(const char *const *)a, *(const char *const *)b);
    default: return true; /* another name for one of those */
    }
}

void report_option_state(const struct report_options *options, const struct option_row *row, struct buffer *out) {
    struct report_options preset;
    report_options_init(&preset);
    const void *value = (const char *)options + row->offset;
    if (!row->parameter || is_same(row, value, (const char *)&preset + row->offset)) return;
    switch (row->type) {
    case OPTION_SWITCH: buffer_add_text(out, *(const bool *)value ? "1" : ""); break;
    case OPTION_CHOICE: buffer_add_text(out, *(const int *)value == row->choice ? row->name : ""); break;
    case OPTION_INTEGER: buffer_printf(out, "%" PRId64, *(const int64_t *)value); break;
    case OPTION_REAL: buffer_printf(out, "%.10g", *(const double *)value); break;
    case OPTION_TEXT: buffer_add_text(out, *(const char *const *)value); break;
    default: break;
    }
}

const char *report_options_changed(const struct report_options *options) {
    struct report_options preset;
    report_options_init(&preset);
    for (struct option_walk walk = {.group = option_groups}; option_next(&walk);) {
        const void *value = (const char *)options + walk.row->offset;
        bool is_choice = walk.row->type == OPTION_CHOICE && *(const int *)value != walk.row->choice;
        if (!is_choice && !is_same(walk.row, value, (const char *)&preset + walk.row->offset)) return walk.row->name;
    }
    return NULL;
}
