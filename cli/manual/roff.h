/* roff.h: manual pages for man(1), made from the texts of cli/manual and the tables of options. */
#ifndef CLEAR_CLI_MANUAL_ROFF_H
#define CLEAR_CLI_MANUAL_ROFF_H

#include "base/buffer.h"
#include "cli/manual/command.h"

/* Adds clear-NAME(1). */
void roff_command(struct buffer *out, const struct command *command, manual_list *list);
/* Adds a page that is no command's: clear (section 1) or clear.yaml (section 5). */
void roff_page(struct buffer *out, const char *name, int section, manual_list *list);

#endif
