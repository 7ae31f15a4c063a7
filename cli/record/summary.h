/* summary.h: prints the summary at the end of `clear profile`: how the program ended, what was recorded, what was
 * lost, and the commands to continue with. */
#ifndef CLEAR_CLI_SUMMARY_H
#define CLEAR_CLI_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/record/profile_options.h"
#include "ingest/record/collector.h"
#include "ingest/record/self_dumps.h"

struct summary {
    const struct profile_request *request;
    struct collector_totals totals;
    int64_t run_id, duration_ns;
    const char *output;     /* the run's directory; NULL: it is not written */
    const char *kind, *why; /* the kind that has most to say, and why (query/runs/telling_kind.h); NULL: the first */
    const struct self_dumps *dumps;
    const char *memory; /* as control_group_memory_text; NULL: it did not run out */
    int wait_status;    /* as from waitpid(2) */
    bool is_attached;   /* the processes ran before and run on: they have no exit status */
    bool is_by_perf;    /* of the target only CPU time is recorded, by perf */
};

/* Losses are always printed; the rest is not printed with --quiet. */
void summary_print(const struct summary *summary, FILE *out);

#endif
