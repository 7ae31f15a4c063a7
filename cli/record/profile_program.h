/* profile_program.h: finds the program that `clear profile` runs, or builds it from a source file. */
#ifndef CLEAR_CLI_PROFILE_PROGRAM_H
#define CLEAR_CLI_PROFILE_PROGRAM_H

#include "ingest/read/ingest.h"
#include "ingest/record/recordable.h"
#include "ingest/record/toolchain.h"

struct profile_target {
    char *program;    /* the file to execute */
    const char *name; /* the last part of its path; for a source file, without the suffix */
    char **
        arguments; /* NULL-terminated; [0] is the user's word, or the name of the built program. The words are the caller's */
    const char *built_by;   /* by the built-in rule: its compiler and flags; NULL: it was not */
    struct by_perf by_perf; /* what perf alone records of it, if anything */
    struct build build;     /* of a source file: build.program is not NULL */
};

/* Finds the target of the user's words (`has_perf`: perf will sample it; `takes_go`: a static Go program may be sampled from outside), builds it if it is a source file, and checks
 * that it can be recorded. 0, or -1 with the error set; free the target in both cases. */
int profile_target_find(struct profile_target *target, char **words, bool has_perf, bool takes_go, struct error *err);
/* What ingest needs to know of the program and its source. The texts are the target's. */
struct ingest_program profile_target_program(const struct profile_target *target);
void profile_target_free(struct profile_target *target);

#endif
