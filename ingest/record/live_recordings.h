/* live_recordings.h: which runs are being recorded now, as far as this user can see. */
#ifndef CLEAR_INGEST_RECORD_LIVE_RECORDINGS_H
#define CLEAR_INGEST_RECORD_LIVE_RECORDINGS_H

#include <stdbool.h>

/* True if a recorder of this user on this machine records the run with that uuid: its directory is there, and locked
 * (ingest/record/private_dir.h). False says nothing of recorders of other users and machines. */
bool live_recording_is(const char *uuid);

#endif
