/* service_dir.h: one directory that the runtime of a program made below CLEAR_DIR (ingest/segment.h), as a collector finds it.
 *
 * It belongs to the user of the program, who may put anything there and change it at any time. So it is opened once, without following links;
 * files in it are opened through that descriptor, without following links, and are taken only where they are regular, of the directory's
 * owner and have no other name; and what is read for long is copied first (service_copy.h). */
#ifndef CLEAR_INGEST_SERVICE_DIR_H
#define CLEAR_INGEST_SERVICE_DIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ingest/segment.h"

struct service_dir {
    char name[SERVICE_RUN_LENGTH + 16]; /* RUN, or RUN.taken */
    int file;                           /* a descriptor; -1: closed */
    uid_t owner;
    int64_t changed_ns;       /* when a name in it changed last, since the epoch */
    size_t segments, running; /* as of service_dir_count: of them, those that a process writes to */
    int64_t bytes;            /* memory that the files take */
    struct service_note note; /* as of service_dir_read; its texts end */
    struct control control;
};

/* Whether it is the name of such a directory, *is_taken: of one that service_dir_take renamed. */
bool service_dir_is_name(const char *name, bool *is_taken);

/* 1; 0: it is gone, or no private directory; -1: it is of a user whose files are not ours to read: all, for root. Close it if it is 1. */
int service_dir_open(struct service_dir *dir, int root, const char *name);
void service_dir_close(struct service_dir *dir);

/* Counts its segments. */
void service_dir_count(struct service_dir *dir);

/* 1: `note` and `control` are there, and of this version. 0: they are not there, yet. -1: of another version, or no such files. */
int service_dir_read(struct service_dir *dir);

/* Opens a file in it to read, *size bytes. -1: it is none to take. */
int service_dir_file(const struct service_dir *dir, const char *name, int64_t *size);
/* Calls `visit` with the name of each segment that may be taken, and whether a process writes to it. False ends it, and is returned. */
bool service_dir_each(const struct service_dir *dir, bool (*visit)(void *context, const char *name, bool is_running),
                      void *context);

/* Renames it, so that nobody makes a segment in it any more: who would makes a directory of its own. False: it was not there any more. */
bool service_dir_take(struct service_dir *dir, int root);
/* Pauses recording in its processes, or lets it go on. */
void service_dir_pause(const struct service_dir *dir, bool is_paused);
/* Removes a file, and the directory with its files. False: something is left. */
void service_dir_drop(const struct service_dir *dir, const char *name);
bool service_dir_remove(struct service_dir *dir, int root);

#endif
