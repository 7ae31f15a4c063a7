/* overview.h: what the files of the overview share. Private to query/doctor. */
#ifndef CLEAR_QUERY_DOCTOR_OVERVIEW_H
#define CLEAR_QUERY_DOCTOR_OVERVIEW_H

#include "query/doctor/findings.h"

struct overview {
    struct doctor_report *report;
    struct buffer *out;     /* the JSON object, without its end */
    bool has_first;         /* a list is there: `top` is of the first alone */
    bool has_cpu, has_lock; /* has_: the first list is of that */
    int64_t duration_ns, cpu_ns, alloc_count, alloc_bytes, lock_wait_ns,
        thread_ns; /* of the run; 0: none, or not known */
    struct buffer
        top; /* the first function of the first list, by its usual name, [unsampled] apart; empty: there is none */
    int64_t top_value;
    struct buffer
        samples; /* "goroutine: 8 in all": all of what another tool sampled, where the first list is of that */
    int64_t samples_total;
};

/* overview_functions.c: "functions": a list for each kind that says what the time or the memory went to; sets `top` and what it is of. */
int overview_add_functions(struct overview *overview, struct error *err);

/* overview_words.c: the sentence that says what the time, or what else was recorded, went to. */
void overview_note_samples(struct overview *overview, const char *type, const char *unit, int64_t total);
void overview_add_sentence(struct overview *overview);

/* overview_time.c: "series": CPU time by thread group, live bytes, waits and calls over the run; those that it has. */
int overview_add_series(struct overview *overview, struct error *err);

#endif
