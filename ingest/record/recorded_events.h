/* recorded_events.h: the events of a process (struct segment_event), which are stored when it or the recording has ended, or at each
 * flush. */
#ifndef CLEAR_INGEST_RECORD_RECORDED_EVENTS_H
#define CLEAR_INGEST_RECORD_RECORDED_EVENTS_H

#include "ingest/record/recorded.h"

/* Whether its events are to be stored now; `head` as its segment says now, and `terms` without their times. */
bool recorded_wants_events(struct recorded *recorded, const struct segment *head, const struct recording_terms *terms);
/* Writes the rows of `threads` and `events` that were saved, else that there were at recorded_read and are not stored yet, and how many
 * events were lost. In the caller's transaction, after the rows of its locks; events of ids that are not in the segment are lost. */
int recorded_write_events(struct recorded *recorded, struct resolver *resolver, struct segment_view *view,
                          const struct recording_terms *terms, struct error *err);
/* Of recorded_committed and recorded_rolled_back. */
void recorded_events_committed(struct recorded *recorded);
void recorded_events_rolled_back(struct recorded *recorded);

#endif
