/* perf_data_names.h: from the frames and stacks of a perf recording to locations and traces of the warehouse.
 * Each frame is named once, and asked of the symbolizer only where the warehouse does not know its build id and address. */
#ifndef CLEAR_INGEST_READ_PERF_FRAME_NAMES_H
#define CLEAR_INGEST_READ_PERF_FRAME_NAMES_H

#include "ingest/read/ingest.h"
#include "ingest/read/perf/elf.h"
#include "ingest/read/perf/kernel.h"
#include "ingest/read/perf/recording.h"
#include "ingest/store/store.h"
#include "ingest/symbols/symbolize.h"

struct perf_named_image {
    bool is_opened;
    const char *path, *build_id; /* path: where the file is found now */
    struct perf_elf elf;
    struct symbolizer_module *module;
    struct perf_mapping {
        uint64_t start, limit;
        int64_t id;
    } * mappings;
    size_t mapping_count;
};

struct perf_named_frame {
    int64_t location_id, mapping_id; /* location 0: not yet */
};

struct perf_names {
    struct perf_recording *recording;
    struct store *store;
    struct symbolizer *symbolizer;
    struct perf_named_image *images;
    struct perf_named_frame *frames; /* by number */
    int64_t *traces;                 /* by number of the stack; 0: not yet */
    struct perf_kernel kernel;
    bool is_kernel_read;
    struct arena texts;
};

/* After the recording is read whole. */
void perf_names_open(struct perf_names *names, struct perf_recording *recording, struct ingest *ingest);
/* The sources of the code that was met, into the table of that name. */
int perf_names_store_sources(struct perf_names *names, struct ingest *ingest, struct error *err);
void perf_names_close(struct perf_names *names);
int64_t perf_names_trace(struct perf_names *names, uint32_t stack, struct error *err);
/* The mappings that the stacks of an event touch, files that were started as programs first. Call it when every stack has its
 * trace. *ids is the caller's to free. */
size_t perf_names_mappings(struct perf_names *names, uint32_t event, int64_t **ids);

#endif
