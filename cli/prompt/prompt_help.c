/* help: the commands and options, or one of them, from the tables that carry them out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/prompt/prompt.h"

static void add_line(struct words *lines, struct arena *arena, const char *name, const char *help) {
    char *line = xasprintf("    %-20s %s", name, help);
    words_add(lines, arena_text(arena, line, strlen(line)));
    free(line);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_sorted(struct words *lines) {
    qsort(lines->items, lines->count, sizeof *lines->items, by_text);
    for (size_t i = 0; i < lines->count; i++)
        puts(lines->items[i]);
    free(lines->items);
    *lines = (struct words){0};
}

static void print_commands(struct arena *arena) {
    struct words lines = {0};
    for (const struct report_format *format = report_formats; format->name; format++)
        add_line(&lines, arena, format->name, format->help);
    for (const struct prompt_view *view = prompt_views; view->name; view++)
        if (strcmp(view->name, view->format) != 0) add_line(&lines, arena, view->name, view->help);
    puts("  Reports:");
    print_sorted(&lines);
    puts("\n  Other commands:");
    for (const struct prompt_command *command = prompt_commands; command->name; command++)
        printf("    %-20s %s\n", command->usage, command->help);
}

static void print_group(const char *group) {
    printf("    %s\n", group);
    for (const struct report_option *option = report_options_table; option->name; option++)
        if (option->group && strcmp(option->group, group) == 0) printf("      %-18s %s\n", option->name, option->help);
}

static void print_options(struct arena *arena) {
    struct words lines = {0};
    for (const struct report_option *option = report_options_table; option->name; option++)
        if (option->kind != REPORT_CHOICE) add_line(&lines, arena, option->name, option->help);
    add_line(&lines, arena, "kind", "which profile of the run: heap, cpu, lock, ...");
    add_line(&lines, arena, "output", "the file that reports go to, instead of the screen");
    puts("\n  Options, as NAME=VALUE:");
    print_sorted(&lines);
    puts("\n  Options of which one is set:");
    print_group("granularity");
    print_group("sort");
}

static void print_all(void) {
    struct arena arena = {0};
    print_commands(&arena);
    print_options(&arena);
    puts(
        "\n  :  is short for focus= ignore= hide= tagfocus= tagignore=; the name of a sample type for sample_index=it\n"
        "  (total_TYPE with mean=0, mean_TYPE with mean=1).\n"
        "\n"
        "  help NAME says more about a command or option.");
    arena_free(&arena);
}

static void print_report(const char *name, const struct report_format *format) {
    const struct prompt_view *view = prompt_view_find(name);
    const char *pattern = format->takes_pattern ? " RE" : "";
    bool is_tags = strcmp(name, "tags") == 0;
    printf("%s: %s\n", name, view ? view->help : format->help);
    printf("  %s%s [N] [RE]... [-RE]... [-cum] [>FILE]\n", name, pattern);
    if (format->takes_pattern) puts("  RE         functions that match");
    puts("  N          at most N lines (nodecount)");
    printf("  RE, -RE    only, and no %s\n",
           is_tags ? "samples with tags that match (tagfocus, tagignore)"
                   : "samples through a frame that matches (focus, ignore); several are joined with |");
    puts("  -cum       sorted by cumulative value\n"
         "  >FILE      into a file");
}

static bool print_option(const char *name) {
    const struct report_option *option = report_option_find(name);
    if (!option) return false;
    if (option->kind == REPORT_CHOICE)
        printf("%s: %s\n  %s, or %s=%s\n", name, option->help, name, option->group, name);
    else if (option->kind == REPORT_BOOL)
        printf("%s: %s\n  %s, %s=true or %s=false\n", name, option->help, name, name, name);
    else
        printf("%s: %s\n  %s=VALUE\n", name, option->help, name);
    return true;
}

static bool print_format(const char *name) {
    const struct prompt_view *view = prompt_view_find(name);
    for (const struct report_format *format = report_formats; format->name; format++)
        if (strcmp(format->name, view ? view->format : name) == 0) {
            print_report(name, format);
            return true;
        }
    return false;
}

int prompt_help(struct prompt *prompt, char *rest, struct error *err) {
    (void)prompt;
    if (!*rest) print_all();
    if (!*rest || print_format(rest)) return 0;
    for (const struct prompt_command *command = prompt_commands; command->name; command++)
        if (strcmp(command->name, rest) == 0 || (command->also && strcmp(command->also, rest) == 0)) {
            printf("%s: %s\n", command->usage, command->help);
            return 0;
        }
    if (strcmp(rest, "sort") == 0 || strcmp(rest, "granularity") == 0)
        print_group(rest);
    else if (strcmp(rest, "kind") == 0)
        puts("kind: which profile of the run, as `o` lists them\n  kind=NAME");
    else if (strcmp(rest, "output") == 0)
        puts("output: the file that reports go to; output= is the screen again\n  output=FILE");
    else if (!print_option(rest))
        return error_usage(err, "there is no command or option '%s'; help lists them", rest);
    return 0;
}
