/* python.h: the frames of the Python interpreter in a walked stack.
 *
 * CPython runs functions of a script in _PyEval_EvalFrameDefault, which calls itself only where C code calls Python again: one native
 * frame stands for any number of functions. Its frames are a list from the thread's PyThreadState. Of each call of the interpreter the list has
 * something that lies in the native frame itself (_PyCFrame in 3.11 and 3.12, the entry frame in 3.13): so it is known exactly which functions a
 * native frame stands for, without a symbol, and they take its place in the stack.
 *
 * Nothing of the program is trusted. A page is asked of the kernel (readable.h) before a word of it is read, and an object is believed only where its
 * type is the interpreter's own. What does not fit leaves the native frames as they are.
 * A thread reads only what its own frames keep alive, which nobody else changes, but for the interpreter's end: see python_unmaps. */
#ifndef CLEAR_SHIM_PYTHON_H
#define CLEAR_SHIM_PYTHON_H

#include "ingest/shim/core/runtime.h"
#include "ingest/shim/stacks/intern.h"

struct link_map;

/* A module was met. Needs process->lock. */
void python_module(const struct link_map *module);
/* Modules may be unloaded from here on: nothing of the interpreter is read. The other: it is read again if it is there. */
void python_pause(void);
void python_go_on(void);

/* Puts the script's functions in the places of the interpreter's native frames. sp[i] is the stack pointer in frame i, sp[depth] that of
 * the frame after the last, or 0. Addresses are in the thread's memory until the next walk; the hash is made. */
void python_merge(struct thread *thread, struct walked_stack *stack, const uint64_t *sp);

/* Memory of the program is about to be unmapped. */
void python_unmaps_slowly(void);
static ALWAYS_INLINE void python_unmaps(void) {
    if (unlikely(load_relaxed(&process->python))) python_unmaps_slowly();
}

#endif
