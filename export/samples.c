/* json.c: the whole profile with its names spelled out, for scripts:
 *   {"sample_types": [{"type", "unit"}], "default_type", "period": {"type", "unit", "value"}, "time_ns", "duration_ns",
 *    "drop_frames", "comments": [text], "modules": [{"file", "build_id"}],
 *    "frames": [{"function", "file", "line", "module", "address", "inlined"}],
 *    "samples": [{"stack": [index into frames, leaf first], "values": [number], "labels": {key: text or number}}]}
 * One sample a line. An address is hexadecimal text, because a JSON number is a double to most readers. */
#include <string.h>

#include "base/hex.h"
#include "export/format.h"

static void add_text(struct buffer *out, const char *text) {
    buffer_add_json_string(out, text, strlen(text));
}

static void add_field(struct buffer *out, const char *key, const char *text) {
    add_text(out, key);
    buffer_add_char(out, ':');
    add_text(out, text);
}

/* What is not known is left out. */
static void add_more(struct buffer *out, const char *key, const char *text) {
    if (!*text) return;
    buffer_add_char(out, ',');
    add_field(out, key, text);
}

static void add_header(const struct model *model, struct buffer *out) {
    const Perftools__Profiles__Profile *profile = model->profile;
    buffer_add_text(out, "{\n\"sample_types\":[");
    for (size_t i = 0; i < profile->n_sample_type; i++) {
        buffer_add_text(out, i ? ",{" : "{");
        add_field(out, "type", model_type_name(model, i));
        buffer_add_char(out, ',');
        add_field(out, "unit", model_type_unit(model, i));
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "],\n");
    add_field(out, "default_type", model_text(model, profile->default_sample_type));
    if (profile->period_type) {
        buffer_add_text(out, ",\n\"period\":{");
        add_field(out, "type", model_text(model, profile->period_type->type));
        buffer_add_char(out, ',');
        add_field(out, "unit", model_text(model, profile->period_type->unit));
        buffer_printf(out, ",\"value\":%lld}", (long long)profile->period);
    }
    buffer_printf(out, ",\n\"time_ns\":%lld,\n\"duration_ns\":%lld,\n", (long long)profile->time_nanos,
                  (long long)profile->duration_nanos);
    add_field(out, "drop_frames", model_text(model, profile->drop_frames));
    buffer_add_text(out, ",\n\"comments\":[");
    for (size_t i = 0; i < profile->n_comment; i++) {
        if (i) buffer_add_char(out, ',');
        add_text(out, model_text(model, profile->comment[i]));
    }
    buffer_add_text(out, "],\n\"modules\":[");
    for (size_t i = 0; i < profile->n_mapping; i++) {
        buffer_add_text(out, i ? ",{" : "{");
        add_field(out, "file", model_text(model, profile->mapping[i]->filename));
        buffer_add_char(out, ',');
        add_field(out, "build_id", model_text(model, profile->mapping[i]->build_id));
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "],\n");
}

static void add_frames(const struct model *model, struct buffer *out) {
    buffer_add_text(out, "\"frames\":[");
    for (size_t i = 0; i < model->frame_count; i++) {
        const struct model_frame *frame = &model->frames[i];
        buffer_add_text(out, i ? ",\n{" : "\n{");
        add_field(out, "function", frame->name);
        add_more(out, "file", frame->file);
        if (frame->line) buffer_printf(out, ",\"line\":%lld", (long long)frame->line);
        add_more(out, "module", frame->module);
        if (frame->address) buffer_printf(out, ",\"address\":\"%s\"", hex_address(frame->address).text);
        buffer_add_text(out, frame->inlined ? ",\"inlined\":true}" : "}");
    }
    buffer_add_text(out, "],\n");
}

static void add_value(const struct model *model, const model_label *label, struct buffer *out) {
    if (label->str)
        add_text(out, model_text(model, label->str));
    else
        buffer_printf(out, "%lld", (long long)label->num);
}

/* A key that comes again is in an array of all its values. */
static void add_labels(const struct model *model, const model_sample *sample, struct buffer *out) {
    buffer_add_text(out, "],\"labels\":{");
    bool any = false;
    for (size_t i = 0; i < sample->n_label; i++) {
        int64_t key = sample->label[i]->key;
        size_t same = 0, before = 0;
        for (size_t j = 0; j < sample->n_label; j++) {
            same += sample->label[j]->key == key;
            before += j < i && sample->label[j]->key == key;
        }
        if (before) continue;
        if (any) buffer_add_char(out, ',');
        any = true;
        add_text(out, model_text(model, key));
        buffer_add_text(out, same > 1 ? ":[" : ":");
        for (size_t j = i, written = 0; j < sample->n_label; j++) {
            if (sample->label[j]->key != key) continue;
            if (written++) buffer_add_char(out, ',');
            add_value(model, sample->label[j], out);
        }
        if (same > 1) buffer_add_char(out, ']');
    }
    buffer_add_text(out, "}}");
}

static void add_samples(const struct model *model, struct buffer *out) {
    struct buffer frames = {0};
    buffer_add_text(out, "\"samples\":[");
    for (size_t i = 0; i < model->profile->n_sample; i++) {
        const model_sample *sample = model->profile->sample[i];
        size_t count = model_stack(model, sample, &frames);
        const uint32_t *stack = (const uint32_t *)(void *)frames.data;
        buffer_add_text(out, i ? ",\n{\"stack\":[" : "\n{\"stack\":[");
        for (size_t j = 0; j < count; j++)
            buffer_printf(out, "%s%u", j ? "," : "", (unsigned)stack[j]);
        buffer_add_text(out, "],\"values\":[");
        for (size_t j = 0; j < sample->n_value; j++)
            buffer_printf(out, "%s%lld", j ? "," : "", (long long)sample->value[j]);
        add_labels(model, sample, out);
    }
    buffer_add_text(out, "]\n}\n");
    buffer_free(&frames);
}

int json_render(const struct drawing *drawing, struct error *err) {
    (void)err;
    add_header(drawing->model, drawing->out);
    add_frames(drawing->model, drawing->out);
    add_samples(drawing->model, drawing->out);
    return 0;
}
