#include "ingest/services/service_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/record/segment_view.h"

#define TAKEN ".taken"

bool service_dir_is_name(const char *name, bool *is_taken) {
    size_t size = strlen(name);
    *is_taken = size == SERVICE_RUN_LENGTH + strlen(TAKEN) && strcmp(name + SERVICE_RUN_LENGTH, TAKEN) == 0;
    if (size != SERVICE_RUN_LENGTH && !*is_taken) return false;
    for (size_t i = 0; i < SERVICE_RUN_LENGTH; i++) {
        bool is_dash = i == SERVICE_RUN_TIME - 1 || i == SERVICE_RUN_RANDOM - 1;
        const char *allowed = i < SERVICE_RUN_RANDOM ? "0123456789" : "0123456789abcdef";
        if (is_dash ? name[i] != '-' : !strchr(allowed, name[i])) return false;
    }
    return true;
}

int service_dir_open(struct service_dir *dir, int root, const char *name) {
    struct stat status;
    *dir = (struct service_dir){.file = -1};
    snprintf(dir->name, sizeof dir->name, "%s", name);
    int file = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0 && errno == EACCES) return -1;
    bool is_private = file >= 0 && fstat(file, &status) == 0 && !(status.st_mode & 077);
    bool is_readable = is_private && (status.st_uid == geteuid() || geteuid() == 0);
    if (!is_readable) {
        if (file >= 0) close(file);
        return is_private ? -1 : 0;
    }
    dir->file = file;
    dir->owner = status.st_uid;
    dir->changed_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    return 1;
}

void service_dir_close(struct service_dir *dir) {
    if (dir->file >= 0) close(dir->file);
    dir->file = -1;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool is_to_take(const struct service_dir *dir, const struct stat *status) {
    return S_ISREG(status->st_mode) && status->st_uid == dir->owner && status->st_nlink == 1;
}

int service_dir_file(const struct service_dir *dir, const char *name, int64_t *size) {
    struct stat status;
    int file = openat(dir->file, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && is_to_take(dir, &status)) {
        *size = (int64_t)status.st_size;
        return file;
    }
    if (file >= 0) close(file);
    return -1;
}

static bool is_segment(const char *name) {
    size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, ".seg") == 0;
}

/* A file system without leases does not say it: then the process is asked for. */
static bool is_written(const struct service_dir *dir, const char *name) {
    int written = segment_is_written(dir->file, name);
    long pid = written < 0 ? strtol(name, NULL, 10) : 0;
    return written > 0 || (pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM));
}

static DIR *list_of(const struct service_dir *dir) {
    int copy = openat(dir->file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list && copy >= 0) close(copy);
    return list;
}

bool service_dir_each(const struct service_dir *dir, bool (*visit)(void *context, const char *name, bool is_running),
                      void *context) {
    DIR *list = list_of(dir);
    bool goes_on = list != NULL;
    for (struct dirent *entry; goes_on && (entry = readdir(list));) {
        struct stat status;
        if (!is_segment(entry->d_name) || fstatat(dir->file, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
            !is_to_take(dir, &status))
            continue;
        goes_on = visit(context, entry->d_name, is_written(dir, entry->d_name));
    }
    if (list) closedir(list);
    return goes_on;
}

static bool count_one(void *context, const char *name, bool is_running) {
    struct service_dir *dir = context;
    struct stat status;
    dir->segments++;
    dir->running += is_running;
    if (fstatat(dir->file, name, &status, AT_SYMLINK_NOFOLLOW) == 0) dir->bytes += (int64_t)status.st_blocks * 512;
    return true;
}

void service_dir_count(struct service_dir *dir) {
    dir->segments = dir->running = 0;
    dir->bytes = 0;
    (void)service_dir_each(dir, count_one, dir);
}

/* 1, 0: it is not there, -1: it is no such file. */
static int read_whole(const struct service_dir *dir, const char *name, void *bytes, size_t size) {
    int64_t has;
    int file = service_dir_file(dir, name, &has);
    if (file < 0) return errno == ENOENT ? 0 : -1;
    ssize_t got = pread(file, bytes, size, 0);
    close(file);
    return got == (ssize_t)size ? 1 : -1;
}

int service_dir_read(struct service_dir *dir) {
    struct service_note *note = &dir->note;
    const struct control *control = &dir->control;
    int has_note = read_whole(dir, "service", note, sizeof *note);
    int has_control = read_whole(dir, "control", &dir->control, sizeof dir->control);
    if (has_note < 1 || has_control < 1) return has_note < 0 || has_control < 0 ? -1 : 0;
    note->boot_id[sizeof note->boot_id - 1] = '\0';
    note->executable[sizeof note->executable - 1] = '\0';
    bool is_known = note->magic == SERVICE_MAGIC && note->version == SEGMENT_VERSION && note->size == sizeof *note &&
                    note->arguments_size <= sizeof note->arguments && control->magic == SEGMENT_MAGIC &&
                    control->version == SEGMENT_VERSION && control->size == sizeof *control;
    return is_known ? 1 : -1;
}

/* ---- changing ---------------------------------------------------------------------------------------------------- */

bool service_dir_take(struct service_dir *dir, int root) {
    struct stat ours, there;
    char taken[sizeof dir->name];
    snprintf(taken, sizeof taken, "%.*s" TAKEN, SERVICE_RUN_LENGTH, dir->name);
    if (strcmp(taken, dir->name) == 0) return true;
    if (fstat(dir->file, &ours) || fstatat(root, dir->name, &there, AT_SYMLINK_NOFOLLOW) ||
        ours.st_ino != there.st_ino || ours.st_dev != there.st_dev || renameat(root, dir->name, root, taken))
        return false;
    memcpy(dir->name, taken, sizeof taken);
    return true;
}

void service_dir_pause(const struct service_dir *dir, bool is_paused) {
    struct stat status;
    const uint32_t value = is_paused;
    int file = openat(dir->file, "control", O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && is_to_take(dir, &status)) {
        ssize_t ignored = pwrite(file, &value, sizeof value, offsetof(struct control, is_paused));
        (void)ignored;
    }
    if (file >= 0) close(file);
}

void service_dir_drop(const struct service_dir *dir, const char *name) {
    unlinkat(dir->file, name, 0);
}

bool service_dir_remove(struct service_dir *dir, int root) {
    DIR *list = list_of(dir);
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(dir->file, entry->d_name, 0) != 0)
            unlinkat(dir->file, entry->d_name, AT_REMOVEDIR);
    if (list) closedir(list);
    service_dir_close(dir);
    return unlinkat(root, dir->name, AT_REMOVEDIR) == 0;
}
