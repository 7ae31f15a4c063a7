/* private_dir.h: the directory (0700) of a recording's segments: in /dev/shm, else in $TMPDIR, else in /tmp.
 *
 * Its name is `clear-UID-PID-RANDOM`. The recorder holds a lock (flock) on the file `owner` in it; the kernel releases
 * the lock when the recorder ends in any way. So a directory whose `owner` is not locked is left over, also when its
 * pid was reused or the recorder ran in another pid namespace. */
#ifndef CLEAR_INGEST_RECORD_PRIVATE_DIR_H
#define CLEAR_INGEST_RECORD_PRIVATE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct private_dir {
    char *path;
    int file, owner; /* descriptors of the directory and of its locked `owner`; closed on exec */
};

int private_dir_make(struct private_dir *directory, struct error *err);
/* The same for programs, which /dev/shm often does not let execute: in $TMPDIR, else in /tmp, else in /dev/shm. */
int private_dir_make_for_programs(struct private_dir *directory, struct error *err);
/* Directories that this process makes from now on bear the pid of that one: all of one recording must bear the same. */
void private_dir_bear(pid_t pid);
/* Closes `owner` alone: another process has the lock. */
void private_dir_unlock(struct private_dir *directory);
/* Removes it and everything in it. */
void private_dir_remove(struct private_dir *directory);
/* Closes it, and leaves it where it is. */
void private_dir_release(struct private_dir *directory);
/* Removes the directories that recorders of this user left behind when they were killed, but for those with a recording
 * that can still be stored (ingest/record/lost.h), and for what belongs to them. Follows no symbolic link. Returns the
 * number of those that it removed; *kept (may be NULL) is the number of such recordings. */
int private_dir_sweep(size_t *kept);

/* A directory that a recorder left behind, and that `clear recover` stores. */
/* True if it has a recording: what is known of its run, and something that was recorded. */
bool private_dir_has_recording(int directory);
/* Calls `visit` with the path of each one of this user. */
void private_dir_each_recording(void (*visit)(void *context, const char *path), void *context);
/* Calls `visit` with each directory of this user that a recorder has locked now. */
void private_dir_each_live(void (*visit)(void *context, int directory), void *context);
/* Opens it and locks its `owner`. 1; 0 where a recorder has it locked; -1 with the error set. */
int private_dir_adopt(struct private_dir *directory, const char *path, struct error *err);

#endif
