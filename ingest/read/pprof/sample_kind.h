/* sample_kind.h: which table takes the samples of a profile, by its sample types.
 *
 *   sites   alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes, or some of them   kind heap
 *           objects/count space/bytes, as gperftools' heap and growth profiles: in use
 *   locks   contentions/count delay/nanoseconds                                                             kind lock
 *   cpu     samples/count cpu/nanoseconds, or cpu alone                                                     kind cpu
 *   samples all other types; these together with others; and profiles with labels where the table has none. The
 *           kind is the name of the first type, with "_samples" appended where that is the name of a kind above.
 *
 * profiles.sample_types has the types that the profile really had, in its order; figures that it did not have are 0 (in
 * use without allocated: as if it had just been allocated). So a profile can be written as it was read. */
#ifndef CLEAR_INGEST_READ_PPROF_SAMPLE_KIND_H
#define CLEAR_INGEST_READ_PPROF_SAMPLE_KIND_H

#include "base/arena.h"
#include "ingest/read/ingest.h"
#include "schema/kinds.h"

enum { PPROF_FIGURES = 4 };

struct pprof_kind {
    const char *name;
    enum kind_id id;            /* KIND_HEAP, KIND_LOCK, KIND_CPU, or KIND_COUNT: the table `samples` */
    int figures[PPROF_FIGURES]; /* where each of the kind's types stands among the sample's values; -1: nowhere */
};

/* Without types it is kind "samples". The name may live in the arena. */
void pprof_kind_find(struct pprof_kind *kind, const struct ingest_type *types, size_t count, struct arena *names);
/* The table `samples`, whatever the types: for samples with labels where the typed table has none. */
void pprof_kind_untyped(struct pprof_kind *kind, const struct ingest_type *types, size_t count, struct arena *names);

/* One sample; `values` as many as types. object_id: of KIND_LOCK. */
int pprof_kind_add(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id, int64_t label_set_id,
                   int64_t object_id, const int64_t *values, struct error *err);

/* The lock that a stack of a contention profile stands for; identity "caller:SIGNATURE", named by its function. */
int64_t pprof_lock_object(struct row_writer *writer, int64_t trace_id, struct error *err);

#endif
