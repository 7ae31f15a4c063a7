/* slots.h: the hooks of a runtime that was loaded into a running process. Nothing finds them by the search order of symbols then, so
 * they are put into the slots through which modules call other modules: pointers that the loader filled in (relocations
 * JUMP_SLOT, GLOB_DAT and 64 of .rela.plt and .rela.dyn).
 *
 * A slot is changed only where it holds the function that the hook stands for, or is still to be bound to it, by one compare-and-swap
 * of an aligned word. What it held is kept, and put back so too: a slot that somebody else changed meanwhile stays as it is. Pages that
 * the loader made read-only are writable meanwhile. All of it is done while the loader's lock is held, so that no module comes or goes. */
#ifndef CLEAR_SHIM_SLOTS_H
#define CLEAR_SHIM_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/segment.h"

/* Whether the runtime was loaded into a running process. Set before anything else is done. */
bool is_late(void);
void late_find(void);

/* The function that a name of the C library, or of another module, means to the program; NULL: none, or only ours. For a late runtime, where
 * RTLD_NEXT has no meaning. */
void *late_function(const char *name);
/* The hook of that name; NULL: there is none. */
void *late_hook(const char *name);

struct slots_done {
    uint32_t modules; /* that were looked at */
    uint32_t changed; /* slots */
    uint32_t refused; /* slots in pages that stay read-only */
};

/* Slots of a hook's name that hold a function of another module than both the hook and what it stands for: calls through them are not
 * recorded. Found by the last slots_put, each function once; a function of 0 ends them. */
void slots_foreign(struct attach_foreign foreign[ATTACH_FOREIGN_MOST]);

/* Puts the hooks into all modules that are loaded now; again: into those that have come since. */
struct slots_done slots_put(void);
/* Puts everything back. */
struct slots_done slots_put_back(void);

/* For a runtime that was preloaded, as the program is loaded: calls of these functions, of which none is recorded, are to pass our hooks by. A hook that only
 * jumps on takes 1 to 3 ns, which is 3 % of a program that calls 19 million a second. `names` ends with NULL. */
void slots_pass_by(const char *const *names);
/* So they do, in the modules that are loaded now. */
void slots_pass(void);

#endif
