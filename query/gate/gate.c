#include "query/gate/gate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/gate/gate_formats.h"
#include "query/gate/gate_words.h"
#include "query/gate/place.h"
#include "query/gate/rows.h"
#include "query/history/known_changes.h"

/* ---- what was accepted ---- */

/* Changes that were accepted (table accepted_changes): a gate does not fail for them.
 *
 * An accepted run says which value of a figure is known. If it is a run of the base, the base starts anew with it: older runs do not
 * count for the rows that it is about. If it is not, but is newer than the oldest run of the base, a row that would fail is accepted as
 * long as it is not over its limit compared with the accepted run. So a base that has rolled on forgets what was accepted, and what
 * gets worse than what was accepted fails. A run that was deleted accepts nothing. */

static bool is_about(const struct known_change *change, const struct gate_row *row) {
    return known_change_is_about(change, words_figure(row->rule), row->subject);
}

static bool is_in_base(const struct known_change *change, const struct gate_row_list *list) {
    for (size_t i = 0; i < list->old_count; i++)
        if (strcmp(list->runs[i].uuid, change->run_uuid) == 0) return true;
    return false;
}

static bool is_newer_than_base_begins(const struct known_change *change, const struct gate_row_list *list) {
    for (size_t i = 0; i < list->old_count; i++)
        if (list->runs[i].started_ns <= change->started_ns) return true;
    return false;
}

/* Removes values of the base that are older than an accepted run of the base. Before the rows are judged. */
static void accepted_restart_base(const struct known_changes *known, const struct gate_row_list *list) {
    for (size_t i = 0; i < known->count; i++) {
        const struct known_change *change = &known->items[i];
        if (!is_in_base(change, list)) continue;
        for (size_t row = 0; row < list->count; row++)
            for (size_t run = 0; run < list->old_count && is_about(change, list->rows[row]); run++)
                if (list->runs[run].started_ns < change->started_ns) list->rows[row]->values[run] = NAN;
    }
}

/* The row compared with the accepted run instead of the base. */
static int compare_with(const struct run_item *run, const struct gate *gate, const struct gate_row *row,
                        struct gate_row *compared, struct error *err) {
    *compared = *row;
    if (gate_rows_value(row, gate, run, &compared->noise.old.mean, err) < 0) return -1;
    compared->change = row->noise.new.mean - compared->noise.old.mean;
    return 0;
}

/* The change that covers a row which would fail; NULL: none. `is_over` says whether a row is over its limit. */
static int accepted_covers(const struct known_changes *known, const struct gate_row_list *list, const struct gate *gate,
                           const struct gate_row *row, bool (*is_over)(const struct gate_row *row),
                           const struct known_change **change, struct error *err) {
    *change = NULL;
    for (size_t i = 0; i < known->count && !*change; i++) {
        struct gate_row compared;
        const struct known_change *candidate = &known->items[i];
        const struct run_item run = {gate->options->rules, candidate->run_id};
        if (!candidate->run_id || !is_about(candidate, row) || is_in_base(candidate, list) ||
            !is_newer_than_base_begins(candidate, list))
            continue;
        if (compare_with(&run, gate, row, &compared, err) < 0) return -1;
        if (!is_over(&compared)) *change = candidate;
    }
    return 0;
}

/* ---- rules ---- */

/* A row of the table rules; `otherwise` where a read-only warehouse of an older clear has none. */
static int threshold(struct db *db, const char *name, double otherwise, double *value, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT value FROM rules WHERE name = :name", err);
    if (!row) return -1;
    db_bind_text(row, ":name", name);
    int code = db_step(db, row, err);
    *value = code == 1 ? sqlite3_column_double(row, 0) : otherwise;
    sqlite3_reset(row);
    return code < 0 ? -1 : 0;
}

/* ---- a row ---- */

/* By how much the row is worse, in the direction of its rule. Negative: better. */
static double worsening(const struct gate_row *row) {
    switch (row->rule->direction) {
    case GATE_UP: return row->change;
    case GATE_DOWN: return -row->change;
    case GATE_BOTH: return fabs(row->change);
    }
    return 0;
}

/* Both limits must be exceeded: the larger one decides. */
static double allowed(const struct gate_row *row) {
    return fmax(row->rule->limit, row->rule->limit_percent / 100 * fabs(row->noise.old.mean));
}

static bool is_over(const struct gate_row *row) {
    /* The mean of decimal figures has a rounding error, which is no change. */
    double worse = worsening(row), rounding = 1e-12 * fabs(row->noise.old.mean);
    return worse > rounding && worse > allowed(row) * (1 + 1e-12);
}

static bool has_both(const struct gate_row *row) {
    return row->noise.old.n > 0 && row->noise.new.n > 0;
}

static bool has_runs_of_rule(const struct gate_row *row) {
    size_t least = (size_t)row->rule->runs;
    return row->noise.old.n >= least && row->noise.new.n >= least;
}

/* A time needs to be known to vary by how much; a count that never did needs no more than its rule. */
static bool has_enough(const struct gate_row *row) {
    return has_runs_of_rule(row) && (!row->is_timed || row->noise.old.n + row->noise.new.n >= GATES_TIMED_RUNS);
}

/* Welch's test takes the deviation of a side from its own runs, which is no deviation at all of two or three. */
enum { WELCH_RUNS = 5 };

static bool is_few(const struct gate_row *row) {
    return row->is_timed && (row->noise.old.n < WELCH_RUNS || row->noise.new.n < WELCH_RUNS);
}

static bool is_tested(const struct gate_row *row) {
    return has_both(row) && row->varies && isfinite(row->noise.p);
}

/* The values that count, and what they say. */
static void measure(struct gate_row *row, size_t old_count, size_t run_count) {
    double *values = xcalloc(run_count + 1, sizeof *values);
    size_t old = 0, all = 0;
    for (size_t i = 0; i < run_count; i++) {
        if (isnan(row->values[i])) continue;
        old += i < old_count;
        values[all++] = row->values[i];
    }
    row->noise = (struct noise){.old.n = old, .new.n = all - old};
    row->is_few = is_few(row);
    if (has_both(row)) {
        row->noise = row->is_few ? noise_compare_few(values, old, values + old, all - old)
                                 : noise_compare(values, old, values + old, all - old);
        row->change = row->noise.new.mean - row->noise.old.mean;
        row->percent = row->change == 0 ? 0 : 100 * row->change / fabs(row->noise.old.mean);
        row->varies = row->noise.old.sd > 0 || row->noise.new.sd > 0;
    }
    free(values);
}

/* The error of the difference of the means; a side with one value is as noisy as the other. */
static double difference_error(const struct noise *noise) {
    double old = noise->old.n > 1 ? noise->old.sd : noise->new.sd, new = noise->new.n > 1 ? noise->new.sd : old;
    return sqrt(old * old / (double)noise->old.n + new *new / (double)noise->new.n);
}

/* Is it below its limit, beyond chance? One time in twenty it would be said wrongly, and then only costs a regression that is about
 * as small as the limit. */
static bool is_surely_below(const struct gate_row *row) {
    double error = difference_error(&row->noise), distance = allowed(row) - worsening(row);
    return distance > 0 && noise_p(distance / error, row->noise.df) / 2 <= 0.05;
}

/* ---- what one run tells ---- */

/* Of a recorder that does not say it: samples fall every 10 ms of CPU time at clear's own rate. */
#define SAMPLE_NS 1e7
enum { CHANCE_SAMPLES = 4 }; /* deviations of their number */

/* The time of one function or site is known from its samples alone, and few of them may differ by chance. */
static bool may_be_chance_of_samples(const struct gate_row *row, const struct gate *gate) {
    double sample_ns = gate->sample_ns > 0 ? gate->sample_ns : SAMPLE_NS;
    double variance = sample_ns * (row->noise.old.mean + row->noise.new.mean);
    return *row->subject && row->change * row->change < CHANCE_SAMPLES * CHANCE_SAMPLES * variance;
}

/* Is it a time of work, and worse by so much that no noise of a single run does it? Waits are not meant: an unchanged program that waited
 * 15 ms for a lock waited 700 ms beside two busy loops. */
static bool is_many_times_worse(const struct gate_row *row, const struct gate *gate) {
    const char *figure = row->rule->figure ? row->rule->figure : "";
    double smaller = fmin(row->noise.old.mean, row->noise.new.mean);
    if (strcmp(figure, "cpu_ns") != 0 && strcmp(figure, "duration_ns") != 0) return false;
    return worsening(row) >= fmax(gate->single_percent / 100 * smaller, gate->single_ns) &&
           !may_be_chance_of_samples(row, gate);
}

static char *many_times(const struct gate_row *row) {
    double old = row->noise.old.mean, new = row->noise.new.mean;
    if (fmin(old, new) <= 0) return xstrdup("too much for the noise of single runs");
    return xasprintf("%.3g times as %s: too much for the noise of single runs", fmax(old, new) / fmin(old, new),
                     new > old ? "much" : "little");
}

/* ---- what would decide ---- */

static const struct gate_odds *odds_of(const struct gate_row *row, const struct gate *gate) {
    return row->is_few ? &gate->few_odds : &gate->odds;
}

static char *too_few(const struct gate_row *row) {
    size_t old = row->noise.old.n, new = row->noise.new.n;
    if (!has_runs_of_rule(row))
        return xasprintf("needs %lld runs a side, has %zu and %zu", (long long)row->rule->runs, old, new);
    return xasprintf("%zu and %zu runs do not tell how much it varies: 3 runs a side would, or %d of the base and 1",
                     old, new, GATES_TIMED_RUNS - 1);
}

enum { RUNS_ASKED_MAX = 50 };

/* With how many runs of the new side the difference would be outside the noise, if it stays what it is; 0: not with RUNS_ASKED_MAX. */
static size_t runs_to_decide(const struct gate_row *row, const struct gate *gate) {
    double old = (double)row->noise.old.n, new = (double)row->noise.new.n;
    for (size_t n = row->noise.new.n + 1; n <= RUNS_ASKED_MAX; n++) {
        bool is_welch = n >= WELCH_RUNS && row->noise.old.n >= WELCH_RUNS;
        double t = row->noise.t * sqrt((1 / old + 1 / new) / (1 / old + 1 / (double)n));
        if (noise_p(t, old + (double)n - 2) <= (is_welch ? gate->odds : gate->few_odds).false_rate) return n;
    }
    return 0;
}

static char *within_noise(const struct gate_row *row, const struct gate *gate) {
    size_t runs = row->is_few ? runs_to_decide(row, gate) : 0;
    if (!runs) return xasprintf("within the noise (p %.2g)", row->noise.p);
    return xasprintf("within the noise (p %.2g): %zu runs like the new ones would decide it", row->noise.p, runs);
}

/* ---- the verdict ---- */

static void decide_over(struct gate_row *row, const struct gate *gate) {
    enum gate_verdict worse = row->rule->only_warns ? GATE_WARN : GATE_FAIL;
    const struct gate_odds *odds = odds_of(row, gate);
    bool is_tested = has_enough(row);
    if (is_tested && (!row->varies || row->noise.p <= odds->false_limit)) {
        row->verdict = worse;
    } else if ((!is_tested || row->noise.p <= odds->doubt_limit) && is_many_times_worse(row, gate)) {
        row->verdict = worse;
        row->why = many_times(row);
    } else {
        row->is_sure = false;
        row->verdict = !is_tested || row->noise.p <= odds->doubt_limit ? GATE_UNDECIDED : GATE_PASS;
        row->why = is_tested ? within_noise(row, gate) : too_few(row);
    }
}

static void decide(struct gate_row *row, const struct gate *gate) {
    row->verdict = GATE_PASS;
    row->is_sure = true;
    if (!has_both(row)) {
        row->verdict = gate->rules_are_own || row->rule->only_warns ? GATE_SKIPPED : GATE_UNDECIDED;
        const int side = row->noise.old.n ? GATE_NEW : GATE_OLD;
        row->why = xasprintf(gate->counts[side] ? "not recorded on the %s side" : "no run of the %s side counts",
                             side == GATE_NEW ? "new" : "old");
    } else if (is_over(row)) {
        decide_over(row, gate);
    } else {
        row->is_sure = row->is_timed && !has_enough(row) ? false : !row->varies || is_surely_below(row);
    }
}

/* ---- all rows ---- */

static int read_odds(struct gate_odds *odds, const struct gate *gate, const char *chance, const char *doubt,
                     const double otherwise[2], struct error *err) {
    struct db *db = gate->options->rules;
    double looks = gate->options->looks > 1 ? (double)gate->options->looks : 1;
    if (threshold(db, chance, otherwise[0], &odds->false_rate, err) < 0) return -1;
    if (threshold(db, doubt, otherwise[1], &odds->doubt_rate, err) < 0) return -1;
    odds->false_rate /= 100 * looks;
    odds->doubt_rate /= 100 * looks;
    return 0;
}

/* The limits for all rows together that are few, or that are not. The number of those that were tested. */
static size_t set_limits(struct gate_odds *odds, const struct gate *gate, bool are_few) {
    double *p = xcalloc(gate->row_count + 1, sizeof *p);
    size_t tested = 0;
    for (size_t i = 0; i < gate->row_count; i++)
        if (is_tested(gate->rows[i]) && gate->rows[i]->is_few == are_few) p[tested++] = gate->rows[i]->noise.p;
    odds->false_limit = noise_limit(p, tested, odds->false_rate);
    odds->doubt_limit = noise_limit(p, tested, odds->doubt_rate);
    free(p);
    return tested;
}

/* The defaults, as in schema/rules.yaml. */
static int read_thresholds(struct gate *gate, struct error *err) {
    static const double of_many[] = {0.2, 1}, of_few[] = {1, 5};
    struct db *db = gate->options->rules;
    if (read_odds(&gate->odds, gate, "gate_false_percent", "gate_doubt_percent", of_many, err) < 0) return -1;
    if (read_odds(&gate->few_odds, gate, "gate_few_percent", "gate_few_doubt_percent", of_few, err) < 0) return -1;
    if (threshold(db, "gate_single_percent", 100, &gate->single_percent, err) < 0) return -1;
    return threshold(db, "gate_single_ns", 1e8, &gate->single_ns, err);
}

static int by_worst(const void *left, const void *right) {
    const struct gate_row *a = *(struct gate_row *const *)left, *b = *(struct gate_row *const *)right;
    double x = fabs(a->percent), y = fabs(b->percent), u = fabs(a->change), v = fabs(b->change);
    if (a->verdict != b->verdict) return (a->verdict < b->verdict) - (a->verdict > b->verdict);
    if (x != y) return (x < y) - (x > y);
    if (u != v) return (u < v) - (u > v);
    if (a->rule != b->rule) return (a->rule > b->rule) - (a->rule < b->rule);
    return strcmp(a->subject, b->subject);
}

/* ---- what the rules and the gate say ---- */

static char *not_recorded(const bool lacks[GATE_SIDES]) {
    if (lacks[GATE_OLD] && lacks[GATE_NEW]) return xstrdup("not recorded on either side");
    return xasprintf("not recorded on the %s side", lacks[GATE_NEW] ? "new" : "old");
}

/* A rule of a user that judges nothing is probably misspelt. A finding or a row of a query is there only if something is wrong. */
static void judge_nothing(struct gate_result *result, const struct gate *gate) {
    const struct gate_rule *rule = result->rule;
    bool may_be_empty = !rule->figure || strcmp(rule->figure, "findings") == 0;
    result->verdict = GATE_PASS;
    bool is_lacking = result->lacks[GATE_OLD] || result->lacks[GATE_NEW];
    if (may_be_empty && !is_lacking) return;
    result->verdict = gate->rules_are_own || rule->only_warns ? GATE_SKIPPED : GATE_UNDECIDED;
    if (may_be_empty)
        result->why = not_recorded(result->lacks);
    else
        result->why = *rule->subject ? xasprintf("no run has a figure %s of a subject that matches '%s'", rule->figure,
                                                 rule->subject)
                                     : xasprintf("no run has a figure %s", rule->figure);
}

/* The rows are sorted: the first one of a rule is its worst. */
static void set_results(struct gate *gate) {
    for (size_t i = 0; i < gate->results.count; i++) {
        struct gate_result *result = &gate->results.items[i];
        free(result->why);
        result->why = NULL;
        result->worst = NULL;
        result->judged = 0;
        for (size_t row = 0; row < gate->row_count; row++) {
            if (gate->rows[row]->rule != result->rule) continue;
            if (!result->worst) result->worst = gate->rows[row];
            result->judged++;
        }
        if (result->worst)
            result->verdict = result->worst->verdict;
        else
            judge_nothing(result, gate);
    }
}

static void settle(struct gate *gate) {
    bool judged = false;
    if (gate->row_count) qsort(gate->rows, gate->row_count, sizeof *gate->rows, by_worst);
    set_results(gate);
    gate->verdict = GATE_PASS;
    gate->is_sure = true;
    for (size_t i = 0; i < gate->results.count; i++) {
        const struct gate_result *result = &gate->results.items[i];
        judged = judged || result->verdict != GATE_SKIPPED;
        if (!result->rule->only_warns && result->verdict >= GATE_UNDECIDED && result->verdict > gate->verdict)
            gate->verdict = result->verdict;
    }
    for (size_t i = 0; i < gate->row_count; i++)
        gate->is_sure = gate->is_sure && gate->rows[i]->is_sure;
    if (!judged || !gate->counts[GATE_OLD] || !gate->counts[GATE_NEW]) gate->verdict = GATE_UNDECIDED;
}

static void accept_row(struct gate_row *row, const struct known_change *change) {
    free(row->why);
    row->why = xasprintf("accepted with run %lld: %s", (long long)change->run_id, change->why);
    row->verdict = GATE_ACCEPTED;
    row->is_sure = true;
}

static int accept_rows(const struct known_changes *known, const struct gate_row_list *list, const struct gate *gate,
                       struct error *err) {
    for (size_t i = 0; i < list->count; i++) {
        const struct known_change *change;
        struct gate_row *row = list->rows[i];
        if (row->verdict < GATE_WARN || !has_both(row)) continue;
        if (accepted_covers(known, list, gate, row, is_over, &change, err) < 0) return -1;
        if (change) accept_row(row, change);
    }
    return 0;
}

static int decide_rows(struct gate *gate, const struct gate_row_list *list, const struct known_changes *known,
                       struct error *err) {
    accepted_restart_base(known, list);
    for (size_t i = 0; i < list->count; i++)
        measure(list->rows[i], list->old_count, list->run_count);
    if (read_thresholds(gate, err) < 0) return -1;
    gate->tested = set_limits(&gate->odds, gate, false) + set_limits(&gate->few_odds, gate, true);
    for (size_t i = 0; i < list->count; i++)
        decide(list->rows[i], gate);
    return accept_rows(known, list, gate, err);
}

static int judge_rows(struct gate *gate, const struct gate_row_list *list, struct error *err) {
    struct known_changes known = {0};
    int code = known_changes_read(&known, gate->options->rules, err);
    if (code == 0) code = decide_rows(gate, list, &known, err);
    known_changes_free(&known);
    if (code < 0) return -1;
    settle(gate);
    return place_rows(gate, err);
}

int gate_judge(struct gate *gate, const struct gate_options *options, struct error *err) {
    struct gate_row_list list = {0};
    *gate = (struct gate){.options = options};
    int code = gates_load(options->rules, &gate->rules, &gate->rule_count, &gate->rules_are_own, err);
    if (code == 0 && !gate->rule_count) code = error_usage(err, "there is no rule: `gates:` in clear.yaml is empty");
    gate->results.items = xcalloc(gate->rule_count + 1, sizeof *gate->results.items);
    gate->results.count = gate->rule_count;
    for (size_t i = 0; i < gate->rule_count; i++)
        gate->results.items[i].rule = &gate->rules[i];
    if (code == 0) code = gate_rows_read(&list, gate, err);
    gate->rows = list.rows; /* from here on they are the gate's, also after a failure */
    gate->row_count = list.count;
    list.rows = xcalloc(list.count + 1, sizeof *list.rows); /* in the order in which they were read */
    if (list.count) memcpy(list.rows, gate->rows, list.count * sizeof *list.rows);
    if (code == 0) code = judge_rows(gate, &list, err);
    gate_rows_free(&list);
    if (code) gate_free(gate);
    return code;
}

void gate_free(struct gate *gate) {
    for (size_t i = 0; i < gate->row_count; i++) {
        free(gate->rows[i]->subject);
        free(gate->rows[i]->values);
        free(gate->rows[i]->why);
        free(gate->rows[i]->blame);
        free(gate->rows[i]->file);
        free(gate->rows[i]);
    }
    for (size_t i = 0; i < gate->results.count && gate->results.items; i++)
        free(gate->results.items[i].why);
    for (size_t i = 0; i < gate->rule_count; i++)
        gates_free(&gate->rules[i]);
    for (size_t i = 0; i < gate->note_count; i++)
        free(gate->notes[i]);
    free(gate->rows);
    free(gate->results.items);
    free(gate->rules);
    free(gate->notes);
    *gate = (struct gate){0};
}

/* ---- a fresh run ---- */

/* What was taken for exact must be exactly that again: another value says that it varies after all. */
static bool is_again(const struct gate_row *row, double value) {
    if (!row->varies) return value == row->noise.new.mean;
    return fabs(value - row->noise.new.mean) < fabs(value - row->noise.old.mean);
}

static void set_unconfirmed(struct gate_row *row, double value) {
    free(row->why);
    row->why = xasprintf("a fresh run did not confirm it: %.10g", value);
    row->verdict = GATE_UNDECIDED;
    row->is_unconfirmed = true;
    row->is_sure = false;
}

int gate_confirm(struct gate *gate, const struct run_item *fresh, struct error *err) {
    for (size_t i = 0; i < gate->row_count; i++) {
        struct gate_row *row = gate->rows[i];
        double value;
        if (row->verdict != GATE_FAIL) continue;
        if (gate_rows_value(row, gate, fresh, &value, err) < 0) return -1;
        row->is_confirmed = is_again(row, value);
        if (!row->is_confirmed) set_unconfirmed(row, value);
    }
    settle(gate);
    return 0;
}

/* ---- formats ---- */

static const struct {
    const char *name;
    void (*write)(const struct gate *gate, struct buffer *out);
} formats[] = {[GATE_TEXT] = {"text", gate_text},       [GATE_JSON] = {"json", gate_json},
               [GATE_JUNIT] = {"junit", gate_junit},    [GATE_MARKDOWN] = {"markdown", gate_markdown},
               [GATE_GITHUB] = {"github", gate_github}, [GATE_SARIF] = {"sarif", gate_sarif}};

int gate_format_of(const char *text, enum gate_format *format, struct error *err) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        *format = (enum gate_format)i;
        if (strcmp(formats[i].name, text) == 0) return 0;
    }
    return error_usage(err, "unknown format '%s': use text, json, junit, markdown, github or sarif", text);
}

void gate_write(const struct gate *gate, enum gate_format format, struct buffer *out) {
    formats[format].write(gate, out);
}
