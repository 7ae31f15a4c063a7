/* run_cache.h: runs that were fetched from a store, kept on this machine: `$XDG_CACHE_HOME/clear/runs`, by default `~/.cache/clear/runs`.
 *
 * A file is a warehouse of one run, compressed, with a checksum; its name has the run's uuid and a key of the store, the project, the moment
 * of the push and the version of the tables. Files appear whole, by rename, so that several processes may share the directory. Only the
 * user can read them. Together they take at most `$CLEAR_CACHE_SIZE` (`512M`; default 1 GiB; 0: nothing is kept): those that were not used for the
 * longest time go first. */
#ifndef CLEAR_INGEST_TEAM_RUN_CACHE_H
#define CLEAR_INGEST_TEAM_RUN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct run_cache {
    char *directory; /* NULL: nothing is kept */
    int64_t bytes_max;
    int64_t bytes_new;   /* kept since there was last made room */
    struct buffer empty; /* the bytes of a warehouse without runs; none yet: size 0 */
};

/* A directory that cannot be made or written means that nothing is kept; a wrong $CLEAR_CACHE_SIZE is a usage error. */
int run_cache_open(struct run_cache *cache, struct error *err);
void run_cache_close(struct run_cache *cache); /* a zeroed cache is allowed */

/* The path of a new empty file in the directory, which only the user can read, or NULL. unlink and free it. */
char *run_cache_new_file(const struct run_cache *cache);

/* Copies the warehouse `path`, which has no runs yet, in memory, and writes it to others: to make its tables and views takes 35 ms of CPU time.
 * False: none was noted. */
void run_cache_note_empty(struct run_cache *cache, const char *path);
bool run_cache_write_empty(const struct run_cache *cache, const char *path);

/* Writes the warehouse that was kept as `name` to `path`, and notes that it was used. False: there is none, or it is damaged. */
bool run_cache_take(const struct run_cache *cache, const char *name, const char *path);
/* Keeps the warehouse `path` as `name`, as far as there is room. */
void run_cache_keep(struct run_cache *cache, const char *name, const char *path);

#endif
