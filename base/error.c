#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Messages repeat names from files: nothing in them is for a terminal to obey. */
static void make_visible(char *text) {
    for (size_t left = strlen(text); left; text++, left--) {
        if (*text == '\n' || !utf8_is_control(text, left)) continue;
        if ((unsigned char)*text == 0xc2) text[1] = '?';
        *text = '?';
    }
}

int error_vset(struct error *err, enum error_status status, const char *format, va_list args) {
    if (err->status != ERROR_NONE) return -1;
    err->status = status;
    int length = vsnprintf(err->message, sizeof err->message, format, args);
    if (length < 0) err->message[0] = '\0';
    if ((size_t)length >= sizeof err->message) memcpy(err->message + sizeof err->message - 4, "...", 4);
    make_visible(err->message);
    return -1;
}

int error_fail(struct error *err, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_vset(err, ERROR_FAILURE, format, args);
    va_end(args);
    return -1;
}

int error_usage(struct error *err, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_vset(err, ERROR_USAGE, format, args);
    va_end(args);
    return -1;
}

int error_prefix(struct error *err, const char *format, ...) {
    struct error old = *err;
    char prefix[512];
    va_list args;
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    err->status = ERROR_NONE;
    return old.status == ERROR_USAGE ? error_usage(err, "%s%s", prefix, old.message)
                                     : error_fail(err, "%s%s", prefix, old.message);
}

void error_print(const char *format, ...) {
    char *text;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) return;
    make_visible(text);
    fprintf(stderr, "clear: %s\n", text);
    free(text);
}

_Noreturn void bug_at(const char *file, int line, const char *format, ...) {
    fprintf(stderr, "clear: bug at %s:%d: ", file, line);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

_Noreturn void out_of_memory(size_t size) {
    if (size)
        fprintf(stderr, "clear: out of memory (%zu bytes wanted)\n", size);
    else
        fprintf(stderr, "clear: out of memory\n");
    exit(ERROR_FAILURE);
}

void *xmalloc(size_t size) {
    void *block = malloc(size ? size : 1);
    if (!block) out_of_memory(size);
    return block;
}

void *xcalloc(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block) out_of_memory(size);
    return block;
}

void *xrealloc(void *block, size_t size) {
    void *grown = realloc(block, size ? size : 1);
    if (!grown) out_of_memory(size);
    return grown;
}

char *xstrdup(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(xmalloc(size), text, size);
}

char *xasprintf(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) out_of_memory(0);
    return text;
}
