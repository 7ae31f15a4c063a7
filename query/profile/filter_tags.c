#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "query/profile/filter.h"
#include "query/profile/scale.h"

/* ---- units of numeric labels ---- */

static struct filter_unit *find_unit(const struct filter_units *units, const char *key) {
    for (size_t i = 0; i < units->count; i++)
        if (strcmp(units->items[i].key, key) == 0) return &units->items[i];
    return NULL;
}

const char *filter_units_of(const struct filter_units *units, const char *key) {
    const struct filter_unit *found = find_unit(units, key);
    return found ? found->unit : "";
}

static void note_unit(struct filter_units *units, const struct profile_label *label, filter_note *note, void *context) {
    struct filter_unit *found = find_unit(units, label->key);
    if (!found) {
        units->items = xrealloc(units->items, (units->count + 1) * sizeof *units->items);
        found = &units->items[units->count++];
        *found = (struct filter_unit){label->key, ""};
    }
    if (!*label->unit) return;
    if (!*found->unit) {
        found->unit = label->unit;
    } else if (strcmp(found->unit, label->unit) != 0 && note) {
        char *message =
            xasprintf("For tag %s used unit %s, also encountered unit(s) %s", label->key, found->unit, label->unit);
        note(context, message);
        free(message);
    }
}

void filter_units_find(struct filter_units *units, struct profile *profile, filter_note *note, void *context) {
    *units = (struct filter_units){0};
    bool *seen = xcalloc(profile->label_set_count + 1, sizeof *seen);
    for (size_t i = 0; i < profile->sample_count; i++) {
        uint32_t index = profile->samples[i].labels;
        const struct profile_labels *set = &profile->label_sets[index];
        for (size_t at = 0; at < set->count && !seen[index]; at++)
            if (!profile->labels[set->first + at].text)
                note_unit(units, &profile->labels[set->first + at], note, context);
        seen[index] = true;
    }
    for (size_t i = 0; i < units->count; i++) {
        struct filter_unit *unit = &units->items[i];
        bool is_size = strcmp(unit->key, "alignment") == 0 || strcmp(unit->key, "request") == 0;
        if (!*unit->unit) unit->unit = is_size ? "bytes" : unit->key;
    }
    free(seen);
}

void filter_units_free(struct filter_units *units) {
    free(units->items);
    *units = (struct filter_units){0};
}

/* ---- tagfocus and tagignore ---- */

struct tag_filter {
    bool is_set, is_range;
    char *key;        /* "" any; owned */
    double low, high; /* of a range, both inclusive; without a bound infinite */
    const char *unit; /* of a range; may point into `text` */
    char *text;       /* owned */
    struct pattern **patterns;
    size_t count;
};

/* [+-]digits[letters], as it stands in a range. */
struct bound {
    const char *start, *end;
    int64_t number;
    char unit[32];
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* 1: the next one is found, 0: there is none, -1: a number beyond 64 bits. */
static int find_bound(const char *at, struct bound *bound) {
    while (*at && !is_digit(*at) && !((*at == '-' || *at == '+') && is_digit(at[1])))
        at++;
    if (!*at) return 0;
    char *end;
    errno = 0;
    bound->start = at;
    bound->number = strtoll(at, &end, 10);
    if (errno) return -1;
    size_t size = 0;
    while (is_letter(end[size]))
        size++;
    if (size >= sizeof bound->unit) size = sizeof bound->unit - 1;
    memcpy(bound->unit, end, size);
    bound->unit[size] = '\0';
    bound->end = end + size;
    return 1;
}

/* 1: VALUE, VALUE:, :VALUE or LOW:HIGH; 0: something else, so it is a pattern. */
static int parse_range(struct tag_filter *filter, const char *option, const char *value, struct error *err) {
    struct bound low, high;
    int found = find_bound(value, &low), second = found > 0 ? find_bound(low.end, &high) : 0;
    if (found < 0 || second < 0) return error_usage(err, "%s %s: a number beyond 64 bits", option, value);
    if (!found) return 0;
    filter->text = xstrdup(low.unit);
    double scaled = scale_value(low.number, filter->text, filter->text, &filter->unit);
    filter->low = filter->high = scaled;
    if (second) {
        const char *unit;
        filter->high = scale_value(high.number, high.unit, filter->unit, &unit);
        return low.start == value && *low.end == ':' && high.start == low.end + 1 && !*high.end &&
               strcmp(unit, filter->unit) == 0;
    }
    if (low.start == value && !*low.end) return 1;
    if (low.start == value && strcmp(low.end, ":") == 0) {
        filter->high = __builtin_inf();
        return 1;
    }
    filter->low = -__builtin_inf();
    return *value == ':' && low.start == value + 1 && !*low.end;
}

static int tag_filter_check(const struct tag_filter *filter, struct error *err) {
    for (size_t i = 0; i < filter->count; i++)
        if (pattern_check(filter->patterns[i], err) < 0) return -1;
    return 0;
}

static void tag_filter_free(struct tag_filter *filter) {
    for (size_t i = 0; i < filter->count; i++)
        pattern_free(filter->patterns[i]);
    free(filter->patterns);
    free(filter->key);
    free(filter->text);
}

static int compile_patterns(struct tag_filter *filter, const char *option, const char *value, struct error *err) {
    char *copy = xstrdup(value), *rest = copy, *one;
    while (err->status == ERROR_NONE && (one = strsep(&rest, ","))) {
        struct pattern *pattern = pattern_compile(option, one, err);
        if (!pattern) break;
        filter->patterns = xrealloc(filter->patterns, (filter->count + 1) * sizeof(struct pattern *));
        filter->patterns[filter->count++] = pattern;
    }
    free(copy);
    return err->status == ERROR_NONE ? 0 : -1;
}

static int tag_filter_open(struct tag_filter *filter, const char *option, const char *value, filter_note *note,
                           void *context, struct error *err) {
    *filter = (struct tag_filter){0};
    if (!value || !*value) return 0;
    const char *equals = strchr(value, '=');
    filter->is_set = true;
    filter->key = xstrdup(equals ? value : "");
    if (equals) {
        filter->key[equals - value] = '\0';
        value = equals + 1;
    }
    int range = parse_range(filter, option, value, err);
    if (range < 0) return -1;
    filter->is_range = range;
    if (!range) return compile_patterns(filter, option, value, err);
    if (note) {
        char *message = xasprintf("%s:Interpreted '%s' as range, not regexp", option, value);
        note(context, message);
        free(message);
    }
    return 0;
}

static bool range_takes(const struct tag_filter *filter, const struct filter_units *units,
                        const struct profile_label *label) {
    if (label->text || (*filter->key && strcmp(filter->key, label->key) != 0)) return false;
    const char *unit;
    double value = scale_value(label->number, filter_units_of(units, label->key), filter->unit, &unit);
    return strcmp(unit, filter->unit) == 0 && value >= filter->low && value <= filter->high;
}

/* With a key the value must match, without one "key:value". */
static bool pattern_takes(const struct tag_filter *filter, struct pattern *pattern, const struct profile_label *label) {
    if (!label->text) return false;
    if (*filter->key) return strcmp(filter->key, label->key) == 0 && pattern_matches(pattern, label->text);
    char *both = xasprintf("%s:%s", label->key, label->text);
    bool matches = pattern_matches(pattern, both);
    free(both);
    return matches;
}

/* Any of a range; of patterns any one with a key, all of them without. */
static bool takes_labels(const struct tag_filter *filter, const struct filter_units *units,
                         const struct profile *profile, const struct profile_labels *set) {
    const struct profile_label *labels = profile->labels + set->first;
    bool any = false;
    for (size_t i = 0; i < set->count && filter->is_range; i++)
        any |= range_takes(filter, units, &labels[i]);
    for (size_t at = 0; at < filter->count; at++) {
        bool met = false;
        for (size_t i = 0; i < set->count && !met; i++)
            met = pattern_takes(filter, filter->patterns[at], &labels[i]);
        if (!met && !*filter->key) return false;
        any |= met;
    }
    return any;
}

static void warn(bool is_met, const char *name, filter_note *note, void *context) {
    if (is_met || !note) return;
    char *message = xasprintf("%s expression matched no samples", name);
    note(context, message);
    free(message);
}

enum { TAG_FOCUSED = 1, TAG_IGNORED = 2, TAG_KNOWN = 4 };

static void filter_samples(struct profile *profile, const struct tag_filter *focus, const struct tag_filter *ignore,
                           const struct filter_units *units, unsigned *met) {
    unsigned char *sets = xcalloc(profile->label_set_count + 1, sizeof *sets);
    size_t kept = 0, width = profile->type_count;
    for (size_t i = 0; i < profile->sample_count; i++) {
        unsigned char *verdict = &sets[profile->samples[i].labels];
        const struct profile_labels *set = &profile->label_sets[profile->samples[i].labels];
        if (!*verdict) {
            *verdict = TAG_KNOWN;
            if (!focus->is_set || takes_labels(focus, units, profile, set)) *verdict |= TAG_FOCUSED;
            if (ignore->is_set && takes_labels(ignore, units, profile, set)) *verdict |= TAG_IGNORED;
        }
        *met |= *verdict;
        if (!(*verdict & TAG_FOCUSED) || *verdict & TAG_IGNORED) continue;
        profile->samples[kept] = profile->samples[i];
        memmove(profile->values + kept++ * width, profile->values + i * width, width * sizeof *profile->values);
    }
    profile->sample_count = kept;
    free(sets);
}

/* ---- tagshow and taghide ---- */

static void filter_keys(struct profile *profile, struct pattern *show, struct pattern *hide, bool *shown,
                        bool *hidden) {
    bool *used = xcalloc(profile->label_set_count + 1, sizeof *used);
    for (size_t i = 0; i < profile->sample_count; i++)
        used[profile->samples[i].labels] = true;
    for (size_t at = 0; at < profile->label_set_count; at++) {
        struct profile_labels *set = &profile->label_sets[at];
        struct profile_label *labels = profile->labels + set->first;
        uint32_t kept = 0;
        for (size_t i = 0; i < set->count && used[at]; i++) {
            bool is_shown = !show || pattern_matches(show, labels[i].key);
            bool is_hidden = hide && pattern_matches(hide, labels[i].key);
            *shown |= is_shown;
            *hidden |= is_hidden;
            if (is_shown && !is_hidden) labels[kept++] = labels[i];
        }
        if (used[at]) set->count = kept;
    }
    free(used);
}

static int apply_keys(struct profile *profile, const struct filter_options *options, filter_note *note, void *context,
                      struct error *err) {
    struct pattern *show = NULL, *hide = NULL;
    bool shown = false, hidden = false;
    if (options->tagshow && *options->tagshow && !(show = pattern_compile("tagshow", options->tagshow, err))) return -1;
    if (options->taghide && *options->taghide) hide = pattern_compile("taghide", options->taghide, err);
    if (err->status == ERROR_NONE && (show || hide)) {
        filter_keys(profile, show, hide, &shown, &hidden);
        if (pattern_check(show, err) == 0) (void)pattern_check(hide, err);
        warn(!show || shown, "TagShow", note, context);
        warn(!hide || hidden, "TagHide", note, context);
    }
    pattern_free(show);
    pattern_free(hide);
    return err->status == ERROR_NONE ? 0 : -1;
}

int filter_by_tags(struct profile *profile, const struct filter_options *options, const struct filter_units *units,
                   filter_note *note, void *context, struct error *err) {
    struct tag_filter focus = {0}, ignore = {0};
    unsigned met = 0;
    int code = tag_filter_open(&focus, "tagfocus", options->tagfocus, note, context, err);
    if (code == 0) code = tag_filter_open(&ignore, "tagignore", options->tagignore, note, context, err);
    if (code == 0 && (focus.is_set || ignore.is_set)) {
        filter_samples(profile, &focus, &ignore, units, &met);
        code = tag_filter_check(&focus, err) < 0 ? -1 : tag_filter_check(&ignore, err);
        warn(!focus.is_set || met & TAG_FOCUSED, "TagFocus", note, context);
        warn(!ignore.is_set || met & TAG_IGNORED, "TagIgnore", note, context);
    }
    tag_filter_free(&focus);
    tag_filter_free(&ignore);
    return code < 0 ? -1 : apply_keys(profile, options, note, context, err);
}

/* ---- tagroot and tagleaf ---- */

struct tag_keys {
    char *copy;
    const char **items;
    size_t count;
    bool met;
};

static void keys_open(struct tag_keys *keys, const char *list) {
    *keys = (struct tag_keys){0};
    if (!list || !*list) return;
    char *rest = keys->copy = xstrdup(list), *one;
    keys->items = xcalloc(strlen(list) + 1, sizeof *keys->items);
    while ((one = strsep(&rest, ",")))
        if (*one) keys->items[keys->count++] = one;
}

static void keys_free(struct tag_keys *keys) {
    free(keys->copy);
    free(keys->items);
}

/* All values of a key, as "a,b"; numbers in `unit`. */
static bool join_values(const struct profile *profile, const struct profile_labels *set, const char *key,
                        const char *unit, struct buffer *text) {
    bool any = false, has_units = false;
    buffer_clear(text);
    for (size_t i = 0; i < set->count; i++) {
        const struct profile_label *label = &profile->labels[set->first + i];
        has_units |= !label->text && *label->unit && strcmp(label->key, key) == 0;
    }
    for (size_t i = 0; i < set->count; i++) {
        const struct profile_label *label = &profile->labels[set->first + i];
        if (strcmp(label->key, key) != 0) continue;
        if (any) buffer_add_char(text, ',');
        if (label->text)
            buffer_add_text(text, label->text);
        else
            scale_label(text, label->number, has_units ? label->unit : "", has_units ? unit : "");
        any = true;
    }
    return any;
}

/* The frames of a label set, the last key first: leaf first, and the first key nearest the root. */
static void add_frames(struct profile *profile, struct tag_keys *keys, uint32_t labels, const char *unit,
                       struct map *known, struct buffer *frames) {
    struct buffer text = {0};
    for (size_t i = keys->count; i-- > 0;) {
        const struct profile_labels *set = &profile->label_sets[labels];
        keys->met |= join_values(profile, set, keys->items[i], unit, &text);
        struct profile_function function = {.name = profile_text(profile, buffer_text(&text)),
                                            .system_name = profile_text(profile, ""),
                                            .file = profile_text(profile, keys->items[i])};
        const char *key[] = {function.name, function.file};
        bool added;
        struct map_entry *entry = map_put(known, key, sizeof key, &added);
        if (added) {
            struct profile_line line = {.function = profile_add_function(profile, &function)};
            entry->value = profile_add_location(profile, &(struct profile_location){.mapping = PROFILE_NONE}, &line, 1);
        }
        uint32_t frame = (uint32_t)entry->value;
        buffer_add(frames, &frame, sizeof frame);
    }
    buffer_free(&text);
}

void filter_add_tag_frames(struct profile *profile, const struct filter_options *options, const char *unit,
                           filter_note *note, void *context) {
    struct tag_keys roots, leaves;
    struct map known = {0};
    struct buffer frames = {0}, above = {0};
    keys_open(&roots, options->tagroot);
    keys_open(&leaves, options->tagleaf);
    for (size_t i = 0; i < profile->sample_count && roots.count + leaves.count; i++) {
        struct profile_sample *sample = &profile->samples[i];
        buffer_clear(&frames);
        buffer_clear(&above);
        add_frames(profile, &roots, sample->labels, unit, &known, &above); /* first: they are numbered so */
        add_frames(profile, &leaves, sample->labels, unit, &known, &frames);
        const struct profile_stack *stack = &profile->stacks[sample->stack];
        buffer_add(&frames, profile->frames + stack->first, stack->depth * sizeof *profile->frames);
        buffer_add(&frames, above.data, above.size);
        sample->stack = profile_add_stack(profile, (const uint32_t *)(const void *)frames.data,
                                          frames.size / sizeof *profile->frames);
    }
    warn(!roots.copy || roots.met, "TagRoot", note, context);
    warn(!leaves.copy || leaves.met, "TagLeaf", note, context);
    keys_free(&roots);
    keys_free(&leaves);
    map_free(&known);
    buffer_free(&frames);
    buffer_free(&above);
}
