/* error.h: how functions report errors.
 *
 * A function that can fail takes `struct error *err` last and returns 0, or -1 with the error set. Only cli/ prints
 * errors and chooses exit statuses. There are three kinds of errors:
 *   usage    the request is wrong: exit status 2, one line that says what to do instead
 *   failure  something outside of clear is wrong (file, row, disk): exit status 1, everything rolled back, incomplete
 *            files removed
 *   bug      clear is wrong: abort with the place, so that a core dump shows the rest
 * Running out of memory ends the process at once as a failure: every write to the warehouse is in a transaction, so
 * nothing incomplete stays. (None of this is used inside the profiled program.) */
#ifndef CLEAR_BASE_ERROR_H
#define CLEAR_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

enum error_status { ERROR_NONE = 0, ERROR_FAILURE = 1, ERROR_USAGE = 2 }; /* the values are the exit statuses */

struct error {
    enum error_status status;
    char message[1024]; /* one line without a trailing newline; longer texts are cut with "..." */
};

/* Set the error and return -1, so that `return error_fail(err, ...)` is the whole failure path. An error that is
 * already set is kept, because it is the first cause. */
int error_fail(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_usage(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_vset(struct error *err, enum error_status status, const char *format, va_list args);
/* Puts text in front of an error that is already set ("prod.pb.gz: "); returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "clear: " and one line on standard error. Control characters become visible: what is printed may hold names from a file. */
void error_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

_Noreturn void bug_at(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define bug(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)

/* Ends the process with status 1 and a line on stderr. 0: how much was wanted is not known, as of a library. */
_Noreturn void out_of_memory(size_t size);

/* malloc and so on that never return NULL: they end the process so. free() the result. */
void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, alloc_size(1, 2)));
void *xrealloc(void *block, size_t size) __attribute__((alloc_size(2)));
char *xstrdup(const char *text) __attribute__((malloc));
char *xasprintf(const char *format, ...) __attribute__((malloc, format(printf, 1, 2)));

#endif
