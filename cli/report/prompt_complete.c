/* Completion at the prompt: what the word before the cursor can become. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/prompt.h"
#include "export/format.h"

struct completion {
    struct prompt *prompt;
    const char *typed; /* the word so far */
    struct word_list *found;
    struct arena *arena;
};

static void offer(struct completion *completion, const char *word) {
    if (strncmp(word, completion->typed, strlen(completion->typed)) == 0)
        word_list_add(completion->found, arena_text(completion->arena, word, strlen(word)));
}

static void offer_two(struct completion *completion, const char *before, const char *word, const char *behind) {
    char *whole = xasprintf("%s%s%s", before, word, behind);
    offer(completion, whole);
    free(whole);
}

/* ---- what there is ---- */

static void offer_options(struct completion *completion, const char *sign) {
    static const char *const others[] = {"sort", "granularity", "output", "kind"};
    for (struct option_walk walk = {0}; report_option_next(&walk);) {
        offer_two(completion, "", walk.row->name, option_takes_value(walk.row) ? sign : "");
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        offer_two(completion, "", others[i], sign);
}

static void offer_commands(struct completion *completion) {
    const struct report_format *format;
    for (size_t i = 0; (format = report_format_at(i)); i++)
        offer(completion, format->name);
    for (const struct prompt_view *view = prompt_views; view->name; view++)
        offer(completion, view->name);
    for (const struct prompt_command *command = completion->prompt->commands; command->name; command++)
        offer(completion, command->name);
}

static void offer_types(struct completion *completion, const char *before) {
    const struct profile *profile = &completion->prompt->in_use->profile;
    for (size_t i = 0; i < profile->type_count; i++)
        offer_two(completion, before, profile->types[i].type, "");
}

/* A name as an expression that is one word: what means something to the pattern is quoted, but not the dot, which every
 * other Go name has and which matches itself; blanks are dots. */
static char *as_pattern(struct arena *arena, const char *name) {
    char *pattern = arena_alloc(arena, 2 * strlen(name) + 1), *at = pattern;
    for (; *name; name++) {
        if (strchr("\\+*?()|[]{}^$", *name)) *at++ = '\\';
        *at++ = *name == ' ' || *name == '\t' ? '.' : *name;
    }
    *at = '\0';
    return pattern;
}

static void add_pattern(struct completion *completion, const char *before, const char *pattern) {
    char *whole = xasprintf("%s%s", before, pattern);
    word_list_add(completion->found, arena_text(completion->arena, whole, strlen(whole)));
    free(whole);
}

/* Functions whose name or pattern begins with the word; if there are none, those that contain it, as in pprof. */
static void offer_functions(struct completion *completion, const char *before) {
    const struct profile *profile = &completion->prompt->in_use->profile;
    const char *part = completion->typed + strlen(before);
    size_t size = strlen(part), already = completion->found->count;
    for (int anywhere = 0; anywhere < 2 && completion->found->count == already; anywhere++)
        for (size_t i = 0; i < profile->function_count; i++) {
            const char *name = profile->functions[i].name, *pattern = as_pattern(completion->arena, name);
            bool is_met = anywhere ? strstr(name, part) || strstr(pattern, part)
                                   : strncmp(name, part, size) == 0 || strncmp(pattern, part, size) == 0;
            if (is_met) add_pattern(completion, before, pattern);
        }
}

static void offer_tags(struct completion *completion, const char *before) {
    const struct profile *profile = &completion->prompt->in_use->profile;
    for (size_t i = 0; i < profile->label_count; i++)
        offer_two(completion, before, as_pattern(completion->arena, profile->labels[i].key), "");
}

/* Files, and directories with a slash appended. */
static void offer_files(struct completion *completion, const char *before) {
    glob_t files;
    char *pattern = xasprintf("%s*", completion->typed + strlen(before));
    if (glob(pattern, GLOB_MARK | GLOB_TILDE, NULL, &files) == 0)
        for (size_t i = 0; i < files.gl_pathc; i++)
            offer_two(completion, before, files.gl_pathv[i], "");
    globfree(&files);
    free(pattern);
}

static void offer_rows(struct completion *completion, const char *before, const char *sql) {
    struct error ignored = {0};
    struct db *db = report_target_db(&completion->prompt->in_use->target);
    sqlite3_stmt *row = db_prepare(db, sql, &ignored);
    while (row && db_step(db, row, &ignored) == 1)
        offer_two(completion, before, db_text(row, 0), "");
}

/* ---- where the cursor is ---- */

static void offer_values(struct completion *completion, const char *name, const char *before) {
    const struct option_row *option = report_option_find(name);
    if (strcmp(name, "sample_index") == 0)
        offer_types(completion, before);
    else if (strcmp(name, "kind") == 0)
        offer_rows(completion, before, "SELECT DISTINCT kind FROM profiles ORDER BY kind");
    else if (strcmp(name, "output") == 0 || strcmp(name, "source_path") == 0 || strcmp(name, "only_source_path") == 0 ||
             strcmp(name, "trim_path") == 0)
        offer_files(completion, before);
    else if (strncmp(name, "tag", 3) == 0)
        offer_tags(completion, before);
    else if (option && option->type == OPTION_TEXT && strcmp(name, "unit") != 0)
        offer_functions(completion, before);
    for (struct option_walk walk = {0}; report_option_next(&walk);)
        if (walk.row->choice_of && strcmp(walk.row->choice_of, name) == 0)
            offer_two(completion, before, walk.row->name, "");
    if (!option || option->type != OPTION_SWITCH) return;
    offer_two(completion, before, "true", "");
    offer_two(completion, before, "false", "");
}

/* The first word: a command, an option, or NAME=VALUE. */
static void offer_first(struct completion *completion) {
    size_t size = strcspn(completion->typed, "=");
    if (!completion->typed[size]) {
        offer_commands(completion);
        offer_options(completion, "=");
        offer_types(completion, "");
        /* Two more names for each type would make the list too long. */
        if (strlen(completion->typed) < 3) return;
        offer_types(completion, "total_");
        offer_types(completion, "mean_");
        return;
    }
    const char *name = arena_text(completion->arena, completion->typed, size);
    offer_values(completion, name, arena_text(completion->arena, completion->typed, size + 1));
}

static void offer_further(struct completion *completion, const char *command) {
    if (strcmp(command, "help") == 0) {
        offer_commands(completion);
        offer_options(completion, "");
    } else if (strcmp(command, "use") == 0) {
        offer(completion, "latest");
        offer_rows(completion, "", "SELECT DISTINCT label FROM runs WHERE label IS NOT NULL ORDER BY label");
        offer_files(completion, "");
    } else if (strcmp(command, "sql") == 0) {
        offer_rows(completion, "", "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name");
        offer_rows(completion, "@", "SELECT name FROM queries ORDER BY name");
    } else if (*completion->typed == '>') {
        offer_files(completion, ">");
    } else if (strcmp(command, "tags") == 0) {
        offer_tags(completion, *completion->typed == '-' ? "-" : "");
    } else {
        bool is_ignore = *completion->typed == '-';
        if (is_ignore) offer(completion, "-cum");
        offer_functions(completion, is_ignore ? "-" : "");
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_once(struct word_list *found) {
    size_t kept = 0;
    if (!found->count) return;
    qsort(found->items, found->count, sizeof *found->items, by_text);
    for (size_t i = 1; i < found->count; i++)
        if (strcmp(found->items[i], found->items[kept]) != 0) found->items[++kept] = found->items[i];
    found->count = kept + 1;
}

void prompt_complete(void *context, const char *line, size_t *start, struct word_list *found, struct arena *arena) {
    static const char blanks[] = " \t";
    size_t first = strspn(line, blanks), end = strlen(line);
    while (end > first && !strchr(blanks, line[end - 1]))
        end--;
    struct completion completion = {context, line + end, found, arena};
    *start = end;
    if (end == first)
        offer_first(&completion);
    else
        offer_further(&completion, arena_text(arena, line + first, strcspn(line + first, blanks)));
    sort_once(found);
}
