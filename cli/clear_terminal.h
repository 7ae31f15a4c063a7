/* clear_terminal.h: what a user of ncurses' clear(1) expects of a command of that name. */
#ifndef CLEAR_CLI_CLEAR_TERMINAL_H
#define CLEAR_CLI_CLEAR_TERMINAL_H

#include <stdbool.h>

/* Are these words nothing but options of clear(1): none, -x, -T TYPE, -TTYPE, or letters together such as -xT? */
bool clear_terminal_is_meant(int argc, char *const *argv);

/* Writes to standard output what clears the terminal `TYPE`, by default $TERM: the capability `clear` of its entry in
 * terminfo, then `E3`, which drops the scrollback, unless -x is given. Standard output need not be a terminal. Returns
 * the exit status: 0, or 1 if the type is not known, with a message. */
int clear_terminal(int argc, char *const *argv);

#endif
