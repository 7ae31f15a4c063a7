#include "ingest/shim/core/proc_lines.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

uintptr_t proc_hex(const char **at) {
    uintptr_t value = 0;
    for (;; ++*at) {
        unsigned digit = (unsigned char)**at;
        digit = digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : digit - '0';
        if (digit > 15) return value;
        value = value * 16 + digit;
    }
}

static void read_lines(int file, char *text, void (*take)(void *context, const char *line), void *context) {
    size_t used = 0;
    bool is_rest = false;
    for (ssize_t got; (got = read(file, text + used, PROC_LINE - 1 - used)) > 0;) {
        used += (size_t)got;
        text[used] = '\0';
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            if (!is_rest) take(context, line);
            is_rest = false;
        }
        used = (size_t)(text + used - line);
        memmove(text, line, used + 1);
        if (used < PROC_LINE - 1) continue;
        if (!is_rest) take(context, text);
        is_rest = true;
        used = 0;
    }
}

bool proc_lines_each(const char *path, char *text, void (*take)(void *context, const char *line), void *context) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    read_lines(file, text, take, context);
    close(file);
    return true;
}
