/* gate_words.h: figures and verdicts of a gate in words, for the formats that people read. */
#ifndef CLEAR_QUERY_GATE_GATE_WORDS_H
#define CLEAR_QUERY_GATE_GATE_WORDS_H

#include "base/units.h"
#include "query/gate/gate.h"

/* A value of the figure of a rule, with its unit; NULL: of a query. */
struct units_text words_value(const struct gate_rule *rule, double value);
/* "+1,000 (+1.0 %)", "same". */
struct units_text words_change(const struct gate_row *row);
/* "1 %", "5 % and 64.0 KiB", "0": what a change may be. */
struct units_text words_limit(const struct gate_rule *rule);
/* "2.0 %, p 0.0003", "none", "1 run": how much the values differ without a change. */
struct units_text words_noise(const struct gate_row *row);

/* "alloc_count of function parse_line: 100,000 -> 101,000, +1,000 (+1.0 %), limit 1 %" and what follows from it. */
void words_sentence(struct buffer *out, const struct gate_row *row);
/* "5 runs against 20 runs of tag:branch=main: 1 of 7 rules failed". */
void words_summary(struct buffer *out, const struct gate *gate);
/* What the row is called: its figure, or of a query the name of the rule. */
const char *words_figure(const struct gate_rule *rule);

/* Is it worth a line of its own: no pass? */
bool words_is_shown(const struct gate_row *row);

#endif
