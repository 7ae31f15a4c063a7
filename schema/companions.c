#include "schema/companions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"

static _Thread_local struct {
    char path[PATH_MAX];
    bool is_news;
} refused;

/* The length of the path without "-wal" and the like; 0: it is no companion. */
static size_t size_of_warehouse(const char *path) {
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t own = strlen(suffixes[i]);
        if (size > own && strcmp(path + size - own, suffixes[i]) == 0) return size - own;
    }
    return 0;
}

static bool is_believed(int file, const char *path, size_t size) {
    char name[PATH_MAX];
    struct stat about, warehouse;
    snprintf(name, sizeof name, "%.*s", (int)size, path);
    if (fstat(file, &about) || !S_ISREG(about.st_mode)) return false;
    return owner_is_trusted(about.st_uid) || (stat(name, &warehouse) == 0 && owner_may_write(about.st_uid, &warehouse));
}

/* In the place of open() in SQLite. A pipe must not keep it waiting. */
static int guarded_open(const char *path, int flags, int mode) {
    size_t size = size_of_warehouse(path);
    int file = open(path, flags | (size ? O_NONBLOCK : 0), mode);
    if (file < 0 || !size || is_believed(file, path, size)) return file;
    close(file);
    snprintf(refused.path, sizeof refused.path, "%s", path);
    refused.is_news = true;
    errno = EPERM;
    return -1;
}

static void replace_open(void) {
    sqlite3_vfs *files = sqlite3_vfs_find(NULL);
    if (files && files->iVersion >= 3) files->xSetSystemCall(files, "open", (sqlite3_syscall_ptr)guarded_open);
}

void companions_guard(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, replace_open);
}

const char *companions_refused(void) {
    if (!refused.is_news) return "";
    refused.is_news = false;
    return refused.path;
}
