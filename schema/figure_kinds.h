/* figure_kinds.h: what a figure is: its name, unit, how it varies, what it is of. The rows of schema/views/figure_kinds.sql, by which runs are
 * sealed too, and of schema/report/figure_columns.sql, the columns of the doctor's tables. Read from the program, not from a file: they are
 * those of this clear. Kept until the process ends. */
#ifndef CLEAR_SCHEMA_FIGURE_KINDS_H
#define CLEAR_SCHEMA_FIGURE_KINDS_H

#include <stdbool.h>
#include <stddef.h>

enum figure_unit { FIGURE_COUNT, FIGURE_BYTES, FIGURE_NS, FIGURE_PERCENT, FIGURE_OWN_UNIT };

/* How a figure differs from run to run of the same program. */
enum figure_variation {
    FIGURE_EXACT,  /* hardly: what was allocated */
    FIGURE_LIVE,   /* by what threads had not yet freed when the run ended */
    FIGURE_EVENTS, /* a little, as counts of events do: commits of a cell */
    FIGURE_COUNTED, /* much, and by chance at least as counts of events do: operations of a lock that is polled, waits, samples */
    FIGURE_VARIES /* much: times */
};

struct figure_kind {
    const char *name;
    enum figure_unit unit;
    bool is_exact;   /* a program that does the same again has the same value: no statistics are needed */
    bool is_of_runs; /* whole runs have it */
    int importance;  /* in a list of what changed: 1 is first; 0: it is shown where it changed alone */
};

struct figure_column {
    const char *report, *section; /* "diff" or "doctor"; its section: "lock" */
    const char *code;             /* of a line below the findings of that code; "": a column */
    const char *name, *heading;
    enum figure_unit unit;
    enum figure_variation variation;
};

/* In the order in which they are shown; the last has the name NULL. */
const struct figure_kind *figure_kinds(void);
/* NULL: no figure of the view series is called so. */
const struct figure_kind *figure_kind_find(const char *name);
/* Likewise. */
const struct figure_column *figure_columns(void);

#endif
