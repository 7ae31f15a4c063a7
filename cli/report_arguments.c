#include "cli/report_arguments.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run_or_file.h"

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

static int set_seconds(const char *name, const char *value, int64_t *seconds, struct error *err) {
    enum { SECONDS_MAX = 86400 };
    bool is_unset = strcmp(value, "-1") == 0 || strcmp(value, "0") == 0; /* pprof's own default */
    *seconds = 0;
    return is_unset ? 0 : cli_count(name, value, 1, SECONDS_MAX, seconds, err);
}

/* Names are made when a run is recorded or read, so it is all one who would make them. */
static int check_symbolize(const char *value, struct error *err) {
    static const char *const modes[] = {"", "none", "no", "local", "fastlocal", "remote", "demangle=default"};
    for (const char *at = value;; at++) {
        size_t size = strcspn(at, ":"), i = 0, count = sizeof modes / sizeof *modes;
        while (i < count && (strlen(modes[i]) != size || strncmp(modes[i], at, size) != 0))
            i++;
        if (i == count)
            return error_usage(err,
                               "symbolize=%s: names are made when a run is recorded or read, and reports keep them "
                               "(functions.system_name has the linker's)",
                               value);
        at += size;
        if (!*at) return 0;
    }
}

static int set_symbolize(struct report_command *command, const char *value, struct error *err) {
    (void)command;
    return check_symbolize(value, err);
}

static int set_minus(struct report_command *command, const char *value, struct error *err) {
    return set_base(command, value, false, err);
}

static int set_diff_base(struct report_command *command, const char *value, struct error *err) {
    return set_base(command, value, true, err);
}

static int set_config(struct report_command *command, const char *value, struct error *err) {
    (void)command;
    return cli_load_config(value, err);
}

static int set_fetch_seconds(struct report_command *command, const char *value, struct error *err) {
    (void)command;
    return set_seconds("seconds", value, &target_fetch.seconds, err);
}

static int set_fetch_timeout(struct report_command *command, const char *value, struct error *err) {
    (void)command;
    return set_seconds("timeout", value, &target_fetch.timeout_s, err);
}

/* Those that are about the command and not the report. Each takes a value: a text of the command or of how URLs are fetched, or
 * what `set` makes of it. */
#define AT(member) offsetof(struct report_command, member)
static const struct own {
    const char *name;
    size_t offset;
    const char **fetch;
    int (*set)(struct report_command *command, const char *value, struct error *err);
} owns[] = {
    {"db", AT(target.db), NULL, NULL},
    {"kind", AT(target.kind), NULL, NULL},
    {"output", AT(output), NULL, NULL},
    {"o", AT(output), NULL, NULL},
    {"add_comment", AT(target.overrides.comment), NULL, NULL},
    {"buildid", AT(target.overrides.build_id), NULL, NULL},
    {"tools", AT(options.tools), NULL, NULL},
    {"tls_cert", 0, &target_fetch.tls_cert, NULL},
    {"tls_key", 0, &target_fetch.tls_key, NULL},
    {"tls_ca", 0, &target_fetch.tls_ca, NULL},
    {"seconds", 0, NULL, set_fetch_seconds},
    {"timeout", 0, NULL, set_fetch_timeout},
    {"symbolize", 0, NULL, set_symbolize},
    {"base", 0, NULL, set_minus},
    {"diff_base", 0, NULL, set_diff_base},
    {"config", 0, NULL, set_config},
};
#undef AT

static const struct own *find_own(const char *name) {
    for (const struct own *own = owns; own < owns + sizeof owns / sizeof *owns; own++)
        if (strcmp(own->name, name) == 0) return own;
    return NULL;
}

static int set_own(struct report_command *command, const char *name, const char *value, struct error *err) {
    const struct own *own = find_own(name);
    if (!own) return 1;
    if (!value) return error_usage(err, "option %s needs a value", name);
    if (own->set) return own->set(command, value, err);
    *(own->fetch ? own->fetch : (const char **)((char *)command + own->offset)) = value;
    return 0;
}

/* What pprof has and a report has not, with what to use instead. */
static const struct {
    const char *name, *instead;
    bool wants_value;
} others[] = {
    {"http", "clear serve --http HOST:PORT serves runs, with flame graphs and pprof's own addresses", true},
    {"no_browser", "it belongs to -http; clear serve opens no browser", false},
    {"web", "write the picture with -svg -o FILE.svg and open that, or see clear serve", false},
    {"eog", "write the picture with -svg -o FILE.svg and open that", false},
    {"evince", "write the picture with -pdf -o FILE.pdf and open that", false},
    {"gv", "write the picture with -ps -o FILE.ps and open that", false},
    {"kcachegrind", "write it with -callgrind -o callgrind.out and open that", false},
};

static int refuse_other(const char *name, struct error *err) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0)
            return error_usage(err, "clear report has no -%s: %s", name, others[i].instead);
    return 1;
}

/* Does the option take the next word where there is no "="? */
static bool wants_value(const char *name) {
    const struct report_option *option = report_option_find(name);
    if (option) return option->kind != REPORT_BOOL && option->kind != REPORT_CHOICE;
    if (find_own(name)) return true;
    if (strcmp(name, "sort") == 0 || strcmp(name, "granularity") == 0) return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0) return others[i].wants_value;
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
    if (code > 0) code = refuse_other(name, err);
    return code <= 0 ? code : report_option_set(&command->options, &command->arena, name, value, err);
}

/* As it was written, with its dashes. */
static int unknown(const char *word, const char *name, struct error *err) {
    const char *nearest = report_option_nearest(name);
    int dashes = (int)strspn(word, "-"), size = (int)strcspn(word, "=");
    if (!nearest) return error_usage(err, "unknown option %.*s", size, word);
    return error_usage(err, "unknown option %.*s; did you mean %.*s%s?", size, word, dashes, word, nearest);
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
    for (char *dash = name; (dash = strchr(dash, '-'));)
        *dash = '_'; /* ours are --by-tag as well as -by_tag */
    const char *value = word[size] ? word + size + 1 : NULL;
    if (strcmp(name, "help") == 0 || strcmp(name, "h") == 0) return print_usage(command->name);
    if (!value && wants_value(name)) {
        if (*at + 1 == argc) return error_usage(err, "option %s needs a value", argv[*at]);
        value = argv[++*at];
    }
    int code = set_option(command, name, value, err);
    return code > 0 ? unknown(argv[spelled], name, err) : code;
}

/* "top", "peek=RE" */
static bool names_format(const char *word) {
    char *name = xstrdup(word);
    name[strcspn(name, "=")] = '\0';
    bool is_named = is_format(name);
    free(name);
    return is_named;
}

/* What stands on its own: first the report (or, for peek, its pattern), then targets. */
static int read_words(struct report_command *command, const struct words *words, struct error *err) {
    size_t first = 0;
    bool is_report = strcmp(command->name, "report") == 0;
    if (is_report && !command->format) {
        bool is_named = words->count && names_format(words->items[0]);
        if (is_named && set_format(command, words->items[first++], err) < 0) return -1;
    } else if (!is_report) {
        const struct report_format *format = report_formats;
        while (format->name && strcmp(format->name, command->name) != 0)
            format++;
        bool is_json = command->format && strcmp(command->format->name, "json") == 0 && format->write == report_text;
        if (command->format && !is_json) return error_usage(err, "clear %s is a report already", command->name);
        if (!is_json) command->format = format;
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
