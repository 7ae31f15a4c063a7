/* lost.h: recordings that are not in their warehouse, because clear was killed or could not write the end, and how they
 * get there: `clear recover`.
 *
 * A recording is a directory (0700) with the segments of its processes, the file `control`, what recording_note.h
 * describes, and the files of perf and of the program's own dumps. A killed clear leaves it where it was
 * (ingest/record/private_dir.h). A clear that could not store the end moves it to WAREHOUSE.lost/UUID, with the program
 * itself where it was built for the recording. */
#ifndef CLEAR_INGEST_RECORD_LOST_H
#define CLEAR_INGEST_RECORD_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/record/private_dir.h"
#include "ingest/record/toolchain.h"
#include "schema/db.h"

/* ---- in the recorder ---- */

/* Writes what a later process must know of the run into the directory. `build` is zeros for a program that was not
 * built; `text` is that of its source, or NULL. */
int lost_describe(struct db *db, int64_t run_id, const struct private_dir *directory, const char *program,
                  const struct build *build, const char *text, struct error *err);
/* Puts the program that was built for the recording beside it: the next clear removes what a killed one had built, and the names of the
 * program's code are still to be looked up. */
void lost_copy_build(const struct private_dir *directory, const struct build *build);
/* Begins the run that was described so in another warehouse, in which it must not be yet, with its tags and its source. Its id, or -1. */
int64_t lost_begin(struct db *db, const struct private_dir *directory, struct error *err);
/* Keeps the recording, whose directory becomes the caller's no more: at WAREHOUSE.lost/UUID, or where it is if it cannot
 * be moved there. The path; free() it. */
char *lost_keep(struct private_dir *directory, const char *warehouse, const struct build *build);

/* Copies the bytes of a file; holes stay holes. False: it could not, errno says why. */
bool lost_copy_contents(int from, int to, off_t size);

/* ---- afterwards ---- */

struct lost {
    struct private_dir directory;                               /* ours: its owner is locked */
    char *run;                                                  /* the text of run.json */
    char *warehouse, *command, *label, *uuid, *build, *program; /* NULL for none: the label, the build, the program */
    char *source,
        *text; /* of a program that was built: the path and the text of what it was built from; NULL for none */
    const char
        *earlier; /* the directory of a copy up to which it was stored, as collector_after; NULL: none. The caller's */
    int64_t started_ns;
    int64_t bytes;   /* memory or disk that it occupies */
    size_t segments; /* processes, but for those that were stored */
    size_t running;  /* of these, that run now */
    bool is_foreign; /* what it says, its warehouse too, may be the word of a user who is not trusted (base/owner.h) */
};

/* The paths of recordings in the directories of killed recorders and in WAREHOUSE.lost; NULL-terminated, free each and
 * the array. What another user put at WAREHOUSE.lost, or in it, is passed over; *refused (free() it; may be NULL) is then that path, or
 * NULL. */
char **lost_find(const char *warehouse, char **refused);
/* Opens it. 1; 0 if a recorder or another `clear recover` has it; -1 with the error set, where it is not a recording. */
int lost_open(struct lost *lost, const char *path, struct error *err);
void lost_close(struct lost *lost);
/* Closes and removes it. */
void lost_remove(struct lost *lost);
/* Whether it belongs to that warehouse. */
bool lost_is_of(const struct lost *lost, const char *warehouse);

/* Writes it to the warehouse, in one transaction: the run, if it is not there, and its processes in place of what was
 * flushed of them. What perf and the program's own dumps left follows; if that cannot be read, `warn` is called with
 * the reason. Then the run is over. Of a run that was over before (*was_over) nothing is changed: where the recorder was
 * killed before it stored what perf left, that is added. The id of the run, or -1. */
int64_t lost_store(struct lost *lost, struct db *db, void (*warn)(const char *message), bool *was_over,
                   struct error *err);

#endif
