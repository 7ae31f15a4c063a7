/* team_options.h: what clear push, pull and store share: the address of the store, the project, and opening both. */
#ifndef CLEAR_CLI_TEAM_TEAM_OPTIONS_H
#define CLEAR_CLI_TEAM_TEAM_OPTIONS_H

#include "base/option.h"
#include "ingest/team/team.h"

struct team_options {
    const char *address, *project; /* NULL: not given */
};

/* The address: of the option (named in the message), else $CLEAR_STORE. NULL with a usage error. */
const char *team_address(const struct team_options *options, const char *option, struct error *err);
/* Whether the option or $CLEAR_STORE has an address. */
bool team_is_given(const struct team_options *options);
const char *team_project(const struct team_options *options);

#endif
