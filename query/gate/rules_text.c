#include "query/gate/rules_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "query/gate/gate_formats.h"
#include "query/gate/gate_words.h"

enum { NAME_WIDTH = 60 };

static void add_visible(struct grid *grid, const char *text) {
    struct buffer shown = {0};
    grid_visible(&shown, text, NAME_WIDTH);
    grid_left(grid, buffer_text(&shown));
    buffer_free(&shown);
}

static void add_rule(struct grid *grid, const struct gate_rule *rule) {
    add_visible(grid, rule->name);
    add_visible(grid, rule->figure ? rule->figure : rule->query);
    add_visible(grid, *rule->subject ? rule->subject : "the whole run");
    grid_left(grid, gates_direction(rule->direction));
    grid_left(grid, words_limit(rule).text);
    grid_right(grid, units_count(rule->runs).text);
    grid_left(grid, rule->only_warns ? "warn" : "fail");
}

static void print_rules(FILE *out, const struct gate_rule *rules, size_t count, bool are_own) {
    static const char *const headings[] = {"rule", "figure", "subject", "change", "limit", "runs", "action"};
    struct grid grid = {.columns = sizeof headings / sizeof *headings};
    for (size_t i = 0; i < grid.columns; i++)
        grid_left(&grid, headings[i]);
    for (size_t i = 0; i < count; i++)
        add_rule(&grid, &rules[i]);
    grid_print(&grid, out, true);
    grid_free(&grid);
    fprintf(out, are_own ? "\nclear's own rules: `gates:` in clear.yaml takes their place\n"
                         : "\nfrom `gates:` in clear.yaml\n");
    for (size_t i = 0; i < count; i++)
        if (*rules[i].base && (i == 0 || strcmp(rules[i].base, rules[i - 1].base) != 0))
            fprintf(out, "compared with %s, where --base names no others\n", rules[i].base);
}

static void add_table(struct buffer *out, const struct gate_rule *rules, size_t count, bool are_own) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file) bug("no stream in memory");
    print_rules(file, rules, count, are_own);
    fclose(file);
    buffer_add(out, text, size);
    free(text);
}

static void add_json(struct buffer *out, const struct gate_rule *rules, size_t count) {
    buffer_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        buffer_add_text(out, i ? ",\n " : "");
        buffer_add_char(out, '{');
        gate_json_rule(&rules[i], out);
        buffer_add_char(out, '}');
    }
    buffer_add_text(out, "]\n");
}

int rules_text(struct db *db, bool is_json, struct buffer *out, struct error *err) {
    struct gate_rule *rules;
    size_t count;
    bool are_own;
    if (gates_load(db, &rules, &count, &are_own, err) < 0) return -1;
    if (is_json)
        add_json(out, rules, count);
    else
        add_table(out, rules, count, are_own);
    gates_free_all(rules, count);
    return 0;
}
