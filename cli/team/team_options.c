#include "cli/team/team_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const char *team_address(const struct team_options *options, const char *option, struct error *err) {
    const char *set = options->address ? options->address : getenv("CLEAR_STORE");
    /* clear store is about the database that the other commands read. */
    if ((!set || !*set) && strcmp(option, "--db") == 0 && cli_is_store(NULL)) set = cli_database(NULL);
    if (!set || !*set)
        error_usage(err, "give the address of the store: %s postgresql://HOST/DATABASE, or $CLEAR_STORE", option);
    else if (team_is_address(set))
        return set;
    else
        error_usage(err, "%s: the address of a store is postgresql://[USER@]HOST[:PORT]/DATABASE", option);
    return NULL;
}

bool team_is_given(const struct team_options *options) {
    const char *set = options->address ? options->address : getenv("CLEAR_STORE");
    return set && *set;
}

const char *team_project(const struct team_options *options) {
    return cli_project_or(options->project);
}
