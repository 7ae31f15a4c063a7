/* doctor.h: what is wrong with one run. Prints the findings, which are the rows of the view `doctor`, as a report for people or as
 * JSON; on request also what each function costs, or who calls whom. Nothing is written to `out` before the whole report is
 * made, so a failure (-1, the error is set) leaves it untouched. The caller owns everything it passes. */
#ifndef CLEAR_QUERY_DOCTOR_DOCTOR_H
#define CLEAR_QUERY_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "query/runs/heap_by.h"
#include "query/runs/run_together.h"
#include "schema/db.h"

struct doctor_options {
    int64_t run_id;
    const char *part;                    /* which part of the run this is (query/runs/run_part.h); NULL: all of it */
    const struct run_together *together; /* the run is several; NULL: it is one */
    int64_t top;                         /* rows shown of each section; 0: all of them, notes too */
    bool has_top;                        /* --top was given: JSON obeys it too */
    bool has_by;     /* --by was given: sort the heap's findings by `by`, and print tables of functions */
    enum heap_by by; /* which figure of allocations */
    bool cumulative; /* print tables of functions, sorted by their cost including their callees */
    /* PCRE2 patterns, or NULL. focus and ignore select findings by the names in their stacks and by their subject, and functions
     * by their stacks; ignore wins. Losses and sampling are always shown. peek: print callers and callees of the functions that
     * match, instead of the findings. */
    const char *focus, *ignore, *peek;
    int64_t why;     /* explain the finding of this number instead (doctor_print_why); 0: print the report */
    bool full_names; /* print names of functions as they are, not as usual_name writes them; JSON always does */
    bool colour;
    bool overview; /* JSON alone: the overview of the run instead */
    /* Is called once the report for people is written, where warnings that it shows are of code without symbols: the binary of the first, and how many are of
     * it. NULL: nobody is told. */
    void (*unnamed)(const char *file, int64_t warnings);
};

/* First what was not recorded, then the sections, the worst first: figures, the top of the stack, one advice per code, and the
 * commands that export the evidence. No line is wider than report_width() (base/wrap.h), except commands. */
int doctor_print(FILE *out, struct db *db, const struct doctor_options *options, struct error *err);

/* All rows, healthy ones too, as one JSON array: findings as in the view (evidence is an object, trace_ids an array of
 * integers), then rows whose section is "function" or "peek". With `overview` one object instead (docs/api.md): the verdict, a sentence, the
 * worst findings, the functions that cost most, the run before, and what happened over time. */
int doctor_print_json(FILE *out, struct db *db, const struct doctor_options *options, struct error *err);

#endif
