/* runtime.h: the state that the parts of the runtime share: the process, its threads, and how a hook is entered and
 * left.
 *
 * The room ingest/shim is libclear_rt.so, which is preloaded into the profiled program. It promises:
 *   - The program behaves as without it: same output, same exit status, same errno. Nothing here exits, prints, keeps a
 *     file descriptor open, starts a thread, or allocates from the program's heap.
 *   - Every event that a hook sees is counted in the segment (ingest/segment.h), or counted there as dropped.
 *   - It links libc alone.
 *
 * Memory. Three kinds, by what a fork does to them:
 *   - the segment and all tables (stack index, unwind rules, block map): MADV_DONTFORK. The child has none of them.
 *   - `struct process` and every `struct thread`: MADV_WIPEONFORK. The child finds zeros where its pointers point.
 *     Zeros read as "not started" and "not initialised", so the child's first hook starts it like a new program.
 *   - static data: paths, real functions, the TLS key. They stay true across a fork.
 * So no state depends on an atfork handler: locks that other threads held at the fork are zero in the child, and a raw
 * clone(2), which runs no handlers, is as safe as fork(3). There is one handler, in cpu.c: it gives a forked child its
 * CPU timer before its first hook, and a child of clone(2) gets it at that hook. vfork and CLONE_VM children share
 * everything, as they share the program's heap.
 *
 * Threads. Until a thread's first hook `self` points at a static thread that is never idle, so "not initialised",
 * "inside a hook" and "wiped by a fork" are one unlikely branch.
 *
 * Locks. process->lock is taken when something is met for the first time (stack, lock, module, unwind rule, chunk of
 * counters), when a thread begins or ends, and at dlclose. Nothing is called under it that could wait for the program:
 * no dl_iterate_phdr, no malloc. The other locks are spin locks that are held for a few instructions: orphan_lock, the
 * arenas', and each locked_table's.
 *
 * Who may read without an atomic (atomic.h) what another thread may write:
 *   - the fields of struct process marked "set at the start": everybody, because nothing is recorded before they are
 *     set
 *   - what process->lock guards: its holder
 *   - the pointer `process`: everybody. It changes once, before the process is READY, and both values read as "not
 *     started" until then. */
#ifndef CLEAR_SHIM_RUNTIME_H
#define CLEAR_SHIM_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/budget_rule.h"
#include "ingest/segment.h"
#include "ingest/shim/core/atomic.h"

enum process_state { PROCESS_NEW = 0, PROCESS_STARTING, PROCESS_READY, PROCESS_OFF };

enum { EARLIER_HOLDS = 4 }; /* that are told of a thread, at most */

enum thread_state {
    THREAD_NONE = 0, /* not initialised, or wiped by a fork */
    THREAD_IDLE,     /* outside of any hook */
    THREAD_BUSY,     /* inside a hook: calls from there pass through unrecorded */
    THREAD_WAITS,    /* idle, in a wait that began before the process was attached to (locks/earlier_waits.h) */
};

/* Of a struct thread that is not simply that of its thread. */
enum orphan {
    ORPHAN_NOT = 0,
    ORPHAN_SHARED, /* of threads past their own end: leaving it releases process->orphan_lock */
    ORPHAN_STALE,  /* of a recording that is over (late.c): its thread begins anew with the next one */
};

enum {
    STACK_ID_MAX = (1 << 24) - 1, /* distinct stacks of a process: what a block's entry has room for */
    OBJECT_ID_MAX = (1 << 20) - 1,
    OBJECTS_PER_CHUNK = 32,
    KNOWN_BLOCKS = 64,
    LARGE_BLOCKS = 64,
    OBJECT_LIST_CHUNKS = (OBJECT_ID_MAX + 1) / OBJECTS_PER_CHUNK,
    HELD_LOCKS = 32,      /* locks held by one thread at once whose hold is timed */
    KNOWN_OBJECTS = 256,  /* locks whose counters a thread finds without the shared index; also cells, channels */
    FOREIGN_STACKS = 256, /* stacks other than its own that a thread remembers: fibers, sigaltstack */
    MODULE_CHUNKS = 256,
    MODULES_PER_CHUNK = 8,
    MODULES_MOST = MODULE_CHUNKS * MODULES_PER_CHUNK,
    REGIONS = 32, /* of clear.h, inside each other in one thread */
    ROUTINES = 64,
    ROUTINE_CALLERS = 6, /* frames of the C library below the function that a thread begins in */
};

/* Where the CPU timer interrupted a thread: not at all, between hooks, or inside one. Inside, the thread may hold the
 * process's lock, and its buffers are in use. */
enum { TICK_NONE = 0, TICK_BETWEEN, TICK_INSIDE };

/* An open-addressing table from a 64-bit hash to an id, grown by replacement. Readers take no lock: an entry's hash is
 * stored last, and entries never change or go. */
struct index_entry {
    uint64_t hash; /* 0 is free */
    uint64_t id;
};
struct index {
    uint64_t mask, count;
    struct index_entry entries[];
};
enum { INDEX_SMALL = 64, INDEX_SMALL_SIZE = sizeof(struct index) + INDEX_SMALL * sizeof(struct index_entry) };

/* CPU time of ended threads that no sample met, less what samples stood for in excess. */
struct routine_balance {
    uint64_t routine; /* where the threads began; 0: free */
    int64_t ns;
};

/* An entry of the list of modules: see modules.c. */
struct known_module {
    uint64_t low, high, bias;
    uint32_t name_hash, hash;        /* of the loader's name; of that and the build id */
    uint32_t epoch_start, epoch_end; /* as in struct segment_module */
    bool is_live;
};

struct rule_table;    /* unwind.c */
struct python_layout; /* python.c */
struct arenas;
struct mapped;
struct locked_table;

/* The last signal of a condition variable that met nobody: of one of which a wait ended at its time limit. Two in one place
 * take turns. */
struct missed_signal {
    const void *condition;
    uint64_t at; /* 0: none so far */
};
enum { MISSED_SIGNALS = 64 };

/* An object on a thread's stack, and the call that it is a local variable of. */
struct known_local {
    uint64_t address;          /* 0: none */
    uint64_t hash;             /* in the index of objects */
    uint64_t frame, return_pc; /* the canonical frame address, and the return address below it */
};
enum { KNOWN_LOCALS = 64 };

/* own_budget.c: of a process that clear did not start. */
struct own_budget {
    uint32_t is_on, lock;
    uint32_t levels[2]; /* of allocations, of locks */
    uint64_t looked, started, started_ns;
    struct budget_sums last; /* as of the last decision */
    struct budget_state state;
};

/* The most frames that are kept of the last walk of a thread. */
enum { LAST_FRAMES = 128 };

struct process {
    uint32_t state; /* enum process_state */
    uint32_t lock;  /* futex: 0 free, 1 taken, 2 taken and waited for */
    /* Set at the start. */
    struct segment *segment;
    uint64_t reserved; /* bytes that the segment may grow to */
    uint32_t features, depth, sample_n;
    uint64_t ids_max, sample_bytes;
    uint64_t own_low, own_high; /* where the runtime itself is loaded */
    /* Read by anybody, by atomic loads; what is written under `lock` alone is read plainly under it. */
    struct index *stacks, *objects;
    struct rule_table *rules;
    uint64_t hash_powers[LAST_FRAMES + 1]; /* of the factor of a stack's hash (unwind.c) */
    uint32_t rules_generation;             /* raised when rules are forgotten */
    uint32_t objects_generation;           /* raised when an address becomes another object */
    uint32_t epoch; /* another one when a module lies where another was before: addresses mean other code (modules.c) */
    uint32_t has_made_code; /* unwind.c: of a JIT compiler */
    uint32_t has_overflow;  /* blocks.c: something did not fit the tree */
    uint32_t cpu_hz;        /* 0 while there are no timers, or no longer */
    uint64_t cpu_counted;   /* ns of the process's CPU clock that are counted, or that an earlier image counted */
    struct routine_balance routines[ROUTINES]; /* cpu_time.c; the next four too */
    uint64_t entry;                            /* of the program */
    uint32_t start_state, start_depth;         /* 1: the frames below a thread's function are known, or being found */
    uint64_t start_pc[ROUTINE_CALLERS];
    uint32_t is_sealed; /* the program forbids itself system calls: none from here on (see prctl); ask is_sealed() */
    uint32_t may_open;  /* it may be about to: the recorder may say that it did not (seal.c) */
    uint32_t sealed_hz; /* cpu_hz before that */
    uint32_t orphan_lock;
    uint32_t peak_lock;  /* peak.c */
    uint64_t peak_epoch; /* raised at each new peak of live bytes; read at every heap event */
    int64_t live, peak;  /* bytes: what the threads have added up so far, and its highest value */
    uint64_t pool_used;
    uint64_t tick_rate;      /* births.c: ns << 32 that a tick takes; 0: not known yet */
    uint32_t births_threads; /* births.c: numbers given out */
    struct known_block {     /* blocks.c; known_blocks under `lock`, large_blocks without */
        uintptr_t start;
        uint64_t value; /* of its entry; 0: none */
    } known_blocks[KNOWN_BLOCKS], large_blocks[LARGE_BLOCKS];
    uint32_t large_next;          /* where the next one goes */
    uint32_t mapped_lock;         /* mappings.c; it guards the next four */
    struct mapped *mapped_ranges; /* by address */
    uint64_t mapped_count, mapped_capacity;
    struct {
        uint64_t bytes, slot, now_bytes, before_bytes; /* of the life, and of the last two slots of unmapped_lately */
    } given_back;                        /* mappings.c: memory of its own that the program unmapped; mapped_lock */
    struct arenas *arenas;               /* arena_blocks.c; NULL until there is one */
    struct locked_table *fibers;         /* fiber.c; the same */
    struct locked_table *joined;         /* joins.c; the same */
    struct earlier_waits *earlier_waits; /* of locks/earlier_waits.c; NULL: none */
    struct thread *orphan;               /* for threads past their own end; orphan_lock guards what it points at */
    /* Guarded by peak_lock. */
    struct thread *alone; /* the one thread that there is; NULL: none yet, or there are more */
    bool has_threads;
    int64_t timed_peak; /* bytes: of the highest total whose time is known */
    /* Guarded by `lock`. */
    uint64_t mapped;        /* bytes of the segment that have addresses */
    uint64_t populated;     /* bytes of the segment that have memory */
    uint64_t full_until_ns; /* CLOCK_MONOTONIC: it could not grow, and is not made to before then; 0: it could */
    char *pool;             /* what a sealed process takes memory from; set before is_sealed */
    uint64_t pool_size;
    uint64_t events_size;                     /* bytes of the rings of events */
    uint32_t channels;                        /* numbers given out */
    struct chunk *stack_chunk, *module_chunk; /* the list chunks that are being filled */
    uint64_t stack_chunk_used;                /* bytes of its body */
    struct chunk *code_chunk;                 /* the same of code objects */
    uint64_t code_chunk_used;
    uint32_t code_count;                             /* ids given out */
    struct chunk *object_chunks[OBJECT_LIST_CHUNKS]; /* of ids 1.., OBJECTS_PER_CHUNK each */
    struct chunk *module_chunks[MODULE_CHUNKS];
    struct known_module modules[MODULES_MOST]; /* by place in module_chunks */
    struct known_module nameless;              /* low and high: around what found no place there; high 0: nothing */
    uint32_t module_count;
    uint32_t epochs;             /* the highest epoch so far */
    struct thread *all;          /* but for those past their own end */
    struct thread *timed;        /* those with a CPU timer */
    struct chunk *thread_chunk;  /* of struct segment_thread, the one that is being filled */
    uint32_t threads;            /* ids given out */
    struct thread *free_threads; /* of threads that ended, for the next ones */
    struct missed_signal missed_signals[MISSED_SIGNALS];
    struct known_local locals[KNOWN_LOCALS]; /* local_frames.c: the newest ones */
    uint32_t locals_next;                    /* how many there were; read by anybody */
    /* Read by anybody, as above. */
    const struct python_layout
        *python; /* python.c, as the next five; NULL: there is no interpreter whose frames are known */
    const struct python_layout *python_known;  /* the same, also while a module is being unloaded */
    uint64_t python_runtime, python_code_type; /* addresses; set before `python` */
    uint32_t python_unmaps;                    /* raised before the program unmaps memory */
    uint32_t python_is_over;                   /* the interpreter ends */
    struct index *codes;                       /* python_code.c: of code objects */
    uint32_t has_budget;                       /* set at the start */
    uint32_t clock_cost,
        pass_cost; /* hook_cost.c: ticks of a reading of the clock; 1/256 ticks of a malloc and free that are passed over */
    struct own_budget own_budget;
};

/* A lock that this thread holds. */
struct held_lock {
    void *lock;
    struct lock_counters *counters;
    uint64_t since;
    uint32_t depth;       /* of a recursive mutex */
    uint32_t weight;      /* acquisitions that it stands for, when sampling */
    uint32_t holds;       /* holds that this one stands for; 0: it is not timed */
    uint32_t kind;        /* enum segment_object_kind */
    const void *woken_by; /* the condition variable at which this hold began again; NULL: none */
};

/* What the thread was late for: its last wait on a condition variable that ended at its time limit. */
struct late_wait {
    const void *mutex;              /* that it gives back; NULL: no wait ended so */
    uint64_t looked;                /* when the thread had it last, and could see what there was; ticks */
    struct wait_counters *counters; /* of the wait, if it missed a signal, until the mutex is released; NULL: else */
    uint32_t weight;
};

/* A lock, cell or channel that this thread used, and its counters. */
struct known_object {
    const void *object;
    void *counters;
    uint64_t generation; /* process->objects_generation when it was noted */
    uint32_t skip;       /* of a lock: acquisitions until a hold is timed */
    uint32_t moved;      /* of a lock: SHORT_HOLDs that were counted for who ended them (lockrecord.h) */
};

/* The first of its two places in such a table; the other one is beside it. */
static ALWAYS_INLINE struct known_object *known_first(struct known_object *table, const void *object) {
    return &table[((uintptr_t)object >> 3 ^ (uintptr_t)object >> 11) & (KNOWN_OBJECTS - 1)];
}

static ALWAYS_INLINE struct known_object *known_second(struct known_object *table, const void *object) {
    return &table[(known_first(table, object) - table) ^ 1];
}

/* Where an object is, or where it is to be put. With one place, two of ten locks met in the table in one program of six, and were looked up each time. */
static ALWAYS_INLINE struct known_object *known_of(struct known_object *table, const void *object) {
    struct known_object *first = known_first(table, object);
    return likely(first->object == object || !first->object) ? first : known_second(table, object);
}

struct stack_range {
    uintptr_t low, high;
};

/* Where a stack walk starts: the registers of the calling frame as they are after its call returns. */
struct frame {
    uint64_t pc, sp, bp;
};

enum {
    TRAIL_SLOTS = 64,   /* the most words of a walk that is remembered */
    TRAIL_MOST = 192,   /* the most that are noted */
    TRAIL_REGISTER = 0, /* values of bp_from that are no address */
    TRAIL_NOTED = 1,
    WALK_SETS = 128,
    WALK_WAYS = 4,
};

/* What a walk read: the words of the stack that it depended on. With the same start (pc and sp, and bp where it was
 * used), the same words and the same rules, the walk is the same. */
struct trail {
    uint64_t start;   /* sp */
    uint64_t bp_from; /* the slot that bp was last read from */
    uint32_t count;
    bool uses_bp;            /* of the start */
    bool is_whole;           /* the walk ended at the root of the thread's own stack, and everything fitted */
    uint16_t at[TRAIL_MOST]; /* distance from start, in words */
    uint64_t value[TRAIL_MOST];
};

/* The last walk of a hook on the thread's own stack (unwind.c): where it was at each frame, and what it read. Frames and words end with those of
 * the root at the ends of their arrays, so that the next walk replaces those of its own callees alone. */
enum { LAST_WORDS = TRAIL_MOST };
struct last_frames {
    uint64_t pc[LAST_FRAMES], sp[LAST_FRAMES], bp[LAST_FRAMES];
    uint16_t word[LAST_FRAMES];   /* the first word that was read from there on */
    uint8_t uses_bp[LAST_FRAMES]; /* from there on the walk used bp, as it is there */
};
struct last_walk {
    uint32_t count;      /* of frames; 0: nothing is known */
    uint32_t generation; /* of the rules */
    uint64_t high;       /* of the stack */
    uint32_t plain;      /* the next so many walks are plain */
    uint32_t passes;     /* the next so many do not look here */
    uint32_t poor;       /* walks in a row that met less than half of their frames here */
    bool is_cut;         /* the stack has more frames, which were not walked */
    bool may_be_kept;    /* the walk that goes on */
    struct last_frames known;
    uint64_t sum[LAST_FRAMES]; /* of the hash: of each frame and those behind it */
    uint64_t at[LAST_WORDS], value[LAST_WORDS];
    struct last_frames fresh; /* of the walk that goes on, from its start */
    struct trail trail;
};

/* A walk and the id of the stack that it led to. Its words are where `values` points to, in thread->walked: first those of `pairs`, two that
 * stand beside each other on the stack (where a frame begins: bp and the return address), which are compared at once, then those of `singles`.
 * Behind them is a uint16_t for each pair (of its lower word) and each single one: its distance from sp, in words. */
struct cached_walk {
    struct frame frame;
    uint32_t id;
    uint32_t generation;    /* of the rules it was walked by */
    uint64_t fan_hash;      /* of the words by which it fans out; 0: it does not */
    const uint64_t *values; /* lies at a multiple of 16 bytes */
    uint16_t room;          /* there, in units of 16 bytes */
    uint8_t pairs, singles;
    bool uses_bp; /* of the start */
};

/* A set of the cache of walks. Where many paths lead into one allocating function, at one depth, all begin with the same pc and sp,
 * and do not fit their set. Then they fan out: the words of the stack in which they differ choose one of FAN_SETS sets. Where that does
 * not help either the cache costs more than it saves, and the set is bypassed for a while. */
enum { FAN_SETS = 32, FAN_WORDS = 6 };
struct walk_set {
    int32_t score;              /* raised by hits, lowered by misses */
    uint32_t bypass;            /* walks left to be done without the cache */
    uint32_t next;              /* the way to be replaced */
    uint32_t fan_count;         /* words; 0: does not fan out */
    uint64_t fan_pc, fan_sp;    /* of the walks that do */
    uint16_t fan_at[FAN_WORDS]; /* distance from sp, in words */
    struct cached_walk ways[WALK_WAYS];
};
/* Room for the words of all known walks, were each of TRAIL_SLOTS single words: 64 values and as many distances. It is taken from the start,
 * so most threads touch little of it. */
enum { WALKED_UNITS = WALK_SETS * WALK_WAYS * TRAIL_SLOTS * 10 / 16 };
struct walked_unit {
    uint64_t words[2];
} __attribute__((aligned(16)));

/* The kinds of counters: name, type, chunk, the highest id, and how many ids a chunk has: few where a thread of many has some, because
 * each thread has chunks of its own; not fewer, because each thread has addresses for a pointer to each chunk. */
#define COUNTER_KINDS(X)                                                                                               \
    X(heap, struct heap_counters, CHUNK_HEAP, STACK_ID_MAX, 128)                                                       \
    X(leak, struct leak_counters, CHUNK_LEAK, STACK_ID_MAX, 256)                                                       \
    X(details, struct heap_details, CHUNK_HEAP_DETAILS, STACK_ID_MAX, 128)                                             \
    X(lock, struct lock_counters, CHUNK_LOCK, OBJECT_ID_MAX, 64)                                                       \
    X(wait, struct wait_counters, CHUNK_WAIT, OBJECT_ID_MAX, 64)                                                       \
    X(cell, struct cell_counters, CHUNK_CELL, OBJECT_ID_MAX, 64)                                                       \
    X(channel, struct channel_counters, CHUNK_CHANNEL, OBJECT_ID_MAX, 64)                                              \
    X(task, struct task_counters, CHUNK_TASK, OBJECT_ID_MAX, 64)                                                       \
    X(start, struct start_counters, CHUNK_START, STACK_ID_MAX, 128)                                                    \
    X(spin, struct spin_counters, CHUNK_SPIN, STACK_ID_MAX, 256)

/* Entries of one kind that a thread counts in, in the segment (entries.h). */
struct entries {
    struct index *index;
    struct chunk *chunk; /* the one that is being filled */
};

/* python.c: of one walk. */
enum { PYTHON_PAGES = 256, PYTHON_CODES = 256 };
/* A code object as it was when its id was found: its words, and `sample` of its texts. */
struct known_code {
    uint64_t at, file, name, lines, first_line, sample;
    uint64_t id;
};
struct python_space {
    uint64_t sp[SEGMENT_DEPTH_MAX + 2];    /* of each native frame, and behind the last */
    uint64_t pc[SEGMENT_DEPTH_MAX + 1];    /* the merged stack */
    uint64_t group[SEGMENT_DEPTH_MAX + 1]; /* of one call of the interpreter */
    uint64_t pages[PYTHON_PAGES];          /* numbers of pages that can be read; 0: none */
    uint32_t unmaps;                       /* process->python_unmaps when they were found */
    struct known_code codes[PYTHON_CODES]; /* by address; one id is right in every walk */
    char name[512], file[1024];
};

/* What a scheduler's thread runs since then. */
struct fiber_run {
    uint64_t fiber, since;
    uint32_t object; /* its name; 0: no fiber */
};

/* A region of clear.h that has begun. */
struct region {
    uint64_t begin;
    uint32_t object; /* id of its name; 0: it began while recording was paused */
    uint32_t stack;  /* id */
};

/* Where the thread was when it last started or joined another one: the calls, innermost first. */
enum { NOTED_FRAMES = 48 };
struct noted_frames {
    uint32_t count;
    uint64_t pc[NOTED_FRAMES], sp[NOTED_FRAMES];
};

struct thread {
    volatile uint32_t state; /* enum thread_state. volatile: glibc declares some functions leaf, and the compiler would
                                drop a plain store before the call that must see it */
    uint32_t is_ticking;     /* inside the handler of the CPU timer */
    uint32_t orphan;         /* enum orphan: leaving it is more than a store */
    uint32_t sample_level;   /* of a budget: that of its last allocation (sample.h) */
    uint32_t
        passes_at; /* the level at which bytes_to_sample says which allocation is the next sample; NO_LEVEL: none */
    uint32_t lock_level; /* the same of its last lock; not 0: it passes some over */
    int64_t bytes_to_sample;
    struct thread_counters *counters;
    const void *newest; /* the block that it allocated last; NULL: unknown */
    uint32_t
        earlier_holds; /* so many locks may still be found to be held since before the process was attached to; 0: none, or it is not known */
    uint32_t held_count; /* of `held` */
    /* A mutex that it holds and that is not in `held`, because its hold is not timed; NULL: none. */
    const void *light;
    /* Up to here is what hooks read that pass over or only count: 64 bytes. */
    uint64_t light_since; /* as of a hold that is marked; 0: it is not. The timer's handler may mark it at any time */
    uint32_t lock_events; /* recorded at level 0, that the segment does not have yet */
    uint64_t lock_gap;    /* to be passed over until one is sampled, without those of counters->lock_left */
    int *errno_at;        /* &errno of this thread */
    int64_t balance;      /* bytes allocated less bytes freed, by this thread (peak.h) */
    int64_t rise_limit, peak_limit, fall_limit; /* of the balance: beyond them something is to be done */
    int64_t published;                          /* of the balance: what process->live has */
    struct stack_range stack;                   /* its own */
    uintptr_t walked_high;                      /* where the stack ends that `walks` are of; 0: of none */
    const void *control_block;                  /* of the C library's thread for which `stack` was found */
    char scratch[1024];                         /* for what must not go on a signal stack of 2 KiB */
    struct thread *next_free, *next_of_all;
    uint64_t random; /* state of sampling; 0 before the first draw */
    int64_t events_to_sample;
    int64_t bytes_to_thin; /* sample_thin; 0 before the first draw */
    uint32_t exit_rounds;
    int32_t timer, has_timer, timer_tid;      /* of its CPU time */
    uint64_t cpu_counted;                     /* ns of its CPU time that are counted */
    uint64_t cpu_samples;                     /* since its clock was last asked */
    uint64_t owed;                            /* ticks inside the runtime that could not be counted then */
    uint64_t routine;                         /* where it began; 0: unknown */
    struct segment_thread *noted;             /* NULL before its first CPU sample */
    struct index *cpu_entries;                /* of this thread, in the segment */
    struct chunk *cpu_chunk;                  /* the one that is being filled */
    struct thread *next_timed, **timed_place; /* in process->timed */
    struct entries io, tallies, mappings;
    struct chunk *events;   /* trace.c: the one that is being filled, of a circle of chunks */
    int32_t tid;            /* trace.c; 0: not asked yet */
    uint32_t traced_object; /* trace.c: of the wait that it is in; 0: none */
    int32_t traced_owner;   /* the thread that had it */
    uint32_t region_count;  /* that have begun and not ended; those beyond REGIONS are not in `regions` */
    struct region regions[REGIONS];
    struct fiber_run fiber;         /* trace.c: what it runs */
    uint64_t allocated;             /* births.c: blocks */
    uint32_t birth_number;          /* births.c: of the thread; 0: none yet */
    uint32_t io_to_skip, io_random; /* calls until one is timed; 0 before the first draw */
    struct held_lock held[HELD_LOCKS];
    uint32_t hold_random;          /* 0 before the first draw */
    uint32_t spins, spins_to_skip; /* yields and failed tries: so far, up to SPINS_EXACT; until one is counted */
    /* The wait that it is in, where a cancellation may end that; NULL: none. */
    struct wait_counters *waiting;
    uint64_t waiting_since;
    uint32_t waiting_weight;
    struct late_wait late;
    uintptr_t signal_stack; /* cpu.c: what sigaltstack was told; 0: none */
    /* Up to here all threads use most of it, and of what follows the start: it is in one page, if the thread needs no more. */
    uint64_t pc[SEGMENT_DEPTH_MAX + 1]; /* of the walk of a hook */
    struct stack_range foreign[FOREIGN_STACKS];
    struct known_object known_locks[KNOWN_OBJECTS], known_cells[KNOWN_OBJECTS], known_channels[KNOWN_OBJECTS],
        known_waits[KNOWN_OBJECTS];
    const void *waited_for[KNOWN_OBJECTS];   /* an entry may give way to another */
    uint64_t tick_pc[SEGMENT_DEPTH_MAX + 1]; /* of the walk of a tick */
    uint64_t kept_pc[SEGMENT_DEPTH_MAX + 1]; /* of the stack of a tick that waits to be counted */
    uint32_t kept_depth, kept_flags;         /* of that stack */
    uint32_t kept_cpu_flags;                 /* CPU_OF_RECORDER or 0 */
    volatile uint32_t kept_state;            /* enum kept_state; volatile: a tick may come while it is counted */
    uint64_t kept_ticks;
    struct last_walk last;
    struct walk_set walks[WALK_SETS];
    struct walked_unit walked[WALKED_UNITS]; /* words of `walks` */
    uint32_t walked_used;
#define X(name, type, chunk, id_max, ids) type *name[((id_max) + 1) / (ids)]; /* by id / ids; touched lazily */
    COUNTER_KINDS(X)
#undef X
    struct noted_frames noted_frames; /* local_frames.c */
    struct python_space python[2];    /* of the walk of a hook, of a tick */
    uint32_t python_walks;            /* that go on: a tick may come in that of a hook */
    /* hook_cost.c: events since one was timed, and until one is; what is not in the segment yet, since when */
    uint32_t budget_events, budget_left, budget_timed, budget_random;
    uint64_t budget_ticks, budget_recorded, budget_passed, budget_told;
    /* intern.c: rooms for the first indexes of the thread, which then need no mappings of their own */
    uint32_t small_indexes_used;
    _Alignas(struct index) char small_indexes[4][INDEX_SMALL_SIZE];
};

extern HIDDEN struct process *process; /* never NULL */
/* Gives it memory that can be written, in place of the zeros that it points at until then. False when there is none. */
bool process_allocate(void);
/* For the next recording of a process of which one is over: other memory, zeros again. */
bool process_renew(void);
/* The calling thread is as before its first hook. */
void thread_forget(void);

/* What the heap hooks do. Static and not in struct process, so that a hook with nothing to do needs one load before it
 * calls the real function. It stays true across a fork, because the child has the same `control`. */
enum heap_mode {
    HEAP_EVERY = 0,
    HEAP_SAMPLED,
    HEAP_OFF,      /* from here on nothing is noted */
    HEAP_UNDECIDED /* the process has not started to record */
};
extern HIDDEN uint32_t heap_mode;
extern HIDDEN __thread struct thread *volatile self;

/* 1: calls of input and output, or locks, are not recorded. As heap_mode. */
extern HIDDEN uint32_t is_io_off, is_locks_off;

/* `is_paused` of the control file once that is mapped; a word that is 0 before. It is read before a thread is entered,
 * so that a program whose recording is off pays two loads a hook and nothing else. */
extern HIDDEN uint32_t *paused;
/* `sample_level` and `lock_level` of the control file, in the same way. */
extern HIDDEN uint32_t *shared_sample_level, *shared_lock_level;
static ALWAYS_INLINE bool is_paused(void) {
    return unlikely(load_relaxed(paused));
}

/* --- entering and leaving ------------------------------------------------------------------------------------- */

/* start.c: what is more than a load. */
struct thread *thread_enter_slowly(void);
/* start.c, of a late runtime: what is recorded ends here, while the program goes on; and a next recording begins. */
void recording_over(void);
bool recording_again(void);
/* Memory for so many threads that run already, before their first hooks; once in a process. */
void threads_ahead(uint64_t count);
void thread_leave_orphan(struct thread *thread);

/* What `self` points at in a thread that may not read a clock (seal.c). It is never idle. */
extern HIDDEN struct thread blind_thread;
/* To be asked before a clock is read without a thread that was entered. */
static ALWAYS_INLINE bool thread_is_blind(void) {
    return unlikely(self == &blind_thread);
}
/* start.c. Ends the recording of the calling thread, which was entered, before it forbids itself the clock; it is entered no more. NULL:
 * nothing was done, because it is past its own end. The other takes it back, but for the samples of its CPU time, and
 * leaves the thread. */
struct thread *thread_blind(struct thread *thread);
void thread_unblind(struct thread *thread);

/* The thread to record with, or NULL where this call must pass through unrecorded. 1 load, 1 compare, 1 store. */
static ALWAYS_INLINE struct thread *thread_enter(void) {
    struct thread *thread = self;
    if (unlikely(thread->state != THREAD_IDLE)) return thread_enter_slowly();
    thread->state = THREAD_BUSY;
    return thread;
}

static ALWAYS_INLINE void thread_leave(struct thread *thread) {
    if (unlikely(thread->orphan)) return thread_leave_orphan(thread);
    thread->state = THREAD_IDLE;
}

/* The one way to record inside a hook. Afterwards errno is what the real function left. */
#define RECORD(thread, statement)                                                                                      \
    do {                                                                                                               \
        int saved_errno_ = *(thread)->errno_at;                                                                        \
        statement;                                                                                                     \
        *(thread)->errno_at = saved_errno_;                                                                            \
    } while (0)

/* --- segment -------------------------------------------------------------------------------------------------- */

void process_lock(void);
void process_unlock(void);
/* For code that may run in the timer's signal handler. There the interrupted hook may hold the lock, so it is only
 * tried. False: not taken. */
bool process_lock_from(const struct thread *thread);

/* The runtime makes no system call any more: see seal.c. */
static ALWAYS_INLINE bool is_sealed(void) {
    return load_acquire(&process->is_sealed);
}
/* The process has a filter of system calls, which all have that it forks. It stays true across a fork. */
extern HIDDEN uint32_t has_filter;
/* Unseals the process if the recorder has seen that it forbids itself nothing (seal.c). False: it is sealed. Where hooks are slow anyway. */
bool process_open(void);
bool process_open_locked(void); /* the same, with process->lock held */
static ALWAYS_INLINE bool stays_sealed(void) {
    return unlikely(is_sealed()) && !process_open();
}

/* Needs process->lock. Memory of a new chunk with `body` zeroed bytes, not yet published; NULL when there is no
 * room. */
struct chunk *chunk_new(uint64_t body);
void chunk_publish(struct chunk *chunk, enum chunk_kind kind);

static inline void *chunk_body(struct chunk *chunk) {
    return chunk + 1;
}

/* Zeroed private memory that a forked child does not get; NULL when there is none. */
void *private_memory(size_t size);
/* The same that is zeroed in a forked child. */
void *wiped_memory(size_t size);
void *wiped_memory_ahead(size_t size); /* of which perhaps not all will be used */
void private_memory_free(void *memory, size_t size);

/* name_counters_of(thread, id): the counters of `id` in this thread, made at first use; NULL when there is no room. */
#define X(name, type, chunk, id_max, ids)                                                                              \
    type *name##_counters_slowly(struct thread *thread, uint32_t id);                                                  \
    static ALWAYS_INLINE type *name##_counters_of(struct thread *thread, uint32_t id) {                                \
        type *counters = thread->name[id / (ids)];                                                                     \
        return likely(counters) ? &counters[id % (ids)] : name##_counters_slowly(thread, id);                          \
    }
COUNTER_KINDS(X)
#undef X

/* Time for locks: TSC ticks where the collector found the TSC usable (about 9 ns), else CLOCK_MONOTONIC (about 20
 * ns). */
uint64_t clock_monotonic_ns(void);
static ALWAYS_INLINE uint64_t clock_ticks(void) {
    return likely(process->features & FEATURE_TSC) ? __builtin_ia32_rdtsc() : clock_monotonic_ns();
}

/* Nanoseconds in those ticks, by what both clocks did since the process began. */
uint64_t clock_ticks_of(uint64_t ns);

#endif
