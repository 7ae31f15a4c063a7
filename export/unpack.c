#include "export/unpack.h"

#include <stdlib.h>
#include <string.h>

#include "profile.pb-c.h"
#include "query/profile/build.h"

struct unpacking {
    const Perftools__Profiles__Profile *from;
    struct profile_builder builder;
    bool keeps_base;
    uint32_t *functions, *locations; /* [id] */
};

static const char *text_of(const struct unpacking *unpacking, int64_t index) {
    return unpacking->from->string_table[index];
}

static struct profile_type type_of(const struct unpacking *unpacking, const Perftools__Profiles__ValueType *type) {
    return (struct profile_type){text_of(unpacking, type ? type->type : 0), text_of(unpacking, type ? type->unit : 0)};
}

static uint32_t add_mapping(struct unpacking *unpacking, uint64_t id, int64_t *shift) {
    *shift = 0;
    for (size_t i = 0; i < unpacking->from->n_mapping; i++) {
        const Perftools__Profiles__Mapping *mapping = unpacking->from->mapping[i];
        if (mapping->id != id) continue;
        return profile_build_mapping(&unpacking->builder,
                                     &(struct profile_mapping){.start = mapping->memory_start,
                                                               .limit = mapping->memory_limit,
                                                               .offset = mapping->file_offset,
                                                               .file = text_of(unpacking, mapping->filename),
                                                               .build_id = text_of(unpacking, mapping->build_id),
                                                               .has_functions = mapping->has_functions,
                                                               .has_filenames = mapping->has_filenames,
                                                               .has_line_numbers = mapping->has_line_numbers,
                                                               .has_inline_frames = mapping->has_inline_frames},
                                     shift);
    }
    return PROFILE_NONE;
}

static uint32_t add_function(struct unpacking *unpacking, uint64_t id) {
    const Perftools__Profiles__Function *function = unpacking->from->function[id - 1];
    if (unpacking->functions[id] == PROFILE_NONE)
        unpacking->functions[id] = profile_build_function(
            &unpacking->builder, &(struct profile_function){.name = text_of(unpacking, function->name),
                                                            .system_name = text_of(unpacking, function->system_name),
                                                            .file = text_of(unpacking, function->filename),
                                                            .start_line = function->start_line});
    return unpacking->functions[id];
}

static uint32_t add_location(struct unpacking *unpacking, uint64_t id) {
    const Perftools__Profiles__Location *from = unpacking->from->location[id - 1];
    int64_t shift;
    if (unpacking->locations[id] != PROFILE_NONE) return unpacking->locations[id];
    struct profile_location location = {.mapping = add_mapping(unpacking, from->mapping_id, &shift),
                                        .is_folded = from->is_folded};
    location.address = from->address + (uint64_t)shift;
    struct profile_line *lines = xcalloc(from->n_line + 1, sizeof *lines);
    for (size_t i = 0; i < from->n_line; i++)
        lines[i] = (struct profile_line){.function = add_function(unpacking, from->line[i]->function_id),
                                         .line = from->line[i]->line,
                                         .column = from->line[i]->column};
    unpacking->locations[id] = profile_build_location(&unpacking->builder, &location, lines, from->n_line);
    free(lines);
    return unpacking->locations[id];
}

static void add_sample(struct unpacking *unpacking, const Perftools__Profiles__Sample *sample) {
    struct profile *profile = unpacking->builder.profile;
    uint32_t *frames = xcalloc(sample->n_location_id + 1, sizeof *frames);
    struct profile_label *labels = xcalloc(sample->n_label + 1, sizeof *labels);
    size_t count = 0;
    for (size_t i = 0; i < sample->n_location_id; i++)
        frames[i] = add_location(unpacking, sample->location_id[i]);
    for (size_t i = 0; i < sample->n_label; i++) {
        const Perftools__Profiles__Label *label = sample->label[i];
        const char *key = text_of(unpacking, label->key);
        if (!unpacking->keeps_base && strcmp(key, "pprof::base") == 0) continue;
        labels[count++] =
            (struct profile_label){.key = profile_text(profile, key),
                                   .text = label->str ? profile_text(profile, text_of(unpacking, label->str)) : NULL,
                                   .unit = profile_text(profile, text_of(unpacking, label->num_unit)),
                                   .number = label->num};
    }
    uint32_t stack = profile_build_stack(&unpacking->builder, frames, sample->n_location_id);
    profile_build_sample(&unpacking->builder, stack, profile_build_labels(&unpacking->builder, labels, count),
                         sample->value);
    free(frames);
    free(labels);
}

static void add_head(const struct unpacking *unpacking, struct profile *profile) {
    const Perftools__Profiles__Profile *from = unpacking->from;
    const struct profile_type period_type = type_of(unpacking, from->period_type);
    profile->default_type = profile_text(profile, text_of(unpacking, from->default_sample_type));
    profile->period_type =
        (struct profile_type){profile_text(profile, period_type.type), profile_text(profile, period_type.unit)};
    profile->period = from->period;
    profile->time_ns = from->time_nanos;
    profile->duration_ns = from->duration_nanos;
    profile->drop_frames = profile_text(profile, text_of(unpacking, from->drop_frames));
    profile->keep_frames = profile_text(profile, text_of(unpacking, from->keep_frames));
    profile->doc_url = profile_text(profile, text_of(unpacking, from->doc_url));
    for (size_t i = 0; i < from->n_comment; i++)
        profile_add_comment(profile, text_of(unpacking, from->comment[i]));
}

static uint32_t *make_ids(size_t count) {
    uint32_t *ids = xcalloc(count + 1, sizeof *ids);
    memset(ids, 0xff, (count + 1) * sizeof *ids);
    return ids;
}

int profile_unpack(struct profile *profile, const struct buffer *bytes, bool keeps_base, struct error *err) {
    Perftools__Profiles__Profile *from =
        perftools__profiles__profile__unpack(NULL, bytes->size, (const uint8_t *)bytes->data);
    if (!from) return error_fail(err, "not enough memory for a profile of %zu bytes", bytes->size);
    struct unpacking unpacking = {.from = from,
                                  .keeps_base = keeps_base,
                                  .functions = make_ids(from->n_function),
                                  .locations = make_ids(from->n_location)};
    struct profile_type *types = xcalloc(from->n_sample_type + 1, sizeof *types);
    for (size_t i = 0; i < from->n_sample_type; i++)
        types[i] = type_of(&unpacking, from->sample_type[i]);
    profile_build(&unpacking.builder, profile, types, from->n_sample_type);
    add_head(&unpacking, profile);
    int64_t shift;
    if (from->n_mapping) (void)add_mapping(&unpacking, from->mapping[0]->id, &shift); /* the program */
    for (size_t i = 0; i < from->n_sample; i++)
        add_sample(&unpacking, from->sample[i]);
    profile_built(&unpacking.builder);
    free(types);
    free(unpacking.functions);
    free(unpacking.locations);
    perftools__profiles__profile__free_unpacked(from, NULL);
    return 0;
}
