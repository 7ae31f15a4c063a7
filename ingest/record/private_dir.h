/* private_dir.h: the directory (0700) that a recording's segments stand in, under /dev/shm, else $TMPDIR, else /tmp.
 *
 * Its name is `clear-UID-PID-RANDOM`. A file `owner` in it is locked (flock) as long as the recorder lives; the kernel
 * lets go of it at any death, so that a directory whose `owner` is not locked is left over, whatever pids were reused
 * meanwhile or in which pid namespace the recorder ran. */
#ifndef CLEAR_INGEST_RECORD_PRIVATE_DIR_H
#define CLEAR_INGEST_RECORD_PRIVATE_DIR_H

#include "base/error.h"

struct private_dir {
    char *path;
    int file, owner; /* descriptors of the directory and of its locked `owner`; closed on exec */
};

int private_dir_make(struct private_dir *directory, struct error *err);
/* The same where programs can be executed (/dev/shm often forbids it), which is $TMPDIR or /tmp first. */
int private_dir_make_for_programs(struct private_dir *directory, struct error *err);
/* Removes it with all that is in it. */
void private_dir_remove(struct private_dir *directory);
/* Removes what dead recorders of this user left behind. Follows no symbolic link. Returns how many it removed. */
int private_dir_sweep(void);

#endif
