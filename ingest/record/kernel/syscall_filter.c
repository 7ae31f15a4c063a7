#include "ingest/record/kernel/syscall_filter.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether the line of that name has that value and nothing else. */
static bool has_line(const char *status, const char *name, const char *value) {
    size_t name_size = strlen(name), value_size = strlen(value);
    for (const char *line = status; line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, name, name_size) == 0)
            return strncmp(line + name_size, value, value_size) == 0 && line[name_size + value_size] == '\n';
    return false;
}

bool syscall_filter_is_absent_in(const char *status, pid_t pid) {
    char number[16];
    snprintf(number, sizeof number, "\t%d", (int)pid);
    return has_line(status, "NSpid:", number) && has_line(status, "NoNewPrivs:", "\t1") &&
           has_line(status, "Seccomp:", "\t0");
}

bool syscall_filter_is_absent(pid_t pid) {
    char path[40], status[8192];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, status, sizeof status - 1);
    if (file >= 0) close(file);
    status[size > 0 ? size : 0] = '\0';
    return syscall_filter_is_absent_in(status, pid);
}
