/* delta DIRECTORY [SITES]: compares a flush in which 1 % of the sites changed with one in which all did, and the .pb.gz
 * of that window with that of the whole run. The segment has SITES (100,000) stacks of ten frames, and this program
 * writes it itself, so that only the flush is timed: there is no profiled program, and all symbols are known after the
 * first flush. All blocks are freed, because what is in use is in every profile of a heap, changed or not.
 *
 * Prints `delta SITES SITES_CHANGED first_ms full_ms delta_ms full_export_ms delta_export_ms served_ms full_bytes
 * delta_bytes`. Times of flushes are CPU time: medians, except for the first one; delta_ms is the mean of 100, so that
 * folds are included. delta_export is of the last window by its number; served is what the server makes for a delta
 * path after each of ten flushes. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "export/export.h"
#include "ingest/record/collector.h"
#include "query/profile/load/series.h"

enum { FRAMES = 10, FULLS = 5, DELTAS = 100, SERVED = 10 };
#define BIAS 0x7f0000000000ull

static struct error failure;

static void must(int code) {
    if (code == 0) return;
    fprintf(stderr, "delta: %s\n", failure.message);
    exit(1);
}

static double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static uint64_t next_random(void) {
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* ---- a segment --------------------------------------------------------------------------------------------------- */

static void add_chunk(struct buffer *segment, uint32_t kind, uint32_t count, uint64_t first_id, const void *body,
                      size_t size) {
    static const char zeros[SEGMENT_ALIGNMENT];
    size_t padding = (SEGMENT_ALIGNMENT - size % SEGMENT_ALIGNMENT) % SEGMENT_ALIGNMENT;
    struct chunk chunk = {.kind = kind, .count = count, .size = sizeof chunk + size + padding, .first_id = first_id};
    buffer_add(segment, &chunk, sizeof chunk);
    buffer_add(segment, body, size);
    buffer_add(segment, zeros, padding);
}

/* As the runtime lays them out: a chunk of stacks now and then, chunks of 256 counters. */
static void make_segment(struct buffer *segment, uint32_t sites) {
    static const struct heap_counters none[SEGMENT_COUNTER_IDS];
    struct segment head = {.magic = SEGMENT_MAGIC,
                           .version = SEGMENT_VERSION,
                           .header_size = SEGMENT_HEADER_SIZE,
                           .features = FEATURE_HEAP,
                           .pid = getpid(),
                           .start_realtime_ns = (uint64_t)time(NULL) * 1000000000u,
                           .executable = "/nowhere/program",
                           .depth = 64};
    struct segment_module module = {.bias = BIAS, .low = BIAS, .high = BIAS + (1 << 24), .path = "/nowhere/program"};
    struct buffer stacks = {0};
    char page[SEGMENT_HEADER_SIZE] = {0};
    memcpy(page, &head, sizeof head);
    buffer_add(segment, page, sizeof page);
    add_chunk(segment, CHUNK_MODULES, 1, 0, &module, sizeof module);
    for (uint32_t id = 1, count = 0; id <= sites; id++) {
        struct segment_stack stack = {.id = id, .depth = FRAMES};
        buffer_add(&stacks, &stack, sizeof stack);
        for (uint32_t i = 0; i < FRAMES; i++) {
            uint64_t pc = BIAS + 0x1001 + 16 * (i < 3 ? id >> (5 * i) & 1023 : (i + id % 7) * 31);
            buffer_add(&stacks, &pc, sizeof pc);
        }
        if (++count < 512 && id < sites) continue;
        add_chunk(segment, CHUNK_STACKS, count, 0, stacks.data, stacks.size);
        buffer_clear(&stacks);
        count = 0;
    }
    for (uint64_t first_id = 0; first_id <= sites; first_id += SEGMENT_COUNTER_IDS)
        add_chunk(segment, CHUNK_HEAP, 0, first_id, none, sizeof none);
    ((struct segment *)(void *)segment->data)->used = segment->size;
    buffer_free(&stacks);
}

struct load {
    void *map;
    size_t size;
    uint32_t sites;
    struct heap_counters **counters; /* by id */
};

static void map_segment(struct load *load, int directory, uint32_t sites) {
    struct buffer segment = {0};
    make_segment(&segment, sites);
    int file = openat(directory, "1-1.seg", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, segment.data, segment.size) != (ssize_t)segment.size) exit(1);
    *load = (struct load){.size = segment.size, .sites = sites};
    load->map = mmap(NULL, load->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    load->counters = xcalloc(sites + SEGMENT_COUNTER_IDS, sizeof *load->counters);
    close(file);
    buffer_free(&segment);
    for (char *at = (char *)load->map + SEGMENT_HEADER_SIZE; at < (char *)load->map + load->size;) {
        struct chunk *chunk = (void *)at;
        for (uint64_t i = 0; chunk->kind == CHUNK_HEAP && i < SEGMENT_COUNTER_IDS; i++)
            load->counters[chunk->first_id + i] = (struct heap_counters *)(void *)(chunk + 1) + i;
        at += chunk->size;
    }
}

static void move(struct load *load, uint32_t id) {
    struct heap_counters *counters = load->counters[id];
    uint64_t blocks = 1 + next_random() % 8;
    counters->alloc_count += blocks, counters->alloc_bytes += blocks * 48;
    counters->free_count += blocks, counters->free_bytes += blocks * 48;
}

/* ---- the figures ------------------------------------------------------------------------------------------------- */

static double flush(struct collector *collector) {
    double start = cpu_ms();
    must(collector_flush(collector, false, &failure));
    return cpu_ms() - start;
}

static double export(struct db *db, int64_t run_id, int64_t window, struct profile_series *series, const char *path,
                     int64_t *bytes) {
    struct stat status;
    struct export_request request = {
        .source = {.kind = "heap", .runs = {&run_id, 1}, .span = {.window = window}}, .series = series, .path = path};
    double start = cpu_ms();
    must(export_write(db, &request, &failure));
    double took = cpu_ms() - start;
    *bytes = stat(path, &status) == 0 ? status.st_size : 0;
    return took;
}

static double flush_delta(struct collector *collector, struct load *load) {
    uint32_t from = (uint32_t)(next_random() % load->sites), moved = load->sites / 100;
    for (uint32_t k = 0; k < moved; k++)
        move(load, 1 + (from + k * 97) % load->sites);
    return flush(collector);
}

static double serve(struct collector *collector, struct load *load, struct db *db, int64_t run_id, const char *path) {
    struct profile_series *series = profile_series_new();
    double served = 0;
    int64_t ignored;
    (void)export(db, run_id, 0, series, path, &ignored);
    for (int i = 0; i < SERVED; i++) {
        (void)flush_delta(collector, load);
        served += export(db, run_id, 0, series, path, &ignored);
    }
    profile_series_free(series);
    return served / SERVED;
}

static int compare(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static void measure(struct collector *collector, struct load *load, struct db *db, int64_t run_id,
                    const char *directory) {
    double fulls[FULLS], deltas = 0, first;
    int64_t full_bytes, delta_bytes;
    for (uint32_t id = 1; id <= load->sites; id++)
        move(load, id);
    first = flush(collector);
    for (int i = 0; i < FULLS; i++) {
        for (uint32_t id = 1; id <= load->sites; id++)
            move(load, id);
        fulls[i] = flush(collector);
    }
    qsort(fulls, FULLS, sizeof *fulls, compare);
    for (int i = 0; i < DELTAS; i++)
        deltas += flush_delta(collector, load);
    char *path = xasprintf("%s/delta.pb.gz", directory);
    double full_export = export(db, run_id, 0, NULL, path, &full_bytes);
    double delta_export = export(db, run_id, -1, NULL, path, &delta_bytes);
    double served = serve(collector, load, db, run_id, path);
    free(path);
    printf("delta %u %u %.2f %.2f %.2f %.2f %.2f %.2f %lld %lld\n", load->sites, load->sites / 100, first,
           fulls[FULLS / 2], deltas / DELTAS, full_export, delta_export, served, (long long)full_bytes,
           (long long)delta_bytes);
}

int main(int argc, char **argv) {
    char name[] = "delta", *command[] = {name, NULL};
    struct run_description run = {.command = command};
    struct collector_options options = {.features = FEATURE_HEAP, .depth = 64, .windows = {.most = 64}};
    struct collector *collector;
    struct load load;
    struct db db;
    if (argc < 2) return 2;
    int directory = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *path = xasprintf("%s/delta.sqlite", argv[1]);
    must(db_open(&db, path, DB_WRITE, &failure));
    int64_t run_id = run_begin(&db, &run, &failure);
    must(run_id > 0 ? collector_open(&collector, &db, run_id, directory, &options, &failure) : -1);
    map_segment(&load, directory, argc > 2 ? (uint32_t)atoi(argv[2]) : 100000);
    measure(collector, &load, &db, run_id, argv[1]);
    collector_close(collector);
    must(db_close(&db, &failure));
    free(load.counters);
    munmap(load.map, load.size);
    free(path);
    close(directory);
    return 0;
}
