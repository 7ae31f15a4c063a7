/* weigh.c: the rules by which a difference that is large enough is no change all the same. A rule is a row of the table at the end: the
 * tables that it is for, the figure that it weighs, and why. They apply in the order of the table, for a rule may ask what those before it
 * left of another figure. */
#include <math.h>
#include <string.h>

#include "query/diff/changes.h"
#include "query/runs/sampling_error.h"

bool diff_is_single(const struct diff *diff) {
    return diff->runs == 2;
}

/* With n expected events the standard deviation is sqrt(n), and 997 of 1,000 differences are within three standard deviations of the
 * difference. Blocks come in groups, one for each thread, and vary more. Sampled, blocks of several sizes vary more than those of their mean
 * size; of 210 comparisons of samples of one program, two were called a change at three. */
enum {
    CHANCE_SAMPLED = 4,
    CHANCE_BLOCKS = 6, /* standard deviations */
    SIZES_VARY = 2     /* the mean square of sizes that differ as much as they are large, by that of their mean */
};

/* `before` and `after`: the variances of a run of each side. */
static bool is_within(const struct diff *diff, int deviations, double difference, double before, double after) {
    double variance = before / (double)diff->run_count[DIFF_OLD] + after / (double)diff->run_count[DIFF_NEW];
    return variance > 0 && difference * difference < deviations * deviations * variance;
}

bool diff_may_be_chance(const struct diff *diff, int deviations, double before, double after) {
    return is_within(diff, deviations, after - before, before, after);
}

/* A side that has no samples may have missed some of the other's. */
static double samples_each(const struct diff *diff, int side) {
    return fmax(1, diff->samples_each[side]);
}

bool diff_samples_may_be_chance(const struct diff *diff, double before, double after) {
    return is_within(diff, DIFF_CHANCE, after - before, before * samples_each(diff, DIFF_OLD),
                     after * samples_each(diff, DIFF_NEW));
}

bool diff_is_above_floor(const struct diff *diff, const struct diff_figure *figure) {
    double floor = diff->rules.floor_percent;
    if (diff_is_single(diff) && diff->has_waits) floor = fmax(floor, diff->rules.single_threads_percent);
    return isnan(figure->percent) || round(fabs(figure->percent)) >= floor;
}

/* ---- what is weighed ---- */

struct weighed {
    const struct diff *diff;
    const struct diff_table *table;
    struct diff_row *row;
    struct diff_figure *figure; /* the rule's own column */
    struct diff_figure *heap;   /* as in enum heap_by: of the totals, functions and sites */
    struct diff_figure *lock;   /* as in the table of locks, of the totals the first three */
    struct diff_figure *blocks; /* how often a channel blocked, and behind it for how long */
    size_t lock_columns;
    const char *why; /* of the rule */
};

static void drop(const struct weighed *weighed, struct diff_figure *figure) {
    if (figure->is_change) figure->why = weighed->why;
    figure->is_in_noise |= figure->is_change;
    figure->is_change = false;
}

static double larger_side(const struct diff_figure *figure) {
    return fmax(figure->noise.old.mean, figure->noise.new.mean);
}

static bool has_both_sides(const struct diff_figure *figure) {
    return figure->noise.old.mean != 0 && figure->noise.new.mean != 0;
}

static void drop_figure(const struct weighed *weighed) {
    drop(weighed, weighed->figure);
}

static void drop_unknown(const struct weighed *weighed) {
    if (!has_both_sides(weighed->figure)) weighed->figure->is_change = weighed->figure->is_in_noise = false;
}

static void drop_unrecorded(const struct weighed *weighed) {
    for (size_t i = 0; i < weighed->table->column_count; i++)
        if (diff_is_unrecorded(weighed->diff, i)) drop(weighed, &weighed->row->figures[i]);
}

static void drop_brief(const struct weighed *weighed) {
    if (fabs(weighed->figure->delta) < weighed->diff->rules.floor_ns) drop(weighed, weighed->figure);
}

/* ---- the heap ---- */

static void drop_near_peak(const struct weighed *weighed) {
    const struct diff *diff = weighed->diff;
    if (diff->has_inexact_peak && fabs(weighed->figure->delta) < diff->rules.single_bytes)
        drop(weighed, weighed->figure);
}

static void drop_live(const struct weighed *weighed) {
    struct diff_figure *bytes = &weighed->heap[HEAP_INUSE_BYTES], *blocks = &weighed->heap[HEAP_INUSE_ALLOCS];
    if (!has_both_sides(blocks) || fabs(bytes->delta) >= weighed->diff->rules.single_bytes) return;
    if (!diff_may_be_chance(weighed->diff, CHANCE_BLOCKS, blocks->noise.old.mean, blocks->noise.new.mean)) return;
    drop(weighed, bytes);
    drop(weighed, blocks);
}

static void drop_within(const struct weighed *weighed, struct diff_figure *figure, int deviations, double variance) {
    if (figure->delta * figure->delta < deviations * deviations * variance) drop(weighed, figure);
}

/* Sampled by size, small blocks are seldom seen and count much, so their number varies more still (query/runs/sampling_error.h). */
static int deviations_of_blocks(const struct diff *diff) {
    bool is_by_size = diff->sampling[DIFF_OLD].period > 0 || diff->sampling[DIFF_NEW].period > 0;
    return is_by_size ? CHANCE_BLOCKS : CHANCE_SAMPLED;
}

static void drop_sampled_totals(const struct weighed *weighed) {
    const struct diff *diff = weighed->diff;
    for (size_t i = 0; i < 4; i++) {
        double variance = 0, n;
        for (int side = 0; side < DIFF_SIDES; side++)
            n = (double)diff->run_count[side], variance += diff->sampling[side].variance[i] / (n * n);
        bool is_bytes = i == HEAP_BYTES || i == HEAP_INUSE_BYTES;
        drop_within(weighed, &weighed->heap[i], is_bytes ? CHANCE_SAMPLED : deviations_of_blocks(diff), variance);
    }
}

static void drop_sampled(const struct weighed *weighed, struct diff_figure *bytes, struct diff_figure *blocks) {
    const struct diff *diff = weighed->diff;
    double count = larger_side(blocks), sum = larger_side(bytes), size = count > 0 ? sum / count : 0, variance = 0;
    for (int side = 0; side < DIFF_SIDES; side++) {
        const struct diff_sampling *sampling = &diff->sampling[side];
        variance +=
            sampling_error_variance(sampling->sample_n, sampling->period, count, sum) / (double)diff->run_count[side];
    }
    drop_within(weighed, blocks, deviations_of_blocks(diff), variance);
    drop_within(weighed, bytes, CHANCE_SAMPLED, SIZES_VARY * variance * size * size);
}

static void drop_sampled_heap(const struct weighed *weighed) {
    drop_sampled(weighed, &weighed->heap[HEAP_BYTES], &weighed->heap[HEAP_ALLOCS]);
    drop_sampled(weighed, &weighed->heap[HEAP_INUSE_BYTES], &weighed->heap[HEAP_INUSE_ALLOCS]);
}

static void drop_sampled_peak(const struct weighed *weighed) {
    const struct diff_sampling *old = &weighed->diff->sampling[DIFF_OLD], *new = &weighed->diff->sampling[DIFF_NEW];
    bool is_sampled = fmax(old->sample_n, new->sample_n) > 1 || fmax(old->period, new->period) > 0;
    bool is_alike = old->sample_n == new->sample_n && old->period == new->period;
    if (is_sampled && (!is_alike || diff_is_single(weighed->diff))) drop(weighed, weighed->figure);
}

static void drop_slight(const struct weighed *weighed) {
    const struct diff *diff = weighed->diff;
    const struct diff_figure *totals = &diff->tables[DIFF_TOTALS].rows[0].figures[TOTAL_HEAP];
    for (size_t i = 0; i < 4; i++)
        if (fabs(weighed->heap[i].delta) * 100 < diff->rules.single_row_percent * larger_side(&totals[i]))
            drop(weighed, &weighed->heap[i]);
}

/* ---- waits ---- */

static void drop_waits_of_machine(const struct weighed *weighed) {
    struct diff_figure *lock = weighed->lock;
    bool is_hold_known = lock[LOCK_HOLD].noise.old.mean > 0 && lock[LOCK_HOLD].noise.new.mean > 0;
    if (!is_hold_known || lock[LOCK_HOLD].is_change || lock[LOCK_OPERATIONS].is_change) return;
    if (fabs(lock[LOCK_WAIT].delta) < weighed->diff->rules.single_wait_ns) drop(weighed, &lock[LOCK_WAIT]);
}

/* An unchanged program waited for 146 ms in channels, and for 802 ms beside another program. Of a lock that is held shorter now, what was waited for
 * a processor before counts: threads that no longer wait for the lock do that instead. */
static void drop_within_delay(const struct weighed *weighed, struct diff_figure *waits) {
    int longer = waits->delta > 0 ? DIFF_NEW : DIFF_OLD;
    if (fabs(waits->delta) <= weighed->diff->delay_ns[longer]) drop(weighed, waits);
}

static void drop_delayed_waits(const struct weighed *weighed) {
    drop_within_delay(weighed, &weighed->lock[LOCK_WAIT]);
}

static void drop_delayed_blocks(const struct weighed *weighed) {
    drop_within_delay(weighed, &weighed->blocks[1]);
}

static void drop_sampled_waits(const struct weighed *weighed) {
    const struct diff_sampling *sampling = weighed->diff->sampling;
    double n = fmax(sampling[DIFF_OLD].sample_n, sampling[DIFF_NEW].sample_n);
    for (size_t column = 0; n > 1 && column <= LOCK_CONTENDED; column++) {
        const struct diff_figure *events = &weighed->lock[column];
        if (events->delta * events->delta >= CHANCE_SAMPLED * CHANCE_SAMPLED * n * larger_side(events)) continue;
        size_t end = column == LOCK_OPERATIONS ? 1 : weighed->lock_columns;
        for (size_t i = column; i < end; i++)
            drop(weighed, &weighed->lock[i]);
    }
}

static void drop_total_waits(const struct weighed *weighed) {
    const struct diff_table *locks = &weighed->diff->tables[DIFF_LOCKS];
    for (size_t i = 0; i < locks->count; i++)
        if (locks->rows[i].figures[LOCK_WAIT].is_change) return;
    drop(weighed, weighed->figure);
}

static void drop_contradicted(const struct weighed *weighed) {
    struct diff_figure *count = &weighed->lock[LOCK_CONTENDED], *time = &weighed->lock[LOCK_WAIT];
    if (count->is_change && !time->is_change && count->delta * time->delta < 0 &&
        diff_is_above_floor(weighed->diff, time))
        drop(weighed, count);
}

static void drop_short(const struct weighed *weighed, struct diff_figure *count) {
    struct diff_figure *time = count + 1;
    double longer = larger_side(time);
    if (longer == 0 || longer >= weighed->diff->rules.floor_ns) return; /* 0: it is not known */
    drop(weighed, time);
    drop(weighed, count);
}

static void drop_short_waits(const struct weighed *weighed) {
    drop_short(weighed, &weighed->lock[LOCK_CONTENDED]);
}

static void drop_short_blocks(const struct weighed *weighed) {
    drop_short(weighed, weighed->blocks);
}

static void drop_number_of_waits(const struct weighed *weighed) {
    if (!weighed->lock[LOCK_WAIT].is_change) drop(weighed, &weighed->lock[LOCK_CONTENDED]);
}

static void drop_number_of_blocks(const struct weighed *weighed) {
    if (!weighed->blocks[1].is_change) drop(weighed, &weighed->blocks[0]);
}

static void drop_endings(const struct weighed *weighed) {
    struct diff_figure *lock = weighed->lock;
    if (lock[LOCK_WAIT].is_change) return;
    drop(weighed, &lock[LOCK_TIMEOUTS]);
    drop(weighed, &lock[LOCK_UNFINISHED]);
}

/* Joins of sleepers differ by less in a few runs than from day to day: 205.8 against 203.9 ms of two waits. How a wait for a lock ends is no chance. */
static bool are_few_waits(const struct weighed *weighed, const struct diff_figure *count) {
    const struct diff *diff = weighed->diff;
    double most = fmax(count->noise.old.mean * (double)diff->run_count[DIFF_OLD],
                       count->noise.new.mean *(double)diff->run_count[DIFF_NEW]);
    bool is_much = fabs(count[1].delta) >= diff->rules.single_wait_ns;
    bool is_known = most > 0; /* a profile of others may have times alone */
    return is_known && most < diff->rules.few_waits && (diff_is_single(diff) || !is_much);
}

static void drop_few_waits(const struct weighed *weighed) {
    struct diff_figure *lock = weighed->lock;
    bool has_endings = weighed->lock_columns > LOCK_UNFINISHED; /* the totals have none */
    if (!are_few_waits(weighed, &lock[LOCK_CONTENDED])) return;
    if (has_endings && (lock[LOCK_UNFINISHED].delta != 0 || lock[LOCK_TIMEOUTS].delta != 0)) return;
    drop(weighed, &lock[LOCK_CONTENDED]);
    drop(weighed, &lock[LOCK_WAIT]);
}

static void drop_few_wakes(const struct weighed *weighed) {
    for (size_t i = 0; i < weighed->table->column_count && are_few_waits(weighed, &weighed->lock[LOCK_CONTENDED]); i++)
        drop(weighed, &weighed->lock[i]);
}

static void drop_few_blocks(const struct weighed *weighed) {
    if (!are_few_waits(weighed, weighed->blocks)) return;
    drop(weighed, &weighed->blocks[0]);
    drop(weighed, &weighed->blocks[1]);
}

static void drop_idle_crowd(const struct weighed *weighed) {
    if (fabs(weighed->figure->delta) < weighed->diff->rules.single_wait_ns) drop(weighed, weighed->figure);
}

static void drop_wakes(const struct weighed *weighed) {
    for (size_t i = 0; i < weighed->table->column_count && !weighed->lock[LOCK_WAIT].is_change; i++)
        drop(weighed, &weighed->lock[i]);
}

/* ---- cells ---- */

/* A storm that ended or began. */
enum { STORM_COMMITS = 100, CALM_SHARE = 100 /* of the retries per commit of a storm, as a divisor */ };

static bool is_storm_and_calm(const struct diff *diff, const struct diff_row *row) {
    const struct noise *retries = &row->figures[CELL_RETRIES].noise, *commits = &row->figures[CELL_COMMITS].noise;
    double fewer = fmin(commits->old.mean, commits->new.mean), more = fmax(commits->old.mean, commits->new.mean);
    if (fewer < STORM_COMMITS || more > 2 * fewer) return false;
    double before = retries->old.mean / commits->old.mean, after = retries->new.mean / commits->new.mean;
    return fmax(before, after) >= diff->rules.retry_ratio &&
           fmin(before, after) <= diff->rules.retry_ratio / CALM_SHARE;
}

static void drop_collisions(const struct weighed *weighed) {
    if (!weighed->diff->has_other_code || !is_storm_and_calm(weighed->diff, weighed->row))
        drop(weighed, weighed->figure);
}

static void drop_copied(const struct weighed *weighed) {
    if (!weighed->row->figures[CELL_RETRIES].is_change) drop(weighed, weighed->figure);
}

static void drop_total_retries(const struct weighed *weighed) {
    const struct diff_table *cells = &weighed->diff->tables[DIFF_CELLS];
    for (size_t i = 0; i < cells->count; i++)
        if (cells->rows[i].figures[CELL_RETRIES].is_change) return;
    drop(weighed, weighed->figure);
}

/* ---- mappings ---- */

/* Of all functions together. */
static void drop_moved(const struct weighed *weighed) {
    const struct diff_table *table = weighed->table;
    double delta = 0;
    if (!weighed->figure->is_change) return;
    for (size_t i = 0; i < table->count; i++)
        delta += table->rows[i].figures[0].delta;
    if (delta == 0) drop(weighed, weighed->figure);
}

/* ---- samples ---- */

static void drop_few_of_total(const struct weighed *weighed) {
    const struct diff *diff = weighed->diff;
    double before = diff->cpu_samples[DIFF_OLD] / (double)diff->run_count[DIFF_OLD];
    double after = diff->cpu_samples[DIFF_NEW] / (double)diff->run_count[DIFF_NEW];
    if (diff->has_sampled_cpu && diff_samples_may_be_chance(diff, before, after)) drop(weighed, weighed->figure);
}

/* True for times and bytes. */
static bool is_measured(const struct diff_row *row) {
    const char *unit = strrchr(row->what, ' ');
    return *row->what && (!unit || strcmp(unit, " count") != 0);
}

static void drop_few(const struct weighed *weighed) {
    const struct diff *diff = weighed->diff;
    const struct noise *samples = &weighed->figure->noise;
    double before = samples->old.mean, after = samples->new.mean;
    bool is_cpu = weighed->table == &diff->tables[DIFF_CPU];
    if (is_measured(weighed->row)) return;
    if (!(is_cpu ? diff_samples_may_be_chance(diff, before, after)
                 : diff_may_be_chance(diff, DIFF_CHANCE, before, after)))
        return;
    for (size_t i = 0; i < weighed->table->column_count; i++) {
        struct diff_figure *figure = &weighed->row->figures[i];
        drop(weighed, figure);
        figure->is_in_noise |= figure->delta != 0; /* nor is the row new or gone */
    }
}

static void drop_samples(const struct weighed *weighed) {
    if (!weighed->row->figures[0].is_change) drop(weighed, weighed->figure);
}

enum { SAMPLES_EXPECTED = 15 }; /* independent ones */

static void keep_certain(const struct weighed *weighed) {
    const struct diff *diff = weighed->diff;
    struct diff_row *row = weighed->row;
    int without = row->seen[DIFF_OLD] ? DIFF_NEW : DIFF_OLD, with = DIFF_SIDES - 1 - without;
    double met = larger_side(weighed->figure); /* the other side has none */
    if (diff_is_single(diff) || row->seen[without] || row->seen[with] < diff->run_count[with]) return;
    if (met / samples_each(diff, with) * (double)diff->run_count[without] < SAMPLES_EXPECTED) return;
    for (size_t i = 0; i < 2; i++) {
        row->figures[i].is_change = row->figures[i].delta != 0;
        row->figures[i].is_in_noise = false;
        row->figures[i].why = NULL;
    }
}

/* ---- the rules ---- */

#define ON(table) (1u << (table))
static const char below_floor[] = "below the floor of times, however exact";
static const char short_waits[] = "waits are as important as their time: a thousand of a microsecond are no change";
static const char chance_of_meeting[] = "how often threads met is chance where the time of waiting is no change";
static const char chance_of_collision[] = "how often writers collided is chance";
static const char delayed_waits[] = "threads that were ready had no processor for longer than that";
static const char few_waits[] = "so few waits are as long as it happens";
static const char few_samples[] = "so few samples may differ by chance";

enum runs_a_side { ANY_RUNS, ONE_RUN };

static const struct {
    const char *why;
    unsigned tables;
    enum runs_a_side runs; /* ONE_RUN: only where each side has one run, so that the noise is not known */
    void (*apply)(const struct weighed *weighed);
    size_t column; /* of weighed->figure */
} weights[] = {
    {"an ingested file often has no duration", ON(DIFF_TOTALS), ANY_RUNS, drop_unknown, TOTAL_DURATION},
    {"how many threads are at their peak at once is chance, and each is recorded to about 16 KiB", ON(DIFF_TOTALS),
     ONE_RUN, drop_near_peak, TOTAL_PEAK},
    {"a peak that was not recorded on a side is not known", ON(DIFF_TOTALS), ANY_RUNS, drop_unknown, TOTAL_PEAK},
    {"what threads have in use when they end is chance: a few blocks more or fewer of many",
     ON(DIFF_TOTALS) | ON(DIFF_FUNCTIONS) | ON(DIFF_SITES), ONE_RUN, drop_live, 0},
    {"sampling alone may make this difference of all blocks", ON(DIFF_TOTALS), ANY_RUNS, drop_sampled_totals, 0},
    /* A side that has none may have been as large as the other: its samples missed all of them, so the larger side tells how far each is off. */
    {"sampling alone may make this difference", ON(DIFF_TOTALS) | ON(DIFF_FUNCTIONS) | ON(DIFF_SITES), ANY_RUNS,
     drop_sampled_heap, 0},
    {"nearly nothing of the whole", ON(DIFF_FUNCTIONS) | ON(DIFF_SITES), ONE_RUN, drop_slight, 0},
    {below_floor, ON(DIFF_LOCKS), ANY_RUNS, drop_brief, LOCK_HOLD},
    /* An unchanged program of four threads waited 15 ms for a spin lock alone on two processors, and 700 ms beside two busy loops. */
    {"a lock that is taken as often and held as long is waited for longer where the machine has other things to do",
     ON(DIFF_LOCKS), ONE_RUN, drop_waits_of_machine, 0},
    {delayed_waits, ON(DIFF_TOTALS) | ON(DIFF_LOCKS) | ON(DIFF_WAITS), ONE_RUN, drop_delayed_waits, 0},
    {delayed_waits, ON(DIFF_TOTALS) | ON(DIFF_CHANNELS), ONE_RUN, drop_delayed_blocks, 0},
    /* What the sampling may have made of the events tells nothing of their times either. */
    {"locks and waits are sampled with the blocks, one event in so many",
     ON(DIFF_TOTALS) | ON(DIFF_LOCKS) | ON(DIFF_WAITS), ANY_RUNS, drop_sampled_waits, 0},
    {"the peak of a sampled run is too high by what single samples stand for", ON(DIFF_TOTALS), ANY_RUNS,
     drop_sampled_peak, TOTAL_PEAK},
    {below_floor, ON(DIFF_TOTALS), ANY_RUNS, drop_brief, TOTAL_DURATION},
    {below_floor, ON(DIFF_TOTALS), ANY_RUNS, drop_brief, TOTAL_CPU},
    /* In a recorded run the clocks of the threads tell it: what no sample met is counted too. */
    {"samples alone tell it, and so few may differ by chance", ON(DIFF_TOTALS), ANY_RUNS, drop_few_of_total, TOTAL_CPU},
    {"waits that are no change of any lock are none of all locks together", ON(DIFF_TOTALS), ONE_RUN, drop_total_waits,
     TOTAL_LOCK + LOCK_WAIT},
    {"how many waited tells nothing where all of them together waited longer, or where fewer did",
     ON(DIFF_TOTALS) | ON(DIFF_LOCKS) | ON(DIFF_WAITS), ANY_RUNS, drop_contradicted, 0},
    {short_waits, ON(DIFF_TOTALS) | ON(DIFF_LOCKS) | ON(DIFF_WAITS), ANY_RUNS, drop_short_waits, 0},
    {chance_of_meeting, ON(DIFF_TOTALS) | ON(DIFF_LOCKS) | ON(DIFF_WAITS), ONE_RUN, drop_number_of_waits, 0},
    {short_waits, ON(DIFF_TOTALS) | ON(DIFF_CHANNELS), ANY_RUNS, drop_short_blocks, 0},
    {chance_of_meeting, ON(DIFF_TOTALS) | ON(DIFF_CHANNELS), ONE_RUN, drop_number_of_blocks, 0},
    {below_floor, ON(DIFF_LOCKS) | ON(DIFF_WAITS), ANY_RUNS, drop_brief, LOCK_WAIT},
    {few_waits, ON(DIFF_TOTALS) | ON(DIFF_LOCKS), ANY_RUNS, drop_few_waits, 0},
    {few_waits, ON(DIFF_WAITS), ANY_RUNS, drop_few_wakes, 0},
    {few_waits, ON(DIFF_TOTALS) | ON(DIFF_CHANNELS), ANY_RUNS, drop_few_blocks, 0},
    {"how often a try found the lock taken is chance", ON(DIFF_LOCKS), ONE_RUN, drop_figure, LOCK_FAILED_TRIES},
    {"waits that did not end with the lock count as far as the time of waiting does", ON(DIFF_LOCKS), ONE_RUN,
     drop_endings, 0},
    {"how long a crowd without work waits is chance", ON(DIFF_WAITS), ONE_RUN, drop_idle_crowd, LOCK_WAIT},
    {"how often threads waited and were woken counts as far as the time of waiting does", ON(DIFF_WAITS), ONE_RUN,
     drop_wakes, 0},
    /* An unchanged program has tens of thousands of retries on a busy machine, and none where its threads happened to run one after the other:
     * 20 runs of the fixture mvcc had 0 to 0.13 retries per commit of one cell. So a change is only what other code or arguments made of a
     * storm, of one retry per commit: 4.2 to 4.9 of the fixture fault_retry_storm in four runs, 0.001 of its mended form. */
    {chance_of_collision, ON(DIFF_TOTALS), ONE_RUN, drop_total_retries, TOTAL_RETRIES},
    {chance_of_collision, ON(DIFF_CELLS), ONE_RUN, drop_collisions, CELL_RETRIES},
    {"what retries copied is chance with them", ON(DIFF_CELLS), ONE_RUN, drop_copied, CELL_COPIED},
    /* Python asks for memory in whichever function needs the next block of it. */
    {"all functions together mapped as much", ON(DIFF_MAPS), ONE_RUN, drop_moved, 0},
    {few_samples, ON(DIFF_CPU), ANY_RUNS, drop_few, 1},
    {few_samples, ON(DIFF_SAMPLES), ANY_RUNS, drop_few, 0},
    {"the samples of a function are its time in other words", ON(DIFF_CPU), ONE_RUN, drop_samples, 1},
    /* A t test of three runs a side cannot tell that: samples are counted, and that tells how far they vary (one in 3,000,000 meets none of 15). */
    {"every run of one side met the function, none of the other had the many samples to expect", ON(DIFF_CPU), ANY_RUNS,
     keep_certain, 1},
    {"only one side recorded it", ON(DIFF_TOTALS), ANY_RUNS, drop_unrecorded, 0},
};

void diff_weigh(const struct diff *diff, enum diff_table_id id, struct diff_row *row) {
    bool is_total = id == DIFF_TOTALS;
    struct weighed weighed = {.diff = diff,
                              .table = &diff->tables[id],
                              .row = row,
                              .heap = row->figures + (is_total ? TOTAL_HEAP : 0),
                              .lock = row->figures + (is_total ? TOTAL_LOCK : 0),
                              .blocks = row->figures + (is_total ? TOTAL_CHANNEL : CHANNEL_BLOCKED)};
    weighed.lock_columns = is_total ? 3 : weighed.table->column_count;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        if (!(weights[i].tables & ON(id)) || (weights[i].runs == ONE_RUN && !diff_is_single(diff))) continue;
        weighed.why = weights[i].why;
        weighed.figure = &row->figures[weights[i].column];
        weights[i].apply(&weighed);
    }
}
