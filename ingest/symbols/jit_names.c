#include "ingest/symbols/jit_names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "ingest/symbols/jit_dump.h"

enum { FILE_MAX = 64 << 20, LINE_ROOM = 4096, NAME_MAX_BYTES = 1024, RANGES_MAX = 1 << 21 /* some 130 MiB */ };

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void clear_ranges(struct jit_ranges *ranges) {
    for (size_t i = 0; i < ranges->count; i++)
        free(ranges->items[i].name);
    ranges->count = 0;
}

static void add_range(struct jit_ranges *ranges, uint64_t start, uint64_t limit, const char *name) {
    if (ranges->count == ranges->capacity) {
        ranges->capacity = ranges->capacity ? ranges->capacity * 2 : 64;
        ranges->items = xrealloc(ranges->items, ranges->capacity * sizeof *ranges->items);
    }
    char *copy = xasprintf("%.*s", NAME_MAX_BYTES, name);
    ranges->items[ranges->count] = (struct jit_range){start, limit, ranges->count, copy};
    ranges->count++;
}

static int by_start(const void *left, const void *right) {
    const struct jit_range *a = left, *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_ranges(struct jit_ranges *ranges) {
    if (ranges->count) qsort(ranges->items, ranges->count, sizeof *ranges->items, by_start);
}

static const char *find_range(const struct jit_ranges *ranges, uint64_t address) {
    size_t low = 0, high = ranges->count; /* the last one that starts at the address or before */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < ranges->items[low - 1].limit ? ranges->items[low - 1].name : NULL;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Lines of a file, each given to `take`; of one that is too long the beginning. */
static void each_line(FILE *file, struct jit_ranges *ranges, void (*take)(struct jit_ranges *, char *)) {
    char line[LINE_ROOM];
    size_t read = 0;
    bool is_rest = false;
    while (read < FILE_MAX && ranges->count < RANGES_MAX && fgets(line, sizeof line, file)) {
        size_t size = strlen(line);
        bool is_whole = size && line[size - 1] == '\n';
        read += size + !size; /* a line may begin with a NUL */
        if (is_whole) line[size - 1] = '\0';
        if (!is_rest) take(ranges, line);
        is_rest = !is_whole;
    }
}

/* "7f0012340000 40 LazyCompile:*parse /srv/app.js:12:3": start and size in hex. */
static void take_symbol(struct jit_ranges *ranges, char *line) {
    uint64_t start, size;
    int name = 0;
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &name) != 2 || !name || !line[name]) return;
    if (start + size > start) add_range(ranges, start, start + size, line + name);
}

/* "7f0012340000-7f0012380000 rwxp 00000000 00:00 0   [anon:v8]" */
static void take_region(struct jit_ranges *ranges, char *line) {
    uint64_t start, limit;
    char rights[8];
    int name = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &start, &limit, rights, &name) != 3 || !name) return;
    if (!strchr(rights, 'x')) return;
    const char *shown = line[name] == '/' ? path_base(line + name) : line + name;
    add_range(ranges, start, limit, *shown ? shown : "[anon]");
}

static void find_owner(struct jit_names *names) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%" PRId32, names->pid);
    if (!names->is_running || stat(path, &status) != 0) return; /* what was known stays, for a process that has ended */
    names->owner = status.st_uid;
    names->has_owner = true;
}

/* Mostly in /tmp, where anybody may make files: a regular file, of our user or of the one that the process runs as. */
static FILE *open_symbols(const struct jit_names *names, const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return NULL;
    bool is_ours = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                   (status.st_uid == geteuid() || (names->has_owner && status.st_uid == names->owner));
    FILE *stream = is_ours ? fdopen(file, "r") : NULL;
    if (!stream) close(file);
    return stream;
}

static bool take_code(void *context, uint64_t start, uint64_t size, const char *name) {
    struct jit_ranges *ranges = context;
    if (start + size > start && *name) add_range(ranges, start, start + size, name);
    return ranges->count < RANGES_MAX;
}

static void add_symbols(struct jit_ranges *symbols, FILE *file) {
    if (jit_dump_is_one(file))
        jit_dump_read(file, take_code, symbols);
    else
        each_line(file, symbols, take_symbol);
}

void jit_names_read(struct jit_names *names, FILE *symbols) {
    names->is_read = true;
    clear_ranges(&names->symbols);
    add_symbols(&names->symbols, symbols);
    sort_ranges(&names->symbols);
}

/* What was read before stays, for a process that has ended. */
static void read_regions(struct jit_names *names, FILE *maps) {
    clear_ranges(&names->regions);
    each_line(maps, &names->regions, take_region);
    sort_ranges(&names->regions);
}

/* A runtime maps its jitdump, so that perf sees where it is. */
static void find_dump(struct jit_names *names, FILE *maps) {
    char line[LINE_ROOM], end[32];
    size_t length = (size_t)snprintf(end, sizeof end, "/jit-%" PRId32 ".dump\n", names->pid);
    rewind(maps);
    while (fgets(line, sizeof line, maps)) {
        size_t size = strlen(line);
        if (size < length || strcmp(line + size - length, end) != 0) continue;
        free(names->dump);
        line[size - 1] = '\0';
        names->dump = xstrdup(strchr(line, '/'));
        return;
    }
}

static void read_symbols(struct jit_names *names) {
    char map[64], dump[64];
    snprintf(map, sizeof map, "/tmp/perf-%" PRId32 ".map", names->pid);
    snprintf(dump, sizeof dump, "jit-%" PRId32 ".dump", names->pid);
    FILE *files[] = {open_symbols(names, map), open_symbols(names, names->dump ? names->dump : dump)};
    if (files[0] || files[1]) clear_ranges(&names->symbols);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!files[i]) continue;
        add_symbols(&names->symbols, files[i]);
        fclose(files[i]);
    }
    sort_ranges(&names->symbols);
}

static void read_files(struct jit_names *names) {
    char path[64];
    names->is_read = true;
    if (names->pid <= 0) return;
    find_owner(names);
    snprintf(path, sizeof path, "/proc/%" PRId32 "/maps", names->pid);
    FILE *maps = names->is_running ? fopen(path, "re") : NULL;
    if (maps) {
        read_regions(names, maps);
        find_dump(names, maps);
        fclose(maps);
    }
    read_symbols(names);
}

void jit_names_begin(struct jit_names *names, int32_t pid, bool is_running) {
    if (names->pid != pid) {
        names->has_owner = false;
        free(names->dump);
        names->dump = NULL;
    }
    names->pid = pid;
    names->is_running = is_running;
    names->is_read = false;
}

const char *jit_name(struct jit_names *names, uint64_t address) {
    if (!names->is_read) read_files(names);
    const char *name = find_range(&names->symbols, address);
    if (!name) name = find_range(&names->regions, address);
    return name ? name : "[anon]";
}

void jit_names_free(struct jit_names *names) {
    clear_ranges(&names->symbols);
    clear_ranges(&names->regions);
    free(names->dump);
    free(names->symbols.items);
    free(names->regions.items);
    *names = (struct jit_names){0};
}
