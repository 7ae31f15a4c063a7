/* control.h: the control file of the recording, by which the collector tells the runtime what to record, and the names that a
 * program's own dumps get. */
#ifndef CLEAR_SHIM_CONTROL_H
#define CLEAR_SHIM_CONTROL_H

#include "ingest/shim/core/runtime.h"

enum {
    CONTROL_DIRECTORY_SIZE = 256
}; /* the longest path of the recording's directory that is followed, with its final zero */

/* Maps the file in the directory that CLEAR_RT_DIR names. False: there is none that is private, of this user and of our version. Once
 * it was found it is found in every forked child too. */
bool control_find(void);

/* Of a program that clear did not start (ingest/segment.h): its directory is gone, or is no more this process's to write to, as of a child of
 * a program whose recording was taken, or that changed its user: another one is made. False: it is there, or none could be made. */
bool control_renew(void);
/* Of such a program: there is no room for a segment. A directory that this process made, and nobody else uses, is removed. */
void control_unmake(void);

/* Of a late runtime: that directory, in place of the variable's, and of an earlier one. False: as above. And its end: none is found
 * from then on, also in children. */
bool control_attach(const char *named);
int32_t control_attached_pid(void); /* the process that called it last; 0: none */
void control_leave(void);

/* Whether it is one of a program that clear did not start. */
bool control_is_of_service(void);

/* The file, and the directory that it is in. NULL and empty before it was found. */
struct control *shared_control(void);
const char *control_directory(void);

/* Writes this process's ID into the variables that name its dumps (SEGMENT_NO_DUMP_ID). It runs before main or in a
 * forked child, so in one thread. The lengths of the values stay, so nothing is allocated. `now`: ns since the epoch. */
void control_name_dumps(uint64_t now);

#endif
