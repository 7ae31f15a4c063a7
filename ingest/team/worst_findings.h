/* worst_findings.h: what the doctor found in runs of a store when they were pushed: for clear store findings. */
#ifndef CLEAR_INGEST_TEAM_WORST_FINDINGS_H
#define CLEAR_INGEST_TEAM_WORST_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct findings_request {
    const char *project; /* NULL: all */
    int64_t last;        /* the newest runs of each project; 0: all */
    int64_t top;         /* the most rows; 0: all */
};

struct worst_findings {
    struct worst_finding {
        char *project, *section, *code, *severity, *subject;
        int64_t runs;       /* that have it, of those asked for */
        char run[37];       /* the newest of them */
        int64_t started_ns; /* its start, since the epoch */
    } * items;              /* the worst first, then what most runs have */
    size_t count;
};

/* A project that the store does not have is a usage error. worst_findings_free it, whatever it returns. */
int worst_findings_read(struct worst_findings *findings, const char *uri, const struct findings_request *request,
                        struct error *err);
void worst_findings_free(struct worst_findings *findings);

#endif
