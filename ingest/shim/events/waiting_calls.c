#include "ingest/shim/events/waiting_calls.h"

#include "ingest/shim/stacks/callstack.h"

const char *const call_names[WAITING_CALLS] = {
#define X(which, name) [IO_##which] = name,
    SEGMENT_IO_CALLS(X)
#undef X
#define X(which, name) [CALL_##which] = name,
        SEGMENT_WAITING_CALLS(X)
#undef X
};

void call_begins_slowly(enum segment_waiting_call call, const uint64_t *caller) {
    struct thread *thread = is_paused() ? NULL : thread_enter();
    if (!thread) return;
    RECORD(thread, call_published(thread, call, callstack(thread, frame_at(caller))));
    thread_leave(thread);
}
