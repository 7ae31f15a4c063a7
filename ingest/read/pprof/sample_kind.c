#include "ingest/read/pprof/sample_kind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The types that a profile of a kind may have, as bits in the order of kinds[].types: any of `takes`, and all of
 * `needs`. */
static const struct intake {
    enum kind_id kind;
    unsigned takes, needs;
    bool is_plain; /* gperftools' names for what is in use */
} intakes[] = {
    {KIND_HEAP, 15, 0, false}, {KIND_HEAP, 12, 12, true},  {KIND_LOCK, 3, 3, false},    {KIND_CPU, 3, 2, false},
    {KIND_IO, 7, 7, false},    {KIND_SPIN, 31, 31, false}, {KIND_THREADS, 3, 3, false},
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

void pprof_kind_find(struct pprof_kind *kind, const struct ingest_type *types, size_t count, struct arena *names) {
    for (size_t i = 0; i < sizeof intakes / sizeof *intakes; i++) {
        kind->id = intakes[i].kind;
        kind->name = kinds[kind->id].name;
        if (fits(kind, &intakes[i], types, count)) return;
    }
    pprof_kind_untyped(kind, types, count, names);
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

static bool is_sum_of_spins(const struct pprof_kind *kind, const int64_t *values) {
    int64_t sum;
    return !__builtin_add_overflow(figure(kind, 0, values), figure(kind, 1, values), &sum) &&
           !__builtin_add_overflow(sum, figure(kind, 3, values), &sum) && sum == figure(kind, 4, values);
}

bool pprof_kind_holds(const struct pprof_kind *kind, const int64_t *values, size_t label_count,
                      const struct writer_label *label) {
    switch (kind->id) {
    case KIND_IO: return label && label->text && strcmp(label->key, "call") == 0 && ingest_io_call(label->text) != 0;
    case KIND_SPIN: return label_count == 0 && is_sum_of_spins(kind, values);
    case KIND_LOCK:
    case KIND_THREADS: return label_count == 0;
    default: return true;
    }
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
    case KIND_CPU: return ingest_cpu(ingest, trace_id, subject, figure(kind, 0, values), figure(kind, 1, values), err);
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
    default: return ingest_sample(ingest, trace_id, subject, values, err);
    }
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
