/* enter.h: one call of clear_rt_attach (ingest/segment.h) in a running process, by ptrace(2).
 *
 * One thread is stopped, at the entry of a system call, where it holds no lock that the call could wait for (stand.h); no other is. It makes
 * the calls that code.h describes, then the system call that it was about to make. No option of ptrace is set that would end the process
 * with the tracer, and at every step the thread has what it needs to go on by itself. */
#ifndef CLEAR_INGEST_ATTACH_ENTER_H
#define CLEAR_INGEST_ATTACH_ENTER_H

#include <stdint.h>

#include "base/error.h"
#include "ingest/attach/running.h"
#include "ingest/segment.h"

struct entering {
    const char *library;     /* the runtime's file; it is opened where the process has it not yet */
    uint64_t function;       /* clear_rt_attach in the process; 0: the library is to be opened */
    struct attach_call call; /* in: step and directory; out: the rest */
    int64_t held_ns;         /* out: how long the thread did not do its own work */
    uint32_t stops_refused;  /* out: system calls that were let go, because of where the thread stood */
};

/* 0, or -1 with the error set: then nothing has changed in the process. It takes 5 s at most, and as long as the loader of the process is
 * waited for. */
int enter(const struct running *running, struct entering *entering, struct error *err);

#endif
