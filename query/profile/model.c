#include "query/profile/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"

struct profile_texts {
    struct map map;
};

const char *profile_text(struct profile *profile, const char *text) {
    if (!profile->texts) profile->texts = xcalloc(1, sizeof *profile->texts);
    return map_put(&profile->texts->map, text, strlen(text) + 1, NULL)->key;
}

static void *copy_of(const void *items, size_t size) {
    void *copy = xmalloc(size + 1);
    if (size) memcpy(copy, items, size);
    return copy;
}

void profile_copy(struct profile *copy, struct profile *profile) {
    (void)profile_text(profile, "");
    *copy = *profile;
    copy->borrows = true;
    copy->types = copy_of(profile->types, profile->type_count * sizeof *copy->types);
    copy->comments = copy_of(profile->comments, profile->comment_count * sizeof *copy->comments);
    copy->mappings = copy_of(profile->mappings, profile->mapping_count * sizeof *copy->mappings);
    copy->functions = copy_of(profile->functions, profile->function_count * sizeof *copy->functions);
    copy->lines = copy_of(profile->lines, profile->line_count * sizeof *copy->lines);
    copy->locations = copy_of(profile->locations, profile->location_count * sizeof *copy->locations);
    copy->labels = copy_of(profile->labels, profile->label_count * sizeof *copy->labels);
    copy->label_sets = copy_of(profile->label_sets, profile->label_set_count * sizeof *copy->label_sets);
    copy->frames = copy_of(profile->frames, profile->frame_count * sizeof *copy->frames);
    copy->stacks = copy_of(profile->stacks, profile->stack_count * sizeof *copy->stacks);
    copy->samples = copy_of(profile->samples, profile->sample_count * sizeof *copy->samples);
    copy->values = copy_of(profile->values, profile->sample_count * profile->type_count * sizeof *copy->values);
    memset(&copy->room, 0, sizeof copy->room); /* each holds just what is in it: the next one that is added moves it */
}

void profile_free(struct profile *profile) {
    if (profile->texts && !profile->borrows) {
        map_free(&profile->texts->map);
        free(profile->texts);
    }
    free(profile->types);
    free(profile->comments);
    free(profile->mappings);
    free(profile->functions);
    free(profile->lines);
    free(profile->locations);
    free(profile->labels);
    free(profile->label_sets);
    free(profile->frames);
    free(profile->stacks);
    free(profile->samples);
    free(profile->values);
    *profile = (struct profile){0};
}

/* ---- adding ---- */

static void *make_room(void *items, size_t count, size_t more, size_t *room, size_t size) {
    if (count + more >= PROFILE_NONE) bug("a profile of 2^32 items");
    if (count + more <= *room) return items;
    size_t wanted = count < 16 ? 16 : count;
    while (wanted < count + more)
        wanted += wanted / 2;
    *room = wanted;
    return xrealloc(items, wanted * size);
}
#define MAKE_ROOM(profile, array, count, more)                                                                         \
    ((profile)->array =                                                                                                \
         make_room((profile)->array, (profile)->count, (more), &(profile)->room.array, sizeof *(profile)->array))

uint32_t profile_add_mapping(struct profile *profile, const struct profile_mapping *mapping) {
    MAKE_ROOM(profile, mappings, mapping_count, 1);
    profile->mappings[profile->mapping_count] = *mapping;
    return (uint32_t)profile->mapping_count++;
}

uint32_t profile_add_function(struct profile *profile, const struct profile_function *function) {
    MAKE_ROOM(profile, functions, function_count, 1);
    profile->functions[profile->function_count] = *function;
    return (uint32_t)profile->function_count++;
}

void profile_set_lines(struct profile *profile, uint32_t location, const struct profile_line *lines,
                       size_t line_count) {
    MAKE_ROOM(profile, lines, line_count, line_count);
    profile->locations[location].first_line = (uint32_t)profile->line_count;
    profile->locations[location].line_count = (uint32_t)line_count;
    if (line_count) memcpy(profile->lines + profile->line_count, lines, line_count * sizeof *lines);
    profile->line_count += line_count;
}

uint32_t profile_add_location(struct profile *profile, const struct profile_location *location,
                              const struct profile_line *lines, size_t line_count) {
    MAKE_ROOM(profile, locations, location_count, 1);
    profile->locations[profile->location_count] = *location;
    profile_set_lines(profile, (uint32_t)profile->location_count, lines, line_count);
    return (uint32_t)profile->location_count++;
}

uint32_t profile_add_labels(struct profile *profile, const struct profile_label *items, size_t count) {
    MAKE_ROOM(profile, labels, label_count, count);
    MAKE_ROOM(profile, label_sets, label_set_count, 1);
    profile->label_sets[profile->label_set_count] =
        (struct profile_labels){(uint32_t)profile->label_count, (uint32_t)count};
    if (count) memcpy(profile->labels + profile->label_count, items, count * sizeof *items);
    profile->label_count += count;
    return (uint32_t)profile->label_set_count++;
}

uint32_t profile_add_stack(struct profile *profile, const uint32_t *frames, size_t depth) {
    MAKE_ROOM(profile, frames, frame_count, depth);
    MAKE_ROOM(profile, stacks, stack_count, 1);
    profile->stacks[profile->stack_count] = (struct profile_stack){(uint32_t)profile->frame_count, (uint32_t)depth};
    if (depth) memcpy(profile->frames + profile->frame_count, frames, depth * sizeof *frames);
    profile->frame_count += depth;
    return (uint32_t)profile->stack_count++;
}

uint32_t profile_add_sample(struct profile *profile, struct profile_sample sample, const int64_t *values) {
    size_t width = profile->type_count;
    MAKE_ROOM(profile, samples, sample_count, 1);
    if (profile->sample_count * width + width > profile->room.values) {
        profile->room.values = profile->room.samples * width;
        profile->values = xrealloc(profile->values, profile->room.values * sizeof *profile->values);
    }
    profile->samples[profile->sample_count] = sample;
    memcpy(profile->values + profile->sample_count * width, values, width * sizeof *values);
    return (uint32_t)profile->sample_count++;
}

void profile_add_comment(struct profile *profile, const char *text) {
    const char *kept = profile_text(profile, text);
    for (size_t i = 0; i < profile->comment_count; i++)
        if (profile->comments[i] == kept) return;
    profile_append_comment(profile, kept);
}

void profile_append_comment(struct profile *profile, const char *text) {
    MAKE_ROOM(profile, comments, comment_count, 1);
    profile->comments[profile->comment_count++] = profile_text(profile, text);
}

void profile_give_mapping(struct profile *profile) {
    if (profile->mapping_count) return;
    const char *none = profile_text(profile, "");
    uint32_t mapping = profile_add_mapping(profile, &(struct profile_mapping){.file = none, .build_id = none});
    for (size_t i = 0; i < profile->location_count; i++)
        profile->locations[i].mapping = mapping;
}

/* ---- asking ---- */

bool profile_labels_are_base(const struct profile *profile, uint32_t labels) {
    const struct profile_labels *set = &profile->label_sets[labels];
    for (size_t i = set->first; i < (size_t)set->first + set->count; i++) {
        const struct profile_label *label = &profile->labels[i];
        if (label->text && strcmp(label->key, "pprof::base") == 0 && strcmp(label->text, "true") == 0) return true;
    }
    return false;
}

static bool has_type(const struct profile *profile, const char *name, size_t *type) {
    for (*type = 0; *type < profile->type_count; ++*type)
        if (strcmp(profile->types[*type].type, name) == 0) return true;
    return false;
}

static int no_such_type(const struct profile *profile, const char *wanted, struct error *err) {
    struct buffer known = {0};
    for (size_t i = 0; i < profile->type_count; i++)
        buffer_printf(&known, "%s%s", i ? " " : "", profile->types[i].type);
    error_usage(err, "sample_index %s: it must be 0 to %zu, or one of: %s", wanted, profile->type_count - 1,
                buffer_text(&known));
    buffer_free(&known);
    return -1;
}

int profile_find_type(const struct profile *profile, const char *wanted, size_t *type, struct error *err) {
    if (profile->type_count == 0) return error_fail(err, "the profile has no sample types");
    if (!wanted || !*wanted) {
        if (!*profile->default_type || !has_type(profile, profile->default_type, type)) *type = profile->type_count - 1;
        return 0;
    }
    char *end;
    errno = 0;
    long long number = strtoll(wanted, &end, 10);
    if (!*end && end != wanted && !errno && (*wanted == '-' || *wanted == '+' || (*wanted >= '0' && *wanted <= '9'))) {
        if (number < 0 || (size_t)number >= profile->type_count) return no_such_type(profile, wanted, err);
        *type = (size_t)number;
        return 0;
    }
    const char *shorter = strncmp(wanted, "inuse_", 6) == 0 ? wanted + 6 : wanted;
    for (*type = 0; *type < profile->type_count; ++*type) {
        const char *name = profile->types[*type].type;
        if (strcmp(name, wanted) == 0 || strcmp(name, shorter) == 0) return 0;
    }
    return no_such_type(profile, wanted, err);
}

/* ---- changing ---- */

void profile_keep_types(struct profile *profile, const size_t *kept, size_t count) {
    size_t width = profile->type_count;
    for (size_t i = 0; i < count; i++)
        profile->types[i] = profile->types[kept[i]];
    for (size_t sample = 0; sample < profile->sample_count; sample++)
        for (size_t i = 0; i < count; i++)
            profile->values[sample * count + i] = profile->values[sample * width + kept[i]];
    profile->type_count = count;
}

void profile_retype(struct profile *profile, struct profile_type *types, size_t count, int64_t *values) {
    free(profile->types);
    free(profile->values);
    profile->types = types;
    profile->values = values;
    profile->type_count = count;
    profile->room.values = profile->sample_count * count;
}

/* Whole numbers are not exact as a double beyond 2^53, so a change of the sign is made without one. */
static bool scale_one(int64_t *value, double ratio) {
    if (ratio == -1) return !__builtin_sub_overflow((int64_t)0, *value, value);
    double product = round((double)*value * ratio);
    if (!(fabs(product) < 0x1p63)) return false;
    *value = (int64_t)product;
    return true;
}

int profile_scale(struct profile *profile, const double *ratios, struct error *err) {
    size_t width = profile->type_count, kept = 0;
    bool changes = false;
    for (size_t i = 0; i < width; i++)
        changes |= ratios[i] != 1;
    if (!changes) return 0;
    for (size_t sample = 0; sample < profile->sample_count; sample++) {
        int64_t *values = profile->values + sample * width;
        bool keep = false;
        for (size_t i = 0; i < width; i++) {
            if (ratios[i] == 1) continue;
            if (!scale_one(&values[i], ratios[i]))
                return error_fail(err, "%s: a value is larger than 2^63 - 1 after it was multiplied by %g",
                                  profile->types[i].type, ratios[i]);
            keep |= values[i] != 0;
        }
        if (!keep) continue;
        memmove(profile->values + kept * width, values, width * sizeof *values);
        profile->samples[kept++] = profile->samples[sample];
    }
    profile->sample_count = kept;
    return 0;
}
