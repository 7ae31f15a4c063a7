#include "cli/report/owning_package.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/path.h"

enum { DPKG_SECONDS = 2 };

/* A file by two paths: /lib is a link to /usr/lib, and the loader says either where the lists have the other. */
struct owned_file {
    const char *path;
    char *other;
};

static struct owned_file owned_file(const char *path) {
    static const char usr[] = "/usr";
    const size_t size = strlen(usr);
    bool is_below = strncmp(path, "/usr/", size + 1) == 0;
    return (struct owned_file){path, is_below ? xstrdup(path + size) : xasprintf("%s%s", usr, path)};
}

/* ---- the lists --------------------------------------------------------------------------------------------------- */

static bool lists_file(const char *list, const struct owned_file *file) {
    FILE *lines = fopen(list, "re");
    char *line = NULL;
    size_t room = 0;
    bool is_found = false;
    for (ssize_t size; lines && !is_found && (size = getline(&line, &room, lines)) > 0;) {
        line[size - (line[size - 1] == '\n')] = '\0';
        is_found = strcmp(line, file->path) == 0 || strcmp(line, file->other) == 0;
    }
    free(line);
    if (lines) fclose(lines);
    return is_found;
}

/* What the names of its packages begin with: "libx11" of libX11.so.6, "libgcc" of libgcc_s.so.1. */
static char *start_of_packages(const char *file) {
    char *start = xstrdup(path_base(file));
    start[strcspn(start, "._")] = '\0';
    for (char *at = start; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return start;
}

/* "libsqlite3-0:amd64.list" is of libsqlite3-0; 0: it is no list. */
static size_t package_size(const char *list) {
    static const char ending[] = ".list";
    const size_t size = strlen(list), length = strlen(ending);
    bool is_list = size > length && strcmp(list + size - length, ending) == 0;
    const size_t name = strcspn(list, ":");
    return !is_list ? 0 : name < size ? name : size - length;
}

static char *owner_by_lists(const struct owned_file *file) {
    const char *admin = getenv("DPKG_ADMINDIR");
    char *directory = xasprintf("%s/info", admin ? admin : "/var/lib/dpkg"), *start = start_of_packages(file->path);
    DIR *lists = *start ? opendir(directory) : NULL;
    char *owner = NULL;
    for (struct dirent *entry; lists && !owner && (entry = readdir(lists));) {
        const char *list = entry->d_name;
        const size_t size = strncmp(list, start, strlen(start)) == 0 ? package_size(list) : 0;
        char *path = size ? xasprintf("%s/%s", directory, list) : NULL;
        if (path && lists_file(path, file)) owner = xasprintf("%.*s", (int)size, list);
        free(path);
    }
    if (lists) closedir(lists);
    free(start);
    free(directory);
    return owner;
}

/* ---- dpkg-query -------------------------------------------------------------------------------------------------- */

/* It ends with a status of 1, as one of the two paths is in no list. */
static char *owner_by_dpkg(const struct owned_file *file) {
    static const struct child_limits limits = {.output_max = 1 << 16, .seconds = DPKG_SECONDS, .group = CHILD_GROUP};
    const char *const words[] = {"dpkg-query", "-S", "--", file->path, file->other, NULL};
    struct buffer out = {0};
    struct error ignored = {0};
    (void)child_read(words, NULL, &limits, &out, &ignored);
    size_t size = strspn(buffer_text(&out), "abcdefghijklmnopqrstuvwxyz0123456789+-.");
    bool is_owned = size && buffer_text(&out)[size] == ':';
    char *package = is_owned ? xasprintf("%.*s", (int)size, buffer_text(&out)) : NULL;
    buffer_free(&out);
    return package;
}

char *owning_package(const char *path) {
    if (*path != '/') return NULL;
    struct owned_file file = owned_file(path);
    char *package = owner_by_lists(&file);
    if (!package) package = owner_by_dpkg(&file);
    free(file.other);
    return package;
}
