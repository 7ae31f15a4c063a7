/* passing.h: a warehouse that is only looked at, in a directory of its own in $TMPDIR: of a file (clear web FILE), or of runs of a team's store. */
#ifndef CLEAR_CLI_PASSING_H
#define CLEAR_CLI_PASSING_H

#include "base/buffer.h"
#include "base/error.h"
#include "ingest/read/fetch.h"

struct passing {
    char *directory, *db; /* NULL: none. `db` is the path of the warehouse, which is not there yet */
};

int passing_make(struct passing *passing, struct error *err);

/* How files and URLs are read. */
struct passing_reading {
    const char *program;               /* names the addresses of profiles that have no names; NULL: none is known */
    const struct fetch_options *fetch; /* NULL: the defaults */
};
/* Adds what clear ingest reads of a file or URL, and makes the warehouse at first. Appends the numbers of its runs to `runs`, with commas
 * between. `reading` and `runs` may be NULL. */
int passing_read(struct passing *passing, const char *name, const struct passing_reading *reading, struct buffer *runs,
                 struct error *err);
/* With what is in it. Safe on a zeroed one. */
void passing_remove(struct passing *passing);

#endif
