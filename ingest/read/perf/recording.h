/* recording.h: a perf.data file as sums: the samples of each (event, stack, thread, name of it, mode).
 *
 * A stack is a list of frames, and a frame is (image, address in it), so a program that ran a thousand times at
 * different addresses is there once. Frames get no names here, because in the form for pipes build ids come after the
 * samples. Memory is bounded by the distinct stacks, not by the samples; where samples have the addresses of data, also by these. */
#ifndef CLEAR_INGEST_READ_PERF_RECORDING_H
#define CLEAR_INGEST_READ_PERF_RECORDING_H

#include "base/buffer.h"
#include "ingest/read/perf/cache_lines.h"
#include "ingest/read/perf/perf_data.h"
#include "ingest/read/perf/process_maps.h"

struct perf_unwinder;

struct perf_frame {
    uint32_t image, unused;
    /* Offset in the file; run-time address for IMAGE_NONE and BPF functions; for the kernel the offset from its symbol.
     * Of a caller it is inside the call instruction. */
    uint64_t address;
};

struct perf_row {
    uint32_t event, stack, comm, tid, mode; /* mode: enum perf_mode */
    uint64_t samples, value;                /* value: sum of the periods */
    uint64_t
        away; /* ns until the thread ran again, of an event with switches; a switch that stands for N counts N times */
};

/* A thread that does not run. */
struct perf_away {
    uint64_t since, weight; /* weight: the switches that its sample stands for; 0: it runs */
    size_t row;
};

/* Which frame an address was: stacks that follow each other have most frames in common. */
struct perf_recent {
    uint64_t address, version, kernel_version; /* versions: of the spaces that it was looked up in */
    uint32_t number;
    uint8_t mode;
    bool is_call, is_set;
};

enum { PERF_RECENT_FRAMES = 1024 };

struct perf_recording {
    struct perf_data_facts facts;
    struct perf_spaces spaces;
    struct map comms;                              /* name -> nothing: entry 0 is "" */
    struct map threads;                            /* tid -> index of its name in comms */
    struct map frames;                             /* struct perf_frame -> nothing; the entry's index is its number */
    struct perf_recent recent[PERF_RECENT_FRAMES]; /* by the lowest bits of the address */
    struct map stacks;                             /* uint32_t[] numbers of frames, leaf first -> nothing */
    struct map raw; /* bytes of a sample's stack and the version of its spaces -> stack; most samples are found here */
    struct map row_index;
    struct perf_row *rows;
    size_t row_count, row_capacity;
    struct map away_of; /* tid -> index in `away` */
    struct perf_away *away;
    size_t away_capacity;
    uint64_t *truncated; /* by event: stacks cut by the kernel's limit of depth or by the size of the copied stack */
    size_t truncated_count;
    struct perf_lines lines; /* of samples of memory accesses */
    struct buffer key;       /* room to put keys together */
    uint32_t *stack;         /* the frames of the current stack */
    size_t depth, capacity;
    struct perf_unwinder *unwinder; /* NULL before the first sample with a copy of its stack */
    void (*progress)(void *context, uint64_t samples);
    void *progress_context;
};

/* Zero *recording before; perf_recording_free it, also after an error. */
int perf_recording_read(struct perf_recording *recording, const void *data, size_t size, struct error *err);
void perf_recording_free(struct perf_recording *recording);

static inline const struct perf_frame *perf_recording_frame(const struct perf_recording *recording, uint32_t number) {
    return recording->frames.entries[number].key;
}

/* current_stack.c: adds a frame to the current stack. `is_call`: the address is a return address. */
void perf_recording_push(struct perf_recording *recording, const struct perf_space *space, enum perf_mode mode,
                         uint64_t address, bool is_call);

#endif
