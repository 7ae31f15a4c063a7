/* wrap.h: running text in a report for people, broken into lines that fit the terminal, and are not too long to read. */
#ifndef CLEAR_BASE_WRAP_H
#define CLEAR_BASE_WRAP_H

#include <stdio.h>

enum { REPORT_WIDTH = 100, REPORT_WIDTH_MIN = 40 }; /* columns */

/* The columns of a report on `out`: those of a terminal, from REPORT_WIDTH_MIN to REPORT_WIDTH; off a terminal REPORT_WIDTH. */
int report_width(FILE *out);

/* Prints the words of `text`, each line after `indent` and at most `width` columns with it. A word that is longer has a line of its own. */
void wrap_print(FILE *out, int width, const char *indent, const char *text);

#endif
