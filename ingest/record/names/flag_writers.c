#include "ingest/record/names/flag_writers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum { PIECE = 1 << 20, OVERLAP = 16 };

static const char *function_at(const struct code_segment *segment, int64_t address) {
    const struct symbol_frame *frames;
    size_t count = symbolize(segment->module, (uint64_t)address, &frames);
    return frames[count - 1].system_name;
}

/* What the search is for: a store to `flag` outside of the function `own`. */
struct store_search {
    const struct code_segment *segment;
    int64_t flag;
    const char *own;
    char *writer;
};

static bool is_at(struct store_search *search, const uint8_t *code, size_t at, int64_t address) {
    static const size_t numbers[] = {0, 1, 4, 2};
    int32_t displacement;
    memcpy(&displacement, code + at, sizeof displacement);
    int64_t behind = search->flag - (address + (int64_t)sizeof displacement + displacement);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (behind != (int64_t)numbers[i] || !is_store_relative(code, at, numbers[i])) continue;
        const char *function = function_at(search->segment, address);
        if (strcmp(function, search->own) == 0) continue;
        search->writer = xstrdup(function);
        return true;
    }
    return false;
}

static bool search_piece(struct store_search *search, const uint8_t *code, size_t size, int64_t address) {
    for (size_t at = 3; at + sizeof(int32_t) <= size; at++)
        if (is_at(search, code, at, address + (int64_t)at)) return true;
    return false;
}

static void search_segment(struct store_search *search) {
    const struct code_segment *segment = search->segment;
    uint8_t *code = xmalloc(PIECE + OVERLAP);
    for (int64_t at = 0; at < segment->size; at += PIECE) {
        int64_t wanted = segment->size - at < PIECE + OVERLAP ? segment->size - at : PIECE + OVERLAP;
        ssize_t got = pread(segment->file, code, (size_t)wanted, segment->offset + at);
        if (got <= 0 || search_piece(search, code, (size_t)got, segment->offset + at + segment->to_address)) break;
    }
    free(code);
}

static char *flag_name(const struct code_segment *segment, int64_t address) {
    const char *path = segment->name;
    uint64_t offset;
    const char *name = symbolize_data(segment->module, (uint64_t)address, &offset);
    if (!name) return NULL;
    return offset ? xasprintf("%s:%s+%llu", path, name, (unsigned long long)offset) : xasprintf("%s:%s", path, name);
}

bool flag_writer_find(const struct code_segment *segment, const struct spin_loop *loop, int64_t start, int64_t *left,
                      struct flag_writer *found) {
    *found = (struct flag_writer){0};
    int64_t base = start + segment->to_address;
    char *own = xstrdup(function_at(segment, base + (int64_t)loop->head));
    for (int i = 0; i < loop->asked_count && !found->writer && *left >= segment->size; i++) {
        struct store_search search = {.segment = segment, .flag = base + loop->asked[i], .own = own};
        *left -= segment->size;
        search_segment(&search);
        found->writer = search.writer;
        if (search.writer) found->flag = flag_name(segment, search.flag);
    }
    free(own);
    return found->writer != NULL;
}

bool flag_loop_is_pure(const struct code_segment *segment, const struct spin_loop *loop, int64_t start) {
    return !loop->called ||
           strcmp(function_at(segment, start + segment->to_address + loop->called), "__errno_location@plt") == 0;
}
