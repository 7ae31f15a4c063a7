#include "ingest/record/ids_limit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define IDS_LEAST    (UINT64_C(1) << 16)
#define IDS_MOST     (UINT64_C(1) << 18)
#define BYTES_OF_ONE UINT64_C(1536)

/* Of version 2, where we are at the root of our own name space as in a container. No number ("max") or no file: no limit. */
static uint64_t group_limit(void) {
    char text[32] = "";
    int file = open("/sys/fs/cgroup/memory.max", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    return size > 0 && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : UINT64_MAX;
}

uint64_t ids_limit_default(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0, limit = group_limit();
    uint64_t ids = (memory < limit ? memory : limit) / 64 / BYTES_OF_ONE;
    return ids < IDS_LEAST ? IDS_LEAST : ids > IDS_MOST ? IDS_MOST : ids;
}
