/* Everything that a profile holds, as text: raw. What it says about itself: comments. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hex.h"
#include "query/report/report.h"

/* Go's way to write a duration, 1h2m3.5s, of which raw shows the first four characters. */
static void add_go_duration(struct buffer *out, int64_t ns) {
    struct buffer text = {0};
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, seconds = size / 1000000000;
    if (ns < 0) buffer_add_char(&text, '-');
    if (seconds >= 3600) buffer_printf(&text, "%lluh", (unsigned long long)(seconds / 3600));
    if (seconds >= 60) buffer_printf(&text, "%llum", (unsigned long long)(seconds / 60 % 60));
    const char *unit = "s";
    uint64_t whole = seconds % 60, part = size % 1000000000;
    int digits = 9;
    if (size < 1000000000) {
        int steps = size >= 1000000 ? 2 : size >= 1000 ? 1 : 0;
        uint64_t factor = steps == 2 ? 1000000 : steps == 1 ? 1000 : 1;
        unit = steps == 2 ? "ms" : steps == 1 ? "µs" : "ns";
        digits = steps * 3;
        whole = size / factor;
        part = size % factor;
    }
    buffer_printf(&text, "%llu", (unsigned long long)whole);
    for (; part && part % 10 == 0; digits--)
        part /= 10;
    if (part) buffer_printf(&text, ".%0*llu", digits, (unsigned long long)part);
    buffer_add_text(&text, unit);
    size_t shown = 0;
    for (size_t count = 0; shown < text.size; shown++)
        if (((unsigned char)text.data[shown] & 0xc0) != 0x80 && count++ == 4) break;
    buffer_add(out, text.data, shown);
    buffer_free(&text);
}

/* 2026-11-21 15:04:05.000000001 +0000 UTC */
static void add_go_time(struct buffer *out, int64_t time_ns) {
    char text[64];
    int64_t part = time_ns % 1000000000;
    if (part < 0) part += 1000000000;
    time_t seconds = (time_t)((time_ns - part) / 1000000000);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
    buffer_add_text(out, text);
    int digits = 9;
    for (; part && part % 10 == 0; digits--)
        part /= 10;
    if (part) buffer_printf(out, ".%0*lld", digits, (long long)part);
    strftime(text, sizeof text, " %z %Z", &local);
    buffer_add_text(out, text);
}

static void add_head(const struct profile *profile, struct buffer *out) {
    for (size_t i = 0; i < profile->comment_count; i++)
        buffer_printf(out, "Comment: %s\n", profile->comments[i]);
    if (*profile->doc_url) buffer_printf(out, "Doc: %s\n", profile->doc_url);
    if (*profile->period_type.type || *profile->period_type.unit)
        buffer_printf(out, "PeriodType: %s %s\n", profile->period_type.type, profile->period_type.unit);
    buffer_printf(out, "Period: %lld\n", (long long)profile->period);
    if (profile->time_ns) {
        buffer_add_text(out, "Time: ");
        add_go_time(out, profile->time_ns);
        buffer_add_char(out, '\n');
    }
    if (profile->duration_ns) {
        buffer_add_text(out, "Duration: ");
        add_go_duration(out, profile->duration_ns);
        buffer_add_char(out, '\n');
    }
    buffer_add_text(out, "Samples:\n");
    for (size_t i = 0; i < profile->type_count; i++)
        buffer_printf(out, "%s%s/%s%s", i ? " " : "", profile->types[i].type, profile->types[i].unit,
                      strcmp(profile->types[i].type, profile->default_type) == 0 ? "[dflt]" : "");
    buffer_add_char(out, '\n');
}

/* ---- labels ---- */

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The values of one key from `at` on, as "key:[a b]"; numbers "1 bytes" where any has a unit. Gives where the next begins. */
static size_t add_key(const struct profile_label *labels, size_t at, size_t count, struct buffer *text) {
    const char *key = labels[at].key;
    bool is_text = labels[at].text, has_units = false;
    size_t end = at;
    for (; end < count && labels[end].key == key && (labels[end].text != NULL) == is_text; end++)
        has_units |= *labels[end].unit != '\0';
    buffer_printf(text, "%s:[", key);
    for (size_t i = at; i < end; i++) {
        if (i > at) buffer_add_char(text, ' ');
        if (is_text)
            buffer_add_text(text, labels[i].text);
        else
            buffer_printf(text, "%lld", (long long)labels[i].number);
        if (!is_text && has_units) buffer_printf(text, " %s", labels[i].unit);
    }
    buffer_add_char(text, ']');
    return end;
}

static void add_labels(const struct profile *profile, const struct profile_labels *set, bool texts,
                       struct buffer *out) {
    const struct profile_label *labels = profile->labels + set->first;
    char **items = xcalloc(set->count + 1, sizeof(char *));
    size_t count = 0;
    for (size_t i = 0; i < set->count;) {
        struct buffer text = {0};
        if ((labels[i].text != NULL) != texts) {
            i++;
            continue;
        }
        i = add_key(labels, i, set->count, &text);
        items[count++] = buffer_take(&text);
    }
    qsort(items, count, sizeof(char *), compare_texts);
    for (size_t i = 0; i < count; i++) {
        buffer_printf(out, "%s%s", i ? " " : "                ", items[i]);
        free(items[i]);
    }
    if (count) buffer_add_char(out, '\n');
    free(items);
}

/* ---- the tables ---- */

static void add_sample(const struct profile *profile, size_t index, struct buffer *out) {
    const struct profile_sample *sample = &profile->samples[index];
    const struct profile_stack *stack = &profile->stacks[sample->stack];
    for (size_t i = 0; i < profile->type_count; i++)
        buffer_printf(out, " %10lld", (long long)profile_value(profile, index, i));
    buffer_add_text(out, ": ");
    for (size_t i = 0; i < stack->depth; i++)
        buffer_printf(out, "%u ", profile->frames[stack->first + i] + 1);
    buffer_add_char(out, '\n');
    add_labels(profile, &profile->label_sets[sample->labels], true, out);
    add_labels(profile, &profile->label_sets[sample->labels], false, out);
}

static void add_line(const struct profile *profile, const struct profile_line *line, struct buffer *out) {
    const struct profile_function *function = &profile->functions[line->function];
    buffer_printf(out, "%s %s:%lld:%lld s=%lld", function->name, function->file, (long long)line->line,
                  (long long)line->column, (long long)function->start_line);
    if (strcmp(function->name, function->system_name) != 0) buffer_printf(out, "(%s)", function->system_name);
    buffer_add_char(out, '\n');
}

static void add_location(const struct profile *profile, size_t index, struct buffer *out) {
    const struct profile_location *location = &profile->locations[index];
    buffer_printf(out, "%6zu: %s ", index + 1, hex_address(location->address).text);
    if (location->mapping != PROFILE_NONE) buffer_printf(out, "M=%u ", location->mapping + 1);
    if (location->is_folded) buffer_add_text(out, "[F] ");
    if (location->line_count == 0) buffer_add_char(out, '\n');
    for (size_t i = 0; i < location->line_count; i++) {
        if (i) report_add_padded(out, "", 13);
        add_line(profile, &profile->lines[location->first_line + i], out);
    }
}

static void add_mapping(const struct profile *profile, size_t index, struct buffer *out) {
    const struct profile_mapping *mapping = &profile->mappings[index];
    buffer_printf(out, "%zu: %s/%s/%s %s %s %s%s%s%s\n", index + 1, hex_address(mapping->start).text,
                  hex_address(mapping->limit).text, hex_address(mapping->offset).text, mapping->file, mapping->build_id,
                  mapping->has_functions ? "[FN]" : "", mapping->has_filenames ? "[FL]" : "",
                  mapping->has_line_numbers ? "[LN]" : "", mapping->has_inline_frames ? "[IN]" : "");
}

int report_raw(struct report *report, struct buffer *out, struct error *err) {
    const struct profile *profile = report->profile;
    add_head(profile, out);
    for (size_t i = 0; i < profile->sample_count; i++) {
        add_sample(profile, i, out);
        if (report_check_size(out, err)) return -1;
    }
    buffer_add_text(out, "Locations\n");
    for (size_t i = 0; i < profile->location_count; i++)
        add_location(profile, i, out);
    buffer_add_text(out, "Mappings\n");
    for (size_t i = 0; i < profile->mapping_count; i++)
        add_mapping(profile, i, out);
    return 0;
}

int report_comments(struct report *report, struct buffer *out, struct error *err) {
    (void)err;
    for (size_t i = 0; i < report->profile->comment_count; i++)
        buffer_printf(out, "%s\n", report->profile->comments[i]);
    return 0;
}
