#include "base/owner.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"

/* ---- users ------------------------------------------------------------------------------------------------------- */

/* Of root alone: another user could set the variable to anybody. */
static bool has_called_sudo(uid_t user) {
    const char *text = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    unsigned long caller = strtoul(text, &end, 10);
    return !*end && caller == user;
}

bool owner_is_trusted(uid_t user) {
    return user == geteuid() || user == 0 || has_called_sudo(user);
}

static bool is_member(uid_t user, gid_t group) {
    enum { GROUPS_MAX = 1024 };
    const struct passwd *about = getpwuid(user);
    gid_t *groups = xcalloc(GROUPS_MAX, sizeof *groups);
    int count = GROUPS_MAX;
    if (!about || getgrouplist(about->pw_name, about->pw_gid, groups, &count) < 0) count = 0;
    bool found = false;
    for (int i = 0; i < count && !found; i++)
        found = groups[i] == group;
    free(groups);
    return found;
}

bool owner_may_write(uid_t user, const struct stat *file) {
    if (owner_is_trusted(user) || user == file->st_uid || file->st_mode & S_IWOTH) return true;
    return file->st_mode & S_IWGRP && is_member(user, file->st_gid);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

enum { LINKS_MAX = 40 }; /* as in the kernel */

struct link_walk {
    struct buffer done; /* without links; "" is the working directory */
    char *rest;         /* of what is still to be walked */
    int links;
};

static void add_part(struct buffer *path, const char *part, size_t size) {
    if (path->size && path->data[path->size - 1] != '/') buffer_add_char(path, '/');
    buffer_add(path, part, size);
}

/* A link of /proc leads to an open file or directory, which its text only describes: "pipe:[123]". */
static bool is_of_proc(const char *directory) {
    struct statfs about;
    return statfs(directory, &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

static void start_anew(struct link_walk *walk, const char *done) {
    buffer_clear(&walk->done);
    buffer_add_text(&walk->done, done);
}

/* Its target takes the place of its name. */
static int follow(struct link_walk *walk, const char *link, const char *shown, struct error *err) {
    char text[PATH_MAX];
    const char *directory = walk->done.size ? walk->done.data : ".";
    if (is_of_proc(directory)) {
        char *real = realpath(link, NULL);
        start_anew(walk, real ? real : link);
        free(real);
        return 0;
    }
    ssize_t size = readlink(link, text, sizeof text - 1);
    if (size < 0 || ++walk->links > LINKS_MAX)
        return error_fail(err, "%s: %s", shown, strerror(size < 0 ? errno : ELOOP));
    text[size] = '\0';
    char *rest = xasprintf("%s/%s", text, walk->rest);
    free(walk->rest);
    walk->rest = rest;
    if (*text == '/') start_anew(walk, "/");
    return 0;
}

static int refuse(const char *link, struct error *err) {
    char *target = realpath(link, NULL);
    error_fail(err, "%s: is a symbolic link of another user: choose another name, or give %s itself", link,
               target ? target : "what it leads to");
    free(target);
    return -1;
}

static int enter(struct link_walk *walk, const char *part, size_t size, const char *shown, struct error *err) {
    struct buffer path = {0};
    struct stat about;
    int code = 0;
    if (size == 0 || (size == 1 && *part == '.')) return 0;
    if (walk->done.size) buffer_add(&path, walk->done.data, walk->done.size);
    add_part(&path, part, size);
    if (lstat(buffer_text(&path), &about) || !S_ISLNK(about.st_mode)) {
        start_anew(walk, buffer_text(&path));
    } else if (!owner_is_trusted(about.st_uid)) {
        code = refuse(buffer_text(&path), err);
    } else {
        code = follow(walk, buffer_text(&path), shown, err);
    }
    buffer_free(&path);
    return code;
}

char *owner_resolve(const char *path, struct error *err) {
    struct link_walk walk = {.rest = xstrdup(path)};
    size_t size = strlen(path);
    int code = 0;
    if (*path == '/') start_anew(&walk, "/");
    while (code == 0 && *walk.rest) {
        size_t part = strcspn(walk.rest, "/");
        char *at = xasprintf("%.*s", (int)part, walk.rest),
             *rest = xstrdup(walk.rest + part + (walk.rest[part] == '/'));
        free(walk.rest);
        walk.rest = rest;
        code = enter(&walk, at, part, path, err);
        free(at);
    }
    free(walk.rest);
    if (size && !walk.done.size) buffer_add_char(&walk.done, '.');
    if (size > 1 && path[size - 1] == '/' && walk.done.data[walk.done.size - 1] != '/')
        buffer_add_char(&walk.done, '/');
    if (code == 0) return buffer_take(&walk.done);
    buffer_free(&walk.done);
    return NULL;
}
