/* samples.c: every sample with all of its values and labels as JSON, names spelled out, for scripts:
 *   {"sample_types": [{"type", "unit"}], "default_type", "period": {"type", "unit", "value"}, "time_ns", "duration_ns",
 *    "drop_frames", "comments": [text], "modules": [{"file", "build_id"}],
 *    "frames": [{"function", "file", "line", "module", "address", "inlined"}],
 *    "samples": [{"stack": [index into frames, leaf first], "values": [number], "labels": {key: text or number}}]}
 * One sample a line. An address is hexadecimal text, because a JSON number is a double to most readers. */
#include "base/hex.h"
#include "export/format.h"
#include "query/report/frames.h"

/* What is not known is left out. */
static void add_known(struct buffer *out, const char *key, const char *text) {
    if (!*text) return;
    buffer_add_char(out, ',');
    buffer_add_json_field(out, key, text);
}

static void add_type(struct buffer *out, const struct profile_type *type) {
    buffer_add_json_field(out, "type", type->type);
    buffer_add_char(out, ',');
    buffer_add_json_field(out, "unit", type->unit);
}

static void add_header(const struct profile *profile, struct buffer *out) {
    buffer_add_text(out, "{\n\"sample_types\":[");
    for (size_t i = 0; i < profile->type_count; i++) {
        buffer_add_text(out, i ? ",{" : "{");
        add_type(out, &profile->types[i]);
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "],\n");
    buffer_add_json_field(out, "default_type", profile->default_type);
    if (*profile->period_type.type) {
        buffer_add_text(out, ",\n\"period\":{");
        add_type(out, &profile->period_type);
        buffer_printf(out, ",\"value\":%lld}", (long long)profile->period);
    }
    buffer_printf(out, ",\n\"time_ns\":%lld,\n\"duration_ns\":%lld,\n", (long long)profile->time_ns,
                  (long long)profile->duration_ns);
    buffer_add_json_field(out, "drop_frames", profile->drop_frames);
    buffer_add_text(out, ",\n\"comments\":[");
    for (size_t i = 0; i < profile->comment_count; i++) {
        if (i) buffer_add_char(out, ',');
        buffer_add_json_text(out, profile->comments[i]);
    }
    buffer_add_text(out, "],\n\"modules\":[");
    for (size_t i = 0; i < profile->mapping_count; i++) {
        buffer_add_text(out, i ? ",{" : "{");
        buffer_add_json_field(out, "file", profile->mappings[i].file);
        buffer_add_char(out, ',');
        buffer_add_json_field(out, "build_id", profile->mappings[i].build_id);
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "],\n");
}

static void add_frames(const struct stack_frames *frames, struct buffer *out) {
    buffer_add_text(out, "\"frames\":[");
    for (size_t i = 0; i < frames->count; i++) {
        const struct stack_frame *frame = &frames->items[i];
        buffer_add_text(out, i ? ",\n{" : "\n{");
        buffer_add_json_field(out, "function", frame->name);
        add_known(out, "file", frame->file);
        if (frame->line) buffer_printf(out, ",\"line\":%lld", (long long)frame->line);
        add_known(out, "module", frame->module);
        if (frame->address) buffer_printf(out, ",\"address\":\"%s\"", hex_address(frame->address).text);
        buffer_add_text(out, frame->is_inlined ? ",\"inlined\":true}" : "}");
    }
    buffer_add_text(out, "],\n");
}

static void add_value(const struct profile_label *label, struct buffer *out) {
    if (label->text)
        buffer_add_json_text(out, label->text);
    else
        buffer_printf(out, "%lld", (long long)label->number);
}

/* A set is sorted by key. A key that comes again is an array of all its values. */
static void add_labels(const struct profile *profile, const struct profile_labels *set, struct buffer *out) {
    const struct profile_label *labels = profile->labels + set->first;
    for (uint32_t i = 0, end; i < set->count; i = end) {
        for (end = i + 1; end < set->count && labels[end].key == labels[i].key;)
            end++;
        if (i) buffer_add_char(out, ',');
        buffer_add_json_text(out, labels[i].key);
        buffer_add_text(out, end > i + 1 ? ":[" : ":");
        for (uint32_t at = i; at < end; at++) {
            if (at > i) buffer_add_char(out, ',');
            add_value(&labels[at], out);
        }
        if (end > i + 1) buffer_add_char(out, ']');
    }
}

static int add_samples(const struct profile *profile, const struct stack_frames *frames, struct buffer *out,
                       struct error *err) {
    struct buffer indices = {0};
    int code = 0;
    buffer_add_text(out, "\"samples\":[");
    for (size_t i = 0; i < profile->sample_count && code == 0; i++) {
        size_t count = frames_of_stack(frames, profile, profile->samples[i].stack, &indices);
        const uint32_t *stack = (const uint32_t *)(void *)indices.data;
        buffer_add_text(out, i ? ",\n{\"stack\":[" : "\n{\"stack\":[");
        for (size_t j = 0; j < count; j++)
            buffer_printf(out, "%s%u", j ? "," : "", (unsigned)stack[j]);
        buffer_add_text(out, "],\"values\":[");
        for (size_t j = 0; j < profile->type_count; j++)
            buffer_printf(out, "%s%lld", j ? "," : "", (long long)profile_value(profile, i, j));
        buffer_add_text(out, "],\"labels\":{");
        add_labels(profile, &profile->label_sets[profile->samples[i].labels], out);
        buffer_add_text(out, "}}");
        code = report_check_size(out, err);
    }
    buffer_add_text(out, "]\n}\n");
    buffer_free(&indices);
    return code;
}

int samples_write(struct report *report, struct buffer *out, struct error *err) {
    struct stack_frames frames;
    frames_make(&frames, report);
    add_header(report->profile, out);
    add_frames(&frames, out);
    int code = add_samples(report->profile, &frames, out, err);
    frames_free(&frames);
    return code;
}
