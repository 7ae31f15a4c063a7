#include "schema/companions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- temporary files ---- */

static bool is_usable(const char *directory) {
    struct stat about;
    return directory && stat(directory, &about) == 0 && S_ISDIR(about.st_mode) && access(directory, W_OK | X_OK) == 0;
}

/* The first that SQLite would take by itself, in its order. NULL: none. */
static const char *usual_place(void) {
    const char *const places[] = {getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "."};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (is_usable(places[i])) return places[i];
    return NULL;
}

void companions_set_temporary(sqlite3 *handle, const char *file) {
    if (sqlite3_temp_directory || usual_place()) return;
    char directory[PATH_MAX] = "";
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (slash) snprintf(directory, sizeof directory, "%.*s", slash == file ? 1 : (int)(slash - file), file);
    if (is_usable(directory)) {
        sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_VFS1); /* under which SQLite reads it */
        sqlite3_mutex_enter(mutex);
        if (!sqlite3_temp_directory) sqlite3_temp_directory = sqlite3_mprintf("%s", directory);
        sqlite3_mutex_leave(mutex);
    }
    if (!sqlite3_temp_directory) (void)sqlite3_exec(handle, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
}

const char *companions_temporary(void) {
    return sqlite3_temp_directory ? sqlite3_temp_directory : usual_place();
}
