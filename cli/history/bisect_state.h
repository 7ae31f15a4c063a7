/* bisect_state.h: what `clear bisect --continue` needs: kept in the repository (GITDIR/clear-bisect) until the search is over.
 *
 * The command line is kept as it was given, with the working directory that its paths count from, and what it was resolved to. The marks
 * are a copy of the log of `git bisect`, so that the search goes on even if its work trees were removed. The values are the stored
 * runs. */
#ifndef CLEAR_CLI_HISTORY_BISECT_STATE_H
#define CLEAR_CLI_HISTORY_BISECT_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"

struct bisect_state {
    char *id;         /* the value of the tag `bisect` */
    char *place;      /* the directory of the work trees */
    char *here;       /* the working directory */
    char *good, *bad; /* hashes */
    char **words;     /* the command line, [0] "bisect"; NULL-terminated */
    int count;
};
void bisect_state_free(struct bisect_state *state);

/* The directory of the state, locked: one clear bisect a repository. */
struct bisect_store {
    char *directory;
    int lock; /* -1: not open */
};

/* Makes the directory and locks it. A failure where another clear bisect has it. Call bisect_store_close in every case. */
int bisect_store_open(struct bisect_store *store, const char *common, struct error *err);
void bisect_store_close(struct bisect_store *store);

bool bisect_store_has(const struct bisect_store *store);
int bisect_store_read(const struct bisect_store *store, struct bisect_state *state, struct error *err);
int bisect_store_write(const struct bisect_store *store, const struct bisect_state *state, struct error *err);
int bisect_store_write_log(const struct bisect_store *store, const struct buffer *log, struct error *err);
char *bisect_store_log(const struct bisect_store *store); /* its path; free() it */
/* Removes the state: the search is over. */
void bisect_store_remove(const struct bisect_store *store);

#endif
