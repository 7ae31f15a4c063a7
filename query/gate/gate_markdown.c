#include <ctype.h>
#include <string.h>

#include "query/gate/gate_formats.h"
#include "query/gate/gate_words.h"

enum { ROWS_MAX = 50, SUBJECT_MAX = 200 };

/* Punctuation as character references: in Markdown these are text, and never markup. */
static void add_plain(struct buffer *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 0x7f)
            buffer_add_char(out, ' ');
        else if (ispunct(c) && c < 0x80)
            buffer_printf(out, "&#%d;", c);
        else
            buffer_add_char(out, text[i]);
    }
}

static void add_text(struct buffer *out, const char *text) {
    add_plain(out, text, strlen(text));
}

static void add_code(struct buffer *out, const char *text) {
    size_t size = strlen(text), shown = size;
    if (!size) return;
    if (shown > SUBJECT_MAX)
        for (shown = SUBJECT_MAX; shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80;)
            shown--; /* not within a character */
    buffer_add_text(out, "<code>");
    add_plain(out, text, shown);
    buffer_add_text(out, shown < size ? "...</code>" : "</code>");
}

static void add_cell(struct buffer *out, const char *text) {
    add_text(out, text);
    buffer_add_text(out, " | ");
}

static void add_name(struct buffer *out, const struct gate_rule *rule, const char *subject) {
    add_cell(out, rule->name);
    add_cell(out, rule->figure ? rule->figure : "");
    add_code(out, subject);
    buffer_add_text(out, " | ");
}

static void add_row(struct buffer *out, const struct gate_row *row) {
    bool is_compared = row->noise.old.n && row->noise.new.n;
    const char *strong = row->verdict == GATE_FAIL ? "**" : "";
    buffer_printf(out, "| %s%s%s | ", strong, gate_word(row->verdict), strong);
    add_name(out, row->rule, row->subject);
    add_cell(out, is_compared ? words_value(row->rule, row->noise.old.mean).text : "");
    add_cell(out, is_compared ? words_value(row->rule, row->noise.new.mean).text : "");
    add_cell(out, is_compared ? words_change(row).text : "");
    add_cell(out, words_limit(row->rule).text);
    add_cell(out, is_compared ? words_noise(row).text : "");
    if (row->blame) {
        add_text(out, row->blame);
        buffer_add_text(out, row->why ? "; " : "");
    }
    add_text(out, row->why ? row->why : "");
    buffer_add_text(out, " |\n");
}

static void add_result(struct buffer *out, const struct gate_result *result) {
    buffer_printf(out, "| %s | ", gate_word(result->verdict));
    add_name(out, result->rule, result->rule->subject);
    buffer_add_text(out, " | | | ");
    add_cell(out, words_limit(result->rule).text);
    buffer_add_text(out, " | ");
    add_text(out, result->why ? result->why : "");
    buffer_add_text(out, " |\n");
}

static void add_rows(struct buffer *out, const struct gate *gate) {
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < gate->row_count; i++) {
        bool is_shown = words_is_shown(gate->rows[i]);
        if (is_shown && shown < ROWS_MAX) add_row(out, gate->rows[i]);
        left += is_shown && shown >= ROWS_MAX;
        shown += is_shown;
    }
    for (size_t i = 0; i < gate->results.count; i++) {
        const struct gate_result *result = &gate->results.items[i];
        if (!result->worst)
            add_result(out, result);
        else if (!words_is_shown(result->worst))
            add_row(out, result->worst);
    }
    if (left) buffer_printf(out, "\n%zu more rows are not shown.\n", left);
}

void gate_markdown(const struct gate *gate, struct buffer *out) {
    struct buffer summary = {0};
    words_summary(&summary, gate);
    buffer_printf(out, "### clear gate: %s\n\n", gate_word(gate->verdict));
    add_text(out, buffer_text(&summary));
    buffer_add_text(out, "\n\n| verdict | rule | figure | subject | old | new | change | limit | noise | |\n"
                         "|---|---|---|---|---:|---:|---:|---|---|---|\n");
    add_rows(out, gate);
    for (size_t i = 0; i < gate->note_count; i++) {
        buffer_add_text(out, "\n");
        add_text(out, gate->notes[i]);
        buffer_add_text(out, "\n");
    }
    buffer_free(&summary);
}
