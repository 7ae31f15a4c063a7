#include "export/encode.h"

#include <stdlib.h>

#include "export/file.h"
#include "export/pprof.h"

struct encoding {
    const struct profile *profile;
    struct pprof_writer *writer;
    uint64_t *ids;   /* of the locations of a stack */
    int64_t *values; /* of a sample */
    struct pprof_label *labels;
};

static void add_head(const struct encoding *encoding) {
    const struct profile *profile = encoding->profile;
    struct pprof_writer *writer = encoding->writer;
    for (size_t i = 0; i < profile->type_count; i++)
        pprof_sample_type(writer, profile->types[i].type, profile->types[i].unit);
    if (*profile->default_type) pprof_default_type(writer, profile->default_type);
    pprof_period(writer, profile->period_type.type, profile->period_type.unit, profile->period);
    pprof_time(writer, profile->time_ns, profile->duration_ns);
    for (size_t i = 0; i < profile->comment_count; i++)
        pprof_comment(writer, profile->comments[i]);
    pprof_frames(writer, profile->drop_frames, profile->keep_frames);
    pprof_doc_url(writer, profile->doc_url);
}

static void add_location(const struct encoding *encoding, const struct profile_location *location) {
    const struct profile *profile = encoding->profile;
    struct pprof_line *lines = xcalloc(location->line_count + 1, sizeof *lines);
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_line *line = &profile->lines[location->first_line + i];
        lines[i] = (struct pprof_line){line->function + 1, line->line, line->column};
    }
    uint64_t mapping = location->mapping == PROFILE_NONE ? 0 : location->mapping + 1;
    pprof_location(encoding->writer, mapping, location->address, location->is_folded, lines, location->line_count);
    free(lines);
}

static void add_names(const struct encoding *encoding) {
    const struct profile *profile = encoding->profile;
    for (size_t i = 0; i < profile->mapping_count; i++) {
        const struct profile_mapping *mapping = &profile->mappings[i];
        pprof_mapping(encoding->writer, mapping->start, mapping->limit, mapping->offset, mapping->file,
                      mapping->build_id, mapping->has_functions, mapping->has_filenames, mapping->has_line_numbers,
                      mapping->has_inline_frames);
    }
    for (size_t i = 0; i < profile->function_count; i++) {
        const struct profile_function *function = &profile->functions[i];
        pprof_function(encoding->writer, function->name, function->system_name, function->file, function->start_line);
    }
    for (size_t i = 0; i < profile->location_count; i++)
        add_location(encoding, &profile->locations[i]);
}

static int add_sample(struct encoding *encoding, size_t index, struct error *err) {
    const struct profile *profile = encoding->profile;
    const struct profile_stack *stack = &profile->stacks[profile->samples[index].stack];
    const struct profile_labels *set = &profile->label_sets[profile->samples[index].labels];
    encoding->ids = xrealloc(encoding->ids, (stack->depth + 1) * sizeof *encoding->ids);
    encoding->labels = xrealloc(encoding->labels, (set->count + 1) * sizeof *encoding->labels);
    for (uint32_t i = 0; i < stack->depth; i++)
        encoding->ids[i] = profile->frames[stack->first + i] + 1;
    for (size_t i = 0; i < profile->type_count; i++)
        encoding->values[i] = profile_value(profile, index, i);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct profile_label *label = &profile->labels[set->first + i];
        encoding->labels[i] = (struct pprof_label){label->key, label->text, label->number, label->unit};
    }
    return pprof_sample(encoding->writer, encoding->ids, stack->depth, encoding->values, encoding->labels, set->count,
                        err);
}

int encode_profile(const struct profile *profile, struct buffer *out, struct error *err) {
    struct file file;
    file_open_memory(&file, "the profile", out);
    struct encoding encoding = {.profile = profile, .writer = pprof_open_file(&file, 0)};
    int code = 0;
    encoding.values = xcalloc(profile->type_count + 1, sizeof *encoding.values);
    add_head(&encoding);
    add_names(&encoding);
    for (size_t i = 0; i < profile->sample_count && code == 0; i++)
        code = add_sample(&encoding, i, err);
    free(encoding.ids);
    free(encoding.values);
    free(encoding.labels);
    if (code == 0) return pprof_close(encoding.writer, err);
    pprof_abandon(encoding.writer);
    return -1;
}
