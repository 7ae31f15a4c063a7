#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/owner.h"
#include "export/dumps.h"
#include "export/export.h"
#include "export/file.h"
#include "export/run_rows.h"
#include "ingest/read/run_text.h"
#include "schema/kinds.h"
#include "schema/schema.h"

enum { DIRECTORY_MODE = 0700 }; /* command lines are nobody else's business */

/* What a NAME.profile/ may hold besides KIND.pb.gz: our dumps and those of CLEAR's own tools. Nothing else is ever removed. */
static const char *const known_files[] = {
    "alloc.txt",     "locks.txt", "mvcc.txt",       "channels.txt", "fibers.txt",  "syscalls.txt",
    "perf-stat.txt", "perf.data", "transpiled.zig", "source.cht",   RUN_TEXT_FILE, NULL,
};

static bool is_known(const char *name) {
    for (size_t i = 0; known_files[i]; i++)
        if (strcmp(name, known_files[i]) == 0) return true;
    size_t length = strcspn(name, ".");
    if (strcmp(name + length, ".pb.gz") != 0) return false;
    for (const struct kind *kind = kinds; kind->name; kind++)
        if (strlen(kind->name) == length && memcmp(kind->name, name, length) == 0) return true;
    return false;
}

static bool is_dot(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* ---- what stands there ---- */

/* Only what we could have written is ever replaced: -o with a wrong directory must not cost somebody's files. */
static int check_ours(const char *directory, struct error *err) {
    DIR *entries = opendir(directory);
    if (!entries) return error_fail(err, "%s: %s", directory, strerror(errno));
    for (struct dirent *entry; (entry = readdir(entries));)
        if (!is_dot(entry->d_name) && !is_known(entry->d_name))
            error_fail(err, "%s: contains %s, which is not part of a profile: choose another directory with -o",
                       directory, entry->d_name);
    closedir(entries);
    return err->status == ERROR_NONE ? 0 : -1;
}

/* The directory's real name without slashes at its end, free() it; *there says whether it exists already. */
static char *find_target(const char *directory, bool *there, struct error *err) {
    struct stat status;
    *there = stat(directory, &status) == 0;
    if (!*there && errno != ENOENT) {
        error_fail(err, "%s: %s", directory, strerror(errno));
        return NULL;
    }
    if (*there && !S_ISDIR(status.st_mode)) {
        error_fail(err, "%s: is a file, not a directory", directory);
        return NULL;
    }
    char *target = owner_resolve(directory, err), *real = target && *there ? realpath(target, NULL) : NULL;
    if (real) { /* "." and ".." have no name of their own */
        free(target);
        target = real;
    }
    if (target && *there && check_ours(directory, err) < 0) {
        free(target);
        return NULL;
    }
    if (!target) return NULL;
    for (size_t size = strlen(target); size > 1 && target[size - 1] == '/'; size--)
        target[size - 1] = '\0';
    return target;
}

/* Removes a directory of ours, flat as it is. Best effort: what is unknown in it keeps it alive. */
static void remove_directory(const char *directory) {
    DIR *entries = opendir(directory);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));)
        if (is_known(entry->d_name) || strstr(entry->d_name, ".tmp-")) unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
    rmdir(directory);
}

/* ---- filling and exchanging ---- */

static int write_kind(struct db *db, int64_t run_id, const struct kind *kind, const char *directory,
                      struct error *err) {
    char *path = xasprintf("%s/%s.pb.gz", directory, kind->name);
    const struct export_request request = {
        .source = {.kind = kind->name, .runs = {&run_id, 1}}, .allows_none = true, .path = path};
    int code = export_write(db, &request, err);
    free(path);
    return code;
}

static int write_dump(struct db *db, int64_t run_id, const char *directory, const char *name,
                      int (*dump)(struct db *, int64_t, const struct timespan *, const char *, struct error *),
                      struct error *err) {
    char *path = xasprintf("%s/%s", directory, name);
    int code = dump(db, run_id, &timespan_all, path, err);
    free(path);
    return code;
}

/* A kind that the run has; heap and locks also of a run without any, such as of a program that did nothing. */
static int is_wanted(struct db *db, int64_t run_id, const char *kind, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, "SELECT count(*), sum(kind = :kind) FROM profiles WHERE run_id = :run", err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":kind", kind);
    if (db_step(db, row, err) < 0) return -1;
    bool has_none = sqlite3_column_int64(row, 0) == 0, has_it = sqlite3_column_int64(row, 1) > 0;
    sqlite3_reset(row);
    return has_it || (has_none && (strcmp(kind, "heap") == 0 || strcmp(kind, "lock") == 0));
}

/* ---- what it was made of ---- */

static int has_sources(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db,
                                   "SELECT 1 FROM sources WHERE run_id = :run AND"
                                   " (role = 'transpiled' OR path GLOB '*.cht') LIMIT 1",
                                   err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    if (code == 1) sqlite3_reset(row);
    return code;
}

/* The .cht file that most frames of the run name, "" where none does; free() it. */
static char *main_source(struct db *db, int64_t run_id, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("ingest/transpiled_path.sql"), err);
    if (!row) return NULL;
    db_bind_int(row, ":run", run_id);
    int code = db_step(db, row, err);
    char *path = code < 0 ? NULL : xstrdup(code ? db_text(row, 0) : "");
    if (code == 1) sqlite3_reset(row);
    return path;
}

static int write_text(const char *directory, const char *name, const char *text, struct error *err) {
    struct file file;
    char *path = xasprintf("%s/%s", directory, name);
    int code = file_open(&file, path, false, err);
    free(path);
    if (code) return -1;
    if (file_write(&file, text, strlen(text), err) == 0) return file_publish(&file, err);
    file_abandon(&file);
    return -1;
}

static int write_source(struct db *db, int64_t run_id, const char *role, const char *first, const char *directory,
                        const char *name, struct error *err) {
    sqlite3_stmt *row = db_prepare(db, embedded_text("export/source_text.sql"), err);
    if (!row) return -1;
    db_bind_int(row, ":run", run_id);
    db_bind_text(row, ":role", role);
    db_bind_text(row, ":first", first);
    int code = db_step(db, row, err);
    if (code < 1) return code;
    code = write_text(directory, name, db_text(row, 0), err);
    sqlite3_reset(row);
    return code;
}

static int write_sources(struct db *db, int64_t run_id, const char *directory, struct error *err) {
    int any = has_sources(db, run_id, err);
    char *first = any > 0 ? main_source(db, run_id, err) : NULL;
    if (any <= 0 || !first) return any ? -1 : 0;
    int code = write_source(db, run_id, "source", first, directory, "source.cht", err);
    if (code == 0) code = write_source(db, run_id, "transpiled", "", directory, "transpiled.zig", err);
    free(first);
    return code;
}

/* What the other files have no place for: the findings of the directory are those of the run. */
static int write_rows(struct db *db, int64_t run_id, const char *directory, struct error *err) {
    char *path = xasprintf("%s/%s", directory, RUN_TEXT_FILE);
    int code = run_rows_write(db, run_id, path, err);
    free(path);
    return code;
}

static int write_files(struct db *db, int64_t run_id, const char *directory, struct error *err) {
    for (const struct dump_format *dump = dump_formats; dump->file; dump++) {
        int wanted = is_wanted(db, run_id, dump->kind, err);
        if (wanted < 0 || (wanted && write_dump(db, run_id, directory, dump->file, dump->write, err) < 0)) return -1;
    }
    for (const struct kind *kind = kinds; kind->name; kind++) {
        if (!kind->in_directory) continue;
        int wanted = is_wanted(db, run_id, kind->name, err);
        if (wanted < 0 || (wanted && write_kind(db, run_id, kind, directory, err) < 0)) return -1;
    }
    if (write_sources(db, run_id, directory, err) < 0) return -1;
    return write_rows(db, run_id, directory, err);
}

/* All files from one snapshot: a recording that goes on must not make them differ. */
static int fill(struct db *db, int64_t run_id, const char *directory, struct error *err) {
    struct error ignored = {0};
    if (db_exec(db, "SAVEPOINT directory", err) < 0) return -1;
    int code = write_files(db, run_id, directory, err);
    (void)db_exec(db, "RELEASE directory", &ignored);
    return code;
}

/* Puts `fresh` in the place of `target`. Where the file system cannot exchange (NFS, some FUSE), the old one is moved away
 * first, and there is a moment without either. Afterwards `fresh` names what is to be removed, or nothing. */
static int exchange(const char *fresh, const char *target, bool there, struct error *err) {
    if (!there) {
        if (rename(fresh, target) == 0) return 0;
        return error_fail(err, "%s: %s", target, strerror(errno));
    }
    if (renameat2(AT_FDCWD, fresh, AT_FDCWD, target, RENAME_EXCHANGE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
        return error_fail(err, "%s: %s", target, strerror(errno));
    char *old = file_name_beside(target);
    int code = 0;
    if (rename(target, old) < 0) {
        code = error_fail(err, "%s: %s", target, strerror(errno));
    } else if (rename(fresh, target) < 0) {
        code = error_fail(err, "%s: %s", target, strerror(errno));
        if (rename(old, target) < 0) error_prefix(err, "the old directory is now %s: ", old);
    } else {
        remove_directory(old);
    }
    free(old);
    return code;
}

static void flush_directory(const char *directory) {
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor); /* not every file system can; the files themselves are flushed */
    close(descriptor);
}

int export_directory_check(const char *directory, struct error *err) {
    bool there;
    char *target = find_target(directory, &there, err);
    if (!target) return -1;
    char *fresh = file_name_beside(target);
    int code = mkdir(fresh, DIRECTORY_MODE);
    if (code < 0)
        error_fail(err, "%s: cannot make a directory here: %s: choose another with -o", directory, strerror(errno));
    else
        rmdir(fresh);
    free(fresh);
    free(target);
    return code;
}

/* Whom the owner of the old directory let read it, may read the new one; not whom another user chose. */
static void keep_mode(const char *fresh, const char *target) {
    struct stat status;
    DIR *entries = stat(target, &status) || !owner_is_trusted(status.st_uid) ? NULL : opendir(fresh);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));)
        if (is_known(entry->d_name)) (void)fchmodat(dirfd(entries), entry->d_name, status.st_mode & 0666, 0);
    (void)fchmod(dirfd(entries), status.st_mode & 0777);
    closedir(entries);
}

int export_directory(struct db *db, int64_t run_id, const char *directory, struct error *err) {
    bool there;
    char *target = find_target(directory, &there, err);
    if (!target) return -1;
    char *fresh = file_name_beside(target);
    int code = 0;
    if (mkdir(fresh, DIRECTORY_MODE) < 0)
        code = error_fail(err, "%s: cannot make a directory here: %s", directory, strerror(errno));
    else if ((code = fill(db, run_id, fresh, err)) == 0) {
        if (there) keep_mode(fresh, target);
        flush_directory(fresh);
        code = exchange(fresh, target, there, err);
    }
    remove_directory(fresh);
    free(fresh);
    free(target);
    return code;
}
