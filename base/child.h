/* child.h: runs a tool such as objdump and reads its output, within limits. No shell is involved. */
#ifndef CLEAR_BASE_CHILD_H
#define CLEAR_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

struct child_limits {
    size_t output_max; /* bytes */
    int seconds;       /* run time */
    size_t memory_max; /* bytes of its address space; 0: no limit */
    bool is_shielded;  /* in a process group of its own: Ctrl-C does not reach it */
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
