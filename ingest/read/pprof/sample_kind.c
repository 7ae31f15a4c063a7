#include "ingest/read/pprof/sample_kind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The types that a profile of a kind may have, as bits in the order of kinds[].types: any of `takes`, and all of
 * `needs`. */
static const struct intake {
    enum kind_id kind;
    unsigned takes, needs;
    bool is_plain;   /* gperftools' names for what is in use */
    bool is_own;     /* clear alone writes them */
    bool is_counted; /* each sample is a period of CPU time */
} intakes[] = {
    {KIND_HEAP, 15, 0, false, false},     {KIND_HEAP, 12, 12, true, false},     {KIND_LOCK, 3, 3, false, false},
    {KIND_CPU, 3, 2, false, false},       {KIND_IO, 7, 7, false, false},        {KIND_SPIN, 31, 31, false, false},
    {KIND_THREADS, 3, 3, false, false},   {KIND_LOCK, 15, 15, false, true},     {KIND_WAIT, 3, 3, false, true},
    {KIND_MVCC, 15, 15, false, true},     {KIND_CHANNELS, 31, 31, false, true}, {KIND_HEAP_PEAK, 3, 3, false, false},
    {KIND_LEAK, 15, 15, false, false},    {KIND_MMAP, 15, 15, false, false},    {KIND_LIFETIMES, 7, 7, false, false},
    {KIND_CPU, 1, 1, false, false, true},
};

static bool is_figure(const struct intake *intake, int figure, const struct ingest_type *type) {
    const struct kind_type *wanted = &kinds[intake->kind].types[figure];
    const char *name = wanted->type + (intake->is_plain ? strlen("inuse_") : 0);
    return strcmp(name, type->type) == 0 && strcmp(wanted->unit, type->unit) == 0;
}

/* Whether each type of the profile is a figure of that table, and none is there twice. */
static bool fits(struct pprof_kind *kind, const struct intake *intake, const struct ingest_type *types, size_t count) {
    unsigned found = 0;
    for (int i = 0; i < PPROF_FIGURES; i++)
        kind->figures[i] = -1;
    for (size_t i = 0; i < count; i++) {
        int figure = 0;
        while (figure < PPROF_FIGURES && (!(intake->takes & 1u << figure) || !is_figure(intake, figure, &types[i])))
            figure++;
        if (figure == PPROF_FIGURES || kind->figures[figure] >= 0) return false;
        kind->figures[figure] = (int)i;
        found |= 1u << figure;
    }
    return count > 0 && (found & intake->needs) == intake->needs;
}

void pprof_kind_untyped(struct pprof_kind *kind, const struct ingest_type *types, size_t count, struct arena *names) {
    const char *name = count && *types->type ? types->type : "samples";
    *kind = (struct pprof_kind){.name = name, .id = KIND_COUNT};
    if (!kind_is_taken(name)) return;
    size_t size = strlen(name) + sizeof "_samples";
    char *longer = arena_alloc(names, size);
    strcpy(longer, name);
    strcat(longer, "_samples");
    kind->name = longer;
}

/* What a sample of a profile that only counts them stands for. */
static int64_t sample_ns_of(const struct pprof_types *types) {
    bool is_time = strcmp(types->period_type.type, "cpu") == 0 && strcmp(types->period_type.unit, "nanoseconds") == 0;
    return is_time && types->period > 0 ? types->period : 0;
}

void pprof_kind_find(struct pprof_kind *kind, const struct pprof_types *types, struct arena *names) {
    for (size_t i = 0; i < sizeof intakes / sizeof *intakes; i++) {
        kind->id = intakes[i].kind;
        kind->is_own = intakes[i].is_own;
        kind->name = kinds[kind->id].name;
        kind->sample_ns = intakes[i].is_counted ? sample_ns_of(types) : 0;
        if (intakes[i].is_counted && !kind->sample_ns) continue;
        if (fits(kind, &intakes[i], types->types, types->count)) return;
    }
    pprof_kind_untyped(kind, types->types, types->count, names);
}

bool pprof_kind_is_open(const struct pprof_kind *kind) {
    return kind->id == KIND_HEAP || kind->id == KIND_CPU || kind->id == KIND_COUNT;
}

static int64_t figure(const struct pprof_kind *kind, int index, const int64_t *values) {
    return kind->figures[index] < 0 ? 0 : values[kind->figures[index]];
}

static int add_site(const struct pprof_kind *kind, struct ingest *ingest, struct ingest_site *site,
                    const int64_t *values, struct error *err) {
    int64_t live_count = figure(kind, 2, values), live_bytes = figure(kind, 3, values);
    site->alloc_count = kind->figures[0] < 0 ? live_count : values[kind->figures[0]];
    site->alloc_bytes = kind->figures[1] < 0 ? live_bytes : values[kind->figures[1]];
    if (kind->figures[2] < 0) live_count = site->alloc_count;
    if (kind->figures[3] < 0) live_bytes = site->alloc_bytes;
    if (__builtin_sub_overflow(site->alloc_count, live_count, &site->free_count) ||
        __builtin_sub_overflow(site->alloc_bytes, live_bytes, &site->free_bytes))
        return error_fail(err, "allocated less in use exceeds 64 bits");
    return ingest_site(ingest, site, err);
}

static int add_cpu(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id, int64_t label_set_id,
                   const int64_t *values, struct error *err) {
    int64_t samples = figure(kind, 0, values), cpu_ns = figure(kind, 1, values);
    if (kind->sample_ns && __builtin_mul_overflow(samples, kind->sample_ns, &cpu_ns))
        return error_fail(err, "samples times their period exceeds 64 bits");
    return ingest_cpu(ingest, trace_id, label_set_id, samples, cpu_ns, err);
}

static bool is_sum_of_spins(const struct pprof_kind *kind, const int64_t *values) {
    int64_t sum;
    return !__builtin_add_overflow(figure(kind, 0, values), figure(kind, 1, values), &sum) &&
           !__builtin_add_overflow(sum, figure(kind, 3, values), &sum) && sum == figure(kind, 4, values);
}

/* The one whose figure is first that is not 0. */
static int histogram_of(const struct pprof_kind *kind, const int64_t *values) {
    int histogram = INGEST_SIZE;
    while (histogram < INGEST_HISTOGRAMS - 1 && !figure(kind, histogram - INGEST_SIZE, values))
        histogram++;
    return histogram;
}

/* The label of a bucket says of which histogram it is, and so in which figure its blocks are. */
static bool is_bucket(const struct pprof_kind *kind, const int64_t *values, const struct writer_label *label) {
    static const struct {
        const char *key, *unit;
    } labels[INGEST_HISTOGRAMS] = {[INGEST_SIZE] = {"bytes", "bytes"},
                                   [INGEST_LIFETIME] = {"lifetime", "nanoseconds"},
                                   [INGEST_PASSED] = {"passed", "count"}};
    int histogram = histogram_of(kind, values), figures = 0;
    for (int i = INGEST_SIZE; i < INGEST_HISTOGRAMS; i++)
        figures += figure(kind, i - INGEST_SIZE, values) != 0;
    return figures == 1 && figure(kind, histogram - INGEST_SIZE, values) > 0 && label->number >= 0 &&
           strcmp(labels[histogram].key, label->key) == 0 && strcmp(labels[histogram].unit, label->unit) == 0;
}

/* The address of the site, which is the first of its stack; none where there is no stack. */
static bool is_address(const char *text) {
    return strncmp(text, "0x", 2) == 0 && text[2] && !text[2 + strspn(text + 2, "0123456789abcdef")];
}

bool pprof_kind_holds(const struct pprof_kind *kind, const int64_t *values, size_t label_count,
                      const struct writer_label *label) {
    switch (kind->id) {
    case KIND_IO: return label && label->text && strcmp(label->key, "call") == 0 && ingest_io_call(label->text) != 0;
    case KIND_SPIN: return label_count == 0 && is_sum_of_spins(kind, values);
    case KIND_LOCK:
    case KIND_THREADS: return label_count == 0;
    case KIND_HEAP_PEAK:
    case KIND_LEAK: return label && label->text && strcmp(label->key, "addr") == 0 && is_address(label->text);
    case KIND_MMAP: return label && label->text && strcmp(label->key, "use") == 0 && ingest_use(label->text) != 0;
    case KIND_LIFETIMES: return label && !label->text && is_bucket(kind, values, label);
    default: return true;
    }
}

static int add_bucket(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id, int64_t from_value,
                      const int64_t *values, struct error *err) {
    int histogram = histogram_of(kind, values);
    const struct ingest_bucket bucket = {trace_id, histogram, from_value,
                                         figure(kind, histogram - INGEST_SIZE, values)};
    return ingest_bucket(ingest, &bucket, err);
}

static int add_mappings(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id, int64_t use,
                        const int64_t *values, struct error *err) {
    struct ingest_map map = {
        .trace_id = trace_id, .use = use, .map_count = figure(kind, 0, values), .map_bytes = figure(kind, 1, values)};
    if (__builtin_sub_overflow(map.map_count, figure(kind, 2, values), &map.unmap_count) ||
        __builtin_sub_overflow(map.map_bytes, figure(kind, 3, values), &map.unmap_bytes))
        return error_fail(err, "mapped less in use exceeds 64 bits");
    return ingest_map(ingest, &map, err);
}

static int add_lost(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id, const int64_t *values,
                    struct error *err) {
    return ingest_leak(ingest,
                       &(struct ingest_leak){.trace_id = trace_id,
                                             .lost_count = figure(kind, 2, values),
                                             .lost_bytes = figure(kind, 3, values),
                                             .indirect_count = figure(kind, 0, values),
                                             .indirect_bytes = figure(kind, 1, values)},
                       err);
}

int pprof_kind_add(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id, int64_t subject,
                   const int64_t *values, struct error *err) {
    switch (kind->id) {
    case KIND_HEAP:
        return add_site(kind, ingest, &(struct ingest_site){.trace_id = trace_id, .label_set_id = subject}, values,
                        err);
    case KIND_LOCK:
        return ingest_lock(ingest,
                           &(struct ingest_lock){.object_id = subject,
                                                 .trace_id = trace_id,
                                                 .contended = figure(kind, 0, values),
                                                 .wait_ns = figure(kind, 1, values)},
                           err);
    case KIND_CPU: return add_cpu(kind, ingest, trace_id, subject, values, err);
    case KIND_IO:
        return ingest_io(ingest, trace_id, subject, figure(kind, 0, values), figure(kind, 1, values),
                         figure(kind, 2, values), err);
    case KIND_SPIN:
        return ingest_spin(ingest,
                           &(struct ingest_spin){.trace_id = trace_id,
                                                 .yields = figure(kind, 0, values),
                                                 .short_sleeps = figure(kind, 1, values),
                                                 .sleep_ns = figure(kind, 2, values),
                                                 .failed_tries = figure(kind, 3, values)},
                           err);
    case KIND_THREADS:
        return ingest_thread_start(ingest, trace_id, figure(kind, 0, values), figure(kind, 1, values), err);
    case KIND_HEAP_PEAK:
        return ingest_heap_peak(ingest, trace_id, figure(kind, 0, values), figure(kind, 1, values), err);
    case KIND_LEAK: return add_lost(kind, ingest, trace_id, values, err);
    case KIND_MMAP: return add_mappings(kind, ingest, trace_id, subject, values, err);
    case KIND_LIFETIMES: return add_bucket(kind, ingest, trace_id, subject, values, err);
    default: return ingest_sample(ingest, trace_id, subject, values, err);
    }
}

/* ---- what clear wrote ---------------------------------------------------------------------------------------------- */

/* The number of a frame channel#N; 0: it is none. */
static int64_t channel_number(const char *frame) {
    static const char prefix[] = "channel#";
    if (!frame || strncmp(frame, prefix, strlen(prefix)) != 0) return 0;
    char *end;
    int64_t number = strtoll(frame + strlen(prefix), &end, 10);
    return *end || number < 0 ? 0 : number;
}

static bool is_waited_for(const char *kind) {
    static const char *const all[] = {"cond", "sem", "barrier", "join", "futex"};
    for (size_t i = 0; kind && i < sizeof all / sizeof *all; i++)
        if (strcmp(kind, all[i]) == 0) return true;
    return false;
}

bool pprof_kind_owns(const struct pprof_kind *kind, const struct pprof_own *own) {
    if (own->others) return false;
    if (kind->id == KIND_CHANNELS) return channel_number(own->bare) && !own->kind;
    bool is_wait = kind->id == KIND_WAIT, is_lock = own->bare && own->object && strcmp(own->bare, own->object) == 0;
    return own->object && !own->capacity && (is_wait ? is_waited_for(own->kind) : !own->kind) &&
           (is_lock || !own->bare);
}

/* As a recorder names it: a global variable MODULE:SYMBOL or MODULE:SYMBOL+OFFSET is that of every run; anything else is known by its name. */
static int64_t own_object(struct ingest *ingest, const char *kind, const char *name, struct error *err) {
    const char *symbol = strrchr(name, ':'), *offset = symbol ? strrchr(symbol, '+') : NULL;
    bool has_offset = offset && offset[1] && offset[1 + strspn(offset + 1, "0123456789")] == '\0';
    char *identity = xasprintf("%s%s%s", symbol ? "symbol:" : "name:", name, symbol && !has_offset ? "+0" : "");
    int64_t id = writer_object(&ingest->writer, kind, identity, name, 0, 0, err);
    free(identity);
    return id;
}

static int add_own_lock(const struct pprof_kind *kind, struct ingest *ingest, const struct ingest_lock *keys,
                        const int64_t *values, struct error *err) {
    struct ingest_lock lock = *keys;
    bool is_lock = kind->id == KIND_LOCK;
    lock.contended = figure(kind, 0, values);
    lock.wait_ns = figure(kind, 1, values);
    lock.hold_ns = is_lock ? figure(kind, 2, values) : 0;
    lock.acquires = is_lock ? figure(kind, 3, values) : lock.contended;
    return ingest_lock(ingest, &lock, err);
}

static int add_own_cell(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id, int64_t object_id,
                        const int64_t *values, struct error *err) {
    int64_t commits = figure(kind, 1, values), retries = figure(kind, 2, values), copies;
    if (__builtin_add_overflow(commits, retries, &copies)) return error_fail(err, "commits and retries exceed 64 bits");
    return ingest_cell(ingest,
                       &(struct ingest_cell){.object_id = object_id,
                                             .trace_id = trace_id,
                                             .struct_size = copies > 0 ? figure(kind, 3, values) / copies : 0,
                                             .reads = figure(kind, 0, values),
                                             .commits = commits,
                                             .retries = retries},
                       err);
}

static int add_own_channel(const struct pprof_kind *kind, struct ingest *ingest, const struct pprof_own *own,
                           const int64_t *values, struct error *err) {
    int64_t number = channel_number(own->bare);
    char *identity = own->object ? xasprintf("name:%s", own->object) : xasprintf("channel:%" PRId64, number);
    struct ingest_channel channel = {.object_id = writer_object(&ingest->writer, "channel", identity,
                                                                own->object ? own->object : own->bare, 0, 0, err),
                                     .channel = number,
                                     .capacity = own->capacity,
                                     .pushes = figure(kind, 0, values),
                                     .pops = figure(kind, 1, values),
                                     .push_blocked = figure(kind, 2, values),
                                     .pop_blocked = figure(kind, 3, values),
                                     .max_depth = figure(kind, 4, values)};
    free(identity);
    return channel.object_id < 0 ? -1 : ingest_channel(ingest, &channel, err);
}

int pprof_kind_add_own(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id,
                       const struct pprof_own *own, const int64_t *values, struct error *err) {
    if (kind->id == KIND_CHANNELS) return add_own_channel(kind, ingest, own, values, err);
    const char *of = kind->id == KIND_MVCC ? "cell" : kind->id == KIND_WAIT ? "wait" : "lock";
    int64_t object_id = own_object(ingest, of, own->object, err);
    if (object_id < 0) return -1;
    if (own->bare) trace_id = 0; /* it stands for the object, of which no caller was recorded */
    if (kind->id == KIND_MVCC) return add_own_cell(kind, ingest, trace_id, object_id, values, err);
    const struct ingest_lock keys = {.object_id = object_id, .trace_id = trace_id, .kind = own->kind};
    return add_own_lock(kind, ingest, &keys, values, err);
}

int64_t pprof_lock_object(struct row_writer *writer, int64_t trace_id, struct error *err) {
    sqlite3_stmt *select = db_prepare(writer->db,
                                      "SELECT printf('caller:%016x', traces.signature), places.function FROM traces"
                                      " JOIN places ON places.trace_id = traces.id WHERE traces.id = :trace",
                                      err);
    if (!select || writer_flush(writer, err) != 0) return -1;
    db_bind_int(select, ":trace", trace_id);
    if (db_step(writer->db, select, err) != 1) return error_fail(err, "there is no trace %" PRId64, trace_id);
    char *identity = xstrdup(db_text(select, 0)), *name = xstrdup(db_text(select, 1));
    sqlite3_reset(select);
    int64_t id = writer_object(writer, "lock", identity, name, 0, 0, err);
    free(identity);
    free(name);
    return id;
}
