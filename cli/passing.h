/* passing.h: a warehouse that is only looked at, in a directory of its own in $TMPDIR: of a file (clear web FILE), or of runs of a team's store. */
#ifndef CLEAR_CLI_PASSING_H
#define CLEAR_CLI_PASSING_H

#include "base/error.h"

struct passing {
    char *directory, *db; /* NULL: none. `db` is the path of the warehouse, which is not there yet */
};

int passing_make(struct passing *passing, struct error *err);
/* The same with what clear ingest reads of a file or URL in it. */
int passing_read(struct passing *passing, const char *name, struct error *err);
/* With what is in it. Safe on a zeroed one. */
void passing_remove(struct passing *passing);

#endif
