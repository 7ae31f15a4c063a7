/* help: lists or explains commands and options, from their tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/manual/page.h"
#include "cli/report/prompt.h"
#include "export/format.h"

enum { HELP_COLUMN = 25, HELP_WIDTH = 100 };

/* The name and its help, over several lines where it is long; `indent` blanks before the name. */
static void add_entry(struct buffer *out, int indent, const char *name, const char *help) {
    struct buffer line = {0};
    page_plain(&line, help, strlen(help));
    buffer_printf(out, "%*s%-*s", indent, "", HELP_COLUMN - 1 - indent, name);
    buffer_add_char(out, ' ');
    page_wrap(out, buffer_text(&line), HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
    buffer_free(&line);
}

static void add_line(struct word_list *lines, struct arena *arena, const char *name, const char *help) {
    struct buffer entry = {0};
    add_entry(&entry, 4, name, help);
    word_list_add(lines, arena_text(arena, buffer_text(&entry), entry.size));
    buffer_free(&entry);
}

static void print_entry(int indent, const char *name, const char *help) {
    struct buffer entry = {0};
    add_entry(&entry, indent, name, help);
    fputs(buffer_text(&entry), stdout);
    buffer_free(&entry);
}

static void print_one(const char *name, const char *help) {
    struct buffer line = {0};
    page_plain(&line, help, strlen(help));
    printf("%s: %s\n", name, buffer_text(&line));
    buffer_free(&line);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_sorted(struct word_list *lines) {
    qsort(lines->items, lines->count, sizeof *lines->items, by_text);
    for (size_t i = 0; i < lines->count; i++)
        fputs(lines->items[i], stdout);
    free(lines->items);
    *lines = (struct word_list){0};
}

static void print_commands(const struct prompt *prompt, struct arena *arena) {
    struct word_list lines = {0};
    const struct report_format *format;
    for (size_t i = 0; (format = report_format_at(i)); i++)
        add_line(&lines, arena, format->name, format->help);
    for (const struct prompt_view *view = prompt_views; view->name; view++)
        if (strcmp(view->name, view->format) != 0) add_line(&lines, arena, view->name, view->help);
    puts("  Reports:");
    print_sorted(&lines);
    puts("\n  Other commands:");
    for (const struct prompt_command *command = prompt->commands; command->name; command++)
        print_entry(4, command->usage, command->help);
}

static void print_group(const char *group) {
    printf("    %s\n", group);
    for (struct option_walk walk = {0}; report_option_next(&walk);)
        if (walk.row->choice_of && strcmp(walk.row->choice_of, group) == 0)
            print_entry(6, walk.row->name, walk.row->help);
}

static void print_options(struct arena *arena) {
    struct word_list lines = {0};
    for (struct option_walk walk = {0}; report_option_next(&walk);)
        if (walk.row->type != OPTION_CHOICE) add_line(&lines, arena, walk.row->name, walk.row->help);
    add_line(&lines, arena, "kind", "The kind of profile: heap, cpu, lock, ...");
    add_line(&lines, arena, "output", "The file that reports are written to. Default: the screen.");
    puts("\n  Options, as NAME=VALUE:");
    print_sorted(&lines);
    puts("\n  Options that exclude each other:");
    print_group("granularity");
    print_group("sort");
}

static void print_all(const struct prompt *prompt) {
    struct arena arena = {0};
    print_commands(prompt, &arena);
    print_options(&arena);
    puts("\n  :  is short for focus= ignore= hide= tagfocus= tagignore=; the name of a sample type for "
         "sample_index=TYPE\n"
         "  (total_TYPE with mean=0, mean_TYPE with mean=1).\n"
         "\n"
         "  help NAME says more about a command or option.");
    arena_free(&arena);
}

static void print_report(const char *name, const struct report_format *format) {
    const struct prompt_view *view = prompt_view_find(name);
    const char *pattern = format->takes_pattern ? " REGEX" : "";
    bool is_tags = strcmp(name, "tags") == 0;
    printf("%s: %s\n", name, view ? view->help : format->help);
    printf("  %s%s [N] [REGEX]... [-REGEX]... [-cum] [>FILE]\n", name, pattern);
    if (format->takes_pattern) puts("  REGEX      functions that match");
    puts("  N          at most N lines (nodecount)");
    printf("  REGEX      keep, and -REGEX drop, %s\n",
           is_tags ? "samples with tags that match (tagfocus, tagignore)"
                   : "samples that have a frame that matches (focus, ignore); several are joined with |");
    puts("  -cum       sort by cumulative value\n"
         "  >FILE      write to a file");
}

static bool print_option(const char *name) {
    const struct option_row *option = report_option_find(name);
    if (!option) return false;
    print_one(name, option->help);
    if (option->type == OPTION_CHOICE)
        printf("  %s, or %s=%s\n", name, option->choice_of, name);
    else if (option->type == OPTION_SWITCH)
        printf("  %s, %s=true or %s=false\n", name, name, name);
    else
        printf("  %s=%s\n", name, option->argument);
    return true;
}

static bool print_format(const char *name) {
    const struct prompt_view *view = prompt_view_find(name);
    const struct report_format *format = report_format_named(view ? view->format : name);
    if (format) print_report(name, format);
    return format;
}

int prompt_help(struct prompt *prompt, char *rest, struct error *err) {
    if (!*rest) print_all(prompt);
    if (!*rest || print_format(rest)) return 0;
    for (const struct prompt_command *command = prompt->commands; command->name; command++)
        if (strcmp(command->name, rest) == 0 || (command->also && strcmp(command->also, rest) == 0)) {
            printf("%s: %s\n", command->usage, command->help);
            return 0;
        }
    if (strcmp(rest, "sort") == 0 || strcmp(rest, "granularity") == 0)
        print_group(rest);
    else if (strcmp(rest, "kind") == 0)
        puts("kind: the kind of profile; `o` lists those that the run has\n  kind=NAME");
    else if (strcmp(rest, "output") == 0)
        puts("output: the file that reports are written to; output= is the screen again\n  output=FILE");
    else if (!print_option(rest))
        return error_usage(err, "there is no command or option '%s'; help lists them", rest);
    return 0;
}
