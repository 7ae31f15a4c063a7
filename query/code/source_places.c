#include "query/code/source_places.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/owner.h"
#include "query/code/binary.h"

enum { SOURCE_SIZE_MAX = 64 << 20, BUILD_ID_LEAST = 16 };

/* ---- one file ---------------------------------------------------------------------------------------------------- */

/* Closes it. NULL with errno. NULs would end the text early, and belong into no source. */
static char *read_file(int file) {
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > SOURCE_SIZE_MAX) {
        close(file);
        errno = S_ISDIR(about.st_mode) ? EISDIR : EFBIG;
        return NULL;
    }
    char *text = xmalloc((size_t)about.st_size + 1);
    ssize_t size, done = 0;
    while (done < about.st_size && (size = read(file, text + done, (size_t)(about.st_size - done))) != 0) {
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) break;
        done += size;
    }
    close(file);
    text[done] = '\0';
    return text;
}

/* What stands behind the directory in the path, or NULL where it is not below it. */
static const char *below(const char *path, const char *directory) {
    size_t size = strlen(directory);
    if (strncmp(path, directory, size) != 0) return NULL;
    if (size && directory[size - 1] != '/' && path[size] != '/') return NULL;
    while (path[size] == '/')
        size++;
    return path[size] ? path + size : NULL;
}

/* For a kernel before 5.6 and a sandbox that does not know the call. */
static int open_resolved(const char *root, const char *rest) {
    char *path = xasprintf("%s/%s", root, rest), *real = realpath(path, NULL);
    int file = -1;
    if (real && below(real, root))
        file = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    else if (real)
        errno = EXDEV;
    free(real);
    free(path);
    return file;
}

static int open_below(const char *root, const char *rest) {
    const struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    int file = (int)syscall(SYS_openat2, directory, rest, &how, sizeof how), why = errno;
    close(directory);
    errno = why;
    return file < 0 && (why == ENOSYS || why == EPERM) ? open_resolved(root, rest) : file;
}

/* Does the open file, wherever links led, have a name without a leading dot in each part below the root? */
static bool is_visible(int file, const char *root) {
    char link[40], name[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, name, sizeof name - 1);
    name[size < 0 ? 0 : size] = '\0';
    const char *rest = below(name, root);
    return rest && *rest != '.' && !strstr(rest, "/.");
}

/* ---- where it may be --------------------------------------------------------------------------------------------- */

struct file_search {
    const struct source_places *places;
    const char *path;
    char *real; /* of an absolute path that is there */
    bool is_missing;
    char *text; /* found */
    int why;    /* errno of a file that may be read and cannot; 0: there was none */
};

/* `root` has no links. */
static bool try_rest(struct file_search *search, const char *root, const char *rest, bool is_given) {
    int file = open_below(root, rest);
    if (file >= 0 && !is_given && !is_visible(file, root)) {
        close(file);
        return false;
    }
    if (file >= 0) search->text = read_file(file);
    if (!search->text && errno != EXDEV) search->why = errno;
    return search->text != NULL;
}

/* The directory in which it, or a directory above it, has a .git of a user who is trusted; else itself. free() it; NULL: "/", which is
 * no place to search. `directory` has no links. */
static char *tree_of(const char *directory) {
    char *top = xstrdup(directory);
    for (size_t size = strlen(top); size > 1; size = (size_t)(strrchr(top, '/') - top)) {
        struct stat about;
        top[size] = '\0';
        char *git = xasprintf("%s/.git", top);
        bool is_there = lstat(git, &about) == 0 && owner_is_trusted(about.st_uid);
        free(git);
        if (is_there) return top;
    }
    strcpy(top, directory);
    if (strcmp(top, "/") != 0) return top;
    free(top);
    return NULL;
}

/* An absolute path below the root, by its name or by what that leads to. */
static bool try_absolute(struct file_search *search, const char *root, bool is_given) {
    const char *named = below(search->path, root), *real = search->real ? below(search->real, root) : NULL;
    return (named && try_rest(search, root, named, is_given)) || (real && try_rest(search, root, real, is_given));
}

/* A relative path in the directory, and above it up to the root. */
static bool try_relative(struct file_search *search, const char *directory, const char *root, bool is_given) {
    char *at = xstrdup(directory);
    for (size_t size = strlen(at); !search->text && size >= strlen(root) && size > 0;) {
        at[size] = '\0';
        bool is_itself = strcmp(at, directory) == 0;
        if (try_rest(search, at, search->path, is_given && is_itself) || strcmp(at, root) == 0) break;
        size = (size_t)(strrchr(at, '/') - at);
    }
    free(at);
    return search->text != NULL;
}

static bool try_directory(struct file_search *search, const char *name, bool is_given) {
    bool is_absolute = *search->path == '/', has_tree = !search->places->is_only && !(is_given && is_absolute);
    char *real = realpath(name, NULL), *root = real && has_tree ? tree_of(real) : NULL;
    if (real && !root && (is_given || !has_tree)) root = xstrdup(real);
    if (root && (is_given || strcmp(root, "/") != 0)) {
        if (is_absolute)
            (void)try_absolute(search, root, is_given);
        else
            (void)try_relative(search, real, root, is_given);
    }
    free(root);
    free(real);
    return search->text != NULL;
}

static bool try_given(struct file_search *search) {
    for (const char *at = search->places->given; !search->text && *at;) {
        size_t size = strcspn(at, ":");
        char *name = xasprintf("%.*s", (int)size, at);
        if (size) (void)try_directory(search, name, true);
        free(name);
        at += size + (at[size] == ':');
    }
    return search->text != NULL;
}

static bool has_own_build_id(const struct profile_mapping *mapping) {
    const char *id = mapping->build_id;
    return strlen(id) >= BUILD_ID_LEAST && !id[strspn(id, "0123456789abcdefABCDEF")];
}

static bool try_binaries(struct file_search *search) {
    const struct profile *profile = search->places->profile;
    for (size_t i = 0; profile && i < profile->mapping_count && !search->text; i++) {
        const struct profile_mapping *mapping = &profile->mappings[i];
        bool is_known = mapping->is_named || (*mapping->file == '/' && has_own_build_id(mapping));
        if (!is_known || !strchr(mapping->file, '/') || !binary_is_here(mapping)) continue;
        char *directory = realpath(mapping->file, NULL);
        if (directory) *strrchr(directory, '/') = '\0';
        if (directory) (void)try_directory(search, directory, false);
        free(directory);
    }
    return search->text != NULL;
}

static void look(struct file_search *search) {
    const struct source_places *places = search->places;
    bool is_absolute = *search->path == '/', is_here = is_absolute || !*places->given;
    if (try_given(search)) return;
    if (is_here && !places->is_only && try_directory(search, ".", false)) return;
    if (is_here && places->warehouse && try_directory(search, places->warehouse, false)) return;
    if (is_absolute && !places->is_only) (void)try_binaries(search);
}

/* Whether a file is there that may not be read, is said to the user of this machine alone. */
static char *why_not(const struct file_search *search) {
    const char *path = search->path, *given = search->places->given;
    char here[PATH_MAX] = "/";
    if (*path != '/')
        return xasprintf("could not find file %s on path %s", path,
                         *given                      ? given
                         : getcwd(here, sizeof here) ? here
                                                     : "/");
    bool is_missing = search->is_missing && !search->places->is_only;
    if (search->why || is_missing)
        return xasprintf("open %s: %s", path,
                         is_missing || search->why == ENOENT ? "no such file or directory" : strerror(search->why));
    return xasprintf("%s is not below a directory that sources are read from: -source_path=%.*s shows it", path,
                     (int)(strrchr(path, '/') == path ? 1 : strrchr(path, '/') - path), path);
}

char *source_places_read(const struct source_places *places, const char *path, char **why) {
    struct file_search search = {.places = places, .path = path};
    if (*path == '/') search.real = realpath(path, NULL);
    search.is_missing = *path == '/' && !search.real && (errno == ENOENT || errno == ENOTDIR);
    if (*path) look(&search);
    if (!search.text) *why = why_not(&search);
    free(search.real);
    return search.text;
}
