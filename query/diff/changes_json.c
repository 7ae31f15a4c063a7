#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/diff/changes.h"

/* ---- values ---- */

static void add_key(struct buffer *out, const char *key) {
    buffer_printf(out, "\"%s\": ", key);
}

static void add_string(struct buffer *out, const char *key, const char *text) {
    add_key(out, key);
    buffer_add_json_string(out, text, strlen(text));
}

/* JSON has no infinity and no NaN: both become null; p is 0 for the first and null for the second. */
static void add_real(struct buffer *out, const char *key, double value) {
    add_key(out, key);
    if (isfinite(value))
        buffer_printf(out, "%.17g", value);
    else
        buffer_add_text(out, "null");
}

/* ---- a row ---- */

static void add_side(struct buffer *out, const char *key, const struct noise_side *side) {
    add_key(out, key);
    buffer_add_char(out, '{');
    add_real(out, "mean", side->mean);
    buffer_add_text(out, ", ");
    add_real(out, "sd", side->sd);
    buffer_printf(out, ", \"n\": %zu}", side->n);
}

static void add_figure(struct buffer *out, const char *name, const struct diff_figure *figure) {
    add_key(out, name);
    buffer_add_char(out, '{');
    add_side(out, "old", &figure->noise.old);
    buffer_add_text(out, ", ");
    add_side(out, "new", &figure->noise.new);
    buffer_add_text(out, ", ");
    add_real(out, "delta", figure->delta);
    buffer_add_text(out, ", ");
    add_real(out, "error", noise_error(&figure->noise)); /* of delta, in 95 of 100 cases */
    buffer_add_text(out, ", ");
    add_real(out, "percent", figure->percent);
    buffer_add_text(out, ", ");
    add_real(out, "t", figure->noise.t);
    buffer_add_text(out, ", ");
    add_real(out, "df", figure->noise.df);
    buffer_add_text(out, ", ");
    add_real(out, "p", figure->noise.p);
    buffer_printf(out, ", \"is_change\": %s", figure->is_change ? "true" : "false");
    if (figure->why) {
        buffer_add_text(out, ", ");
        add_string(out, "why", figure->why);
    }
    buffer_add_char(out, '}');
}

static void add_figures(struct buffer *out, const struct diff *diff, const struct diff_table *table,
                        const struct diff_row *row) {
    const char *separator = "";
    add_key(out, "figures");
    buffer_add_char(out, '{');
    for (size_t i = 0; i < table->column_count; i++) {
        if (table == &diff->tables[DIFF_TOTALS] && diff_is_unrecorded(diff, i)) continue;
        buffer_add_text(out, separator);
        separator = ",\n     ";
        add_figure(out, table->columns[i].name, &row->figures[i]);
    }
    buffer_add_char(out, '}');
}

static int add_site(struct buffer *out, const struct diff_row *row, struct error *err) {
    struct buffer callers = {0};
    int code = diff_callers(row, true, &callers, err);
    buffer_printf(out, ", \"signature\": \"%016" PRIx64 "\", ", row->signature);
    add_string(out, "called_by", buffer_text(&callers));
    buffer_free(&callers);
    return code;
}

static int add_row(struct buffer *out, const struct diff *diff, enum diff_table_id id, const struct diff_row *row,
                   struct error *err) {
    const struct diff_table *table = &diff->tables[id];
    buffer_add_text(out, "{");
    add_string(out, "section", table->section);
    buffer_add_text(out, ", ");
    add_string(out, "by", table->by);
    if (id != DIFF_TOTALS) {
        buffer_add_text(out, ", ");
        add_string(out, "subject", row->subject);
        buffer_add_text(out, ", ");
        add_string(out, "change", row->change);
        buffer_printf(out, ", \"is_change\": %s, ", row->is_change ? "true" : "false");
        add_string(out, "judged_by", table->columns[table->judged].name);
        buffer_printf(out, ", \"seen\": {\"old\": %u, \"new\": %u}", row->seen[DIFF_OLD], row->seen[DIFF_NEW]);
    }
    if (diff_is_object(id)) {
        buffer_add_text(out, ", ");
        add_string(out, "identity", row->identity);
    } else if (id != DIFF_TOTALS) {
        buffer_add_text(out, ", ");
        add_string(out, "file", row->file);
        buffer_printf(out, ", \"line\": %" PRId64 ", ", row->line);
        add_string(out, "module", row->module);
    }
    if (*row->what) {
        buffer_add_text(out, ", ");
        add_string(out, "what", row->what);
    }
    if (id == DIFF_SITES && add_site(out, row, err) < 0) return -1;
    buffer_add_text(out, ",\n    ");
    add_figures(out, diff, table, row);
    buffer_add_char(out, '}');
    return 0;
}

static int print_table(FILE *out, const struct diff *diff, enum diff_table_id id, const char **separator,
                       struct error *err) {
    const struct diff_table *table = &diff->tables[id];
    const struct diff_row **rows = diff_sorted(table);
    int code = 0;
    for (size_t i = 0; i < table->count && code == 0; i++) {
        struct buffer text = {0};
        code = add_row(&text, diff, id, rows[i], err);
        if (code == 0) fprintf(out, "%s   %s", *separator, buffer_text(&text));
        *separator = ",\n";
        buffer_free(&text);
    }
    free(rows);
    return code;
}

/* ---- the object ---- */

static void print_side(FILE *out, const struct diff *diff, int side) {
    const struct run_list *runs = &diff->options->sides[side].runs;
    struct buffer text = {0};
    buffer_printf(&text, " \"%s\": {", side == DIFF_OLD ? "old" : "new");
    add_string(&text, "name", diff->options->sides[side].name);
    buffer_printf(&text, ", \"n\": %zu, \"runs\": [", runs->count);
    for (size_t i = 0; i < runs->count; i++) {
        if (i) buffer_add_text(&text, ", ");
        if (runs->items[i].db->is_private)
            buffer_add_text(&text, "null"); /* a file: its id ends with this process */
        else
            buffer_printf(&text, "%" PRId64, runs->items[i].id);
    }
    fprintf(out, "%s]},\n", buffer_text(&text));
    buffer_free(&text);
}

static void print_losses(FILE *out, const struct diff *diff) {
    struct buffer text = {0};
    buffer_add_text(&text, " \"saturation\": [");
    for (size_t i = 0; i < diff->loss_count; i++) {
        const struct diff_loss *loss = &diff->losses[i];
        buffer_printf(&text, "%s{\"side\": \"%s\", ", i ? ", " : "", loss->side == DIFF_OLD ? "old" : "new");
        add_string(&text, "code", loss->code);
        buffer_add_text(&text, ", ");
        add_string(&text, "subject", loss->subject);
        buffer_printf(&text, ", \"count\": %" PRId64 ", \"runs\": %zu}", loss->count, loss->runs);
    }
    fprintf(out, "%s],\n", buffer_text(&text));
    buffer_free(&text);
}

static int print_all(FILE *out, const struct diff *diff, struct error *err) {
    const char *separator = "\n";
    struct buffer quote = {0}, text = {0};
    fputs("{\n", out);
    print_side(out, diff, DIFF_OLD);
    print_side(out, diff, DIFF_NEW);
    fputs(" \"rules\": {", out);
    for (size_t i = 0; i < DIFF_THRESHOLDS; i++)
        fprintf(out, "%s\"%s\": %g", i ? ", " : "", diff_thresholds[i].name,
                *(const double *)(const void *)((const char *)&diff->rules + diff_thresholds[i].offset));
    fputs("},\n", out);
    print_losses(out, diff);
    fputs(" \"rows\": [", out);
    for (enum diff_table_id id = 0; id < DIFF_TABLES; id++)
        if (print_table(out, diff, id, &separator, err) < 0) return -1;
    diff_quote(diff, &quote);
    add_string(&text, "quote", buffer_text(&quote));
    fprintf(out, "\n ],\n %s\n}\n", buffer_text(&text));
    buffer_free(&quote);
    buffer_free(&text);
    return 0;
}

int diff_print_json(FILE *out, const struct diff_options *options, struct error *err) {
    struct diff diff;
    int code = diff_make(&diff, options, err);
    if (code == 0) code = print_all(out, &diff, err);
    diff_free(&diff);
    return code;
}
