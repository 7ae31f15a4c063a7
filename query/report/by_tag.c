/* The plain list with a column for each value of a tag: --by-tag. A profile with a value for each column, and one for the sum, is
 * made of the runs; from there on it is one report. */
#include <stdlib.h>
#include <string.h>

#include "query/profile/compare.h"
#include "query/profile/scale.h"
#include "query/report/by_tag.h"

static struct tag_column *add_column(struct by_tag *by, enum column_role role, const char *value) {
    if (by->count == by->room) {
        by->room = by->room ? by->room * 2 : 16;
        by->columns = xrealloc(by->columns, by->room * sizeof *by->columns);
    }
    by->columns[by->count] = (struct tag_column){
        .role = role, .value = arena_text(&by->texts, value, strlen(value)), .values = 1, .started_ns = INT64_MAX};
    return &by->columns[by->count++];
}

static struct tag_column *column_of(struct by_tag *by, enum column_role role, const char *value) {
    for (size_t i = 0; i < by->count; i++)
        if (by->columns[i].role == role && strcmp(by->columns[i].value, value) == 0) return &by->columns[i];
    return add_column(by, role, value);
}

static struct tag_column *none_column(struct by_tag *by) {
    return column_of(by, COLUMN_NONE, "(none)");
}

/* ---- tags of runs ---- */

static int add_tagged_run(struct by_tag *by, const struct run_item *run, struct error *err) {
    sqlite3_stmt *row = db_prepare(run->db,
                                   "SELECT started_ns, value FROM runs"
                                   " LEFT JOIN tags ON tags.run_id = runs.id AND tags.key = :key WHERE runs.id = :run",
                                   err);
    if (!row) return -1;
    db_bind_text(row, ":key", by->key);
    db_bind_int(row, ":run", run->id);
    if (db_step(run->db, row, err) < 0) return -1;
    bool has = sqlite3_column_type(row, 1) != SQLITE_NULL;
    struct tag_column *column = has ? column_of(by, COLUMN_VALUE, db_text(row, 1)) : none_column(by);
    if (sqlite3_column_int64(row, 0) < column->started_ns) column->started_ns = sqlite3_column_int64(row, 0);
    run_list_add(&column->runs, run->db, run->id);
    sqlite3_reset(row);
    return 0;
}

/* Oldest first; what has no value comes last. */
static int by_start(const void *left, const void *right) {
    const struct tag_column *a = left, *b = right;
    if (a->role != b->role) return a->role < b->role ? -1 : 1;
    if (a->started_ns != b->started_ns) return a->started_ns < b->started_ns ? -1 : 1;
    return strcmp(a->value, b->value);
}

/* The columns from `first` on, `count` of them, become one, which is the last but for (none). */
static void fold_columns(struct by_tag *by, size_t first, size_t count) {
    struct tag_column other = {.role = COLUMN_OTHER, .value = "(other)"}, none = {0};
    bool has_none = by->count && by->columns[by->count - 1].role == COLUMN_NONE;
    if (count == 0) return;
    for (size_t i = first; i < first + count; i++) {
        for (size_t run = 0; run < by->columns[i].runs.count; run++)
            run_list_add(&other.runs, by->columns[i].runs.items[run].db, by->columns[i].runs.items[run].id);
        run_list_free(&by->columns[i].runs);
        other.values++;
        other.total = (int64_t)((uint64_t)other.total + (uint64_t)by->columns[i].total);
    }
    memmove(by->columns + first, by->columns + first + count, (by->count - first - count) * sizeof *by->columns);
    by->count -= count;
    if (has_none) none = by->columns[--by->count];
    by->columns[by->count++] = other; /* at least one went: there is room */
    if (has_none) by->columns[by->count++] = none;
}

static size_t count_values(const struct by_tag *by) {
    size_t count = 0;
    for (size_t i = 0; i < by->count; i++)
        count += by->columns[i].role == COLUMN_VALUE;
    return count;
}

/* 1: some run has the tag. */
static int find_tags(struct by_tag *by, struct error *err) {
    for (size_t i = 0; i < by->runs->runs->count; i++)
        if (add_tagged_run(by, &by->runs->runs->items[i], err) < 0) return -1;
    by->value_count = count_values(by);
    qsort(by->columns, by->count, sizeof *by->columns, by_start);
    if (by->value_count > by->most) fold_columns(by, 0, by->value_count - by->most);
    return by->value_count > 0;
}

/* ---- a value for each column ---- */

/* Of each sample what is shown of it, for the sum and, where `column` is not SIZE_MAX, that column; `columns` for each
 * sample otherwise. */
static void widen(struct by_tag *by, struct profile *profile, size_t type, size_t mean_type, size_t column,
                  const size_t *columns) {
    size_t old = profile->type_count, width = by->width, count = (by->count + 1) * width;
    struct profile_type *types = xcalloc(count + 1, sizeof *types);
    int64_t *values = xcalloc(profile->sample_count * count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        types[i] = profile->types[i % width == 0 ? type : mean_type];
    for (size_t i = 0; i < profile->sample_count; i++) {
        const int64_t *from = profile->values + i * old;
        size_t at = (1 + (columns ? columns[i] : column)) * width;
        int64_t *to = values + i * count;
        to[0] = to[at] = from[type];
        if (width > 1) to[1] = to[at + 1] = from[mean_type];
    }
    profile_retype(profile, types, count, values);
}

/* Which value is shown is asked of each part: its types may stand in another order. */
static int load_column(struct by_tag *by, size_t column, struct profile *profile, struct error *err) {
    struct report part = {.profile = profile, .format = by->report.format, .options = by->report.options};
    if (gather_profile(profile, &by->columns[column].runs, by->runs->kind, by->type, by->runs->span, err) < 0)
        return -1;
    int code = report_choose_values(&part, err);
    if (code == 0) widen(by, profile, part.type, part.mean_type, column, NULL);
    if (code == 0 && !by->report.type_name) {
        by->report.type_name = part.type_name;
        part.type_name = NULL;
    }
    report_free(&part);
    if (code < 0) profile_free(profile);
    return code;
}

static int join_columns(struct by_tag *by, struct error *err) {
    for (size_t i = 0; i < by->count; i++) {
        struct profile more;
        if (load_column(by, i, i ? &more : by->profile, err) < 0) return -1;
        by->is_wide = true;
        if (i == 0) continue;
        int code = compare_add(by->profile, &more, err);
        profile_free(&more);
        if (code < 0) return -1;
    }
    return 0;
}

/* ---- labels of samples ---- */

static const char *label_value(struct by_tag *by, const struct profile_labels *set) {
    const struct profile *profile = by->profile;
    for (size_t i = set->first; i < (size_t)set->first + set->count; i++) {
        const struct profile_label *label = &profile->labels[i];
        if (strcmp(label->key, by->key) != 0) continue;
        if (label->text) return label->text;
        struct buffer text = {0};
        scale_label(&text, label->number, filter_units_of(&by->report.units, label->key), "auto");
        const char *kept = arena_text(&by->texts, buffer_text(&text), text.size);
        buffer_free(&text);
        return kept;
    }
    return NULL;
}

static int by_total(const void *left, const void *right) {
    const struct tag_column *a = left, *b = right;
    uint64_t size_a = a->total < 0 ? -(uint64_t)a->total : (uint64_t)a->total;
    uint64_t size_b = b->total < 0 ? -(uint64_t)b->total : (uint64_t)b->total;
    if (a->role != b->role) return a->role < b->role ? -1 : 1;
    if (size_a != size_b) return size_a > size_b ? -1 : 1;
    return strcmp(a->value, b->value);
}

/* The largest values become columns. `set_values`: of each label set, NULL for none. `sums` gets a total for each value, and
 * then the number of its column. */
static void choose_labels(struct by_tag *by, const char **set_values, struct map *sums) {
    const struct profile *profile = by->profile;
    int64_t none = 0;
    bool has_none = false;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const char *value = set_values[profile->samples[i].labels];
        int64_t *total = value ? &map_put(sums, value, strlen(value) + 1, NULL)->value : &none;
        *total = (int64_t)((uint64_t)*total + (uint64_t)profile_value(profile, i, by->report.type));
        has_none |= !value;
    }
    for (size_t i = 0; i < sums->count; i++)
        add_column(by, COLUMN_VALUE, sums->entries[i].key)->total = sums->entries[i].value;
    if (has_none) none_column(by)->total = none;
    by->value_count = sums->count;
    if (by->count) qsort(by->columns, by->count, sizeof *by->columns, by_total);
    if (by->value_count > by->most) fold_columns(by, by->most, by->value_count - by->most);
}

static size_t find_role(const struct by_tag *by, enum column_role role) {
    size_t i = 0;
    while (i < by->count && by->columns[i].role != role)
        i++;
    return i;
}

static void split_samples(struct by_tag *by, const char **set_values) {
    struct profile *profile = by->profile;
    struct map sums = {0};
    size_t *columns = xcalloc(profile->sample_count + 1, sizeof *columns);
    choose_labels(by, set_values, &sums);
    size_t none = find_role(by, COLUMN_NONE), other = find_role(by, COLUMN_OTHER);
    for (size_t i = 0; i < sums.count; i++)
        sums.entries[i].value = (int64_t)other;
    for (size_t i = 0; i < by->count; i++)
        if (by->columns[i].role == COLUMN_VALUE)
            map_find(&sums, by->columns[i].value, strlen(by->columns[i].value) + 1)->value = (int64_t)i;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const char *value = set_values[profile->samples[i].labels];
        columns[i] = value ? (size_t)map_find(&sums, value, strlen(value) + 1)->value : none;
    }
    widen(by, profile, by->report.type, by->report.mean_type, SIZE_MAX, columns);
    by->report.type = 0;
    by->report.mean_type = by->width > 1 ? 1 : PROFILE_NONE;
    map_free(&sums);
    free(columns);
}

/* ---- the report ---- */

static int no_such_tag(const struct by_tag *by, struct error *err) {
    return error_usage(
        err, "by_tag=%s: no run has such a tag, and no sample such a label (clear report tags lists labels)", by->key);
}

/* Filters see the labels of the samples, so the values are read before and the samples split after them. */
static int prepare_labels(struct by_tag *by, filter_note *note, void *context, struct error *err) {
    struct report *report = &by->report;
    if (gather_profile(by->profile, by->runs->runs, by->runs->kind, by->type, by->runs->span, err) < 0) return -1;
    by->is_wide = true;
    if (report_finish_profile(by->profile, by->runs->overrides, err) < 0 || report_choose_values(report, err) < 0)
        return -1;
    const char **values = xcalloc(by->profile->label_set_count + 1, sizeof *values);
    bool any = false;
    filter_units_find(&report->units, by->profile, NULL, NULL);
    for (size_t i = 0; i < by->profile->label_set_count; i++)
        any |= (values[i] = label_value(by, &by->profile->label_sets[i])) != NULL;
    filter_units_free(&report->units);
    int code = any ? report_narrow(report, note, context, err) : no_such_tag(by, err);
    if (code == 0) split_samples(by, values);
    free(values);
    return code;
}

static int prepare_runs(struct by_tag *by, filter_note *note, void *context, struct error *err) {
    struct report *report = &by->report;
    if (join_columns(by, err) < 0) return -1;
    report->sample_unit = by->profile->types[0].unit;
    report->ratio = 1 / report->options.divide_by;
    if (report_finish_profile(by->profile, by->runs->overrides, err) < 0) return -1;
    report->type = 0;
    report->mean_type = by->width > 1 ? 1 : PROFILE_NONE;
    if (report_narrow(report, note, context, err) < 0) return -1;
    return report_check_sums(report, err); /* of each column */
}

static void add_totals(struct by_tag *by) {
    struct report part = by->report;
    for (size_t i = 0; i < by->count; i++) {
        part.type = (i + 1) * by->width;
        part.mean_type = by->width > 1 ? part.type + 1 : PROFILE_NONE;
        by->columns[i].total = report_total(&part);
    }
}

/* ---- all of it ---- */

int report_by_tag(const struct report_runs *runs, const struct report_format *format,
                  const struct report_options *options, struct buffer *out, filter_note *note, void *context,
                  struct error *err) {
    struct profile profile;
    struct by_tag by = {.runs = runs,
                        .key = options->by_tag,
                        .type = report_is_of_one_type(format, options) ? options->sample_index : NULL,
                        .most = (size_t)options->columns,
                        .profile = &profile,
                        .width = options->mean ? 2 : 1,
                        .report = {.profile = &profile, .format = format, .options = *options}};
    int code = find_tags(&by, err);
    if (code == 0) {
        for (size_t i = 0; i < by.count; i++)
            run_list_free(&by.columns[i].runs);
        by.count = 0;
        by.of_labels = true;
    }
    if (code >= 0) code = (by.of_labels ? prepare_labels : prepare_runs)(&by, note, context, err);
    if (code == 0) {
        add_totals(&by);
        by_tag_write(&by, out);
    }
    for (size_t i = 0; i < by.count; i++)
        run_list_free(&by.columns[i].runs);
    free(by.columns);
    arena_free(&by.texts);
    report_free(&by.report);
    if (by.is_wide) profile_free(&profile);
    return code;
}
