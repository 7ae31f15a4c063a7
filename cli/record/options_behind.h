/* options_behind.h: words behind the target of `clear profile` that are spelled as its options. */
#ifndef CLEAR_CLI_OPTIONS_BEHIND_H
#define CLEAR_CLI_OPTIONS_BEHIND_H

#include "cli/record/profile_options.h"

/* argv[1] is the target, *argc words in all; after `is_over`, a "--" before the target, nothing is ours. Behind a source file, which
 * is no program that could have options of its own, what is exactly an option of `clear profile` up to "--" is read into the request and
 * taken out of argv. Behind a program it is the program's, and a line on standard error says how to mean it. */
int options_behind_target(struct profile_request *request, bool is_over, int *argc, char **argv, struct error *err);

#endif
