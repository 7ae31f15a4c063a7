#include "cli/report/arguments.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run_or_file.h"
#include "cli/span_options.h"
#include "export/format.h"

static int set_format(struct report_command *command, const char *text, struct error *err) {
    if (command->format) return error_usage(err, "only one report at a time: %s or %s", command->format->name, text);
    command->format = report_format_find(text, &command->options.symbol, err);
    return command->format ? 0 : -1;
}

static int set_base(struct report_command *command, const char *value, bool is_diff, struct error *err) {
    if (command->target.bases.count && command->target.is_diff != is_diff)
        return error_usage(err, "base and diff_base exclude each other");
    command->target.is_diff = is_diff;
    if (*value) word_list_add(&command->target.bases, value);
    return 0;
}

/* ---- options of the command ---- */

#define AT(member) offsetof(struct report_command, member)

static int take_base(void *into, const struct option_row *row, const char *text, struct error *err) {
    return set_base(into, text, strcmp(row->name, "diff_base") == 0, err);
}

/* 0 and -1 are pprof's own default. */
static int take_seconds(void *into, const struct option_row *row, const char *text, struct error *err) {
    enum { SECONDS_MAX = 86400 };
    int64_t *seconds = (int64_t *)(void *)((char *)into + row->offset);
    bool is_unset = strcmp(text, "-1") == 0 || strcmp(text, "0") == 0;
    *seconds = 0;
    return is_unset ? 0 : cli_count(row->name, text, 1, SECONDS_MAX, seconds, err);
}

static int take_symbolize(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct report_command *command = into;
    (void)row;
    return address_naming_read(&command->target.naming, text, err);
}

static const struct option_row target_rows[] = {
    {"kind", .type = OPTION_TEXT, .offset = AT(target.kind), .argument = "KIND", .words = "<kind>",
     .help = "The kind of profile. Default: the first of heap, cpu, lock, ... that all runs have; of `clear top`, "
             "`tree`, `peek` "
             "and `list` the one that has most to say, as `auto` is."},
    {"base", .type = OPTION_TAKE, .take = take_base, .is_repeatable = true, .argument = "TARGET", .words = "<target>",
     .help = "Subtract this profile."},
    {"diff_base", .type = OPTION_TAKE, .take = take_base, .is_repeatable = true, .argument = "TARGET",
     .words = "<target>", .help = "Subtract this profile. Percentages are of its total."},
    {"buildid", .type = OPTION_TEXT, .offset = AT(target.overrides.build_id), .argument = "HEX",
     .help = "Build id of the program, in place of the profile's."},
    {0},
};

static const struct option_row output_rows[] = {
    {"output", .letter = 'o', .type = OPTION_TEXT, .offset = AT(output), .argument = "FILE", .words = "<file>",
     .help = "Write to FILE. Default: standard output (`-`)."},
    {"add_comment", .type = OPTION_TEXT, .offset = AT(target.overrides.comment), .argument = "TEXT",
     .help = "Append a comment to the profile."},
    {0},
};

/* -web: the report that another program shows. */
static int take_view(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct report_command *command = into;
    (void)text;
    command->view = prompt_view_find(row->name);
    return set_format(command, command->view->format, err);
}

static const struct option_row browser_rows[] = {
    {"http", .type = OPTION_TEXT, .offset = AT(http), .argument = "ADDRESS", .words = "127.0.0.1:6060 :0",
     .help = "Show the targets in the browser, served at this `HOST:PORT` or `:PORT`, as `clear web`."},
    {"no_browser", .type = OPTION_SWITCH, .offset = AT(no_browser),
     .help = "With `--http`: print the address, and open no browser."},
    {"web", .type = OPTION_TAKE, .take = take_view,
     .help = "Show the call graph in a web browser: `$BROWSER`, or the first that pprof would take."},
    {"eog", .type = OPTION_TAKE, .take = take_view, .help = "Show the call graph in eog."},
    {"evince", .type = OPTION_TAKE, .take = take_view, .help = "Show the call graph in evince."},
    {"gv", .type = OPTION_TAKE, .take = take_view, .help = "Show the call graph in gv."},
    {"kcachegrind", .type = OPTION_TAKE, .take = take_view, .help = "Show the calls in kcachegrind."},
    {0},
};

static const struct option_row tool_rows[] = {
    {"tools", .type = OPTION_TEXT, .offset = AT(options.tools), .argument = "DIRS", .words = "<directory>",
     .help =
         "Directories with objdump and addr2line: `DIR` or `NAME:DIR`, separated by commas. Default: `$PPROF_TOOLS`, "
         "then `PATH`."},
    {"symbolize", .type = OPTION_TAKE, .take = take_symbolize, .argument = "MODE",
     .words = "none local fastlocal remote force demangle=none demangle=full demangle=templates",
     .help = "Where names of addresses that have none come from: `none`; `local` binaries, the default; `fastlocal`, "
             "functions alone; "
             "`remote`, the server of a URL and no local binary. `force` names all anew. `demangle=none`, `full`, "
             "`templates`: the form of "
             "names. Several stand "
             "with colons between."},
    {0},
};

#define FETCH(member) offsetof(struct fetch_options, member)
static const struct option_row url_rows[] = {
    {"seconds", .type = OPTION_TAKE, .take = take_seconds, .offset = FETCH(seconds), .argument = "N",
     .help = "Ask the server to record for N seconds."},
    {"timeout", .type = OPTION_TAKE, .take = take_seconds, .offset = FETCH(timeout_s), .argument = "N",
     .help = "Wait at most N seconds for the answer. Default: 60, or 1.5 times the recording."},
    {"tls_ca", .type = OPTION_TEXT, .offset = FETCH(tls_ca), .argument = "FILE", .words = "<file>",
     .help = "Trust these certificate authorities (PEM) instead of the system's."},
    {"tls_cert", .type = OPTION_TEXT, .offset = FETCH(tls_cert), .argument = "FILE", .words = "<file>",
     .help = "Client certificate (PEM)."},
    {"tls_key", .type = OPTION_TEXT, .offset = FETCH(tls_key), .argument = "FILE", .words = "<file>",
     .help = "Key of the client certificate (PEM)."},
    {0},
};
#undef FETCH

/* ---- options that pprof has and a report has not ---- */

static int take_refused(void *into, const struct option_row *row, const char *text, struct error *err) {
    (void)into, (void)text;
    return error_usage(err, "clear report has no -%s: use -png or -svg, with -o FILE", row->name);
}

static const struct option_row refused_rows[] = {
    {.name = "jpg", .type = OPTION_TAKE, .take = take_refused},
    {.name = "jpeg", .type = OPTION_TAKE, .take = take_refused},
    {0},
};

const struct option_group report_options[] = {{"Target", target_rows, 0},
                                              {"Part of a run", span_options, AT(target.span)},
                                              {"Part of the base", base_span_options, AT(target.base_span)},
                                              {"Output", output_rows, 0},
                                              {"Other programs", browser_rows, 0},
                                              REPORT_OPTION_GROUPS(AT(options)),
                                              {"Tools", tool_rows, 0},
                                              {"URLs", url_rows, AT(target.fetch)},
                                              {"Refused", refused_rows, 0},
                                              CLI_WAREHOUSE_OR_STORE(report_command, target.db),
                                              CLI_OPTIONS_END};
#undef AT

/* ---- -top, -peek=RE: a format is an option too ---- */

static int take_format(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct report_command *command = into;
    char *whole = text ? xasprintf("%s=%s", row->name, text) : xstrdup(row->name);
    const char *kept = arena_text(&command->arena, whole, strlen(whole));
    free(whole);
    return set_format(command, kept, err);
}

const struct option_row *report_format_option(const char *name) {
    static struct option_row row;
    const struct report_format *format = report_format_named(name);
    if (!format) return NULL;
    row = (struct option_row){.name = format->name,
                              .type = OPTION_TAKE,
                              .take = take_format,
                              .argument = format->takes_pattern ? "REGEX" : NULL};
    return &row;
}

/* ---- the command line ---- */

/* "top", "peek=RE" */
static bool names_format(const char *word) {
    char *name = xasprintf("%.*s", (int)strcspn(word, "="), word);
    bool is_named = report_format_option(name) != NULL;
    free(name);
    return is_named;
}

/* clear top, clear peek REGEX: this report, or the same as JSON. `*first` is moved behind the pattern. */
static int read_short_name(struct report_command *command, char **words, int *first, struct error *err) {
    const struct report_format *format = report_format_named(command->name);
    bool is_json = command->format && command->format->table == REPORT_TABLE_JSON && format->table;
    if (command->view && !format->takes_pattern) return 0; /* clear top -web: the graph of the same */
    if (command->format && !is_json) return error_usage(err, "clear %s is already a report", command->name);
    if (!is_json) command->format = format;
    if (!format->takes_pattern) return 0;
    if (!words[*first])
        return error_usage(err, "clear %s needs a pattern, as in clear %s main", command->name, command->name);
    command->options.symbol = words[(*first)++];
    return 0;
}

/* Reads the words that are not options: first the report (or the pattern of peek), then targets. */
static int read_words(struct report_command *command, char **words, struct error *err) {
    int first = 1;
    if (strcmp(command->name, "report") != 0) {
        if (read_short_name(command, words, &first, err) < 0) return -1;
    } else if (!command->format && words[first] && names_format(words[first])) {
        if (set_format(command, words[first++], err) < 0) return -1;
    }
    for (; words[first]; first++)
        word_list_add(&command->target.targets, words[first]);
    return 0;
}

int report_command_read(struct report_command *command, int argc, char **argv, struct error *err) {
    command->name = argv[0];
    report_options_init(&command->options);
    command->options.sources = &command->target.sources;
    command->options.margin = strcmp(command->name, "top") == 0; /* clear report prints what pprof does */
    if (cli_options(&argc, argv, command, err) < 0 || read_words(command, argv, err) < 0) return -1;
    bool is_auto = command->target.kind && strcmp(command->target.kind, "auto") == 0;
    if (is_auto) command->target.kind = NULL;
    /* A sample type means the kind that has it. */
    command->target.opens_on_telling =
        (is_auto || strcmp(command->name, "report") != 0) && !*command->options.sample_index;
    command->target.normalize = command->options.normalize;
    if (command->options.normalize && !command->target.bases.count)
        return error_usage(err, "normalize needs a base: --base TARGET");
    if (base_span_options_check(&command->target.base_span, command->target.bases.count, err)) return -1;
    return span_options_check(&command->target.span, err);
}

void report_command_free(struct report_command *command) {
    report_target_close(&command->target);
    arena_free(&command->arena);
}
