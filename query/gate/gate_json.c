#include <math.h>
#include <string.h>

#include "query/gate/gate_formats.h"

/* ---- values ---- */

static void add_text(struct buffer *out, const char *key, const char *text) {
    buffer_printf(out, "\"%s\": ", key);
    if (text)
        buffer_add_json_text(out, text);
    else
        buffer_add_text(out, "null");
}

/* JSON has no infinity and no NaN: both become null. */
static void add_number(struct buffer *out, const char *key, double value) {
    if (isfinite(value))
        buffer_printf(out, "\"%s\": %.17g", key, value);
    else
        buffer_printf(out, "\"%s\": null", key);
}

static void add_bool(struct buffer *out, const char *key, bool value) {
    buffer_printf(out, "\"%s\": %s", key, value ? "true" : "false");
}

/* ---- sides ---- */

static void add_side(struct buffer *out, const char *key, const struct gate_runs *side) {
    buffer_printf(out, "  \"%s\": {", key);
    add_text(out, "name", side->name);
    buffer_add_text(out, ", \"runs\": [");
    for (size_t i = 0; i < side->runs.count; i++)
        buffer_printf(out, "%s%lld", i ? ", " : "", (long long)side->runs.items[i].id);
    buffer_add_text(out, "]},\n");
}

/* ---- rules ---- */

void gate_json_rule(const struct gate_rule *rule, struct buffer *out) {
    add_text(out, "name", rule->name);
    buffer_add_text(out, ", ");
    add_text(out, "figure", rule->figure);
    buffer_add_text(out, ", ");
    add_text(out, "query", rule->query);
    buffer_add_text(out, ", ");
    add_text(out, "subject", rule->subject);
    buffer_add_text(out, ", ");
    add_text(out, "base", *rule->base ? rule->base : NULL);
    buffer_add_text(out, ", ");
    add_text(out, "direction", gates_direction(rule->direction));
    buffer_add_text(out, ", ");
    add_number(out, "limit_percent", rule->limit_percent);
    buffer_add_text(out, ", ");
    add_number(out, "limit", rule->limit);
    buffer_printf(out, ", \"runs\": %lld, ", (long long)rule->runs);
    add_bool(out, "timed", rule->is_timed);
    buffer_add_text(out, ", ");
    add_text(out, "action", rule->only_warns ? "warn" : "fail");
}

static void add_result(struct buffer *out, const struct gate_result *result) {
    gate_json_rule(result->rule, out);
    buffer_add_text(out, ", ");
    add_text(out, "verdict", gate_word(result->verdict));
    buffer_printf(out, ", \"judged\": %zu, ", result->judged);
    add_text(out, "why", result->why);
}

static void add_rules(struct buffer *out, const struct gate *gate) {
    buffer_add_text(out, "  \"rules\": [");
    for (size_t i = 0; i < gate->results.count; i++) {
        buffer_add_text(out, i ? ",\n    {" : "\n    {");
        add_result(out, &gate->results.items[i]);
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "],\n");
}

/* ---- rows ---- */

static void add_figures(struct buffer *out, const char *key, const struct noise_side *side) {
    buffer_printf(out, "\"%s\": {", key);
    add_number(out, "mean", side->n ? side->mean : NAN);
    buffer_add_text(out, ", ");
    add_number(out, "sd", side->n > 1 ? side->sd : NAN);
    buffer_printf(out, ", \"n\": %zu}, ", side->n);
}

static void add_row(struct buffer *out, const struct gate_row *row) {
    bool is_compared = row->noise.old.n && row->noise.new.n;
    add_text(out, "rule", row->rule->name);
    buffer_add_text(out, ", ");
    add_text(out, "figure", row->rule->figure);
    buffer_add_text(out, ", ");
    add_text(out, "subject", row->subject);
    buffer_add_text(out, ",\n     ");
    add_figures(out, "old", &row->noise.old);
    add_figures(out, "new", &row->noise.new);
    add_number(out, "change", is_compared ? row->change : NAN);
    buffer_add_text(out, ", ");
    add_number(out, "percent", is_compared ? row->percent : NAN);
    buffer_add_text(out, ", ");
    add_number(out, "p", is_compared ? row->noise.p : NAN);
    buffer_add_text(out, ",\n     ");
    add_bool(out, "timed", row->is_timed);
    buffer_add_text(out, ", ");
    add_bool(out, "confirmed", row->is_confirmed);
    buffer_add_text(out, ", ");
    add_text(out, "verdict", gate_word(row->verdict));
    buffer_add_text(out, ", ");
    add_text(out, "why", row->why);
    buffer_add_text(out, ", ");
    add_text(out, "blame", row->blame);
    buffer_add_text(out, ", ");
    add_text(out, "file", row->file);
    buffer_printf(out, ", \"line\": %lld", (long long)row->line);
}

static void add_rows(struct buffer *out, const struct gate *gate) {
    buffer_add_text(out, "  \"rows\": [");
    for (size_t i = 0; i < gate->row_count; i++) {
        buffer_add_text(out, i ? ",\n    {" : "\n    {");
        add_row(out, gate->rows[i]);
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "],\n");
}

void gate_json(const struct gate *gate, struct buffer *out) {
    buffer_add_text(out, "{\n  ");
    add_text(out, "verdict", gate_word(gate->verdict));
    buffer_add_text(out, ",\n");
    add_side(out, "base", &gate->options->sides[GATE_OLD]);
    add_side(out, "set", &gate->options->sides[GATE_NEW]);
    buffer_printf(out, "  \"tested\": %zu, ", gate->tested);
    add_number(out, "p_limit", gate->odds.false_limit);
    buffer_add_text(out, ", ");
    add_number(out, "few_p_limit", gate->few_odds.false_limit);
    buffer_add_text(out, ",\n");
    add_rules(out, gate);
    add_rows(out, gate);
    buffer_add_text(out, "  \"notes\": [");
    for (size_t i = 0; i < gate->note_count; i++) {
        if (i) buffer_add_text(out, ", ");
        buffer_add_json_text(out, gate->notes[i]);
    }
    buffer_add_text(out, "]\n}\n");
}
