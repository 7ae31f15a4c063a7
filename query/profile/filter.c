#include "query/profile/filter.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a pattern meets ---- */

/* One pattern over the functions and mappings of a profile: each text is matched once. */
struct matches {
    struct profile *profile;
    struct pattern *pattern;
    signed char *functions, *mappings; /* 0 not tried, 1 matches, -1 does not */
};

static int matches_open(struct matches *matches, struct profile *profile, const char *option, const char *regex,
                        struct error *err) {
    *matches = (struct matches){.profile = profile};
    if (!regex || !*regex) return 0;
    matches->pattern = pattern_compile(option, regex, err);
    if (!matches->pattern) return -1;
    matches->functions = xcalloc(profile->function_count + 1, 1);
    matches->mappings = xcalloc(profile->mapping_count + 1, 1);
    return 0;
}

/* A report of which nobody knows what the pattern would have left is none. */
static int matches_close(struct matches *matches, struct error *err) {
    int code = pattern_check(matches->pattern, err);
    pattern_free(matches->pattern);
    free(matches->functions);
    free(matches->mappings);
    return code;
}

static bool in_function(struct matches *matches, uint32_t index) {
    signed char *known = &matches->functions[index];
    const struct profile_function *function = &matches->profile->functions[index];
    if (!*known)
        *known = pattern_matches(matches->pattern, function->name) || pattern_matches(matches->pattern, function->file)
                     ? 1
                     : -1;
    return *known > 0;
}

static bool in_mapping(struct matches *matches, const struct profile_location *location) {
    if (location->mapping == PROFILE_NONE) return false;
    signed char *known = &matches->mappings[location->mapping];
    if (!*known)
        *known = pattern_matches(matches->pattern, matches->profile->mappings[location->mapping].file) ? 1 : -1;
    return *known > 0;
}

static struct profile_line *lines_of(const struct profile *profile, const struct profile_location *location) {
    return profile->lines + location->first_line;
}

static bool in_location(struct matches *matches, const struct profile_location *location) {
    const struct profile_line *lines = lines_of(matches->profile, location);
    for (size_t i = 0; i < location->line_count; i++)
        if (in_function(matches, lines[i].function)) return true;
    return in_mapping(matches, location);
}

/* Keeps those lines of the location whose functions match, or those that do not. */
static void keep_lines(struct matches *matches, struct profile_location *location, bool matching) {
    struct profile_line *lines = lines_of(matches->profile, location);
    uint32_t kept = 0;
    for (size_t i = 0; i < location->line_count; i++)
        if (in_function(matches, lines[i].function) == matching) lines[kept++] = lines[i];
    location->line_count = kept;
}

/* ---- stacks and samples ---- */

void filter_drop_samples(struct profile *profile, const bool *dropped) {
    size_t kept = 0, width = profile->type_count;
    for (size_t i = 0; i < profile->sample_count; i++) {
        if (dropped[profile->samples[i].stack]) continue;
        profile->samples[kept] = profile->samples[i];
        memmove(profile->values + kept++ * width, profile->values + i * width, width * sizeof *profile->values);
    }
    profile->sample_count = kept;
}

/* ---- focus, ignore, hide, show ---- */

enum { FRAME_OTHER, FRAME_FOCUSED, FRAME_IGNORED };

struct name_filter {
    struct matches focus, ignore, hide, show;
    bool focus_met, ignore_met, hide_met, show_met, any_hidden;
    unsigned char *frames; /* [location]: what it is to focus and ignore */
    bool *hidden;          /* [location] */
};

static void filter_location(struct name_filter *filter, struct profile *profile, size_t index) {
    struct profile_location *location = &profile->locations[index];
    if (filter->ignore.pattern && in_location(&filter->ignore, location)) {
        filter->ignore_met = true;
        filter->frames[index] = FRAME_IGNORED;
    } else if (!filter->focus.pattern || in_location(&filter->focus, location)) {
        filter->focus_met = true;
        filter->frames[index] = FRAME_FOCUSED;
    }
    if (filter->hide.pattern && in_location(&filter->hide, location)) {
        filter->hide_met = true;
        if (in_mapping(&filter->hide, location))
            location->line_count = 0;
        else
            keep_lines(&filter->hide, location, false);
        filter->hidden[index] = location->line_count == 0;
    }
    if (filter->show.pattern) {
        if (!in_mapping(&filter->show, location)) keep_lines(&filter->show, location, true);
        if (location->line_count == 0) filter->hidden[index] = true;
        filter->show_met |= location->line_count > 0;
    }
    filter->any_hidden |= filter->hidden[index];
}

/* Is there a focused frame, and none that is ignored? */
static bool is_wanted(const struct name_filter *filter, const struct profile *profile,
                      const struct profile_stack *stack) {
    bool focused = false;
    for (size_t i = 0; i < stack->depth; i++) {
        unsigned char frame = filter->frames[profile->frames[stack->first + i]];
        if (frame == FRAME_IGNORED) return false;
        focused |= frame == FRAME_FOCUSED;
    }
    return focused;
}

static void hide_frames(const struct name_filter *filter, struct profile *profile, struct profile_stack *stack) {
    uint32_t kept = 0, *frames = profile->frames + stack->first;
    for (size_t i = 0; i < stack->depth; i++)
        if (!filter->hidden[frames[i]]) frames[kept++] = frames[i];
    stack->depth = kept;
}

/* A sample without a stack has no focused frame: any pattern drops it, as in pprof. */
static void filter_by_name(struct name_filter *filter, struct profile *profile) {
    if (!filter->focus.pattern && !filter->ignore.pattern && !filter->hide.pattern && !filter->show.pattern) return;
    bool *dropped = xcalloc(profile->stack_count + 1, sizeof *dropped);
    filter->frames = xcalloc(profile->location_count + 1, sizeof *filter->frames);
    filter->hidden = xcalloc(profile->location_count + 1, sizeof *filter->hidden);
    for (size_t i = 0; i < profile->location_count; i++)
        filter_location(filter, profile, i);
    for (size_t i = 0; i < profile->stack_count; i++) {
        struct profile_stack *stack = &profile->stacks[i];
        dropped[i] = !is_wanted(filter, profile, stack);
        if (dropped[i] || !filter->any_hidden) continue;
        hide_frames(filter, profile, stack);
        dropped[i] = stack->depth == 0;
    }
    filter_drop_samples(profile, dropped);
    free(dropped);
    free(filter->frames);
    free(filter->hidden);
}

static void warn(bool is_met, const char *name, filter_note *note, void *context) {
    if (is_met || !note) return;
    char *message = xasprintf("%s expression matched no samples", name);
    note(context, message);
    free(message);
}

static int apply_names(struct profile *profile, const struct filter_options *options, filter_note *note, void *context,
                       struct error *err) {
    struct name_filter filter = {0};
    int code = matches_open(&filter.focus, profile, "focus", options->focus, err) ||
                       matches_open(&filter.ignore, profile, "ignore", options->ignore, err) ||
                       matches_open(&filter.hide, profile, "hide", options->hide, err) ||
                       matches_open(&filter.show, profile, "show", options->show, err)
                   ? -1
                   : 0;
    if (code == 0) {
        filter_by_name(&filter, profile);
        warn(!filter.focus.pattern || filter.focus_met, "Focus", note, context);
        warn(!filter.ignore.pattern || filter.ignore_met, "Ignore", note, context);
        warn(!filter.hide.pattern || filter.hide_met, "Hide", note, context);
        warn(!filter.show.pattern || filter.show_met, "Show", note, context);
    }
    struct matches *const all[] = {&filter.focus, &filter.ignore, &filter.hide, &filter.show};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (matches_close(all[i], err) < 0) code = -1;
    return code;
}

/* ---- show_from ---- */

/* Lines after the last one that matches are callers above it: they go, unless the whole mapping was meant. */
static bool cut_location(struct matches *matches, struct profile_location *location) {
    const struct profile_line *lines = lines_of(matches->profile, location);
    if (in_mapping(matches, location)) return true;
    for (uint32_t i = location->line_count; i-- > 0;)
        if (in_function(matches, lines[i].function)) {
            location->line_count = i + 1;
            return true;
        }
    return false;
}

static int apply_show_from(struct profile *profile, const char *regex, filter_note *note, void *context,
                           struct error *err) {
    struct matches matches;
    bool met = false;
    if (matches_open(&matches, profile, "show_from", regex, err) < 0) return -1;
    if (!matches.pattern) return 0;
    bool *from = xcalloc(profile->location_count + 1, sizeof *from);
    bool *dropped = xcalloc(profile->stack_count + 1, sizeof *dropped);
    for (size_t i = 0; i < profile->location_count; i++)
        met |= from[i] = cut_location(&matches, &profile->locations[i]);
    for (size_t i = 0; i < profile->stack_count; i++) {
        struct profile_stack *stack = &profile->stacks[i];
        while (stack->depth && !from[profile->frames[stack->first + stack->depth - 1]])
            stack->depth--;
        dropped[i] = stack->depth == 0;
    }
    filter_drop_samples(profile, dropped);
    warn(met, "ShowFrom", note, context);
    free(from);
    free(dropped);
    return matches_close(&matches, err);
}

/* ---- drop_frames and prune_from ---- */

/* A function's name without its arguments, as drop_frames, keep_frames and prune_from are matched against. free() it. */
static char *simplify_name(const char *name) {
    static const char *const reserved[] = {"(anonymous namespace)", "operator()"};
    char *simple = xstrdup(*name == '.' ? name + 1 : name);
    for (char *at = simple; *at;) {
        size_t skip = 0;
        for (size_t i = 0; i < sizeof reserved / sizeof *reserved && !skip; i++)
            if (strncmp(at, reserved[i], strlen(reserved[i])) == 0) skip = strlen(reserved[i]);
        if (!skip && *at == '(') *at = '\0';
        at += skip ? skip : *at != '\0';
    }
    return simple;
}

/* [function]: does its simplified name match, and is it not to be kept? */
static bool *match_simplified(const struct profile *profile, struct pattern *drop, struct pattern *keep) {
    bool *matches = xcalloc(profile->function_count + 1, sizeof *matches);
    for (size_t i = 0; i < profile->function_count; i++) {
        if (!*profile->functions[i].name) continue;
        char *name = simplify_name(profile->functions[i].name);
        matches[i] = pattern_matches(drop, name) && !(keep && pattern_matches(keep, name));
        free(name);
    }
    return matches;
}

enum { PRUNE_NOT, PRUNE_WHOLE, PRUNE_BENEATH };

/* The outermost line that matches goes with all it inlined; the location too where nothing is left of it. */
static unsigned char prune_location(const struct profile *profile, struct profile_location *location,
                                    const bool *matches) {
    for (uint32_t i = location->line_count; i-- > 0;) {
        if (!matches[profile->lines[location->first_line + i].function]) continue;
        if (i + 1 == location->line_count) return PRUNE_WHOLE;
        location->first_line += i + 1;
        location->line_count -= i + 1;
        return PRUNE_BENEATH;
    }
    return PRUNE_NOT;
}

/* From the root: what matches goes with all it called, but not before the first frame that does not match. */
static void prune_stack(const struct profile *profile, struct profile_stack *stack, const unsigned char *prune) {
    bool found_user = false;
    for (uint32_t i = stack->depth; i-- > 0;) {
        unsigned char how = prune[profile->frames[stack->first + i]];
        if (how == PRUNE_NOT) {
            found_user = true;
        } else if (found_user) {
            uint32_t cut = how == PRUNE_WHOLE ? i + 1 : i;
            stack->first += cut;
            stack->depth -= cut;
            return;
        }
    }
}

static struct pattern *compile_frames(const char *option, const char *regex, struct error *err) {
    if (!*regex) return NULL;
    char *whole = xasprintf("^(%s)$", regex);
    struct pattern *pattern = pattern_compile(option, whole, err);
    free(whole);
    return pattern;
}

int filter_uninteresting(struct profile *profile, struct error *err) {
    struct pattern *drop = compile_frames("drop_frames", profile->drop_frames, err);
    if (!drop) return err->status == ERROR_NONE ? 0 : -1;
    struct pattern *keep = compile_frames("keep_frames", profile->keep_frames, err);
    if (err->status == ERROR_NONE) {
        bool *matches = match_simplified(profile, drop, keep);
        unsigned char *prune = xcalloc(profile->location_count + 1, sizeof *prune);
        for (size_t i = 0; i < profile->location_count; i++)
            prune[i] = prune_location(profile, &profile->locations[i], matches);
        for (size_t i = 0; i < profile->stack_count; i++)
            prune_stack(profile, &profile->stacks[i], prune);
        free(matches);
        free(prune);
    }
    pattern_free(drop);
    pattern_free(keep);
    return err->status == ERROR_NONE ? 0 : -1;
}

/* From the leaf: what the first frame that matches called goes. */
static int apply_prune_from(struct profile *profile, const char *regex, struct error *err) {
    if (!regex || !*regex) return 0;
    struct pattern *pattern = pattern_compile("prune_from", regex, err);
    if (!pattern) return -1;
    bool *matches = match_simplified(profile, pattern, NULL);
    bool *from = xcalloc(profile->location_count + 1, sizeof *from);
    for (size_t i = 0; i < profile->location_count; i++) {
        struct profile_location *location = &profile->locations[i];
        for (uint32_t at = 0; at < location->line_count && !from[i]; at++)
            if (matches[profile->lines[location->first_line + at].function]) {
                from[i] = true;
                location->first_line += at;
                location->line_count -= at;
            }
    }
    for (size_t i = 0; i < profile->stack_count; i++) {
        struct profile_stack *stack = &profile->stacks[i];
        uint32_t cut = 0;
        while (cut < stack->depth && !from[profile->frames[stack->first + cut]])
            cut++;
        if (cut == stack->depth) continue;
        stack->first += cut;
        stack->depth -= cut;
    }
    int code = pattern_check(pattern, err);
    free(matches);
    free(from);
    pattern_free(pattern);
    return code;
}

/* ---- all of them ---- */

int filter_apply(struct profile *profile, const struct filter_options *options, const struct filter_units *units,
                 filter_note *note, void *context, struct error *err) {
    if (apply_names(profile, options, note, context, err) < 0) return -1;
    if (apply_show_from(profile, options->show_from, note, context, err) < 0) return -1;
    if (filter_by_tags(profile, options, units, note, context, err) < 0) return -1;
    return apply_prune_from(profile, options->prune_from, err);
}

void filter_aggregate(struct profile *profile, enum filter_granularity granularity, bool noinlines, bool columns) {
    bool functions = granularity != GRANULARITY_FILES;
    bool files = granularity != GRANULARITY_FUNCTIONS;
    bool lines = granularity == GRANULARITY_LINES || granularity == GRANULARITY_ADDRESSES;
    bool addresses = granularity == GRANULARITY_ADDRESSES;
    const char *none = profile_text(profile, "");
    for (size_t i = 0; i < profile->mapping_count; i++) {
        struct profile_mapping *mapping = &profile->mappings[i];
        mapping->has_functions &= functions;
        mapping->has_filenames &= files;
        mapping->has_line_numbers &= lines;
        mapping->has_inline_frames &= !noinlines;
    }
    for (size_t i = 0; i < profile->function_count; i++) {
        if (!functions) profile->functions[i].name = profile->functions[i].system_name = none;
        if (!files) profile->functions[i].file = none;
    }
    for (size_t i = 0; i < profile->location_count; i++) {
        struct profile_location *location = &profile->locations[i];
        if (noinlines && location->line_count > 1) {
            location->first_line += location->line_count - 1;
            location->line_count = 1;
        }
        for (size_t at = 0; at < location->line_count; at++) {
            struct profile_line *line = &profile->lines[location->first_line + at];
            if (!lines) line->line = 0;
            if (!lines || !columns) line->column = 0;
        }
        if (!addresses) location->address = 0;
    }
}
