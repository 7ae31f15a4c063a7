/* crtstuff.h: the unwind rules of the code that libgcc and the C library link into every program and library to run its
 * constructors and destructors (crtstuff.c, crti.S). It has no call frame information. What a library runs when it is unloaded or
 * the program ends has it among its callers, and its first instruction is often the first of a page: there the time of a page
 * fault is met. */
#ifndef CLEAR_SHIM_CRTSTUFF_H
#define CLEAR_SHIM_CRTSTUFF_H

#include <dlfcn.h>

#include "ingest/shim/stacks/cfi.h"

/* The rule where the instruction before `pc`, a return address, or the interrupted one that pc - 1 is in, belongs to that code;
 * else RULE_UNKNOWN. Reads mapped memory of the module alone, takes no lock and allocates nothing. */
struct rule crtstuff_rule(const struct dl_find_object *object, uint64_t pc);

#endif
