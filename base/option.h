/* option.h: the options of a command, declared as tables of rows: names, the value they take, what they set, one or two
 * sentences of help. Reading a command line, --help, manual pages, shell completion and prompts all work from the rows.
 *
 * Rows stand in groups, each with a heading. Offsets count from a struct of the command: `option_group.offset` finds
 * the part of it that the rows of the group are about, so that a group can be shared by commands, and
 * `option_row.offset` the member. */
#ifndef CLEAR_BASE_OPTION_H
#define CLEAR_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What the member is, and how its text is read. */
enum option_type {
    OPTION_SWITCH,   /* bool: becomes true */
    OPTION_CHOICE,   /* int: becomes row->choice; one of several options for the same member */
    OPTION_TEXT,     /* const char *: the word itself, not copied */
    OPTION_COUNT,    /* int64_t from min to max, as base/number.h reads counts, ... */
    OPTION_DURATION, /* ... and durations */
    OPTION_INTEGER,  /* int64_t, digits only */
    OPTION_REAL,     /* double */
    OPTION_TAKE,     /* whatever row->take makes of the text */
    OPTION_HELP,     /* the command is not run: its help is wanted */
};

struct option_row {
    const char *name;      /* without the dashes */
    const char *parameter; /* of a URL, the same for all words of a choice; NULL: there is none */
    char letter;           /* -o; 0: there is none */
    enum option_type type;
    size_t offset;
    int64_t min, max;      /* of OPTION_COUNT and OPTION_DURATION (nanoseconds) */
    const char *choice_of; /* of OPTION_CHOICE: what is chosen, as in "sort" */
    int choice;            /* of OPTION_CHOICE: the value */
    const char *preset;    /* of OPTION_SWITCH, OPTION_INTEGER, OPTION_REAL: what option_preset sets; NULL: nothing */
    bool is_repeatable;    /* each use adds; of other options the last one counts */
    bool is_number;        /* -5 is this option with the value 5 */
    /* What help calls the value ("FILE", "on|off"); NULL: the option takes none. "[=FILE]": it may have one, behind "=". */
    const char *argument;
    const char *words; /* what shells offer for the value: words, or "<file>", "<run>", ... (cli/offer.h) */
    const char *help;  /* whole sentences, `code` in backquotes; NULL: it is read but not shown */
    /* Of OPTION_TAKE. `text` is NULL where no value was given. Gets what the group's offset points at. */
    int (*take)(void *into, const struct option_row *row, const char *text, struct error *err);
};

struct option_group {
    const char *heading;
    const struct option_row *rows; /* ends with a NULL name */
    size_t offset;
};

/* Every row of every group in turn:  for (struct option_walk walk = {.group = groups}; option_next(&walk);) ...
 * walk.row ... */
struct option_walk {
    const struct option_group *group; /* that of the row */
    const struct option_row *row;
};
bool option_next(struct option_walk *walk);

/* One option and the struct that it belongs to. */
struct option_place {
    const struct option_row *row; /* NULL: not found */
    void *into;                   /* that of its group */
};

struct option_reader {
    const struct option_group *groups; /* end with NULL rows */
    void *into;                        /* the command's struct */
    bool stops;                        /* options end at the first word that is none */
    /* As Go's flags: one dash is as good as two, - is as good as _, "=true" and "=false" of switches, no
     * abbreviations. */
    bool is_go;
    /* Rows that stand in no group, or NULL: the row is NULL where there is none of that name. */
    const struct option_row *(*more)(const char *name);
    /* What to say of an option that is not known, written with its dashes and without a value; NULL: nothing in
     * particular. May be NULL. */
    const char *(*advice)(const char *written);
};

/* Reads the options among argv[1] to argv[*count - 1] and leaves the other words there, in order, *count of them with
 * argv[0]; argv[*count] is NULL. 0; OPTION_WANTS_HELP; -1 with a usage error that shows the option as it was
 * written. */
enum { OPTION_WANTS_HELP = 1 };
int option_read(const struct option_reader *reader, int *count, char **argv, struct error *err);

/* The row of exactly this name. */
struct option_place option_find(const struct option_group *groups, void *into, const char *name);
/* Sets one option. `shown` is what messages call it, `text` NULL where there was no value. A value that is refused
 * changes nothing. */
int option_set(const struct option_place *place, const char *shown, const char *text, struct error *err);
/* Sets every member that has a preset to it. */
void option_preset(const struct option_group *groups, void *into);
/* Does the option need a value? */
bool option_takes_value(const struct option_row *row);
/* true, t, 1 and false, f, 0, as Go reads them. */
int option_bool(const char *shown, const char *text, bool *value, struct error *err);

#endif
