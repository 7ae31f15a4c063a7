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
    const char *name, *heading;
    enum figure_unit unit;
    enum figure_variation variation;
    const char *profile_kind; /* it is recorded with profiles of this kind; "": with every run */
    int importance;           /* in a list of what changed: 1 is first; 0: it is shown where it changed alone */
    bool is_exact;            /* a program that does the same again has the same value: no statistics are needed */
    bool more_is_better;      /* of all others less is better, or neither */
    bool is_of_runs, is_of_functions;
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
/* Is it one of the sums that the table site_rows keeps: allocations and what is live? */
bool figure_is_of_sums(const char *name);
/* As figure_kinds. */
const struct figure_column *figure_columns(void);

#endif
