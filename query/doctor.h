/* doctor.h: the rows of the view `doctor` for one run, as a report for people or as JSON. */
#ifndef CLEAR_QUERY_DOCTOR_H
#define CLEAR_QUERY_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "schema/db.h"

struct doctor_options {
    int64_t run_id;
    int64_t top; /* findings shown of each section; 0: all of them, notes too */
    bool colour;
};

/* What was not recorded, then section by section the worst first: figures, the top of the stack, one advice a code, and
 * the commands that export the evidence. No line of text is wider than 100 columns, except commands. */
int doctor_print(FILE *out, struct db *db, const struct doctor_options *options, struct error *err);

/* Every row of the view, in its order, as one JSON array; evidence is an object and trace_ids an array of integers. */
int doctor_print_json(FILE *out, struct db *db, int64_t run_id, struct error *err);

#endif
