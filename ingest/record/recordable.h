/* recordable.h: finds the program to record, and checks before it runs whether it can be recorded.
 *
 * The runtime is loaded by LD_PRELOAD. Programs that the loader preloads nothing into (static, setuid, musl), or whose
 * own runtime must come first (sanitizers), are refused with a usage error that says why and what to do. For a script,
 * its interpreter is checked. A static program that dumps by itself is accepted; its dumps are all that is recorded. */
#ifndef CLEAR_INGEST_RECORD_RECORDABLE_H
#define CLEAR_INGEST_RECORD_RECORDABLE_H

#include <stdbool.h>

#include "base/error.h"

/* The path of the program `name`: the name itself if it has a slash, else the first executable of that name in $PATH,
 * as execvp(3) finds it. NULL with a usage error; free() it. */
char *recordable_find(const char *name, struct error *err);

/* What perf alone can record: a program that nothing can be preloaded into. */
struct by_perf {
    bool is_accepted;  /* set by the caller: perf will sample it */
    bool takes_go;     /* set by the caller: clear itself may sample Go programs from outside (ingest/outside) */
    bool is_outside;   /* it is to: nothing is preloaded, or what is does not see the threads that Go makes */
    const char *what;  /* what the program is ("a statically linked Go program"); NULL: the runtime records it */
    bool must_be_bare; /* to preload the runtime would break it; else its children have it */
    bool
        is_go; /* with C code, where `what` is NULL: the runtime records what C does, and nothing of Go's own heap, locks and goroutines */
};

/* 0 where the program at `path` can be recorded, else -1 with the error set. `name` is the user's name for it, for
 * messages. */
int recordable_check(const char *path, const char *name, struct by_perf *by_perf, struct error *err);

/* Whether the file contains that text. A program that contains CLEAR_ALLOC_PROFILE can dump by itself. */
bool program_contains(const char *path, const char *text);
/* Whether it is an ELF program of Go. */
bool program_is_go(const char *path);
/* Whether the ELF file is loaded at its own addresses, without a load bias. */
bool program_is_fixed(const char *path);

#endif
