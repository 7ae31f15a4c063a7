/* child.h: starts programs, and runs a tool such as objdump and reads its output, within limits. No shell is involved. */
#ifndef CLEAR_BASE_CHILD_H
#define CLEAR_BASE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/sanitized.h"

enum child_group {
    CHILD_OURS,  /* Ctrl-C reaches it too */
    CHILD_GROUP, /* a process group of its own: Ctrl-C does not reach it */
    CHILD_SESSION
};

/* How a program is started. */
struct child_start {
    const char *const *argv; /* argv[0] is looked up in PATH if it has no slash; ends with NULL */
    const char *program;     /* NULL: argv[0] */
    const char *directory;   /* NULL: ours */
    int files[3];            /* standard input, output and error; the caller closes his */
    enum child_group group;
    size_t memory_max;       /* bytes of its address space; 0: no limit */
    const sigset_t *blocked; /* its mask of signals; NULL: an empty one, and the usual disposition of SIGPIPE */
};

/* 0 or an errno. */
int child_start(const struct child_start *start, pid_t *pid);
/* Kills it, and where it has a group of its own all of that, and waits for it. The status of waitpid, -1: it was waited for before. */
int child_kill(pid_t pid, enum child_group group);
/* Reads once what is there. At most `max` bytes are kept in all, `total` counts the others too. Closes the end at the end of the output. */
void child_take(int *end, struct buffer *out, size_t max, size_t *total);
/* Closes what is open, and notes it: -1. */
void child_close(int *end);

/* For a command of clear that works on what strangers may have written. A sanitizer maps more than any limit. */
#if IS_SANITIZED
#define CHILD_MEMORY_MAX ((size_t)0)
#else
#define CHILD_MEMORY_MAX ((size_t)3 << 30)
#endif

struct child_limits {
    size_t output_max; /* bytes */
    int seconds;       /* run time */
    size_t memory_max; /* as above */
    enum child_group group;
};

enum child_end { CHILD_DONE, CHILD_MISSING, CHILD_FAILED };

/* Runs argv[0], which is looked up in PATH if it has no slash; `argv` ends with NULL. `input` is its standard input;
 * NULL: none. Its standard output is added to `out`.
 *   CHILD_DONE      it ended with exit(0)
 *   CHILD_MISSING   there is no such program; no error is set
 *   CHILD_FAILED    the error is set: it could not be started, ended in another way (the message has its first line of
 *                   standard error), or exceeded a limit and was killed
 * The child has ended when this returns. */
enum child_end child_read(const char *const *argv, const struct buffer *input, const struct child_limits *limits,
                          struct buffer *out, struct error *err);

/* A file that is open for reading and holds the whole input, from its beginning; without input /dev/null. With pipes in both directions
 * each side could wait for the other. The caller closes it. -1 with errno set: it could not be made, or not hold all. */
int child_input(const struct buffer *input);

/* The path of a program in a list of directories with colons such as PATH; free() it. NULL: it is in none of them. */
char *child_find(const char *name, const char *directories);

#endif
