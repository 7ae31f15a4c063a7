/* new_run_tags.h: the tags of new runs: --tag and `tags` of the configuration. */
#ifndef CLEAR_CLI_NEW_RUN_TAGS_H
#define CLEAR_CLI_NEW_RUN_TAGS_H

#include "base/option.h"
#include "ingest/writer/run_tags.h"

/* Of an OPTION_TAKE row whose offset is that of a struct run_tags: adds KEY=VALUE. */
int tags_take(void *into, const struct option_row *row, const char *text, struct error *err);
/* Adds the tags of the configuration whose key is not there yet. A value "auto" is git's answer; a tag without one is
 * left out. */
void tags_add_configured(struct run_tags *tags);
/* Adds those of the work tree (cli/git_tags.h), where no commit was given. */
void tags_add_git(struct run_tags *tags);

#endif
