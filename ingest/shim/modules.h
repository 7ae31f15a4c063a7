/* modules.h: the modules of which an address was met, in the segment for the collector. */
#ifndef CLEAR_SHIM_MODULES_H
#define CLEAR_SHIM_MODULES_H

#include <dlfcn.h>

#include "ingest/shim/runtime.h"

/* Write the module into the segment unless it is there. Needs process->lock. */
void module_note(const struct dl_find_object *object);

#endif
