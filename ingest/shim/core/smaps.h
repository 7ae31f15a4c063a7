/* smaps.h: the mappings of this process, as /proc/self/smaps has them. */
#ifndef CLEAR_SHIM_SMAPS_H
#define CLEAR_SHIM_SMAPS_H

#include <stdbool.h>
#include <stdint.h>

/* is_device: of a device, or of its memory. has_memory: some page is in RAM or swapped out. is_ours: memory that the runtime mapped for
 * itself; its library is not marked. */
struct mapping {
    uintptr_t low, high;
    bool is_writable, is_heap, is_libc, is_device, has_memory, is_ours, has_flags;
};

/* Calls `visit` for each, by address. `text`: PROC_LINE bytes (proc_lines.h). It allocates nothing. False: the file cannot be read,
 * or does not say enough (VmFlags); then some mappings were not visited. */
bool smaps_each(char *text, void (*visit)(void *context, const struct mapping *mapping), void *context);

#endif
