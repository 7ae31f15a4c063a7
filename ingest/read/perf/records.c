#include "ingest/read/perf/records.h"

#include <inttypes.h>
#include <stdio.h>

/* perf_event_attr.sample_type. The order of the fields in a record is not the order of the bits. */
enum {
    SAMPLE_IP = 1 << 0,
    SAMPLE_TID = 1 << 1,
    SAMPLE_TIME = 1 << 2,
    SAMPLE_ADDR = 1 << 3,
    SAMPLE_READ = 1 << 4,
    SAMPLE_CALLCHAIN = 1 << 5,
    SAMPLE_ID = 1 << 6,
    SAMPLE_CPU = 1 << 7,
    SAMPLE_PERIOD = 1 << 8,
    SAMPLE_STREAM_ID = 1 << 9,
    SAMPLE_RAW = 1 << 10,
    SAMPLE_BRANCH_STACK = 1 << 11,
    SAMPLE_REGS_USER = 1 << 12,
    SAMPLE_STACK_USER = 1 << 13,
    SAMPLE_WEIGHT = 1 << 14,
    SAMPLE_DATA_SRC = 1 << 15,
    SAMPLE_IDENTIFIER = 1 << 16,
    SAMPLE_TRANSACTION = 1 << 17,
    SAMPLE_REGS_INTR = 1 << 18,
    SAMPLE_PHYS_ADDR = 1 << 19,
    SAMPLE_AUX = 1 << 20,
    SAMPLE_CGROUP = 1 << 21,
    SAMPLE_DATA_PAGE_SIZE = 1 << 22,
    SAMPLE_CODE_PAGE_SIZE = 1 << 23,
    SAMPLE_WEIGHT_STRUCT = 1 << 24,
};
enum {
    READ_TIME_ENABLED = 1 << 0,
    READ_TIME_RUNNING = 1 << 1,
    READ_ID = 1 << 2,
    READ_GROUP = 1 << 3,
    READ_LOST = 1 << 4,
};
enum { BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19 };
enum {
    ATTR_EXCLUDE_USER = 1 << 4,
    ATTR_EXCLUDE_KERNEL = 1 << 5,
    ATTR_FREQUENCY = 1 << 10,
    ATTR_SAMPLE_ID_ALL = 1 << 18,
    ATTR_CONTEXT_SWITCH = 1 << 26,
};
enum {
    MISC_MODE = 7,
    MISC_MMAP_DATA = 1 << 13,
    MISC_MMAP_BUILD_ID = 1 << 14,
};
enum { PROT_EXECUTE = 4, BUILD_ID_MAX = 20 };
enum { TYPE_SOFTWARE = 1, SOFTWARE_SWITCHES = 3 };

struct perf_record perf_record_at(const unsigned char *at) {
    struct bytes header = {at, PERF_RECORD_HEADER, false};
    struct perf_record record = {.type = bytes_u32(&header)};
    record.misc = bytes_u16(&header);
    record.size = bytes_u16(&header);
    size_t body = record.size > PERF_RECORD_HEADER ? record.size - (size_t)PERF_RECORD_HEADER : 0;
    record.body = (struct bytes){at + PERF_RECORD_HEADER, body, false};
    return record;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

const char *perf_event_make_name(struct arena *arena, uint32_t type, uint64_t config, uint64_t flags) {
    static const char *const hardware[] = {
        "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
        "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
    static const char *const software[] = {"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
                                           "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
                                           "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
    const char *known = NULL;
    if (type == 0 && config < sizeof hardware / sizeof *hardware) known = hardware[config];
    if (type == 1 && config < sizeof software / sizeof *software) known = software[config];
    const char *suffix = "";
    if (flags & ATTR_EXCLUDE_KERNEL) suffix = ":u";
    if (flags & ATTR_EXCLUDE_USER) suffix = ":k";
    char name[64];
    int size = known ? snprintf(name, sizeof name, "%s%s", known, suffix)
                     : snprintf(name, sizeof name, "event %" PRIu32 ":0x%" PRIx64 "%s", type, config, suffix);
    return arena_text(arena, name, (size_t)size);
}

void perf_event_decode(struct perf_event *event, struct bytes attr) {
    event->type = bytes_u32(&attr);
    bytes_u32(&attr); /* size */
    event->config = bytes_u64(&attr);
    uint64_t rate = bytes_u64(&attr);
    event->sample_type = bytes_u64(&attr);
    event->read_format = bytes_u64(&attr);
    event->flags = bytes_u64(&attr);
    bytes_take(&attr, 4 + 4 + 8 + 8); /* wakeup, breakpoint type, config1, config2 */
    event->branch_sample_type = bytes_u64(&attr);
    event->regs_user = bytes_u64(&attr);
    bytes_take(&attr, 4 + 4); /* stack size, clock id */
    event->regs_intr = bytes_u64(&attr);
    event->has_sample_id = event->flags & ATTR_SAMPLE_ID_ALL;
    event->has_switches =
        event->type == TYPE_SOFTWARE && event->config == SOFTWARE_SWITCHES && event->flags & ATTR_CONTEXT_SWITCH;
    *(event->flags & ATTR_FREQUENCY ? &event->frequency : &event->period) = rate;
}

/* ---- where id and time stand ------------------------------------------------------------------------------------- */

/* The number of fields in `mask` that a record of that sample type has. */
static size_t fields(uint64_t sample_type, uint64_t mask) {
    return (size_t)__builtin_popcountll(sample_type & mask);
}

static uint64_t word_from_start(const struct bytes *body, size_t index) {
    return (index + 1) * 8 <= body->left ? words_at(body->at, index) : 0;
}

static uint64_t word_from_end(const struct bytes *body, size_t index) {
    return (index + 1) * 8 <= body->left ? words_at(body->at + body->left - (index + 1) * 8, 0) : 0;
}

uint64_t perf_record_id(const struct perf_event *layout, const struct perf_record *record) {
    uint64_t type = layout->sample_type;
    if (!(type & (SAMPLE_IDENTIFIER | SAMPLE_ID))) return 0;
    if (record->type == PERF_RECORD_SAMPLE) {
        if (type & SAMPLE_IDENTIFIER) return word_from_start(&record->body, 0);
        return word_from_start(&record->body, fields(type, SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR));
    }
    if (!layout->has_sample_id) return 0;
    if (type & SAMPLE_IDENTIFIER) return word_from_end(&record->body, 0);
    return word_from_end(&record->body, fields(type, SAMPLE_STREAM_ID | SAMPLE_CPU));
}

uint64_t perf_record_time(const struct perf_event *layout, const struct perf_record *record) {
    uint64_t type = layout->sample_type;
    if (!(type & SAMPLE_TIME)) return 0;
    if (record->type == PERF_RECORD_SAMPLE)
        return word_from_start(&record->body, fields(type, SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID));
    if (!layout->has_sample_id) return 0;
    return word_from_end(&record->body, fields(type, SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER));
}

uint32_t perf_record_thread(const struct perf_event *layout, const struct perf_record *record) {
    uint64_t type = layout->sample_type;
    if (!layout->has_sample_id || !(type & SAMPLE_TID)) return UINT32_MAX;
    const uint64_t behind = SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER;
    return (uint32_t)(word_from_end(&record->body, fields(type, behind)) >> 32);
}

void perf_record_trim(const struct perf_event *layout, struct perf_record *record) {
    if (!layout->has_sample_id) return;
    size_t trailing = 8 * fields(layout->sample_type, SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID |
                                                          SAMPLE_CPU | SAMPLE_IDENTIFIER);
    record->body.left -= trailing < record->body.left ? trailing : record->body.left;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static void take_read(const struct perf_event *event, struct bytes *body, struct perf_read *read) {
    uint64_t format = event->read_format;
    size_t times = fields(format, READ_TIME_ENABLED | READ_TIME_RUNNING);
    read->has_ids = format & READ_ID;
    read->stride = 1 + fields(format, READ_ID | READ_LOST);
    if (format & READ_GROUP) {
        read->count = bytes_u64(body);
        bytes_words(body, times);
        if (read->count > body->left / 8) read->count = UINT64_MAX / read->stride; /* too many: fails below */
        read->values = bytes_words(body, read->count * read->stride);
    } else {
        read->count = 1;
        /* Of a single counter, the times are between value and id. */
        const unsigned char *value = bytes_words(body, 1);
        bytes_words(body, times);
        const unsigned char *id = bytes_words(body, read->stride - 1);
        read->values = value;
        read->lone_id = id && read->has_ids ? words_at(id, 0) : 0;
    }
    if (!read->values) read->count = 0;
}

static const unsigned char *take_registers(struct bytes *body, uint64_t mask) {
    uint64_t abi = bytes_u64(body);
    return abi ? bytes_words(body, (uint64_t)__builtin_popcountll(mask)) : NULL;
}

static void take_stack(struct bytes *body, struct perf_data_sample *sample) {
    uint64_t size = bytes_u64(body);
    if (!size) return;
    sample->stack = bytes_take(body, size);
    uint64_t used = bytes_u64(body);
    if (sample->stack) sample->stack_size = used < size ? used : size;
}

static void take_branches(const struct perf_event *event, struct bytes *body) {
    uint64_t count = bytes_u64(body), words = 3 + (event->branch_sample_type & BRANCH_COUNTERS ? 1 : 0);
    if (event->branch_sample_type & BRANCH_HW_INDEX) bytes_u64(body);
    bytes_words(body, count > body->left / 8 ? UINT64_MAX : count * words);
}

/* The fields before the call chain. All have fixed sizes, except PERF_SAMPLE_READ. */
static void take_head(const struct perf_event *event, struct bytes *body, struct perf_data_sample *sample,
                      struct perf_read *read) {
    uint64_t type = event->sample_type;
    if (type & SAMPLE_IDENTIFIER) bytes_u64(body);
    if (type & SAMPLE_IP) sample->ip = bytes_u64(body);
    if (type & SAMPLE_TID) {
        sample->pid = bytes_u32(body);
        sample->tid = bytes_u32(body);
    }
    if (type & SAMPLE_TIME) sample->time = bytes_u64(body);
    if (type & SAMPLE_ADDR) sample->address = bytes_u64(body);
    bytes_words(body, fields(type, SAMPLE_ID | SAMPLE_STREAM_ID));
    if (type & SAMPLE_CPU) {
        sample->cpu = bytes_u32(body);
        bytes_u32(body);
    }
    sample->period = type & SAMPLE_PERIOD ? bytes_u64(body) : event->period;
    if (type & SAMPLE_READ) take_read(event, body, read);
}

bool perf_sample_decode(const struct perf_event *event, const struct perf_record *record,
                        struct perf_data_sample *sample, struct perf_read *read) {
    struct bytes body = record->body;
    uint64_t type = event->sample_type;
    *sample = (struct perf_data_sample){.event = event, .mode = record->misc & MISC_MODE};
    *read = (struct perf_read){0};
    take_head(event, &body, sample, read);
    if (type & SAMPLE_CALLCHAIN) {
        uint64_t count = bytes_u64(&body);
        sample->chain = bytes_words(&body, count);
        sample->chain_count = sample->chain ? (size_t)count : 0;
    }
    if (type & SAMPLE_RAW) bytes_take(&body, bytes_u32(&body));
    if (type & SAMPLE_BRANCH_STACK) take_branches(event, &body);
    if (type & SAMPLE_REGS_USER) {
        sample->regs = take_registers(&body, event->regs_user);
        sample->regs_mask = event->regs_user;
    }
    if (type & SAMPLE_STACK_USER) take_stack(&body, sample);
    if (type & SAMPLE_WEIGHT) sample->weight = bytes_u64(&body);
    if (type & SAMPLE_WEIGHT_STRUCT)
        sample->weight = bytes_u64(&body) & UINT32_MAX; /* the other half are weights of other kinds */
    if (type & SAMPLE_DATA_SRC) sample->data_source = bytes_u64(&body);
    if (type & SAMPLE_TRANSACTION) bytes_u64(&body);
    if (type & SAMPLE_REGS_INTR) take_registers(&body, event->regs_intr);
    bytes_words(&body, fields(type, SAMPLE_PHYS_ADDR | SAMPLE_CGROUP | SAMPLE_DATA_PAGE_SIZE | SAMPLE_CODE_PAGE_SIZE));
    if (type & SAMPLE_AUX) bytes_take(&body, bytes_u64(&body));
    return !body.is_short;
}

/* ---- mappings ---------------------------------------------------------------------------------------------------- */

bool perf_mmap_decode(const struct perf_record *record, struct perf_data_mmap *mmap) {
    struct bytes body = record->body;
    *mmap = (struct perf_data_mmap){.mode = record->misc & MISC_MODE, .is_data = record->misc & MISC_MMAP_DATA};
    mmap->pid = bytes_u32(&body);
    bytes_u32(&body); /* tid */
    mmap->start = bytes_u64(&body);
    mmap->size = bytes_u64(&body);
    mmap->file_offset = bytes_u64(&body);
    if (record->type == PERF_RECORD_MMAP2) {
        const unsigned char *identity = bytes_take(&body, 24); /* device and inode, or a build id */
        if (identity && record->misc & MISC_MMAP_BUILD_ID) {
            mmap->build_id_size = identity[0] <= BUILD_ID_MAX ? identity[0] : BUILD_ID_MAX;
            mmap->build_id = identity + 4;
        }
        uint32_t protection = bytes_u32(&body);
        bytes_u32(&body); /* flags */
        if (!(protection & PROT_EXECUTE) && protection) mmap->is_data = true;
    }
    mmap->path = bytes_text(&body, &mmap->path_size);
    return !body.is_short && mmap->size <= UINT64_MAX - mmap->start;
}
