/* speedscope.c: https://www.speedscope.app's own file format: one "sampled" profile a sample type, in the order of the
 * profile, shown first the chosen one. A type with a base, or with negative values, becomes two: before and after. */
#include <string.h>

#include "export/format.h"

static void add_field(struct buffer *out, const char *key, const char *text) {
    buffer_add_json_string(out, key, strlen(key));
    buffer_add_char(out, ':');
    buffer_add_json_string(out, text, strlen(text));
}

static void add_frames(const struct model *model, struct buffer *out) {
    buffer_add_text(out, "\"shared\":{\"frames\":[");
    for (size_t i = 0; i < model->frame_count; i++) {
        const struct model_frame *frame = &model->frames[i];
        buffer_add_text(out, i ? ",\n{" : "\n{");
        add_field(out, "name", frame->name);
        if (*frame->file) {
            buffer_add_char(out, ',');
            add_field(out, "file", frame->file);
        }
        if (frame->line > 0) buffer_printf(out, ",\"line\":%lld", (long long)frame->line);
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "]},\n");
}

/* The units that its schema knows. */
static const char *unit_of(const char *unit) {
    static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(unit, known[i]) == 0) return unit;
    return "none";
}

/* What a sample weighs on one side: 0 before, 1 after. */
static int64_t weight(const struct model *model, const model_sample *sample, size_t type, int side) {
    int64_t value = sample->value[type];
    bool before = value < 0 || (model->has_base && model_is_base(model, sample));
    if (before != (side == 0)) return 0;
    return before ? -value : value;
}

static bool has_two_sides(const struct model *model, size_t type) {
    for (size_t i = 0; i < model->profile->n_sample; i++)
        if (weight(model, model->profile->sample[i], type, 0) != 0) return true;
    return model->has_base;
}

static void add_stacks(const struct model *model, size_t type, int side, struct buffer *out) {
    struct buffer frames = {0};
    const char *between = "";
    for (size_t i = 0; i < model->profile->n_sample; i++) {
        const model_sample *sample = model->profile->sample[i];
        if (weight(model, sample, type, side) <= 0) continue;
        size_t count = model_stack(model, sample, &frames);
        const uint32_t *stack = (const uint32_t *)(void *)frames.data;
        buffer_printf(out, "%s[", between);
        for (size_t j = count; j-- > 0;)
            buffer_printf(out, "%u%s", (unsigned)stack[j], j ? "," : "");
        buffer_add_char(out, ']');
        between = ",";
    }
    buffer_free(&frames);
}

/* The sum of what was written, which is where the time line ends. */
static int add_weights(const struct model *model, size_t type, int side, struct buffer *out, int64_t *sum,
                       struct error *err) {
    const char *between = "";
    *sum = 0;
    for (size_t i = 0; i < model->profile->n_sample; i++) {
        int64_t value = weight(model, model->profile->sample[i], type, side);
        if (value <= 0) continue;
        buffer_printf(out, "%s%lld", between, (long long)value);
        between = ",";
        if (__builtin_add_overflow(*sum, value, sum))
            return error_fail(err, "%s: the sum is larger than 2^63 - 1", model_type_name(model, type));
    }
    return 0;
}

static int add_profile(const struct model *model, size_t type, int side, bool two, struct buffer *out,
                       struct error *err) {
    struct buffer name = {0};
    int64_t sum = 0;
    buffer_printf(&name, "%s%s", model_type_name(model, type), !two ? "" : side ? " after" : " before");
    buffer_add_text(out, "{\"type\":\"sampled\",");
    add_field(out, "name", buffer_text(&name));
    buffer_add_char(out, ',');
    add_field(out, "unit", unit_of(model_type_unit(model, type)));
    buffer_add_text(out, ",\"samples\":[");
    add_stacks(model, type, side, out);
    buffer_add_text(out, "],\"weights\":[");
    int code = add_weights(model, type, side, out, &sum, err);
    buffer_printf(out, "],\"startValue\":0,\"endValue\":%lld}", (long long)sum);
    buffer_free(&name);
    return code;
}

int speedscope_render(const struct drawing *drawing, struct error *err) {
    const struct model *model = drawing->model;
    struct buffer *out = drawing->out;
    size_t written = 0, active = 0;
    buffer_add_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n");
    add_field(out, "exporter", "clear " CLEAR_VERSION);
    buffer_add_text(out, ",\n");
    add_field(out, "name", drawing->title);
    buffer_add_text(out, ",\n");
    add_frames(model, out);
    buffer_add_text(out, "\"profiles\":[");
    for (size_t type = 0; type < model->profile->n_sample_type; type++) {
        bool two = has_two_sides(model, type);
        for (int side = two ? 0 : 1; side <= 1; side++) {
            buffer_add_text(out, written ? ",\n" : "\n");
            if (add_profile(model, type, side, two, out, err) < 0) return -1;
            if (type == model->type) active = written; /* after, where there are two */
            written++;
        }
    }
    buffer_printf(out, "],\n\"activeProfileIndex\":%zu}\n", active);
    return 0;
}
