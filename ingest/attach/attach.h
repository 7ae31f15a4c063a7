/* attach.h: recording of a process that runs already: what stands against it, and its steps. */
#ifndef CLEAR_INGEST_ATTACH_ATTACH_H
#define CLEAR_INGEST_ATTACH_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "ingest/segment.h"

enum attach_way {
    ATTACH_REFUSED = -1, /* err says why not, in one sentence, and what does instead */
    ATTACH_ENTER = 0,    /* it can be entered */
    ATTACH_OUTSIDE =
        1, /* it cannot, and err says why; what the kernel tells of it can be had all the same (ingest/outside) */
};
/* Reads what is known of the process without touching it. */
enum attach_way attach_look(pid_t pid, struct error *err);

struct attached {
    pid_t pid;
    struct attach_call call; /* of the last step */
    int64_t held_ns;         /* how long the thread that it was made in was held */
    uint32_t stops_refused;
    int64_t before_bytes; /* that the process had allocated when it was entered, or of its own memory; -1: unknown */
    bool is_before_exact; /* by its allocator's figures */
};

/* Begins to record it: `library` is the runtime's file, `directory` that of the recording, with its file `control`. */
int attach_begin(struct attached *attached, pid_t pid, const char *library, const char *directory, struct error *err);
/* Puts the hooks into modules that the process has loaded since then. */
int attach_again(struct attached *attached, struct error *err);
/* Ends it: everything that was recorded is in the segment then. `leaves`: a moment later, also the rest that it has of us is given back. A
 * process that has ended meanwhile is no error. */
int attach_end(struct attached *attached, struct error *err);
int attach_leave(struct attached *attached, struct error *err);

/* Bytes of memory that is the process's own: not a file's, and not shared; in pages or swapped out. What was allocated and not written to is not
 * in it. -1: unknown. */
int64_t attach_own_memory(pid_t pid);

/* What no hook sees of it: allocators that are built into its program and libraries, as far as their files have symbols, whose calls go through no
 * slot of the loader, and slots that hold another function than the one that is hooked: "je_malloc of server, malloc (my_malloc of libx.so)".
 * free() it; NULL: nothing is known. */
char *attach_unseen(const struct attached *attached);

/* Between the two. */
enum { ATTACH_SETTLE_NS = 50000000 };

/* Whether the runtime is in it, and was put there by this. */
bool attach_is_there(pid_t pid);
/* Whether there is no such process, or only its status still. */
bool attach_has_ended(pid_t pid);

#endif
