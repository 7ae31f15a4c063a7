#include "ingest/shim/stacks/local_frames.h"

#include <string.h>

#include "ingest/shim/stacks/intern.h"
#include "ingest/shim/stacks/stackrange.h"
#include "ingest/shim/stacks/unwind.h"

static ALWAYS_INLINE bool is_within(struct stack_range range, uint64_t address) {
    return address >= range.low && address < range.high;
}

/* The frame of index i has the stack from sp[i] to sp[i + 1], its canonical frame address; pc[i + 1] is where it returns to. The one behind the
 * last has none. */
static struct local_frame frame_around(const uint64_t *pc, const uint64_t *sp, uint32_t count, uint64_t address) {
    for (uint32_t i = 0; i + 1 < count; i++)
        if (address >= sp[i] && address < sp[i + 1] && sp[i + 1] - sp[i] <= UINT32_MAX)
            return (struct local_frame){.pc = pc[i],
                                        .offset = (int64_t)(address - sp[i + 1]),
                                        .size = (uint32_t)(sp[i + 1] - sp[i]),
                                        .frame = sp[i + 1],
                                        .return_pc = pc[i + 1]};
    return (struct local_frame){0};
}

/* The frame that called the runtime. All functions of it have frame pointers. */
static struct frame program_frame(struct stack_range range) {
    const uint64_t *at = CALLER();
    while (at[1] > process->own_low && at[1] <= process->own_high) {
        const uint64_t *next = (const uint64_t *)(uintptr_t)at[0];
        if (next <= at || !is_within(range, (uintptr_t)(next + 2))) return (struct frame){0};
        at = next;
    }
    return frame_at(at);
}

struct local_frame local_frame_here(struct thread *thread, uint64_t address) {
    struct walked_stack stack;
    uint64_t here = (uintptr_t)__builtin_frame_address(0), *sp = thread->python[0].sp;
    if (thread->is_ticking || address < here) return (struct local_frame){0};
    struct stack_range range = stack_range_of(thread, here);
    if (!is_within(range, here) || !is_within(range, address)) return (struct local_frame){0};
    struct frame frame = program_frame(range);
    if (!frame.pc) return (struct local_frame){0};
    unwind_places(thread, frame, &stack, sp);
    return frame_around(stack.pc, sp, stack.depth, address);
}

/* --- what other threads may ask for ------------------------------------------------------------------------------- */

void local_frame_keep(uint64_t address, uint64_t hash, struct local_frame frame) {
    if (!frame.pc) return;
    process->locals[process->locals_next % KNOWN_LOCALS] =
        (struct known_local){address, hash, frame.frame, frame.return_pc};
    store_relaxed(&process->locals_next, process->locals_next + 1);
}

/* Whether the call that had it is over: its place is free, or in another call's frame. */
static bool is_over(const struct known_local *local, const struct walked_stack *stack, const uint64_t *sp) {
    if (local->address < sp[0]) return true;
    struct local_frame now = frame_around(stack->pc, sp, stack->depth, local->address);
    return now.pc && (now.frame != local->frame || now.return_pc != local->return_pc);
}

static COLD void forget_locals(const struct thread *thread, const struct walked_stack *stack, const uint64_t *sp) {
    if (!process_lock_from(thread)) return;
    for (uint32_t i = 0; i < KNOWN_LOCALS; i++) {
        struct known_local *local = &process->locals[i];
        if (!local->address || !is_within(thread->stack, local->address) || !is_over(local, stack, sp)) continue;
        object_forget(local->address, local->hash);
        local->address = 0;
    }
    process_unlock();
}

void local_frames_note(struct thread *thread, struct frame frame) {
    struct walked_stack stack;
    uint64_t *sp = thread->python[0].sp;
    if (thread->is_ticking || !is_within(thread->stack, frame.sp)) return;
    unwind_places(thread, frame, &stack, sp);
    if (load_relaxed(&process->locals_next)) forget_locals(thread, &stack, sp);
    struct noted_frames *noted = &thread->noted_frames;
    uint32_t count = stack.depth < NOTED_FRAMES ? stack.depth : NOTED_FRAMES;
    store_release(&noted->count, 0); /* another thread may be looking, and goes by what still stands in the stack */
    memcpy(noted->pc, stack.pc, count * sizeof noted->pc[0]);
    memcpy(noted->sp, sp, count * sizeof noted->sp[0]);
    store_release(&noted->count, count);
}

/* Whether the call still goes on. A thread that has not ended has its stack. */
static bool is_on(const struct thread *other, struct local_frame found) {
    uint64_t at = found.frame - 8;
    return found.pc && is_within(other->stack, at) && load_relaxed((const uint64_t *)(uintptr_t)at) == found.return_pc;
}

struct local_frame local_frame_elsewhere(const struct thread *thread, uint64_t address) {
    for (const struct thread *other = process->all; other; other = other->next_of_all) {
        const struct noted_frames *noted = &other->noted_frames;
        uint32_t count = load_acquire(&noted->count);
        if (other == thread || !count || !is_within(other->stack, address)) continue;
        struct local_frame found = frame_around(noted->pc, noted->sp, count, address);
        return is_on(other, found) ? found : (struct local_frame){0};
    }
    return (struct local_frame){0};
}
