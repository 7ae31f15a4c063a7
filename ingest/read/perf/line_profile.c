#include "ingest/read/perf/line_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ingest/read/perf/thread_labels.h"

static int64_t labels_of(struct ingest *ingest, struct perf_names *names, const struct perf_access *access,
                         struct error *err) {
    struct store_label labels[PERF_THREAD_LABELS + 5];
    char address[24], line[24], *thread;
    size_t count = perf_thread_labels(names->recording, access->comm, access->tid, access->mode, labels, &thread);
    const char *variable = perf_names_variable(names, &access->place);
    snprintf(address, sizeof address, "0x%" PRIx64, access->address);
    snprintf(line, sizeof line, "0x%" PRIx64, access->address / CACHE_LINE * CACHE_LINE);
    labels[count++] = (struct store_label){.key = "access", .text = access->is_store ? "store" : "load"};
    labels[count++] = (struct store_label){.key = "address", .text = address};
    labels[count++] = (struct store_label){.key = "line", .text = line};
    labels[count++] = (struct store_label){.key = "pid", .number = access->pid};
    if (variable) labels[count++] = (struct store_label){.key = "variable", .text = variable};
    int64_t id = store_label_set(&ingest->store, labels, count, err);
    free(thread);
    return id;
}

static int begin(struct ingest *ingest, struct perf_names *names, int64_t duration_ns, struct error *err) {
    static const struct ingest_type types[] = {{"accesses", "count"}, {"hitm", "count"}, {"latency", "cycles"}};
    static const char *const comments[] = {
        "accesses to the cache lines that a core had to fetch from another one, which had changed them (HITM)"};
    const struct perf_lines *lines = &names->recording->lines;
    int64_t *mappings;
    struct ingest_profile profile = {.kind = "c2c",
                                     .duration_ns = duration_ns,
                                     .period = 1,
                                     .period_type = types[0].type,
                                     .period_unit = types[0].unit,
                                     .types = types,
                                     .type_count = sizeof types / sizeof *types,
                                     .default_type = types[1].type,
                                     .comments = comments,
                                     .comment_count = 1,
                                     .mapping_count = perf_names_mappings(names, (uint32_t)lines->event, &mappings),
                                     .dropped = (int64_t)names->recording->facts.events[lines->event]->lost};
    profile.mapping_ids = mappings;
    int code = ingest_begin_profile(ingest, &profile, err);
    free(mappings);
    return code;
}

static int add_access(struct ingest *ingest, struct perf_names *names, const struct perf_access *access,
                      struct error *err) {
    int64_t values[] = {(int64_t)access->samples, (int64_t)access->hitm, (int64_t)access->latency};
    int64_t trace = perf_names_trace(names, access->stack, err);
    int64_t labels = trace < 0 ? -1 : labels_of(ingest, names, access, err);
    return labels < 0 ? -1 : ingest_sample(ingest, trace, labels, values, err);
}

int perf_line_profile(struct ingest *ingest, struct perf_names *names, int64_t duration_ns, struct error *err) {
    const struct perf_lines *lines = &names->recording->lines;
    if (!lines->modified.count) return 0;
    if (begin(ingest, names, duration_ns, err)) return -1;
    for (size_t i = 0; i < lines->count; i++)
        if (perf_lines_has(lines, &lines->items[i]) && add_access(ingest, names, &lines->items[i], err)) return -1;
    return 0;
}
