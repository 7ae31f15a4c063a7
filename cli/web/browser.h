/* browser.h: starts a program for a person, in a session of its own, so that ^C in the terminal does not reach it. */
#ifndef CLEAR_CLI_BROWSER_H
#define CLEAR_CLI_BROWSER_H

/* Starts `program OPTION WHAT`; `option` may be NULL. 0, or an errno value. */
int program_start(const char *program, const char *option, const char *what);
/* Opens a file or an address in $BROWSER or in one of the browsers that there are. 0, or an errno value. */
int browser_open(const char *what);

#endif
