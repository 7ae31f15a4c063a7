/* crtstuff.h: the unwind rule of the code that GCC links into every program and library to run its destructors
 * (__do_global_dtors_aux of libgcc's crtstuff.c). It has no call frame information, and what a library runs when it is unloaded
 * or the program ends has it among its callers. */
#ifndef CLEAR_SHIM_CRTSTUFF_H
#define CLEAR_SHIM_CRTSTUFF_H

#include <dlfcn.h>

#include "ingest/shim/stacks/cfi.h"

/* RULE_FRAME where `pc` returns to that code and its instructions say that bp is the frame pointer there, else RULE_UNKNOWN.
 * Reads mapped memory of the module alone, takes no lock and allocates nothing. */
struct rule crtstuff_rule(const struct dl_find_object *object, uint64_t pc);

#endif
