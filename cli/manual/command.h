/* command.h: what is known of a command: its row in the table of cli/main.c. */
#ifndef CLEAR_CLI_MANUAL_COMMAND_H
#define CLEAR_CLI_MANUAL_COMMAND_H

#include <stdbool.h>

#include "base/error.h"
#include "base/option.h"

/* What a person wants when choosing a command; `clear help` groups them so. */
enum command_purpose {
    COMMAND_RECORD,
    COMMAND_LOOK,
    COMMAND_KEEP,
    COMMAND_ASK,
    COMMAND_MOVE,
    COMMAND_HELP,
    COMMAND_PURPOSES
};

extern const char *const command_purposes[COMMAND_PURPOSES]; /* "record", ... */

struct command {
    const char *name;
    int (*run)(int argc, char **argv, struct error *err);
    enum command_purpose purpose;
    const char *help; /* one line of at most 63 columns, no full stop */
    const char
        *together; /* `clear help` shows it on one line with its neighbours that have the same text; NULL: alone */
    const struct option_group *options;
    const char *arguments; /* by position, what shells offer for words that are no options (cli/offer.h) */
    bool stops;            /* options end at the first word that is none: the rest is a program's */
    bool is_go;            /* options as pprof's (base/option.h) */
    /* Options that are not in the table: the row of that name, good until the next call, or NULL. May be NULL. */
    const struct option_row *(*more_options)(const char *name);
};

/* A list that a line "@NAME" of the manual stands for, made of a table: formats, reports, ... Gives entry `at`, from 0;
 * false after the last one. */
struct manual_entry {
    const char *term, *text;
};
typedef bool manual_list(const char *name, size_t at, struct manual_entry *entry);

#endif
