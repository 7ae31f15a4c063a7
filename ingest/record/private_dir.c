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

#include "base/map.h"
#include "ingest/record/recording_note.h"

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

static pid_t borne; /* 0: our own */

void private_dir_bear(pid_t pid) {
    borne = pid;
}

static int recorder_pid(void) {
    return (int)(borne ? borne : getpid());
}

/* The lock is taken before the file has its name, so nobody ever sees it unlocked while we live. */
static int lock_owner(struct private_dir *directory) {
    directory->owner = openat(directory->file, "owner.new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (directory->owner < 0) return -1;
    if (dprintf(directory->owner, "%d\n", recorder_pid()) < 0 || flock(directory->owner, LOCK_EX | LOCK_NB) ||
        renameat(directory->file, "owner.new", directory->file, "owner"))
        return -1;
    return 0;
}

static int make_in(struct private_dir *directory, const char *parent) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return -1;
    directory->path = xasprintf("%s/clear-%u-%d-%016" PRIx64, parent, (unsigned)getuid(), recorder_pid(), random);
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
    return error_fail(err,
                      "cannot make a directory for the program in $TMPDIR, /tmp or /dev/shm: %s: set TMPDIR to one "
                      "that lets programs run",
                      strerror(errno));
}

int private_dir_make(struct private_dir *directory, struct error *err) {
    *directory = (struct private_dir){.file = -1, .owner = -1};
    /* If $TMPDIR is set, the user wants large files there. Then /tmp is used only if nothing else works. */
    for (int i = 0; i < 2; i++)
        if (has_room(base(i)) && make_in(directory, base(i)) == 0) return 0;
    for (int i = 0; i < BASE_COUNT; i++)
        if (make_in(directory, base(i)) == 0) return 0;
    return error_fail(err,
                      "cannot make a directory for the recording in /dev/shm, $TMPDIR or /tmp: %s: set TMPDIR to one "
                      "that can be written to",
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

void private_dir_unlock(struct private_dir *directory) {
    if (directory->owner >= 0) close(directory->owner);
    directory->owner = -1;
}

void private_dir_release(struct private_dir *directory) {
    if (directory->file >= 0) close(directory->file);
    if (directory->owner >= 0) close(directory->owner);
    free(directory->path);
    *directory = (struct private_dir){.file = -1, .owner = -1};
}

void private_dir_remove(struct private_dir *directory) {
    if (!directory->path) return;
    if (directory->file >= 0) empty(directory->file);
    rmdir(directory->path);
    private_dir_release(directory);
}

/* ---- what recorders left behind ---------------------------------------------------------------------------------- */

/* What the program, perf or strace wrote: segments, dumps, perf.data, perf-stat. */
static bool is_record(const char *name) {
    static const char *const ends[] = {".seg", ".txt", "perf.data", "perf-stat"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (size >= strlen(ends[i]) && strcmp(name + size - strlen(ends[i]), ends[i]) == 0) return true;
    return false;
}

bool private_dir_has_recording(int directory) {
    bool found = false;
    if (faccessat(directory, RECORDING_RUN_FILE, F_OK, AT_SYMLINK_NOFOLLOW)) return false;
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    if (!list && copy >= 0) close(copy);
    if (!list) return false;
    for (struct dirent *entry; !found && (entry = readdir(list));)
        found = is_record(entry->d_name);
    closedir(list);
    return found;
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

/* Of this user, and left over or not, as is wanted; -1: it is not, or cannot be opened. Close it. */
static int open_ours(int parent, const char *name, long pid, bool left_over) {
    struct stat status;
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) return -1;
    if (fstat(directory, &status) == 0 && status.st_uid == getuid() && is_left_over(directory, pid) == left_over)
        return directory;
    close(directory);
    return -1;
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

struct left_over {
    const char *parent, *name; /* its path is both */
    int parent_file, file;
    long pid; /* of the recorder */
};

static void each_of_ours(bool left_over, void (*visit)(void *context, const struct left_over *left), void *context) {
    for (int i = 0; i < BASE_COUNT; i++) {
        if (i == 2 && strcmp(base(1), base(2)) == 0) break;
        DIR *list = opendir(base(i));
        if (!list) continue;
        struct left_over left = {.parent = base(i), .parent_file = dirfd(list)};
        for (struct dirent *entry; (entry = readdir(list));) {
            left.name = entry->d_name;
            if (!is_our_name(left.name, &left.pid)) continue;
            left.file = open_ours(left.parent_file, left.name, left.pid, left_over);
            if (left.file < 0) continue;
            visit(context, &left);
            close(left.file);
        }
        closedir(list);
    }
}

static void each_left_over(void (*visit)(void *context, const struct left_over *left), void *context) {
    each_of_ours(true, visit, context);
}

struct live_visit {
    void (*visit)(void *context, int directory);
    void *context;
};

static void visit_live(void *context, const struct left_over *live) {
    const struct live_visit *visit = context;
    visit->visit(visit->context, live->file);
}

void private_dir_each_live(void (*visit)(void *context, int directory), void *context) {
    struct live_visit with = {visit, context};
    each_of_ours(false, visit_live, &with);
}

struct recording_visit {
    void (*visit)(void *context, const char *path);
    void *context;
};

static void visit_recording(void *context, const struct left_over *left) {
    const struct recording_visit *visit = context;
    if (!private_dir_has_recording(left->file)) return;
    char *path = xasprintf("%s/%s", left->parent, left->name);
    visit->visit(visit->context, path);
    free(path);
}

void private_dir_each_recording(void (*visit)(void *context, const char *path), void *context) {
    struct recording_visit with = {visit, context};
    each_left_over(visit_recording, &with);
}

int private_dir_adopt(struct private_dir *directory, const char *path, struct error *err) {
    *directory = (struct private_dir){.path = xstrdup(path), .owner = -1};
    directory->file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->file >= 0)
        directory->owner =
            openat(directory->file, "owner", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (directory->owner >= 0 && flock(directory->owner, LOCK_EX | LOCK_NB) == 0) return 1;
    int why = errno;
    bool is_locked = directory->owner >= 0 && why == EWOULDBLOCK;
    private_dir_release(directory);
    return is_locked ? 0 : error_fail(err, "%s: %s", path, strerror(why));
}

/* ---- sweeping ---------------------------------------------------------------------------------------------------- */

struct sweep {
    struct map needed; /* pids of recorders whose recording is kept */
    int removed;
};

static void note_needed(void *context, const struct left_over *left) {
    struct sweep *sweep = context;
    if (private_dir_has_recording(left->file)) map_put(&sweep->needed, &left->pid, sizeof left->pid, NULL);
}

/* The directory of a program that was built for a recording has the same pid in its name. */
static void sweep_one(void *context, const struct left_over *left) {
    struct sweep *sweep = context;
    if (map_find(&sweep->needed, &left->pid, sizeof left->pid)) return;
    empty(left->file);
    sweep->removed += unlinkat(left->parent_file, left->name, AT_REMOVEDIR) == 0;
}

int private_dir_sweep(size_t *kept) {
    struct sweep sweep = {.removed = 0};
    each_left_over(note_needed, &sweep);
    each_left_over(sweep_one, &sweep);
    if (kept) *kept = sweep.needed.count;
    map_free(&sweep.needed);
    return sweep.removed;
}
