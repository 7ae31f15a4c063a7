/* The tags of all samples, a table for each key: tags. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sum.h"
#include "base/utf8.h"
#include "query/profile/scale.h"
#include "query/report/report.h"

struct value {
    const char *text;
    int64_t sum;
};

struct key {
    const char *name;
    struct map sums; /* text -> sum */
};

struct keys {
    struct key *items;
    size_t count;
};

static struct key *find_key(struct keys *keys, const char *name) {
    for (size_t i = 0; i < keys->count; i++)
        if (keys->items[i].name == name) return &keys->items[i];
    keys->items = xrealloc(keys->items, (keys->count + 1) * sizeof *keys->items);
    keys->items[keys->count] = (struct key){.name = name};
    return &keys->items[keys->count++];
}

static void add_label(struct report *report, struct keys *keys, const struct profile_label *label, int64_t value) {
    struct buffer text = {0};
    const char *unit = filter_units_of(&report->units, label->key), *name;
    if (label->text) {
        buffer_add_text(&text, label->text);
    } else if (report->exact) {
        (void)scale_value(1, unit, unit, &name); /* unrounded, so that unlike numbers stay apart */
        buffer_printf(&text, "%lld%s", (long long)label->number, name);
    } else {
        scale_label(&text, label->number, unit, report->output_unit);
    }
    struct key *key = find_key(keys, label->key);
    sum_add(&map_put(&key->sums, buffer_text(&text), text.size + 1, NULL)->value, value, &report->overflows);
    buffer_free(&text);
}

static void collect(struct report *report, struct keys *keys) {
    const struct profile *profile = report->profile;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_labels *set = &profile->label_sets[profile->samples[i].labels];
        for (size_t at = 0; at < set->count; at++)
            add_label(report, keys, &profile->labels[set->first + at], profile_value(profile, i, report->type));
    }
}

/* ---- writing ---- */

static int compare_keys(const void *left, const void *right) {
    return strcmp(((const struct key *)left)->name, ((const struct key *)right)->name);
}

static int compare_values(const void *left, const void *right) {
    const struct value *a = left, *b = right;
    uint64_t size_a = a->sum < 0 ? -(uint64_t)a->sum : (uint64_t)a->sum;
    uint64_t size_b = b->sum < 0 ? -(uint64_t)b->sum : (uint64_t)b->sum;
    if (a->sum != b->sum && size_a != size_b) return size_a > size_b ? -1 : 1;
    return strcmp(a->text, b->text);
}

static void add_sum(const struct report *report, struct buffer *text, int64_t sum) {
    const char *unit;
    double scaled = scale_value(sum, report->sample_unit, report->output_unit, &unit);
    if (report->exact)
        report_add_value(report, text, sum);
    else
        buffer_printf(text, "%.1f%s", scaled, unit);
}

/* "10.5MB (12.5%):" */
static char *value_text(const struct report *report, int64_t sum, int64_t total) {
    struct buffer text = {0};
    add_sum(report, &text, sum);
    if (total > 0) buffer_printf(&text, " (%s)", scale_percentage(sum, total).text);
    buffer_add_char(&text, ':');
    return buffer_take(&text);
}

static void add_key(struct report *report, const struct key *key, struct buffer *out) {
    struct value *values = xcalloc(key->sums.count + 1, sizeof *values);
    char **texts = xcalloc(key->sums.count + 1, sizeof(char *));
    int64_t total = 0;
    size_t width = 0, key_width = utf8_count(key->name) + 2;
    for (size_t i = 0; i < key->sums.count; i++) {
        values[i] = (struct value){key->sums.entries[i].key, key->sums.entries[i].value};
        sum_add(&total, values[i].sum, &report->overflows);
    }
    qsort(values, key->sums.count, sizeof *values, compare_values);
    for (size_t i = 0; i < key->sums.count; i++) {
        texts[i] = value_text(report, values[i].sum, total);
        if (utf8_count(texts[i]) >= width) width = utf8_count(texts[i]) + 1;
    }
    buffer_printf(out, " %s: Total ", key->name);
    add_sum(report, out, total);
    buffer_add_char(out, '\n');
    for (size_t i = 0; i < key->sums.count; i++) {
        report_add_padded(out, "", key_width);
        report_add_padded(out, texts[i], width);
        buffer_printf(out, " %s\n", values[i].text);
        free(texts[i]);
    }
    buffer_add_char(out, '\n');
    free(values);
    free(texts);
}

int report_tags(struct report *report, struct buffer *out, struct error *err) {
    struct keys keys = {0};
    (void)err;
    collect(report, &keys);
    if (keys.count) qsort(keys.items, keys.count, sizeof *keys.items, compare_keys);
    for (size_t i = 0; i < keys.count; i++) {
        add_key(report, &keys.items[i], out);
        map_free(&keys.items[i].sums);
    }
    free(keys.items);
    return 0;
}
