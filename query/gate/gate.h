/* gate.h: has a change made a program worse than its rules allow? Compares the figures of a set of runs with those of a base, by the
 * rules of the table `gates` (schema/gates.h), and gives a verdict and a report.
 *
 * A rule judges one figure of the view series for each subject that matches its pattern, or each row of a query. Such a pair of old
 * and new values is a row. A row is
 *   over its limit   if the means differ in the direction of the rule by more than limit_percent of the old one and by more than
 *                    limit;
 *   outside noise    if the values of each side are equal, or if Welch's test (query/diff/noise.h) gives a p that is below the limit
 *                    for all tested rows together (gate_false_percent).
 * Both together fail. Where a side has fewer runs than the rule needs, or where p is above that limit but below the one of
 * gate_doubt_percent, the row is undecided. A figure that was sampled, or of which events were dropped, counts as a timed one.
 *
 * A timed row of which a side has fewer than five runs is few: its p is that of noise_compare_few and the limits are those of
 * gate_few_percent and gate_few_doubt_percent. It needs GATES_TIMED_RUNS of both sides together. With less than that, or in doubt, CPU
 * time or a duration that is twice as large and more by 100 ms and more (gate_single_percent, gate_single_ns) fails: it is never undecided.
 *
 * A subject that a run does not have counts as 0 if that run recorded such figures; else the run does not count for it. */
#ifndef CLEAR_QUERY_GATE_GATE_H
#define CLEAR_QUERY_GATE_GATE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "query/diff/noise.h"
#include "query/runs/run_set.h"
#include "schema/gates.h"

enum gate_side { GATE_OLD, GATE_NEW, GATE_SIDES };

/* From the best to the worst. Of all rows the worst is the verdict, where GATE_WARN and what stands before it is a pass. */
enum gate_verdict {
    GATE_SKIPPED, /* there is nothing to compare */
    GATE_PASS,
    GATE_ACCEPTED, /* it would fail, and the change is known (table accepted_changes) */
    GATE_WARN,     /* it would fail, and the rule only warns */
    GATE_UNDECIDED,
    GATE_FAIL,
};

/* The runs of a side. */
struct gate_runs {
    struct run_list runs;
    const char *name; /* as the user wrote it; not copied */
};

struct gate_row {
    const struct gate_rule *rule;
    char *subject;       /* "" is the whole run */
    double *values;      /* one for each run of the gate, old ones first; NAN: the run does not count */
    struct noise noise;  /* of what counts; with n = 0 on a side, nothing else is set */
    double change;       /* new mean - old mean */
    double percent;      /* of the old mean; infinite if that is 0 and the new one is not */
    bool varies;         /* the values of a side differ: a test decides */
    bool is_timed;       /* by its rule, or by what was lost */
    bool is_few;         /* timed, and a side has too few runs for Welch's test */
    bool is_sure;        /* more runs would not change the verdict, as far as a test can say */
    bool is_confirmed;   /* by a fresh run (gate_confirm) */
    bool is_unconfirmed; /* a fresh run spoke against it */
    enum gate_verdict verdict;
    char *why;   /* one clause that explains the verdict; NULL: the figures do */
    char *blame; /* of a row of the whole run: the site that changed most, and by how much; NULL: none is known */
    char *file;  /* of the site, function or finding that the row is about, or of the one to blame; NULL: none */
    int64_t line;
};

/* What one rule said. */
struct gate_result {
    const struct gate_rule *rule;
    enum gate_verdict verdict;
    size_t judged;                /* rows */
    const struct gate_row *worst; /* NULL: there is no row */
    char *why;                    /* why there is none */
    bool lacks[GATE_SIDES];       /* that side has runs, and none of them recorded what the rule asks for */
};

struct gate_options {
    struct gate_runs sides[GATE_SIDES];
    struct db *rules; /* the warehouse with rules, thresholds, saved queries and accepted changes */
    int64_t
        looks; /* how often the same question may be asked of more and more runs, from 1: the test is stricter by that */
    int64_t timeout_ns; /* of a query; 0: none */
    const char
        *root;     /* directory that paths of sources are printed relative to, without a '/' at its end; NULL: none */
    bool is_whole; /* the text has all rows, also those that pass */
    bool colour;   /* of the text */
};

/* Up to which share of chance a row fails, and up to which it is undecided. */
struct gate_odds {
    double false_rate, doubt_rate;   /* of all rows that were tested so, 0 to 1 */
    double false_limit, doubt_limit; /* of the p of one row */
};

struct gate {
    const struct gate_options *options;
    struct gate_rule *rules;
    size_t rule_count;
    bool rules_are_own;
    struct gate_results {
        struct gate_result *items; /* one for each rule */
        size_t count;
    } results;
    struct gate_row **rows; /* the worst first */
    size_t row_count;
    char **notes; /* whole sentences: what was left out, what was lost */
    size_t note_count;
    bool counts[GATE_SIDES];         /* a run of that side was not left out */
    struct gate_odds odds, few_odds; /* of rows, and of those that are few */
    double single_percent, single_ns;
    double
        sample_ns; /* of CPU time that an independent sample stands for, in the coarsest run that says it; 0: none does */
    size_t tested;
    enum gate_verdict verdict; /* GATE_PASS, GATE_UNDECIDED or GATE_FAIL */
    bool is_sure;              /* more runs would not change it */
};

/* Judges. The options must live as long as the gate. After a failure there is nothing to free. */
int gate_judge(struct gate *gate, const struct gate_options *options, struct error *err);
void gate_free(struct gate *gate);

/* Asks a fresh run of the new side, which is not among the runs of the gate, about each row that fails. A row is confirmed if the
 * value of the fresh run is nearer to the new mean than to the old one, or, where nothing varied, is the new value again; else it becomes
 * undecided. Sets the verdicts anew. */
int gate_confirm(struct gate *gate, const struct run_item *fresh, struct error *err);

/* pass, fail, undecided, warn, accepted, skipped (gate_words.c). */
const char *gate_word(enum gate_verdict verdict);

/* The report in one of the formats. */
enum gate_format { GATE_TEXT, GATE_JSON, GATE_JUNIT, GATE_MARKDOWN, GATE_GITHUB, GATE_SARIF };
int gate_format_of(const char *text, enum gate_format *format, struct error *err);
void gate_write(const struct gate *gate, enum gate_format format, struct buffer *out);

#endif
