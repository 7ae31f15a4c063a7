/* segment.h: the layout of the memory that the runtime (ingest/shim, inside the profiled program) shares with the
 * collector (ingest/record).
 *
 * Files. `clear profile` makes a private directory (0700), which the runtime finds by the environment variable
 * CLEAR_RT_DIR. The collector writes the file `control` (struct control) before the program starts. Each process image
 * that records anything makes a file `PID-NANOSECONDS.seg`: a sparse file that it maps shared. What it stores there is
 * in the page cache, so it survives any end of the process. The collector owns the directory and removes it; the
 * program only writes its own segment.
 *
 * Shape of a segment:
 *
 *     struct segment        one page: which process, when, what is recorded, what was dropped
 *     chunk, chunk, ...     64-byte aligned, appended in order, never moved or freed while the process lives
 *
 * Ids. Stacks and objects (locks, cells, channels, task sites) are interned: each is stored once and has a dense id
 * from 1, a count of its own for stacks and for objects. Counters are kept for each thread and id, so that two threads
 * never write one cache line on a hot path. The figure of an id is the sum over all its counter chunks (of a maximum:
 * the largest). CPU time is kept in lists, one entry for each stack, thread and flags; so are calls of input and output,
 * by stack and call.
 *
 * Units and ranges. Times are nanoseconds where the name says _ns; the times of locks are ticks of the clock that
 * FEATURE_TSC names. Sizes are bytes as the program asked for. Counters are unsigned, 64 bits wide, only grow, and wrap
 * in no realistic run. Integers have the machine's byte order; the layout is for x86-64, where reader and writer are
 * the same machine.
 *
 * Concurrency. A counter has one writing thread at a time, which uses relaxed stores. A chunk exists once its `kind` is
 * not 0 (stored last, release). The entries of a list chunk exist up to its `count` (release). `used` is the end of the
 * last chunk that was reserved; that chunk may not exist yet. A reader of a live segment may see the count of an event
 * before its bytes; once the process has ended the figures are exact.
 *
 * Errors. A reader must check everything: the process may have been killed in the middle of a store, and it can write
 * anything into its segment (ingest/record/segment_view.h does that). A layout with another magic, version or size is
 * refused by both sides. What did not fit is counted in dropped_*; a process that could make no segment is counted in
 * control.unrecorded_processes.
 *
 * This header needs libc alone. */
#ifndef CLEAR_INGEST_SEGMENT_H
#define CLEAR_INGEST_SEGMENT_H

#include <stdint.h>

#define CLEAR_RT_DIR_VARIABLE "CLEAR_RT_DIR"

enum {
    SEGMENT_MAGIC = 0x52454c43, /* "CLER" */
    SEGMENT_VERSION = 1,
    SEGMENT_HEADER_SIZE = 4096,
    SEGMENT_ALIGNMENT = 64,
    SEGMENT_COUNTER_IDS = 256, /* ids of a counter chunk, at most: it has as many as it has room for */
    SEGMENT_DEPTH_MAX = 1024,  /* the most that --depth may ask for */
    SEGMENT_EXECS = 256,       /* processes between exec and the start of their new image */
    SEGMENT_BUILD_ID_MAX = 20, /* SHA-1 build ids; longer ones are cut, shorter ones padded with zeros */
};

/* A program that dumps by itself reads the names of its files from environment variables. Their value is
 * DIRECTORY/ID.FILE with this ID, all zeros. The runtime of each process replaces it, in place, by the PID and the
 * NANOSECONDS of its segment's name, with leading zeros. So processes that inherit the variables do not overwrite each
 * other's files. */
#define SEGMENT_NO_DUMP_ID "0000000000-00000000000000000000"
enum { SEGMENT_DUMP_PID = 10, SEGMENT_DUMP_ID = sizeof SEGMENT_NO_DUMP_ID - 1 };

/* What is recorded. In `control`: what the user asked for; in a segment: what the process records. */
enum segment_feature {
    FEATURE_HEAP = 1u << 0,
    FEATURE_LOCKS = 1u << 1,
    FEATURE_TSC = 1u << 2, /* lock times are ticks of the time stamp counter; else nanoseconds of CLOCK_MONOTONIC */
    FEATURE_CELLS = 1u << 3,
    FEATURE_CHANNELS = 1u << 4,
    FEATURE_FIBERS = 1u << 5,
    FEATURE_CPU = 1u << 6,
    FEATURE_SYNC_STACKS = 1u << 7, /* a lock or cell is one object for each calling stack */
    FEATURE_LEAKS =
        1u << 12, /* at its end a process searches for blocks that nothing points at, if that is soon done */
    FEATURE_LEAKS_ALWAYS = 1u << 22, /* the same, however many blocks are live, or few */
    FEATURE_IO = 1u << 16,           /* calls of read, write and their relatives */
    FEATURE_LIFETIMES = 1u << 17,    /* histograms of the sizes and lifetimes of blocks */
    FEATURE_MMAP = 1u << 18,         /* mappings that the program makes itself */
    FEATURE_TRACE = 1u << 19,        /* single events with their times, in rings of the latest (struct segment_event) */
    FEATURE_ALLOC_EVENTS = 1u << 20, /* of a segment: FEATURE_TRACE with TRACE_ALLOC */
    FEATURE_WALL = 1u << 21, /* each thread says what it waits in (struct thread_counters); the recorder looks */
    FEATURE_NO_CHILDREN =
        1u << 8, /* only the process `first_pid` is recorded (after an exec too), and none that it forks */
};

/* --trace-when: an event of one of those kinds that took so long asks for a dump. */
enum { TRACE_WHEN_MAX = 8 };
struct trace_when {
    uint32_t events; /* 1 << enum segment_event_kind */
    uint32_t reserved;
    uint64_t limit_ns; /* it took this or more */
    char name[48];     /* of its OBJECT_NAME; empty: any */
};

/* Of a budget: mean bytes between samples, 1 KiB to 16 MiB. */
enum { SAMPLE_LEVELS = 15 };
#define SAMPLE_LEVEL_BYTES(level) (UINT64_C(512) << (level))
/* And of the acquisitions of locks that need not wait, one in 64 to 4,096. */
enum { LOCK_LEVELS = 4 };
#define LOCK_LEVEL_N(level) (UINT32_C(16) << 2 * (level))

/* The file `control`. The collector writes it, is_paused and the levels at any time; the program writes unrecorded_processes alone.
 *
 * Sampling. At most one of sample_n and sample_bytes is above 1. The counters of a segment are scaled already:
 *   sample_n      one heap event, lock acquisition or cell event of N is recorded, and counts N times
 *   sample_bytes  an allocation of s bytes is recorded with probability p = 1 - exp(-s / sample_bytes), and counts as
 *                 1/p allocations of s bytes (rounded up or down so that the mean is exact); its free counts the
 * same
 *
 * A budget (has_budget; sample_n and sample_bytes are off) is held by the recorder: it says by sample_level how allocations are recorded from
 * now on, each of them (0), or as with sample_bytes of SAMPLE_LEVEL_BYTES(level). A block keeps the weight that it was recorded with until it
 * is freed. A program that clear did not start decides itself, each process for itself, and notes the coarsest levels alone. lock_level says the same of the acquisitions of locks: each of them (0), or of those without a wait each with the probability
 * 1 / LOCK_LEVEL_N(level), which counts so many times. Acquisitions with a wait, and calls that only try, are recorded each at any level. */
struct control {
    uint32_t magic, version, size;
    uint32_t features; /* enum segment_feature */
    uint32_t depth;    /* frames kept of a stack, 1 .. SEGMENT_DEPTH_MAX */
    int32_t first_pid; /* of the target; written before it execs */
    /* --profile-max: distinct stacks, and distinct objects, of one process; 0 is no limit. Stacks beyond it are cut. */
    uint64_t ids_max;
    uint64_t segment_max;  /* bytes of address space that a segment reserves */
    uint64_t trace_max;    /* FEATURE_TRACE: bytes of the rings of one process; beyond that the oldest events go */
    uint64_t sample_bytes; /* mean bytes between samples; 0 or 1 is off */
    uint64_t
        trace_limit_ns; /* FEATURE_TRACE: shorter sleeps, system calls and holds that nobody waited for are no events */
    uint64_t trace_alloc; /* FEATURE_TRACE: smaller blocks are no events, in bytes */
    struct trace_when trace_when[TRACE_WHEN_MAX];
    uint32_t trace_when_count;
    uint32_t trace_kinds; /* FEATURE_TRACE: enum segment_trace_kind */
    uint32_t sample_n;    /* 0 or 1 is every event */
    uint32_t cpu_hz;      /* samples per second of CPU time of each thread; 0 is off */
    /* 1: no new event is recorded. The end of what was recorded is: frees of known blocks, ends of holds, exits of
     * known fibers. */
    _Atomic uint32_t is_paused;
    uint32_t has_budget;              /* 1: the recorder sets sample_level while the program runs */
    _Atomic uint32_t sample_level;    /* 0 .. SAMPLE_LEVELS; what is more counts as SAMPLE_LEVELS */
    _Atomic uint32_t lock_level;      /* 0 .. LOCK_LEVELS; the same */
    _Atomic uint32_t sample_coarsest; /* the highest that there was */
    _Atomic uint32_t lock_coarsest;   /* the same */
    uint32_t budget_ppm; /* has_budget: what recording may add, in millionths of the program's own CPU time */
    /* CPU time of processes that are about to exec: the new image counts from there. By pid, modulo EXECS: the pid in
     * the upper 22 bits, its clock in microseconds in the others; 0: none. */
    _Atomic uint64_t execs[SEGMENT_EXECS];
    _Atomic uint64_t
        unrecorded_processes; /* processes that could make no segment (chroot, changed uid, full disk), or may not read a clock */
};

/* A program that clear does not start (`clear env`) has these variables in its environment, and CLEAR_RT_DIR not. Its runtime makes the
 * directory CLEAR_DIR/RUN itself, 0700, with the files `control` and `service`, and writes the name RUN into the value of CLEAR_RUN, in place
 * of its zeros: a program that it executes finds it there, and makes its segments beside. Whoever finds no directory of that name, or none
 * that it may write to, makes one of its own. What cannot be made is not recorded. `clear collect` reads and removes the directories.
 *
 * RUN is PID-NANOSECONDS-RANDOM: 10 and 20 decimal digits, 16 hexadecimal ones. */
#define SERVICE_DIR_VARIABLE    "CLEAR_DIR"
#define SERVICE_DIR_DEFAULT     "/run/clear"
#define SERVICE_RECORD_VARIABLE "CLEAR_RECORD"
#define SERVICE_RUN_VARIABLE    "CLEAR_RUN"
#define SERVICE_NO_RUN          "0000000000-00000000000000000000-0000000000000000"
enum { SERVICE_RUN_TIME = 11, SERVICE_RUN_RANDOM = 32, SERVICE_RUN_LENGTH = sizeof SERVICE_NO_RUN - 1 };

/* CLEAR_RECORD is NAME=NUMBER,NAME=NUMBER,... with these members of struct control, decimal; one that is missing is 0. A runtime that does not
 * know a name records nothing. FEATURE_TSC is decided by the runtime. */
#define SERVICE_SETTINGS(X)                                                                                            \
    X(features)                                                                                                        \
    X(depth)                                                                                                           \
    X(ids_max)                                                                                                         \
    X(segment_max)                                                                                                     \
    X(sample_n)                                                                                                        \
    X(sample_bytes)                                                                                                    \
    X(cpu_hz)                                                                                                          \
    X(has_budget)                                                                                                      \
    X(budget_ppm)

/* The file `service`: which program it is. The first process writes it, also when it executes another program. */
enum { SERVICE_MAGIC = 0x43565253 /* "SRVC" */ };
struct service_note {
    uint32_t magic, version, size; /* SERVICE_MAGIC, SEGMENT_VERSION, of this struct */
    int32_t pid;
    uint64_t start_realtime_ns, start_monotonic_ns; /* one moment, */
    uint64_t start_ticks;                           /* and on the clock of lock times */
    char boot_id[40];                               /* of the kernel, as /proc says it; empty: not known */
    char executable[1024];                          /* /proc/self/exe, NUL-terminated */
    uint32_t reserved, arguments_size;              /* bytes of: */
    char arguments[4096];                           /* /proc/self/cmdline, each NUL-terminated; cut at the end */
};

/* What the recorder asks of a runtime that it has loaded into a running process: the argument of clear_rt_attach, in memory of that process.
 * A call is made in one of its threads, outside of everything that has a lock; the others run on. */
enum attach_step {
    ATTACH_BEGIN, /* record from now on, as `control` in the directory says */
    ATTACH_AGAIN, /* put the hooks into modules that were loaded since then */
    ATTACH_END,   /* all that was recorded is in the segment; the hooks are taken out, and there are no timers */
    ATTACH_LEAVE, /* some time later, when no signal of a timer is on its way: the handler goes too, and the memory of the segment */
};
enum attach_result {
    ATTACH_NOT_CALLED = 0,
    ATTACH_DONE,
    ATTACH_IS_RECORDED,  /* ATTACH_BEGIN: it is already */
    ATTACH_NO_DIRECTORY, /* the directory is not there for the process, or not private, or of another version */
    ATTACH_NO_SEGMENT,   /* no room for a segment, or no memory */
    ATTACH_NOT_RECORDED, /* the other steps: it is not recorded */
};
enum { ATTACH_DIRECTORY_SIZE = 256 };
/* A slot whose function is neither one that is hooked nor ours: calls through it are not seen. */
struct attach_foreign {
    uint64_t function; /* what it holds */
    char name[24];     /* what the slot is for */
};
enum { ATTACH_FOREIGN_MOST = 4 };

struct attach_call {
    uint32_t step;   /* enum attach_step */
    uint32_t result; /* enum attach_result */
    uint32_t modules, slots,
        refused;         /* looked at; pointers that were changed; those in pages that could not be made writable */
    uint32_t has_no_cpu; /* ATTACH_BEGIN: SIGPROF is the program's, so its CPU time is not sampled */
    char directory[ATTACH_DIRECTORY_SIZE];
    /* Behind the rest: a runtime of before, which is in the process since then, leaves them as they are. */
    uint64_t
        before_bytes; /* ATTACH_BEGIN: what the C library's allocator had given out and not got back, with its own part */
    uint32_t
        asks_before; /* in: the allocator is to be asked, which it answers by a walk of its free blocks under its locks */
    uint32_t has_before; /* before_bytes is the answer */
    /* ATTACH_BEGIN: each function once; a function of 0 ends them. Only where `slots` comes in as ATTACH_FOREIGN_MOST: a clear of before has other
     * memory here. */
    struct attach_foreign foreign[ATTACH_FOREIGN_MOST];
};
#define ATTACH_FUNCTION "clear_rt_attach"

/* What the threads of a process waited for when it was attached to: in the recording's directory, a file of this name with the process's number
 * behind it. Who attaches writes it before ATTACH_BEGIN, and removes it: struct attach_waits, then `count` of struct attach_wait. */
#define ATTACH_WAITS_FILE "waits."
enum { ATTACH_WAITS_MOST = 1024, ATTACH_WAIT_FRAMES = 48, ATTACH_WAIT_CALL = 192 };
struct attach_wait {
    uint64_t object; /* its run-time address; of a join 1 */
    int32_t tid;
    uint32_t kind;                   /* enum segment_object_kind */
    uint32_t is_shared;              /* as a reader of a lock */
    uint32_t depth, flags;           /* of the stack; enum segment_stack_flag */
    uint32_t in_hook;                /* it waits inside of a hook that an earlier recording has left there */
    char call[ATTACH_WAIT_CALL];     /* /proc/PID/task/TID/syscall, NUL-terminated: as long as that is so, it waits */
    uint64_t pc[ATTACH_WAIT_FRAMES]; /* leaf first: who called the function that waits */
};
struct attach_waits {
    uint32_t magic, version, size; /* SEGMENT_MAGIC, SEGMENT_VERSION, of struct attach_wait */
    uint32_t count;
};

/* The first page of a segment. `magic` is stored last. */
struct segment {
    uint32_t magic, version, header_size;
    uint32_t features; /* enum segment_feature */
    int32_t pid, ppid;
    /* When the segment was made: at the load of the runtime, in a forked child at its first hook. */
    uint64_t start_realtime_ns;
    uint64_t start_monotonic_ns; /* the same moment */
    uint64_t start_ticks;        /* the same moment on the clock of lock times */
    char executable[1024];       /* /proc/self/exe, NUL-terminated */
    uint32_t depth;
    uint32_t cpu_hz;                  /* as in control; 0 where there are no timers, or no longer */
    _Atomic uint64_t used;            /* end of the last reserved chunk, in bytes from the start of the file */
    _Atomic uint64_t stacks, objects; /* the highest ids */
    /* Events that could not be recorded: no room for a stack, an object, a block or counters. */
    _Atomic uint64_t dropped_heap;  /* allocations and frees; also those of threads without room for counters */
    _Atomic uint64_t dropped_locks; /* acquisitions, and waits for other things */
    _Atomic uint64_t dropped_cells;
    _Atomic uint64_t dropped_channels; /* events of channels and of fibers */
    _Atomic uint64_t dropped_cpu;      /* ticks; mostly those that interrupted a slow path of the runtime itself */
    _Atomic uint64_t missed_frees;     /* frees that no hook saw; counted when the address was allocated again */
    _Atomic uint64_t unwind_rules;     /* return addresses whose unwind rule was computed */
    _Atomic uint64_t has_leaks;        /* 1: leak counters are complete (FEATURE_LEAKS) */
    _Atomic uint64_t peak_epoch;       /* of the newest peak of live bytes (struct heap_counters); 0: none yet */
    _Atomic uint64_t threads_started;  /* the first one too */
    _Atomic uint64_t threads_now, threads_most; /* at one time: now, and the highest so far */
    /* When the process was about to end or to exec, on the clock of lock times; 0: it is not, or was killed. */
    _Atomic uint64_t end_ticks;
    /* When live bytes came within 1/1024 of the highest total so far, on the clock of lock times; 0: nothing was
     * allocated yet. */
    _Atomic uint64_t peak_ticks;
    _Atomic uint64_t dropped_io;        /* calls of struct segment_io that could not be counted */
    _Atomic uint64_t dropped_lifetimes; /* sizes and lifetimes of blocks that could not be counted */
    _Atomic uint64_t dropped_mappings;  /* mappings, and parts of them that were unmapped */
    _Atomic uint64_t dropped_events; /* of the rings: those that newer ones took the place of, or that found no room */
    _Atomic uint64_t dumps_asked;    /* how often the rings were to be stored: by the program, or by --trace-when */
    _Atomic uint64_t nameless_addresses; /* of code in modules that found no place in the list of modules */
    _Atomic uint64_t blind_threads;      /* that forbade themselves the clock, and are not recorded from there on */
    /* How exact the samples are. cpu_squares: the sum of t * t over the expiries of the timers, of which each counted t samples of the
     * program's CPU time; 0: no sample, or a runtime that does not say. The others, with sample_bytes: the sum of w * (w - 1) over the
     * recorded allocations, of which each counts w times, and over the frees of those blocks: the variance of their numbers. */
    _Atomic uint64_t cpu_squares, alloc_variance, free_variance;
    /* Of a Python interpreter that was met: its version, major << 8 | minor, 1 where it is older than 3.11; 0: there is none. And whether
     * its frames are read. */
    _Atomic uint64_t python, has_python_frames;
    /* With has_budget: what the hooks of the heap took. budget_events allocations and frees were recorded, which took budget_ticks, estimated
     * from some that were timed; budget_passed allocations were passed over, and with their frees they took budget_pass_cost / 256 ticks each, as
     * measured when the process began. A thread adds to them after some events, so they are a little late. */
    _Atomic uint64_t budget_ticks, budget_events, budget_passed, budget_pass_cost;
    /* Likewise, the sums of w * (w - 1) * s * s over the recorded allocations of s bytes, and over the frees of those blocks, in units of
     * 65,536: the variance of their bytes. */
    _Atomic uint64_t alloc_byte_variance, free_byte_variance;
    /* Likewise, of locks: acquisitions that were recorded because each was, those that stand for others, and those that were passed over; a
     * little late. And the sum of w * (w - 1) * t * t over the timed holds of t ticks that count w times, in units of 2^20 ticks^2: the variance
     * of their time. */
    _Atomic uint64_t budget_locks, budget_locks_sampled, budget_locks_passed, hold_variance;
    /* When it called for PR_SET_NO_NEW_PRIVS, CLOCK_MONOTONIC: it may be about to forbid itself system calls, so the runtime makes none; 0: it did not, or
     * has forbidden itself some. Where none is forbidden SEGMENT_CLOSED_NS later, the recorder sets is_open, and the runtime goes on as before. */
    _Atomic uint64_t closed_ns, is_open;
};
#define SEGMENT_CLOSED_NS  1000000000
#define HOLD_VARIANCE_UNIT 1048576.0
#define BYTE_VARIANCE_UNIT 65536.0

/* A module (executable, shared library, vdso) of which an address was met. `bias` is what the loader added to the
 * addresses in the file: file address = run-time address - bias. Addresses mean something in an epoch: another one begins
 * when a module is loaded where another was, and an earlier one comes again when the same modules are back at their places. A module
 * that was unloaded keeps its entry, with `epoch_end` set where another took its place. A module may have several entries, for several
 * spans of epochs; those that overlap have no epoch in common. */
struct segment_module {
    uint64_t bias, low, high;   /* run-time addresses [low, high) of its loaded segments */
    uint32_t epoch_start;       /* the first epoch in which the module is meant (0: from the start) */
    _Atomic uint32_t epoch_end; /* the first one after it in which it is not; 0: none yet */
    uint32_t build_id_size;
    uint8_t build_id[SEGMENT_BUILD_ID_MAX];
    char path[464]; /* NUL-terminated, absolute where the loader knew it; "[vdso]" */
};

/* A distinct stack. `pc[i]` are run-time addresses, leaf first: return addresses, and instructions that a signal
 * interrupted plus one. So pc[i] - 1 is always inside the instruction that was executing, and is what to look up, in
 * the modules of `epoch`. */
struct segment_stack {
    uint32_t id;
    uint16_t depth; /* 1 .. SEGMENT_DEPTH_MAX */
    uint16_t flags; /* enum segment_stack_flag */
    uint32_t epoch;
    uint32_t reserved;
    uint64_t pc[];
};
/* A pc with that bit is a function of a Python script: its code object, an id above PYTHON_CODE_SHIFT, and below the instruction that it
 * executes, in code units from 1; 0: it has not begun. */
#define PYTHON_FRAME (1ull << 63)
enum { PYTHON_CODE_SHIFT = 32, PYTHON_CODE_MAX = (1 << 20) - 1 };

/* A function of a Python script. */
struct segment_code {
    uint32_t id;         /* 1 .. PYTHON_CODE_MAX */
    int32_t first_line;  /* from 1 */
    uint32_t name_size;  /* bytes of `texts`: UTF-8, without NUL; the qualified name */
    uint32_t file_size;  /* the next: as the script's code has it, often relative */
    uint32_t lines_size; /* the next: co_linetable, as 3.11 and later have it (Objects/locations.md of CPython) */
    uint32_t reserved;
    char texts[]; /* padded to 8 bytes */
};

enum segment_stack_flag {
    STACK_TRUNCATED = 1,  /* deeper than --depth: the root side is missing */
    STACK_INCOMPLETE = 2, /* ended at code that no unwinder can pass (JIT, no call frame information) */
};

/* A distinct lock, cell, channel, task site, or thing to wait for. A lock is one object for all acquisitions without a
 * wait (stack 0), and one for each stack that had to wait for it; so is what is waited for. With FEATURE_SYNC_STACKS a
 * lock or cell is one object for each stack that used it. When it lies inside a live heap block, `owner` is the id of the allocating stack and `offset` the
 * distance from the block's start in bytes; otherwise both are 0. One in a frame of a thread's
 * stack has that frame. */
struct segment_object {
    uint32_t id;
    uint32_t kind;    /* enum segment_object_kind */
    uint64_t address; /* run-time address; of a task site: its number */
    uint64_t offset;
    uint32_t owner;
    uint32_t epoch;
    uint32_t stack; /* the caller's, 0 where objects are not split by it */
    /* Of a channel: 1, 2, ... in the order they were met; of a task site: the scheduler + 1, or 0 for the site
     * itself; of a lock: the stack that took it first, or 0; of what is waited for, in the object without a stack: the
     * stack that used it first without a wait (of a condition variable: that woke its waiters first), or 0. */
    uint32_t number;
    uint64_t capacity; /* of a channel, in messages; 0 unbounded or unknown */
    char name
        [48]; /* of a channel: the name it was opened with; of an OBJECT_NAME: itself; cut to 47 bytes; NUL-terminated */
    uint64_t guard; /* of a condition variable, in the object of a stack that waits: the address of its mutex; else 0 */
    /* The frame of a thread's stack that it lies in: a return address in its function, in the modules of `epoch`; 0: none is known. From the frame's canonical
     * address to the object, negative; and the bytes from the stack pointer at that call to the canonical address. */
    uint64_t frame_pc;
    int64_t frame_offset;
    uint64_t frame_size;
};
enum segment_object_kind {
    OBJECT_MUTEX = 1,
    OBJECT_RWLOCK,
    OBJECT_SPIN,
    OBJECT_LOCK, /* reported through clear.h */
    OBJECT_CELL,
    OBJECT_CHANNEL,
    OBJECT_TASK_SITE,
    OBJECT_COND, /* from here to OBJECT_FUTEX: what threads wait for that is no lock */
    OBJECT_SEM,
    OBJECT_BARRIER,
    OBJECT_JOIN,  /* the end of another thread: one object for all threads, address 1 */
    OBJECT_FUTEX, /* of another runtime, which calls the kernel by syscall(2) */
    OBJECT_NAME,  /* the name of a region, a mark, a flow or a call of the C library; address 0 */
};

/* Counters of one stack in one thread. Summed over all threads, alloc - free is what is live.
 *
 * What was live at the peak: peak_count and peak_bytes, where peak_epoch is that of the segment; else alloc - free,
 * because nothing happened at the stack since. In one thread either may be negative (modulo 2^64), the sum over threads
 * is not. Where the sum of all that is live now is larger than that of the peak, now is the peak. */
struct heap_counters {
    uint64_t alloc_count, alloc_bytes, free_count, free_bytes;
    uint64_t peak_epoch, peak_count, peak_bytes;
    uint64_t temporary; /* blocks that the thread which allocated them freed before it allocated again */
};

/* Blocks of one stack that nothing reached when the process ended: those that are lost, and those that are known only to lost
 * blocks. */
struct leak_counters {
    uint64_t lost_count, lost_bytes, indirect_count, indirect_bytes;
};

/* More of one stack in one thread, where it has any: what other calls than malloc did. A resize is a realloc of a block that was
 * there; a step is a resize that made the block larger by less than an eighth, old size >> STEP_SHIFT, moved or not. A block of
 * REPLACED_MIN bytes and more was replaced if the thread that frees it allocated a block of the same stack last, as who copies a
 * buffer into another one does; a copy step is that where the new block is larger by less than an eighth. */
enum { STEP_SHIFT = 3, REPLACED_MIN = 4096 };
struct heap_details {
    uint64_t calloc_count, aligned_count, realloc_count; /* blocks that they allocated; realloc: also of no old block */
    uint64_t moved_count, moved_bytes;         /* blocks that realloc copied to another address, and the bytes copied */
    uint64_t realloc_bytes;                    /* bytes of the blocks of realloc_count */
    uint64_t resized_count, resized_bytes;     /* resizes, and the bytes that the blocks had before */
    uint64_t step_count, step_bytes;           /* the same of steps */
    uint64_t replaced_count;                   /* blocks that were replaced */
    uint64_t copy_step_count, copy_step_bytes; /* those of copy steps, and their bytes */
    uint64_t copy_growth_bytes;                /* bytes that the new ones have more, together */
    uint64_t reserved[2];
};

/* Counters of one lock in one thread; times in ticks (FEATURE_TSC). `acquires` are exclusive ones; shared ones are on
 * the read side. A wait is the time from the attempt to the acquisition, of contended ones alone, or to the time limit.
 *   timeouts         waits, exclusive and shared, that ended without the lock; they are not in `contended`
 *   unfinished       waits that were not over when the process ended: always 0 here, the collector adds them
 *   failed_tries     calls that only try, and found the lock taken
 *   condition_waits  waits on condition variables that gave this mutex back and took it again
 *   timed_holds      holds that were timed, by acquisitions: less than `acquires` where holds are sampled, for they are short, or with a
 *                    budget */
struct lock_counters {
    uint64_t acquires, hold, contended, wait, wait_max, hold_max;
    uint64_t read_acquires, read_contended, read_wait, read_wait_max;
    uint64_t timeouts, unfinished, failed_tries, condition_waits, timed_holds, reserved;
};

/* Counters of one thing to wait for (OBJECT_COND to OBJECT_FUTEX) in one thread; times in ticks.
 *   passes      waits that ended as they should, also those that took no time: woken, a unit of the semaphore taken, the
 *               barrier passed, the thread joined
 *   waited      those of them that had to wait
 *   signals, broadcasts   wakes of one, of several: pthread_cond_signal, sem_post, FUTEX_WAKE
 *   futile      of a condition variable: waits that were woken after which the thread waited again without having
 *               released the mutex in between, because what it waits for was not there, or no longer
 *   woken       of a futex: threads that the kernel says were woken
 *   lost_wakes  of a condition variable: waits that ended at their time limit, and not again at once, though a signal had been
 *               sent that met nobody, since the thread had last released the mutex
 *   own_wakes   of a futex or semaphore: signals and broadcasts by threads that have waited for it before, if only for no
 *               time: those of a lock, not of a queue
 * and the others as in lock_counters. */
struct wait_counters {
    uint64_t passes, waited, wait, wait_max, timeouts, unfinished, failed_tries, signals, broadcasts, futile, woken,
        own_wakes, lost_wakes;
};

/* Counters of one stack that calls what a thread calls that waits without blocking, in one thread.
 *   yields        sched_yield, thrd_yield
 *   short_sleeps  sleeps of less than 1 ms that ended in their time; sleep: how long they took, in ticks
 *   naps          likewise of 1 to 100 ms; nap: how long they took
 *   failed_tries  calls that only try (pthread_mutex_trylock and others), and found the lock taken
 * Yields and tries beyond the first of a thread are counted by samples. */
struct spin_counters {
    uint64_t yields, short_sleeps, sleep, failed_tries, naps, nap, reserved[2];
};

/* Counters of one cell in one thread. struct_size is a maximum, in bytes. */
struct cell_counters {
    uint64_t struct_size, reads, commits, multi_commits, retries, update_failures;
};

/* Counters of one channel in one thread; max_depth is a maximum, in messages. */
struct channel_counters {
    uint64_t pushes, pops, push_blocked, pop_blocked, push_blocked_ns, pop_blocked_ns, max_depth, reserved;
};

/* Counters of one task site in one thread. The object with number 0 has all but `runs`, which the object of each
 * scheduler has. lifetime_max_ns is a maximum; the last two count lifetimes below 1 ms and below 10 us. */
struct task_counters {
    uint64_t spawns, runs, exits, lifetime_ns, lifetime_max_ns, under_1ms, under_10us, reserved;
};

/* CPU time of one stack in one thread. */
struct cpu_counters {
    uint64_t samples, cpu_ns;
};

/* An entry of CHUNK_CPU. */
struct segment_cpu {
    uint32_t stack;
    uint32_t thread; /* `id` of a struct segment_thread; 0: unknown */
    uint32_t flags;  /* enum segment_cpu_flag */
    uint32_t reserved;
    struct cpu_counters counters;
};
enum segment_cpu_flag {
    CPU_OF_RECORDER = 1, /* the runtime itself was running, on behalf of the frames below its own */
};

/* Calls of one stack in one thread that read, write, open or close files and sockets; times in ticks.
 *   calls        calls that returned, with errors and would_block
 *   bytes        moved by them
 *   errors       calls that failed, but for would_block: the file is not ready, and the caller does not want to wait
 *   small_calls  calls that moved at least one byte and less than IO_SMALL, and the bytes that they moved; none from IO_SENDFILE on: they
 *                move what is in a file or a pipe, and no buffer would make them fewer
 *   short_calls  calls that moved at least one byte and fewer than were asked for, where that is one number (no vectors) and there is a buffer
 *   time         in all calls; an estimate where fewer were timed (timed_calls) than returned
 *   time_max     the longest that was timed */
enum { IO_SMALL = 512 };
struct io_counters {
    uint64_t calls, bytes, errors, would_block, small_calls, small_bytes, short_calls, time, time_max, timed_calls;
    uint64_t reserved;
};

/* An entry of CHUNK_IO. */
struct segment_io {
    uint32_t stack;
    uint32_t call; /* enum segment_io_call */
    struct io_counters counters;
};
/* Relatives count as one: pread64 as pread, preadv2 as preadv, openat as open, recvmmsg as recvfrom, sendmmsg as sendto. */
#define SEGMENT_IO_CALLS(X)                                                                                            \
    X(READ, "read")                                                                                                    \
    X(PREAD, "pread")                                                                                                  \
    X(READV, "readv")                                                                                                  \
    X(PREADV, "preadv")                                                                                                \
    X(RECV, "recv")                                                                                                    \
    X(RECVFROM, "recvfrom")                                                                                            \
    X(RECVMSG, "recvmsg")                                                                                              \
    X(WRITE, "write")                                                                                                  \
    X(PWRITE, "pwrite")                                                                                                \
    X(WRITEV, "writev")                                                                                                \
    X(PWRITEV, "pwritev")                                                                                              \
    X(SEND, "send")                                                                                                    \
    X(SENDTO, "sendto")                                                                                                \
    X(SENDMSG, "sendmsg")                                                                                              \
    X(FFLUSH, "fflush") /* that had something to write */                                                              \
    X(FSYNC, "fsync")                                                                                                  \
    X(FDATASYNC, "fdatasync")                                                                                          \
    X(OPEN, "open")                                                                                                    \
    X(CLOSE, "close")                                                                                                  \
    X(SENDFILE, "sendfile")                                                                                            \
    X(SPLICE, "splice")                                                                                                \
    X(COPY_FILE_RANGE, "copy_file_range")
enum segment_io_call {
    IO_NONE = 0,
#define X(call, name) IO_##call,
    SEGMENT_IO_CALLS(X)
#undef X
        IO_CALLS
};

/* The calls that may wait for the system: those above, then these. */
#define SEGMENT_WAITING_CALLS(X)                                                                                       \
    X(POLL, "poll")                                                                                                    \
    X(PPOLL, "ppoll")                                                                                                  \
    X(SELECT, "select")                                                                                                \
    X(PSELECT, "pselect")                                                                                              \
    X(EPOLL_WAIT, "epoll_wait")                                                                                        \
    X(EPOLL_PWAIT, "epoll_pwait")                                                                                      \
    X(EPOLL_PWAIT2, "epoll_pwait2")                                                                                    \
    X(ACCEPT, "accept")                                                                                                \
    X(ACCEPT4, "accept4")                                                                                              \
    X(CONNECT, "connect")                                                                                              \
    X(FLOCK, "flock")                                                                                                  \
    X(WAIT, "wait")                                                                                                    \
    X(WAITPID, "waitpid")                                                                                              \
    X(WAIT3, "wait3")                                                                                                  \
    X(WAIT4, "wait4")                                                                                                  \
    X(WAITID, "waitid")                                                                                                \
    X(SIGWAIT, "sigwait")                                                                                              \
    X(SIGWAITINFO, "sigwaitinfo")                                                                                      \
    X(SIGTIMEDWAIT, "sigtimedwait")                                                                                    \
    X(SIGSUSPEND, "sigsuspend")                                                                                        \
    X(PAUSE, "pause")                                                                                                  \
    X(NANOSLEEP, "nanosleep")                                                                                          \
    X(THRD_SLEEP, "thrd_sleep")                                                                                        \
    X(USLEEP, "usleep")                                                                                                \
    X(SLEEP, "sleep")                                                                                                  \
    X(CLOCK_NANOSLEEP, "clock_nanosleep")
enum segment_waiting_call {
    CALL_BEFORE_FIRST = IO_CALLS - 1,
#define X(call, name) CALL_##call,
    SEGMENT_WAITING_CALLS(X)
#undef X
        WAITING_CALLS
};

/* An entry of CHUNK_TALLY: blocks of one stack, counted by the thread that allocated or freed them, of which a figure is in one
 * bucket of a histogram. Bucket 0 is the value 0, bucket b > 0 the values from 1 << (b - 1) up to below 1 << b. */
enum { TALLY_BUCKET_BITS = 8 };
struct segment_tally {
    uint32_t stack;
    uint32_t part; /* enum segment_histogram << TALLY_BUCKET_BITS | bucket */
    uint64_t count;
};
enum segment_histogram {
    HISTOGRAM_SIZE = 1, /* bytes; of every block */
    HISTOGRAM_LIFETIME, /* ns from allocation to free; of blocks that were freed. A realloc is a free and an allocation */
    HISTOGRAM_PASSED,   /* blocks that its thread allocated in between; of blocks that this thread freed */
    HISTOGRAMS
};

/* Mappings of one stack in one thread. Summed over all threads, map_bytes - unmap_bytes is what is mapped. A mapping counts as
 * unmapped when the last bytes of it are, but for what lies behind a hole that was cut into it. */
struct mapping_counters {
    uint64_t map_count, map_bytes, unmap_count, unmap_bytes, reserved;
};

/* An entry of CHUNK_MAPPING. */
struct segment_mapping {
    uint32_t stack;
    uint32_t use; /* enum segment_mapping_use */
    struct mapping_counters counters;
};
enum segment_mapping_use {
    MAPPING_ANONYMOUS = 1, /* private memory */
    MAPPING_FILE,          /* a private mapping of a file */
    MAPPING_SHARED,
    MAPPING_STACK,    /* MAP_STACK, MAP_GROWSDOWN */
    MAPPING_RESERVED, /* made without access (PROT_NONE) */
    MAPPING_BREAK,    /* by brk or sbrk */
    MAPPING_USES
};

/* What a stack of CPU time has as its leaf where no code of the program was running there. */
enum segment_leaf {
    LEAF_RECORDER = 1,  /* the runtime */
    LEAF_UNSAMPLED = 2, /* CPU time of the thread or process that no sample met */
};

/* A thread that has CPU samples. Ids are dense from 1; thread ids of the kernel may come again. */
struct segment_thread {
    uint32_t id;
    int32_t tid;
    char name[16]; /* as of its latest sample; NUL-terminated */
};

/* Counters of one thread (CHUNK_THREAD). A thread that ended leaves its chunk to a later one, which goes on
 * counting. */
struct thread_counters {
    uint64_t truncated, incomplete; /* walks that ended with that flag */
    uint64_t hold_lost;             /* holds that were not timed, because the thread held too many locks at once */
    /* The wait that the thread is in now, for a lock or another object. Its counters get it when it ends: first
     * wait_since becomes 0, then it is added. */
    uint64_t wait_since;  /* ticks; 0: it does not wait; stored last (release) */
    uint32_t wait_object; /* id */
    uint32_t wait_weight; /* waits that this one stands for, when sampling */
    uint64_t wait_shared; /* 1: for the read side of a lock */
    /* The thread that counts here now. Its life is added to `lived` and to the counters of `starter` when it ends: first
     * born_at becomes 0, then it is added. */
    uint64_t born_at; /* ticks; 0: no thread counts here now; stored last (release) */
    uint64_t starter; /* id of the stack that started it; 0: unknown, or the first thread */
    uint64_t lived;   /* ticks: lives of the threads that ended */
    /* With FEATURE_WALL, of that thread (tid: also of one that has waited for a lock): */
    uint64_t
        in_call;  /* the call of the C library that it is in: id of the caller's stack, and enum segment_waiting_call or
                         segment_io_call << 32; 0: none */
    uint32_t tid; /* the kernel's id; 0: unknown */
    uint32_t routine; /* id of a stack that stands for the function where it began; 0: unknown */
    /* With has_budget: allocations that were recorded, and those that sampling passed over: together they are all, whatever the level. */
    uint64_t heap_recorded, heap_passed;
    /* Of a wait for a lock: */
    uint32_t wait_owner; /* the thread that had the lock when it began, or enum segment_wait_owner */
    uint32_t ran_at; /* with FEATURE_WALL: id of the stack of the thread's last CPU sample; 0: none yet, or no stack */
    uint64_t wait_lock;    /* its run-time address */
    uint64_t waited_until; /* ticks; when the thread's last wait for a lock ended; stored before wait_since becomes 0 */
    /* With has_budget, of acquisitions of locks: lock_passed - lock_left were passed over, and the counters of the locks have lock_excess more
     * than there were of those that stand for others. So the number of all is exact, but for what changes while it is read. */
    uint64_t lock_passed, lock_left, lock_excess;
    /* The run-time address of the spin lock, or of the rwlock as a reader, that the thread took last and has; 0: none. A mutex and a writer say
     * themselves who has them. */
    uint64_t has_lock;
    uint64_t reserved2_[4];
};
enum segment_wait_owner {
    WAIT_NO_LOCK = 0,              /* it waits for what is no lock */
    WAIT_OWNER_UNKNOWN = 1u << 31, /* nothing says who has the lock, or several do */
};

/* Counters of one stack that starts threads, in one thread; times in ticks. `started` is counted by the thread that starts,
 * the others by the threads that end.
 *   ended, life, life_max      threads that ended, and their lives. The collector adds those that the process ended
 *   short_count, short_life    those of them that lived less than 1 ms */
struct start_counters {
    uint64_t started, ended, life, life_max, short_count, short_life, reserved[2];
};

/* An event of a thread: something that took time, or happened. Times are ticks; one that takes time is written when it is over. */
struct segment_event {
    uint64_t begin, end;
    uint32_t kind; /* enum segment_event_kind */
    int32_t tid;   /* the kernel's id of the thread */
    union {
        struct {
            uint32_t object; /* id */
            uint32_t stack;  /* id; 0: unknown. A wait has that of its object, and none here */
            int32_t owner;   /* of a wait: the thread that had the lock when it began; 0: unknown, or there is none */
            uint32_t flags;  /* enum segment_event_flag */
        };
        struct {
            uint32_t object_, stack_; /* as above */
            uint64_t value;           /* of EVENT_FLOW: the program's number of it; of others see there */
        };
        char name[16]; /* of EVENT_THREAD; NUL-terminated where it is shorter */
    };
};
enum segment_event_kind {
    EVENT_LOCK = 1, /* a wait for a lock; begin: when it was asked for */
    EVENT_READ,     /* the same, for the read side */
    EVENT_WAIT,     /* a wait for what is no lock */
    EVENT_RELEASE,  /* of a lock that others waited for; end is begin */
    EVENT_THREAD,   /* the name of the thread, before its first event; end is begin */
    EVENT_SLEEP,    /* object: the name of the call, as of the next */
    EVENT_SYSCALL,  /* a call of the C library that waits for the system */
    EVENT_REGION,   /* of clear.h; stack: where it began. It stands behind the regions inside it */
    EVENT_MARK,     /* end is begin */
    EVENT_FLOW,     /* the same, with `value` */
    EVENT_HOLD,     /* of a lock that others waited for at its release, or a long one; stack: of the release */
    EVENT_ALLOC,    /* `value` is the block's address; end - begin are its bytes; no object */
    EVENT_FREE,     /* the same; stack: of the free */
    EVENT_CPU,      /* a sample of CPU time; end is begin; no object, as of the next two */
    EVENT_BIRTH,    /* the thread begins; end is begin; stack: who started it, `value` that thread */
    EVENT_DEATH,    /* the thread ends; end is begin */
    EVENT_FORK,     /* a call of fork that made the process `value`; object: the name of the call, as of the next two */
    EVENT_EXEC,     /* end is begin; the image ends here, unless the call fails */
    EVENT_EXIT,     /* end is begin; the process ends by itself */
    EVENT_CHANNEL,  /* a blocked push or pop of a channel */
    EVENT_RETRY,    /* an update of a cell that discarded `value` copies; end is begin */
    EVENT_SPAWN, /* a fiber is made; end is begin; `value` is its number, object a name with its site; as of the next two */
    EVENT_FIBER,  /* the thread ran the fiber; no stack, as of the next */
    EVENT_FINISH, /* the fiber ended; end is begin */
    EVENT_KINDS
};
/* What is asked for (control.trace_kinds). */
enum segment_trace_kind {
    TRACE_LOCK = 1u << 0,       /* EVENT_LOCK, EVENT_READ, and their EVENT_RELEASE */
    TRACE_WAIT = 1u << 1,       /* EVENT_WAIT, EVENT_CHANNEL, EVENT_RETRY */
    TRACE_SLEEP = 1u << 2,      /* EVENT_SLEEP */
    TRACE_SYSCALL = 1u << 3,    /* EVENT_SYSCALL */
    TRACE_REGION = 1u << 4,     /* EVENT_REGION, EVENT_MARK, EVENT_FLOW */
    TRACE_HOLD = 1u << 5,       /* EVENT_HOLD; each hold is timed */
    TRACE_ALLOC = 1u << 6,      /* EVENT_ALLOC, EVENT_FREE */
    TRACE_CPU = 1u << 7,        /* EVENT_CPU */
    TRACE_THREAD = 1u << 8,     /* EVENT_BIRTH, EVENT_DEATH, EVENT_FORK, EVENT_EXEC, EVENT_EXIT */
    TRACE_FIBER = 1u << 9,      /* EVENT_SPAWN, EVENT_FIBER, EVENT_FINISH */
    TRACE_PREEMPTED = 1u << 10, /* no event of the segment: the recorder hears of them from the kernel */
};
enum segment_event_flag {
    EVENT_LATE = 1, /* it reached its time limit, or was cancelled or interrupted */
};

enum { SEGMENT_EVENTS = 4095 }; /* of a chunk: 160 KiB with its header */

enum chunk_kind {
    CHUNK_NONE = 0,
    CHUNK_MODULES = 1,       /* `count` struct segment_module */
    CHUNK_STACKS = 2,        /* `count` struct segment_stack, one after the other, 8-byte aligned */
    CHUNK_OBJECTS = 3,       /* `count` struct segment_object */
    CHUNK_HEAP = 4,          /* struct heap_counters of stacks first_id, first_id + 1, ... */
    CHUNK_LOCK = 5,          /* the same of struct lock_counters, by object */
    CHUNK_THREAD = 6,        /* one struct thread_counters */
    CHUNK_CELL = 7,          /* counters of cells, by object */
    CHUNK_CHANNEL = 8,       /* counters of channels, by object */
    CHUNK_TASK = 9,          /* counters of task sites, by object */
    CHUNK_CPU = 10,          /* `count` struct segment_cpu */
    CHUNK_WAIT = 11,         /* counters of what is waited for, by object */
    CHUNK_LEAK = 13,         /* counters of lost blocks, by stack */
    CHUNK_HEAP_DETAILS = 12, /* more counters of allocations, by stack */
    CHUNK_THREADS = 20,      /* `count` struct segment_thread */
    CHUNK_START = 21,        /* counters of threads that were started, by stack */
    CHUNK_SPIN = 22,         /* counters of yields, short sleeps and failed tries, by stack */
    CHUNK_IO = 30,           /* `count` struct segment_io */
    CHUNK_TALLY = 31,        /* `count` struct segment_tally */
    CHUNK_MAPPING = 32,      /* `count` struct segment_mapping */
    /* `count` struct segment_event of one thread. When the rings have their full size, a thread empties the oldest of its
     * chunks and fills it again: `first_id` is odd meanwhile, and another one afterwards. */
    CHUNK_EVENTS = 33,
    CHUNK_CODES = 34, /* `count` struct segment_code, one after the other, 8-byte aligned */
};

struct chunk {
    _Atomic uint32_t kind;  /* enum chunk_kind, stored last */
    _Atomic uint32_t count; /* entries of a list chunk */
    uint64_t size;          /* bytes with this header, a multiple of SEGMENT_ALIGNMENT */
    uint64_t first_id;      /* of a counter chunk */
    uint64_t reserved[5];
};

_Static_assert(sizeof(struct segment) <= SEGMENT_HEADER_SIZE, "the header is one page");
_Static_assert(sizeof(struct chunk) == SEGMENT_ALIGNMENT, "a chunk's body is aligned as the chunk is");
_Static_assert(sizeof(struct segment_module) == 520, "no padding that differs between compilers");
_Static_assert(sizeof(struct segment_code) == 24, "the same");
_Static_assert(sizeof(struct segment_stack) == 16 && sizeof(struct segment_object) == 128, "the same");
_Static_assert(sizeof(struct heap_counters) == 64 && sizeof(struct lock_counters) == 128, "the same");
_Static_assert(sizeof(struct leak_counters) == 32, "the same");
_Static_assert(sizeof(struct heap_details) == 128, "the same");
_Static_assert(sizeof(struct wait_counters) == 104 && sizeof(struct thread_counters) == 192, "the same");
_Static_assert(sizeof(struct cell_counters) == 48 && sizeof(struct channel_counters) == 64, "the same");
_Static_assert(sizeof(struct task_counters) == 64 && sizeof(struct segment_cpu) == 32, "the same");
_Static_assert(sizeof(struct segment_thread) == 24 && sizeof(struct start_counters) == 64 &&
                   sizeof(struct spin_counters) == 64,
               "the same");
_Static_assert(sizeof(struct segment_io) == 96 && sizeof(struct segment_tally) == 16, "the same");
_Static_assert(sizeof(struct segment_event) == 40, "the same");
_Static_assert(sizeof(struct segment_mapping) == 48, "the same");

#endif
