/* gate_formats.h: the report of a gate, one function and one file for each format. */
#ifndef CLEAR_QUERY_GATE_GATE_FORMATS_H
#define CLEAR_QUERY_GATE_GATE_FORMATS_H

#include "query/gate/gate.h"

/* For people: a table, the worst row first; of a rule that passes its worst row. */
void gate_text(const struct gate *gate, struct buffer *out);
/* One object with every row. */
void gate_json(const struct gate *gate, struct buffer *out);
/* The members of the object of a rule, without its braces. */
void gate_json_rule(const struct gate_rule *rule, struct buffer *out);
/* XML as JUnit writes it: a test case for each row that is no pass, and for each rule without such a row. Only a failure fails. */
void gate_junit(const struct gate *gate, struct buffer *out);
/* GitHub's Markdown. Names are written with character references, so that they are never markup. */
void gate_markdown(const struct gate *gate, struct buffer *out);
/* Workflow commands of GitHub's runner (::error file=...), at most 10, and one line that sums up. */
void gate_github(const struct gate *gate, struct buffer *out);
/* SARIF 2.1.0: a result for each row that is no pass. */
void gate_sarif(const struct gate *gate, struct buffer *out);

#endif
