#include "query/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/target.h"
#include "export/encode.h"
#include "query/compare.h"
#include "query/profile_load.h"

/* A list of words from the command line. */
struct words {
    const char **items;
    size_t count;
};

struct report_command {
    const char *name; /* the command's: report, top, peek, ... */
    const char *db, *kind, *output, *comment;
    const struct report_format *format;
    struct words targets, bases;
    bool is_diff;
    struct report_options options;
    struct sources sources;
    struct arena arena;
};

static void add_word(struct words *words, const char *word) {
    words->items = xrealloc(words->items, (words->count + 2) * sizeof *words->items);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
}

/* ---- options: as pprof's, with one dash or two, "=" or a word of its own ---- */

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
    if (command->bases.count && command->is_diff != is_diff)
        return error_usage(err, "base and diff_base exclude each other");
    command->is_diff = is_diff;
    if (*value) add_word(&command->bases, value);
    return 0;
}

/* 0, -1 with the error set, or 1: there is no such option. That goes for the functions below. */

/* Those that are about the command and not the report. */
static int set_own(struct report_command *command, const char *name, const char *value, struct error *err) {
    const struct {
        const char *name, **value;
    } texts[] = {{"db", &command->db},    {"kind", &command->kind},           {"output", &command->output},
                 {"o", &command->output}, {"add_comment", &command->comment}, {"tools", NULL},
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

static int print_help(const char *name) {
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
    if (strcmp(name, "help") == 0 || strcmp(name, "h") == 0) return print_help(command->name);
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
        add_word(&command->targets, words->items[first]);
    return 0;
}

static int read_arguments(struct report_command *command, int argc, char **argv, struct error *err) {
    struct words words = {0};
    int code = 0;
    for (int i = 1; i < argc && code == 0; i++) {
        if (strcmp(argv[i], "--") == 0) {
            while (++i < argc)
                add_word(&words, argv[i]);
        } else if (argv[i][0] == '-' && argv[i][1]) {
            code = read_option(command, argc, argv, &i, err);
        } else {
            add_word(&words, argv[i]);
        }
    }
    if (code == 0) code = cli_find_config(err);
    if (code == 0) code = read_words(command, &words, err);
    if (code == 0 && command->options.normalize && !command->bases.count)
        code = error_usage(err, "normalize needs a base to normalize by");
    free(words.items);
    return code;
}

/* ---- profiles ---- */

static int add_runs(struct db *db, const struct words *words, struct run_set *runs, struct error *err) {
    for (size_t i = 0; i < words->count; i++)
        if (run_set_add(runs, db, words->items[i], err) < 0) return -1;
    return words->count ? 0 : run_set_add(runs, db, "latest", err);
}

static int load(struct db *db, const struct words *words, char **kind, struct sources *sources, struct profile *profile,
                struct error *err) {
    struct run_set runs = {0};
    int code = add_runs(db, words, &runs, err);
    if (code == 0 && !*kind) code = profile_choose_kind(db, &runs, kind, err);
    if (code == 0) code = profile_load(profile, db, &runs, *kind, err);
    if (code == 0) code = sources_load(sources, db, &runs, err);
    run_set_free(&runs);
    return code;
}

/* Targets and bases are runs, or files, together: each word that is a file becomes the run that it was read into. */
static int open_targets(struct report_command *command, struct db *db, struct error *err) {
    size_t targets = command->targets.count, bases = command->bases.count;
    const char **names = xcalloc(targets + bases + 1, sizeof *names);
    for (size_t i = 0; i < targets + bases; i++)
        names[i] = i < targets ? command->targets.items[i] : command->bases.items[i - targets];
    int code = target_open(db, command->db, "", names, targets + bases, err);
    for (size_t i = 0; i < targets + bases; i++)
        *(i < targets ? &command->targets.items[i] : &command->bases.items[i - targets]) = names[i];
    free(names);
    return code;
}

static int subtract(struct report_command *command, struct db *db, char **kind, struct profile *profile,
                    struct error *err) {
    struct profile base;
    const struct compare_options options = {command->is_diff, command->options.normalize};
    if (!command->bases.count) return 0;
    if (load(db, &command->bases, kind, &command->sources, &base, err) < 0) return error_prefix(err, "base: ");
    int code = compare_subtract(profile, &base, &options, err);
    profile_free(&base);
    return code;
}

static int load_profile(struct report_command *command, struct db *db, struct profile *profile, struct error *err) {
    char *kind = command->kind ? xstrdup(command->kind) : NULL;
    int code = load(db, &command->targets, &kind, &command->sources, profile, err);
    if (code == 0) {
        code = subtract(command, db, &kind, profile, err);
        if (code == 0) code = report_finish_profile(profile, command->comment, err);
        if (code < 0) profile_free(profile);
    }
    free(kind);
    return code;
}

/* ---- writing ---- */

static void print_note(void *context, const char *message) {
    (void)context;
    fprintf(stderr, "clear: %s\n", message);
}

static int write_out(const struct report_command *command, const struct profile *profile, const struct buffer *out,
                     struct error *err) {
    const char *path = command->output;
    bool is_file = path && strcmp(path, "-") != 0;
    if (!is_file && (command->format->is_binary || command->format->is_profile) && isatty(STDOUT_FILENO))
        return error_usage(err, "%s is not for a terminal: give -o FILE", command->format->name);
    if (command->format->is_profile) return encode_write(profile, path ? path : "-", err);
    FILE *file = is_file ? fopen(path, "w") : stdout;
    if (!file) return error_fail(err, "%s: %s", path, strerror(errno));
    bool written = fwrite(out->size ? out->data : "", 1, out->size, file) == out->size;
    if (!is_file) return 0; /* main looks at standard output */
    if (fclose(file) != 0 || !written) {
        error_fail(err, "%s: %s", path, strerror(errno));
        (void)unlink(path);
        return -1;
    }
    return 0;
}

static int run(struct report_command *command, struct error *err) {
    struct db db;
    struct profile profile;
    struct buffer out = {0};
    if (open_targets(command, &db, err) < 0) return -1;
    int code = load_profile(command, &db, &profile, err);
    if (db_close(&db, err) < 0 && code == 0) {
        profile_free(&profile);
        code = -1;
    }
    if (code < 0) return -1;
    code = report_write(&profile, command->format, &command->options, &out, print_note, NULL, err);
    if (code == 0) code = write_out(command, &profile, &out, err);
    buffer_free(&out);
    profile_free(&profile);
    return code;
}

/* argv[0] says which report a short name is for. */
int command_report(int argc, char **argv, struct error *err) {
    struct report_command command = {.name = argv[0]};
    report_options_init(&command.options);
    command.options.sources = &command.sources;
    int code = read_arguments(&command, argc, argv, err);
    if (code == 0) code = run(&command, err);
    free(command.targets.items);
    free(command.bases.items);
    sources_free(&command.sources);
    arena_free(&command.arena);
    return code;
}

int command_top(int argc, char **argv, struct error *err) {
    return command_report(argc, argv, err);
}

int command_tree(int argc, char **argv, struct error *err) {
    return command_report(argc, argv, err);
}

int command_peek(int argc, char **argv, struct error *err) {
    return command_report(argc, argv, err);
}
