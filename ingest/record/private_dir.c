#include "ingest/record/private_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A place with less free space is used only if there is no other. (Docker's default /dev/shm has 64 MiB.) */
#define ROOM_WANTED (UINT64_C(128) << 20)

enum { BASE_COUNT = 3 };

static const char *base(int which) {
    const char *temporary = getenv("TMPDIR");
    switch (which) {
    case 0: return "/dev/shm";
    case 1: return temporary && *temporary == '/' ? temporary : "/tmp";
    default: return "/tmp";
    }
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* The lock is taken before the file has its name, so nobody ever sees it unlocked while we live. */
static int lock_owner(struct private_dir *directory) {
    directory->owner = openat(directory->file, "owner.new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (directory->owner < 0) return -1;
    if (dprintf(directory->owner, "%d\n", (int)getpid()) < 0 || flock(directory->owner, LOCK_EX | LOCK_NB) ||
        renameat(directory->file, "owner.new", directory->file, "owner"))
        return -1;
    return 0;
}

static int make_in(struct private_dir *directory, const char *parent) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return -1;
    directory->path = xasprintf("%s/clear-%u-%d-%016" PRIx64, parent, (unsigned)getuid(), (int)getpid(), random);
    if (mkdir(directory->path, 0700) == 0) {
        directory->file = open(directory->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (directory->file >= 0 && lock_owner(directory) == 0) return 0;
    }
    int why = errno;
    private_dir_remove(directory);
    errno = why;
    return -1;
}

static bool has_room(const char *parent) {
    struct statvfs status;
    return statvfs(parent, &status) == 0 && (uint64_t)status.f_bavail * status.f_frsize >= ROOM_WANTED;
}

static bool may_execute(const char *parent) {
    struct statvfs status;
    return statvfs(parent, &status) == 0 && !(status.f_flag & ST_NOEXEC);
}

int private_dir_make_for_programs(struct private_dir *directory, struct error *err) {
    *directory = (struct private_dir){.file = -1, .owner = -1};
    for (int i = 1; i <= BASE_COUNT; i++)
        if (may_execute(base(i % BASE_COUNT)) && make_in(directory, base(i % BASE_COUNT)) == 0) return 0;
    return error_fail(err, "cannot make a directory for the program in $TMPDIR, /tmp or /dev/shm: %s", strerror(errno));
}

int private_dir_make(struct private_dir *directory, struct error *err) {
    *directory = (struct private_dir){.file = -1, .owner = -1};
    /* If $TMPDIR is set, the user wants large files there. Then /tmp is used only if nothing else works. */
    for (int i = 0; i < 2; i++)
        if (has_room(base(i)) && make_in(directory, base(i)) == 0) return 0;
    for (int i = 0; i < BASE_COUNT; i++)
        if (make_in(directory, base(i)) == 0) return 0;
    return error_fail(err, "cannot make a directory for the recording in /dev/shm, $TMPDIR or /tmp: %s",
                      strerror(errno));
}

/* ---- removing ---------------------------------------------------------------------------------------------------- */

enum { NESTING_MAX = 64 }; /* of directories that a compiler makes */

static void remove_entries(int directory, int depth);

static void remove_entry(int directory, const char *name, int depth) {
    if (unlinkat(directory, name, 0) == 0 || depth >= NESTING_MAX) return;
    int inner = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0) return;
    remove_entries(inner, depth + 1);
    close(inner);
    unlinkat(directory, name, AT_REMOVEDIR);
}

/* Removes everything except the `owner` of the outermost directory. */
static void remove_entries(int directory, int depth) {
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list) {
        if (copy >= 0) close(copy);
        return;
    }
    for (struct dirent *entry; (entry = readdir(list));) {
        bool is_dot = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!is_dot && (depth || strcmp(entry->d_name, "owner") != 0)) remove_entry(directory, entry->d_name, depth);
    }
    closedir(list);
}

static void empty(int directory) {
    remove_entries(directory, 0);
    unlinkat(directory, "owner", 0); /* last, so that a later sweep can finish a removal that was interrupted */
}

void private_dir_remove(struct private_dir *directory) {
    if (!directory->path) return;
    if (directory->file >= 0) {
        empty(directory->file);
        close(directory->file);
    }
    rmdir(directory->path);
    if (directory->owner >= 0) close(directory->owner);
    free(directory->path);
    *directory = (struct private_dir){.file = -1, .owner = -1};
}

/* Whether nobody has `owner` locked. A directory without `owner` may be between mkdir and the lock: then the pid in its
 * name decides. */
static bool is_left_over(int directory, long pid) {
    int owner = openat(directory, "owner", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (owner < 0) return errno == ENOENT && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
    bool left = flock(owner, LOCK_SH | LOCK_NB) == 0;
    close(owner);
    return left;
}

static bool sweep_one(int parent, const char *name, long pid) {
    struct stat status;
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) return false;
    bool removed = false;
    if (fstat(directory, &status) == 0 && status.st_uid == getuid() && is_left_over(directory, pid)) {
        empty(directory);
        removed = unlinkat(parent, name, AT_REMOVEDIR) == 0;
    }
    close(directory);
    return removed;
}

/* clear-UID-PID-RANDOM of this user; *pid is set. */
static bool is_our_name(const char *name, long *pid) {
    char prefix[32], *end;
    int size = snprintf(prefix, sizeof prefix, "clear-%u-", (unsigned)getuid());
    if (strncmp(name, prefix, (size_t)size) != 0) return false;
    errno = 0;
    *pid = strtol(name + size, &end, 10);
    return errno == 0 && *pid > 0 && *pid <= INT32_MAX && *end == '-';
}

int private_dir_sweep(void) {
    int count = 0;
    for (int i = 0; i < BASE_COUNT; i++) {
        if (i == 2 && strcmp(base(1), base(2)) == 0) break;
        DIR *list = opendir(base(i));
        if (!list) continue;
        long pid;
        for (struct dirent *entry; (entry = readdir(list));)
            if (is_our_name(entry->d_name, &pid)) count += sweep_one(dirfd(list), entry->d_name, pid);
        closedir(list);
    }
    return count;
}
