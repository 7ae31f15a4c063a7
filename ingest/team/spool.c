#include "ingest/team/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/owner.h"

char *spool_path(const char *warehouse) {
    return xasprintf("%s.push", warehouse);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static bool is_same_file(int file, const char *path) {
    struct stat mine, there;
    return fstat(file, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

/* Its lines say where runs are sent. */
static bool is_believed(int file, const char *warehouse) {
    struct stat about, target;
    if (fstat(file, &about) || !S_ISREG(about.st_mode)) return false;
    return owner_is_trusted(about.st_uid) || (stat(warehouse, &target) == 0 && owner_may_write(about.st_uid, &target));
}

/* Opens and locks it. Who removes an entry puts another file in its place: one that is no more there is opened anew. -1 with the error
 * set; -2: there is none, and `flags` do not make one. */
static int open_locked(const char *warehouse, const char *path, int flags, int lock, struct error *err) {
    for (;;) {
        int file = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (file < 0 && errno == ENOENT && !(flags & O_CREAT)) return -2;
        if (file < 0) return error_fail(err, "%s: %s", path, strerror(errno));
        if (!is_believed(file, warehouse)) {
            close(file);
            return error_fail(err, "%s: belongs to another user and is not read: remove it, or move it away", path);
        }
        while (flock(file, lock) && errno == EINTR)
            ;
        if (is_same_file(file, path)) return file;
        close(file);
    }
}

static int read_all(int file, const char *path, struct buffer *text, struct error *err) {
    char block[8192];
    ssize_t got;
    while ((got = read(file, block, sizeof block)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return error_fail(err, "%s: %s", path, strerror(errno));
        buffer_add(text, block, (size_t)got);
    }
    return 0;
}

static int write_all(int file, const char *path, const struct buffer *text, struct error *err) {
    size_t done = 0;
    while (done < text->size) {
        ssize_t put = write(file, text->data + done, text->size - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return error_fail(err, "%s: %s", path, strerror(errno));
        done += (size_t)put;
    }
    return fsync(file) ? error_fail(err, "%s: %s", path, strerror(errno)) : 0;
}

static void add_line(struct buffer *text, const struct spool_entry *entry) {
    buffer_printf(text, "%s\t%s\t%s\n", entry->uuid, entry->project, entry->address);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A line that is no entry, such as one that a kill or a full disk cut, is passed over: its run is in the warehouse. */
static void read_line(struct spool *spool, char *line) {
    char *uuid = strsep(&line, "\t"), *project = line ? strsep(&line, "\t") : NULL;
    if (strlen(uuid) != 36 || !project || !line || !*line || strchr(line, '\t')) return;
    spool->entries = xrealloc(spool->entries, (spool->count + 1) * sizeof *spool->entries);
    spool->entries[spool->count++] = (struct spool_entry){xstrdup(uuid), xstrdup(project), xstrdup(line)};
}

static bool has_controls(const char *line, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (line[i] != '\t' && (unsigned char)line[i] < ' ') return true;
    return false;
}

/* What stands behind the last line's end was cut. A machine that loses power can leave zeros in a file; the lines behind them count. */
static void read_lines(struct spool *spool, struct buffer *text) {
    char *rest = text->data, *all = rest ? rest + text->size : NULL, *end;
    while (rest && (end = memchr(rest, '\n', (size_t)(all - rest)))) {
        *end = '\0';
        if (!has_controls(rest, (size_t)(end - rest))) read_line(spool, rest);
        rest = end + 1;
    }
}

static int read_locked(struct spool *spool, int file, const char *path, struct error *err) {
    struct buffer text = {0};
    int code = read_all(file, path, &text, err);
    if (code == 0) read_lines(spool, &text);
    buffer_free(&text);
    return code;
}

int spool_read(struct spool *spool, const char *warehouse, struct error *err) {
    *spool = (struct spool){0};
    char *path = spool_path(warehouse);
    int file = open_locked(warehouse, path, O_RDONLY, LOCK_SH, err);
    int code = file == -2 ? 0 : file < 0 ? -1 : read_locked(spool, file, path, err);
    if (file >= 0) close(file);
    free(path);
    return code;
}

void spool_free(struct spool *spool) {
    for (size_t i = 0; i < spool->count; i++) {
        free(spool->entries[i].uuid);
        free(spool->entries[i].project);
        free(spool->entries[i].address);
    }
    free(spool->entries);
    *spool = (struct spool){0};
}

/* ---- changing ---------------------------------------------------------------------------------------------------- */

/* A line that was cut ends before the new one begins, with a tab, so that it stays none: its address may be that of another server now. */
static void end_cut_line(int file, struct buffer *text) {
    char last = '\n';
    off_t size = lseek(file, 0, SEEK_END);
    if (size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n') buffer_add_text(text, "\t\n");
}

int spool_add(const char *warehouse, const struct spool_entry *entry, struct error *err) {
    char *path = spool_path(warehouse);
    struct buffer text = {0};
    int file = open_locked(warehouse, path, O_RDWR | O_CREAT | O_APPEND, LOCK_EX, err);
    int code = file < 0 ? -1 : 0;
    if (code == 0) {
        end_cut_line(file, &text);
        add_line(&text, entry);
        code = write_all(file, path, &text, err);
        close(file);
    }
    buffer_free(&text);
    free(path);
    return code;
}

static bool is_equal(const struct spool_entry *a, const struct spool_entry *b) {
    return strcmp(a->uuid, b->uuid) == 0 && strcmp(a->project, b->project) == 0 && strcmp(a->address, b->address) == 0;
}

int spool_add_once(const char *warehouse, const struct spool_entry *entry, struct error *err) {
    struct spool spool;
    int code = spool_read(&spool, warehouse, err);
    bool is_there = false;
    for (size_t i = 0; code == 0 && i < spool.count; i++)
        is_there |= is_equal(&spool.entries[i], entry);
    spool_free(&spool);
    return code || is_there ? code : spool_add(warehouse, entry, err);
}

/* Puts a file with `text` in the place of `path`, whole or not at all. */
static int replace(const char *path, const struct buffer *text, struct error *err) {
    char *fresh = xasprintf("%s.new", path);
    (void)unlink(fresh); /* of a clear that was killed, or of somebody else */
    int file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int code = file < 0 ? error_fail(err, "%s: %s", fresh, strerror(errno)) : write_all(file, fresh, text, err);
    if (file >= 0 && close(file) && code == 0) code = error_fail(err, "%s: %s", fresh, strerror(errno));
    if (code == 0 && rename(fresh, path)) code = error_fail(err, "%s: %s", path, strerror(errno));
    if (code) unlink(fresh);
    free(fresh);
    return code;
}

static int write_without(const char *path, const struct spool *spool, const struct spool_entry *entry,
                         struct error *err) {
    struct buffer text = {0};
    for (size_t i = 0; i < spool->count; i++)
        if (!is_equal(&spool->entries[i], entry)) add_line(&text, &spool->entries[i]);
    int code = text.size      ? replace(path, &text, err)
               : unlink(path) ? error_fail(err, "%s: %s", path, strerror(errno))
                              : 0;
    buffer_free(&text);
    return code;
}

int spool_remove(const char *warehouse, const struct spool_entry *entry, struct error *err) {
    char *path = spool_path(warehouse);
    struct spool spool = {0};
    int file = open_locked(warehouse, path, O_RDONLY, LOCK_EX, err);
    int code = file == -2 ? 0 : file < 0 ? -1 : 0;
    if (file >= 0) {
        code = read_locked(&spool, file, path, err);
        if (code == 0) code = write_without(path, &spool, entry, err);
        close(file);
    }
    spool_free(&spool);
    free(path);
    return code;
}
