/* The hook of pthread_create: threads are recorded from their first instruction. */
#include <pthread.h>

#include "ingest/shim/cpu.h"
#include "ingest/shim/cpu_time.h"
#include "ingest/shim/real.h"
#include "ingest/shim/unwind.h"

struct thread_start {
    void *(*function)(void *);
    void *argument;
    bool is_tick_hidden; /* a thread has the mask of the one that made it */
};

/* Threads that were created and do not run yet. Static, because it must not come from the program's heap. When more
 * threads than this start at once, the others begin at their first hook. */
enum { STARTS = 256 };
static struct thread_start starts[STARTS];
static uint32_t starts_taken[STARTS];

static struct thread_start *take_start(void *(*function)(void *), void *argument) {
    for (uint32_t i = 0; i < STARTS; i++) {
        uint32_t is_free = 0;
        if (load_relaxed(&starts_taken[i]) || !compare_exchange(&starts_taken[i], &is_free, 1)) continue;
        starts[i] =
            (struct thread_start){.function = function, .argument = argument, .is_tick_hidden = cpu_tick_is_hidden()};
        return &starts[i];
    }
    return NULL;
}

/* The call of the program's function is a tail call, so no frame of ours is in the thread's stacks. */
static void *thread_main(void *start) {
    struct thread_start taken = *(struct thread_start *)start;
    store_release(&starts_taken[(struct thread_start *)start - starts], 0);
    cpu_inherit_mask(taken.is_tick_hidden);
    struct thread *thread = thread_enter();
    if (thread) {
        cpu_time_routine(thread, (uintptr_t)taken.function, CALLER_FRAME());
        thread_leave(thread);
    }
    return taken.function(taken.argument);
}

HOOK int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                        void *argument) {
    struct thread_start *start = load_relaxed(&process->cpu_hz) ? take_start(function, argument) : NULL;
    if (!start) return real.pthread_create(thread, attributes, function, argument);
    return real.pthread_create(thread, attributes, thread_main, start);
}
