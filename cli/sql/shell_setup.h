/* shell_setup.h: what the connection of `clear shell` gets before it asks: SQL statements, each an argument of its own to sqlite3.
 *
 * Nothing from the warehouse is read as a script, where a line that begins with a dot would be a command of the shell. Each statement
 * makes or fills something temporary, and is one statement. */
#ifndef CLEAR_CLI_SHELL_SETUP_H
#define CLEAR_CLI_SHELL_SETUP_H

#include "base/arena.h"
#include "base/buffer.h"
#include "schema/db.h"

struct shell_setup {
    struct db *db; /* set it before the rest */
    const char **statements;
    size_t count;
    struct arena texts;
    struct buffer views; /* names of the views made of saved queries, a blank before each */
};

/* The saved queries as views, thresholds, and the temporary views of db. Free it in any case. */
int shell_setup_make(struct shell_setup *setup, struct error *err);
void shell_setup_free(struct shell_setup *setup);

#endif
