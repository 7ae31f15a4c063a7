#include "ingest/read/perf/cache_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

/* union perf_mem_data_src of linux/perf_event.h. PEER is what ARM has in the place of HITM. */
#define DATA_LOAD        (UINT64_C(1) << 1)
#define DATA_STORE       (UINT64_C(1) << 2)
#define DATA_SNOOP_HITM  (UINT64_C(1) << 23)
#define DATA_SNOOPX_PEER (UINT64_C(1) << 39)

struct cache_line {
    uint64_t pid, number;
};

static struct cache_line line_of(const struct perf_access *access) {
    return (struct cache_line){access->pid, access->address / CACHE_LINE};
}

static struct perf_data_place place_of(const struct perf_space *space, uint64_t address) {
    const struct perf_area *code = perf_space_below(space, address);
    if (!code) return (struct perf_data_place){.image = IMAGE_NONE};
    return (struct perf_data_place){code->file_offset, address - code->start, code->image, 0};
}

static struct perf_access *put(struct perf_lines *lines, const struct perf_access *access,
                               const struct perf_space *space) {
    bool added;
    struct map_entry *entry = map_put(&lines->index, access, offsetof(struct perf_access, place), &added);
    if (!added) return &lines->items[entry->value];
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity ? lines->capacity * 2 : 256;
        lines->items = xrealloc(lines->items, lines->capacity * sizeof *lines->items);
    }
    entry->value = (int64_t)lines->count;
    lines->items[lines->count] = *access;
    lines->items[lines->count].place = place_of(space, access->address);
    return &lines->items[lines->count++];
}

int perf_lines_add(struct perf_lines *lines, const struct perf_data_sample *sample, struct perf_access key,
                   const struct perf_space *space, struct error *err) {
    bool is_load = sample->data_source & DATA_LOAD, is_store = sample->data_source & DATA_STORE;
    if (!sample->address || !(is_load || is_store)) return 0;
    key.is_store = is_store;
    key.address = sample->address;
    struct perf_access *access = put(lines, &key, space);
    if (is_load && sample->weight > (uint64_t)INT64_MAX - access->latency)
        return error_fail(err, "the weights of loads add up to more than 64 bits");
    access->samples++;
    if (is_load) access->latency += sample->weight;
    if (is_load && sample->data_source & (DATA_SNOOP_HITM | DATA_SNOOPX_PEER)) {
        struct cache_line line = line_of(access);
        access->hitm++;
        if (!lines->modified.count) lines->event = sample->event->index;
        map_put(&lines->modified, &line, sizeof line, NULL);
    }
    return limit_check("the memory accesses", lines->count * (sizeof *lines->items + sizeof(struct map_entry)), err);
}

void perf_lines_free(struct perf_lines *lines) {
    map_free(&lines->index);
    map_free(&lines->modified);
    free(lines->items);
    *lines = (struct perf_lines){0};
}

bool perf_lines_has(const struct perf_lines *lines, const struct perf_access *access) {
    struct cache_line line = line_of(access);
    return map_find(&lines->modified, &line, sizeof line);
}
