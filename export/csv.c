/* csv.c: one line a sample (RFC 4180). The columns are named as those of a query are for `clear export --sql`, so that a
 * table of these lines goes back to the same stacks, labels and values: stack, label:KEY, label:KEY/UNIT, TYPE/UNIT. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "export/format.h"

/* The names of the label columns in the order of first use. */
static const char *label_column(const struct model *model, const model_label *label, struct buffer *name) {
    const char *unit = model_text(model, label->num_unit);
    buffer_clear(name);
    buffer_printf(name, "label:%s", model_text(model, label->key));
    if (!label->str && *unit) buffer_printf(name, "/%s", unit);
    return buffer_text(name);
}

static void collect_columns(const struct model *model, struct map *columns) {
    struct buffer name = {0};
    for (size_t i = 0; i < model->profile->n_sample; i++) {
        const model_sample *sample = model->profile->sample[i];
        for (size_t j = 0; j < sample->n_label; j++) {
            bool added;
            label_column(model, sample->label[j], &name);
            struct map_entry *entry = map_put(columns, name.data, name.size + 1, &added);
            if (added) entry->value = (int64_t)columns->count - 1;
        }
    }
    buffer_free(&name);
}

/* Root first; a semicolon in a name would be one frame more. */
static void add_stack(const struct drawing *drawing, const model_sample *sample, struct buffer *frames,
                      struct buffer *text) {
    size_t count = model_stack(drawing->model, sample, frames);
    const uint32_t *stack = (const uint32_t *)(void *)frames->data;
    buffer_clear(text);
    while (count-- > 0) {
        for (const char *name = drawing->model->frames[stack[count]].name; *name; name++)
            buffer_add_char(text, *name == ';' ? ':' : *name);
        if (count) buffer_add_char(text, ';');
    }
    escape_csv(drawing->out, text->size ? text->data : "", text->size);
}

/* A key that stands several times in a sample has its values in one cell, a space between. */
static void add_labels(const struct drawing *drawing, const model_sample *sample, const struct map *columns,
                       struct buffer *name) {
    const struct model *model = drawing->model;
    struct buffer *cells = xcalloc(columns->count + 1, sizeof *cells);
    for (size_t i = 0; i < sample->n_label; i++) {
        const model_label *label = sample->label[i];
        label_column(model, label, name);
        struct buffer *cell = &cells[map_find(columns, name->data, name->size + 1)->value];
        if (cell->size) buffer_add_char(cell, ' ');
        if (label->str)
            buffer_add_text(cell, model_text(model, label->str));
        else
            buffer_printf(cell, "%lld", (long long)label->num);
    }
    for (size_t i = 0; i < columns->count; i++) {
        buffer_add_char(drawing->out, ',');
        escape_csv(drawing->out, buffer_text(&cells[i]), cells[i].size);
        buffer_free(&cells[i]);
    }
    free(cells);
}

static void add_header(const struct drawing *drawing, const struct map *columns) {
    struct buffer name = {0};
    buffer_add_text(drawing->out, "stack");
    for (size_t i = 0; i < columns->count; i++) {
        buffer_add_char(drawing->out, ',');
        escape_csv(drawing->out, columns->entries[i].key, columns->entries[i].size - 1);
    }
    for (size_t i = 0; i < drawing->model->profile->n_sample_type; i++) {
        buffer_clear(&name);
        buffer_printf(&name, "%s/%s", model_type_name(drawing->model, i), model_type_unit(drawing->model, i));
        buffer_add_char(drawing->out, ',');
        escape_csv(drawing->out, name.data, name.size);
    }
    buffer_add_text(drawing->out, "\r\n");
    buffer_free(&name);
}

int csv_render(const struct drawing *drawing, struct error *err) {
    const Perftools__Profiles__Profile *profile = drawing->model->profile;
    struct map columns = {0};
    struct buffer frames = {0}, scratch = {0};
    (void)err;
    collect_columns(drawing->model, &columns);
    add_header(drawing, &columns);
    for (size_t i = 0; i < profile->n_sample; i++) {
        add_stack(drawing, profile->sample[i], &frames, &scratch);
        add_labels(drawing, profile->sample[i], &columns, &scratch);
        for (size_t j = 0; j < profile->n_sample_type; j++)
            buffer_printf(drawing->out, ",%lld", (long long)profile->sample[i]->value[j]);
        buffer_add_text(drawing->out, "\r\n");
    }
    buffer_free(&frames);
    buffer_free(&scratch);
    map_free(&columns);
    return 0;
}
