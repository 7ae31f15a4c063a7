/* wording.c: texts that the report and the JSON of a comparison share: figures, callers, and the line that sums it up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "base/wrap.h"
#include "query/diff/changes.h"
#include "query/profile/start_up.h"
#include "schema/schema.h"

enum { CALLERS_SHOWN = 4, OBJECTS_QUOTED = 2, NAME_QUOTED = 40, QUOTE_PARTS = 16, QUOTE_PRIORITY_LAST = 5 };

static struct units_text plain_value(enum diff_unit unit, double value) {
    struct units_text text;
    switch (unit) {
    case DIFF_BYTES_UNIT: return units_bytes(llround(value));
    case DIFF_NS: return units_ns(llround(value));
    case DIFF_COUNT: break;
    }
    /* A mean of less than one event per run would be shown as 0. */
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
    if (percent >= 995) /* x 30,500 is easier to read than +3,049,950 % */
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
        if (!start_up_is_frame(db_text(frame, 0)))
            buffer_printf(out, "%s%s", out->size ? " < " : "", db_text(frame, 0));
    return code;
}

/* ---- the line that sums up ---- */

/* One part of the line, in the order of the line; parts with a low `priority` number are kept first. */
struct quote_part {
    char *text, *brief; /* brief: a shorter form, or NULL */
    int priority;
};

struct quote {
    struct quote_part parts[QUOTE_PARTS];
    size_t count;
    size_t more; /* number of changes without a part */
};

/* Takes `brief`. */
static void add_part(struct quote *quote, int priority, struct buffer *text, char *brief) {
    if (quote->count == QUOTE_PARTS) bug("the line has more than %d parts", QUOTE_PARTS);
    quote->parts[quote->count++] = (struct quote_part){xstrdup(buffer_text(text)), brief, priority};
    buffer_free(text);
}

static void quote_total(const struct diff *diff, size_t column, const char *name, int priority, struct quote *quote) {
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
    char *brief = isnan(figure->percent) ? NULL : xasprintf("%s %s", name, diff_percent(figure->percent).text);
    add_part(quote, priority, &part, brief);
}

static void quote_sites(const struct diff *diff, struct quote *quote) {
    const struct diff_table *table = &diff->tables[DIFF_SITES];
    size_t added = 0, gone = 0;
    struct buffer part = {0};
    for (size_t i = 0; i < table->count; i++) {
        if (!table->rows[i].is_change) continue;
        added += table->rows[i].presence == DIFF_ADDED;
        gone += table->rows[i].presence == DIFF_GONE;
    }
    if (added) buffer_printf(&part, "%s", units_things((int64_t)added, "new site").text);
    if (gone) buffer_printf(&part, "%s%s eliminated", added ? ", " : "", units_things((int64_t)gone, "site").text);
    if (part.size) add_part(quote, 5, &part, NULL);
}

/* New problems first, then what got worse, then improvements. */
static int rank_of(const struct diff_table *table, const struct diff_row *row) {
    if (strncmp(row->change, "new", 3) == 0) return 0;
    if (strstr(row->change, "eliminated")) return 2;
    return row->figures[table->judged].delta > 0 || strcmp(row->change, "regression") == 0 ? 1 : 3;
}

/* "lock server:g_lock newly contended", "cell totals retries +200 %" */
static void quote_object(const struct diff_table *table, const struct diff_row *row, struct buffer *part) {
    const struct diff_figure *figure = &row->figures[table->judged];
    bool names_change = strncmp(row->change, "new", 3) == 0 || strstr(row->change, "eliminated") ||
                        isnan(figure->percent) || !figure->is_change;
    /* The name of a task site says what it is; a sample is named by its function. */
    if (strcmp(table->section, "fibers") != 0) buffer_printf(part, "%s ", *row->what ? table->by : table->section);
    grid_visible(part, row->subject, NAME_QUOTED);
    buffer_add_char(part, ' ');
    if (names_change)
        buffer_add_text(part, row->change);
    else if (*row->what)
        buffer_add_text(part, diff_percent(figure->percent).text);
    else
        buffer_printf(part, "%s %s", table->columns[table->judged].heading, diff_percent(figure->percent).text);
}

/* The first ones by rank, and by size within a rank. */
static void quote_objects(const struct diff *diff, enum diff_table_id id, struct quote *quote) {
    const struct diff_table *table = &diff->tables[id];
    const struct diff_row **rows = diff_sorted(table);
    size_t quoted = 0, changed = 0;
    for (size_t i = 0; i < table->count; i++)
        changed += rows[i]->is_change;
    for (int wanted = 0; wanted < 4 && quoted < OBJECTS_QUOTED; wanted++)
        for (size_t i = 0; i < changed && quoted < OBJECTS_QUOTED; i++) {
            struct buffer part = {0};
            if (rank_of(table, rows[i]) != wanted) continue;
            quote_object(table, rows[i], &part);
            add_part(quote, 1 + wanted, &part, NULL);
            quoted++;
        }
    quote->more += changed - quoted;
    free(rows);
}

static const char *part_text(const struct quote_part *part, bool brief) {
    return brief && part->brief ? part->brief : part->text;
}

/* Chooses as many parts as fit in a line, by priority. Returns their number. */
static size_t choose_parts(const struct quote *quote, bool brief, bool *is_chosen) {
    struct units_text others =
        units_things((int64_t)(quote->more + quote->count), "more change"); /* the longest text */
    int left = REPORT_WIDTH - (int)strlen(others.text); /* each part but the first needs two columns for ", " */
    size_t chosen = 0;
    memset(is_chosen, 0, QUOTE_PARTS * sizeof *is_chosen);
    for (int priority = 0; priority <= QUOTE_PRIORITY_LAST; priority++)
        for (size_t i = 0; i < quote->count; i++) {
            const char *text = part_text(&quote->parts[i], brief);
            int width = grid_width(text, strlen(text)) + 2;
            if (quote->parts[i].priority != priority || (chosen && width > left)) continue;
            is_chosen[i] = true;
            left -= width;
            chosen++;
        }
    return chosen;
}

/* Writes the parts in their order, and the number of changes that are left out. If not all fit, totals are written in the brief form. */
static void write_quote(const struct quote *quote, struct buffer *out) {
    bool is_chosen[QUOTE_PARTS];
    size_t chosen = choose_parts(quote, false, is_chosen);
    bool brief = chosen < quote->count;
    if (brief) chosen = choose_parts(quote, true, is_chosen);
    for (size_t i = 0; i < quote->count; i++)
        if (is_chosen[i]) buffer_printf(out, "%s%s", out->size ? ", " : "", part_text(&quote->parts[i], brief));
    size_t more = quote->more + quote->count - chosen;
    if (more) buffer_printf(out, ", %s", units_things((int64_t)more, "more change").text);
}

void diff_quote(const struct diff *diff, struct buffer *out) {
    static const struct {
        const char *name;
        size_t column;
    } totals[] = {[HEAP_BYTES] = {"allocations", 1},
                  [HEAP_ALLOCS] = {"allocations", 2},
                  [HEAP_INUSE_BYTES] = {"live memory", 3},
                  [HEAP_INUSE_ALLOCS] = {"live blocks", 4}};
    static const enum diff_table_id objects[] = {DIFF_LOCKS, DIFF_CELLS, DIFF_CHANNELS, DIFF_FIBERS, DIFF_SAMPLES};
    struct quote quote = {0};
    quote_total(diff, totals[diff->options->by].column, totals[diff->options->by].name, 0, &quote);
    quote_sites(diff, &quote);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        quote_objects(diff, objects[i], &quote);
    quote_total(diff, diff->tables[DIFF_TOTALS].column_count - 1, "CPU time", 4, &quote);
    write_quote(&quote, out);
    for (size_t i = 0; i < quote.count; i++) {
        free(quote.parts[i].text);
        free(quote.parts[i].brief);
    }
    if (!out->size) buffer_add_text(out, diff->runs > 2 ? "no change outside the noise" : "no change");
}
