/* recording.h: sound recordings that fuzzers damage: a segment with every kind of chunk, or with those of some kinds, and the files beside it. */
#ifndef CLEAR_FUZZ_RECORDING_H
#define CLEAR_FUZZ_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/record/recording_note.h"
#include "ingest/segment.h"

#define FUZZ_RECORDING_FEATURES                                                                                        \
    (FEATURE_HEAP | FEATURE_LOCKS | FEATURE_CELLS | FEATURE_CHANNELS | FEATURE_FIBERS | FEATURE_CPU | FEATURE_LEAKS |  \
     FEATURE_IO | FEATURE_LIFETIMES | FEATURE_MMAP | FEATURE_TRACE | FEATURE_WALL)

struct fuzz_recording {
    const char *segment; /* its header is a struct segment */
    size_t segment_size;
    const char *run; /* run.json */
    struct recording_note note;
    struct control control;
};

/* What it has besides modules, stacks, objects and threads. */
enum fuzz_recorded {
    FUZZ_WHOLE,   /* all */
    FUZZ_HEAP,    /* blocks and mappings */
    FUZZ_OBJECTS, /* locks, cells, channels and other waits */
    FUZZ_TIMES,   /* CPU samples, calls of input and output, threads, fibers and events */
    FUZZ_RECORDINGS
};

/* Made by the first call. It ends with the process. */
const struct fuzz_recording *fuzz_recording(enum fuzz_recorded which);

#endif
