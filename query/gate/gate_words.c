#include "query/gate/gate_words.h"

#include <math.h>
#include <stdio.h>

#include "query/history/figure_text.h"

const char *gate_word(enum gate_verdict verdict) {
    static const char *const words[] = {
        [GATE_SKIPPED] = "skipped", [GATE_PASS] = "pass",           [GATE_ACCEPTED] = "accepted",
        [GATE_WARN] = "warn",       [GATE_UNDECIDED] = "undecided", [GATE_FAIL] = "fail"};
    return words[verdict];
}

struct units_text words_value(const struct gate_rule *rule, double value) {
    struct units_text out;
    if (rule->figure && fabs(value) < 9e18) return figure_text(rule->figure, value);
    if (value == floor(value) && fabs(value) < 9e18) return units_count((int64_t)value);
    snprintf(out.text, sizeof out.text, "%.6g", value); /* of a query: any unit */
    return out;
}

/* Small shares with the digits that tell them from zero. */
static struct units_text percentage(double percent) {
    struct units_text out;
    if (percent != 0 && fabs(percent) < 0.1)
        snprintf(out.text, sizeof out.text, "%+.2g %%", percent);
    else
        snprintf(out.text, sizeof out.text, "%+.1f %%", percent);
    return out;
}

struct units_text words_change(const struct gate_row *row) {
    struct units_text out, value = words_value(row->rule, row->change);
    const char *sign = row->change > 0 ? "+" : "";
    if (row->change == 0)
        snprintf(out.text, sizeof out.text, "same");
    else if (isinf(row->percent))
        snprintf(out.text, sizeof out.text, "%s%.40s (new)", sign, value.text);
    else
        snprintf(out.text, sizeof out.text, "%s%.25s (%.15s)", sign, value.text, percentage(row->percent).text);
    return out;
}

struct units_text words_limit(const struct gate_rule *rule) {
    struct units_text out, value = words_value(rule, rule->limit);
    if (rule->limit_percent > 0 && rule->limit > 0)
        snprintf(out.text, sizeof out.text, "%.6g %% and %.25s", rule->limit_percent, value.text);
    else if (rule->limit > 0)
        snprintf(out.text, sizeof out.text, "%.40s", value.text);
    else if (rule->limit_percent > 0)
        snprintf(out.text, sizeof out.text, "%.6g %%", rule->limit_percent);
    else
        snprintf(out.text, sizeof out.text, "0");
    return out;
}

static double relative(const struct noise_side *side) {
    return side->n > 1 && side->mean != 0 ? 100 * side->sd / fabs(side->mean) : 0;
}

struct units_text words_noise(const struct gate_row *row) {
    const struct noise *noise = &row->noise;
    struct units_text out;
    if (noise->old.n <= 1 && noise->new.n <= 1)
        snprintf(out.text, sizeof out.text, row->is_timed ? "not known" : "");
    else if (!row->varies)
        snprintf(out.text, sizeof out.text, "none");
    else
        snprintf(out.text, sizeof out.text, "%.32s, p %.2g",
                 units_percent(fmax(relative(&noise->old), relative(&noise->new))).text, noise->p);
    return out;
}

const char *words_figure(const struct gate_rule *rule) {
    return rule->figure ? rule->figure : rule->name;
}

void words_sentence(struct buffer *out, const struct gate_row *row) {
    buffer_add_text(out, words_figure(row->rule));
    if (*row->subject) buffer_printf(out, " of %s", row->subject);
    if (row->noise.old.n && row->noise.new.n)
        buffer_printf(out, ": %s -> %s, %s, limit %s", words_value(row->rule, row->noise.old.mean).text,
                      words_value(row->rule, row->noise.new.mean).text, words_change(row).text,
                      words_limit(row->rule).text);
    if (row->varies) buffer_printf(out, "; noise %s", words_noise(row).text);
    if (row->blame) buffer_printf(out, "; most of it: %s", row->blame);
    if (row->why) buffer_printf(out, "; %s", row->why);
}

static size_t count_results(const struct gate *gate, enum gate_verdict verdict) {
    size_t count = 0;
    for (size_t i = 0; i < gate->results.count; i++)
        count += gate->results.items[i].verdict == verdict;
    return count;
}

void words_summary(struct buffer *out, const struct gate *gate) {
    static const struct {
        enum gate_verdict verdict;
        const char *words;
    } said[] = {{GATE_FAIL, "failed"},       {GATE_UNDECIDED, "undecided"}, {GATE_WARN, "with a warning"},
                {GATE_ACCEPTED, "accepted"}, {GATE_PASS, "passed"},         {GATE_SKIPPED, "skipped"}};
    const struct gate_runs *sides = gate->options->sides;
    buffer_printf(out, "%s against ", units_things((int64_t)sides[GATE_NEW].runs.count, "run").text);
    buffer_printf(out, "%s of the base %s; rules: ", units_things((int64_t)sides[GATE_OLD].runs.count, "run").text,
                  sides[GATE_OLD].name);
    const char *comma = "";
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        size_t count = count_results(gate, said[i].verdict);
        if (count) buffer_printf(out, "%s%zu %s", comma, count, said[i].words);
        if (count) comma = ", ";
    }
}

bool words_is_shown(const struct gate_row *row) {
    return row->verdict >= GATE_ACCEPTED;
}
