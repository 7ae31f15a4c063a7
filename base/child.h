/* child.h: what another program says, for tools such as objdump: started without a shell, read within limits. */
#ifndef CLEAR_BASE_CHILD_H
#define CLEAR_BASE_CHILD_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

struct child_limits {
    size_t output_max; /* bytes */
    int seconds;       /* from its start to its end */
};

enum child_end { CHILD_DONE, CHILD_MISSING, CHILD_FAILED };

/* Runs argv[0] (with PATH look-up where there is no slash in it; ends with NULL), with `input` as its standard input
 * where that is not NULL, and adds its standard output to `out`. CHILD_MISSING: there is no such program, and no error
 * is set. CHILD_FAILED, with the error set: it could not be started, ended otherwise than by exit(0) (the message has
 * the first line that it wrote to standard error), or went over a limit and was killed. Whatever happens, it is no more
 * when this returns. */
enum child_end child_read(const char *const *argv, const struct buffer *input, const struct child_limits *limits,
                          struct buffer *out, struct error *err);

#endif
