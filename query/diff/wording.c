/* wording.c: texts that the report and the JSON of a comparison share: figures, callers, and the line that sums it up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "base/path.h"
#include "base/wrap.h"
#include "query/diff/changes.h"
#include "query/profile/start_up.h"
#include "query/profile/usual_name.h"
#include "schema/schema.h"

enum { CALLERS_SHOWN = 4, OBJECTS_QUOTED = 2, NAME_QUOTED = 40, QUOTE_PARTS = 32, QUOTE_PRIORITY_LAST = 5 };

static struct units_text plain_value(enum figure_unit unit, double value) {
    struct units_text text;
    switch (unit) {
    case FIGURE_BYTES: return units_bytes(llround(value));
    case FIGURE_NS: return units_ns(llround(value));
    case FIGURE_COUNT:
    case FIGURE_PERCENT:
    case FIGURE_OWN_UNIT: break;
    }
    /* A mean of less than one event per run would be shown as 0. */
    if (fabs(value) < 100 && value != floor(value)) {
        snprintf(text.text, sizeof text.text, "%.1f", value);
        return text;
    }
    return units_count(llround(value));
}

struct units_text diff_value(enum figure_unit unit, double value, bool sign) {
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

int diff_callers(const struct diff_row *row, bool full_names, struct buffer *out, struct error *err) {
    if (!row->trace_id) return 0;
    sqlite3_stmt *frame = db_prepare(row->db, embedded_text("diff/callers.sql"), err);
    if (!frame) return -1;
    db_bind_int(frame, ":trace", row->trace_id);
    db_bind_text(frame, ":function", row->subject);
    db_bind_int(frame, ":count", CALLERS_SHOWN);
    struct buffer plain = {0};
    int code;
    while ((code = db_step(row->db, frame, err)) == 1)
        if (!start_up_is_frame(db_text(frame, 0)))
            buffer_printf(out, "%s%s", out->size ? " < " : "",
                          usual_name_unless(full_names, db_text(frame, 0), &plain));
    buffer_free(&plain);
    return code;
}

/* ---- the line that sums up ---- */

/* One part of the line, in the order of the line; parts with a low `priority` number are kept first. */
struct quote_part {
    char *text, *brief; /* brief: a shorter form, or NULL */
    int priority;
};

struct quote {
    bool full_names;
    struct quote_part parts[QUOTE_PARTS];
    size_t count;
    size_t more;      /* number of changes without a part */
    bool has_varying; /* a part is about a figure whose noise one run on each side cannot tell */
};

/* Takes `brief`. */
static void add_part(struct quote *quote, int priority, struct buffer *text, char *brief) {
    if (quote->count == QUOTE_PARTS) bug("the line has more than %d parts", QUOTE_PARTS);
    quote->parts[quote->count++] = (struct quote_part){xstrdup(buffer_text(text)), brief, priority};
    buffer_free(text);
}

/* Whether the total has a part of the line now. */
static bool quote_total(const struct diff *diff, size_t column, const char *name, int priority, struct quote *quote) {
    const struct diff_figure *figure = &diff->tables[DIFF_TOTALS].rows[0].figures[column];
    const struct diff_column *about = &diff->tables[DIFF_TOTALS].columns[column];
    struct units_text before = diff_value(about->unit, figure->noise.old.mean, false);
    struct units_text after = diff_value(about->unit, figure->noise.new.mean, false);
    struct buffer part = {0};
    if (!figure->is_change) return false;
    quote->has_varying |= about->variation > FIGURE_EXACT;
    if (isnan(figure->percent))
        buffer_printf(&part, "%s %s -> %s", name, before.text, after.text);
    else
        buffer_printf(&part, "%s %s (%s -> %s)", name, diff_percent(figure->percent).text, before.text, after.text);
    char *brief = isnan(figure->percent) ? NULL : xasprintf("%s %s", name, diff_percent(figure->percent).text);
    add_part(quote, priority, &part, brief);
    return true;
}

/* The sites that are new or gone, without `quoted`. */
static void quote_sites(const struct diff *diff, const struct diff_row *quoted, struct quote *quote) {
    const struct diff_table *table = &diff->tables[DIFF_SITES];
    size_t added = 0, gone = 0;
    struct buffer part = {0};
    for (size_t i = 0; i < table->count; i++) {
        if (!table->rows[i].is_change || &table->rows[i] == quoted) continue;
        added += table->rows[i].presence == DIFF_ADDED;
        gone += table->rows[i].presence == DIFF_GONE;
    }
    if (added) buffer_printf(&part, "%s", units_things((int64_t)added, "new site").text);
    if (gone) buffer_printf(&part, "%s%s eliminated", added ? ", " : "", units_things((int64_t)gone, "site").text);
    if (part.size) add_part(quote, 5, &part, NULL);
}

static const struct diff_row *largest_change(const struct diff_table *table) {
    const struct diff_row **rows = diff_sorted(table), *first = table->count && rows[0]->is_change ? rows[0] : NULL;
    free(rows);
    return first;
}

/* "parse (server.c:20) +100 %", "parse new" */
static void quote_row(const struct diff_table *table, const struct diff_row *row, const char *what, int priority,
                      struct quote *quote) {
    struct buffer part = {0};
    const struct diff_figure *figure = &row->figures[table->judged];
    struct buffer plain = {0};
    buffer_add_text(&part, what);
    grid_visible(&part, usual_name_unless(quote->full_names, row->subject, &plain), NAME_QUOTED);
    buffer_free(&plain);
    if (*row->file && row->line) {
        buffer_add_text(&part, " (");
        grid_visible(&part, path_base(row->file), NAME_QUOTED / 2);
        buffer_printf(&part, ":%lld)", (long long)row->line);
    }
    buffer_printf(&part, " %s", isnan(figure->percent) ? row->change : diff_percent(figure->percent).text);
    quote->has_varying |= table->columns[table->judged].variation > FIGURE_EXACT;
    add_part(quote, priority, &part, NULL);
}

/* The site and the function that changed most: one part if the site stands for the function. Returns that site, or NULL. */
static const struct diff_row *quote_largest(const struct diff *diff, struct quote *quote) {
    const struct diff_table *sites = &diff->tables[DIFF_SITES], *functions = &diff->tables[DIFF_FUNCTIONS];
    const struct diff_table *cpu = &diff->tables[DIFF_CPU];
    const struct diff_row *site = largest_change(sites), *function = largest_change(functions);
    bool is_one = site && function && strcmp(site->subject, function->subject) == 0;
    if (site) quote_row(sites, site, "", 3, quote);
    if (function && !is_one) quote_row(functions, function, "all of ", 3, quote);
    function = largest_change(cpu);
    if (function) quote_row(cpu, function, "CPU in ", 4, quote);
    for (size_t i = 0; i < cpu->count; i++)
        quote->more += cpu->rows[i].is_change && &cpu->rows[i] != function;
    for (size_t i = 0; i < sites->count; i++)
        quote->more += sites->rows[i].is_change && &sites->rows[i] != site && sites->rows[i].presence == DIFF_BOTH;
    return site;
}

/* New problems first, then what got worse, then improvements. */
static int rank_of(const struct diff_table *table, const struct diff_row *row) {
    if (strncmp(row->change, "new", 3) == 0) return 0;
    if (strstr(row->change, "eliminated")) return 2;
    if (strncmp(row->change, "more ", 5) == 0) return 1;
    if (strncmp(row->change, "fewer ", 6) == 0) return 3;
    if (strcmp(row->change, "held longer") == 0 || strcmp(row->change, "held shorter") == 0)
        return row->change[5] == 'l' ? 1 : 3;
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

static bool is_held(const struct diff_row *row) {
    return strncmp(row->change, "held", 4) == 0;
}

static void quote_hold(const struct diff_row *row, struct buffer *part) {
    const struct diff_figure *hold = &row->figures[LOCK_HOLD];
    buffer_add_text(part, "lock ");
    grid_visible(part, row->subject, NAME_QUOTED);
    buffer_printf(part, " %s", row->change);
    if (!isnan(hold->percent)) buffer_printf(part, " (%s)", diff_percent(hold->percent).text);
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
            if (is_held(rows[i]))
                quote_hold(rows[i], &part);
            else
                quote_object(table, rows[i], &part);
            quote->has_varying = true;
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
    size_t chosen = 0;
    int left = REPORT_WIDTH - (int)strlen(others.text); /* each part but the first needs two columns for ", " */
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

static const char no_estimate[] = "; one run a side: no noise estimate"; /* may stand beyond REPORT_WIDTH */

/* Writes the parts in their order, and the number of changes that are left out. If not all fit, totals are written in the brief form. */
static void write_quote(const struct quote *quote, bool is_guess, struct buffer *out) {
    bool is_chosen[QUOTE_PARTS];
    size_t chosen = choose_parts(quote, false, is_chosen);
    bool brief = chosen < quote->count;
    if (brief) chosen = choose_parts(quote, true, is_chosen);
    for (size_t i = 0; i < quote->count; i++)
        if (is_chosen[i]) buffer_printf(out, "%s%s", out->size ? ", " : "", part_text(&quote->parts[i], brief));
    size_t more = quote->more + quote->count - chosen;
    if (more) buffer_printf(out, ", %s", units_things((int64_t)more, "more change").text);
    if (out->size && is_guess) buffer_add_text(out, no_estimate);
}

/* The figure that was asked for first, then the others of the heap: bytes, and blocks where the bytes did not change. */
static void quote_heap_totals(const struct diff *diff, struct quote *quote) {
    static const char *const names[] = {[HEAP_BYTES] = "allocated bytes",
                                        [HEAP_ALLOCS] = "allocations",
                                        [HEAP_INUSE_BYTES] = "live memory",
                                        [HEAP_INUSE_ALLOCS] = "live blocks"};
    enum heap_by by = diff->options->by;
    bool is_in_use = by == HEAP_INUSE_BYTES || by == HEAP_INUSE_ALLOCS;
    enum heap_by others[] = {is_in_use ? HEAP_BYTES : HEAP_INUSE_BYTES, is_in_use ? HEAP_ALLOCS : HEAP_INUSE_ALLOCS};
    if (!quote_total(diff, TOTAL_HEAP + by, names[by], 0, quote))
        quote_total(diff, TOTAL_HEAP + (by ^ 1), by < HEAP_INUSE_BYTES ? "number of allocations" : names[by ^ 1], 0,
                    quote);
    if (!quote_total(diff, TOTAL_HEAP + others[0], names[others[0]], 3, quote))
        quote_total(diff, TOTAL_HEAP + others[1], is_in_use ? "number of allocations" : names[others[1]], 3, quote);
}

/* Totals of locks, cells, channels and fibers, where no row of theirs changed enough to be quoted. */
static void quote_object_totals(const struct diff *diff, struct quote *quote) {
    static const struct {
        enum diff_table_id table;
        size_t column;
        const char *name;
    } totals[] = {{DIFF_LOCKS, TOTAL_LOCK + LOCK_WAIT, "lock waits"},
                  {DIFF_LOCKS, TOTAL_LOCK + LOCK_CONTENDED, "contended lock operations"},
                  {DIFF_LOCKS, TOTAL_LOCK, "lock operations"},
                  {DIFF_CELLS, TOTAL_RETRIES, "cell retries"},
                  {DIFF_CHANNELS, TOTAL_CHANNEL + 1, "channel waits"},
                  {DIFF_CHANNELS, TOTAL_CHANNEL, "blocked channel operations"},
                  {DIFF_FIBERS, TOTAL_FIBERS, "fibers"}};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        if (!largest_change(&diff->tables[totals[i].table]))
            quote_total(diff, totals[i].column, totals[i].name, QUOTE_PRIORITY_LAST, quote);
}

/* Of a program whose threads wait for each other, what is allocated depends on which of them was first. */
static bool has_threads(const struct diff *diff) {
    return diff->has_waits || diff->tables[DIFF_WAITS].count;
}

/* A side whose runs are not whole is named, because nothing else in the line tells. */
static void quote_broken(const struct diff *diff, struct buffer *out) {
    static const char *const names[] = {"old", "new"};
    for (int side = 0; side < DIFF_SIDES; side++) {
        size_t runs = diff->run_count[side], interrupted = diff->interrupted[side];
        if (interrupted && runs == 1) buffer_printf(out, "; interrupted: the %s run", names[side]);
        if (interrupted && runs > 1)
            buffer_printf(out, "; interrupted: %zu of %zu %s runs", interrupted, runs, names[side]);
        if (diff->paused[side] == runs) buffer_printf(out, "; not recorded: the %s side was paused", names[side]);
    }
}

static bool has_unsure_total(const struct diff *diff) {
    const struct diff_table *totals = &diff->tables[DIFF_TOTALS];
    for (size_t i = 0; i < totals->column_count; i++)
        if (diff_is_unsure(diff, i)) return true;
    return false;
}

void diff_quote(const struct diff *diff, struct buffer *out) {
    static const enum diff_table_id objects[] = {DIFF_LOCKS,  DIFF_WAITS, DIFF_CELLS, DIFF_CHANNELS,
                                                 DIFF_FIBERS, DIFF_IO,    DIFF_MAPS,  DIFF_SAMPLES};
    struct quote quote = {.full_names = diff->options->full_names};
    quote_heap_totals(diff, &quote);
    quote_total(diff, TOTAL_PEAK, "peak memory", 3, &quote);
    quote_total(diff, TOTAL_DURATION, "duration", 1, &quote);
    quote_sites(diff, quote_largest(diff, &quote), &quote);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        quote_objects(diff, objects[i], &quote);
    quote_object_totals(diff, &quote);
    quote_total(diff, TOTAL_CPU, "CPU time", 4, &quote);
    write_quote(&quote, diff->runs == 2 && (quote.has_varying || has_threads(diff)), out);
    for (size_t i = 0; i < quote.count; i++) {
        free(quote.parts[i].text);
        free(quote.parts[i].brief);
    }
    if (!out->size)
        buffer_add_text(out, diff->runs > 2           ? "no change outside the noise"
                             : has_unsure_total(diff) ? "no change that one run a side can tell from noise"
                                                      : "no change");
    quote_broken(diff, out);
}
