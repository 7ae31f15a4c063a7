/* What both ways to print a comparison say: figures, callers, and the line to quote. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/diff_rows.h"
#include "query/doctor_report.h"
#include "schema/schema.h"

enum { CALLERS_SHOWN = 4, OBJECTS_QUOTED = 2 };

static struct units_text plain_value(enum diff_unit unit, double value) {
    struct units_text text;
    switch (unit) {
    case DIFF_BYTES_UNIT: return units_bytes(llround(value));
    case DIFF_NS: return units_ns(llround(value));
    case DIFF_COUNT: break;
    }
    /* The mean of a few events of many runs would be shown as 0. */
    if (fabs(value) < 100 && value != floor(value)) {
        snprintf(text.text, sizeof text.text, "%.1f", value);
        return text;
    }
    return units_count(llround(value));
}

struct units_text diff_value(enum diff_unit unit, double value, bool sign) {
    struct units_text text, plain = plain_value(unit, value);
    snprintf(text.text, sizeof text.text, "%s%.*s", sign && value > 0 ? "+" : "", (int)sizeof text.text - 2,
             plain.text);
    return text;
}

struct units_text diff_percent(double percent) {
    struct units_text text = {""};
    if (isnan(percent)) return text;
    if (percent >= 995) /* +3,049,950 % says less than x 30,500 */
        snprintf(text.text, sizeof text.text, "x %.30s", units_count(llround(1 + percent / 100)).text);
    else if (fabs(percent) >= 0.95 || percent == 0)
        snprintf(text.text, sizeof text.text, "%s%.30s %%", percent > 0 ? "+" : "", units_count(llround(percent)).text);
    else
        snprintf(text.text, sizeof text.text, "%+.1f %%", percent);
    return text;
}

int diff_callers(const struct diff_row *row, struct buffer *out, struct error *err) {
    if (!row->trace_id) return 0;
    sqlite3_stmt *frame = db_prepare(row->db, embedded_text("diff/callers.sql"), err);
    if (!frame) return -1;
    db_bind_int(frame, ":trace", row->trace_id);
    db_bind_text(frame, ":function", row->subject);
    db_bind_int(frame, ":count", CALLERS_SHOWN);
    int code;
    while ((code = db_step(row->db, frame, err)) == 1)
        if (!doctor_is_start_up(db_text(frame, 0)))
            buffer_printf(out, "%s%s", out->size ? " < " : "", db_text(frame, 0));
    return code;
}

/* ---- the line to quote ---- */

static void add_part(struct buffer *out, const char *text) {
    buffer_printf(out, "%s%s", out->size ? ", " : "", text);
}

static void quote_total(const struct diff *diff, size_t column, const char *name, struct buffer *out) {
    const struct diff_figure *figure = &diff->tables[DIFF_TOTALS].rows[0].figures[column];
    enum diff_unit unit = diff->tables[DIFF_TOTALS].columns[column].unit;
    struct units_text before = diff_value(unit, figure->noise.old.mean, false);
    struct units_text after = diff_value(unit, figure->noise.new.mean, false);
    struct buffer part = {0};
    if (!figure->is_change) return;
    if (isnan(figure->percent))
        buffer_printf(&part, "%s %s -> %s", name, before.text, after.text);
    else
        buffer_printf(&part, "%s %s (%s -> %s)", name, diff_percent(figure->percent).text, before.text, after.text);
    add_part(out, buffer_text(&part));
    buffer_free(&part);
}

static void quote_sites(const struct diff *diff, struct buffer *out) {
    const struct diff_table *table = &diff->tables[DIFF_SITES];
    size_t added = 0, gone = 0;
    struct buffer part = {0};
    for (size_t i = 0; i < table->count; i++) {
        if (!table->rows[i].is_change) continue;
        added += table->rows[i].presence == DIFF_ADDED;
        gone += table->rows[i].presence == DIFF_GONE;
    }
    if (added) buffer_printf(&part, "%s new site%s", units_count((int64_t)added).text, added == 1 ? "" : "s");
    if (gone)
        buffer_printf(&part, "%s%s site%s eliminated", added ? ", " : "", units_count((int64_t)gone).text,
                      gone == 1 ? "" : "s");
    if (part.size) add_part(out, buffer_text(&part));
    buffer_free(&part);
}

/* What a person wants to hear first: what is new and bad, what got worse, then the good news. */
static int urgency(const struct diff_row *row) {
    if (strncmp(row->change, "new", 3) == 0) return 0;
    if (strstr(row->change, "eliminated")) return 2;
    return row->figures[0].delta > 0 || strcmp(row->change, "regression") == 0 ? 1 : 3;
}

/* "lock server:g_lock newly contended", "cell totals retries +200 %" */
static void quote_object(const struct diff_table *table, const struct diff_row *row, struct buffer *part) {
    const struct diff_figure *figure = &row->figures[table->judged];
    bool is_told = strncmp(row->change, "new", 3) == 0 || strstr(row->change, "eliminated") || isnan(figure->percent) ||
                   !figure->is_change;
    buffer_printf(part, "%s%s %s ", part->size ? ", " : "", table->section, row->subject);
    if (is_told)
        buffer_add_text(part, row->change);
    else
        buffer_printf(part, "%s %s", table->columns[table->judged].heading, diff_percent(figure->percent).text);
}

/* The most urgent ones by name, of equally urgent ones the largest. */
static void quote_objects(const struct diff *diff, enum diff_table_id id, struct buffer *out) {
    const struct diff_table *table = &diff->tables[id];
    const struct diff_row **rows = diff_sorted(table);
    struct buffer part = {0};
    size_t quoted = 0, changed = 0;
    for (size_t i = 0; i < table->count; i++)
        changed += rows[i]->is_change;
    for (int wanted = 0; wanted < 4 && quoted < OBJECTS_QUOTED; wanted++)
        for (size_t i = 0; i < changed && quoted < OBJECTS_QUOTED; i++) {
            if (urgency(rows[i]) != wanted) continue;
            quote_object(table, rows[i], &part);
            quoted++;
        }
    if (changed > quoted)
        buffer_printf(&part, ", %zu more %s%s changed", changed - quoted, table->section,
                      changed - quoted > 1 ? "s" : "");
    if (part.size) add_part(out, buffer_text(&part));
    buffer_free(&part);
    free(rows);
}

void diff_quote(const struct diff *diff, struct buffer *out) {
    static const struct {
        const char *name;
        size_t column;
    } totals[] = {[HEAP_BYTES] = {"allocations", 1},
                  [HEAP_ALLOCS] = {"allocations", 2},
                  [HEAP_INUSE_BYTES] = {"live memory", 3},
                  [HEAP_INUSE_ALLOCS] = {"live blocks", 4}};
    const struct diff_table *all = &diff->tables[DIFF_TOTALS];
    quote_total(diff, totals[diff->options->by].column, totals[diff->options->by].name, out);
    quote_sites(diff, out);
    quote_objects(diff, DIFF_LOCKS, out);
    quote_objects(diff, DIFF_CELLS, out);
    quote_total(diff, all->column_count - 1, "CPU time", out);
    if (!out->size) buffer_add_text(out, diff->runs > 2 ? "no change outside the noise" : "no change");
}
