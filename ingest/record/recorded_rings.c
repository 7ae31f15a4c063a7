#include "ingest/record/recorded_rings.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"

struct ring_saving {
    struct recorded *recorded;
    struct segment_view *view;
    size_t room;
};

static void on_chunk_to_save(void *context, size_t offset, uint64_t turn, uint64_t count) {
    struct ring_saving *saving = context;
    struct event_chunk *chunk = recorded_event_chunk(saving->recorded, offset, turn, count);
    saving->room += SEGMENT_EVENTS - event_chunk_first_new(chunk);
}

/* The chunk may be on another turn now than when the room was made: what does not fit is left for the next flush. */
static void save_chunk(void *context, size_t offset, uint64_t turn, uint64_t count) {
    struct ring_saving *saving = context;
    struct recorded *recorded = saving->recorded;
    struct event_chunk *chunk = recorded_event_chunk(recorded, offset, turn, count);
    uint64_t from = event_chunk_first_new(chunk);
    size_t fresh = turn % 2 == 0 && count > from ? (size_t)(count - from) : 0;
    size_t left = recorded->rings_room - recorded->rings_count;
    chunk->saved_at = recorded->rings_count;
    chunk->saved = segment_view_events(saving->view, offset, turn, from, fresh < left ? fresh : left,
                                       recorded->rings + chunk->saved_at);
    recorded->rings_count += chunk->saved;
}

/* Memory that is there: a page fault for every 100 events would take longer than their copy. */
static struct segment_event *room_for(size_t count) {
    size_t size = (count + 1) * sizeof(struct segment_event), page = (size_t)sysconf(_SC_PAGESIZE);
    char *room = xmalloc(size);
    uintptr_t first = ((uintptr_t)room + page - 1) / page * page, end = ((uintptr_t)room + size) / page * page;
    if (end > first) madvise((void *)first, end - first, MADV_POPULATE_WRITE); /* Linux 5.14; else they fault */
    return (void *)room;
}

void recorded_save_rings(struct recorded *recorded, struct segment_view *view) {
    static const struct segment_visitor sizes = {.event_chunk = on_chunk_to_save}, rings = {.event_chunk = save_chunk};
    struct ring_saving saving = {.recorded = recorded, .view = view};
    recorded->event_chunk_index = 0;
    segment_view_walk(view, &sizes, &saving);
    recorded_forget_rings(recorded);
    recorded->rings = room_for(saving.room);
    recorded->rings_room = saving.room;
    recorded->dropped_events = atomic_load_explicit(&view->head.dropped_events, memory_order_relaxed);
    recorded->event_chunk_index = 0;
    segment_view_walk(view, &rings, &saving);
    recorded->is_corrupt |= view->corrupt;
}

void recorded_forget_rings(struct recorded *recorded) {
    free(recorded->rings);
    recorded->rings = NULL;
    recorded->rings_count = recorded->rings_room = 0;
    for (size_t i = 0; i < recorded->event_chunk_count; i++) /* a damaged segment may have fewer chunks than before */
        recorded->event_chunks[i].saved = 0;
}
