#include "ingest/attach/waiting_threads.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "ingest/segment.h"

enum { WORDS_MOST = 512 /* of a stack, in which a frame pointer is looked for */ };
#define LOOK_NS INT64_C(1000000000)

/* ---- the system call --------------------------------------------------------------------------------------------- */

/* Of a thread that is in one: its number, arguments, stack pointer and program counter. */
struct waiting_call {
    char text[ATTACH_WAIT_CALL]; /* as the kernel says it; zeros behind it */
    unsigned long long arguments[6], sp, pc;
    long number;
};

static bool read_call(pid_t pid, pid_t thread, struct waiting_call *call) {
    char path[64];
    memset(call, 0, sizeof *call);
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, call->text, sizeof call->text - 1);
    if (fd >= 0) close(fd);
    unsigned long long *at = call->arguments;
    return size > 0 && sscanf(call->text, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &call->number, &at[0], &at[1],
                              &at[2], &at[3], &at[4], &at[5], &call->sp, &call->pc) == 9;
}

static bool is_wait(const struct waiting_call *call) {
    int command = (int)call->arguments[1] & FUTEX_CMD_MASK;
    return call->number == SYS_futex &&
           (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI);
}

/* ---- what it waits for ------------------------------------------------------------------------------------------- */

/* The word at which a function sleeps lies in the object, of which the address is wanted. Layouts of the GNU C library: nptl/pthreadP.h and
 * bits/struct_rwlock.h. A condition variable has two such words, and so has a lock that several read. */
static uint64_t whole(uint64_t word) {
    return word;
}
static uint64_t condition_of(uint64_t word) {
    return (word & ~UINT64_C(7)) - offsetof(pthread_cond_t, __data.__g_signals);
}
static uint64_t rwlock_of(uint64_t word) {
    return word % 8 ? word - offsetof(pthread_rwlock_t, __data.__writers_futex)
                    : word - offsetof(pthread_rwlock_t, __data.__wrphase_futex);
}
static uint64_t barrier_of(uint64_t word) {
    return word - sizeof(unsigned);
}
static uint64_t any_thread(uint64_t word) {
    (void)word;
    return 1;
}

static const struct waiting_function {
    const char *name;
    enum segment_object_kind kind;
    bool is_shared;
    uint64_t (*object)(uint64_t word);
} functions[] = {
    {"pthread_mutex_lock", OBJECT_MUTEX, false, whole},
    {"pthread_mutex_timedlock", OBJECT_MUTEX, false, whole},
    {"pthread_mutex_clocklock", OBJECT_MUTEX, false, whole},
    {"mtx_lock", OBJECT_MUTEX, false, whole},
    {"mtx_timedlock", OBJECT_MUTEX, false, whole},
    {"pthread_rwlock_rdlock", OBJECT_RWLOCK, true, rwlock_of},
    {"pthread_rwlock_timedrdlock", OBJECT_RWLOCK, true, rwlock_of},
    {"pthread_rwlock_clockrdlock", OBJECT_RWLOCK, true, rwlock_of},
    {"pthread_rwlock_wrlock", OBJECT_RWLOCK, false, rwlock_of},
    {"pthread_rwlock_timedwrlock", OBJECT_RWLOCK, false, rwlock_of},
    {"pthread_rwlock_clockwrlock", OBJECT_RWLOCK, false, rwlock_of},
    {"pthread_cond_wait", OBJECT_COND, false, condition_of},
    {"pthread_cond_timedwait", OBJECT_COND, false, condition_of},
    {"pthread_cond_clockwait", OBJECT_COND, false, condition_of},
    {"cnd_wait", OBJECT_COND, false, condition_of},
    {"cnd_timedwait", OBJECT_COND, false, condition_of},
    {"sem_wait", OBJECT_SEM, false, whole},
    {"sem_timedwait", OBJECT_SEM, false, whole},
    {"sem_clockwait", OBJECT_SEM, false, whole},
    {"pthread_barrier_wait", OBJECT_BARRIER, false, barrier_of},
    {"pthread_join", OBJECT_JOIN, false, any_thread},
    {"pthread_timedjoin_np", OBJECT_JOIN, false, any_thread},
    {"pthread_clockjoin_np", OBJECT_JOIN, false, any_thread},
    {"thrd_join", OBJECT_JOIN, false, any_thread},
    {"syscall", OBJECT_FUTEX, false, whole},
};

static const struct waiting_function *function_named(const char *name) {
    for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    return NULL;
}

/* sem_wait and pthread_join are left by a jump to what waits for them, which has no name in the file. But the caller's call tells: `call f@plt`, of which
 * the code jumps to what a slot holds, or `call *slot`. 0: neither. */
static uint64_t called_before(const struct running *running, uint64_t return_address) {
    enum { CALL = 0xe8, INDIRECT = 0xff, CALL_SLOT = 0x15, JUMP_SLOT = 0x25, LANDING_SIZE = 4, JUMPS = 16 };
    uint8_t call[6], code[JUMPS];
    int32_t offset;
    uint64_t slot = 0, function = 0;
    if (!running_read(running, return_address - sizeof call, call, sizeof call)) return 0;
    memcpy(&offset, call + 2, sizeof offset);
    if (call[0] == INDIRECT && call[1] == CALL_SLOT) slot = return_address + (uint64_t)(int64_t)offset;
    uint64_t target = return_address + (uint64_t)(int64_t)offset;
    if (!slot && call[1] == CALL && running_read(running, target, code, sizeof code)) {
        static const uint8_t landing[LANDING_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
        size_t at = memcmp(code, landing, sizeof landing) == 0 ? LANDING_SIZE : 0;
        if (code[at] == 0xf2) at++; /* bnd */
        memcpy(&offset, code + at + 2, sizeof offset);
        if (code[at] == INDIRECT && code[at + 1] == JUMP_SLOT) slot = target + at + 6 + (uint64_t)(int64_t)offset;
    }
    return slot && running_read(running, slot, &function, sizeof function) ? function : 0;
}

/* ---- its stack --------------------------------------------------------------------------------------------------- */

/* What a walk has seen. The C library's frames come first, then the program's, which are kept. */
struct waiting_stack {
    struct stand *stand;
    const struct running *running;
    struct attach_wait *wait;
    const struct waiting_function *function; /* of the C library, that the program called */
    uint64_t called;                         /* the return address to who called it; 0: not yet */
    bool is_in_mutex;                        /* at the top: also what waited for a condition takes its mutex again */
    size_t frames;
};

static bool see_frame(void *context, const struct stand_frame *frame) {
    struct waiting_stack *seen = context;
    struct attach_wait *wait = seen->wait;
    if (seen->frames++ == 0 && frame->function) seen->is_in_mutex = strcmp(frame->function, "lll_lock_wait") == 0;
    if (!seen->called && frame->is_libc) {
        seen->function = function_named(frame->function);
        return true;
    }
    if (!seen->called) {
        seen->called = frame->pc;
        if (!seen->function)
            seen->function = function_named(stand_function(seen->stand, called_before(seen->running, frame->pc)));
    }
    if (wait->depth == 0 && frame->is_runtime) {
        if (!seen->function) seen->function = function_named(frame->function);
        wait->in_hook = 1;
        return true;
    }
    if (!seen->function || seen->frames == 1) return false;
    if (wait->depth == ATTACH_WAIT_FRAMES) {
        wait->flags |= STACK_TRUNCATED;
        return false;
    }
    wait->pc[wait->depth++] = frame->pc;
    return true;
}

static bool is_code(const struct running *running, uint64_t address) {
    const struct running_mapping *mapping = running_mapping_at(running, address);
    return mapping && mapping->is_executable;
}

/* The kernel does not tell the frame pointer. The C library's functions that wait have none: they keep the caller's, or save it, and then their call
 * frame information finds it. So it is the first place behind `called`, the return address into their caller, that has what a function with a frame
 * pointer puts there: its caller's, which lies above or is 0, and a return address. A hook keeps such a pair in its variables, too, so that may be a wrong
 * guess, of which the next is behind `before`; 0: the first. 0 is returned where there is none. */
static uint64_t frame_pointer(const struct running *running, uint64_t sp, uint64_t called, uint64_t before) {
    uint64_t words[WORDS_MOST];
    const struct running_mapping *stack = running_mapping_at(running, sp);
    size_t count = stack ? (stack->high - sp) / sizeof *words : 0, i = 0;
    if (count > WORDS_MOST) count = WORDS_MOST;
    if (!count || !running_read(running, sp, words, count * sizeof *words)) return 0;
    while (i < count && words[i] != called)
        i++;
    for (i++; i + 1 < count; i++) {
        uint64_t at = sp + i * sizeof *words;
        if (at <= before) continue;
        bool is_above = words[i] > at && words[i] < stack->high && words[i] % 8 == 0;
        if ((is_above || !words[i]) && is_code(running, words[i + 1])) return at;
    }
    return 0;
}

static void walk(const struct waiting_stack *from, const struct waiting_call *call, uint64_t rbp,
                 struct waiting_stack *seen, struct attach_wait *wait) {
    const struct user_regs_struct registers = {.rip = call->pc, .rsp = call->sp, .rbp = rbp};
    *seen = *from;
    seen->wait = wait;
    *wait = *from->wait;
    stand_walk(seen->stand, wait->tid, &registers, see_frame, seen);
}

/* Where a caller has a frame pointer, the stack ends there without it. A wrong one leads to fewer frames. */
static bool walk_well(struct waiting_stack *seen, const struct waiting_call *call) {
    enum { GUESSES = 8 };
    struct waiting_stack from = *seen, second;
    struct attach_wait empty = *seen->wait, longer;
    from.wait = &empty;
    walk(&from, call, 0, seen, seen->wait);
    if (!seen->function) return false;
    uint64_t rbp = 0;
    for (int i = 0; i < (seen->wait->in_hook ? GUESSES : 1); i++) {
        rbp = frame_pointer(seen->running, call->sp, seen->called, rbp);
        if (!rbp) break;
        walk(&from, call, rbp, &second, &longer);
        if (longer.depth > seen->wait->depth) *seen->wait = longer;
    }
    return seen->wait->depth > 0;
}

static bool note_wait(struct stand *stand, const struct running *running, pid_t thread, struct attach_wait *wait) {
    struct waiting_call call, after;
    if (!read_call(running->pid, thread, &call) || !is_wait(&call)) return false;
    *wait = (struct attach_wait){.tid = thread};
    struct waiting_stack seen = {.stand = stand, .running = running, .wait = wait};
    if (!walk_well(&seen, &call)) return false;
    /* It has run on meanwhile: then what was read of its stack is of several moments. */
    if (!read_call(running->pid, thread, &after) || strcmp(after.text, call.text) != 0) return false;
    bool is_mutex = seen.is_in_mutex && seen.function->kind == OBJECT_COND;
    wait->kind = is_mutex ? OBJECT_MUTEX : seen.function->kind;
    wait->object = is_mutex ? call.arguments[0] : seen.function->object(call.arguments[0]);
    wait->is_shared = seen.function->is_shared;
    memcpy(wait->call, call.text, sizeof wait->call);
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static char *path_of(pid_t pid, const char *directory) {
    return xasprintf("%s/" ATTACH_WAITS_FILE "%d", directory, (int)pid);
}

static void write_waits(pid_t pid, const char *directory, const struct attach_wait *waits, size_t count) {
    const struct attach_waits head = {SEGMENT_MAGIC, SEGMENT_VERSION, sizeof *waits, (uint32_t)count};
    char *path = path_of(pid, directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t size = count * sizeof *waits;
    bool is_whole =
        fd >= 0 && write(fd, &head, sizeof head) == (ssize_t)sizeof head && write(fd, waits, size) == (ssize_t)size;
    if (fd >= 0) close(fd);
    if (!is_whole) unlink(path);
    free(path);
}

void waiting_threads_note(struct stand *stand, const struct running *running, const char *directory) {
    int64_t until = clock_monotonic_ns() + LOOK_NS;
    size_t thread_count, count = 0;
    pid_t *threads = running_threads(running->pid, &thread_count);
    struct attach_wait *waits = xcalloc(ATTACH_WAITS_MOST, sizeof *waits);
    for (size_t i = 0; i < thread_count && count < ATTACH_WAITS_MOST && clock_monotonic_ns() < until; i++)
        count += note_wait(stand, running, threads[i], &waits[count]);
    if (count) write_waits(running->pid, directory, waits, count);
    free(waits);
    free(threads);
}

void waiting_threads_forget(pid_t pid, const char *directory) {
    char *path = path_of(pid, directory);
    unlink(path);
    free(path);
}
