/* go_trace.h: the parts of the reader of Go's execution traces (runtime/trace, go tool trace), go 1.22's format and later.
 *
 * Such a trace is a list of generations, about one a second. A generation is a list of batches: of strings, of stacks, of CPU samples, of the
 * clock, and of events. A batch of events is what one thread of the system (M) wrote, by time. What the threads wrote is put in order by
 * time and, because their clock counts 64 ns at a time, by the numbers that the scheduler gave to the starts and wakes of each goroutine. */
#ifndef CLEAR_INGEST_READ_GOTRACE_GO_TRACE_H
#define CLEAR_INGEST_READ_GOTRACE_GO_TRACE_H

#include "base/wire.h"
#include "ingest/read/trace/open_slices.h"
#include "ingest/read/trace/trace_rows.h"

/* The numbers of the format, which only grow: Go's src/internal/trace/tracev2/events.go. */
enum go_event_type {
    GO_EVENT_BATCH = 1,
    GO_STACKS,
    GO_STACK,
    GO_STRINGS,
    GO_STRING,
    GO_CPU_SAMPLES,
    GO_CPU_SAMPLE,
    GO_FREQUENCY,
    GO_PROCS_CHANGE,
    GO_PROC_START,
    GO_PROC_STOP,
    GO_PROC_STEAL,
    GO_PROC_STATUS,
    GO_CREATE,
    GO_CREATE_SYSCALL,
    GO_START,
    GO_DESTROY,
    GO_DESTROY_SYSCALL,
    GO_STOP,
    GO_BLOCK,
    GO_UNBLOCK,
    GO_SYSCALL_BEGIN,
    GO_SYSCALL_END,
    GO_SYSCALL_END_BLOCKED,
    GO_STATUS,
    GO_STW_BEGIN,
    GO_STW_END,
    GO_GC_ACTIVE,
    GO_GC_BEGIN,
    GO_GC_END,
    GO_SWEEP_ACTIVE,
    GO_SWEEP_BEGIN,
    GO_SWEEP_END,
    GO_ASSIST_ACTIVE,
    GO_ASSIST_BEGIN,
    GO_ASSIST_END,
    GO_HEAP_ALLOC,
    GO_HEAP_GOAL,
    GO_LABEL,
    GO_TASK_BEGIN,
    GO_TASK_END,
    GO_REGION_BEGIN,
    GO_REGION_END,
    GO_LOG,
    GO_SWITCH, /* from here on 1.23 */
    GO_SWITCH_DESTROY,
    GO_CREATE_BLOCKED,
    GO_STATUS_STACK,
    GO_EXPERIMENTAL_BATCH,
    GO_SYNC, /* from here on 1.25 */
    GO_CLOCK_SNAPSHOT,
    GO_END_OF_GENERATION, /* 1.26 */
};

enum { GO_ARGUMENTS = 5 };

struct go_event {
    uint8_t type;
    uint64_t arguments[GO_ARGUMENTS]; /* without the time */
    int64_t ns;                       /* of the trace's clock */
    uint32_t m;                       /* the thread that wrote it, an index of go_reader.ms */
};

/* A stack of the generation. What it is is found when it is first asked for. */
struct go_stack {
    struct wire frames; /* four numbers each: pc, function, file, line */
    uint64_t count;
    bool is_known;
    int64_t id;        /* of the row writer */
    const char *root;  /* where the goroutine began; empty: no frame */
    const char *call;  /* the first frame outside the runtime: "syscall.read", "sync.(*Mutex).Lock" */
    const char *place; /* the first frame that is not sync's, syscall's or time's either: "main.worker" */
    const char *kind;  /* what a goroutine that stands there waits for, as in events.kind */
    const char *what;  /* the same for people: "mutex", "chan receive" */
};

struct go_batch {
    uint64_t m, ticks;
    struct wire events;
};

struct go_generation {
    uint64_t number, frequency; /* frequency: ticks of the clock a second */
    struct go_batch *batches;   /* of events */
    size_t batch_count;
    struct map strings, stacks; /* id -> text (trace_text); id -> index of stack_list */
    struct go_stack *stack_list;
    struct go_sample {
        uint64_t ticks, goroutine, stack;
    } * samples;
    size_t sample_count;
    uint64_t clock_ticks, clock_seconds, clock_ns; /* a moment of the clock, and of the day; 0: none */
};

enum go_state { GO_NEW, GO_RUNNABLE, GO_RUNNING, GO_IN_SYSCALL, GO_WAITING }; /* as in the format */

struct goroutine {
    uint64_t id, generation, sequence; /* sequence: of its last start or wake in that generation */
    enum go_state state;
    uint32_t thread;             /* in the rows */
    bool is_named, is_runtime;   /* is_runtime: it belongs to the runtime: its waits are no waits of the program */
    bool is_waiting;             /* `wait` has begun */
    struct trace_slice wait;     /* or the call of the system */
    int64_t sweep_ns, assist_ns; /* began; 0: it is in none */
};

/* A thread of the system. */
struct go_m {
    uint64_t id;
    uint64_t goroutine; /* that runs there; 0: none */
};

struct go_lane {
    uint32_t thread, next_free; /* next_free: index + 1 of the next one of that name that is in no use */
    const char *name;
};

struct go_reader {
    struct trace_rows rows;
    struct open_slices open; /* regions */
    struct ingest *ingest;
    const struct input *input;
    int version; /* 26 of go 1.26 */
    struct go_generation generation;
    struct map goroutine_index, m_index, task_index,
        lane_index; /* id -> index; task -> lane + 1; name -> its first free lane + 1 */
    struct goroutine *goroutines;
    struct go_m *ms;
    struct go_task {
        uint32_t lane; /* index + 1; 0: ended, or begun before the trace */
        int64_t start_ns, stack;
    } * tasks;
    struct go_lane *lanes;
    size_t lane_count;
    int64_t first_ns, last_ns; /* of all events */
    bool has_events;
    int64_t gc_ns, stw_ns; /* began; 0: none is going on */
    const char *stw_name;
    int64_t epoch_ns; /* since 1970 at the clock's 0; 0: unknown */
    struct go_cpu {   /* CPU samples by stack */
        int64_t stack, count;
    } * cpu;
    size_t cpu_count;
    struct map cpu_index;
    uint64_t events, out_of_order; /* out_of_order: taken though what comes before them was not there */
};

/* ---- go_tables.c ---- */

/* Adds what is in a batch that has no events of threads. 1: it was one; 0: it is one of events; -1. */
int go_read_table(struct go_reader *reader, const struct go_batch *batch, struct error *err);
const char *go_string(struct go_reader *reader, uint64_t id); /* never NULL */
/* The stack, or an empty one where the generation has none of that id; NULL: the error is set. Valid until the next call. */
const struct go_stack *go_stack(struct go_reader *reader, uint64_t id, struct error *err);
/* The ticks as ns; -1 with the error set where 63 bits do not hold them. */
int64_t go_time(struct go_reader *reader, uint64_t ticks, struct error *err);
void go_generation_free(struct go_generation *generation);

/* ---- go_order.c ---- */

/* The events of the generation's threads, in order, to go_take. */
int go_read_events(struct go_reader *reader, struct error *err);

/* ---- go_states.c ---- */

struct goroutine *go_goroutine(struct go_reader *reader, uint64_t id); /* valid until the next new one */
/* Whether what must come before the event has been taken. If not, *goroutine and *sequence say what it waits for. */
bool go_is_ready(struct go_reader *reader, const struct go_event *event, uint64_t *goroutine, uint64_t *sequence);
int go_take(struct go_reader *reader, const struct go_event *event, struct error *err);
/* What lasts at the end of the trace. */
void go_finish(struct go_reader *reader);

/* ---- go_marks.c: what the program and the collector of garbage say of themselves ---- */

/* `goroutine` runs on the thread that wrote it; NULL: none. */
int go_take_mark(struct go_reader *reader, const struct go_event *event, struct goroutine *goroutine,
                 struct error *err);
void go_finish_marks(struct go_reader *reader);
/* Of the generation. They count as 10 ms each, because the trace does not say how often they are taken. */
int go_take_samples(struct go_reader *reader, struct error *err);

#endif
