#include "query/profile/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"

enum { FIRST_SLOTS = 1024 };

void profile_build(struct profile_builder *builder, struct profile *profile, const struct profile_type *types,
                   size_t count) {
    *builder = (struct profile_builder){.profile = profile};
    *profile = (struct profile){.type_count = count, .types = xcalloc(count + 1, sizeof *profile->types)};
    for (size_t i = 0; i < count; i++)
        profile->types[i] =
            (struct profile_type){profile_text(profile, types[i].type), profile_text(profile, types[i].unit)};
    const char *none = profile_text(profile, "");
    profile->default_type = profile->drop_frames = profile->keep_frames = profile->doc_url = none;
    profile->period_type = (struct profile_type){none, none};
    (void)profile_build_labels(builder, NULL, 0);
}

void profile_build_exact(struct profile_builder *builder, struct profile *profile, const struct profile_type *types,
                         size_t count) {
    profile_build(builder, profile, types, count);
    builder->is_exact = true;
}

/* ---- names ---- */

/* Of an exact profile all is looked at, of a merged one size, offset and name. */
struct mapping_key {
    uint64_t start, size, offset;
    const char *name, *build_id; /* merged: the build id, else the file; and none */
    uint64_t flags;
};

uint32_t profile_build_mapping(struct profile_builder *builder, const struct profile_mapping *mapping, int64_t *shift) {
    struct profile *profile = builder->profile;
    struct profile_mapping kept = *mapping;
    kept.file = profile_text(profile, mapping->file);
    kept.build_id = profile_text(profile, mapping->build_id);
    uint64_t size = mapping->limit - mapping->start;
    struct mapping_key key = {.offset = mapping->offset};
    if (builder->is_exact) {
        key.start = mapping->start;
        key.size = size;
        key.name = kept.file;
        key.build_id = kept.build_id;
        key.flags = (uint64_t)mapping->has_functions | (uint64_t)mapping->has_filenames << 1 |
                    (uint64_t)mapping->has_line_numbers << 2 | (uint64_t)mapping->has_inline_frames << 3;
    } else {
        key.size = (size + 0xfff) & ~(uint64_t)0xfff;
        key.name = *kept.build_id ? kept.build_id : kept.file;
    }
    bool added;
    struct map_entry *entry = map_put(&builder->mappings, &key, sizeof key, &added);
    if (added) entry->value = profile_add_mapping(profile, &kept);
    *shift = (int64_t)(profile->mappings[entry->value].start - mapping->start);
    return (uint32_t)entry->value;
}

uint32_t profile_build_function(struct profile_builder *builder, const struct profile_function *function) {
    struct profile *profile = builder->profile;
    struct profile_function key;
    memset(&key, 0, sizeof key);
    key.name = profile_text(profile, function->name);
    key.system_name = profile_text(profile, function->system_name);
    key.file = profile_text(profile, function->file);
    key.start_line = function->start_line;
    bool added;
    struct map_entry *entry = map_put(&builder->functions, &key, sizeof key, &added);
    if (added) entry->value = profile_add_function(profile, &key);
    return (uint32_t)entry->value;
}

uint32_t profile_build_location(struct profile_builder *builder, const struct profile_location *location,
                                const struct profile_line *lines, size_t line_count) {
    struct profile *profile = builder->profile;
    uint64_t start = location->mapping == PROFILE_NONE ? 0 : profile->mappings[location->mapping].start;
    uint64_t head[] = {location->address - start, location->mapping, location->is_folded};
    struct buffer key = {0};
    buffer_add(&key, head, sizeof head);
    for (size_t i = 0; i < line_count; i++) {
        int64_t line[] = {lines[i].function, lines[i].line, lines[i].column};
        buffer_add(&key, line, builder->is_exact ? sizeof line : 2 * sizeof *line);
    }
    bool added;
    struct map_entry *entry = map_put(&builder->locations, key.data, key.size, &added);
    if (added) entry->value = profile_add_location(profile, location, lines, line_count);
    buffer_free(&key);
    return (uint32_t)entry->value;
}

static int compare_labels(const void *left, const void *right) {
    const struct profile_label *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    if (order) return order;
    return (a->text == NULL) - (b->text == NULL);
}

/* Values of one key keep their order, so qsort will not do. */
static void sort_labels(struct profile_label *items, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && compare_labels(&items[j - 1], &items[j]) > 0; j--) {
            struct profile_label item = items[j];
            items[j] = items[j - 1];
            items[j - 1] = item;
        }
}

/* profile.proto has no way to tell the number 0 from no value at all, and pprof reads such a label as none. */
static bool is_nothing(const struct profile_label *label) {
    return !label->text && !label->number && (!label->unit || !*label->unit);
}

uint32_t profile_build_labels(struct profile_builder *builder, const struct profile_label *items, size_t count) {
    struct profile *profile = builder->profile;
    struct profile_label *key = xcalloc(count + 1, sizeof *key);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!builder->is_exact && is_nothing(&items[i])) continue;
        key[kept].key = profile_text(profile, items[i].key);
        key[kept].text = items[i].text ? profile_text(profile, items[i].text) : NULL;
        key[kept].unit = profile_text(profile, items[i].unit && !items[i].text ? items[i].unit : "");
        key[kept++].number = items[i].text ? 0 : items[i].number;
    }
    sort_labels(key, kept);
    bool added;
    struct map_entry *entry = map_put(&builder->label_sets, key, kept * sizeof *key, &added);
    if (added) entry->value = profile_add_labels(profile, key, kept);
    free(key);
    return (uint32_t)entry->value;
}

/* ---- stacks and samples ---- */

static uint64_t hash_stack(const uint32_t *frames, size_t depth) {
    return hash_bytes(frames, depth * sizeof *frames);
}

static uint64_t hash_stack_at(const struct profile *profile, size_t index) {
    const struct profile_stack *stack = &profile->stacks[index];
    return hash_stack(profile->frames + stack->first, stack->depth);
}

static uint64_t hash_sample(struct profile_sample sample) {
    return hash_mix((uint64_t)sample.stack << 32 | sample.labels);
}

static uint64_t hash_sample_at(const struct profile *profile, size_t index) {
    return hash_sample(profile->samples[index]);
}

/* Makes room for one more than the `used` stacks or samples of the profile. */
static void reserve_slot(struct profile_slots *slots, const struct profile *profile, size_t used,
                         uint64_t (*hash_at)(const struct profile *, size_t)) {
    if ((used + 1) * 4 <= slots->count * 3) return;
    if (!slots->count) slots->count = FIRST_SLOTS;
    while ((used + 1) * 4 > slots->count * 3)
        slots->count *= 2;
    free(slots->items);
    slots->items = xcalloc(slots->count, sizeof *slots->items);
    for (size_t i = 0; i < used; i++) {
        size_t slot = hash_at(profile, i) & (slots->count - 1);
        while (slots->items[slot])
            slot = (slot + 1) & (slots->count - 1);
        slots->items[slot] = (uint32_t)i + 1;
    }
}

uint32_t profile_build_stack(struct profile_builder *builder, const uint32_t *frames, size_t depth) {
    struct profile *profile = builder->profile;
    reserve_slot(&builder->stack_slots, profile, profile->stack_count, hash_stack_at);
    uint32_t *slots = builder->stack_slots.items;
    size_t mask = builder->stack_slots.count - 1, slot = hash_stack(frames, depth) & mask;
    for (; slots[slot]; slot = (slot + 1) & mask) {
        const struct profile_stack *stack = &profile->stacks[slots[slot] - 1];
        if (stack->depth == depth &&
            (depth == 0 || memcmp(profile->frames + stack->first, frames, depth * sizeof *frames) == 0))
            return slots[slot] - 1;
    }
    slots[slot] = profile_add_stack(profile, frames, depth) + 1;
    return slots[slot] - 1;
}

uint32_t profile_build_new_stack(struct profile_builder *builder, const uint32_t *frames, size_t depth) {
    bool is_alone = builder->is_exact && !builder->stack_slots.count;
    return is_alone ? profile_add_stack(builder->profile, frames, depth) : profile_build_stack(builder, frames, depth);
}

static bool is_zero(const int64_t *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (values[i]) return false;
    return true;
}

static int add_values(struct profile *profile, size_t sample, const int64_t *values, struct error *err) {
    int64_t *sums = profile->values + sample * profile->type_count;
    for (size_t i = 0; i < profile->type_count; i++)
        if (__builtin_add_overflow(sums[i], values[i], &sums[i]))
            return error_fail(err, "the sum of %s/%s is larger than 2^63 - 1", profile->types[i].type,
                              profile->types[i].unit);
    return 0;
}

int profile_build_sample(struct profile_builder *builder, uint32_t stack, uint32_t labels, const int64_t *values,
                         struct error *err) {
    struct profile *profile = builder->profile;
    struct profile_sample sample = {stack, labels};
    reserve_slot(&builder->sample_slots, profile, profile->sample_count, hash_sample_at);
    uint32_t *slots = builder->sample_slots.items;
    size_t mask = builder->sample_slots.count - 1, slot = hash_sample(sample) & mask;
    for (; slots[slot]; slot = (slot + 1) & mask) {
        size_t found = slots[slot] - 1;
        if (profile->samples[found].stack == stack && profile->samples[found].labels == labels)
            return add_values(profile, found, values, err);
    }
    slots[slot] = profile_add_sample(profile, sample, values) + 1;
    return 0;
}

int profile_build_new_sample(struct profile_builder *builder, uint32_t stack, uint32_t labels, const int64_t *values,
                             struct error *err) {
    if (!builder->is_exact || builder->sample_slots.count)
        return profile_build_sample(builder, stack, labels, values, err);
    (void)profile_add_sample(builder->profile, (struct profile_sample){stack, labels}, values);
    return 0;
}

/* ---- profiles of profiles ---- */

/* What one profile's indices are in the one that is built: PROFILE_NONE where nothing needed them yet. */
struct adding {
    struct profile_builder *builder;
    const struct profile *from;
    uint32_t *mappings, *functions, *locations, *label_sets, *stacks;
    int64_t *shifts;
    struct profile_line *lines; /* scratch */
    uint32_t *frames;
    size_t line_room, frame_room;
};

static uint32_t *table(size_t count) {
    uint32_t *indices = xmalloc((count + 1) * sizeof *indices);
    memset(indices, 0xff, (count + 1) * sizeof *indices);
    return indices;
}

static uint32_t add_mapping(struct adding *adding, uint32_t index, int64_t *shift) {
    *shift = 0;
    if (index == PROFILE_NONE) return PROFILE_NONE;
    uint32_t *known = &adding->mappings[index];
    if (*known == PROFILE_NONE)
        *known = profile_build_mapping(adding->builder, &adding->from->mappings[index], &adding->shifts[index]);
    *shift = adding->shifts[index];
    return *known;
}

static uint32_t add_location(struct adding *adding, uint32_t index) {
    uint32_t *known = &adding->locations[index];
    if (*known != PROFILE_NONE) return *known;
    struct profile_location location = adding->from->locations[index];
    int64_t shift;
    location.mapping = add_mapping(adding, location.mapping, &shift);
    location.address += (uint64_t)shift;
    if (location.line_count > adding->line_room) {
        adding->line_room = location.line_count * 2;
        adding->lines = xrealloc(adding->lines, adding->line_room * sizeof *adding->lines);
    }
    for (size_t i = 0; i < location.line_count; i++) {
        adding->lines[i] = adding->from->lines[location.first_line + i];
        uint32_t *function = &adding->functions[adding->lines[i].function];
        if (*function == PROFILE_NONE)
            *function = profile_build_function(adding->builder, &adding->from->functions[adding->lines[i].function]);
        adding->lines[i].function = *function;
    }
    return *known = profile_build_location(adding->builder, &location, adding->lines, location.line_count);
}

static uint32_t add_stack(struct adding *adding, uint32_t index) {
    uint32_t *known = &adding->stacks[index];
    if (*known != PROFILE_NONE) return *known;
    const struct profile_stack *stack = &adding->from->stacks[index];
    if (stack->depth > adding->frame_room) {
        adding->frame_room = stack->depth * 2;
        adding->frames = xrealloc(adding->frames, adding->frame_room * sizeof *adding->frames);
    }
    for (size_t i = 0; i < stack->depth; i++)
        adding->frames[i] = add_location(adding, adding->from->frames[stack->first + i]);
    return *known = profile_build_stack(adding->builder, adding->frames, stack->depth);
}

static uint32_t add_labels(struct adding *adding, uint32_t index) {
    uint32_t *known = &adding->label_sets[index];
    const struct profile_labels *set = &adding->from->label_sets[index];
    if (*known == PROFILE_NONE)
        *known = profile_build_labels(adding->builder, adding->from->labels + set->first, set->count);
    return *known;
}

static int add_samples(struct adding *adding, struct error *err) {
    const struct profile *from = adding->from;
    for (size_t i = 0; i < from->sample_count; i++) {
        const int64_t *values = from->values + i * from->type_count;
        if (!adding->builder->keeps_zero && is_zero(values, from->type_count)) continue;
        uint32_t stack = add_stack(adding, from->samples[i].stack);
        uint32_t labels = add_labels(adding, from->samples[i].labels);
        if (profile_build_sample(adding->builder, stack, labels, values, err) < 0) return -1;
    }
    return 0;
}

int profile_build_profile(struct profile_builder *builder, const struct profile *from, struct error *err) {
    struct adding adding = {.builder = builder, .from = from};
    int64_t shift;
    adding.mappings = table(from->mapping_count);
    adding.shifts = xcalloc(from->mapping_count + 1, sizeof *adding.shifts);
    adding.functions = table(from->function_count);
    adding.locations = table(from->location_count);
    adding.label_sets = table(from->label_set_count);
    adding.stacks = table(from->stack_count);
    /* The first mapping of the first profile is the main binary, whatever the stacks go through first. An exact one has it already. */
    bool has_main = builder->is_exact || builder->profile->mapping_count;
    if (!has_main && from->mapping_count) (void)add_mapping(&adding, 0, &shift);
    int code = add_samples(&adding, err);
    free(adding.mappings);
    free(adding.shifts);
    free(adding.functions);
    free(adding.locations);
    free(adding.label_sets);
    free(adding.stacks);
    free(adding.lines);
    free(adding.frames);
    return code;
}

void profile_build_head(struct profile_builder *builder, const struct profile *from) {
    struct profile *profile = builder->profile;
    int64_t shift;
    if (!builder->has_head) {
        profile->period_type.type = profile_text(profile, from->period_type.type);
        profile->period_type.unit = profile_text(profile, from->period_type.unit);
        profile->drop_frames = profile_text(profile, from->drop_frames);
        profile->keep_frames = profile_text(profile, from->keep_frames);
        profile->doc_url = profile_text(profile, from->doc_url);
    }
    if (profile->time_ns == 0 || from->time_ns < profile->time_ns) profile->time_ns = from->time_ns;
    profile->duration_ns += from->duration_ns;
    if (profile->period == 0 || profile->period < from->period) profile->period = from->period;
    for (size_t i = 0; i < from->comment_count; i++)
        profile_add_comment(profile, from->comments[i]);
    for (size_t i = 0; builder->is_exact && i < from->mapping_count; i++)
        (void)profile_build_mapping(builder, &from->mappings[i], &shift);
    if (!*profile->default_type) profile->default_type = profile_text(profile, from->default_type);
    builder->has_head = true;
}

/* ---- the end ---- */

static void free_builder(struct profile_builder *builder) {
    map_free(&builder->mappings);
    map_free(&builder->functions);
    map_free(&builder->locations);
    map_free(&builder->label_sets);
    free(builder->stack_slots.items);
    free(builder->sample_slots.items);
    *builder = (struct profile_builder){0};
}

/* What is used of a profile without its samples of nothing, numbered anew. */
static void compact(struct profile *profile, bool is_exact) {
    struct profile whole = *profile;
    struct profile_builder builder;
    struct error err = {0};
    (is_exact ? profile_build_exact : profile_build)(&builder, profile, whole.types, whole.type_count);
    profile_build_head(&builder, &whole);
    if (profile_build_profile(&builder, &whole, &err) < 0) bug("samples that are unlike become one: %s", err.message);
    free_builder(&builder);
    profile_free(&whole);
}

void profile_built(struct profile_builder *builder) {
    struct profile *profile = builder->profile;
    bool has_zero = false, is_exact = builder->is_exact;
    for (size_t i = 0; i < profile->sample_count && !has_zero && !builder->keeps_zero; i++)
        has_zero = is_zero(profile->values + i * profile->type_count, profile->type_count);
    free_builder(builder);
    if (has_zero) compact(profile, is_exact);
}

int profile_merge(struct profile *merged, const struct profile *a, const struct profile *b, struct error *err) {
    struct profile_builder builder;
    profile_build(&builder, merged, a->types, a->type_count);
    profile_build_head(&builder, a);
    profile_build_head(&builder, b);
    int code = profile_build_profile(&builder, a, err);
    if (code == 0) code = profile_build_profile(&builder, b, err);
    profile_built(&builder);
    if (code < 0) profile_free(merged);
    return code;
}
