/* bisect_report.h: what `clear bisect` prints: a line a commit as it goes, and the commit that it found. */
#ifndef CLEAR_CLI_HISTORY_BISECT_REPORT_H
#define CLEAR_CLI_HISTORY_BISECT_REPORT_H

#include <stdio.h>

#include "cli/history/bisect_runs.h"

struct bisect_report {
    const struct bisect_git *git;
    const struct bisect_runs *runs;
    FILE *live; /* where the lines go; NULL: nowhere */
};

/* One line: what was decided about a commit ("good", "bad", "skip"), its figure, and why it was skipped. `commit` NULL: it has no
 * runs. */
void bisect_print_commit(const struct bisect_report *report, const char *hash, const struct bisect_commit *commit,
                         const char *word, const char *why);

/* What was found. */
struct bisect_found {
    const char *first_bad; /* NULL: it is one of `possible` */
    const struct bisect_commits *possible;
    const struct bisect_commit *before, *after; /* runs that show the change; NULL: there are none */
};
/* The commit, its author and subject, and the figure before and after. */
int bisect_print_found(const struct bisect_report *report, const struct bisect_found *found, FILE *out,
                       struct error *err);
/* The same and every commit that was asked, as one JSON object. */
int bisect_print_json(const struct bisect_report *report, const struct bisect_found *found, FILE *out,
                      struct error *err);
/* What moved: doctor --diff of the runs before and after. `database` is the value of --db. */
int bisect_print_moved(const struct bisect_report *report, const struct bisect_found *found, struct db *db,
                       const char *database, struct error *err);
/* The commit again, below all that moved. */
void bisect_print_end(const struct bisect_found *found, FILE *out);

#endif
