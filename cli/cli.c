#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/number.h"
#include "cli/advice.h"
#include "cli/lists.h"
#include "cli/manual/usage.h"
#include "cli/pager.h"

/* ---- options ---- */

static int take_config(void *into, const struct option_row *row, const char *path, struct error *err) {
    (void)into;
    (void)row;
    return cli_load_config(path, err);
}

static int take_limit(void *into, const struct option_row *row, const char *text, struct error *err) {
    int64_t bytes;
    (void)into;
    (void)row;
    if (cli_bytes("--limit", text, 0, INT64_MAX / 2, &bytes, err) < 0) return -1;
    limit_set(bytes);
    return 0;
}

const struct option_row cli_warehouse_options[] = {
    {"db", .type = OPTION_TEXT, .argument = "FILE", .words = "<file>",
     .help = "The warehouse. Default: `$CLEAR_DB`, then `database` in the configuration, then `runs.sqlite`."},
    {0},
};

static int take_project(void *into, const struct option_row *row, const char *name, struct error *err) {
    (void)into;
    (void)row;
    (void)err;
    cli_set_project(name);
    return 0;
}

const struct option_row cli_editable_options[] = {
    {"db", .type = OPTION_TEXT, .argument = "FILE", .words = "<file>",
     .help = "The warehouse, or a team's store of which you are the owner, `postgresql://HOST/DATABASE`. Default: "
             "`$CLEAR_DB`, then `database` in the configuration, then `runs.sqlite`."},
    {"project", .type = OPTION_TAKE, .take = take_project, .argument = "NAME",
     .help = "The project of the store. Default: `$CLEAR_PROJECT`, then `default`."},
    {0},
};

static int take_runs(void *into, const struct option_row *row, const char *set, struct error *err) {
    (void)into;
    (void)row;
    (void)err;
    cli_set_runs(set);
    return 0;
}

const struct option_row cli_warehouse_or_store_options[] = {
    {"db", .type = OPTION_TEXT, .argument = "FILE", .words = "<file>",
     .help = "The warehouse, or a team's store, `postgresql://HOST/DATABASE`. Default: `$CLEAR_DB`, then "
             "`database` in the configuration, then `runs.sqlite`."},
    {"project", .type = OPTION_TAKE, .take = take_project, .argument = "NAME",
     .help = "The project of the store. Default: `$CLEAR_PROJECT`, then `default`."},
    {"runs", .type = OPTION_TAKE, .take = take_runs, .argument = "SET",
     .help = "Of a store: the runs that the command sees beside those that it names, such as `last=20`."},
    {0},
};

const struct option_row cli_general_options[] = {
    {"config", .type = OPTION_TAKE, .take = take_config, .argument = "FILE", .words = "<file>",
     .help = "The configuration. Default: `clear.yaml` in this directory or the nearest one above it, then "
             "`~/.config/clear/clear.yaml`."},
    {"limit", .type = OPTION_TAKE, .take = take_limit, .argument = "SIZE", .words = "1G 4G 0",
     .help = "Largest size of one input file after decompression, and of one report or response: `2G`. Default: 512 "
             "MiB. 0: no limit."},
    {"help", .letter = 'h', .type = OPTION_HELP, .help = "Print this help."},
    {0},
};

static const struct command *command_called(const char *name) {
    const struct command *command = commands;
    while (strcmp(command->name, name) != 0)
        command++;
    return command;
}

/* Help works even if the configuration is wrong. */
static bool needs_config(const struct command *command) {
    return command->purpose != COMMAND_HELP;
}

/* A command with CLI_WAREHOUSE writes to a file, or sends one: it is refused before it does anything. */
static int check_database(const struct command *command, const void *options, struct error *err) {
    for (const struct option_group *group = command->options; group && group->rows; group++)
        if (group->rows == cli_warehouse_options)
            return cli_need_file(*(const char *const *)((const char *)options + group->offset), err);
    return 0;
}

static const char *advise(const char *written) {
    return advice_option(cli_reading(), written); /* which has no context */
}

int cli_options(int *argc, char **argv, void *options, struct error *err) {
    const struct command *command = command_called(argv[0]);
    const struct option_reader reader = {.groups = command->options,
                                         .into = options,
                                         .stops = command->stops,
                                         .is_go = command->is_go,
                                         .advice = advise,
                                         .more = command->more_options};
    cli_set_reading(command->name);
    int code = option_read(&reader, argc, argv, err);
    if (code == OPTION_WANTS_HELP) {
        pager_start();
        usage_print(command, lists_entry, stdout);
        return -1;
    }
    if (code || !needs_config(command)) return code;
    return cli_find_config(err) || check_database(command, options, err) ? -1 : 0;
}

int cli_at_most(int most, int argc, char **argv, struct error *err) {
    if (argc - 1 <= most) return 0;
    return error_usage(err, "unexpected argument '%s'", argv[most + 1]);
}

/* ---- numbers ---- */

int cli_count(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err) {
    return number_count(name, text, min, max, value, err);
}

int cli_bytes(const char *name, const char *text, int64_t min, int64_t max, int64_t *value, struct error *err) {
    return number_bytes(name, text, min, max, value, err);
}

int cli_duration(const char *name, const char *text, int64_t min_ns, int64_t max_ns, int64_t *ns, struct error *err) {
    return number_duration(name, text, min_ns, max_ns, ns, err);
}
