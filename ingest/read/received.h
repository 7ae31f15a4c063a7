/* received.h: profiles that programs send by themselves (clear serve --receive) are not one run each: they go to the run of their service, of
 * their host and of the span of time in which they were made, which the first of them begins.
 *
 * Readers are the same as for files: ingest_begin_run asks here where ingest->received is set. Profiles of a run are windows of it, whose
 * figures add up. What is a state (memory in use, goroutines) is stored as the difference to what the run had of that series, so that its
 * sum is the newest one. */
#ifndef CLEAR_INGEST_READ_RECEIVED_H
#define CLEAR_INGEST_READ_RECEIVED_H

#include "base/arena.h"
#include "base/sums.h"
#include "ingest/read/ingest.h"

enum {
    RECEIVED_TAGS_MAX = 128,  /* of a profile */
    RECEIVED_KEY_MAX = 256,   /* bytes of the key of a tag */
    RECEIVED_VALUE_MAX = 4096 /* and of its value, of a service, of a host */
};
#define RECEIVED_SERVICE "unknown_service" /* of one that does not say its name, as OpenTelemetry calls it */

struct received_run {
    int64_t id, profiles_before; /* how many it had before this request */
};

struct received {
    int64_t every_ns; /* the span of a run; > 0 */
    int64_t now_ns;   /* when the request came: the time of profiles that have none */
    /* What the sender says of the next profile; not owned. */
    const char *service, *host; /* NULL: the profile says it */
    const char *series;         /* a comment that tells this source of states from others; NULL: there is one */
    const struct run_tags *tags;
    const char *locks;         /* the kind of contentions that are not those of locks; NULL: they are */
    int64_t from_ns, until_ns; /* 0: not said */
    /* Of the profile that is read. */
    bool has_begun; /* its run is known; the receiver clears it for the next one */
    bool is_new;    /* which this profile began */
    int64_t time_ns, duration_ns;
    /* Of the whole request. */
    struct received_run *runs; /* that got profiles */
    size_t run_count;
    uint64_t stored, rejected; /* profiles, as the sender counts them */
    char why[1024];            /* the first was rejected; "" none was */
};

/* Finds the run, or makes it. A time more than a day ahead is refused: nothing else would be the latest run until then. */
int received_begin_run(struct ingest *ingest, const struct ingest_run *run, struct error *err);
/* The kind as which the next profile of these types is stored: `kind`, or `otherwise`_2, _3 ... where the run has that kind with other types,
 * since those of one kind are read as one. The name may live in `names`. */
const char *received_kind(struct ingest *ingest, const char *kind, const char *otherwise,
                          const struct ingest_type *types, size_t count, struct arena *names, struct error *err);
/* Of the open profile: takes from states what the run has of them. */
int received_states(struct ingest *ingest, const char *kind, struct sums *sites, struct sums *samples,
                    struct error *err);
/* The profile was refused, and its savepoint is rolled back: `err` is noted and cleared, unless the file itself is in trouble; then -1. Call it
 * before the rollback. */
int received_reject(struct ingest *ingest, uint64_t profiles, struct error *err);
/* Whether the latest statement failed for what SQLite or the disk could not do, and not for what the profile says. */
bool received_is_our_fault(const struct db *db);

/* Seals what has to be: a run of few profiles each time, one of n about every n/16 (the cost of a seal is linear in them), so the facts of a
 * run that still receives are at most a sixteenth behind; the word `receiving` in runs.flags says that they are. Also runs whose time is
 * over. */
int received_end(struct ingest *ingest, struct error *err);
/* Seals all runs that say `receiving`: before a server starts and after it has ended. Not in a transaction. */
int received_settle(struct db *db, struct error *err);
void received_free(struct received *received);

#endif
