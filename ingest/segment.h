/* segment.h: the one layout that the runtime inside the profiled program (ingest/shim) and the collector share.
 *
 * `clear profile` makes a private directory (0700). In it stands one file `control` (struct control, written by the
 * collector before the program starts) and one file `PID-NANOSECONDS.seg` per process image that recorded anything
 * (struct segment, then chunks). The runtime finds the directory by the environment variable CLEAR_RT_DIR.
 *
 * A segment is a sparse file mapped shared by the program. It survives any death of the program, because what the
 * program stored is in the page cache, not in the process. It holds:
 *
 *     struct segment        one page: who, when, what is recorded, what was lost
 *     chunk, chunk, ...     64-byte aligned, appended in order and never moved or freed while the process lives
 *
 * Things are *interned* once a process (a stack, a lock, a cell, ...) and get dense ids from 1; *counters* of those ids are kept per
 * thread, so that no two threads ever write the same cache line on a hot path. The collector sums the counters of
 * one id over all counter chunks. Counters only grow; each has one writing thread at a time, which uses plain
 * (relaxed) stores. A reader of a live segment may see the count of an event before its bytes; after the process
 * has ended the figures are exact.
 *
 * Publication: a chunk exists once its `kind` is non-zero (stored last, release); entries of a list chunk exist up to
 * its `count` (release). `used` is the end of the last chunk handed out. All integers are of the machine's own order.
 * Nothing in this header needs more than libc: the runtime includes only this, clear.h and libc. */
#ifndef CLEAR_INGEST_SEGMENT_H
#define CLEAR_INGEST_SEGMENT_H

#include <stdint.h>

#define CLEAR_RT_DIR_VARIABLE "CLEAR_RT_DIR"

enum {
    SEGMENT_MAGIC = 0x52454c43, /* "CLER" */
    SEGMENT_VERSION = 1,
    SEGMENT_HEADER_SIZE = 4096,
    SEGMENT_ALIGNMENT = 64,
    SEGMENT_COUNTER_IDS = 256, /* ids a counter chunk covers */
    SEGMENT_DEPTH_MAX = 1024,  /* the most that --depth may ask for */
    SEGMENT_BUILD_ID_MAX = 20, /* SHA-1 build ids; longer ones are cut, shorter ones padded with zeros */
};

/* A program that dumps by itself is told to write to DIRECTORY/ID.FILE, where ID stands for nobody: all zeros. The runtime of each
 * process writes its own over it, in place in the environment, so that processes that inherit the variables do not overwrite
 * each other's files: the PID and the NANOSECONDS of its segment's name, with leading zeros. */
#define SEGMENT_NO_DUMP_ID "0000000000-00000000000000000000"
enum { SEGMENT_DUMP_PID = 10, SEGMENT_DUMP_ID = sizeof SEGMENT_NO_DUMP_ID - 1 };

/* What is recorded. In `control`: what the user wants; in a segment: what really is. */
enum segment_feature {
    FEATURE_HEAP = 1u << 0,
    FEATURE_LOCKS = 1u << 1,
    FEATURE_TSC = 1u << 2, /* lock times are ticks of the time stamp counter; else nanoseconds of CLOCK_MONOTONIC */
    FEATURE_CELLS = 1u << 3,
    FEATURE_CHANNELS = 1u << 4,
    FEATURE_FIBERS = 1u << 5,
    FEATURE_CPU = 1u << 6,
    FEATURE_SYNC_STACKS = 1u << 7, /* locks and cells are split by the caller's stack */
    FEATURE_NO_CHILDREN = 1u << 8, /* only the process that `first_pid` names is recorded, none it forks (exec stays) */
};

/* The file `control`. Written by the collector; `unrecorded_processes` is the program's to count up.
 *
 * Sampling. At most one of sample_n and sample_bytes is above 1; all counters in a segment are scaled already:
 *   sample_n      every Nth heap event, lock acquisition and cell event counts N times; the others not at all
 *   sample_bytes  an allocation of s bytes is recorded with probability p = 1 - exp(-s / sample_bytes), as 1/p allocations of s
 *                 bytes (rounded up or down at random so that the mean is exact); its free takes the same away again */
struct control {
    uint32_t magic, version, size;
    uint32_t features;     /* enum segment_feature */
    uint32_t depth;        /* frames kept of a stack, 1 .. SEGMENT_DEPTH_MAX */
    int32_t first_pid;     /* of the target; written before it execs */
    uint64_t ids_max;      /* --profile-max: distinct stacks or objects of one process; 0 is no cap */
    uint64_t segment_max;  /* bytes of address space a segment reserves */
    uint64_t sample_bytes; /* mean bytes between samples; 0 or 1 is off */
    uint32_t sample_n;     /* 0 or 1 is every event */
    uint32_t cpu_hz;       /* samples per second of CPU time of each thread; 0 is off */
    _Atomic uint32_t
        is_paused; /* 1: nothing new is recorded for now; the collector may change it at any time. What was recorded
                                              is followed to its end: frees of known blocks, holds that had begun, exits of known fibers */
    uint32_t reserved;
    _Atomic uint64_t unrecorded_processes; /* processes that could not make a segment (chroot, changed uid, no space) */
};

/* The first page of a segment. */
struct segment {
    uint32_t magic, version, header_size;
    uint32_t features; /* enum segment_feature */
    int32_t pid, ppid;
    uint64_t start_realtime_ns;  /* of the moment the segment was made: the process's first recorded event */
    uint64_t start_monotonic_ns; /* the same moment */
    uint64_t start_ticks;        /* the same moment on the clock of lock times */
    char executable[1024];       /* /proc/self/exe, NUL-terminated */
    uint32_t depth;
    uint32_t cpu_hz;                  /* as in control; 0 where the timers could not be had */
    _Atomic uint64_t used;            /* end of the last chunk, bytes from the start of the file */
    _Atomic uint64_t stacks, objects; /* ids given out: 1 .. n */
    /* What could not be recorded. Events are heap or lock events, stacks are counted once each time they are met. */
    _Atomic uint64_t dropped_heap;     /* allocations and frees not recorded: no room for the stack or the block */
    _Atomic uint64_t dropped_locks;    /* lock operations not recorded */
    _Atomic uint64_t dropped_cells;    /* cell events not recorded */
    _Atomic uint64_t dropped_channels; /* channel and fiber events not recorded */
    _Atomic uint64_t dropped_cpu;  /* CPU samples not recorded: the thread was inside the recorder's own slow half */
    _Atomic uint64_t missed_frees; /* frees that were not seen, found when the address was handed out again */
    _Atomic uint64_t unwind_rules; /* distinct return addresses whose unwind rule was worked out */
};

/* A module (executable, shared library, vdso), noted when the first address inside it is met. `bias` is what the loader added to the addresses in the
 * file, so that file address = run-time address - bias. A module that was unloaded keeps its row, with `epoch_end` set. */
struct segment_module {
    uint64_t bias, low, high;   /* run-time addresses [low, high) of its loaded segments */
    uint32_t epoch_start;       /* the first epoch in which the module was seen (0: from the start) */
    _Atomic uint32_t epoch_end; /* the first epoch in which it was gone; 0 while it is there */
    uint32_t build_id_size;
    uint8_t build_id[SEGMENT_BUILD_ID_MAX];
    char path[464]; /* NUL-terminated, absolute where the loader knew it; "[vdso]" */
};

/* A distinct stack. `pc[i]` are run-time addresses, leaf first, and each is one more than an address inside the
 * instruction that was executing: return addresses as they are, instructions that a signal interrupted plus one. So
 * pc[i] - 1 is always right to look up. Look each up among the modules that were there in `epoch`. */
struct segment_stack {
    uint32_t id;
    uint16_t depth;
    uint16_t flags;
    uint32_t epoch;
    uint32_t reserved;
    uint64_t pc[];
};
enum segment_stack_flag {
    STACK_TRUNCATED = 1,  /* deeper than --depth: the root side is missing */
    STACK_INCOMPLETE = 2, /* ended at code that no unwinder can pass (JIT, no call frame information) */
};

/* A distinct lock, cell, channel or task site. With FEATURE_SYNC_STACKS a lock or cell is one object for each stack
 * that used it. For something inside a live heap block `owner` is the id of the allocating stack and `offset` the distance from
 * the block's start; otherwise both are 0. */
struct segment_object {
    uint32_t id;
    uint32_t kind;    /* enum segment_object_kind */
    uint64_t address; /* of a task site: its number */
    uint64_t offset;
    uint32_t owner;
    uint32_t epoch;
    uint32_t stack; /* the caller's, 0 where objects are not split by it */
    uint32_t
        number; /* of a channel: 1, 2, ... in the order they were met; of a task site: the scheduler + 1, 0 for the site itself */
    uint64_t capacity; /* of a channel, in messages; 0 unbounded or unknown */
    char name[48];     /* of a channel: what it was opened with; NUL-terminated, else empty */
};
enum segment_object_kind {
    OBJECT_MUTEX = 1,
    OBJECT_RWLOCK,
    OBJECT_SPIN,
    OBJECT_LOCK, /* one of the program's own, reported through clear.h */
    OBJECT_CELL,
    OBJECT_CHANNEL,
    OBJECT_TASK_SITE,
};

/* Counters of one stack in one thread. alloc - free == what is live, summed over all threads. Bytes are as requested. */
struct heap_counters {
    uint64_t alloc_count, alloc_bytes, free_count, free_bytes;
};

/* Counters of one lock in one thread; times in the segment's clock (FEATURE_TSC). `acquires` are exclusive ones;
 * shared ones stand on the read side. A wait is the time from asking to getting, of contended operations only. */
struct lock_counters {
    uint64_t acquires, contended, wait, wait_max, hold, hold_max;
    uint64_t read_acquires, read_contended, read_wait, read_wait_max;
};

/* Counters of one cell in one thread. struct_size is the largest seen. */
struct cell_counters {
    uint64_t struct_size, reads, commits, multi_commits, retries, update_failures;
};

/* Counters of one channel in one thread; max_depth is a maximum. */
struct channel_counters {
    uint64_t pushes, pops, push_blocked, pop_blocked, push_blocked_ns, pop_blocked_ns, max_depth, reserved;
};

/* Counters of one task site in one thread. The object with number 0 has all but `runs`; runs stand with the object of
 * the scheduler. */
struct task_counters {
    uint64_t spawns, runs, exits, lifetime_ns, lifetime_max_ns, under_1ms, under_10us, reserved;
};

/* Counters of one stack in one thread: samples of its CPU time. */
struct cpu_counters {
    uint64_t samples, cpu_ns;
};

/* Counters of one thread (CHUNK_THREAD). The chunk is used again by a later thread once its thread has ended. */
struct thread_counters {
    uint64_t truncated, incomplete; /* stacks taken with that flag (each time, not each distinct one) */
    uint64_t hold_lost;             /* holds not timed: more than the tracked number of locks held at once */
    uint64_t reserved;
};

enum chunk_kind {
    CHUNK_NONE = 0,
    CHUNK_MODULES = 1, /* `count` struct segment_module */
    CHUNK_STACKS = 2,  /* `count` struct segment_stack, one after the other, each 8-byte aligned */
    CHUNK_OBJECTS = 3, /* `count` struct segment_object */
    CHUNK_HEAP = 4,    /* SEGMENT_COUNTER_IDS struct heap_counters of stacks first_id, first_id + 1, ... */
    CHUNK_LOCK = 5,    /* the same of struct lock_counters, by object */
    CHUNK_THREAD = 6,  /* one struct thread_counters */
    CHUNK_CELL = 7,    /* counters of cells, by object */
    CHUNK_CHANNEL = 8, /* counters of channels, by object */
    CHUNK_TASK = 9,    /* counters of task sites, by object */
    CHUNK_CPU = 10,    /* counters of CPU samples, by stack */
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
_Static_assert(sizeof(struct segment_stack) == 16 && sizeof(struct segment_object) == 96, "the same");
_Static_assert(sizeof(struct heap_counters) == 32 && sizeof(struct lock_counters) == 80, "the same");
_Static_assert(sizeof(struct cell_counters) == 48 && sizeof(struct channel_counters) == 64, "the same");
_Static_assert(sizeof(struct task_counters) == 64 && sizeof(struct cpu_counters) == 16, "the same");

#endif
