/* advice.h: what to say to a user who writes what other tools, or other commands of clear, understand. */
#ifndef CLEAR_CLI_ADVICE_H
#define CLEAR_CLI_ADVICE_H

/* The command that does what `name` does elsewhere ("record", "annotate"), with its arguments; NULL: none is known. */
const char *advice_command(const char *name);

/* How `command` does what `option` (with its dashes) does elsewhere; NULL: nothing is known. */
const char *advice_option(const char *command, const char *option);

#endif
