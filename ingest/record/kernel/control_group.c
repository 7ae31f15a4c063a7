#include "ingest/record/kernel/control_group.h"

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
static int64_t number_of(const char *path, const char *word) {
    char *text = read_text(path);
    size_t size = strlen(word);
    int64_t number = -1;
    for (const char *line = text; line && number < 0; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, word, size) == 0 && line[size] == ' ') number = strtoll(line + size, NULL, 10);
    free(text);
    return number;
}

/* ---- where its files are ----------------------------------------------------------------------------------------- */

/* Where one version of control groups counts something. Of the second version a group has all files in one directory. */
struct group_counter {
    const char *controller; /* as /proc/PID/cgroup calls it; "" in the second version */
    const char *mount, *counter, *word;
};

static const struct group_counter memory[] = {{"memory", "/sys/fs/cgroup/memory", "memory.oom_control", "oom_kill"},
                                              {"", "/sys/fs/cgroup", "memory.events", "oom_kill"}};
static const struct group_counter processors[] = {{"cpu", "/sys/fs/cgroup/cpu", "cpu.stat", "throttled_time"},
                                                  {"", "/sys/fs/cgroup", "cpu.stat", "throttled_usec"}};

/* Whether a list such as "cpu,cpuacct:" has the word; the second version's list is empty. */
static bool has_word(const char *list, const char *end, const char *word) {
    size_t length = strlen(word);
    for (; list <= end; list += strcspn(list, ",:") + 1)
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == ':')) return true;
    return false;
}

/* The path of a line of /proc/PID/cgroup, such as "4:cpu,memory:/jobs/7" or "0::/user.slice", to be freed; NULL where another hierarchy counts it. */
static char *path_of(const char *line, const struct group_counter *place) {
    const char *list = strchr(line, ':'), *end = list ? strchr(list + 1, ':') : NULL;
    if (!end || !has_word(list + 1, end, place->controller)) return NULL;
    char *path = xasprintf("%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    if (strcmp(path, "/") == 0) *path = '\0';
    return path;
}

/* The directory of a group, to be freed; NULL where the counter is not there. */
static char *directory_of(const char *root, const struct group_counter *place, const char *path) {
    char *directory = xasprintf("%s%s%s", root, place->mount, path);
    char *counter = xasprintf("%s/%s", directory, place->counter);
    bool is_there = number_of(counter, place->word) >= 0;
    free(counter);
    if (is_there) return directory;
    free(directory);
    return NULL;
}

/* In a container the path may be one of the host, where the container's own group is the root. */
static char *find_on_line(const char *root, const char *line, const struct group_counter *place) {
    char *path = path_of(line, place);
    if (!path) return NULL;
    char *directory = directory_of(root, place, path);
    if (!directory) directory = directory_of(root, place, "");
    free(path);
    return directory;
}

/* By the first version where that has it: a machine may have both. *place is moved to the version. */
static char *find(const char *root, const char *lines, const struct group_counter **place) {
    for (size_t version = 0; version < 2; version++)
        for (const char *line = lines; line; line = strchr(line, '\n'), line += line != NULL) {
            char *directory = find_on_line(root, line, *place + version);
            if (!directory) continue;
            *place += version;
            return directory;
        }
    return NULL;
}

/* The text of a file of the group, to be freed; empty where it is not there. */
static char *text_of(const char *directory, const char *name) {
    char *path = xasprintf("%s/%s", directory, name), *text = read_text(path);
    free(path);
    return text ? text : xstrdup("");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* "max" of version 2, and version 1's largest number of pages, are no limit. */
static int64_t memory_limit(const char *directory, bool is_first) {
    char *text = text_of(directory, is_first ? "memory.limit_in_bytes" : "memory.max");
    int64_t limit = strtoll(text, NULL, 10);
    free(text);
    return limit < INT64_C(1) << 62 ? limit : 0;
}

static void find_memory(struct control_group *group, const char *root, const char *lines) {
    const struct group_counter *place = memory;
    char *directory = find(root, lines, &place);
    if (directory) {
        group->memory_counter = xasprintf("%s/%s", directory, place->counter);
        group->before.memory_limit = memory_limit(directory, place == memory);
    } else {
        group->memory_counter = xasprintf("%s/proc/vmstat", root);
        group->before.memory_limit = -1;
    }
    group->before.kills = number_of(group->memory_counter, memory->word);
    free(directory);
}

/* ---- processors -------------------------------------------------------------------------------------------------- */

/* Of microseconds in each period; "max" and -1 are no limit. */
static int64_t thousandths(const char *quota, const char *period) {
    int64_t used = strtoll(quota, NULL, 10), in_all = strtoll(period, NULL, 10);
    return used > 0 && used < INT32_MAX && in_all > 0 ? (used * 1000 + in_all / 2) / in_all : 0;
}

static int64_t processor_limit(const char *directory, bool is_first) {
    char *quota = text_of(directory, is_first ? "cpu.cfs_quota_us" : "cpu.max");
    char *period = is_first ? text_of(directory, "cpu.cfs_period_us") : xstrdup(quota + strcspn(quota, " "));
    int64_t limit = thousandths(quota, period);
    free(period);
    free(quota);
    return limit;
}

static int64_t throttled_ns(const char *counter) {
    int64_t us = number_of(counter, processors[1].word), ns = number_of(counter, processors[0].word);
    return us >= 0 && us < INT64_MAX / 1000 ? us * 1000 : ns > 0 ? ns : 0;
}

static void find_processors(struct control_group *group, const char *root, const char *lines) {
    const struct group_counter *place = processors;
    char *directory = find(root, lines, &place);
    if (!directory) return;
    group->processor_counter = xasprintf("%s/%s", directory, place->counter);
    group->before.processor_thousandths = processor_limit(directory, place == processors);
    group->before.throttled_ns = throttled_ns(group->processor_counter);
    free(directory);
}

/* ---- what it tells ----------------------------------------------------------------------------------------------- */

void control_group_find(struct control_group *group, const char *root, pid_t pid) {
    char *file = xasprintf("%s/proc/%d/cgroup", root, (int)pid), *lines = read_text(file);
    *group = (struct control_group){0};
    find_memory(group, root, lines);
    find_processors(group, root, lines);
    free(lines);
    free(file);
}

static int64_t since(int64_t before, int64_t now) {
    return before >= 0 && now > before ? now - before : 0;
}

struct control_group_use control_group_use(const struct control_group *group) {
    struct control_group_use use = group->before;
    use.kills = group->memory_counter ? since(use.kills, number_of(group->memory_counter, memory->word)) : 0;
    use.throttled_ns = group->processor_counter ? since(use.throttled_ns, throttled_ns(group->processor_counter)) : 0;
    return use;
}

void control_group_free(struct control_group *group) {
    free(group->memory_counter);
    free(group->processor_counter);
    *group = (struct control_group){0};
}

char *control_group_memory_text(const struct control_group_use *use) {
    if (use->kills <= 0) return NULL;
    struct units_text processes = units_things(use->kills, "process"), limit = units_bytes(use->memory_limit);
    if (use->memory_limit < 0) return xasprintf("out of memory: the kernel ended %s of this system", processes.text);
    return xasprintf("out of memory%s%s: the kernel ended %s of its control group", use->memory_limit ? " at " : "",
                     use->memory_limit ? limit.text : "", processes.text);
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
