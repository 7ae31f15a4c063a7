#include "ingest/attach/enter.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ingest/attach/attach.h"
#include "ingest/attach/code.h"
#include "ingest/attach/stand.h"
#include "ingest/attach/waiting_threads.h"

enum {
    /* Between two looks at a thread that calls the runtime. Each takes its processor away, where there is more work than processors, and it gets
     * that back behind others. With looks each 0.05 ms, 59 of these in 8 attachments were inside mprotect, madvise and mmap with the lock of all
     * the process's memory, which the other threads then waited for; with 1 ms none. */
    POLL_NS = 1000000,
    LONGEST_NS = 10000000, /* a signal may come before it is waited for */
    SETTLE_NS = 10000000,  /* how long the thread waits for us when its call is over; then it goes on by itself */
    XSTATE_MOST = 16 << 10,
    PRIORITY = -15,
    STRAYS_MOST = 64,    /* more than come in GIVE_UP_NS: each takes STOP_NS */
    PAUSE_NS = 10000000, /* when no thread stood well, before all are tried again */
    /* Of one thread that stands badly, before the next one is tried: each costs it some 0.1 ms. */
    REFUSALS_MOST = 64,
    FIRST_MOST_US = 50000, /* of a processor, before other programs and without a sleep */
    RAISED_NS = 200000000, /* how long the entered thread is before other programs */
};
#define GIVE_UP_NS INT64_C(5000000000) /* no thread stood where it could be entered */
#define THREAD_NS  INT64_C(200000000)  /* of one thread, before the next one is tried */
/* Of one step in the gate: as long as a busy machine lets the thread wait for a processor. */
#define GATE_NS      INT64_C(60000000000)
#define STRAYS_NS    INT64_C(300000000)
#define STOP_NS      INT64_C(100000000) /* at first; a thread that does not stop meanwhile is inside the kernel */
#define STOP_MOST_NS INT64_C(800000000)
#define LOADER_NS                                                                                                      \
    INT64_C(20000000000) /* the call: mostly a few ms, unless another thread holds the lock of the loader */
#define IS_SYSCALL 0x80  /* of the signal of a stop, by PTRACE_O_TRACESYSGOOD */

/* What the helper does its work with, and leaves its answer in: memory that it shares with who waits for it. */
struct entered {
    int code;
    struct entering entering;
    struct error err;
};

struct tracee {
    const struct running *running;
    struct stand *stand;
    struct entering *entering;
    pid_t thread;
    int64_t stop_ns; /* how long a stop is waited for: after a round in which one did not come, twice as long */
    struct user_regs_struct entry; /* at the entry of the system call where it was stopped */
    uint64_t gate, memory;         /* where the code is, and what was mapped; 0: not yet */
    uint8_t unused[CODE_GATE_SIZE];
    int64_t since_ns;
    const char *why;           /* it was not entered, in words behind "thread N" */
    const char *stood;         /* where a thread stood last that was stopped, and not well; NULL: none was */
    bool is_outside;           /* of the gate, for sure: only then its code may go */
    pid_t strays[STRAYS_MOST]; /* that did not stop when they were asked to; 0: free */
    bool
        is_rewound; /* a system call that was interrupted is to be made again, unless there is a signal for the program */
    struct user_regs_struct interrupted;
};

/* ---- stops ------------------------------------------------------------------------------------------------------- */

enum stop { STOP_NONE, STOP_GONE, STOP_ENTRY, STOP_EXIT, STOP_SIGNAL, STOP_ASKED, STOP_GROUP };

static enum stop stop_of(pid_t thread, int status) {
    int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_STOP) return signal == SIGTRAP ? STOP_ASKED : STOP_GROUP;
    if (signal != (SIGTRAP | IS_SYSCALL)) return STOP_SIGNAL;
    struct __ptrace_syscall_info info = {0};
    long size = ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
    return size > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY ? STOP_ENTRY : STOP_EXIT;
}

/* Until a thread that we trace stops, or a moment has passed. SIGCHLD is blocked in the helper. */
static void wait_moment(int64_t most_ns) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (most_ns > LONGEST_NS) most_ns = LONGEST_NS;
    sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = most_ns});
}

static size_t let_strays_go(const struct tracee *tracee);

static enum stop wait_stop(const struct tracee *tracee, int64_t most_ns, int *signal) {
    int64_t until = clock_monotonic_ns() + most_ns;
    for (;;) {
        int status;
        let_strays_go(tracee);
        pid_t got = waitpid(tracee->thread, &status, __WALL | WNOHANG);
        if (got == tracee->thread && WIFSTOPPED(status)) {
            *signal = WSTOPSIG(status);
            return stop_of(tracee->thread, status);
        }
        if (got != 0) return STOP_GONE;
        int64_t left = until - clock_monotonic_ns();
        if (left <= 0) return STOP_NONE;
        wait_moment(left);
    }
}

static bool go_on(const struct tracee *tracee, int signal) {
    return ptrace(PTRACE_SYSCALL, tracee->thread, NULL, (void *)(intptr_t)signal) == 0;
}

static bool read_registers(const struct tracee *tracee, struct user_regs_struct *registers) {
    return ptrace(PTRACE_GETREGS, tracee->thread, NULL, registers) == 0;
}

static bool write_registers(const struct tracee *tracee, const struct user_regs_struct *registers) {
    return ptrace(PTRACE_SETREGS, tracee->thread, NULL, registers) == 0;
}

/* The registers with which the thread makes the system call of that entry. */
static struct user_regs_struct before_call(const struct user_regs_struct *entry) {
    struct user_regs_struct registers = *entry;
    registers.rip -= CODE_SYSCALL_SIZE;
    registers.rax = entry->orig_rax;
    registers.orig_rax = (unsigned long long)-1;
    return registers;
}

static bool is_caught(const struct tracee *tracee, int signal) {
    char text[64];
    if (!running_status(tracee->running->pid, "SigCgt", text, sizeof text)) return true;
    return strtoull(text, NULL, 16) >> (signal - 1) & 1;
}

/* The kernel restarts most calls that a stop has interrupted, and ends a few by EINTR: these, of which nothing was done then (the sockets'
 * with a time limit). The program asked for no stop, so it is to make the call again. Others keep their EINTR, as after SIGSTOP and SIGCONT. */
static bool is_repeatable(uint64_t number) {
    static const long numbers[] = {
        SYS_epoll_wait,   SYS_epoll_pwait, SYS_epoll_pwait2, SYS_rt_sigtimedwait, SYS_semop,   SYS_semtimedop,
        SYS_io_getevents, SYS_read,        SYS_readv,        SYS_recvfrom,        SYS_recvmsg, SYS_recvmmsg,
        SYS_accept,       SYS_accept4,     SYS_write,        SYS_writev,          SYS_sendto,  SYS_sendmsg,
        SYS_sendmmsg,     SYS_sendfile,    SYS_splice};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((uint64_t)numbers[i] == number) return true;
    return false;
}

static void rewind_call(struct tracee *tracee) {
    struct user_regs_struct now, again;
    tracee->is_rewound = false;
    if (!read_registers(tracee, &now) || (int64_t)now.rax != -EINTR || !is_repeatable(now.orig_rax)) return;
    again = before_call(&now);
    tracee->interrupted = now;
    tracee->is_rewound = write_registers(tracee, &again);
}

/* A signal that the program has a handler for would have ended that call too. */
static void pass_signal(struct tracee *tracee, int signal) {
    if (tracee->is_rewound && is_caught(tracee, signal)) write_registers(tracee, &tracee->interrupted);
    tracee->is_rewound = false;
    go_on(tracee, signal);
}

static void let_go(const struct tracee *tracee) {
    ptrace(PTRACE_DETACH, tracee->thread, NULL, NULL);
}

/* A thread that stops late must not wait until we are done with another one. */
static size_t let_strays_go(const struct tracee *tracee) {
    size_t left = 0;
    for (size_t i = 0; i < STRAYS_MOST; i++) {
        struct tracee stray = {.running = tracee->running, .thread = tracee->strays[i]};
        int status;
        pid_t got = stray.thread ? waitpid(stray.thread, &status, __WALL | WNOHANG) : 0;
        left += stray.thread && got == 0;
        if (got == 0) continue;
        if (got == stray.thread && WIFSTOPPED(status)) {
            bool is_signal = stop_of(stray.thread, status) == STOP_SIGNAL;
            if (!is_signal) rewind_call(&stray);
            ptrace(PTRACE_DETACH, stray.thread, NULL, (void *)(intptr_t)(is_signal ? WSTOPSIG(status) : 0));
        }
        ((struct tracee *)(uintptr_t)tracee)->strays[i] = 0;
    }
    return left;
}

static void note_stray(struct tracee *tracee) {
    for (size_t i = 0; i < STRAYS_MOST; i++)
        if (!tracee->strays[i]) {
            tracee->strays[i] = tracee->thread;
            return;
        }
}

static bool is_stray(const struct tracee *tracee, pid_t thread) {
    for (size_t i = 0; i < STRAYS_MOST; i++)
        if (tracee->strays[i] == thread) return true;
    return false;
}

/* One that stops meanwhile is let go at once. Where we end before it stops, nobody makes its system call again, which ends by EINTR. True when
 * none is left. */
static bool wait_for_strays(const struct tracee *tracee, int64_t most_ns) {
    int64_t until = clock_monotonic_ns() + most_ns, left = most_ns;
    while (left > 0 && let_strays_go(tracee)) {
        wait_moment(left);
        left = until - clock_monotonic_ns();
    }
    return left > 0;
}

/* From wherever the thread is; any stop takes the place of the one that is asked for. False: it could not be stopped, or is gone; the end of
 * this process lets it go. */
static bool stop_anywhere(struct tracee *tracee) {
    for (;;) {
        int signal;
        if (ptrace(PTRACE_INTERRUPT, tracee->thread, NULL, NULL) != 0) return false;
        enum stop stop = wait_stop(tracee, tracee->stop_ns, &signal);
        if (stop == STOP_ENTRY || stop == STOP_EXIT) return true;
        if (stop == STOP_ASKED) {
            rewind_call(tracee);
            return true;
        }
        if (stop == STOP_SIGNAL)
            go_on(tracee, signal);
        else if (stop == STOP_GROUP) {
            tracee->why = "is stopped by a signal";
            let_go(tracee);
            return false;
        } else {
            tracee->why = "does not stop: it is inside the kernel";
            if (stop == STOP_NONE) note_stray(tracee);
            return false;
        }
    }
}

/* The next entry of a system call. The thread goes on from a stop. */
static bool next_entry(struct tracee *tracee, int64_t until_ns) {
    for (int signal = 0;;) {
        int64_t left = until_ns - clock_monotonic_ns();
        enum stop stop = wait_stop(tracee, left > 0 ? left : 0, &signal);
        if (stop == STOP_ENTRY) {
            tracee->is_rewound = false;
            if (!tracee->memory) tracee->since_ns = clock_monotonic_ns();
            return read_registers(tracee, &tracee->entry);
        }
        if (stop == STOP_EXIT || stop == STOP_ASKED)
            go_on(tracee, 0);
        else if (stop == STOP_SIGNAL)
            pass_signal(tracee, signal);
        else if (stop == STOP_NONE) {
            tracee->why = "makes no system call";
            if (stop_anywhere(tracee)) let_go(tracee);
            return false;
        } else {
            tracee->why = stop == STOP_GONE ? "is gone" : "is stopped by a signal";
            if (stop == STOP_GROUP) let_go(tracee);
            return false;
        }
    }
}

static bool is_syscall_instruction(const struct tracee *tracee) {
    static const uint8_t expected[CODE_SYSCALL_SIZE] = {0x0f, 0x05};
    uint8_t found[CODE_SYSCALL_SIZE];
    return running_read(tracee->running, tracee->entry.rip - CODE_SYSCALL_SIZE, found, sizeof found) &&
           memcmp(found, expected, sizeof found) == 0;
}

static bool stands_well(struct tracee *tracee) {
    tracee->stood = "in a system call of its allocator or loader";
    if (!stand_is_call((long)tracee->entry.orig_rax) || !is_syscall_instruction(tracee) || !tracee->entry.fs_base)
        return false;
    return stand_is_safe(tracee->stand, tracee->thread, &tracee->entry, &tracee->stood);
}

/* Stops the thread at the entry of a system call where it can be entered. False: it runs as before. */
static bool stop_well(struct tracee *tracee, pid_t thread) {
    int64_t until = clock_monotonic_ns() + THREAD_NS;
    tracee->thread = thread;
    tracee->why = "may not be traced";
    if (ptrace(PTRACE_SEIZE, thread, NULL, PTRACE_O_TRACESYSGOOD) != 0) return false;
    if (!stop_anywhere(tracee)) return false;
    go_on(tracee, 0);
    for (int refusals = 1; next_entry(tracee, until); refusals++) {
        if (stands_well(tracee)) return true;
        tracee->entering->stops_refused++;
        if (refusals == REFUSALS_MOST || clock_monotonic_ns() > until) {
            let_go(tracee);
            return false;
        }
        go_on(tracee, 0);
    }
    return false;
}

/* ---- the gate ---------------------------------------------------------------------------------------------------- */

struct call {
    long number;
    uint64_t arguments[6];
};

static struct user_regs_struct gate_registers(const struct tracee *tracee, const struct call *call) {
    struct user_regs_struct registers = tracee->entry;
    registers.rip = tracee->gate;
    registers.orig_rax = (unsigned long long)-1;
    registers.rax = (unsigned long long)call->number;
    registers.rdi = call->arguments[0];
    registers.rsi = call->arguments[1];
    registers.rdx = call->arguments[2];
    registers.r10 = call->arguments[3];
    registers.r8 = call->arguments[4];
    registers.r9 = call->arguments[5];
    return registers;
}

/* A signal came before the call: its handler must find the thread where the program has it. */
static bool leave_gate(struct tracee *tracee, int signal) {
    struct user_regs_struct back = before_call(&tracee->entry);
    tracee->is_outside = write_registers(tracee, &back);
    go_on(tracee, signal);
    tracee->why = "got a signal";
    return false;
}

/* From a stop to the end of one system call in the gate. False: the thread was let on without it, and is not stopped. */
static bool call_in_gate(struct tracee *tracee, const struct call *call, int64_t *result) {
    struct user_regs_struct registers = gate_registers(tracee, call);
    int signal;
    tracee->is_outside = false;
    if (!write_registers(tracee, &registers) || !go_on(tracee, 0)) return false;
    enum stop stop = wait_stop(tracee, GATE_NS, &signal);
    if (stop == STOP_EXIT) { /* of the call that is not made now */
        write_registers(tracee, &registers);
        go_on(tracee, 0);
        stop = wait_stop(tracee, GATE_NS, &signal);
    }
    if (stop == STOP_SIGNAL) return leave_gate(tracee, signal);
    if (stop != STOP_ENTRY || !go_on(tracee, 0) || wait_stop(tracee, GATE_NS, &signal) != STOP_EXIT) {
        tracee->why = "did not come back from a system call";
        return false;
    }
    if (!read_registers(tracee, &registers)) return false;
    *result = (int64_t)registers.rax;
    return true;
}

static bool open_gate(struct tracee *tracee) {
    uint8_t code[CODE_GATE_SIZE];
    if (!tracee->gate) {
        tracee->gate = running_unused_code(tracee->running, CODE_GATE_SIZE);
        if (!tracee->gate || !running_read(tracee->running, tracee->gate, tracee->unused, sizeof tracee->unused))
            return false;
    }
    code_gate(code, &tracee->entry);
    return running_write(tracee->running, tracee->gate, code, sizeof code);
}

/* Where the thread may still be in it, it stays: it leads back. */
static void close_gate(struct tracee *tracee) {
    if (tracee->is_outside) running_write(tracee->running, tracee->gate, tracee->unused, sizeof tracee->unused);
    if (!tracee->is_outside) tracee->gate = 0; /* the next one is somewhere else */
}

/* Memory of its own, of which the first page is code. */
static bool map_memory(struct tracee *tracee) {
    const struct call map = {
        SYS_mmap, {0, CODE_PAGE + PASSAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0}};
    int64_t result;
    if (!tracee->memory) {
        if (!call_in_gate(tracee, &map, &result)) return false;
        if (result < 0 && result >= -4095) {
            tracee->why = "gets no memory";
            return leave_gate(tracee, 0);
        }
        tracee->memory = (uint64_t)result;
    }
    const struct call protect = {SYS_mprotect, {tracee->memory, CODE_PAGE, PROT_READ | PROT_EXEC}};
    if (!call_in_gate(tracee, &protect, &result)) return false;
    if (result == 0) return true;
    tracee->why = "may not have memory for code";
    return leave_gate(tracee, 0);
}

/* ---- the passage ------------------------------------------------------------------------------------------------- */

struct functions {
    uint64_t dlopen, dlsym, dlerror, errno_location;
};

/* Since 2.34 all of them are in libc.so.6. */
static bool find_functions(const struct running *running, struct functions *functions) {
    const struct running_mapping *libc = running_module(running, "libc.so.6"),
                                 *libdl = running_module(running, "libdl.so.2");
    if (!libc) return false;
    functions->errno_location = running_function(running, libc->low, "__errno_location");
    functions->dlopen = running_function(running, libc->low, "dlopen");
    const struct running_mapping *from = functions->dlopen || !libdl ? libc : libdl;
    functions->dlopen = running_function(running, from->low, "dlopen");
    functions->dlsym = running_function(running, from->low, "dlsym");
    functions->dlerror = running_function(running, from->low, "dlerror");
    return functions->errno_location && functions->dlopen && functions->dlsym && functions->dlerror;
}

/* All but the tiles (AMX), which a process has only after it asked for them: their 8 KiB would be the most of it. */
static uint64_t saved_features(void) {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32 | low) & ~(UINT64_C(3) << 17);
}

static void prepare_passage(const struct tracee *tracee, const struct functions *functions, uint64_t mask,
                            struct passage *passage) {
    uint64_t features = saved_features();
    *passage = (struct passage){.back = before_call(&tracee->entry),
                                .mask = mask,
                                .all = UINT64_MAX,
                                .dlopen = functions->dlopen,
                                .dlsym = functions->dlsym,
                                .dlerror = functions->dlerror,
                                .errno_location = functions->errno_location,
                                .function = tracee->entering->function,
                                .wait = {0, SETTLE_NS},
                                .xsave_low = (uint32_t)features,
                                .xsave_high = features >> 32,
                                .memory_name = RUNTIME_FILE,
                                .path = "/proc/self//fd//none",
                                .function_name = ATTACH_FUNCTION,
                                .call = tracee->entering->call};
}

static bool read_mask(const struct tracee *tracee, uint64_t *mask) {
    return ptrace(PTRACE_GETSIGMASK, tracee->thread, (void *)sizeof *mask, mask) == 0;
}

static bool write_mask(const struct tracee *tracee, uint64_t mask) {
    return ptrace(PTRACE_SETSIGMASK, tracee->thread, (void *)sizeof mask, &mask) == 0;
}

static uint64_t passage_at(const struct tracee *tracee, size_t offset) {
    return tracee->memory + CODE_PAGE + offset;
}
#define AT(tracee, member) passage_at(tracee, offsetof(struct passage, member))

static bool copy_library(const struct tracee *tracee, int64_t file) {
    char path[64], name[64] = "";
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%lld", (int)tracee->running->pid, (long long)file);
    int from = open(tracee->entering->library, O_RDONLY | O_CLOEXEC), to = open(path, O_WRONLY | O_CLOEXEC);
    bool is_copied = from >= 0 && to >= 0 && fstat(from, &status) == 0;
    for (off_t left = is_copied ? status.st_size : 0; is_copied && left > 0;) {
        ssize_t sent = sendfile(to, from, NULL, (size_t)left);
        is_copied = sent > 0;
        left -= sent;
    }
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    snprintf(name, sizeof name, "/proc/self//fd//%lld", (long long)file);
    return is_copied && running_write(tracee->running, AT(tracee, path), name, sizeof name);
}

/* Up to the end of memfd_create, of which each call stops; what comes then runs on its own. */
static bool give_library(struct tracee *tracee) {
    int64_t file = 0;
    for (int i = 0; i < 4; i++) {
        int signal;
        struct user_regs_struct registers;
        if (!go_on(tracee, 0)) return false;
        enum stop stop = wait_stop(tracee, GATE_NS, &signal);
        if ((stop != STOP_ENTRY && stop != STOP_EXIT) || !read_registers(tracee, &registers)) return false;
        file = stop == STOP_EXIT ? (int64_t)registers.rax : file;
    }
    return file >= 0 && copy_library(tracee, file);
}

/* The registers that the call begins with, then the mask: the thread is stopped, and blocks the signals itself where we end in between. */
static bool begin_passage(struct tracee *tracee, const struct functions *functions) {
    uint8_t page[CODE_PAGE];
    static struct passage passage;
    uint64_t mask;
    code_passage(page);
    if (!read_mask(tracee, &mask)) return false;
    prepare_passage(tracee, functions, mask, &passage);
    struct user_regs_struct registers = tracee->entry;
    registers.rip = tracee->memory;
    registers.rsp = tracee->memory + CODE_PAGE + PASSAGE_SIZE;
    registers.orig_rax = (unsigned long long)-1;
    registers.rbp = 0;
    if (!running_write(tracee->running, tracee->memory, page, sizeof page) ||
        !running_write(tracee->running, AT(tracee, back), &passage, sizeof passage) ||
        !write_registers(tracee, &registers))
        return false;
    tracee->is_outside = true;
    write_mask(tracee, UINT64_MAX);
    return true;
}

static volatile sig_atomic_t is_first; /* this process has a real-time priority for a while */

/* What the thread does for us takes 1 to 7 ms of a processor; among 500 threads that are ready to run it waited for 70 ms on top of that. Whoever
 * comes to an end first, the thread or this process, takes the priority back: the thread reads is_raised. A limit of real-time processor time
 * would kill the program. */
static void raise_thread(const struct tracee *tracee) {
    const struct sched_param least = {.sched_priority = 1};
    const uint32_t is_raised = 1;
    struct rlimit most;
    if (!is_first || sched_getscheduler(tracee->thread) != SCHED_OTHER ||
        prlimit(tracee->thread, RLIMIT_RTTIME, NULL, &most) != 0 || most.rlim_cur != RLIM_INFINITY)
        return;
    if (running_write(tracee->running, AT(tracee, is_raised), &is_raised, sizeof is_raised))
        sched_setscheduler(tracee->thread, SCHED_RR, &least);
}

static void lower_thread(const struct tracee *tracee) {
    uint32_t is_raised = 0;
    if (running_read(tracee->running, AT(tracee, is_raised), &is_raised, sizeof is_raised) && is_raised)
        sched_setscheduler(tracee->thread, SCHED_OTHER, &(struct sched_param){0});
}

/* Others are blocked, but for SIGSTOP, which is the program's. */
static bool is_fault(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGSYS ||
           signal == SIGTRAP;
}

/* A fault in what we called: the thread is led out. */
static void lead_out(const struct tracee *tracee) {
    struct user_regs_struct registers;
    if (!read_registers(tracee, &registers)) return;
    registers.rip = tracee->memory + code_passage_end();
    registers.rsp = tracee->memory + CODE_PAGE + PASSAGE_SIZE;
    registers.orig_rax = (unsigned long long)-1;
    write_registers(tracee, &registers);
}

/* True when the call is over, and the thread waits for us. */
static bool wait_passage(struct tracee *tracee) {
    int64_t begun = clock_monotonic_ns(), until = begun + LOADER_NS;
    bool is_lowered = false;
    for (uint64_t state = 0; state != PASSAGE_CALLED;) {
        int signal;
        if (!is_lowered && clock_monotonic_ns() - begun > RAISED_NS) {
            lower_thread(tracee);
            is_lowered = true;
        }
        enum stop stop = wait_stop(tracee, 0, &signal);
        tracee->why = "is gone";
        if (stop == STOP_GONE) return false;
        if (stop == STOP_SIGNAL && !is_fault(signal)) {
            ptrace(PTRACE_CONT, tracee->thread, NULL, (void *)(intptr_t)signal);
            continue;
        }
        if (stop == STOP_SIGNAL) {
            tracee->why = "met a fault in the runtime";
            lead_out(tracee);
            ptrace(PTRACE_CONT, tracee->thread, NULL, NULL);
            return false;
        }
        if (stop != STOP_NONE) ptrace(PTRACE_CONT, tracee->thread, NULL, NULL);
        tracee->why = "waits for a lock of its loader, and goes on when it has that";
        if (clock_monotonic_ns() > until || !running_read(tracee->running, AT(tracee, state), &state, sizeof state))
            return false;
        if (state != PASSAGE_CALLED) nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return true;
}

/* Everything at once, while the thread is stopped in its wait. The mask comes before the registers: where we end in between, the thread
 * sets both itself. Where it did not wait so long, it does that already, and may be in a handler that returns to the passage: then its memory
 * stays. False: there is nothing more to do in the thread. */
static bool end_passage(struct tracee *tracee, struct iovec *state) {
    struct user_regs_struct now, back = before_call(&tracee->entry);
    uint64_t mask;
    if (!stop_anywhere(tracee)) return false;
    lower_thread(tracee); /* before it has its registers back: until then it does that itself */
    bool is_inside = read_registers(tracee, &now) && now.rip >= tracee->memory &&
                     now.rip <= tracee->memory + code_passage_end() &&
                     running_read(tracee->running, AT(tracee, mask), &mask, sizeof mask);
    if (!is_inside) {
        let_go(tracee);
        return false;
    }
    ptrace(PTRACE_SETREGSET, tracee->thread, (void *)(uintptr_t)NT_X86_XSTATE, state);
    write_mask(tracee, mask);
    write_registers(tracee, &back);
    tracee->is_rewound = false;
    go_on(tracee, 0);
    return next_entry(tracee, clock_monotonic_ns() + GATE_NS);
}

static void read_answer(const struct tracee *tracee, struct error *err) {
    struct passage passage;
    char message[256] = "";
    if (!running_read(tracee->running, AT(tracee, back), &passage, offsetof(struct passage, xsave))) return;
    tracee->entering->call = passage.call;
    if (passage.call.result != ATTACH_NOT_CALLED) return;
    if (passage.message) {
        size_t most = CODE_PAGE - passage.message % CODE_PAGE;
        running_read(tracee->running, passage.message, message, most < sizeof message ? most : sizeof message - 1);
    }
    if (passage.file < 0)
        error_fail(err, "process %d may not make a file in memory: %s", (int)tracee->running->pid,
                   strerror((int)-passage.file));
    else
        error_fail(err, "process %d cannot load the runtime%s%s", (int)tracee->running->pid, *message ? ": " : "",
                   message);
}

/* Gives the memory back by a last call in the gate, and lets the thread go into its system call. */
static void finish(struct tracee *tracee) {
    const struct call unmap = {SYS_munmap, {tracee->memory, CODE_PAGE + PASSAGE_SIZE}};
    struct user_regs_struct back = before_call(&tracee->entry);
    int64_t result;
    bool is_stopped = true;
    if (open_gate(tracee)) {
        is_stopped = call_in_gate(tracee, &unmap, &result);
        /* At the end of that call it gets everything back from us, so that no handler of a signal finds it in the gate. */
        if (is_stopped) tracee->is_outside = write_registers(tracee, &back);
        close_gate(tracee);
    }
    tracee->entering->held_ns = clock_monotonic_ns() - tracee->since_ns;
    if (is_stopped) let_go(tracee);
}

/* From a safe stop. 1: called; 0: not here, the thread was let go; -1 with the error set. */
static int pass(struct tracee *tracee, const struct functions *functions, struct error *err) {
    static uint8_t saved[XSTATE_MOST];
    struct iovec state = {.iov_base = saved, .iov_len = sizeof saved};
    if (ptrace(PTRACE_GETREGSET, tracee->thread, (void *)(uintptr_t)NT_X86_XSTATE, &state) != 0 || !open_gate(tracee)) {
        tracee->why = "has no room for the code to enter by";
        let_go(tracee);
        return 0;
    }
    bool is_mapped = map_memory(tracee);
    if (!is_mapped) {
        int signal;
        enum stop stop = wait_stop(tracee, STOP_NS, &signal);
        if (stop == STOP_SIGNAL)
            ptrace(PTRACE_DETACH, tracee->thread, NULL, (void *)(intptr_t)signal);
        else if (stop != STOP_NONE || stop_anywhere(tracee))
            let_go(tracee);
        close_gate(tracee);
        return 0;
    }
    bool is_begun = begin_passage(tracee, functions);
    close_gate(tracee);
    if (!is_begun) {
        tracee->why = "could not be led to the runtime";
        let_go(tracee);
        return 0;
    }
    bool has_library = is_begun && (tracee->entering->function || give_library(tracee));
    (void)has_library; /* without it dlopen fails, and says so */
    raise_thread(tracee);
    ptrace(PTRACE_CONT, tracee->thread, NULL, NULL);
    if (!wait_passage(tracee)) {
        error_fail(err, "process %d: thread %d %s", (int)tracee->running->pid, (int)tracee->thread, tracee->why);
        return -1;
    }
    read_answer(tracee, err);
    tracee->entering->held_ns = clock_monotonic_ns() - tracee->since_ns;
    if (end_passage(tracee, &state)) finish(tracee);
    return err->status == ERROR_NONE ? 1 : -1;
}

/* ---- the helper -------------------------------------------------------------------------------------------------- */

/* A thread that is stopped waits for us, so we do not wait for a processor behind other programs, where that is allowed: a nice value counts within a
 * session alone. It is for some ms at a time, most of which we sleep. A policy that clear itself was run with stays. */
static void go_first(void) {
    const struct sched_param least = {.sched_priority = 1};
    is_first = sched_getscheduler(0) == SCHED_OTHER && sched_setscheduler(0, SCHED_RR, &least) == 0;
}

static void go_back(int signal) {
    int saved_errno = errno;
    (void)signal;
    if (is_first) sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
    is_first = 0;
    errno = saved_errno;
}

/* Where we do not sleep after all, the kernel says so, and other programs have the processor again. */
static void bound_priority(void) {
    struct rlimit time;
    if (getrlimit(RLIMIT_RTTIME, &time)) return;
    if (time.rlim_cur > FIRST_MOST_US) time.rlim_cur = FIRST_MOST_US;
    sigaction(SIGXCPU, &(struct sigaction){.sa_handler = go_back, .sa_flags = SA_RESTART}, NULL);
    setrlimit(RLIMIT_RTTIME, &time);
}

static int try_thread(struct tracee *tracee, pid_t thread, const struct functions *functions, struct error *err) {
    if (is_stray(tracee, thread)) return 0;
    go_first();
    int code = stop_well(tracee, thread) ? pass(tracee, functions, err) : 0;
    go_back(0);
    return code;
}

static int try_threads(struct tracee *tracee, const struct functions *functions, struct error *err) {
    int64_t until = clock_monotonic_ns() + GIVE_UP_NS;
    int code = 0;
    tracee->why = "is gone";
    while (code == 0 && clock_monotonic_ns() < until) {
        size_t count;
        pid_t *threads = running_threads(tracee->running->pid, &count);
        for (size_t i = 0; i < count && code == 0 && clock_monotonic_ns() < until; i++)
            code = try_thread(tracee, threads[i], functions, err);
        free(threads);
        if (code) break;
        if (attach_has_ended(tracee->running->pid))
            return error_fail(err, "process %d ended before it was entered", (int)tracee->running->pid);
        if (let_strays_go(tracee) && tracee->stop_ns < STOP_MOST_NS) tracee->stop_ns *= 2;
        if (wait_for_strays(tracee, PAUSE_NS)) nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    wait_for_strays(tracee, STRAYS_NS);
    if (code == 0)
        return error_fail(
            err, "process %d was not entered: in 5 s no thread stood where that is safe (the last one %s%s)",
            (int)tracee->running->pid, tracee->stood ? "was " : "", tracee->stood ? tracee->stood : tracee->why);
    return code > 0 ? 0 : -1;
}

static int work(const struct running *running, struct entering *entering, struct error *err) {
    static struct tracee tracee;
    struct functions functions;
    tracee = (struct tracee){.running = running, .entering = entering, .stop_ns = STOP_NS};
    if (!find_functions(running, &functions))
        return error_fail(err, "process %d has no dlopen of the GNU C library", (int)running->pid);
    tracee.stand = stand_open(running, err);
    if (!tracee.stand) return -1;
    bool begins = entering->call.step == ATTACH_BEGIN;
    if (begins) waiting_threads_note(tracee.stand, running, entering->call.directory);
    int code = try_threads(&tracee, &functions, err);
    if (begins) waiting_threads_forget(running->pid, entering->call.directory);
    return code;
}

/* A process of its own: whatever ends it, and where it could not stop a thread that it had asked to, the kernel lets all of them go. */
int enter(const struct running *running, struct entering *entering, struct error *err) {
    struct entered *answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED) return error_fail(err, "mmap: %s", strerror(errno));
    answer->code = -1;
    answer->entering = *entering;
    pid_t helper = fork();
    if (helper == 0) {
        sigset_t child;
        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        sigprocmask(SIG_BLOCK, &child, NULL);
        setpriority(PRIO_PROCESS, 0, PRIORITY); /* where it may: the thread waits for us */
        bound_priority();
        answer->code = work(running, &answer->entering, &answer->err);
        _exit(0);
    }
    int code = helper < 0 ? error_fail(err, "fork: %s", strerror(errno)) : 0;
    while (helper > 0 && waitpid(helper, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (code == 0 && answer->code) {
        *err = answer->err;
        if (err->status == ERROR_NONE)
            error_fail(err, "the helper that enters process %d was ended", (int)running->pid);
        code = -1;
    }
    *entering = answer->entering;
    munmap(answer, sizeof *answer);
    return code;
}
