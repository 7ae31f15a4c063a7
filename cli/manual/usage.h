/* usage.h: `clear COMMAND --help` and `clear help`: made from the table of commands, their options, and the manual's
 * texts. */
#ifndef CLEAR_CLI_MANUAL_USAGE_H
#define CLEAR_CLI_MANUAL_USAGE_H

#include <stdio.h>

#include "cli/manual/command.h"

/* What the command is for, two examples, its options by heading. Lines are as wide as the terminal, at most 100
 * columns. */
void usage_print(const struct command *command, manual_list *list, FILE *out);
/* A page of the manual that is of no command, `clear.yaml`, whole. */
void usage_print_page(const char *name, manual_list *list, FILE *out);
/* The options of the command as a Markdown table; with headings, only those of these groups. */
int usage_print_markdown(const struct command *command, char *const *headings, FILE *out, struct error *err);
/* All commands of the table by purpose, a line each: at most 24 lines of 80 columns. */
void usage_print_all(const struct command *commands, FILE *out);

#endif
