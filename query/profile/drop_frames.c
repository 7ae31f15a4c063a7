#include "query/profile/drop_frames.h"

#include <string.h>

/* "[a-z]", "[^x]", "[]x]": copied, with what RE2 takes for more than a character escaped. Returns what comes after it. */
static const char *add_class(struct buffer *regex, const char *at) {
    const char *start = at + (at[1] == '^' ? 2 : 1);
    const char *end = strchr(*start == ']' ? start + 1 : start, ']');
    if (!end) { /* for GLOB such a pattern matches nothing, and for us a bracket */
        buffer_add_text(regex, "\\[");
        return at + 1;
    }
    buffer_add_text(regex, at[1] == '^' ? "[^" : "[");
    for (at = start; at < end; at++) {
        if (strchr("[]\\^", *at)) buffer_add_char(regex, '\\');
        buffer_add_char(regex, *at);
    }
    buffer_add_char(regex, ']');
    return end + 1;
}

/* pprof leaves these two parentheses in a name when it cuts the arguments off. */
static size_t reserved_length(const char *at) {
    static const char *const names[] = {"(anonymous namespace)", "operator()"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(at, names[i], strlen(names[i])) == 0) return strlen(names[i]);
    return 0;
}

void drop_pattern(struct buffer *regex, const char *glob) {
    bool in_arguments = false;
    while (*glob) {
        size_t reserved = reserved_length(glob);
        if (*glob == '[') {
            glob = add_class(regex, glob);
            continue;
        }
        if (*glob == '(' && !reserved && !in_arguments) {
            buffer_add_text(regex, "(?:");
            in_arguments = true;
        }
        for (const char *end = glob + (reserved ? reserved : 1); glob < end; glob++) {
            if (*glob == '*')
                buffer_add_text(regex, ".*");
            else if (*glob == '?')
                buffer_add_char(regex, '.');
            else {
                if (strchr("\\.+()|{}^$]", *glob)) buffer_add_char(regex, '\\');
                buffer_add_char(regex, *glob);
            }
        }
    }
    if (in_arguments) buffer_add_text(regex, ")?");
}

/* Wrappers from which a garbage collection, and so anybody's finalizer, can run. */
static const char *const reentrant[] = {"_PyObject_GC_*", "PyType_GenericAlloc*", NULL};

/* pprof removes a frame that matches and *all* that it calls, down to the leaf. So a pattern may only name functions that
 * call nothing but the allocator: std::vector's members call constructors, "heap.*alloc*" can be anything. What counts is
 * the pattern's shape: a plain C name, whole or up to a star at its end (malloc, g_malloc*), or operator new and delete. */
bool drop_is_safe(const char *glob) {
    for (size_t i = 0; reentrant[i]; i++)
        if (sqlite3_strglob(reentrant[i], glob) == 0) return false;
    if (strncmp(glob, "operator new", strlen("operator new")) == 0) return true;
    if (strncmp(glob, "operator delete", strlen("operator delete")) == 0) return true;
    size_t word = strspn(glob, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return word > 0 && (glob[word] == '\0' || strcmp(glob + word, "*") == 0);
}

int drop_frames(struct db *db, struct buffer *regex, struct error *err) {
    sqlite3_stmt *rows = db_prepare(db, "SELECT pattern FROM wrappers ORDER BY pattern", err);
    if (!rows) return -1;
    int code;
    while ((code = db_step(db, rows, err)) == 1) {
        if (!drop_is_safe(db_text(rows, 0))) continue;
        buffer_add_text(regex, regex->size ? "|" : "^(?:");
        drop_pattern(regex, db_text(rows, 0));
    }
    if (regex->size) buffer_add_text(regex, ")$");
    return code;
}
