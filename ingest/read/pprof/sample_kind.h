/* sample_kind.h: which table takes the samples of a profile, by its sample types.
 *
 *   sites   alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes, or some of them   kind heap
 *           objects/count space/bytes, as gperftools' heap and growth profiles: in use
 *   locks   contentions/count delay/nanoseconds                                                             kind lock
 *   cpu     samples/count cpu/nanoseconds, or cpu alone                                                     kind cpu
 *           samples alone, each of which is a period of cpu/nanoseconds, as eBPF profilers send them: it is the CPU time
 *   io      calls/count bytes/bytes time/nanoseconds, each sample with the one label call and a name that we give it  kind io
 *   spins   yields/count short_sleeps/count slept/nanoseconds failed_tries/count calls/count, the last one their sum  kind spin
 *   thread_starts  started/count lifetime/nanoseconds                                                                 kind threads
 *   heap_peaks  peak_objects/count peak_space/bytes, each with the one label addr, as clear writes it             kind heap-peak
 *   leaks   indirect_objects/count indirect_space/bytes lost_objects/count lost_space/bytes, likewise                 kind leak
 *   maps    mapped_objects/count mapped_space/bytes inuse_objects/count inuse_space/bytes, each with the one label use that we give it  kind mmap
 *   histograms  allocated/count freed/count freed_same_thread/count, of which a sample has one; its one label, bytes/bytes,
 *           lifetime/nanoseconds or passed/count, is that of the figure                                            kind lifetimes
 *   What clear exported comes back as the kind that it was, if each sample has the labels that clear gives it and no other:
 *   locks   contentions delay hold acquisitions, label object                                                kind lock
 *           waits delay, labels object and kind                                                             kind wait
 *   cells   reads commits retries cow_bytes, label object                                                   kind mvcc
 *   channels  pushes pops push_blocked pop_blocked max_depth, of frames channel#N, labels capacity, object   kind channels
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

enum { PPROF_FIGURES = KIND_TYPES_MAX };

struct pprof_kind {
    const char *name;
    enum kind_id id;            /* one of those above, or KIND_COUNT: the table `samples` */
    bool is_own;                /* of clear's own export: pprof_kind_add_own takes its samples */
    int64_t sample_ns;          /* of KIND_CPU: CPU time that a sample stands for; 0: the profile has the time itself */
    int figures[PPROF_FIGURES]; /* where each of the kind's types stands among the sample's values; -1: nowhere */
};

struct pprof_types { /* of a profile */
    const struct ingest_type *types;
    size_t count;
    struct ingest_type period_type; /* empty texts: not said */
    int64_t period;
};

/* Without types it is kind "samples". The name may live in the arena. */
void pprof_kind_find(struct pprof_kind *kind, const struct pprof_types *types, struct arena *names);
/* Whether the table of the kind takes samples with all labels and values, so that pprof_kind_holds need not be asked. */
bool pprof_kind_is_open(const struct pprof_kind *kind);
/* The table `samples`, whatever the types: for samples with labels where the typed table has none, or without those that it has. */
void pprof_kind_untyped(struct pprof_kind *kind, const struct ingest_type *types, size_t count, struct arena *names);

/* Whether the table has all that such a sample says, by its values and labels: `label` is the only one it has, NULL where it has none or
 * several. Where a sample of the profile has more, the profile is untyped. */
bool pprof_kind_holds(const struct pprof_kind *kind, const int64_t *values, size_t label_count,
                      const struct writer_label *label);

/* One sample; `values` as many as types. `subject` is the object of KIND_LOCK, ingest_io_call() of KIND_IO, ingest_use() of KIND_MMAP, the
 * lower limit of the bucket of KIND_LIFETIMES, else the label set. */
int pprof_kind_add(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id, int64_t subject,
                   const int64_t *values, struct error *err);

/* What the labels and the frame of a sample of clear's own say. */
struct pprof_own {
    const char *object, *kind; /* labels; NULL: it has none */
    int64_t capacity;
    const char *bare; /* the name of the only frame, which is no code; NULL: the stack is one */
    size_t others;    /* labels that clear does not write */
};
/* Whether clear writes such samples of that kind. */
bool pprof_kind_owns(const struct pprof_kind *kind, const struct pprof_own *own);
/* As pprof_kind_add. */
int pprof_kind_add_own(const struct pprof_kind *kind, struct ingest *ingest, int64_t trace_id,
                       const struct pprof_own *own, const int64_t *values, struct error *err);

/* The lock that a stack of a contention profile stands for; identity "caller:SIGNATURE", named by its function. */
int64_t pprof_lock_object(struct row_writer *writer, int64_t trace_id, struct error *err);

#endif
