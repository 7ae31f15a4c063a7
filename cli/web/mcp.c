#include "serve/mcp/mcp.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

struct mcp_command {
    const char *db;
    char *directory; /* owned; NULL: it was not named */
    bool allows_profile;
};

/* The real path, which is the working directory from here on; NULL with the error set. free() it. */
static char *enter(const char *directory, struct error *err) {
    char *real = realpath(directory, NULL);
    if (real && chdir(real) == 0) return real;
    error_usage(err, "--directory %s: %s", directory, strerror(errno));
    free(real);
    return NULL;
}

/* At once, so that the configuration is looked for there. */
static int take_directory(void *into, const struct option_row *row, const char *text, struct error *err) {
    struct mcp_command *command = into;
    (void)row;
    free(command->directory);
    command->directory = enter(text, err);
    return command->directory ? 0 : -1;
}

#define AT(member) offsetof(struct mcp_command, member)

static const struct option_row rows[] = {
    {"directory", .type = OPTION_TAKE, .take = take_directory, .argument = "DIR", .words = "<directory>",
     .help = "The base directory: `--db` is relative to it, profiles outside of it are not read, source files only "
             "below it and the directory of the warehouse, and programs run in it. Default: this directory."},
    {"allow-profile", .type = OPTION_SWITCH, .offset = AT(allows_profile),
     .help = "Have the tool `profile`, which runs any program that the client names."},
    {0},
};
const struct option_group mcp_options[] = {
    {"Server", rows, 0}, CLI_WAREHOUSE_OR_STORE(mcp_command, db), CLI_OPTIONS_END};
#undef AT

static int check(const struct mcp_command *command, struct error *err) {
    if (cli_no_runs_of_file(command->db, cli_database(command->db), err)) return -1;
    if (!command->allows_profile || !cli_is_store(command->db)) return 0;
    return error_usage(err, "--allow-profile records into a file: give --db FILE, and clear push it");
}

int command_mcp(int argc, char **argv, struct error *err) {
    struct mcp_command command = {0};
    int code =
        cli_options(&argc, argv, &command, err) < 0 || cli_at_most(0, argc, argv, err) < 0 ? -1 : check(&command, err);
    if (code == 0 && !command.directory) code = (command.directory = enter(".", err)) ? 0 : -1;
    const char *named = code == 0 ? cli_config()->path : NULL;
    char *config = named ? realpath(named, NULL) : NULL;
    const struct mcp_source source = {.directory = command.directory,
                                      .db = command.db,
                                      .project = code == 0 && cli_is_store(command.db) ? cli_project() : NULL,
                                      .runs = cli_runs_of_store(),
                                      .config = config ? config : named,
                                      .allows_profile = command.allows_profile};
    if (code == 0) code = mcp_run(&source, STDIN_FILENO, STDOUT_FILENO, err);
    free(config);
    free(command.directory);
    return code;
}
