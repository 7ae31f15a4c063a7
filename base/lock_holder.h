/* lock_holder.h: which other process has a lock (fcntl(2)) on a file, for messages. */
#ifndef CLEAR_BASE_LOCK_HOLDER_H
#define CLEAR_BASE_LOCK_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a file, and the locks on them that matter. */
struct lock_range {
    int64_t start, end; /* the last byte */
    bool writers_only;
};

/* "python3, pid 4711", with the number of the others where there are several. NULL: nobody that can be seen has one (a process of another
 * machine or container), or there is no such file. The caller's own locks do not count. free() it. */
char *lock_holder(const char *path, const struct lock_range *range);
/* Whether files there can be locked at all: 0, or the errno of fcntl(2). A process of its own asks, because closing a file drops
 * all locks on it that the calling process has. */
int lock_failure(const char *path);

#endif
