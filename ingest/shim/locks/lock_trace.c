#include "ingest/shim/locks/lock_trace.h"

#include "ingest/shim/locks/lockrecord.h"

COLD void trace_released(const void *lock, uint64_t at, const uint64_t *caller) {
    struct thread *thread = lock_enter();
    if (!thread) return;
    trace_about(thread, (struct segment_event){.kind = EVENT_RELEASE, .begin = at, .end = at},
                (struct object_key){.address = (uintptr_t)lock, .class = CLASS_LOCK}, frame_at(caller));
    thread_leave(thread);
}

uint64_t trace_hold_since(const void *lock) {
    const struct held_lock *held = find_held(self, lock);
    return hold_is_ending(held) && held->holds != HOLD_MARKED ? held->since : 0;
}

COLD void trace_held(const void *lock, uint64_t since, uint64_t at, bool is_waited_for, const uint64_t *caller) {
    struct thread *thread = at >= since && (is_waited_for || trace_is_long(at - since)) ? lock_enter() : NULL;
    if (!thread) return;
    trace_about(thread, (struct segment_event){.kind = EVENT_HOLD, .begin = since, .end = at},
                (struct object_key){.address = (uintptr_t)lock, .class = CLASS_LOCK}, frame_at(caller));
    thread_leave(thread);
}
