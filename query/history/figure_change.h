/* figure_change.h: what changed between two sets of runs of one command, figure by figure. Pure functions; they cannot fail.
 *
 * A figure that varies is tested by Welch's t test (query/diff/noise.h), and the limit of p takes into account how many figures are
 * tested. A figure that is the same in all runs of each side has no noise, so every difference is a change. */
#ifndef CLEAR_QUERY_HISTORY_FIGURE_CHANGE_H
#define CLEAR_QUERY_HISTORY_FIGURE_CHANGE_H

#include "query/diff/noise.h"
#include "schema/db.h"

enum figure_verdict {
    FIGURE_SAME,    /* the means are equal */
    FIGURE_NOISE,   /* they differ, but not more than by chance, or by less than the floor */
    FIGURE_UP,      /* a change */
    FIGURE_DOWN,    /* a change */
    FIGURE_UNKNOWN, /* they differ, and one run on each side says nothing about the noise */
};

struct figure_change {
    struct noise noise;
    enum figure_verdict verdict;
};

struct figure_limits {
    double floor_percent; /* a smaller difference of a figure that varies is not a change */
    double false_percent; /* the share of the changes that may be chance */
};
/* From the table rules: diff_floor_percent and diff_false_percent. */
int figure_limits_read(struct figure_limits *limits, struct db *db, struct error *err);

/* Judges changes whose `noise` is set, all of one comparison together. */
void figure_changes_judge(struct figure_change *changes, size_t count, const struct figure_limits *limits);

const char *figure_verdict_word(enum figure_verdict verdict); /* "same", "noise", "up", "down", "unknown" */

#endif
