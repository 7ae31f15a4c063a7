/* doctor.h: what is wrong with one run, as a report for people or as JSON: the rows of the view `doctor`, and where asked for
 * what each function costs and who calls whom. */
#ifndef CLEAR_QUERY_DOCTOR_DOCTOR_H
#define CLEAR_QUERY_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "query/runs/heap_by.h"
#include "schema/db.h"

struct doctor_options {
    int64_t run_id;
    int64_t top;     /* rows shown of each section; 0: all of them, notes too */
    bool has_top;    /* a person said so: then JSON keeps to it too */
    bool has_by;     /* heap findings in the order of `by`, and tables of functions */
    enum heap_by by; /* the figure of allocations that is meant */
    bool cumulative; /* tables of functions, sorted by what they and all they call cost */
    /* PCRE2, or NULL. focus and ignore narrow findings by the names in their stacks and their own, and functions by their
     * stacks; ignore wins. What was lost or sampled is always told. peek: callers and callees of the functions that match,
     * instead of the findings. */
    const char *focus, *ignore, *peek;
    bool colour;
};

/* What was not recorded, then section by section the worst first: figures, the top of the stack, one advice a code, and
 * the commands that export the evidence. No line of text is wider than 100 columns, except commands. */
int doctor_print(FILE *out, struct db *db, const struct doctor_options *options, struct error *err);

/* The same rows, and those that are not worth showing, as one JSON array: findings as in the view (evidence is an object and
 * trace_ids an array of integers), then rows whose section is "function" or "peek". */
int doctor_print_json(FILE *out, struct db *db, const struct doctor_options *options, struct error *err);

#endif
