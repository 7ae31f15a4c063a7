#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/cli.h"

static void print_names(void) {
    for (const struct command *command = commands; command->name; command++)
        puts(command->name);
}

/* Each option that a usage text mentions, once. Options are words "-x" or "--word" after a blank, bracket or comma. */
static void print_options(const char *usage) {
    struct buffer seen = {0};
    buffer_add_char(&seen, '\n');
    for (const char *at = usage; (at = strchr(at, '-')); at += strspn(at, "-")) {
        size_t dashes = strspn(at, "-");
        size_t length = dashes + strspn(at + dashes, "abcdefghijklmnopqrstuvwxyz-_");
        if (at == usage || !strchr(" [,\n", at[-1]) || length == dashes || (dashes == 1 && length != 2)) continue;
        char *line = xasprintf("\n%.*s\n", (int)length, at);
        if (!strstr(buffer_text(&seen), line)) {
            fputs(line + 1, stdout);
            buffer_add_text(&seen, line + 1);
        }
        free(line);
    }
    buffer_free(&seen);
}

int command_help(int argc, char **argv, struct error *err) {
    enum { COMPLETE = CLI_LONG };
    static const struct option longs[] = {{"complete", no_argument, NULL, COMPLETE}, {0}};
    bool complete = false;
    int option;
    while ((option = cli_option(argc, argv, "", longs, err)) != CLI_END) {
        if (option < 0) return -1;
        complete = true;
    }
    const struct command *command = NULL;
    if (optind < argc && !(command = cli_find(argv[optind++], err))) return -1;
    if (cli_no_more(argc, argv, err) < 0) return -1;
    if (complete && command)
        print_options(command->usage);
    else if (complete)
        print_names();
    else if (command)
        fputs(command->usage, stdout);
    else
        cli_print_help(stdout);
    return 0;
}
