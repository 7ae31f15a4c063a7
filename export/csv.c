/* csv.c: one line a sample (RFC 4180). The columns are named as those of a query are for `clear export --sql`, so that a
 * table of these lines goes back to the same stacks, labels and values: stack, label:KEY, label:KEY/UNIT, TYPE/UNIT.
 *
 * A name that a spreadsheet would compute gets an apostrophe in front, and is a text there. Control characters are '?'. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "export/format.h"
#include "query/report/frames.h"

struct csv {
    const struct profile *profile;
    struct stack_frames frames;
    struct map columns; /* of labels, by name, in the order of first use -> their number */
    struct buffer *out;
    struct buffer stack, text; /* scratch */
};

/* "=cmd|..." is a formula, and so is what begins with one of these signs; the methods of Objective-C (-[View draw]) are none. */
static void add_text(struct buffer *out, const char *text, size_t size) {
    static const char apostrophe[] = "'";
    struct buffer cell = {0};
    bool is_formula = *text && strchr("=+-@\t\r", *text) && text[1] != '[';
    if (is_formula) buffer_add_text(&cell, apostrophe);
    escape_controls(&cell, text, size);
    escape_csv(out, buffer_text(&cell), cell.size);
    buffer_free(&cell);
}

static const struct profile_labels *labels_of(const struct csv *csv, size_t sample) {
    return &csv->profile->label_sets[csv->profile->samples[sample].labels];
}

static struct map_entry *column_of(struct csv *csv, const struct profile_label *label, bool *added) {
    bool has_unit = !label->text && *label->unit;
    buffer_clear(&csv->text);
    buffer_printf(&csv->text, "label:%s%s%s", label->key, has_unit ? "/" : "", has_unit ? label->unit : "");
    return map_put(&csv->columns, csv->text.data, csv->text.size, added);
}

static void find_columns(struct csv *csv) {
    for (size_t i = 0; i < csv->profile->sample_count; i++) {
        const struct profile_labels *set = labels_of(csv, i);
        for (uint32_t at = 0; at < set->count; at++) {
            bool added;
            struct map_entry *entry = column_of(csv, &csv->profile->labels[set->first + at], &added);
            if (added) entry->value = (int64_t)csv->columns.count - 1;
        }
    }
}

static void add_header(struct csv *csv) {
    buffer_add_text(csv->out, "stack");
    for (size_t i = 0; i < csv->columns.count; i++) {
        buffer_add_char(csv->out, ',');
        add_text(csv->out, csv->columns.entries[i].key, csv->columns.entries[i].size);
    }
    for (size_t i = 0; i < csv->profile->type_count; i++) {
        buffer_clear(&csv->text);
        buffer_printf(&csv->text, "%s/%s", csv->profile->types[i].type, csv->profile->types[i].unit);
        buffer_add_char(csv->out, ',');
        add_text(csv->out, csv->text.data, csv->text.size);
    }
    buffer_add_text(csv->out, "\r\n");
}

/* Root first; a semicolon in a name would be one frame more. */
static void add_stack(struct csv *csv, size_t sample) {
    size_t count = frames_of_stack(&csv->frames, csv->profile, csv->profile->samples[sample].stack, &csv->stack);
    const uint32_t *stack = (const uint32_t *)(void *)csv->stack.data;
    buffer_clear(&csv->text);
    while (count-- > 0) {
        for (const char *name = csv->frames.items[stack[count]].name; *name; name++)
            buffer_add_char(&csv->text, *name == ';' ? ':' : *name);
        if (count) buffer_add_char(&csv->text, ';');
    }
    add_text(csv->out, buffer_text(&csv->text), csv->text.size);
}

/* A key that stands several times in a sample has its values in one cell, a space between. */
static void add_labels(struct csv *csv, size_t sample) {
    const struct profile_labels *set = labels_of(csv, sample);
    struct cell {
        struct buffer text;
        bool is_number;
    } *cells = xcalloc(csv->columns.count + 1, sizeof *cells);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct profile_label *label = &csv->profile->labels[set->first + i];
        struct cell *one = &cells[column_of(csv, label, NULL)->value];
        struct buffer *cell = &one->text;
        one->is_number = !label->text;
        if (cell->size) buffer_add_char(cell, ' ');
        if (label->text)
            buffer_add_text(cell, label->text);
        else
            buffer_printf(cell, "%lld", (long long)label->number);
    }
    for (size_t i = 0; i < csv->columns.count; i++) {
        buffer_add_char(csv->out, ',');
        const struct buffer *text = &cells[i].text;
        (cells[i].is_number ? escape_csv : add_text)(csv->out, buffer_text(text), text->size);
        buffer_free(&cells[i].text);
    }
    free(cells);
}

int csv_write(struct report *report, struct buffer *out, struct error *err) {
    const struct profile *profile = report->profile;
    struct csv csv = {.profile = profile, .out = out};
    int code = 0;
    frames_make(&csv.frames, report);
    find_columns(&csv);
    add_header(&csv);
    for (size_t i = 0; i < profile->sample_count && code == 0; i++) {
        add_stack(&csv, i);
        add_labels(&csv, i);
        for (size_t type = 0; type < profile->type_count; type++)
            buffer_printf(out, ",%lld", (long long)profile_value(profile, i, type));
        buffer_add_text(out, "\r\n");
        code = report_check_size(out, err);
    }
    buffer_free(&csv.stack);
    buffer_free(&csv.text);
    map_free(&csv.columns);
    frames_free(&csv.frames);
    return code;
}
