#include "ingest/shim/stacks/stackrange.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ingest/shim/stacks/callstack.h"

/* Reads /proc/self/maps by raw system calls, because the program may have its own open and read. */
struct maps_reader {
    long fd;
    char *buffer;
    long size, at, filled;
};

static int next_char(struct maps_reader *reader) {
    if (reader->at == reader->filled) {
        reader->filled = syscall(SYS_read, reader->fd, reader->buffer, reader->size);
        reader->at = 0;
        if (reader->filled <= 0) {
            reader->filled = 0;
            return -1;
        }
    }
    return (unsigned char)reader->buffer[reader->at++];
}

static int read_hex(struct maps_reader *reader, uintptr_t *value) {
    *value = 0;
    for (;;) {
        int c = next_char(reader);
        if (c >= '0' && c <= '9')
            *value = *value * 16 + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *value = *value * 16 + (uintptr_t)(c - 'a' + 10);
        else
            return c;
    }
}

/* The mapping around an address; an empty range where there is none. */
static struct stack_range mapping_around(uintptr_t address, char *buffer, long size) {
    struct stack_range range = {0, 0};
    struct maps_reader reader = {.buffer = buffer, .size = size};
    reader.fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (reader.fd < 0) return range;
    for (;;) {
        uintptr_t low, high;
        if (read_hex(&reader, &low) < 0 || read_hex(&reader, &high) < 0) break;
        if (address >= low && address < high) {
            range = (struct stack_range){low, high};
            break;
        }
        int c;
        while ((c = next_char(&reader)) >= 0 && c != '\n') {
        }
        if (c < 0) break;
    }
    syscall(SYS_close, reader.fd);
    return range;
}

void stack_range_forget(struct thread *thread) {
    thread->stack = (struct stack_range){0, 0};
    thread->control_block = NULL;
}

COLD struct stack_range stack_range_foreign(struct thread *thread, uintptr_t sp) {
    bool is_forgotten = !thread->control_block && thread->is_ticking != TICK_INSIDE && !is_sealed();
    if (is_forgotten) stack_range_start(thread);
    if (is_forgotten && sp >= thread->stack.low && sp < thread->stack.high) return thread->stack;
    struct stack_range *known = &thread->foreign[sp >> 14 & (FOREIGN_STACKS - 1)];
    if (sp >= known->low && sp < known->high) return *known;
    /* Inside a hook the buffer is in use; a sealed process makes no system call. */
    if (thread->is_ticking == TICK_INSIDE || is_sealed()) return (struct stack_range){0, 0};
    *known = mapping_around(sp, thread->scratch, sizeof thread->scratch);
    return *known;
}

/* The main thread's stack grows: its lower bound is the limit, not where the mapping ends now. */
static void main_stack_range(struct thread *thread, uintptr_t sp) {
    enum { UNLIMITED = 64 << 20 };
    struct rlimit limit;
    thread->stack = mapping_around(sp, thread->scratch, sizeof thread->scratch);
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > UNLIMITED) limit.rlim_cur = UNLIMITED;
    if (thread->stack.high > limit.rlim_cur && thread->stack.low > thread->stack.high - limit.rlim_cur)
        thread->stack.low = thread->stack.high - limit.rlim_cur;
}

struct stack_range stack_range_first(struct thread *thread) {
    return mapping_around(getauxval(AT_RANDOM), thread->scratch, sizeof thread->scratch); /* it lies at its root */
}

/* Without a system call: the C library keeps what it knows of a thread at the upper end of its stack, and all between there and here is that stack. Below,
 * nothing is read. */
static struct stack_range range_below(uintptr_t control_block, uintptr_t sp) {
    enum { STACK_MOST = 1 << 30, STACK_USUAL = 8 << 20 };
    if (control_block <= sp || control_block - sp > STACK_MOST) return (struct stack_range){0, 0};
    uintptr_t low = control_block - STACK_USUAL;
    return (struct stack_range){low < sp ? low : sp, control_block};
}

/* Without pthread_getattr_np: it takes a lock of the thread and allocates under it, so a thread whose first act is to
 * call it (the JVM's do) would wait for itself inside our hook. The C library gives a stack that it kept to the next
 * thread, with the same control block, so most threads of a program that starts many need no look-up. */
void stack_range_start(struct thread *thread) {
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    const void *control_block = __builtin_thread_pointer();
    bool is_kept = control_block == thread->control_block && sp >= thread->stack.low && sp < thread->stack.high;
    if (is_kept) return;
    thread->control_block = control_block;
    /* That of a new thread stays untouched. */
    if (thread->walked_high) memset(thread->foreign, 0, sizeof thread->foreign);
    if (is_sealed())
        thread->stack = range_below((uintptr_t)control_block, sp);
    else if (syscall(SYS_gettid) == getpid())
        main_stack_range(thread, sp);
    else
        thread->stack = mapping_around(sp, thread->scratch, sizeof thread->scratch);
    /* Known walks are of the stack that ended at walked_high: they name words of it by their distance, and to compare them reads these words. On
     * another stack at the same addresses, which may end earlier, that could read beyond its end. */
    if (thread->walked_high != thread->stack.high) {
        if (thread->walked_high) callstack_forget(thread);
        thread->walked_high = thread->stack.high;
    }
}
