/* proc_lines.h: files of /proc, line by line, without memory of its own. */
#ifndef CLEAR_SHIM_PROC_LINES_H
#define CLEAR_SHIM_PROC_LINES_H

#include <stdbool.h>
#include <stdint.h>

enum { PROC_LINE = 1024 };

/* Calls `take` with each line; of one that is longer than the buffer with its beginning. `text`: PROC_LINE bytes. False: the file cannot be opened. */
bool proc_lines_each(const char *path, char *text, void (*take)(void *context, const char *line), void *context);
/* The number there, in lower case; `*at` is then behind it. */
uintptr_t proc_hex(const char **at);

#endif
