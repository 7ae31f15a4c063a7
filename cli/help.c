#include <string.h>

#include "cli/cli.h"
#include "cli/manual/usage.h"

struct help_options {
    bool complete;
};

static const struct option_row rows[] = {
    {"complete", .type = OPTION_SWITCH, .offset = offsetof(struct help_options, complete),
     .help = "Print the names of the commands, or the options of COMMAND, one a line: for shells."},
    {0},
};
const struct option_group help_options[] = {{"Output", rows, 0}, CLI_OPTIONS_END};

static void print_names(void) {
    for (const struct command *command = commands; command->name; command++)
        puts(command->name);
}

static void print_options(const struct command *command) {
    for (struct option_walk walk = {.group = command->options}; option_next(&walk);) {
        if (walk.row->letter && walk.row->help) printf("-%c\n", walk.row->letter);
        if (walk.row->help) printf("--%s\n", walk.row->name);
    }
}

int command_help(int argc, char **argv, struct error *err) {
    struct help_options options = {0};
    const struct command *command = NULL;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    if (argc > 1 && !(command = cli_find(argv[1], err))) return -1;
    if (cli_at_most(1, argc, argv, err) < 0) return -1;
    if (options.complete && command)
        print_options(command);
    else if (options.complete)
        print_names();
    else if (command)
        usage_print(command, stdout);
    else
        usage_print_all(commands, stdout);
    return 0;
}
