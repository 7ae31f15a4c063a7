#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/diff/changes.h"
#include "query/diff/programs.h"

/* ---- rules ---- */

/* The defaults, as in schema/rules.yaml: a read-only warehouse of an older clear may lack these rules. */
const struct diff_threshold diff_thresholds[DIFF_THRESHOLDS] = {
    {"diff_floor_percent", offsetof(struct diff_rules, floor_percent), 1},
    {"diff_floor_ns", offsetof(struct diff_rules, floor_ns), 1e6},
    {"diff_single_percent", offsetof(struct diff_rules, single_percent), 400},
    {"diff_single_threads_percent", offsetof(struct diff_rules, single_threads_percent), 30},
    {"diff_single_ns", offsetof(struct diff_rules, single_ns), 2e8},
    {"diff_single_cpu_percent", offsetof(struct diff_rules, single_cpu_percent), 80},
    {"diff_single_cpu_ns", offsetof(struct diff_rules, single_cpu_ns), 1e8},
    {"diff_single_wait_ns", offsetof(struct diff_rules, single_wait_ns), 1e9},
    {"diff_single_bytes", offsetof(struct diff_rules, single_bytes), 1 << 20},
    {"diff_single_row_percent", offsetof(struct diff_rules, single_row_percent), 0.1},
    {"diff_few_waits", offsetof(struct diff_rules, few_waits), 10},
    {"diff_false_percent", offsetof(struct diff_rules, false_percent), 0.2},
    {"diff_contended_percent", offsetof(struct diff_rules, contended_percent), 1},
    {"cell_retry_ratio", offsetof(struct diff_rules, retry_ratio), 1},
};

static int read_rules(struct diff *diff, struct error *err) {
    for (size_t i = 0; i < DIFF_THRESHOLDS; i++) {
        const struct diff_threshold *threshold = &diff_thresholds[i];
        double *value = (double *)(void *)((char *)&diff->rules + threshold->offset);
        *value = threshold->value;
        sqlite3_stmt *row = db_prepare(diff->options->rules, "SELECT value FROM rules WHERE name = :name", err);
        if (!row) return -1;
        db_bind_text(row, ":name", threshold->name);
        int code = db_step(diff->options->rules, row, err);
        if (code < 0) return -1;
        if (code) *value = sqlite3_column_double(row, 0);
        sqlite3_reset(row);
    }
    return 0;
}

/* ---- figures ---- */

static bool has_waits(const struct diff *diff) {
    static const size_t columns[] = {TOTAL_LOCK + LOCK_CONTENDED, TOTAL_RETRIES, TOTAL_CHANNEL};
    const double *values = diff->tables[DIFF_TOTALS].rows[0].values;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t run = 0; run < diff->runs; run++)
            if (values[columns[i] * diff->runs + run] != 0) return true;
    return false;
}

/* For a figure that varies. The percentage is of the smaller value, so that the answer is the same with the sides exchanged. */
static bool is_above_single(const struct diff_figure *figure, double percent) {
    double smaller = fmin(fabs(figure->noise.old.mean), fabs(figure->noise.new.mean));
    return smaller == 0 || round(100 * fabs(figure->delta) / smaller) >= percent;
}

/* CPU time varies less than other times from run to run, so that twice as much is always told. What sampling may have made of it is left to
 * the rules of weigh.c. */
static bool is_cpu_time(const struct diff *diff, const struct diff_table *table, size_t column) {
    return table->columns[column].unit == FIGURE_NS &&
           (table == &diff->tables[DIFF_CPU] || (table == &diff->tables[DIFF_TOTALS] && column == TOTAL_CPU));
}

/* Of a function alone more is asked: the same calls of munmap took 101 and 343 ms beside another program, of a run whose CPU time rose by 69 %. */
static double single_cpu_percent(const struct diff *diff, const struct diff_table *table) {
    const struct diff_figure *total = &diff->tables[DIFF_TOTALS].rows[0].figures[TOTAL_CPU]; /* compared first */
    return table == &diff->tables[DIFF_TOTALS] || total->is_change ? diff->rules.single_cpu_percent
                                                                   : diff->rules.single_percent;
}

static bool is_large(const struct diff *diff, const struct diff_table *table, size_t column,
                     const struct diff_figure *figure) {
    enum figure_variation variation = table->columns[column].variation;
    double before = figure->noise.old.mean, after = figure->noise.new.mean;
    bool is_cpu = table == &diff->tables[DIFF_CPU];
    bool counts_events = variation == FIGURE_EVENTS || variation == FIGURE_COUNTED;
    if (figure->delta == 0) return false;
    if (!diff_is_single(diff)) return diff_is_above_floor(diff, figure);
    if (is_cpu_time(diff, table, column))
        return fabs(figure->delta) >= diff->rules.single_cpu_ns &&
               is_above_single(figure, single_cpu_percent(diff, table));
    if (table->columns[column].unit == FIGURE_NS && fabs(figure->delta) < diff->rules.single_ns) return false;
    if (counts_events && (is_cpu ? diff_samples_may_be_chance(diff, before, after)
                                 : diff_may_be_chance(diff, DIFF_CHANCE, before, after)))
        return false;
    return variation < FIGURE_COUNTED ? diff_is_above_floor(diff, figure)
                                      : is_above_single(figure, diff->rules.single_percent);
}

static void compare(const struct diff *diff, const struct diff_table *table, const struct diff_row *row,
                    size_t column) {
    const double *values = row->values + column * diff->runs;
    struct diff_figure *figure = &row->figures[column];
    figure->noise =
        noise_compare(values, diff->run_count[DIFF_OLD], values + diff->run_count[DIFF_OLD], diff->run_count[DIFF_NEW]);
    double before = figure->noise.old.mean;
    figure->delta = figure->noise.new.mean - before;
    figure->percent = before != 0 ? 100 * figure->delta / fabs(before) : NAN;
    figure->is_change = is_large(diff, table, column, figure);
}

/* Some of many rows differ by chance. A figure that varies on neither side is not tested, and does not count as one of them. */
static bool is_tested(const struct diff_figure *figure) {
    return !isnan(figure->noise.p) && !isinf(figure->noise.t) &&
           !(figure->noise.old.sd == 0 && figure->noise.new.sd == 0);
}

static void apply_limit(struct diff_figure *figure, double limit) {
    if (!is_tested(figure) || figure->noise.p <= limit) return;
    figure->is_in_noise = figure->is_change;
    if (figure->is_change) figure->why = "within the noise of the runs, by the test over all figures of the table";
    figure->is_change = false;
}

/* All figures of a table are tested together, of the totals those of their one row: each limit that a comparison has is one more chance
 * to call noise a change. With a limit for each column, 1 of 108 comparisons of unchanged programs quoted a change (make truth). */
static void drop_noise(const struct diff *diff, struct diff_table *table) {
    double *p = xcalloc(table->count * table->column_count + 1, sizeof *p);
    size_t tested = 0;
    for (size_t i = 0; i < table->count; i++)
        for (size_t column = 0; column < table->column_count; column++)
            if (is_tested(&table->rows[i].figures[column])) p[tested++] = table->rows[i].figures[column].noise.p;
    double limit = noise_limit(p, tested, diff->rules.false_percent / 100);
    for (size_t i = 0; i < table->count; i++)
        for (size_t column = 0; column < table->column_count; column++)
            apply_limit(&table->rows[i].figures[column], limit);
    free(p);
}

/* ---- verdicts ---- */

static const char *direction(const struct diff_figure *figure, const char *up, const char *down) {
    if (!figure->is_change) return "same";
    return figure->delta > 0 ? up : down;
}

static void judge_function(const struct diff_table *table, struct diff_row *row) {
    const struct diff_figure *figure = &row->figures[table->judged];
    row->change = direction(figure, "up", "down");
    row->is_change = figure->is_change;
    if (figure->is_in_noise) return;
    if (row->presence == DIFF_ADDED) row->change = "new";
    if (row->presence == DIFF_GONE) row->change = "eliminated";
}

/* The percentage of the operations that had to wait. */
static double contended_percent(const struct diff_row *row, int side) {
    const struct noise *operations = &row->figures[0].noise, *contended = &row->figures[1].noise;
    double all = side == DIFF_OLD ? operations->old.mean : operations->new.mean;
    double waited = side == DIFF_OLD ? contended->old.mean : contended->new.mean;
    /* A profile of contentions only (Go's mutex profile) has no other operations. */
    return waited == 0 ? 0 : all == 0 ? 100 : 100 * waited / all;
}

/* Ways of a wait or a try to end without the lock, the worst first. */
static const struct ending {
    size_t column;
    const char *fresh, *gone, *more, *fewer;
} endings[] = {
    {LOCK_UNFINISHED, "new unfinished waits", "unfinished waits eliminated", "more unfinished waits",
     "fewer unfinished waits"},
    {LOCK_TIMEOUTS, "new timeouts", "timeouts eliminated", "more timeouts", "fewer timeouts"},
    {LOCK_FAILED_TRIES, "new failed tries", "failed tries eliminated", "more failed tries", "fewer failed tries"},
};

static const char *ending_change(const struct ending *ending, const struct diff_figure *figure) {
    if (figure->noise.old.mean == 0) return ending->fresh;
    if (figure->noise.new.mean == 0) return ending->gone;
    return direction(figure, ending->more, ending->fewer);
}

/* What changed in how waits end says more than that there are waits where it was never so before, and is said besides where nothing else
 * changed. */
static void judge_endings(struct diff_row *row) {
    bool is_same = strcmp(row->change, "same") == 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const struct diff_figure *figure = &row->figures[endings[i].column];
        bool is_new = figure->noise.old.mean == 0 && endings[i].column != LOCK_FAILED_TRIES;
        if (!figure->is_change || !(is_same || is_new)) continue;
        row->change = ending_change(&endings[i], figure);
        return;
    }
}

/* What a row is called where it did not wait before, where it no longer waits, and where its waits are longer or shorter. Threads that wait
 * for work wait longer where there is less of it, so that longer is no worse there. */
struct diff_wait_words {
    const char *fresh, *gone, *longer, *shorter;
};

static const struct diff_wait_words *diff_wait_words(enum diff_table_id id) {
    static const struct diff_wait_words of_locks = {"newly contended", "contention eliminated", "regression",
                                                    "improved"},
                                        of_channels = {"newly blocked", "blocking eliminated", "regression",
                                                       "improved"},
                                        of_others = {"newly waited for", "waits eliminated", "longer waits",
                                                     "shorter waits"};
    return id == DIFF_LOCKS ? &of_locks : id == DIFF_CHANNELS ? &of_channels : &of_others;
}

/* Locks, channels and what else is waited for, by operations, waits and times. */
static void judge_waits(const struct diff *diff, const struct diff_table *table, enum diff_table_id id,
                        struct diff_row *row) {
    const struct diff_figure *contended = &row->figures[1], *judged = &row->figures[table->judged];
    bool before = contended_percent(row, DIFF_OLD) >= diff->rules.contended_percent;
    bool after = contended_percent(row, DIFF_NEW) >= diff->rules.contended_percent;
    const struct diff_wait_words *words = diff_wait_words(id);
    /* A few long waits may be too few to be a change by their number. */
    bool is_longer = judged->is_change && judged->delta > 0, is_shorter = judged->is_change && judged->delta < 0;
    if (!before && after && (contended->is_change || is_longer))
        row->change = words->fresh;
    else if (before && !after && (contended->is_change || is_shorter))
        row->change = words->gone;
    else
        row->change = direction(judged->is_change ? judged : contended, words->longer, words->shorter);
    if (id == DIFF_LOCKS && strcmp(row->change, "same") == 0)
        row->change = direction(&row->figures[LOCK_HOLD], "held longer", "held shorter");
    if (id == DIFF_LOCKS) judge_endings(row);
    row->is_change = strcmp(row->change, "same") != 0;
    if (!row->is_change && !judged->is_in_noise && row->presence != DIFF_BOTH)
        row->change = row->presence == DIFF_ADDED ? "new" : "gone";
}

static double retry_ratio(const struct diff_row *row, int side) {
    const struct noise *retries = &row->figures[0].noise, *commits = &row->figures[1].noise;
    double retried = side == DIFF_OLD ? retries->old.mean : retries->new.mean;
    double committed = side == DIFF_OLD ? commits->old.mean : commits->new.mean;
    return retried == 0 ? 0 : committed == 0 ? INFINITY : retried / committed;
}

static void judge_cell(const struct diff *diff, struct diff_row *row) {
    const struct diff_figure *retries = &row->figures[0];
    bool before = retry_ratio(row, DIFF_OLD) >= diff->rules.retry_ratio;
    bool after = retry_ratio(row, DIFF_NEW) >= diff->rules.retry_ratio;
    row->change = direction(retries, "more contention", "less contention");
    if (retries->is_change && !before && after) row->change = "new retry storm";
    /* Of a storm a few may be left: every hundredth commit. */
    bool is_gone =
        retries->noise.new.mean == 0 || (before && retry_ratio(row, DIFF_NEW) <= diff->rules.retry_ratio / 100);
    if (retries->is_change && is_gone) row->change = "retries eliminated";
    row->is_change = retries->is_change;
    if (!row->is_change && !retries->is_in_noise && row->presence != DIFF_BOTH)
        row->change = row->presence == DIFF_ADDED ? "new" : "gone";
}

/* The number of fibers may have changed even if their lifetimes did not. */
static void judge_task(const struct diff_table *table, struct diff_row *row) {
    const struct diff_figure *spawns = &row->figures[0], *judged = &row->figures[table->judged];
    judge_function(table, row);
    if (judged->is_change || row->presence != DIFF_BOTH) return;
    row->change = direction(spawns, "more spawns", "fewer spawns");
    row->is_change = spawns->is_change;
}

static void judge_row(const struct diff *diff, const struct diff_table *table, enum diff_table_id id,
                      struct diff_row *row) {
    if (row->seen[DIFF_OLD] || row->seen[DIFF_NEW])
        row->presence = !row->seen[DIFF_OLD] ? DIFF_ADDED : !row->seen[DIFF_NEW] ? DIFF_GONE : DIFF_BOTH;
    diff_weigh(diff, id, row);
    if (id == DIFF_LOCKS || id == DIFF_WAITS || id == DIFF_CHANNELS)
        judge_waits(diff, table, id, row);
    else if (id == DIFF_FIBERS)
        judge_task(table, row);
    else if (id == DIFF_CELLS)
        judge_cell(diff, row);
    else if (id != DIFF_TOTALS)
        judge_function(table, row);
}

static void judge(struct diff *diff) {
    diff->has_waits = has_waits(diff);
    for (size_t id = 0; id < DIFF_TABLES; id++) {
        struct diff_table *table = &diff->tables[id];
        for (size_t i = 0; i < table->count; i++)
            for (size_t column = 0; column < table->column_count; column++)
                compare(diff, table, &table->rows[i], column);
        drop_noise(diff, table);
    }
    for (size_t id = DIFF_TABLES; id-- > 0;) /* the totals last: they depend on what rows are called */
        for (size_t i = 0; i < diff->tables[id].count; i++)
            judge_row(diff, &diff->tables[id], (enum diff_table_id)id, &diff->tables[id].rows[i]);
}

bool diff_is_unsure(const struct diff *diff, size_t total) {
    const struct diff_figure *figure = &diff->tables[DIFF_TOTALS].rows[0].figures[total];
    bool is_known = total != TOTAL_DURATION || (figure->noise.old.mean != 0 && figure->noise.new.mean != 0);
    return diff_is_single(diff) && is_known && !figure->is_change && !figure->is_in_noise &&
           !diff_is_unrecorded(diff, total) && figure->delta != 0 &&
           round(fabs(figure->percent)) >= diff->rules.floor_percent;
}

/* ---- order ---- */

static double magnitude(const struct diff_table *table, const struct diff_row *row) {
    return fabs(row->figures[table->judged].delta);
}

static int larger_first(const void *left, const void *right, void *context) {
    const struct diff_table *table = context;
    const struct diff_row *a = *(const struct diff_row *const *)left, *b = *(const struct diff_row *const *)right;
    if (a->is_change != b->is_change) return a->is_change ? -1 : 1;
    double difference = magnitude(table, b) - magnitude(table, a);
    if (difference != 0) return difference > 0 ? 1 : -1;
    double total_a = a->figures[table->judged].noise.new.mean, total_b = b->figures[table->judged].noise.new.mean;
    if (total_a != total_b) return total_b > total_a ? 1 : -1;
    int names = strcmp(a->subject, b->subject);
    if (!names) names = strcmp(a->identity, b->identity);
    return names ? names : (a->signature > b->signature) - (a->signature < b->signature);
}

const struct diff_row **diff_sorted(const struct diff_table *table) {
    const struct diff_row **rows = xcalloc(table->count + 1, sizeof *rows);
    for (size_t i = 0; i < table->count; i++)
        rows[i] = &table->rows[i];
    qsort_r(rows, table->count, sizeof *rows, larger_first, (void *)(uintptr_t)table);
    return rows;
}

int diff_make(struct diff *diff, const struct diff_options *options, struct error *err) {
    *diff = (struct diff){.options = options};
    for (int side = 0; side < DIFF_SIDES; side++)
        diff->run_count[side] = options->sides[side].runs.count;
    diff->runs = diff->run_count[DIFF_OLD] + diff->run_count[DIFF_NEW];
    if (read_rules(diff, err) < 0 || diff_gather(diff, err) < 0 || code_differs(options, &diff->has_other_code, err))
        return -1;
    judge(diff);
    return 0;
}

void diff_free(struct diff *diff) {
    for (size_t i = 0; i < DIFF_TABLES; i++) {
        free(diff->tables[i].rows);
        map_free(&diff->tables[i].keys);
    }
    free(diff->losses);
    arena_free(&diff->texts);
}
