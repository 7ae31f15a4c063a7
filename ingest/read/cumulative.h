/* cumulative.h: successive snapshots of one process as what each adds to the one before it.
 *
 * Go's heap, mutex and block profiles count from the start of the process. Stored as they are, the sum over a day of them
 * means nothing. With --cumulative a snapshot is stored as its difference to all earlier ones of its series, so that
 * sums over the series are right: allocations and contentions subtract, what is in use stays as it is.
 *
 * A series is the runs that were ingested so, under the same label, with the same main binary; Go's mutex and block profiles are
 * series of their own, told apart by whether any stack of theirs lets a lock go. A snapshot whose total is smaller than that of
 * its series, or where a stack met with fewer contentions, is of a process that was started anew: it begins a series (flag
 * 'restart').
 * Snapshots come oldest first; an older one after a newer one is a failure that says so. */
#ifndef CLEAR_INGEST_READ_CUMULATIVE_H
#define CLEAR_INGEST_READ_CUMULATIVE_H

#include "ingest/read/ingest.h"
#include "ingest/store/sums.h"

/* Takes what the series has from the rows of the open profile. Kinds other than heap and lock are left alone. */
int cumulative_subtract(struct ingest *ingest, const char *kind, struct sums *sites, struct sums *locks,
                        struct error *err);

#endif
