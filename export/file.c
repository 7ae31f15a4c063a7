#include "export/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"

enum { NAME_ATTEMPTS = 100, NEW_MODE = 0600 };

char *file_name_beside(const char *path) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint8_t random[8] = {0};
    char name[sizeof random + 1] = {0};
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) bug("getrandom failed");
    for (size_t i = 0; i < sizeof random; i++)
        name[i] = letters[random[i] % (sizeof letters - 1)];
    return xasprintf("%s.tmp-%s", path, name);
}

static int open_standard_output(struct file *file, bool binary, struct error *err) {
    if (binary && isatty(STDOUT_FILENO))
        return error_usage(err, "will not write a binary profile to a terminal: use -o FILE, or a pipe");
    file->descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (file->descriptor < 0) return error_fail(err, "standard output: %s", strerror(errno));
    return 0;
}

/* Exclusive, so that nobody's file is overwritten and no link is followed, whatever stands in a shared directory. */
static int open_beside(struct file *file, struct error *err) {
    for (int i = 0; i < NAME_ATTEMPTS; i++) {
        file->temporary = file_name_beside(file->target);
        file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, NEW_MODE);
        if (file->descriptor >= 0) return 0;
        int reason = errno;
        free(file->temporary);
        file->temporary = NULL;
        if (reason != EEXIST) return error_fail(err, "%s: cannot write here: %s", file->path, strerror(reason));
    }
    return error_fail(err, "%s: no free name for a temporary file beside it", file->path);
}

/* What the path stands for: a new or regular file is replaced, anything else is opened as it is. */
static int open_named(struct file *file, struct error *err) {
    struct stat status;
    file->target = owner_resolve(file->path, err);
    if (!file->target) return -1;
    bool there = stat(file->path, &status) == 0;
    if (there && S_ISDIR(status.st_mode)) return error_fail(err, "%s: is a directory", file->path);
    if (there && !S_ISREG(status.st_mode)) {
        free(file->target);
        file->target = NULL;
        file->descriptor = open(file->path, O_WRONLY | O_CLOEXEC);
        return file->descriptor < 0 ? error_fail(err, "%s: %s", file->path, strerror(errno)) : 0;
    }
    if (open_beside(file, err)) return -1;
    if (there && owner_is_trusted(status.st_uid)) /* whom its owner lets read it, still may */
        (void)fchmod(file->descriptor, status.st_mode & 0777);
    return 0;
}

int file_open(struct file *file, const char *path, bool binary, struct error *err) {
    bool standard_output = strcmp(path, "-") == 0;
    *file = (struct file){.path = xstrdup(standard_output ? "standard output" : path), .descriptor = -1};
    int result = standard_output ? open_standard_output(file, binary, err) : open_named(file, err);
    if (result < 0) file_abandon(file);
    return result;
}

void file_open_memory(struct file *file, const char *name, struct buffer *bytes) {
    *file = (struct file){.path = xstrdup(name), .descriptor = -1, .bytes = bytes};
}

int file_write(struct file *file, const void *bytes, size_t size, struct error *err) {
    if (file->bytes) {
        if (size) buffer_add(file->bytes, bytes, size);
        return 0;
    }
    for (const char *at = bytes; size;) {
        ssize_t written = write(file->descriptor, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return error_fail(err, "%s: %s", file->path, strerror(errno));
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

int file_publish(struct file *file, struct error *err) {
    int result = 0;
    if (file->bytes) {
        file->bytes = NULL;
        file_abandon(file);
        return 0;
    }
    if (file->temporary && fsync(file->descriptor) < 0) result = error_fail(err, "%s: %s", file->path, strerror(errno));
    /* NFS and quotas report a write that failed as late as here. */
    if (close(file->descriptor) < 0) result = error_fail(err, "%s: %s", file->path, strerror(errno));
    file->descriptor = -1;
    if (result == 0 && file->temporary && rename(file->temporary, file->target) < 0)
        result = error_fail(err, "%s: %s", file->path, strerror(errno));
    if (result == 0) {
        free(file->temporary);
        file->temporary = NULL;
    }
    file_abandon(file);
    return result;
}

void file_abandon(struct file *file) {
    if (!file->path) return;
    if (file->bytes) buffer_clear(file->bytes);
    if (file->descriptor >= 0) close(file->descriptor);
    if (file->temporary) unlink(file->temporary);
    free(file->path);
    free(file->target);
    free(file->temporary);
    *file = (struct file){.descriptor = -1};
}
