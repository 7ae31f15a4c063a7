#include "serve/stamps.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"

static struct stamp stamp_of(const char *path) {
    struct stat status;
    if (stat(path, &status)) return (struct stamp){0};
    return (struct stamp){status.st_dev, status.st_ino, (uint64_t)status.st_size,
                          (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec};
}

struct stamps stamps_of(const char *path) {
    char *wal = xasprintf("%s-wal", path);
    const struct stamps stamps = {{stamp_of(path), stamp_of(wal)}};
    free(wal);
    return stamps;
}
