/* run_values.h: figures of runs, read from the view series. */
#ifndef CLEAR_QUERY_HISTORY_RUN_VALUES_H
#define CLEAR_QUERY_HISTORY_RUN_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/db.h"

/* The totals of some runs. A zeroed struct is empty; run_values_free it. */
struct run_values {
    char **figures; /* in the order of the view */
    size_t figure_count;
    int64_t *runs;
    size_t run_count;
    double *values; /* values[run * RUN_VALUES_MAX + figure]; NAN: the run did not record it */
};
enum { RUN_VALUES_MAX = 64 };

/* Adds a run with its totals. */
int run_values_add(struct run_values *values, struct db *db, int64_t run_id, struct error *err);
/* The value of a figure in the run of that index; NAN: it was not recorded. */
double run_values_get(const struct run_values *values, const char *figure, size_t run);
/* Those of all runs that recorded it, in their order; room for run_count of them. The number of values. */
size_t run_values_of(const struct run_values *values, const char *figure, double *into);
void run_values_free(struct run_values *values);

/* Is it a figure of the view series, or a slip of the pen? A usage error that lists those of a whole run, or of subjects where `of` is
 * neither NULL nor empty. Needs no run, so that it can be asked before the first one. */
int figure_check(const char *figure, const char *of, struct error *err);

/* The value of a figure in a run: of the whole run if `of` is NULL or empty, else the sum over the subjects that the GLOB `of`
 * matches. 1: it was read; 0: the run did not record the figure; -1: the error is set. */
int run_value(struct db *db, int64_t run_id, const char *figure, const char *of, double *value, struct error *err);

#endif
