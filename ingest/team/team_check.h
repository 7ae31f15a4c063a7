/* team_check.h: whether the names of a store are what their keys say, and whether its runs have all that they name. */
#ifndef CLEAR_INGEST_TEAM_TEAM_CHECK_H
#define CLEAR_INGEST_TEAM_TEAM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct team_check {
    int64_t wrong;   /* names that are others than their keys say */
    int64_t missing; /* names that are used, and not there once the wrong ones are deleted */
    struct team_check_run {
        char *project, uuid[37];
    } * runs; /* that lack names, in the order of projects and uuids */
    size_t run_count;
};

/* `repairs`: deletes the wrong names, and notes the runs that lack names, so that the next push of one of them brings these. Otherwise nothing is
 * changed. The owner of the tables may do both. team_check_free it, whatever it returns. */
int team_check(struct team_check *check, const char *uri, bool repairs, struct error *err);
void team_check_free(struct team_check *check);

#endif
