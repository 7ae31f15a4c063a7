/* records.h: the fields of one record of a perf.data file. For perf_data.c alone.
 * A record is a header of 8 bytes (type, misc, size) and a body; the caller checks that `size` bytes are there. */
#ifndef CLEAR_INGEST_READ_PERF_RECORDS_H
#define CLEAR_INGEST_READ_PERF_RECORDS_H

#include "ingest/read/perf/bytes.h"
#include "ingest/read/perf/perf_data.h"

/* Types from 64 on are perf's own. */
enum perf_record_type {
    PERF_RECORD_MMAP = 1,
    PERF_RECORD_LOST = 2,
    PERF_RECORD_COMM = 3,
    PERF_RECORD_EXIT = 4,
    PERF_RECORD_FORK = 7,
    PERF_RECORD_SAMPLE = 9,
    PERF_RECORD_MMAP2 = 10,
    PERF_RECORD_LOST_SAMPLES = 13,
    PERF_RECORD_SWITCH = 14,
    PERF_RECORD_KSYMBOL = 17,
    PERF_RECORD_USER = 64,
    PERF_RECORD_HEADER_ATTR = 64,
    PERF_RECORD_HEADER_TRACING_DATA = 66,
    PERF_RECORD_HEADER_BUILD_ID = 67,
    PERF_RECORD_FINISHED_ROUND = 68,
    PERF_RECORD_AUXTRACE = 71,
    PERF_RECORD_EVENT_UPDATE = 78,
    PERF_RECORD_HEADER_FEATURE = 80,
    PERF_RECORD_COMPRESSED = 81,
    PERF_RECORD_COMPRESSED2 = 83,
};

enum { PERF_RECORD_HEADER = 8 };

struct perf_record {
    uint32_t type;
    uint16_t misc, size;
    struct bytes body;
};

/* The record at `at`, whose `size` the caller has checked. */
struct perf_record perf_record_at(const unsigned char *at);

/* Reads the fields of perf_event_attr that are there. */
void perf_event_decode(struct perf_event *event, struct bytes attr);
/* A name where the file has none: "cycles:u", "raw 0x1c0". It belongs to the arena. */
const char *perf_event_make_name(struct arena *arena, uint32_t type, uint64_t config, uint64_t flags);

/* Id and time of a record with the layout of that event; 0: it has none. */
uint64_t perf_record_id(const struct perf_event *layout, const struct perf_record *record);
uint64_t perf_record_time(const struct perf_event *layout, const struct perf_record *record);
/* The thread of a record that is no sample, by what stands at its end; UINT32_MAX: unknown. */
uint32_t perf_record_thread(const struct perf_event *layout, const struct perf_record *record);
/* Removes the sample id at the end of the body of a record that is not a sample. */
void perf_record_trim(const struct perf_event *layout, struct perf_record *record);

/* The counters of PERF_SAMPLE_READ: those of a group, or one. */
struct perf_read {
    uint64_t count; /* of values, 0 where the event reads none */
    bool has_ids;
    size_t stride; /* words from one value to the next; in a group the id is word 1 */
    const unsigned char *values;
    uint64_t lone_id; /* where there is one value outside of a group, its id */
};

/* False where the fields do not fit in the record. */
bool perf_sample_decode(const struct perf_event *event, const struct perf_record *record,
                        struct perf_data_sample *sample, struct perf_read *read);
bool perf_mmap_decode(const struct perf_record *record, struct perf_data_mmap *mmap);

#endif
