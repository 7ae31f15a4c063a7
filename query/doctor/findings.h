/* findings.h: what the files of query/doctor share: the findings of one run, and how they are printed. Private to query/doctor. */
#ifndef CLEAR_QUERY_DOCTOR_FINDINGS_H
#define CLEAR_QUERY_DOCTOR_FINDINGS_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/grid.h"
#include "base/wrap.h"
#include "query/doctor/doctor.h"
#include "query/profile/trace_filter.h"

/* The view `doctor` joins diagnoses of users, which are known to end once (diagnoses_check): reading them may take so long. */
#define DOCTOR_LOAD_NS INT64_C(120000000000)

/* One row of the view `doctor`. The report owns the texts. */
struct finding {
    const char *section, *code, *severity, *subject, *evidence, *trace_ids, *advice, *title;
    const char *brief,
        *unless;      /* the advice in short, in the language of the line, and when it is no fault; "" for none */
    int64_t number;   /* its place in the view, from 1: what --why takes */
    int64_t trace_id; /* the first of trace_ids, 0 for none */
    /* Where the subject is not the program's own code: the innermost frame that is; NULL: not so. The file and the library, the file name of the subject's
     * library, may be "", the line 0. Of a lock or what else is waited for (own_is_user) it is where its stack is not in the program's own code, which calls
     * own_callee there; else own_callee is the subject. */
    const char *own_function, *own_file, *own_callee, *library;
    int64_t own_line;
    bool own_is_user;
    double weight; /* what --by sorts by */
    bool shown;    /* set by doctor_add_finding */
};

struct doctor_report {
    FILE *out;
    int width; /* columns, see report_width */
    struct db *db;
    const struct doctor_options *options;
    struct trace_filter filter;
    struct pattern *peek; /* NULL without --peek */
    struct arena texts;
    struct finding *findings; /* section by section, the worst first */
    size_t count, capacity;
    size_t hidden;            /* findings that the filter removed */
    const char *unnamed_file; /* of doctor_find_unnamed; NULL: none */
    int64_t unnamed;          /* warnings of it */
};

/* style.c: an escape sequence of a terminal; "" in a report without colour. */
const char *doctor_style(const struct doctor_report *report, const char *code);
const char *doctor_bold(const struct doctor_report *report);
const char *doctor_plain(const struct doctor_report *report);
const char *doctor_severity_style(const struct doctor_report *report, const char *severity);

bool doctor_is_severe(const struct finding *finding); /* critical or warning */
bool doctor_is_saturation(const struct finding *finding);

/* findings.c: the findings that pass the filter, in the order of the view; those of the heap sorted by --by. */
int doctor_load(struct doctor_report *report, struct error *err);
/* The same without words (title, brief, unless are "") and own frames, which take most of the time where findings are many. */
int doctor_load_alone(struct doctor_report *report, struct error *err);
/* Fills in the words of these findings. */
int doctor_find_words(struct doctor_report *report, struct finding *const *findings, size_t count, struct error *err);
/* Sorts the findings by section, sections in the order of their worst finding. Kinds with the same loss or sampling become one
 * finding. */
void doctor_group_sections(struct doctor_report *report);

/* own_frames.c: fills in the program's own frame of these findings. */
int doctor_find_own(struct doctor_report *report, struct finding *const *findings, size_t count, struct error *err);
/* The same of one stack alone, whose place is own_callee; the other fields stay. */
int doctor_find_own_of(struct doctor_report *report, int64_t trace_id, struct finding *finding, struct error *err);
/* "read_config (app.c:41) in g_strdup [libglib-2.0.so.0]", of a lock "libsqlite3.so.0:db, used by save (app.c:7) in sqlite3_exec [libsqlite3.so.0]", with names
 * in full or as usual. Only where own_function is there. */
void doctor_add_own_name(struct buffer *out, const struct finding *finding, bool full);

/* unnamed.c: the binary without symbols that the first such warning of those shown is of. */
int doctor_find_unnamed(struct doctor_report *report, struct error *err);

/* figures.c: a table of findings of one section; the section of `first` decides its columns. */
void doctor_start_grid(const struct finding *first, struct grid *grid);
int doctor_add_finding(struct doctor_report *report, struct grid *grid, struct finding *finding, struct error *err);

/* verdict.c: how many findings there are, and of the worst where they are and what they cost. */
int doctor_print_verdict(struct doctor_report *report, struct error *err);

/* What of a line can be followed: its subject, a place in the source, who held a lock. From and to are bytes of its text. */
enum { DOCTOR_LINKS = 5 };
struct doctor_link {
    const char *what; /* subject, caller, place, holder */
    char *function;   /* or the name of the subject that is none */
    size_t from, to;
};
/* Zeroed at first; doctor_line_free it. */
struct doctor_line {
    struct buffer text;
    struct doctor_link links[DOCTOR_LINKS];
    size_t link_count;
};
/* "[1] lock hot-long, server:g_lock, at table.c:42, costs 0.9 s of 1.2 s of thread time, held for 0.5 s by save, table.c:50". */
int doctor_line_add(struct doctor_report *report, const struct finding *finding, struct doctor_line *line,
                    struct error *err);
/* The first line of a report; "no warnings: 3 notes (heap 2, lock 1)" where nothing is severe. */
int doctor_first_line(struct doctor_report *report, struct doctor_line *line, struct error *err);
void doctor_line_free(struct doctor_line *line);
/* The finding of that line; NULL where nothing is severe. */
const struct finding *doctor_worst(const struct doctor_report *report);

/* overview.c: the page that a run opens on, as one JSON object. */
int doctor_print_overview_json(struct doctor_report *report, struct error *err);
/* The line of one finding: severity, place and cost. */
int doctor_print_finding(struct doctor_report *report, const struct finding *finding, struct error *err);

/* section.c: the findings start to end - 1, all of one section: table, advice, and how many warnings are not shown. Nothing where all are notes
 * that are not shown, or healthy. */
int doctor_print_section(struct doctor_report *report, size_t start, size_t end, struct error *err);

/* calls.c: tables of functions, one for each kind of profile of the run, and callers and callees. */
bool doctor_wants_functions(const struct doctor_options *options);
int doctor_print_functions(struct doctor_report *report, struct error *err);
/* The tables of kinds without a diagnosis (CPU samples, goroutines), if the run has any; with `cpu_only` that of CPU samples alone. */
int doctor_print_undiagnosed(struct doctor_report *report, bool cpu_only, struct error *err);
int doctor_print_peek(struct doctor_report *report, struct error *err);
/* The same as rows of a JSON array that has begun; *separator is printed before the next row. */
int doctor_print_functions_json(struct doctor_report *report, const char **separator, struct error *err);
int doctor_print_peek_json(struct doctor_report *report, const char **separator, struct error *err);

/* why.c: the rule, the thresholds, the facts and the SQL behind the finding options->why; a number that no finding has is a usage error. */
int doctor_print_why(struct doctor_report *report, struct error *err);
int doctor_print_why_json(struct doctor_report *report, struct error *err);

/* head.c: the lines above the sections: what was run and how it ended, with the losses that are notes, which it removes from the
 * findings. And the lines below: the next commands. */
int doctor_print_head(struct doctor_report *report, struct error *err);
int doctor_print_next(struct doctor_report *report, struct error *err);

#endif
