/* lists.h: the lists of the manual that are made of tables: commands, formats, thresholds, codes. */
#ifndef CLEAR_CLI_LISTS_H
#define CLEAR_CLI_LISTS_H

#include "cli/manual/command.h"

/* A manual_list. "commands PURPOSE", "formats" (of clear export), "reports" (of clear report), "thresholds", "codes" (of
 * clear doctor). Another name is a bug. An entry is good until the next call. */
bool lists_entry(const char *name, size_t at, struct manual_entry *entry);

#endif
