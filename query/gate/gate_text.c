#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "base/wrap.h"
#include "query/gate/gate_formats.h"
#include "query/gate/gate_words.h"

enum { ROWS_MAX = 30, NAME_MAX_WIDTH = 48 };

static const char *style(const struct gate *gate, enum gate_verdict verdict) {
    if (!gate->options->colour) return NULL;
    if (verdict == GATE_FAIL) return "\033[1;31m";
    if (verdict == GATE_UNDECIDED || verdict == GATE_WARN) return "\033[33m";
    return NULL;
}

static void add_visible(struct grid *grid, const char *text) {
    struct buffer shown = {0};
    grid_visible(&shown, text, NAME_MAX_WIDTH);
    grid_left(grid, buffer_text(&shown));
    buffer_free(&shown);
}

static void add_verdict(struct grid *grid, const struct gate *gate, enum gate_verdict verdict) {
    grid_left(grid, verdict == GATE_FAIL ? "FAIL" : gate_word(verdict));
    grid_style(grid, style(gate, verdict));
}

static void add_note(struct grid *grid, const char *text) {
    struct buffer line = {0};
    buffer_add_text(&line, "      ");
    grid_visible(&line, text, REPORT_WIDTH - 6);
    grid_note(grid, buffer_text(&line));
    buffer_free(&line);
}

static void add_row(struct grid *grid, const struct gate *gate, const struct gate_row *row) {
    bool is_compared = row->noise.old.n && row->noise.new.n;
    add_verdict(grid, gate, row->verdict);
    add_visible(grid, row->rule->name);
    add_visible(grid, *row->subject ? row->subject : words_figure(row->rule));
    grid_right(grid, is_compared ? words_value(row->rule, row->noise.old.mean).text : "");
    grid_right(grid, is_compared ? words_value(row->rule, row->noise.new.mean).text : "");
    grid_right(grid, is_compared ? words_change(row).text : "");
    grid_left(grid, words_limit(row->rule).text);
    grid_left(grid, is_compared ? words_noise(row).text : "");
    if (row->blame) {
        char *line = xasprintf("most of it: %s", row->blame);
        add_note(grid, line);
        free(line);
    }
    if (row->why) add_note(grid, row->why);
}

static void add_empty(struct grid *grid, const struct gate *gate, const struct gate_result *result) {
    add_verdict(grid, gate, result->verdict);
    add_visible(grid, result->rule->name);
    add_visible(grid, *result->rule->subject ? result->rule->subject : words_figure(result->rule));
    for (int i = 0; i < 3; i++)
        grid_right(grid, "");
    grid_left(grid, words_limit(result->rule).text);
    grid_left(grid, "");
    if (result->why) add_note(grid, result->why);
}

/* Number of rows that are left out. */
static size_t add_rows(struct grid *grid, const struct gate *gate) {
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < gate->row_count; i++) {
        if (!gate->options->is_whole && (!words_is_shown(gate->rows[i]) || shown >= ROWS_MAX)) {
            left += words_is_shown(gate->rows[i]);
            continue;
        }
        add_row(grid, gate, gate->rows[i]);
        shown++;
    }
    for (size_t i = 0; i < gate->results.count; i++) {
        const struct gate_result *result = &gate->results.items[i];
        if (!result->worst)
            add_empty(grid, gate, result);
        else if (!gate->options->is_whole && !words_is_shown(result->worst))
            add_row(grid, gate, result->worst);
    }
    return left;
}

static void print_table(FILE *out, const struct gate *gate) {
    static const char *const headings[] = {"verdict", "rule", "what", "old", "new", "change", "limit", "noise"};
    struct grid grid = {.columns = sizeof headings / sizeof *headings};
    for (size_t i = 0; i < grid.columns; i++)
        grid_left(&grid, headings[i]);
    size_t left = add_rows(&grid, gate);
    grid_print(&grid, out, true);
    grid_free(&grid);
    if (left) fprintf(out, "%zu more rows: --all shows them\n", left);
}

static void print_end(FILE *out, const struct gate *gate) {
    bool is_unconfirmed = false;
    for (size_t i = 0; i < gate->note_count; i++)
        wrap_print(out, REPORT_WIDTH, "", gate->notes[i]);
    for (size_t i = 0; i < gate->row_count; i++)
        is_unconfirmed = is_unconfirmed ||
                         (gate->rows[i]->verdict == GATE_FAIL && gate->rows[i]->varies && !gate->rows[i]->is_confirmed);
    if (is_unconfirmed && gate->tested)
        wrap_print(out, REPORT_WIDTH, "", "No fresh run has confirmed what varies and failed: --run takes one.");
    if (gate->verdict == GATE_UNDECIDED)
        wrap_print(out, REPORT_WIDTH, "",
                   gate->counts[GATE_OLD] && gate->counts[GATE_NEW]
                       ? "Undecided: more runs are needed; --run takes them until the answer is sure."
                       : "Undecided: all runs of a side are left out.");
}

void gate_text(const struct gate *gate, struct buffer *out) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    struct buffer summary = {0};
    if (!file) bug("no stream in memory");
    const char *colour = style(gate, gate->verdict);
    words_summary(&summary, gate);
    fprintf(file, "%s%s%s: ", colour ? colour : "", gate->verdict == GATE_FAIL ? "FAIL" : gate_word(gate->verdict),
            colour ? GRID_PLAIN : "");
    struct buffer shown = {0};
    grid_visible(&shown, buffer_text(&summary), INT32_MAX);
    fprintf(file, "%s\n\n", buffer_text(&shown));
    print_table(file, gate);
    print_end(file, gate);
    fclose(file);
    buffer_add(out, text, size);
    free(text);
    buffer_free(&shown);
    buffer_free(&summary);
}
