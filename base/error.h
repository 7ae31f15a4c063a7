/* error.h: how a function below the command line says what went wrong.
 *
 * A function that can fail takes `struct error *err` last and returns 0, or -1 with the error set. Only cli/ prints
 * errors and chooses exit statuses. There are three verbs for trouble, and no others:
 *   usage    the caller asked for something that cannot be: exit 2, one line that says what to do instead
 *   failure  the world did not cooperate (file, row, disk): exit 1, everything rolled back, half-made files removed
 *   bug      clear itself is wrong: abort with the place, so that a core tells the rest
 * Running out of memory in the clear process itself is a failure that ends it at once: every write to the warehouse
 * stands in a transaction, so nothing half-done survives. (None of this is used inside the profiled program.) */
#ifndef CLEAR_BASE_ERROR_H
#define CLEAR_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

enum error_status { ERROR_NONE = 0, ERROR_FAILURE = 1, ERROR_USAGE = 2 }; /* the values are the exit statuses */

struct error {
    enum error_status status;
    char message[1024]; /* one line without a trailing newline; longer texts are cut with "..." */
};

/* Set the error and return -1, so that `return error_fail(err, ...)` is the whole failure path.
 * An error that is already set is kept: the first cause is the one worth reading. */
int error_fail(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_usage(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_vset(struct error *err, enum error_status status, const char *format, va_list args);
/* Put text before an error that is already set ("prod.pb.gz: "); returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

_Noreturn void bug_at(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define bug(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)

/* malloc and friends that never return NULL: they end the process with status 1 and a line on stderr. Free with
 * free(). */
void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, alloc_size(1, 2)));
void *xrealloc(void *block, size_t size) __attribute__((alloc_size(2)));
char *xstrdup(const char *text) __attribute__((malloc));
char *xasprintf(const char *format, ...) __attribute__((malloc, format(printf, 1, 2)));

#endif
