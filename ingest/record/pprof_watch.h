/* pprof_watch.h: fetches what a program says of itself by HTTP (Go's net/http/pprof) while it is recorded: heap, mutex and block in windows, and
 * its goroutines.
 *
 * These profiles count from the start of the program. A process of ours fetches them again and again and keeps the last PPROF_WINDOWS in
 * files; when the program has ended, they are stored as the windows between them. What happened after the last fetch is not known. */
#ifndef CLEAR_INGEST_RECORD_PPROF_WATCH_H
#define CLEAR_INGEST_RECORD_PPROF_WATCH_H

#include <sys/types.h>

#include "ingest/read/ingest.h"

enum {
    PPROF_WINDOWS = 32
}; /* when there are twice as many, every second one is given up, and the time between two doubles */

struct pprof_watch {
    pid_t pid;       /* 0: none */
    char *directory; /* of the files: pprof-KIND-NUMBER; and pprof.error, the last failure */
};

/* The address of the profiles: "localhost:6060", ":6060" and "http://host/" get /debug/pprof. A usage error where it is none. free() it. */
char *pprof_watch_url(const char *text, struct error *err);

/* Begins to fetch into files of the directory. */
int pprof_watch_start(struct pprof_watch *watch, const char *url, const char *directory, struct error *err);
/* Ends it. Safe on a zeroed one. */
void pprof_watch_end(struct pprof_watch *watch);
struct pprof_stored {
    size_t count, failed; /* files that were stored as profiles, and those that could not be read */
    char *
        why; /* the first failure to read, or, where there are no files, the last one to fetch; NULL: none. For free() */
};

/* Stores what was fetched as profiles of the run, each file in a transaction of its own. One that cannot be read, as of a program that ended in the
 * middle of its answer, costs its own window alone: they count from the start, so the next one is longer. */
void pprof_watch_store(const struct pprof_watch *watch, struct db *db, int64_t run_id, struct pprof_stored *stored);
void pprof_watch_free(struct pprof_watch *watch);

#endif
