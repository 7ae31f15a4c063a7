#include "ingest/shim/locks/joins.h"

#include "ingest/shim/core/locked_table.h"
#include "ingest/shim/events/trace.h"

/* pthread_t -> the kernel's id, and whether the thread has ended. */
static void note(bool has_ended) {
    struct table_entry old, entry = {.key = (uint64_t)pthread_self(),
                                     .first = is_sealed() ? 0 : (uint64_t)trace_own_tid(),
                                     .second = has_ended};
    struct locked_table *shard = traces(TRACE_WAIT) ? table_shard_made(&process->joined, entry.key) : NULL;
    if (shard) table_put(shard, entry, &old);
}

void join_begins(void) {
    note(false);
}

void join_ends(void) {
    note(true);
}

/* A thread that has just got the id of the one that was joined has not ended. */
int32_t join_thread(pthread_t id, bool has_ended) {
    struct table_entry entry;
    struct locked_table *shard = table_shard_made(&process->joined, (uint64_t)id);
    if (!shard || !table_find(shard, (uint64_t)id, &entry) || (has_ended && !entry.second)) return 0;
    if (has_ended) table_take(shard, (uint64_t)id, &entry);
    return (int32_t)entry.first;
}
