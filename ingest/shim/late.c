/* late.c: how a process that runs already begins to be recorded, and ends to be while it runs on. The recorder loads the runtime into
 * it and calls clear_rt_attach in one of its threads (ingest/attach/). */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/shim/core/control.h"
#include "ingest/shim/core/real.h"
#include "ingest/shim/core/runtime.h"
#include "ingest/shim/core/segment_file.h"
#include "ingest/shim/core/slots.h"
#include "ingest/shim/cpu/cpu.h"
#include "ingest/shim/cpu/cpu_time.h"
#include "ingest/shim/cpu/threads.h"
#include "ingest/shim/heap/leaks.h"
#include "ingest/shim/locks/earlier_waits.h"
#include "ingest/shim/stacks/stackrange.h"

/* The recorder gave it the stack that we are on. */
static void leave_thread(struct thread *thread) {
    if (!thread) return;
    stack_range_forget(thread);
    thread_leave(thread);
}

static void note_slots(struct attach_call *call, struct slots_done done) {
    call->modules = done.modules;
    call->slots = done.changed;
    call->refused = done.refused;
}

/* Another allocator has other figures. */
static bool is_libc_allocator(void) {
    struct dl_find_object allocator, libc;
    return _dl_find_object((void *)(uintptr_t)real.malloc, &allocator) == 0 &&
           _dl_find_object((void *)(uintptr_t)getpid, &libc) == 0 && allocator.dlfo_link_map == libc.dlfo_link_map;
}

static void note_before(struct attach_call *call) {
    if (!call->asks_before || !is_libc_allocator()) return;
    struct mallinfo2 figures = mallinfo2();
    call->before_bytes = figures.uordblks + figures.hblkhd;
    call->has_before = 1;
}

/* The directory has a link for each; 0: it cannot be seen. */
static uint64_t threads_of_process(void) {
    enum { OTHER_LINKS = 2 };
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > OTHER_LINKS ? tasks.st_nlink - OTHER_LINKS : 0;
}

static enum attach_result begin(struct attach_call *call) {
    if (load_acquire(&process->state) == PROCESS_READY) return ATTACH_IS_RECORDED;
    note_before(call);
    call->directory[sizeof call->directory - 1] = '\0';
    if (!control_attach(call->directory)) return ATTACH_NO_DIRECTORY;
    if (!recording_again()) return ATTACH_NO_SEGMENT;
    struct thread *thread = thread_enter();
    if (load_acquire(&process->state) != PROCESS_READY) {
        control_leave();
        return ATTACH_NO_SEGMENT;
    }
    call->has_no_cpu = shared_control()->cpu_hz && !load_relaxed(&process->cpu_hz);
    cpu_mask_handlers();
    threads_ahead(threads_of_process());
    bool has_room = call->slots == ATTACH_FOREIGN_MOST;
    note_slots(call, slots_put());
    if (has_room) slots_foreign(call->foreign);
    earlier_waits_begin(thread, call->directory);
    leave_thread(thread);
    return ATTACH_DONE;
}

static enum attach_result again(struct attach_call *call) {
    if (load_acquire(&process->state) != PROCESS_READY) return ATTACH_NOT_RECORDED;
    struct thread *thread = thread_enter();
    note_slots(call, slots_put());
    leave_thread(thread);
    return ATTACH_DONE;
}

static enum attach_result end(struct attach_call *call) {
    note_slots(call, slots_put_back());
    if (load_acquire(&process->state) != PROCESS_READY) return ATTACH_NOT_RECORDED;
    leaks_at_end();
    struct thread *thread = thread_enter();
    if (thread) {
        RECORD(thread, cpu_over(thread));
        leave_thread(thread);
    }
    lives_end();
    recording_over();
    return ATTACH_DONE;
}

static enum attach_result leave(void) {
    if (load_acquire(&process->state) != PROCESS_OFF) return ATTACH_NOT_RECORDED;
    cpu_leave();
    segment_leave();
    return ATTACH_DONE;
}

static enum attach_result take_step(struct attach_call *call) {
    switch (call->step) {
    case ATTACH_BEGIN: return begin(call);
    case ATTACH_AGAIN: return again(call);
    case ATTACH_END: return end(call);
    case ATTACH_LEAVE: return leave();
    default: return ATTACH_NOT_RECORDED;
    }
}

HOOK void clear_rt_attach(struct attach_call *call);

HOOK void clear_rt_attach(struct attach_call *call) {
    static uint32_t is_entered; /* a step that waits for the loader may still be on its way when the next one comes */
    int saved_errno = errno;
    if (!is_late() || exchange_acq_rel(&is_entered, 1)) {
        call->result = ATTACH_IS_RECORDED;
        return;
    }
    earlier_wait_interrupted();
    call->result = take_step(call);
    earlier_wait_goes_on();
    store_release(&is_entered, 0);
    errno = saved_errno;
}
