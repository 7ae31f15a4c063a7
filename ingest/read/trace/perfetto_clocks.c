#include "ingest/read/trace/perfetto_clocks.h"

#include <stdlib.h>

#include "base/perfetto_proto.h"
#include "ingest/read/trace/keyed_list.h"

/* A clock of a sequence counts from a snapshot, mostly in steps from packet to packet. */
struct sequence_clock {
    int64_t base_ns, trace_ns, unit_ns;
    bool is_incremental;
};

static struct sequence_clock *clock_of(struct perfetto_clocks *clocks, uint64_t sequence_id, uint64_t clock) {
    const uint64_t key[] = {sequence_id, clock};
    return keyed_list_entry(&clocks->index, key, sizeof key, (void **)&clocks->list, sizeof *clocks->list);
}

void perfetto_clocks_free(struct perfetto_clocks *clocks) {
    map_free(&clocks->index);
    free(clocks->list);
    *clocks = (struct perfetto_clocks){0};
}

struct clock_reading {
    uint64_t id;
    struct sequence_clock clock;
};

static int read_clock(struct wire wire, struct clock_reading *reading) {
    struct wire_field field;
    enum wire_state state;
    *reading = (struct clock_reading){.clock.unit_ns = 1};
    while ((state = wire_next(&wire, &field)) == WIRE_OK) {
        if (field.type != WIRE_VARINT) continue;
        if (field.number == CLOCK_ID) reading->id = field.value;
        if (field.number == CLOCK_TIME) reading->clock.base_ns = (int64_t)field.value;
        if (field.number == CLOCK_IS_INCREMENTAL) reading->clock.is_incremental = field.value;
        if (field.number == CLOCK_UNIT_NS && field.value && field.value <= 1000000000)
            reading->clock.unit_ns = (int64_t)field.value;
    }
    return state;
}

int perfetto_clocks_read(struct perfetto_clocks *clocks, uint64_t sequence_id, struct wire snapshot) {
    enum { CLOCKS_MAX = 16 };
    struct clock_reading readings[CLOCKS_MAX];
    struct wire wire = snapshot;
    struct wire_field field;
    enum wire_state state;
    size_t count = 0;
    int64_t trace_ns = 0;
    while ((state = wire_next(&wire, &field)) == WIRE_OK) {
        if (field.number != SNAPSHOT_CLOCK || field.type != WIRE_BYTES || count == CLOCKS_MAX) continue;
        if ((state = read_clock(field.bytes, &readings[count])) != WIRE_END) return state;
        if (readings[count].id == CLOCK_BOOTTIME_ID) trace_ns = readings[count].clock.base_ns;
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        struct sequence_clock *clock = &readings[i].clock;
        if (readings[i].id == CLOCK_REALTIME_ID && !clocks->epoch_ns &&
            __builtin_sub_overflow(clock->base_ns, trace_ns, &clocks->epoch_ns))
            clocks->epoch_ns = 0;
        if (readings[i].id < CLOCKS_OF_SEQUENCES) continue;
        if (__builtin_mul_overflow(clock->base_ns, clock->unit_ns, &clock->base_ns)) clock->base_ns = 0;
        clock->trace_ns = trace_ns;
        *clock_of(clocks, sequence_id, readings[i].id) = *clock;
    }
    return state;
}

bool perfetto_clocks_take(struct perfetto_clocks *clocks, uint64_t sequence_id, uint64_t clock_id, uint64_t timestamp,
                          int64_t *ns) {
    if (timestamp > INT64_MAX) return false;
    *ns = (int64_t)timestamp;
    if (clock_id < CLOCKS_OF_SEQUENCES) return true;
    struct sequence_clock *clock = clock_of(clocks, sequence_id, clock_id);
    if (!clock->unit_ns) clock->unit_ns = 1;
    if (__builtin_mul_overflow(*ns, clock->unit_ns, ns)) return false;
    if (clock->is_incremental && __builtin_add_overflow(*ns, clock->base_ns, ns)) return false;
    int64_t since, before = clock->base_ns;
    if (clock->is_incremental) {
        /* From packet to packet: both clocks go on by the same. */
        if (__builtin_sub_overflow(*ns, before, &since) ||
            __builtin_add_overflow(clock->trace_ns, since, &clock->trace_ns))
            return false;
        clock->base_ns = *ns;
        *ns = clock->trace_ns;
        return true;
    }
    return !__builtin_sub_overflow(*ns, before, &since) && !__builtin_add_overflow(clock->trace_ns, since, ns);
}
