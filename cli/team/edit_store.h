/* edit_store.h: clear tag, label, pin and rm of runs in a team's store, whose owner may do that. Each prints what it did. `option`: --db. */
#ifndef CLEAR_CLI_TEAM_EDIT_STORE_H
#define CLEAR_CLI_TEAM_EDIT_STORE_H

#include <stdbool.h>

#include "base/error.h"

/* `words` end with NULL: KEY=VALUE, or KEY= to remove the tag. */
int edit_store_tag(const char *option, char *set, char *const *words, struct error *err);
int edit_store_label(const char *option, char *set, const char *label, struct error *err); /* "": none */
int edit_store_pin(const char *option, char *set, const char *why, struct error *err);     /* NULL: not pinned */

struct edit_store_rm {
    bool is_forced, is_trial, is_json;
};
/* `sets` end with NULL. Several runs need --force or a trial. */
int edit_store_rm(const char *option, char *const *sets, const struct edit_store_rm *how, struct error *err);

#endif
