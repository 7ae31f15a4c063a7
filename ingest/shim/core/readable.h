/* readable.h: whether memory of the program can be read, asked of the kernel: no signal comes where it cannot. */
#ifndef CLEAR_SHIM_READABLE_H
#define CLEAR_SHIM_READABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the eight bytes from an address on can be read. A system call. False where it cannot be told: in a sealed process, and
 * where a filter of system calls that was there before the program answers instead of the kernel. errno stays. */
bool memory_is_readable(uint64_t address);

#endif
