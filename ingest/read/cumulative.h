/* cumulative.h: stores snapshots that count from the start of a process as differences (--cumulative).
 *
 * Go's heap, mutex and block profiles count from the start of the process. A sum over several of them would count
 * everything several times. With --cumulative a snapshot is stored as its difference to the sum of all earlier ones of
 * its series, so that sums over the series are right. Allocations and contentions are subtracted; what is in use is
 * stored as it is in the newest snapshot.
 *
 * A series is all runs that were read so, with the same label and main binary. Go's mutex and block profiles are two
 * series; a mutex profile has stacks that unlock a mutex. When the total of a snapshot is smaller than that of its
 * series, or a stack has fewer contentions, the process was restarted: the snapshot begins a new series (flag
 * 'restart'). Snapshots must be read oldest first; one that is older than its series is refused. */
#ifndef CLEAR_INGEST_READ_CUMULATIVE_H
#define CLEAR_INGEST_READ_CUMULATIVE_H

#include "base/sums.h"
#include "ingest/read/ingest.h"

/* Subtracts the series from the rows of the open profile. Does nothing for kinds other than heap and lock. */
int cumulative_subtract(struct ingest *ingest, const char *kind, struct sums *sites, struct sums *locks,
                        struct error *err);

#endif
