#include "ingest/shim/cpu/cpu_stack.h"

#include <dlfcn.h>
#include <string.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/locks/plain_mutex.h"
#include "ingest/shim/stacks/cfi.h"
#include "ingest/shim/stacks/unwind.h"

enum { CALL_DIRECT = 0xe8, CALL_DIRECT_SIZE = 5, CALL_SIZE = 6 };

static bool is_own(uint64_t pc) {
    return pc > process->own_low && pc <= process->own_high;
}

/* Whether the call before a return address of ours is `call *import(%rip)`, as the compiler makes it of a function that the runtime needs
 * for itself (-fno-plt). A pointer in `real` may be called in the same way. */
static bool is_import_call(uint64_t pc) {
    const uint8_t *code = (const uint8_t *)(uintptr_t)pc;
    int32_t offset;
    if (code[-CALL_SIZE] != 0xff || code[-CALL_SIZE + 1] != 0x15) return false;
    memcpy(&offset, code - sizeof offset, sizeof offset);
    uintptr_t at = (uintptr_t)(pc + (uint64_t)(int64_t)offset);
    return at != (uintptr_t)&real_syscall && (at < (uintptr_t)&real || at >= (uintptr_t)(&real + 1));
}

/* Whether the frame above this one of ours ran for the runtime. A call through a pointer is one of the program's functions; a direct one
 * stays in the runtime, unless it ends in a jump. */
static bool was_for_us(uint64_t pc) {
    return is_import_call(pc) || ((const uint8_t *)(uintptr_t)pc)[-CALL_DIRECT_SIZE] == CALL_DIRECT;
}

/* Where the function begins that the instruction before `pc` is in; 0: unknown. */
static uint64_t function_of(uint64_t pc) {
    struct dl_find_object object;
    if (_dl_find_object((void *)(uintptr_t)(pc - 1), &object) != 0) return 0;
    return cfi_function(object.dlfo_eh_frame, pc - 1);
}

/* The function that the program called, where its hook, at `pc`, called another one at `called` in its place; NULL: the same. */
static void *asked_for(uint64_t pc, uint64_t called) {
    uint64_t function = function_of(called);
    void *asked = real_has(function) ? real_behind(function_of(pc)) : NULL;
    return asked && (uintptr_t)asked != function ? asked : NULL;
}

/* The function that a hook of ours does in its own code, where the leaf is in it; NULL: it is none. What the hook adds counts as that function's, too. */
static void *done_in_place(uint64_t pc) {
    return is_own(pc) && load_relaxed(&plain_kinds) ? real_in_place(function_of(pc)) : NULL;
}

/* The frame of ours nearest to the root that worked for the runtime; the depth where there is none. `is_in_place`: the leaf is work of the program. */
static uint32_t find_recorder(struct thread *thread, const struct walked_stack *stack, bool is_in_place) {
    uint32_t found = stack->depth;
    bool is_at_work = !is_in_place; /* of a run of our frames: by the one nearest to the leaf */
    for (uint32_t i = 0; i < stack->depth; i++) {
        if (!is_own(stack->pc[i])) continue;
        if (i > 0 && !is_own(stack->pc[i - 1]))
            is_at_work = !unwind_is_signal(thread, stack->pc[i - 1]) && was_for_us(stack->pc[i]);
        else if (i > 0)
            is_at_work |=
                is_import_call(stack->pc[i]); /* the runtime's own call of what it also hooks: mmap, mremap, syscall */
        if (is_at_work) found = i;
    }
    return found;
}

bool cpu_stack_clean(struct thread *thread, struct walked_stack *stack) {
    uint64_t *pc = (uint64_t *)(uintptr_t)stack->pc;
    void *in_place = stack->depth ? done_in_place(pc[0]) : NULL;
    uint32_t recorder = find_recorder(thread, stack, in_place), kept = 0, from = 0;
    bool is_recorder = recorder < stack->depth;
    if (is_recorder) {
        pc[kept++] = LEAF_RECORDER;
        from = recorder + 1;
    }
    for (uint32_t i = from; i < stack->depth; i++) {
        if (!is_own(pc[i])) {
            pc[kept++] = pc[i];
            continue;
        }
        void *asked = i == 0                                             ? in_place
                      : !is_own(pc[i - 1]) && pc[i - 1] != LEAF_RECORDER ? asked_for(pc[i], pc[i - 1])
                                                                         : NULL;
        if (!asked) continue;
        kept = 0;
        pc[kept++] = (uintptr_t)asked + 1;
        unwind_note(thread, pc[0]);
    }
    stack->depth = kept;
    unwind_changed(stack);
    return is_recorder;
}
