/* leaks.h: which blocks nothing points at when the process ends (FEATURE_LEAKS).
 *
 * Without FEATURE_LEAKS_ALWAYS it is left out where fewer than 100 blocks are live, which the doctor calls no leak (leak_warning_count), and
 * where it would take longer than about 0.1 s, or a tenth of the life of the process: beyond 65,536 live blocks, or 64 MiB of resident memory,
 * for each second that it lived. It is left out, too, where it could not be conclusive: where the program gave back a heap of its own
 * right before (mappings.h), and with it the pointers.
 *
 * A conservative search, as LeakSanitizer and memcheck do it: a word that, taken as an address, lies in a live block reaches that
 * block, its first byte or any other. It starts at the registers and the stack of the thread that ends the process and at all
 * memory that can be written and is not the allocator's: globals, stacks and thread-local memory of other threads, the program's
 * own mappings; and at what only the kernel has (kernel_kept.h). Blocks that are reached are searched in turn. What is not reached is lost:
 * directly, or only through another lost block.
 *
 * Memory is read by system call, so that a mapping which another thread removes meanwhile is an error and no crash. Nothing is
 * written but the segment, no thread is stopped. Where other threads run, the search is done twice and a block is lost only if
 * neither reached it. A process that ends by a signal, that was sealed (seal.c), or whose kernel does not tell the flags of
 * mappings, is not searched. */
#ifndef CLEAR_SHIM_LEAKS_H
#define CLEAR_SHIM_LEAKS_H

#include "ingest/shim/core/runtime.h"

/* Searches, where that is wanted and was not done yet. After the program's own handlers and destructors. */
void leaks_at_end(void);

#endif
