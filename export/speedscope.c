/* speedscope.c: https://www.speedscope.app's own file format: one "sampled" profile a sample type, in the order of the
 * profile, shown first the chosen one. A type with a base, or with negative values, becomes two: before and after. */
#include <string.h>

#include "export/difference.h"
#include "export/format.h"
#include "query/report/frames.h"

struct speedscope {
    const struct report *report;
    const struct profile *profile;
    struct stack_frames frames;
    bool has_base;
    struct buffer *out;
};

static void add_frames(const struct speedscope *file) {
    struct buffer *out = file->out;
    buffer_add_text(out, "\"shared\":{\"frames\":[");
    for (size_t i = 0; i < file->frames.count; i++) {
        const struct stack_frame *frame = &file->frames.items[i];
        buffer_add_text(out, i ? ",\n{" : "\n{");
        buffer_add_json_field(out, "name", frame->name);
        if (*frame->file) {
            buffer_add_char(out, ',');
            buffer_add_json_field(out, "file", frame->file);
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

static bool has_two_sides(const struct speedscope *file, size_t type) {
    if (file->has_base) return true;
    for (size_t i = 0; i < file->profile->sample_count; i++)
        if (profile_value(file->profile, i, type) < 0) return true;
    return false;
}

static void add_stacks(const struct speedscope *file, size_t type, int side) {
    struct buffer frames = {0};
    const char *between = "";
    for (size_t i = 0; i < file->profile->sample_count; i++) {
        if (difference_value(file->profile, i, type, side) <= 0) continue;
        size_t count = frames_of_stack(&file->frames, file->profile, file->profile->samples[i].stack, &frames);
        const uint32_t *stack = (const uint32_t *)(void *)frames.data;
        buffer_printf(file->out, "%s[", between);
        for (size_t j = count; j-- > 0;)
            buffer_printf(file->out, "%u%s", (unsigned)stack[j], j ? "," : "");
        buffer_add_char(file->out, ']');
        between = ",";
    }
    buffer_free(&frames);
}

/* The sum of what was written, which is where the time line ends. */
static int64_t add_weights(const struct speedscope *file, size_t type, int side) {
    const char *between = "";
    int64_t sum = 0;
    for (size_t i = 0; i < file->profile->sample_count; i++) {
        int64_t value = difference_value(file->profile, i, type, side);
        if (value <= 0) continue;
        buffer_printf(file->out, "%s%lld", between, (long long)value);
        between = ",";
        sum += value;
    }
    return sum;
}

static void add_profile(const struct speedscope *file, size_t type, const char *suffix, int side) {
    const struct profile_type *named = &file->profile->types[type];
    struct buffer name = {0};
    buffer_printf(&name, "%s%s", named->type, suffix);
    buffer_add_text(file->out, "{\"type\":\"sampled\",");
    buffer_add_json_field(file->out, "name", buffer_text(&name));
    buffer_add_char(file->out, ',');
    buffer_add_json_field(file->out, "unit", unit_of(named->unit));
    buffer_add_text(file->out, ",\"samples\":[");
    add_stacks(file, type, side);
    buffer_add_text(file->out, "],\"weights\":[");
    int64_t sum = add_weights(file, type, side);
    buffer_printf(file->out, "],\"startValue\":0,\"endValue\":%lld}", (long long)sum);
    buffer_free(&name);
}

/* The index of the one that is shown first: of a difference, what is after. */
static size_t add_profiles(const struct speedscope *file) {
    size_t written = 0, active = 0;
    for (size_t type = 0; type < file->profile->type_count; type++) {
        bool two = has_two_sides(file, type);
        for (int side = two ? BEFORE : AFTER; side < SIDES; side++) {
            buffer_add_text(file->out, written ? ",\n" : "\n");
            add_profile(file, type, !two ? "" : side == BEFORE ? " before" : " after", side);
            if (type == file->report->type) active = written;
            written++;
        }
    }
    return active;
}

int speedscope_write(struct report *report, struct buffer *out, struct error *err) {
    struct speedscope file = {.report = report, .profile = report->profile, .out = out};
    if (report_check_sums(report, err) < 0) return -1;
    file.has_base = difference_has_base(report->profile);
    frames_make(&file.frames, report);
    buffer_add_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n");
    buffer_add_json_field(out, "exporter", "clear " CLEAR_VERSION);
    buffer_add_text(out, ",\n");
    buffer_add_json_field(out, "name", report->options.title);
    buffer_add_text(out, ",\n");
    add_frames(&file);
    buffer_add_text(out, "\"profiles\":[");
    buffer_printf(out, "],\n\"activeProfileIndex\":%zu}\n", add_profiles(&file));
    frames_free(&file.frames);
    return report_check_size(out, err);
}
