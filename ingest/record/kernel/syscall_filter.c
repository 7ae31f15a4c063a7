#include "ingest/record/kernel/syscall_filter.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_MOST = 8192 };

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

static void read_status(const char *path, char *status, size_t room) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, status, room - 1);
    if (file >= 0) close(file);
    status[size > 0 ? size : 0] = '\0';
}

/* A filter may be of one thread alone. */
static bool has_thread_with_filter(pid_t pid) {
    char path[64], status[STATUS_MOST];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    bool has = !threads;
    for (struct dirent *thread; !has && (thread = readdir(threads));) {
        if (*thread->d_name == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.16s/status", (int)pid, thread->d_name);
        read_status(path, status, sizeof status);
        has = *status && !has_line(status, "Seccomp:", "\t0"); /* empty: it has ended */
    }
    if (threads) closedir(threads);
    return has;
}

bool syscall_filter_is_absent(pid_t pid) {
    char path[40], status[STATUS_MOST];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    read_status(path, status, sizeof status);
    return syscall_filter_is_absent_in(status, pid) && !has_thread_with_filter(pid);
}
