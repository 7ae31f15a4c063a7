/* wrap.h: running text in a report for people, broken into lines of at most REPORT_WIDTH columns of a terminal. */
#ifndef CLEAR_BASE_WRAP_H
#define CLEAR_BASE_WRAP_H

#include <stdio.h>

enum { REPORT_WIDTH = 100 }; /* columns */

/* Prints the words of `text`, each line after `indent`. A word that is longer than a line has a line of its own. */
void wrap_print(FILE *out, const char *indent, const char *text);

#endif
