#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/diff/changes.h"
#include "query/runs/sampling_error.h"

/* ---- rules ---- */

/* The defaults, as in schema/rules.yaml: a read-only warehouse of an older clear may lack these rules. */
static const struct {
    const char *name;
    size_t offset;
    double value;
} rules[] = {
    {"diff_floor_percent", offsetof(struct diff_rules, floor_percent), 1},
    {"diff_floor_ns", offsetof(struct diff_rules, floor_ns), 1e6},
    {"diff_single_percent", offsetof(struct diff_rules, single_percent), 400},
    {"diff_single_threads_percent", offsetof(struct diff_rules, single_threads_percent), 30},
    {"diff_single_ns", offsetof(struct diff_rules, single_ns), 2e8},
    {"diff_single_wait_ns", offsetof(struct diff_rules, single_wait_ns), 1e9},
    {"diff_single_bytes", offsetof(struct diff_rules, single_bytes), 1 << 20},
    {"diff_single_row_percent", offsetof(struct diff_rules, single_row_percent), 0.1},
    {"diff_false_percent", offsetof(struct diff_rules, false_percent), 0.2},
    {"diff_contended_percent", offsetof(struct diff_rules, contended_percent), 1},
    {"cell_retry_ratio", offsetof(struct diff_rules, retry_ratio), 1},
};

static int read_rules(struct diff *diff, struct error *err) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        double *value = (double *)(void *)((char *)&diff->rules + rules[i].offset);
        *value = rules[i].value;
        sqlite3_stmt *row = db_prepare(diff->options->rules, "SELECT value FROM rules WHERE name = :name", err);
        if (!row) return -1;
        db_bind_text(row, ":name", rules[i].name);
        int code = db_step(diff->options->rules, row, err);
        if (code < 0) return -1;
        if (code) *value = sqlite3_column_double(row, 0);
        sqlite3_reset(row);
    }
    return 0;
}

/* ---- figures ---- */

/* One run on each side: the noise is not known, so rules stand in for it. */
static bool is_single(const struct diff *diff) {
    return diff->runs == 2;
}

/* Counts of events vary by chance. With n expected events the standard deviation is sqrt(n), and 997 of 1,000 differences are within
 * three standard deviations of the difference. Blocks come in groups, one for each thread, and vary more. Means over several runs
 * vary less. */
enum { CHANCE_EVENTS = 3, CHANCE_BLOCKS = 6 }; /* standard deviations */

static bool may_be_chance(const struct diff *diff, int deviations, double before, double after) {
    double variance = before / (double)diff->run_count[DIFF_OLD] + after / (double)diff->run_count[DIFF_NEW];
    double difference = after - before;
    return variance > 0 && difference * difference < deviations * deviations * variance;
}

/* Percentages are rounded to whole numbers before they are compared, as everywhere in the doctor. Where threads met, what they allocated
 * may depend on who was first. */
static bool is_above_floor(const struct diff *diff, const struct diff_figure *figure) {
    double floor = diff->rules.floor_percent;
    if (is_single(diff) && diff->has_waits) floor = fmax(floor, diff->rules.single_threads_percent);
    return isnan(figure->percent) || round(fabs(figure->percent)) >= floor;
}

static bool has_waits(const struct diff *diff) {
    static const size_t columns[] = {TOTAL_LOCK + LOCK_CONTENDED, TOTAL_RETRIES, TOTAL_CHANNEL};
    const double *values = diff->tables[DIFF_TOTALS].rows[0].values;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (size_t run = 0; run < diff->runs; run++)
            if (values[columns[i] * diff->runs + run] != 0) return true;
    return false;
}

/* For a figure that varies. The percentage is of the smaller value, so that the answer is the same with the sides exchanged. */
static bool is_above_single(const struct diff *diff, const struct diff_figure *figure) {
    double smaller = fmin(fabs(figure->noise.old.mean), fabs(figure->noise.new.mean));
    return smaller == 0 || round(100 * fabs(figure->delta) / smaller) >= diff->rules.single_percent;
}

static bool is_large(const struct diff *diff, const struct diff_column *column, const struct diff_figure *figure) {
    enum diff_variation variation = column->variation;
    bool counts_events = variation == DIFF_EVENTS || variation == DIFF_COUNTED;
    if (figure->delta == 0) return false;
    if (!is_single(diff)) return is_above_floor(diff, figure);
    if (column->unit == DIFF_NS && fabs(figure->delta) < diff->rules.single_ns) return false;
    if (counts_events && may_be_chance(diff, CHANCE_EVENTS, figure->noise.old.mean, figure->noise.new.mean))
        return false;
    return variation < DIFF_COUNTED ? is_above_floor(diff, figure) : is_above_single(diff, figure);
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
    figure->is_change = is_large(diff, &table->columns[column], figure);
}

/* Some of many rows differ by chance. A figure that varies on neither side is not tested, and does not count as one of them. */
static bool is_tested(const struct diff_figure *figure) {
    return !isnan(figure->noise.p) && !isinf(figure->noise.t) &&
           !(figure->noise.old.sd == 0 && figure->noise.new.sd == 0);
}

static void apply_limit(struct diff_figure *figure, double limit) {
    if (!is_tested(figure) || figure->noise.p <= limit) return;
    figure->is_in_noise = figure->is_change;
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

/* An ingested file often has no duration. */
static void drop_unknown_duration(struct diff_table *totals) {
    struct diff_figure *duration = &totals->rows[0].figures[TOTAL_DURATION];
    if (duration->noise.old.mean == 0 || duration->noise.new.mean == 0) duration->is_change = false;
}

/* ---- figures that decide together ---- */

static void drop(struct diff_figure *figure) {
    figure->is_in_noise |= figure->is_change;
    figure->is_change = false;
}

/* Waits are as important as the time they took, where that is known: a thousand waits of a microsecond are no change. One run on
 * each side: how often threads met is chance, so their number alone is none either. */
static void drop_short(const struct diff *diff, struct diff_figure *count, struct diff_figure *time) {
    double before = time->noise.old.mean, after = time->noise.new.mean;
    bool is_known = before != 0 || after != 0, is_short = is_known && fmax(before, after) < diff->rules.floor_ns;
    if (is_short) drop(time);
    if (is_short || (is_single(diff) && !time->is_change)) drop(count);
}

/* How many waited tells nothing where all of them together waited longer, or where fewer did. */
static void drop_contradicted(const struct diff *diff, struct diff_figure *count, const struct diff_figure *time) {
    if (count->is_change && !time->is_change && count->delta * time->delta < 0 && is_above_floor(diff, time))
        drop(count);
}

/* A time whose difference is below the floor is no change, however exact. */
static void drop_brief(const struct diff *diff, struct diff_figure *time) {
    if (fabs(time->delta) < diff->rules.floor_ns) drop(time);
}

/* What a run with threads has in use at its end is chance: a few blocks more or fewer of many. What was nothing before, or is nothing
 * now, is none. */
static void drop_live(const struct diff *diff, struct diff_figure *heap) {
    struct diff_figure *bytes = &heap[HEAP_INUSE_BYTES], *blocks = &heap[HEAP_INUSE_ALLOCS];
    double before = blocks->noise.old.mean, after = blocks->noise.new.mean;
    if (!is_single(diff) || before == 0 || after == 0) return;
    if (fabs(bytes->delta) >= diff->rules.single_bytes || !may_be_chance(diff, CHANCE_BLOCKS, before, after)) return;
    drop(bytes);
    drop(blocks);
}

static void drop_within(struct diff_figure *figure, int deviations, double variance) {
    if (figure->delta * figure->delta < deviations * deviations * variance) drop(figure);
}

/* Blocks of several sizes vary more than those of their mean size. Sampled by size, small blocks are seldom seen and count much, so their
 * number varies more still (query/runs/sampling_error.h). Of 210 comparisons of samples of one program, two were called a change at three. */
enum {
    CHANCE_SAMPLED = 4,
    SIZES_VARY = 2 /* the mean square of sizes that differ as much as they are large, by that of their mean */
};

static int deviations_of_blocks(const struct diff *diff) {
    bool is_by_size = diff->sampling[DIFF_OLD].period > 0 || diff->sampling[DIFF_NEW].period > 0;
    return is_by_size ? CHANCE_BLOCKS : CHANCE_SAMPLED;
}

/* A difference that sampling alone may make. A side that has none may have been as large as the other: its samples missed all of them, so
 * the larger side tells how far each is off. */
static void drop_sampled(const struct diff *diff, struct diff_figure *bytes, struct diff_figure *blocks) {
    double count = fmax(blocks->noise.old.mean, blocks->noise.new.mean), variance = 0;
    double sum = fmax(bytes->noise.old.mean, bytes->noise.new.mean), size = count > 0 ? sum / count : 0;
    for (int side = 0; side < DIFF_SIDES; side++) {
        const struct diff_sampling *sampling = &diff->sampling[side];
        variance +=
            sampling_error_variance(sampling->sample_n, sampling->period, count, sum) / (double)diff->run_count[side];
    }
    drop_within(blocks, deviations_of_blocks(diff), variance);
    drop_within(bytes, CHANCE_SAMPLED, SIZES_VARY * variance * size * size);
}

static void drop_sampled_heap(const struct diff *diff, struct diff_figure *heap) {
    drop_sampled(diff, &heap[HEAP_BYTES], &heap[HEAP_ALLOCS]);
    drop_sampled(diff, &heap[HEAP_INUSE_BYTES], &heap[HEAP_INUSE_ALLOCS]);
}

/* Locks and waits are sampled with the blocks, one event in so many. What the sampling may have made of the events tells nothing of their
 * times either. */
static void drop_sampled_waits(const struct diff *diff, struct diff_figure *figures, size_t count) {
    double n = fmax(diff->sampling[DIFF_OLD].sample_n, diff->sampling[DIFF_NEW].sample_n);
    for (size_t column = 0; n > 1 && column <= LOCK_CONTENDED; column++) {
        const struct noise *events = &figures[column].noise;
        double larger = fmax(events->old.mean, events->new.mean), delta = figures[column].delta;
        if (delta * delta >= CHANCE_SAMPLED * CHANCE_SAMPLED * n * larger) continue;
        size_t end = column == LOCK_OPERATIONS ? 1 : count;
        for (size_t i = column; i < end; i++)
            drop(&figures[i]);
    }
}

static void drop_sampled_totals(const struct diff *diff, struct diff_figure *heap) {
    for (size_t i = 0; i < 4; i++) {
        double variance = 0, n;
        for (int side = 0; side < DIFF_SIDES; side++)
            n = (double)diff->run_count[side], variance += diff->sampling[side].variance[i] / (n * n);
        bool is_bytes = i == HEAP_BYTES || i == HEAP_INUSE_BYTES;
        drop_within(&heap[i], is_bytes ? CHANCE_SAMPLED : deviations_of_blocks(diff), variance);
    }
}

/* The peak of a sampled run is too high by as much as single samples stand for: it tells nothing beside one that was sampled otherwise, or of
 * one run. */
static void drop_sampled_peak(const struct diff *diff, struct diff_figure *peak) {
    const struct diff_sampling *old = &diff->sampling[DIFF_OLD], *new = &diff->sampling[DIFF_NEW];
    bool is_sampled = fmax(old->sample_n, new->sample_n) > 1 || fmax(old->period, new->period) > 0;
    bool is_alike = old->sample_n == new->sample_n && old->period == new->period;
    if (is_sampled && (!is_alike || is_single(diff))) drop(peak);
}

/* One run on each side: a row whose difference is nearly nothing of the whole. */
static void drop_slight(const struct diff *diff, struct diff_row *row) {
    const struct diff_figure *totals = &diff->tables[DIFF_TOTALS].rows[0].figures[TOTAL_HEAP];
    for (size_t i = 0; is_single(diff) && i < 4; i++) {
        double whole = fmax(totals[i].noise.old.mean, totals[i].noise.new.mean);
        if (fabs(row->figures[i].delta) * 100 < diff->rules.single_row_percent * whole) drop(&row->figures[i]);
    }
}

/* Only where samples alone tell it. In a recorded run the clocks of the threads do: what no sample met is counted too. */
static void drop_chance_of_cpu(const struct diff *diff, struct diff_figure *cpu) {
    if (!diff->has_sampled_cpu) return;
    double before = diff->cpu_samples[DIFF_OLD] / (double)diff->run_count[DIFF_OLD];
    double after = diff->cpu_samples[DIFF_NEW] / (double)diff->run_count[DIFF_NEW];
    if (may_be_chance(diff, CHANCE_EVENTS, before, after)) drop(cpu);
}

/* One run on each side: how many threads are at their peak at once is chance, and each is recorded to about 16 KiB; with one thread the
 * peak is exact. One that was not recorded on a side is not known. */
static void drop_near_peak(const struct diff *diff, struct diff_figure *peak) {
    if (is_single(diff) && diff->has_inexact_peak && fabs(peak->delta) < diff->rules.single_bytes) drop(peak);
    if (peak->noise.old.mean == 0 || peak->noise.new.mean == 0) peak->is_change = peak->is_in_noise = false;
}

/* One run on each side: waits that are no change of any lock are none of all locks together. */
static void drop_total_waits(const struct diff *diff, struct diff_figure *wait) {
    const struct diff_table *locks = &diff->tables[DIFF_LOCKS];
    for (size_t i = 0; i < locks->count; i++)
        if (locks->rows[i].figures[LOCK_WAIT].is_change) return;
    if (is_single(diff)) drop(wait);
}

static void weigh_totals(const struct diff *diff, struct diff_figure *figures) {
    drop_near_peak(diff, &figures[TOTAL_PEAK]);
    drop_live(diff, &figures[TOTAL_HEAP]);
    drop_sampled_totals(diff, &figures[TOTAL_HEAP]);
    drop_sampled_heap(diff, &figures[TOTAL_HEAP]);
    drop_sampled_waits(diff, &figures[TOTAL_LOCK], 3);
    drop_sampled_peak(diff, &figures[TOTAL_PEAK]);
    drop_brief(diff, &figures[TOTAL_DURATION]);
    drop_brief(diff, &figures[TOTAL_CPU]);
    drop_chance_of_cpu(diff, &figures[TOTAL_CPU]);
    drop_total_waits(diff, &figures[TOTAL_LOCK + LOCK_WAIT]);
    drop_contradicted(diff, &figures[TOTAL_LOCK + LOCK_CONTENDED], &figures[TOTAL_LOCK + LOCK_WAIT]);
    drop_short(diff, &figures[TOTAL_LOCK + LOCK_CONTENDED], &figures[TOTAL_LOCK + LOCK_WAIT]);
    drop_short(diff, &figures[TOTAL_CHANNEL], &figures[TOTAL_CHANNEL + 1]);
    if (is_single(diff)) drop(&figures[TOTAL_RETRIES]);
    for (size_t i = 0; i < diff->tables[DIFF_TOTALS].column_count; i++)
        if (diff_is_unrecorded(diff, i)) drop(&figures[i]);
}

/* One run on each side: how often writers collided is chance. An unchanged program has tens of thousands of retries on a busy machine,
 * and none where its threads happened to run one after the other. What the retries copied is chance with them. */
static void weigh_cell(const struct diff *diff, struct diff_figure *figures) {
    if (!is_single(diff)) return;
    drop(&figures[CELL_RETRIES]);
    drop(&figures[CELL_COPIED]);
}

/* One run on each side: how often a try found the lock taken is chance, as retries are. Waits that did not end with the lock count as
 * far as the time of waiting does. */
static void drop_endings(const struct diff *diff, struct diff_figure *lock) {
    if (!is_single(diff)) return;
    drop(&lock[LOCK_FAILED_TRIES]);
    if (lock[LOCK_WAIT].is_change) return;
    drop(&lock[LOCK_TIMEOUTS]);
    drop(&lock[LOCK_UNFINISHED]);
}

static void weigh_waits(const struct diff *diff, struct diff_figure *figures, size_t count) {
    drop_sampled_waits(diff, figures, count);
    drop_contradicted(diff, &figures[LOCK_CONTENDED], &figures[LOCK_WAIT]);
    drop_short(diff, &figures[LOCK_CONTENDED], &figures[LOCK_WAIT]);
    drop_brief(diff, &figures[LOCK_WAIT]);
}

/* One run on each side: how long a crowd without work waits is chance, and how often threads waited and were woken counts as far as the
 * time of waiting does. */
static void weigh_other_waits(const struct diff *diff, const struct diff_table *table, struct diff_figure *figures) {
    weigh_waits(diff, figures, table->column_count);
    if (is_single(diff) && fabs(figures[LOCK_WAIT].delta) < diff->rules.single_wait_ns) drop(&figures[LOCK_WAIT]);
    for (size_t i = 0; i < table->column_count && is_single(diff) && !figures[LOCK_WAIT].is_change; i++)
        drop(&figures[i]);
}

/* One run on each side: a lock that is taken as often and held as long as before is waited for longer where the machine has other things to
 * do. An unchanged program of four threads waited 15 ms for a spin lock alone on two processors, and 700 ms beside two busy loops. */
static void drop_waits_of_machine(const struct diff *diff, struct diff_figure *lock) {
    bool is_hold_known = lock[LOCK_HOLD].noise.old.mean > 0 && lock[LOCK_HOLD].noise.new.mean > 0;
    if (!is_single(diff) || !is_hold_known || lock[LOCK_HOLD].is_change || lock[LOCK_OPERATIONS].is_change) return;
    if (fabs(lock[LOCK_WAIT].delta) < diff->rules.single_wait_ns) drop(&lock[LOCK_WAIT]);
}

static void weigh_lock(const struct diff *diff, struct diff_figure *figures) {
    drop_brief(diff, &figures[LOCK_HOLD]);
    drop_waits_of_machine(diff, figures);
    weigh_waits(diff, figures, LOCK_COLUMNS);
    drop_endings(diff, figures);
}

/* ---- verdicts ---- */

/* The samples of a function are its time in other words: they are a change where that is. */
static void drop_few_samples(const struct diff *diff, struct diff_figure *cpu) {
    if (is_single(diff) && !cpu[0].is_change) drop(&cpu[1]);
}

static void drop_chance(const struct diff *diff, const struct diff_table *table, size_t counted, struct diff_row *row) {
    const struct noise *samples = &row->figures[counted].noise;
    if (!may_be_chance(diff, CHANCE_EVENTS, samples->old.mean, samples->new.mean)) return;
    for (size_t i = 0; i < table->column_count; i++) {
        row->figures[i].is_in_noise |= row->figures[i].delta != 0; /* nor is the row new or gone */
        row->figures[i].is_change = false;
    }
}

/* A function that every run of one side met, and none of the other, though it had to expect so many samples. A t test of three runs a side
 * cannot tell that: samples are counted, and that tells how far they vary (one in 3,000,000 meets none of 15). */
enum { SAMPLES_EXPECTED = 15 };

static void keep_certain(const struct diff *diff, struct diff_row *row) {
    const struct noise *samples = &row->figures[1].noise;
    int without = row->seen[DIFF_OLD] ? DIFF_NEW : DIFF_OLD, with = DIFF_SIDES - 1 - without;
    double met = with == DIFF_OLD ? samples->old.mean : samples->new.mean;
    if (is_single(diff) || row->seen[without] || row->seen[with] < diff->run_count[with]) return;
    if (met * (double)diff->run_count[without] < SAMPLES_EXPECTED) return;
    for (size_t i = 0; i < 2; i++) {
        row->figures[i].is_change = row->figures[i].delta != 0;
        row->figures[i].is_in_noise = false;
    }
}

/* True for counts of samples, false for times and bytes. */
static bool is_counted(const struct diff_row *row) {
    const char *unit = strrchr(row->what, ' ');
    return unit && strcmp(unit, " count") == 0;
}

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
    if (retries->is_change && retries->noise.new.mean == 0) row->change = "retries eliminated";
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

static void weigh_heap(const struct diff *diff, struct diff_row *row) {
    drop_live(diff, row->figures);
    drop_sampled_heap(diff, row->figures);
    drop_slight(diff, row);
}

static void judge_row(const struct diff *diff, const struct diff_table *table, enum diff_table_id id,
                      struct diff_row *row) {
    if (row->seen[DIFF_OLD] || row->seen[DIFF_NEW])
        row->presence = !row->seen[DIFF_OLD] ? DIFF_ADDED : !row->seen[DIFF_NEW] ? DIFF_GONE : DIFF_BOTH;
    if (id == DIFF_TOTALS) weigh_totals(diff, row->figures);
    if (id == DIFF_FUNCTIONS || id == DIFF_SITES) weigh_heap(diff, row);
    if (id == DIFF_LOCKS) weigh_lock(diff, row->figures);
    if (id == DIFF_WAITS) weigh_other_waits(diff, table, row->figures);
    if (id == DIFF_CELLS) weigh_cell(diff, row->figures);
    if (id == DIFF_CHANNELS) drop_short(diff, &row->figures[CHANNEL_BLOCKED], &row->figures[CHANNEL_WAIT]);
    if (id == DIFF_CPU) {
        drop_chance(diff, table, 1, row);
        drop_few_samples(diff, row->figures);
        keep_certain(diff, row);
    }
    if (id == DIFF_SAMPLES && is_counted(row)) drop_chance(diff, table, 0, row);
    if (id == DIFF_LOCKS || id == DIFF_WAITS || id == DIFF_CHANNELS)
        judge_waits(diff, table, id, row);
    else if (id == DIFF_FIBERS)
        judge_task(table, row);
    else if (id == DIFF_CELLS)
        judge_cell(diff, row);
    else if (id != DIFF_TOTALS)
        judge_function(table, row);
}

void diff_judge(struct diff *diff) {
    diff->has_waits = has_waits(diff);
    for (size_t id = 0; id < DIFF_TABLES; id++) {
        struct diff_table *table = &diff->tables[id];
        for (size_t i = 0; i < table->count; i++)
            for (size_t column = 0; column < table->column_count; column++)
                compare(diff, table, &table->rows[i], column);
        drop_noise(diff, table);
    }
    drop_unknown_duration(&diff->tables[DIFF_TOTALS]);
    for (size_t id = DIFF_TABLES; id-- > 0;) /* the totals last: they depend on what rows are called */
        for (size_t i = 0; i < diff->tables[id].count; i++)
            judge_row(diff, &diff->tables[id], (enum diff_table_id)id, &diff->tables[id].rows[i]);
}

bool diff_is_unsure(const struct diff *diff, size_t total) {
    const struct diff_figure *figure = &diff->tables[DIFF_TOTALS].rows[0].figures[total];
    bool is_known = total != TOTAL_DURATION || (figure->noise.old.mean != 0 && figure->noise.new.mean != 0);
    return is_single(diff) && is_known && !figure->is_change && !figure->is_in_noise &&
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
    if (read_rules(diff, err) < 0 || diff_gather(diff, err) < 0) return -1;
    diff_judge(diff);
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
