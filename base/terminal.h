/* terminal.h: what is known of the terminal that output goes to. */
#ifndef CLEAR_BASE_TERMINAL_H
#define CLEAR_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Does a person read it: is it a terminal, or a pager on one? */
bool terminal_is_shown(FILE *out);
/* Its columns, at least 1; 0 if terminal_is_shown is false or the size is not known. */
int terminal_width(FILE *out);

/* From now on standard output is a pipe to a pager, on a terminal of that width. */
void terminal_set_paged(int width);

#endif
