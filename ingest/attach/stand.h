/* stand.h: whether a thread stands where a call of dlopen can be made in it: outside of the allocator, the loader, standard input and
 * output, fork, exit and signal handlers, which may hold locks that the call would wait for. Its stack is walked by the call frame
 * information of the files; where the walk does not reach the thread's first function, the answer is no. */
#ifndef CLEAR_INGEST_ATTACH_STAND_H
#define CLEAR_INGEST_ATTACH_STAND_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"
#include "ingest/attach/running.h"

/* The name of the runtime's file in memory, by which it is found again. */
#define RUNTIME_FILE "libclear_rt.so"

struct stand;

/* Opens the files of the process's modules, which takes longest, before any thread is stopped. NULL with the error set. */
struct stand *stand_open(const struct running *running, struct error *err);
void stand_close(struct stand *stand); /* safe on NULL */

/* Whether a call may be made in place of that system call: it is none of the allocator's or the loader's. */
bool stand_is_call(long number);
/* The same of the thread, which is stopped at the entry of one. *why (static text, or NULL) says what it is in. */
bool stand_is_safe(struct stand *stand, pid_t thread, const struct user_regs_struct *registers, const char **why);

/* A frame of a stack that is walked while its thread runs on: what is found may be wrong, so whoever asks looks again whether the thread is where
 * it was. */
struct stand_frame {
    uint64_t pc; /* a return address, but for the first */
    /* Of the C library or of the runtime, without what their files put before a name: "pthread_mutex_lock". NULL: another module's, or nameless. */
    const char *function;
    bool is_libc, is_runtime;
};
/* Leaf first, as long as `seen` is true. */
void stand_walk(struct stand *stand, pid_t thread, const struct user_regs_struct *registers,
                bool (*seen)(void *context, const struct stand_frame *frame), void *context);

/* The function of the C library at that address, named in the same way; NULL: none, or it is nameless. */
const char *stand_function(const struct stand *stand, uint64_t address);

/* Whether functions of that name, in the C library, can be at the top of a stack: they call the kernel and hold nothing. For tests. */
bool stand_is_plain(const char *function);
/* Whether two names of functions of the C library are of one. For tests. */
bool stand_is_same(const char *name, const char *other);

#endif
