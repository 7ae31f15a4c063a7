#include "ingest/record/kernel/memory_group.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"

enum { TEXT_MOST = 65536 }; /* /proc/vmstat has 5 KB */

/* What the file says, to be freed; NULL where it cannot be read. */
static char *read_text(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    char *text = xcalloc(TEXT_MOST, 1);
    size_t size = 0;
    for (ssize_t got; size < TEXT_MOST - 1 && (got = read(file, text + size, TEXT_MOST - 1 - size)) > 0;)
        size += (size_t)got;
    close(file);
    return text;
}

/* The number behind a word at the beginning of a line; -1: there is none. */
static int64_t number_of(const char *text, const char *word) {
    size_t size = strlen(word);
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, word, size) == 0 && line[size] == ' ') return strtoll(line + size, NULL, 10);
    return -1;
}

static int64_t read_kills(const char *path) {
    char *text = read_text(path);
    int64_t kills = number_of(text, "oom_kill");
    free(text);
    return kills;
}

/* ---- where the group is ------------------------------------------------------------------------------------------ */

/* Where one version of control groups has its files. */
struct hierarchy {
    const char *mount, *counter, *limit;
};

static const struct hierarchy first_version = {"/sys/fs/cgroup/memory", "memory.oom_control", "memory.limit_in_bytes"};
static const struct hierarchy second_version = {"/sys/fs/cgroup", "memory.events", "memory.max"};

static bool has_word(const char *list, size_t size, const char *word) {
    size_t length = strlen(word);
    for (const char *end = list + size; list < end; list += strcspn(list, ",:") + 1)
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == ':')) return true;
    return false;
}

/* The hierarchy that a line of /proc/PID/cgroup is of, such as "4:cpu,memory:/jobs/7" or "0::/user.slice", and the path; NULL: no memory is counted by it. */
static const struct hierarchy *read_line(const char *line, char **path) {
    const char *controllers = strchr(line, ':'), *end = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!end) return NULL;
    controllers++;
    bool is_second = end == controllers;
    if (!is_second && !has_word(controllers, (size_t)(end - controllers), "memory")) return NULL;
    *path = xasprintf("%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    return is_second ? &second_version : &first_version;
}

/* "max" of version 2, and version 1's largest number of pages, are no limit. */
static int64_t read_limit(const char *path) {
    char *text = read_text(path);
    int64_t limit = text ? strtoll(text, NULL, 10) : 0;
    free(text);
    return limit < INT64_C(1) << 62 ? limit : 0;
}

/* True if the directory of the group is there, with a counter. */
static bool take(struct memory_group *group, const struct hierarchy *hierarchy, const char *root, const char *path) {
    char *counter = xasprintf("%s%s%s/%s", root, hierarchy->mount, path, hierarchy->counter);
    int64_t before = read_kills(counter);
    if (before < 0) {
        free(counter);
        return false;
    }
    char *limit = xasprintf("%s%s%s/%s", root, hierarchy->mount, path, hierarchy->limit);
    *group = (struct memory_group){.counter = counter, .before = before, .limit = read_limit(limit)};
    free(limit);
    return true;
}

/* In a container the path may be one of the host, where the container's own group is the root. */
static bool take_line(struct memory_group *group, const char *root, const char *line) {
    char *path;
    const struct hierarchy *hierarchy = read_line(line, &path);
    if (!hierarchy) return false;
    bool is_taken =
        take(group, hierarchy, root, strcmp(path, "/") == 0 ? "" : path) || take(group, hierarchy, root, "");
    free(path);
    return is_taken;
}

static void take_system(struct memory_group *group, const char *root) {
    char *counter = xasprintf("%s/proc/vmstat", root);
    int64_t before = read_kills(counter);
    *group = (struct memory_group){.before = before, .limit = -1};
    if (before >= 0)
        group->counter = counter;
    else
        free(counter);
}

void memory_group_find(struct memory_group *group, const char *root, pid_t pid) {
    char *file = xasprintf("%s/proc/%d/cgroup", root, (int)pid), *text = read_text(file);
    bool is_taken = false;
    for (const char *line = text; line && !is_taken; line = strchr(line, '\n'), line += line != NULL)
        is_taken = take_line(group, root, line);
    if (!is_taken) take_system(group, root);
    free(text);
    free(file);
}

/* ---- what it tells ----------------------------------------------------------------------------------------------- */

int64_t memory_group_kills(const struct memory_group *group) {
    int64_t now = group->counter ? read_kills(group->counter) : -1;
    return now > group->before ? now - group->before : 0;
}

void memory_group_free(struct memory_group *group) {
    free(group->counter);
    *group = (struct memory_group){0};
}

char *memory_group_text(int64_t kills, int64_t limit) {
    if (kills <= 0) return NULL;
    struct units_text processes = units_things(kills, "process");
    if (limit < 0) return xasprintf("out of memory: the kernel ended %s of this system", processes.text);
    struct units_text most = units_bytes(limit);
    return xasprintf("out of memory%s%s: the kernel ended %s of its control group", limit ? " at " : "",
                     limit ? most.text : "", processes.text);
}

int memory_rank_set(int rank) {
    char before[16] = "", text[16];
    int size = snprintf(text, sizeof text, "%d", rank);
    int file = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : pread(file, before, sizeof before - 1, 0);
    ssize_t ignored = got > 0 ? write(file, text, (size_t)size) : 0;
    (void)ignored;
    if (file >= 0) close(file);
    return (int)strtol(before, NULL, 10);
}
