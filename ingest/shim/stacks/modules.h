/* modules.h: the list of modules in the segment. A module is added when the first address inside it is met. */
#ifndef CLEAR_SHIM_MODULES_H
#define CLEAR_SHIM_MODULES_H

#include <dlfcn.h>

#include "ingest/shim/core/runtime.h"

/* Adds the module unless it is there. Needs process->lock. */
void module_note(const struct dl_find_object *object);

#endif
