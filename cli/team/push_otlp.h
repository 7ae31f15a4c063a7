/* push_otlp.h: sends runs to whoever takes OpenTelemetry's profiles: a Collector, Pyroscope, clear serve --receive. */
#ifndef CLEAR_CLI_TEAM_PUSH_OTLP_H
#define CLEAR_CLI_TEAM_PUSH_OTLP_H

#include "query/runs/run_set.h"

struct push_otlp {
    const char *url;               /* without a path: /v1development/profiles; user and password may stand in it */
    const char *token_file;        /* its first line goes as Authorization: Bearer; NULL: none */
    int64_t runs, profiles, bytes; /* that were sent; bytes as they went */
};

/* Sends each run in a request of its own, oldest id first; stops at the first that is not taken whole. A receiver that is busy is asked again for half a
 * minute. */
int push_otlp(struct push_otlp *push, struct db *db, const struct run_set *set, struct error *err);

#endif
