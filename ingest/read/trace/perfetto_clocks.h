/* perfetto_clocks.h: the clocks of a Perfetto trace: one of the trace, boot time, and those that a sequence of packets counts by itself. */
#ifndef CLEAR_INGEST_READ_TRACE_PERFETTO_CLOCKS_H
#define CLEAR_INGEST_READ_TRACE_PERFETTO_CLOCKS_H

#include <stdbool.h>

#include "base/map.h"
#include "base/wire.h"

struct perfetto_clocks {
    struct map index; /* {sequence, clock} -> index of the list */
    struct sequence_clock *list;
    int64_t epoch_ns; /* ns since 1970 at time 0; 0: not known */
};

/* A ClockSnapshot: which moment it was in the trace's own clock, in that of the day, and in those of its sequence. WIRE_END, or what is
 * wrong with the bytes. */
int perfetto_clocks_read(struct perfetto_clocks *clocks, uint64_t sequence_id, struct wire snapshot);
/* The time of a packet in ns of the trace's own clock, from its timestamp by a clock (0: the trace's own); false where 64 bits do not hold
 * it. Once a packet, in their order: clocks of sequences go on by it. */
bool perfetto_clocks_take(struct perfetto_clocks *clocks, uint64_t sequence_id, uint64_t clock_id, uint64_t timestamp,
                          int64_t *ns);
void perfetto_clocks_free(struct perfetto_clocks *clocks);

#endif
