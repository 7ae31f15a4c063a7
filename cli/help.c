#include <stdlib.h>
#include <string.h>

#include "base/wrap.h"
#include "cli/cli.h"
#include "cli/lists.h"
#include "cli/manual/roff.h"
#include "cli/manual/usage.h"
#include "cli/offer.h"
#include "cli/pager.h"
#include "schema/db.h"
#include "schema/schema.h"

struct help_command {
    const char *format;
    bool complete;
};

static const struct option_row rows[] = {
    {"format", .type = OPTION_TEXT, .offset = offsetof(struct help_command, format), .argument = "FORMAT",
     .words = "man bash zsh fish markdown",
     .help = "`man`: print a manual page. `bash`, `zsh`, `fish`: print the completion for that shell. `markdown`: "
             "print the "
             "options of a command as a table, or those under the headings that follow it."},
    {"complete", .type = OPTION_SWITCH, .offset = offsetof(struct help_command, complete),
     .help = "Print what the last of the words after `--` can be completed to: `clear help --complete -- query @h`."},
    {0},
};
const struct option_group help_options[] = {{"Output", rows, 0}, CLI_OPTIONS_END};

static int print_man(const char *name, struct error *err) {
    struct buffer page = {0};
    const struct command *command = NULL;
    int code = 0;
    if (!name || strcmp(name, "clear") == 0)
        roff_page(&page, "clear", 1, lists_entry);
    else if (strcmp(name, "clear.yaml") == 0)
        roff_page(&page, name, 5, lists_entry);
    else if (!(command = cli_find(name, err)))
        code = -1;
    else
        roff_command(&page, command, lists_entry);
    if (code == 0) fputs(buffer_text(&page), stdout);
    buffer_free(&page);
    return code;
}

static int print_markdown(int argc, char **argv, struct error *err) {
    if (argc < 2) return error_usage(err, "--format markdown needs a command");
    const struct command *command = cli_find(argv[1], err);
    return command ? usage_print_markdown(command, argv + 2, stdout, err) : -1;
}

static int print_format(const char *format, int argc, char **argv, struct error *err) {
    static const char *const shells[] = {"bash", "zsh", "fish"};
    if (strcmp(format, "man") == 0) return cli_at_most(1, argc, argv, err) < 0 ? -1 : print_man(argv[1], err);
    if (strcmp(format, "markdown") == 0) return print_markdown(argc, argv, err);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(format, shells[i]) != 0) continue;
        char *path = xasprintf("cli/completion/clear.%s", format);
        fputs(embedded_text(path), stdout);
        free(path);
        return cli_at_most(0, argc, argv, err);
    }
    return error_usage(err, "--format must be man, bash, zsh, fish or markdown, not '%s'", format);
}

static bool is_command(const char *name) {
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0) return true;
    return false;
}

/* The rows of the advice for a diagnosis: SECTION-CODE, or CODE where several sections may have one. 1: it was printed; 0: there is none. */
static int print_diagnosis(const char *name, struct error *err) {
    struct db db = {0};
    if (db_open(&db, ":memory:", DB_WRITE, err) < 0) return -1;
    sqlite3_stmt *row = db_prepare(&db, embedded_text("manual/advice.sql"), err);
    if (row) db_bind_text(row, ":name", name);
    int code = -1, printed = 0;
    int width = report_width(stdout);
    while (row && (code = db_step(&db, row, err)) == 1) {
        pager_start();
        if (!*db_text(row, 1)) {
            printf("%s%s (%s): %s\n\n", printed ? "\n" : "", db_text(row, 0), db_text(row, 3), db_text(row, 4));
            wrap_print(stdout, width, "  ", db_text(row, 5));
            printf("\n  In short:\n");
        }
        char *line = xasprintf("%s%s%s", db_text(row, 1), *db_text(row, 1) ? ": " : "", db_text(row, 2));
        wrap_print(stdout, width, "    ", line);
        free(line);
        printed = 1;
    }
    struct error ignored = {0};
    db_close(&db, &ignored);
    return code < 0 ? -1 : printed;
}

int command_help(int argc, char **argv, struct error *err) {
    struct help_command options = {0};
    const struct command *command = NULL;
    if (cli_options(&argc, argv, &options, err) < 0) return -1;
    if (options.complete) return offer_print(argc - 1, argv + 1);
    if (options.format) return print_format(options.format, argc, argv, err);
    int diagnosis = argc == 2 && !is_command(argv[1]) ? print_diagnosis(argv[1], err) : 0;
    if (diagnosis) return diagnosis < 0 ? -1 : 0;
    bool is_page = argc > 1 && strcmp(argv[1], "clear.yaml") == 0;
    if (argc > 1 && !is_page && !(command = cli_find(argv[1], err))) return -1;
    if (cli_at_most(1, argc, argv, err) < 0) return -1;
    pager_start();
    if (is_page)
        usage_print_page(argv[1], lists_entry, stdout);
    else if (command)
        usage_print(command, lists_entry, stdout);
    else
        usage_print_all(commands, stdout);
    return 0;
}
