/* Options at the prompt: NAME=VALUE, their list, and shortcuts for setting them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/report/prompt.h"

/* Those that are not in the table of reports. */
static const char *const groups[] = {"sort", "granularity"}, *const own[] = {"output", "kind"};

static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static bool is_group(const char *name) {
    return is_one_of(name, groups, sizeof groups / sizeof *groups);
}

static bool is_own(const char *name) {
    return is_one_of(name, own, sizeof own / sizeof *own);
}

bool prompt_is_option(const char *name) {
    return report_option_find(name) || is_group(name) || is_own(name);
}

/* The members of a group; other options have none. */
static void add_members(struct buffer *text, const char *group, const char *between) {
    for (struct option_walk walk = {0}; report_option_next(&walk);)
        if (walk.row->choice_of && strcmp(walk.row->choice_of, group) == 0)
            buffer_printf(text, "%s%s", text->size ? between : "", walk.row->name);
}

/* ---- setting ---- */

/* More words than on the command line, as in pprof; NULL: the value is none of them. */
static const char *bool_of(const char *value) {
    static const char *const yes[] = {"true", "t", "yes", "y", "1", ""}, *const no[] = {"false", "f", "no", "n", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(yes[i], value) == 0) return "true";
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strcasecmp(no[i], value) == 0) return "false";
    return NULL;
}

static int need_value(const char *name, struct error *err) {
    struct buffer choices = {0};
    add_members(&choices, name, "|");
    error_usage(err, "%s needs a value: %s=%s", name, name, choices.size ? buffer_text(&choices) : "VALUE");
    buffer_free(&choices);
    return -1;
}

/* Stores the name: a number or an older name could mean another type in another profile. */
static int set_sample_index(struct prompt *prompt, const char *value, struct error *err) {
    struct profile *profile = &prompt->in_use->profile;
    size_t type;
    if (profile_find_type(profile, value, &type, err) < 0) return -1;
    const char *name = profile->types[type].type;
    prompt->command->options.sample_index = arena_text(&prompt->command->arena, name, strlen(name));
    return 0;
}

static int set_own(struct prompt *prompt, const char *name, const char *value, struct error *err) {
    if (strcmp(name, "kind") == 0) return prompt_use(prompt, NULL, *value ? value : NULL, err);
    prompt->command->output = *value ? arena_text(&prompt->command->arena, value, strlen(value)) : NULL;
    return 0;
}

/* Scaling to a base happens when both are loaded, so they are loaded again. */
static int set_normalize(struct prompt *prompt, bool before, struct error *err) {
    bool *normalize = &prompt->command->options.normalize;
    const struct report_target *target = &prompt->in_use->target;
    if (*normalize == before) return 0;
    if (!target->bases.count) {
        *normalize = before;
        return error_usage(err, "normalize needs a base: start with clear report --base RUN");
    }
    if (prompt_use(prompt, NULL, target->kind, err) == 0) return 0;
    *normalize = before;
    return -1;
}

static int set_switch(struct prompt *prompt, const struct option_row *option, const char *value, struct error *err) {
    struct report_command *command = prompt->command;
    bool normalize = command->options.normalize;
    const char *known = bool_of(value);
    if (!known) return error_usage(err, "%s must be true or false, not '%s'", option->name, value);
    if (option->type == OPTION_CHOICE && strcmp(known, "false") == 0)
        return error_usage(err, "%s is one of several: choose another %s", option->name, option->choice_of);
    if (report_option_set(&command->options, &command->arena, option->name, known, err) < 0) return -1;
    return set_normalize(prompt, normalize, err);
}

static int assign(struct prompt *prompt, const char *name, const char *value, struct error *err) {
    struct report_command *command = prompt->command;
    const struct option_row *option = report_option_find(name);
    bool is_switch = option && (option->type == OPTION_SWITCH || option->type == OPTION_CHOICE);
    if (!value && !is_switch) return need_value(name, err);
    if (is_switch) return set_switch(prompt, option, value ? value : "", err);
    if (is_own(name)) return set_own(prompt, name, value, err);
    if (strcmp(name, "sample_index") == 0) return set_sample_index(prompt, value, err);
    return report_option_set(&command->options, &command->arena, name, value, err);
}

int prompt_assign(struct prompt *prompt, char *line, struct error *err) {
    char *value = strchr(line, '='), *comment = NULL;
    size_t size = value ? (size_t)(value - line) : strlen(line);
    char *copy = arena_text(&prompt->command->arena, line, size), *name = prompt_trim(copy);
    if (!prompt_is_option(name)) return 1;
    if (!value) return assign(prompt, name, NULL, err);
    value++;
    /* The list of options can be read back: its comments begin so. */
    for (char *at = value; (at = strstr(at, "//:")); at++)
        comment = at;
    if (comment) *comment = '\0';
    value = prompt_trim(value);
    return assign(prompt, name, strcmp(value, "\"\"") == 0 ? "" : value, err);
}

/* ---- the list ---- */

struct option_lines {
    char **items;
    size_t count;
};

static void add_line(struct option_lines *lines, const char *name, const char *value, const char *comment) {
    const char *sign = *comment ? "//: " : "";
    lines->items = xrealloc(lines->items, (lines->count + 1) * sizeof *lines->items);
    lines->items[lines->count++] = xasprintf("%-25s = %-20s %s%s", name, *value ? value : "\"\"", sign, comment);
}

/* As Go writes it: the fewest digits that read back as the same number. */
static char *real_text(double value) {
    enum { DIGITS_MAX = 17, EXPONENT_FROM = 1000000 };
    char text[40] = "";
    bool is_large = value >= EXPONENT_FROM || value <= -EXPONENT_FROM;
    for (int digits = 1; digits <= DIGITS_MAX; digits++) {
        snprintf(text, sizeof text, is_large ? "%.*e" : "%.*g", is_large ? digits - 1 : digits < 6 ? 6 : digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return xstrdup(text);
}

static char *value_text(const struct report_options *options, const struct option_row *option) {
    const void *member = (const char *)options + option->offset;
    const char *text = option->type == OPTION_TEXT ? *(const char *const *)member : NULL;
    switch (option->type) {
    case OPTION_SWITCH: return xstrdup(*(const bool *)member ? "true" : "false");
    case OPTION_INTEGER: return xasprintf("%" PRId64, *(const int64_t *)member);
    case OPTION_REAL: return real_text(*(const double *)member);
    default: return xstrdup(text ? text : "");
    }
}

static void add_option(struct option_lines *lines, const struct report_options *options,
                       const struct option_row *option) {
    char *value = value_text(options, option);
    bool is_default = strcmp(option->name, "nodecount") == 0 && options->nodecount == -1;
    add_line(lines, option->name, value, is_default ? "default" : "");
    free(value);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of a group are shown sorted. */
static void add_group(struct option_lines *lines, const char *group, const struct report_options *options) {
    struct word_list members = {0};
    struct buffer shown = {0};
    const char *value = "(default)";
    for (struct option_walk walk = {0}; report_option_next(&walk);) {
        const struct option_row *option = walk.row;
        if (!option->choice_of || strcmp(option->choice_of, group) != 0) continue;
        const int set = strcmp(group, "sort") == 0 ? options->cum : options->granularity;
        if (option->choice == set) value = option->name;
        word_list_add(&members, option->name);
    }
    qsort(members.items, members.count, sizeof *members.items, by_text);
    for (size_t i = 0; i < members.count; i++)
        buffer_printf(&shown, "%s%s", i ? " | " : "[", members.items[i]);
    buffer_add_char(&shown, ']');
    add_line(lines, group, value, buffer_text(&shown));
    free(members.items);
    buffer_free(&shown);
}

static int add_sample_index(struct option_lines *lines, struct prompt *prompt, struct error *err) {
    const struct profile *profile = &prompt->in_use->profile;
    struct buffer shown = {0};
    size_t type;
    if (profile_find_type(profile, prompt->command->options.sample_index, &type, err) < 0) return -1;
    for (size_t i = 0; i < profile->type_count; i++)
        buffer_printf(&shown, "%s%s", i ? " | " : "[", profile->types[i].type);
    buffer_add_char(&shown, ']');
    add_line(lines, "sample_index", profile->types[type].type, buffer_text(&shown));
    buffer_free(&shown);
    return 0;
}

/* The alternatives are those of the first run. */
static int add_kind(struct option_lines *lines, struct prompt *prompt, struct error *err) {
    struct report_target *target = &prompt->in_use->target;
    const struct run_item *first = &target->runs.items[0];
    struct buffer shown = {0};
    sqlite3_stmt *row =
        db_prepare(first->db, "SELECT DISTINCT kind FROM profiles WHERE run_id = :run ORDER BY kind", err);
    int code = row ? 0 : -1;
    if (row) db_bind_int(row, ":run", first->id);
    while (row && (code = db_step(first->db, row, err)) == 1)
        buffer_printf(&shown, "%s%s", shown.size ? " | " : "[", db_text(row, 0));
    buffer_add_char(&shown, ']');
    if (code == 0) add_line(lines, "kind", target->chosen, buffer_text(&shown));
    buffer_free(&shown);
    return code;
}

int prompt_print_options(struct prompt *prompt, struct error *err) {
    const struct report_options *options = &prompt->command->options;
    const char *output = prompt->command->output;
    struct option_lines lines = {0};
    for (struct option_walk walk = {0}; report_option_next(&walk);)
        if (walk.row->type != OPTION_CHOICE && strcmp(walk.row->name, "sample_index") != 0)
            add_option(&lines, options, walk.row);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        add_group(&lines, groups[i], options);
    add_line(&lines, "output", output ? output : "", "");
    int code = add_sample_index(&lines, prompt, err);
    if (code == 0) code = add_kind(&lines, prompt, err);
    qsort(lines.items, lines.count, sizeof *lines.items, by_text);
    for (size_t i = 0; i < lines.count; i++) {
        if (code == 0) printf("  %s\n", prompt_trim(lines.items[i]));
        free(lines.items[i]);
    }
    free(lines.items);
    return code;
}

/* ---- shortcuts ---- */

static void add_text(struct word_list *lines, struct arena *arena, const char *before, const char *text) {
    char *line = xasprintf("%s%s", before, text);
    word_list_add(lines, arena_text(arena, line, strlen(line)));
    free(line);
}

void prompt_expand(struct prompt *prompt, const char *line, struct word_list *lines, struct arena *arena) {
    static const char *const cleared[] = {"focus=", "ignore=", "hide=", "tagfocus=", "tagignore="};
    const struct profile *profile = &prompt->in_use->profile;
    bool is_total = strncmp(line, "total_", 6) == 0, is_mean = strncmp(line, "mean_", 5) == 0;
    const char *short_type = is_total ? line + 6 : is_mean ? line + 5 : line, *type = NULL;
    for (size_t i = 0; i < profile->type_count && !type; i++)
        if (strcmp(profile->types[i].type, line) == 0 || strcmp(profile->types[i].type, short_type) == 0)
            type = profile->types[i].type;
    if (strcmp(line, ":") == 0)
        for (size_t i = 0; i < sizeof cleared / sizeof *cleared; i++)
            word_list_add(lines, cleared[i]);
    else if (!type)
        word_list_add(lines, line);
    else {
        if (strcmp(type, line) != 0) word_list_add(lines, is_mean ? "mean=1" : "mean=0");
        add_text(lines, arena, "sample_index=", type);
    }
}
