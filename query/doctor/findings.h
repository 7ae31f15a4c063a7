/* findings.h: what the files of the doctor share: the findings of one run, and how they look. Private to them. */
#ifndef CLEAR_QUERY_DOCTOR_FINDINGS_H
#define CLEAR_QUERY_DOCTOR_FINDINGS_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/grid.h"
#include "base/wrap.h"
#include "query/doctor/doctor.h"
#include "query/profile/trace_filter.h"

/* One row of the view `doctor`. Texts are the report's. */
struct finding {
    const char *section, *code, *severity, *subject, *evidence, *trace_ids, *advice, *title;
    int64_t trace_id; /* the first of trace_ids, 0 for none */
    double weight;    /* what --by sorts by */
    bool shown;       /* set by doctor_add_finding */
};

struct doctor_report {
    FILE *out;
    struct db *db;
    const struct doctor_options *options;
    struct trace_filter filter;
    struct pattern *peek; /* NULL where nothing is asked for */
    struct arena texts;
    struct finding *findings; /* section by section, the worst first */
    size_t count, capacity;
    size_t hidden; /* left out by the filter */
};

/* An escape sequence, or nothing where the report has no colour. */
const char *doctor_style(const struct doctor_report *report, const char *code);
const char *doctor_bold(const struct doctor_report *report);
const char *doctor_plain(const struct doctor_report *report);

bool doctor_is_severe(const struct finding *finding); /* critical or warning */
bool doctor_is_saturation(const struct finding *finding);

/* findings.c: the findings that the options leave, in the order of the view, those of the heap by --by. */
int doctor_load(struct doctor_report *report, struct error *err);
/* Brings each section's findings together; sections stay in the order of their worst finding, which is the view's. Kinds that were
 * lost or sampled alike become one finding. */
void doctor_group_sections(struct doctor_report *report);

/* figures.c: a table of findings of one section: `first` tells which columns it has. */
void doctor_start_grid(const struct finding *first, struct grid *grid);
int doctor_add_finding(struct doctor_report *report, struct grid *grid, struct finding *finding, struct error *err);

/* section.c: findings start..end-1, which are all of one section: table, advice, what was left out. */
int doctor_print_section(struct doctor_report *report, size_t start, size_t end, struct error *err);

/* calls.c: tables of functions, one for each kind of profile of the run, and who calls whom. */
bool doctor_wants_functions(const struct doctor_options *options);
int doctor_print_functions(struct doctor_report *report, struct error *err);
/* Those of the kinds that no diagnosis speaks of (CPU samples, goroutines), where there are any. */
int doctor_print_undiagnosed(struct doctor_report *report, struct error *err);
int doctor_print_peek(struct doctor_report *report, struct error *err);
/* The same as rows of a JSON array that has begun; *before stands before the next row. */
int doctor_print_functions_json(struct doctor_report *report, const char **before, struct error *err);
int doctor_print_peek_json(struct doctor_report *report, const char **before, struct error *err);

/* head.c: what was run and how it went, with the losses that are notes, which leave the findings by that; and the
 * commands that go on from here. */
int doctor_print_head(struct doctor_report *report, struct error *err);
int doctor_print_next(struct doctor_report *report, struct error *err);

#endif
