/* perf_data_recording.h: a perf.data file as sums: how often each (event, stack, thread name) was met.
 *
 * Stacks are lists of frames, frames are (image, address in it): addresses of processes are gone, so a program that ran
 * a thousand times is there once. Nothing is named yet: in a pipe the build ids come after the samples. Memory is bounded
 * by the distinct stacks, not by the samples. */
#ifndef CLEAR_INGEST_READ_PERF_RECORDING_H
#define CLEAR_INGEST_READ_PERF_RECORDING_H

#include "base/buffer.h"
#include "ingest/read/perf/perf_data.h"
#include "ingest/read/perf/process_maps.h"

struct perf_unwinder;

struct perf_frame {
    uint32_t image, unused;
    uint64_t address; /* offset in the file; for IMAGE_NONE and functions at run time; for the kernel from its symbol.
                         Of the call itself where it is a caller. */
};

struct perf_row {
    uint32_t event, stack, comm;
    uint64_t samples, value; /* value: sum of the periods */
};

struct perf_recording {
    struct perf_data_facts facts;
    struct perf_spaces spaces;
    struct map comms;   /* name -> nothing: entry 0 is "" */
    struct map threads; /* tid -> index of its name in comms */
    struct map frames;  /* struct perf_frame -> nothing; the entry's index is its number */
    struct map stacks;  /* uint32_t[] numbers of frames, leaf first -> nothing */
    struct map raw;     /* what a sample says, and the version of its spaces -> stack: most samples end here */
    struct map row_index;
    struct perf_row *rows;
    size_t row_count, row_capacity;
    uint64_t *truncated; /* stacks deeper than the kernel goes or the copy of the stack is, by event */
    size_t truncated_count;
    struct buffer key; /* room to put keys together */
    uint32_t *stack;   /* and the frames of one stack */
    size_t depth, capacity;
    struct perf_unwinder *unwinder; /* made at the first sample with a copy of its stack */
    void (*progress)(void *context, uint64_t samples);
    void *progress_context;
};

/* Zeroed before, perf_recording_free after, also after an error. */
int perf_recording_read(struct perf_recording *recording, const void *data, size_t size, struct error *err);
void perf_recording_free(struct perf_recording *recording);

static inline const struct perf_frame *perf_recording_frame(const struct perf_recording *recording, uint32_t number) {
    return recording->frames.entries[number].key;
}

/* Adds a frame to the stack that is put together. `is_call`: the address is where a call returns to. */
void perf_recording_push(struct perf_recording *recording, const struct perf_space *space, enum perf_mode mode,
                         uint64_t address, bool is_call);

#endif
