#include "export/encode.h"

#include <stdlib.h>

#include "export/file.h"
#include "export/pprof.h"

/* ---- in the order of their first use ---- */

static int open_writer(struct encoder *encoder, const struct profile *profile, struct error *err) {
    const struct encode_target *target = &encoder->target;
    struct file file;
    if (target->bytes)
        file_open_memory(&file, "the profile", target->bytes);
    else if (file_open(&file, target->path, true, err) < 0)
        return -1;
    encoder->writer = pprof_open_file(&file, target->level);
    encoder->profile = profile;
    for (size_t i = 0; i < profile->type_count; i++)
        pprof_sample_type(encoder->writer, &profile->types[i]);
    return 0;
}

static uint32_t put_function(struct encoder *encoder, uint32_t index) {
    uint32_t *id = &encoder->functions[index];
    if (*id == 0) *id = (uint32_t)pprof_function(encoder->writer, &encoder->profile->functions[index]);
    return *id;
}

static uint32_t put_location(struct encoder *encoder, uint32_t index) {
    const struct profile_location *location = &encoder->profile->locations[index];
    uint32_t *id = &encoder->locations[index];
    if (*id) return *id;
    if (location->line_count > encoder->line_room) {
        encoder->line_room = location->line_count * 2;
        encoder->lines = xrealloc(encoder->lines, encoder->line_room * sizeof *encoder->lines);
    }
    for (uint32_t i = 0; i < location->line_count; i++) {
        encoder->lines[i] = encoder->profile->lines[location->first_line + i];
        encoder->lines[i].function = put_function(encoder, encoder->lines[i].function) - 1;
    }
    return *id = (uint32_t)pprof_location(encoder->writer, location, encoder->lines);
}

static uint64_t *reserve_ids(struct encoder *encoder, size_t count) {
    if (count > encoder->id_room) {
        encoder->id_room = count * 2;
        encoder->ids = xrealloc(encoder->ids, encoder->id_room * sizeof *encoder->ids);
    }
    return encoder->ids;
}

static int put_sample(struct encoder *encoder, size_t depth, uint32_t labels, const int64_t *values,
                      struct error *err) {
    const struct profile_labels *set = &encoder->profile->label_sets[labels];
    return pprof_sample(encoder->writer, encoder->ids, depth, values, encoder->profile->labels + set->first, set->count,
                        err);
}

static int put_samples(struct encoder *encoder, struct error *err) {
    const struct profile *profile = encoder->profile;
    encoder->functions = xcalloc(profile->function_count + 1, sizeof *encoder->functions);
    encoder->locations = xcalloc(profile->location_count + 1, sizeof *encoder->locations);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_stack *stack = &profile->stacks[profile->samples[i].stack];
        uint64_t *ids = reserve_ids(encoder, stack->depth);
        for (uint32_t frame = 0; frame < stack->depth; frame++)
            ids[frame] = put_location(encoder, profile->frames[stack->first + frame]);
        if (put_sample(encoder, stack->depth, profile->samples[i].labels, profile->values + i * profile->type_count,
                       err) < 0)
            return -1;
    }
    /* What filters left unused stays, as with pprof. */
    for (size_t i = 0; i < profile->location_count; i++)
        (void)put_location(encoder, (uint32_t)i);
    for (size_t i = 0; i < profile->function_count; i++)
        (void)put_function(encoder, (uint32_t)i);
    return 0;
}

static void put_head(const struct encoder *encoder) {
    const struct profile *profile = encoder->profile;
    struct pprof_writer *writer = encoder->writer;
    pprof_default_type(writer, profile->default_type);
    pprof_period(writer, &profile->period_type, profile->period);
    pprof_time(writer, profile->time_ns, profile->duration_ns);
    for (size_t i = 0; i < profile->comment_count; i++)
        pprof_comment(writer, profile->comments[i]);
    pprof_frames(writer, profile->drop_frames, profile->keep_frames);
    pprof_doc_url(writer, profile->doc_url);
    for (size_t i = 0; i < profile->mapping_count; i++)
        pprof_mapping(writer, &profile->mappings[i]);
}

/* ---- streamed ---- */

static int begin(void *context, struct profile *profile, struct error *err) {
    return open_writer(context, profile, err);
}

static uint32_t stream_function(void *context, const struct profile_function *function) {
    struct encoder *encoder = context;
    return (uint32_t)pprof_function(encoder->writer, function) - 1;
}

static uint32_t stream_location(void *context, const struct profile_location *location,
                                const struct profile_line *lines) {
    struct encoder *encoder = context;
    return (uint32_t)pprof_location(encoder->writer, location, lines) - 1;
}

static int stream_sample(void *context, const uint32_t *frames, size_t depth, uint32_t labels, const int64_t *values,
                         struct error *err) {
    struct encoder *encoder = context;
    uint64_t *ids = reserve_ids(encoder, depth);
    for (size_t i = 0; i < depth; i++)
        ids[i] = (uint64_t)frames[i] + 1;
    return put_sample(encoder, depth, labels, values, err);
}

/* ---- whole ---- */

void encode_open(struct encoder *encoder, const struct encode_target *target) {
    *encoder = (struct encoder){.target = *target};
    encoder->stream = (struct profile_stream){encoder, begin, stream_function, stream_location, stream_sample};
}

void encode_abandon(struct encoder *encoder) {
    pprof_abandon(encoder->writer);
    free(encoder->functions);
    free(encoder->locations);
    free(encoder->ids);
    free(encoder->lines);
    *encoder = (struct encoder){0};
}

int encode_finish(struct encoder *encoder, const struct profile *profile, struct error *err) {
    int code = 0;
    if (!encoder->writer) {
        code = open_writer(encoder, profile, err);
        if (code == 0) code = put_samples(encoder, err);
    }
    if (code == 0) {
        put_head(encoder);
        code = pprof_close(encoder->writer, err);
        encoder->writer = NULL;
    }
    encode_abandon(encoder);
    return code;
}

int encode_write(const struct profile *profile, const struct encode_target *target, struct error *err) {
    struct encoder encoder;
    encode_open(&encoder, target);
    return encode_finish(&encoder, profile, err);
}
