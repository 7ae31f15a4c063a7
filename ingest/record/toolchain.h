/* toolchain.h: a source file as the target: built by the rule of its ending, in a private directory of its own.
 *
 * A rule is a command with {source}, {output}, {directory} (the source's) and {build} (the private one, in which the command
 * runs, so that what a compiler leaves lying about goes with it). It is split at blanks into words without a shell; '...' and
 * "..." keep blanks together. All paths are absolute. */
#ifndef CLEAR_INGEST_RECORD_TOOLCHAIN_H
#define CLEAR_INGEST_RECORD_TOOLCHAIN_H

#include <stdbool.h>

#include "ingest/record/private_dir.h"

struct build {
    struct private_dir directory; /* of us alone: has the compiler's output, and … */
    char *place;                  /* … {build} */
    char *source;                 /* absolute */
    char *name;                   /* the program's: the source's without its ending */
    char *program;                /* what was built */
};

/* ".c" of "x/name.c": what `name` ends in where it is the name of a source file: it exists, has an ending, and is not itself a
 * program (executable, and ELF or a #! script). Else NULL. Points into `name`. */
const char *toolchain_ending(const char *name);

/* The rule of clear itself for such files; NULL for none. */
const char *toolchain_rule(const char *ending);
/* Is it an ending of CLEAR's own files, for which there is a rule only where the user set one? */
bool toolchain_needs_rule(const char *ending);

/* Builds. A command with a slash that is relative counts from `base`, a directory. A compiler that fails is a failure, after its output was copied to standard error. build_remove in any case. */
int build_make(struct build *build, const char *source, const char *rule, const char *base, struct error *err);
void build_remove(struct build *build);

#endif
