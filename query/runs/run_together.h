/* run_together.h: judges several runs as one. Their profiles and processes become those of one run in temporary tables of this connection, its facts
 * (schema/facts.h) are made there, and all views read those instead of the file's: from then on there is only that run.
 *
 * Its duration is the sum of theirs. All begin at the same moment, so a time is one since the start of its own run. What is said of a process, such
 * as its peak and what grows in its life, is still said of one process. A lock, what else threads wait for, and a cell are the same in two
 * runs where name, stack and program are; of several the nth by address. */
#ifndef CLEAR_QUERY_RUNS_RUN_TOGETHER_H
#define CLEAR_QUERY_RUNS_RUN_TOGETHER_H

#include "base/buffer.h"
#include "query/runs/run_set.h"

struct run_together {
    int64_t run_id;          /* the id that stands for all of them, of the oldest */
    struct buffer title;     /* "runs 1 to 20 (20 runs), together" */
    struct buffer exits;     /* how they ended: "exit 0 in 19 runs, signal 9 in 1"; empty: not known */
    struct buffer condition; /* of these runs in the file, for a WHERE: "run_id IN (1,2,7)" */
};

/* Once a connection. All runs must be of one file, and either all recorded or all ingested, else it is a usage error. `name` is the set in the words of
 * the user: the title has it where ids of runs mean nothing to him. `made` is zeroed at first; run_together_free it. */
int run_together_shadow(const struct run_list *runs, const char *name, struct run_together *made, struct error *err);
void run_together_free(struct run_together *made);

#endif
