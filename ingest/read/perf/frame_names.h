/* frame_names.h: turns the frames and stacks of a perf recording into locations and traces of the warehouse. Each frame
 * is resolved once, and the symbolizer is asked only if the warehouse has no location of its build id and address. */
#ifndef CLEAR_INGEST_READ_PERF_FRAME_NAMES_H
#define CLEAR_INGEST_READ_PERF_FRAME_NAMES_H

#include "base/elf_file.h"
#include "ingest/read/ingest.h"
#include "ingest/read/perf/kernel.h"
#include "ingest/read/perf/recording.h"
#include "ingest/symbols/jit_names.h"
#include "ingest/symbols/symbolize.h"
#include "ingest/writer/row_writer.h"

struct perf_named_image {
    bool is_opened;
    const char *path, *build_id; /* path: of the file on this machine */
    struct elf_code elf;
    struct symbolizer_module *module;
    struct perf_mapping {
        uint64_t start, limit;
        int64_t id;
    } * mappings;
    size_t mapping_count;
};

struct perf_named_frame {
    int64_t location_id, mapping_id; /* location 0: not resolved yet */
};

struct perf_names {
    struct perf_recording *recording;
    struct row_writer *writer;
    struct symbolizer *symbolizer;
    struct perf_named_image *images;
    struct perf_named_frame *frames; /* by number */
    int64_t *traces;                 /* by number of the stack; 0: not resolved yet */
    struct jit_names jit;            /* of the last process that needed them */
    bool is_ours;                    /* the recording is of this clear, of processes that may still run */
    struct perf_kernel kernel;
    bool is_kernel_read;
    struct arena texts;
    struct map label_sets; /* name, thread and mode of a row -> its label set */
};

/* Call it after the whole recording is read. */
void perf_names_open(struct perf_names *names, struct perf_recording *recording, struct ingest *ingest);
/* Stores the transpiled sources of the code that was resolved. */
int perf_names_store_sources(struct perf_names *names, struct ingest *ingest, struct error *err);
void perf_names_close(struct perf_names *names);
int64_t perf_names_trace(struct perf_names *names, uint32_t stack, struct error *err);
/* The mappings of the stacks of an event, programs first. Call it when every stack has its trace. Returns their number;
 * free(*ids). */
size_t perf_names_mappings(struct perf_names *names, uint32_t event, int64_t **ids);
/* The global variable at a place, or NULL. It belongs to the names. */
const char *perf_names_variable(struct perf_names *names, const struct perf_data_place *place);

#endif
