/* profile_target.h: what `clear profile` executes: a program, or one that it builds first from a source file. */
#ifndef CLEAR_CLI_PROFILE_PROGRAM_H
#define CLEAR_CLI_PROFILE_PROGRAM_H

#include "ingest/record/toolchain.h"

struct profile_target {
    char *program;    /* the file to execute */
    const char *name; /* what it is called: the last part of its path; a source's without its ending */
    char **
        arguments; /* NULL-terminated; the first is what the user wrote, or the name of what was built. The words themselves
                          stay the caller's, and the build's */
    struct build build; /* of a source: build.program is not NULL */
};

/* Finds, builds where it is a source file, and checks that it can be recorded. `words` are the user's. To be freed in any case. */
int profile_target_find(struct profile_target *target, char **words, struct error *err);
void profile_target_free(struct profile_target *target);

#endif
