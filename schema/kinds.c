#include "schema/kinds.h"

#include <string.h>

/* Go's viewers open a heap profile on what is in use and a mutex profile on the delay; so do we. */
const struct kind kinds[KIND_COUNT + 1] = {
    [KIND_HEAP] = {.name = "heap",
                   .types = {{"alloc_objects", "count", "alloc_count", false},
                             {"alloc_space", "bytes", "alloc_bytes", false},
                             {"inuse_objects", "count", "alloc_count - free_count", true},
                             {"inuse_space", "bytes", "alloc_bytes - free_bytes", true}},
                   .default_type = "inuse_space",
                   .period_type = "space",
                   .period_unit = "bytes",
                   .table = "sites",
                   .label_set_id = "label_set_id",
                   .hides_wrappers = true,
                   .addressed = true,
                   .in_directory = true},
    [KIND_CPU] = {.name = "cpu",
                  .types = {{"samples", "count", "samples", false}, {"cpu", "nanoseconds", "cpu_ns", false}},
                  .default_type = "cpu",
                  .period_type = "cpu",
                  .period_unit = "nanoseconds",
                  .table = "cpu",
                  .label_set_id = "label_set_id",
                  .in_directory = true},
    [KIND_LOCK] = {.name = "lock",
                   .types = {{"contentions", "count", "contended + read_contended + timeouts + unfinished", false},
                             {"delay", "nanoseconds", "wait_ns + read_wait_ns", false},
                             {"hold", "nanoseconds", "hold_ns", false},
                             {"acquisitions", "count", "acquires + read_acquires", false}},
                   .default_type = "delay",
                   .period_type = "contentions",
                   .period_unit = "count",
                   .table = "locks",
                   .label_set_id = "0",
                   .query = "export/lock.sql",
                   .in_directory = true},
    [KIND_MVCC] = {.name = "mvcc",
                   .types = {{"reads", "count"}, {"commits", "count"}, {"retries", "count"}, {"cow_bytes", "bytes"}},
                   .default_type = "cow_bytes",
                   .period_type = "commits",
                   .period_unit = "count",
                   .query = "export/kinds/mvcc",
                   .in_directory = true},
    [KIND_CHANNELS] = {.name = "channels",
                       .types = {{"pushes", "count"},
                                 {"pops", "count"},
                                 {"push_blocked", "count"},
                                 {"pop_blocked", "count"},
                                 {"max_depth", "count"}},
                       .default_type = "pushes",
                       .period_type = "pushes",
                       .period_unit = "count",
                       .query = "export/kinds/channels",
                       .in_directory = true},
    /* What threads wait for that is no lock: condition variables, semaphores, barriers, the end of threads, futexes. */
    [KIND_WAIT] = {.name = "wait",
                   .types = {{"waits", "count", "contended + timeouts + unfinished", false},
                             {"delay", "nanoseconds", "wait_ns", false}},
                   .default_type = "delay",
                   .period_type = "contentions",
                   .period_unit = "count",
                   .table = "locks",
                   .label_set_id = "0",
                   .query = "export/kinds/wait",
                   .in_directory = true},
    [KIND_FIBERS] = {.name = "fibers",
                     .types = {{"spawns", "count"}, {"runs", "count"}, {"exits", "count"}, {"lifetime", "nanoseconds"}},
                     .default_type = "lifetime",
                     .period_type = "spawns",
                     .period_unit = "count",
                     .query = "export/kinds/fibers"},
    [KIND_SYSCALLS] = {.name = "syscalls",
                       .types = {{"calls", "count"}, {"errors", "count"}, {"time", "nanoseconds"}},
                       .default_type = "time",
                       .period_type = "calls",
                       .period_unit = "count",
                       .query = "export/kinds/syscalls"},
    /* As Go calls them: what waited for locks, and what waited for locks and channels. */
    [KIND_MUTEX] = {.name = "mutex",
                    .types = {{"contentions", "count"}, {"delay", "nanoseconds"}},
                    .default_type = "delay",
                    .period_type = "contentions",
                    .period_unit = "count",
                    .query = "export/kinds/block",
                    .parts = {"lock"}},
    [KIND_BLOCK] = {.name = "block",
                    .types = {{"contentions", "count"}, {"delay", "nanoseconds"}},
                    .default_type = "delay",
                    .period_type = "contentions",
                    .period_unit = "count",
                    .query = "export/kinds/block",
                    .parts = {"lock", "channels", "wait"}},
    [KIND_HEAP_PEAK] = {.name = "heap-peak",
                        .types = {{"peak_objects", "count", "peak_count", false},
                                  {"peak_space", "bytes", "peak_bytes", false}},
                        .default_type = "peak_space",
                        .period_type = "space",
                        .period_unit = "bytes",
                        .table = "heap_peaks",
                        .label_set_id = "0",
                        .hides_wrappers = true,
                        .addressed = true,
                        .in_directory = true},
    [KIND_LEAK] = {.name = "leak",
                   .types = {{"indirect_objects", "count", "indirect_count", false},
                             {"indirect_space", "bytes", "indirect_bytes", false},
                             {"lost_objects", "count", "lost_count", false},
                             {"lost_space", "bytes", "lost_bytes", false}},
                   .default_type = "lost_space",
                   .period_type = "space",
                   .period_unit = "bytes",
                   .table = "leaks",
                   .label_set_id = "0",
                   .addressed = true,
                   .hides_wrappers = true,
                   .in_directory = true},
    [KIND_THREADS] = {.name = "threads",
                      .types = {{"started", "count", "started", false}, {"lifetime", "nanoseconds", "life_ns", false}},
                      .default_type = "started",
                      .period_type = "started",
                      .period_unit = "count",
                      .table = "thread_starts",
                      .label_set_id = "0",
                      .in_directory = true},
    [KIND_MMAP] = {.name = "mmap",
                   .types = {{"mapped_objects", "count", "map_count", false},
                             {"mapped_space", "bytes", "map_bytes", false},
                             {"inuse_objects", "count", "map_count - unmap_count", true},
                             {"inuse_space", "bytes", "map_bytes - unmap_bytes", true}},
                   .default_type = "inuse_space",
                   .period_type = "space",
                   .period_unit = "bytes",
                   .table = "maps",
                   .label_set_id = "label_set_id",
                   .in_directory = true},
    /* A sample is a bucket of a histogram of a site; its lower limit is the label bytes, lifetime or passed. */
    [KIND_LIFETIMES] = {.name = "lifetimes",
                        .types = {{"allocated", "count"}, {"freed", "count"}, {"freed_same_thread", "count"}},
                        .default_type = "freed",
                        .period_type = "space",
                        .period_unit = "bytes",
                        .query = "export/kinds/lifetimes",
                        .hides_wrappers = true,
                        .in_directory = true},
    /* Calls that read, write, open and close files and sockets. */
    [KIND_IO] = {.name = "io",
                 .types = {{"calls", "count"}, {"bytes", "bytes"}, {"time", "nanoseconds"}},
                 .default_type = "calls",
                 .period_type = "calls",
                 .period_unit = "count",
                 .query = "export/io.sql",
                 .in_directory = true},
    [KIND_SPIN] = {.name = "spin",
                   .types = {{"yields", "count", "yields", false},
                             {"short_sleeps", "count", "short_sleeps", false},
                             {"slept", "nanoseconds", "sleep_ns", false},
                             {"failed_tries", "count", "failed_tries", false},
                             {"calls", "count", "yields + short_sleeps + failed_tries", false}},
                   .default_type = "calls",
                   .period_type = "calls",
                   .period_unit = "count",
                   .table = "spins",
                   .label_set_id = "0",
                   .in_directory = true},
    [KIND_WALL] = {.name = "wall",
                   .types = {{"samples", "count", "v0", false}, {"wall", "nanoseconds", "v1", false}},
                   .default_type = "wall",
                   .period_type = "wall",
                   .period_unit = "nanoseconds",
                   .table = "samples",
                   .label_set_id = "label_set_id",
                   .in_directory = true},
    [KIND_OFF_CPU] = {.name = "off-cpu",
                      .types = {{"samples", "count", "v0", false}, {"off_cpu", "nanoseconds", "v1", false}},
                      .default_type = "off_cpu",
                      .period_type = "wall",
                      .period_unit = "nanoseconds",
                      .table = "samples",
                      .label_set_id = "label_set_id",
                      .in_directory = true},
    [KIND_RECORDER] = {.name = "recorder",
                       .types = {{"samples", "count", "samples", false}, {"cpu", "nanoseconds", "cpu_ns", false}},
                       .default_type = "cpu",
                       .period_type = "cpu",
                       .period_unit = "nanoseconds",
                       .table = "cpu",
                       .label_set_id = "label_set_id"},
    /* The columns are v0 to v7, and `more` for what comes after those. */
    [KIND_COUNT] =
        {.default_type = "", .period_type = "", .period_unit = "", .table = "samples", .label_set_id = "label_set_id"},
};

const struct kind *kind_find(const char *name) {
    const struct kind *kind = kinds;
    while (kind->name && strcmp(kind->name, name) != 0)
        kind++;
    return kind;
}

const char *kind_stored(const char *name) {
    const struct kind *kind = kind_find(name);
    return kind->parts[0] ? kind->parts[0] : name;
}

bool kind_is_table(const char *name) {
    return strcmp(name, "counters") == 0;
}

bool kind_is_taken(const char *name) {
    return kind_find(name)->name || kind_is_table(name);
}

void kind_bind(sqlite3_stmt *statement, const char *name) {
    const struct kind *kind = kind_find(name);
    db_bind_text(statement, ":kind", kind_stored(name));
    if (sqlite3_bind_parameter_index(statement, ":also")) db_bind_text(statement, ":also", kind->parts[1]);
    if (sqlite3_bind_parameter_index(statement, ":further")) db_bind_text(statement, ":further", kind->parts[2]);
}

bool kind_has_state(const struct kind *kind) {
    const struct kind_type *type = kind->types;
    while (type->type && !type->is_state)
        type++;
    return type->type;
}

const struct kind_type *kind_type_find(const struct kind *kind, const char *type) {
    static const char in_use[] = "inuse_";
    for (const struct kind_type *found = kind->types; found->type; found++)
        if (strcmp(found->type, type) == 0 ||
            (strncmp(found->type, in_use, strlen(in_use)) == 0 && strcmp(found->type + strlen(in_use), type) == 0))
            return found;
    return NULL;
}

void kind_add_types(struct buffer *json, const struct kind *kind) {
    buffer_add_char(json, '[');
    for (const struct kind_type *type = kind->types; type->type; type++)
        buffer_printf(json, "%s[\"%s\",\"%s\"]", type == kind->types ? "" : ",", type->type, type->unit);
    buffer_add_char(json, ']');
}

static bool has_types(const struct kind *kind, const char *sample_types) {
    struct buffer own = {0};
    kind_add_types(&own, kind);
    bool has = strcmp(buffer_text(&own), sample_types) == 0;
    buffer_free(&own);
    return has;
}

bool kind_is_made_again(const struct kind *kind, const char *sample_types) {
    bool has_own_rows = kind->query || kind == &kinds[KIND_HEAP_PEAK] || kind == &kinds[KIND_LEAK];
    if (!has_own_rows || !kind->parts[0]) return has_own_rows && has_types(kind, sample_types);
    for (int i = 0; i < KIND_PARTS_MAX && kind->parts[i]; i++)
        if (has_types(kind_find(kind->parts[i]), sample_types)) return true;
    return false;
}
