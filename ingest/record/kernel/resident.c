#include "ingest/record/kernel/resident.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { LEAST_BYTES = 16 << 20, REST_OF_LOOK = 50 };
enum { ARENA_BYTES = 64 << 20, HUGE_PAGE_BYTES = 2 << 20, PATH_ROOM = 40, LINE_ROOM = 512 };

static FILE *open_of(pid_t process, const char *name) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    return fopen(path, "re");
}

/* Pages: "MAPPED RESIDENT SHARED", the last two also those of files. */
static int64_t private_bytes(pid_t process) {
    long long pages = 0, shared = 0;
    FILE *statm = open_of(process, "statm");
    if (!statm) return 0;
    int got = fscanf(statm, "%*s %lld %lld", &pages, &shared);
    fclose(statm);
    return got == 2 && pages > shared ? (pages - shared) * sysconf(_SC_PAGESIZE) : 0;
}

struct read_mapping {
    unsigned long long start;
    bool is_heap;
    int64_t bytes;
};

/* "START-END rw-p OFFSET DEVICE INODE NAME": whether it is a mapping's first line. */
static bool is_mapping(const char *line, struct read_mapping *mapping) {
    unsigned long long start, end, inode;
    char access[5], name[16] = "";
    if (sscanf(line, "%llx-%llx %4s %*s %*s %llu %15s", &start, &end, access, &inode, name) < 4) return false;
    bool is_arena = !*name && inode == 0 && start % ARENA_BYTES == 0 && end - start <= ARENA_BYTES;
    *mapping = (struct read_mapping){
        .start = start, .is_heap = strcmp(access, "rw-p") == 0 && (is_arena || strcmp(name, "[heap]") == 0)};
    return true;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* A mapping that grows while the kernel writes the file is there again: the last of several with one start counts. */
int64_t resident_heap(FILE *smaps) {
    char line[LINE_ROOM];
    struct read_mapping mapping = {0}, next;
    int64_t bytes = 0;
    while (fgets(line, sizeof line, smaps)) {
        long long kib;
        if (is_mapping(line, &next)) {
            if (next.start != mapping.start) bytes += mapping.bytes;
            mapping = next;
        } else if (mapping.is_heap && sscanf(line, "Anonymous: %lld kB", &kib) == 1) {
            mapping.bytes = kib * 1024;
        } else if (mapping.is_heap && sscanf(line, "AnonHugePages: %lld kB", &kib) == 1 && kib > 0) {
            mapping.bytes -= least(mapping.bytes, HUGE_PAGE_BYTES);
        }
    }
    return bytes + mapping.bytes;
}

static void look_at_heap(struct resident *resident, pid_t process) {
    int64_t began_ns = clock_monotonic_ns();
    resident->heap_bytes = 0;
    if (began_ns < resident->due_ns) return;
    FILE *smaps = open_of(process, "smaps");
    if (!smaps) return;
    resident->heap_bytes = resident_heap(smaps);
    fclose(smaps);
    int64_t now_ns = clock_monotonic_ns();
    resident->due_ns = now_ns + (now_ns - began_ns) * REST_OF_LOOK;
}

void resident_look(struct resident *resident, pid_t process, int64_t live_bytes) {
    resident->private_bytes = private_bytes(process);
    resident->heap_bytes = 0;
    if (resident->private_bytes >= LEAST_BYTES && resident->private_bytes / 2 >= live_bytes)
        look_at_heap(resident, process);
}
