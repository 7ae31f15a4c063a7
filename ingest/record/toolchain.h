/* toolchain.h: builds a source file that is to be recorded, by the rule for its ending, in a private directory.
 *
 * A rule is a command with {source}, {output}, {directory} (of the source) and {build} (a private directory in which
 * the command runs, so that files that a compiler leaves are removed with it). It is split at blanks into arguments,
 * without a shell; '...' and "..." keep blanks. All paths are absolute. */
#ifndef CLEAR_INGEST_RECORD_TOOLCHAIN_H
#define CLEAR_INGEST_RECORD_TOOLCHAIN_H

#include <stdbool.h>

#include "ingest/record/private_dir.h"

struct build {
    struct private_dir directory; /* holds the compiler's output and `place` */
    char *place;                  /* {build} */
    char *source;                 /* absolute */
    char *name;                   /* of the program: the source's base name without its ending */
    char *program;                /* path of what was built */
};

/* The ending of a source file: ".c" of "x/name.c". NULL where there is no such file, it has no ending, or it is itself
 * a program (executable, and ELF or a #! script). Points into `name`. */
const char *toolchain_ending(const char *name);

/* The built-in rule for an ending; NULL for none. */
const char *toolchain_rule(const char *ending);
/* Its compiler and the flags that matter to a reader of the figures; "" for none. */
const char *toolchain_said(const char *ending);
/* Whether it is an ending of CLEAR's files, for which the user must set a rule. */
bool toolchain_needs_rule(const char *ending);

/* Builds. A relative command with a slash is relative to the directory `base`. When the compiler fails, its output is
 * copied to standard error, and that is a failure. Call build_remove in any case. */
int build_make(struct build *build, const char *source, const char *rule, const char *base, struct error *err);
void build_remove(struct build *build);

#endif
