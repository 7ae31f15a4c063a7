#include "base/lock_holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

/* A line of /proc/locks: "1: POSIX  ADVISORY  WRITE 4711 08:01:12345 120 120"; a blocked one has "->" behind its number. */
struct lock_line {
    bool is_writer;
    int pid; /* -1: of an open file, which several processes may have */
    dev_t device;
    uint64_t inode;
    int64_t start, end;
};

static bool read_line(const char *text, struct lock_line *line) {
    char kind[8], mode[16], end[24];
    unsigned major_number, minor_number;
    if (sscanf(text, "%*[0-9]: %7s %*s %15s %d %x:%x:%" SCNu64 " %" SCNd64 " %23s", kind, mode, &line->pid,
               &major_number, &minor_number, &line->inode, &line->start, end) != 8)
        return false;
    line->is_writer = strcmp(mode, "WRITE") == 0;
    line->device = makedev(major_number, minor_number);
    line->end = strcmp(end, "EOF") == 0 ? INT64_MAX : strtoll(end, NULL, 10);
    return strcmp(kind, "POSIX") == 0 || strcmp(kind, "OFDLCK") == 0;
}

/* Where directories are laid over each other, the kernel's list has another device than stat(2). */
static bool has_open(int pid, const struct stat *file) {
    char path[32];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *list = opendir(path);
    if (!list) return false;
    for (struct dirent *entry; !found && (entry = readdir(list));) {
        struct stat other;
        found = fstatat(dirfd(list), entry->d_name, &other, 0) == 0 && other.st_dev == file->st_dev &&
                other.st_ino == file->st_ino;
    }
    closedir(list);
    return found;
}

static bool is_meant(const struct lock_line *line, const struct stat *file, const struct lock_range *range) {
    if (line->inode != file->st_ino || line->pid <= 0 || line->pid == getpid()) return false;
    if (line->start > range->end || line->end < range->start || (range->writers_only && !line->is_writer)) return false;
    return line->device == file->st_dev || has_open(line->pid, file);
}

static char *describe(int pid, int others) {
    char path[32], name[64] = "", more[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *file = fopen(path, "re");
    if (file && !fgets(name, sizeof name, file)) name[0] = '\0';
    if (file) fclose(file);
    name[strcspn(name, "\n")] = '\0';
    if (others) snprintf(more, sizeof more, ", and %d more", others);
    return xasprintf("%s%spid %d%s", name, *name ? ", " : "", pid, more);
}

char *lock_holder(const char *path, const struct lock_range *range) {
    struct stat status;
    char text[256];
    int first = 0, last = 0, others = 0;
    FILE *file = stat(path, &status) ? NULL : fopen("/proc/locks", "re");
    while (file && fgets(text, sizeof text, file)) {
        struct lock_line line;
        if (!read_line(text, &line) || !is_meant(&line, &status, range) || line.pid == first || line.pid == last)
            continue;
        others += first != 0;
        last = line.pid;
        if (!first) first = line.pid;
    }
    if (file) fclose(file);
    return first ? describe(first, others) : NULL;
}

_Noreturn static void try_lock(const char *path) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    _exit(file >= 0 && fcntl(file, F_GETLK, &lock) ? errno & 0xff : 0);
}

int lock_failure(const char *path) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) try_lock(path);
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}
