#include "cli/report_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static int set_format(struct report_command *command, const char *text, struct error *err) {
    if (command->format) return error_usage(err, "one report at a time: %s or %s", command->format->name, text);
    command->format = report_format_find(text, &command->options.symbol, err);
    return command->format ? 0 : -1;
}

static bool is_format(const char *name) {
    for (const struct report_format *format = report_formats; format->name; format++)
        if (strcmp(format->name, name) == 0) return true;
    return false;
}

static int set_base(struct report_command *command, const char *value, bool is_diff, struct error *err) {
    if (command->target.bases.count && command->target.is_diff != is_diff)
        return error_usage(err, "base and diff_base exclude each other");
    command->target.is_diff = is_diff;
    if (*value) words_add(&command->target.bases, value);
    return 0;
}

/* 0, -1 with the error set, or 1: there is no such option. That goes for the functions below. */

/* Those that are about the command and not the report. */
static int set_own(struct report_command *command, const char *name, const char *value, struct error *err) {
    const struct {
        const char *name, **value;
    } texts[] = {{"db", &command->target.db}, {"kind", &command->target.kind},           {"output", &command->output},
                 {"o", &command->output},     {"add_comment", &command->target.comment}, {"tools", NULL},
                 {"symbolize", NULL}};
    bool is_base = strcmp(name, "base") == 0, is_diff = strcmp(name, "diff_base") == 0;
    bool is_config = strcmp(name, "config") == 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].name, name) == 0) {
            if (value && texts[i].value) *texts[i].value = value;
            return value ? 0 : error_usage(err, "option %s needs a value", name);
        }
    if (!is_base && !is_diff && !is_config) return 1;
    if (!value) return error_usage(err, "option %s needs a value", name);
    return is_config ? cli_load_config(value, err) : set_base(command, value, is_diff, err);
}

/* Does the option take the next word where there is no "="? */
static bool wants_value(const char *name) {
    static const char *const own[] = {"db",   "kind",      "output", "o",     "add_comment", "symbolize",
                                      "base", "diff_base", "config", "tools", "sort",        "granularity"};
    const struct report_option *option = report_option_find(name);
    if (option) return option->kind != REPORT_BOOL && option->kind != REPORT_CHOICE;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i], name) == 0) return true;
    for (const struct report_format *format = report_formats; format->name; format++)
        if (strcmp(format->name, name) == 0) return format->takes_pattern;
    return false;
}

static int set_option(struct report_command *command, const char *name, const char *value, struct error *err) {
    if (is_format(name)) {
        char *text = value ? xasprintf("%s=%s", name, value) : xstrdup(name);
        const char *kept = arena_text(&command->arena, text, strlen(text));
        free(text);
        return set_format(command, kept, err);
    }
    int code = set_own(command, name, value, err);
    return code <= 0 ? code : report_option_set(&command->options, &command->arena, name, value, err);
}

/* As it was written, with its dashes. */
static int unknown(const char *word, const char *name, struct error *err) {
    const char *nearest = report_option_nearest(name);
    int dashes = (int)strspn(word, "-");
    if (!nearest) return error_usage(err, "unknown option %.*s%s", dashes, word, name);
    return error_usage(err, "unknown option %.*s%s; did you mean %.*s%s?", dashes, word, name, dashes, word, nearest);
}

static int print_usage(const char *name) {
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0) fputs(command->usage, stdout);
    return -1;
}

static int read_option(struct report_command *command, int argc, char **argv, int *at, struct error *err) {
    int spelled = *at;
    const char *word = argv[*at] + (argv[*at][1] == '-' ? 2 : 1);
    size_t size = strcspn(word, "=");
    char *name = arena_text(&command->arena, word, size);
    const char *value = word[size] ? word + size + 1 : NULL;
    if (strcmp(name, "help") == 0 || strcmp(name, "h") == 0) return print_usage(command->name);
    if (!value && wants_value(name)) {
        if (*at + 1 == argc) return error_usage(err, "option %s needs a value", argv[*at]);
        value = argv[++*at];
    }
    int code = set_option(command, name, value, err);
    return code > 0 ? unknown(argv[spelled], name, err) : code;
}

/* What stands on its own: first the report (or, for peek, its pattern), then targets. */
static int read_words(struct report_command *command, const struct words *words, struct error *err) {
    size_t first = 0;
    bool is_report = strcmp(command->name, "report") == 0;
    if (is_report && !command->format) {
        if (words->count == 0) return error_usage(err, "which report? clear report top, tree, peek=RE, traces, ...");
        if (set_format(command, words->items[first++], err) < 0) return -1;
    } else if (!is_report) {
        const struct report_format *format = report_formats;
        while (format->name && strcmp(format->name, command->name) != 0)
            format++;
        if (command->format) return error_usage(err, "clear %s is a report already", command->name);
        command->format = format;
        if (format->takes_pattern) {
            if (words->count == 0)
                return error_usage(err, "clear %s wants a pattern, as in clear %s main", command->name, command->name);
            command->options.symbol = words->items[first++];
        }
    }
    for (; first < words->count; first++)
        words_add(&command->target.targets, words->items[first]);
    return 0;
}

int report_command_read(struct report_command *command, int argc, char **argv, struct error *err) {
    struct words words = {0};
    int code = 0;
    command->name = argv[0];
    report_options_init(&command->options);
    command->options.sources = &command->target.sources;
    for (int i = 1; i < argc && code == 0; i++) {
        if (strcmp(argv[i], "--") == 0) {
            while (++i < argc)
                words_add(&words, argv[i]);
        } else if (argv[i][0] == '-' && argv[i][1]) {
            code = read_option(command, argc, argv, &i, err);
        } else {
            words_add(&words, argv[i]);
        }
    }
    if (code == 0) code = cli_find_config(err);
    if (code == 0) code = read_words(command, &words, err);
    if (code == 0 && command->options.normalize && !command->target.bases.count)
        code = error_usage(err, "normalize needs a base to normalize by");
    command->target.normalize = command->options.normalize;
    free(words.items);
    return code;
}

void report_command_free(struct report_command *command) {
    report_target_close(&command->target);
    arena_free(&command->arena);
}
