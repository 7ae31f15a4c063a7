#include "ingest/record/wait_circles.h"

#include <pthread.h>
#include <sys/uio.h>

#include "base/map.h"
#include "ingest/segment.h"

static uint32_t read_owner(pid_t pid, uint64_t address) {
    int32_t owner = 0;
    struct iovec here = {&owner, sizeof owner}, there = {(void *)(uintptr_t)address, sizeof owner};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof owner && owner > 0 ? (uint32_t)owner : 0;
}

void wait_circles_look(pid_t pid, struct circle_wait *waits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        waits[i].owner = 0;
        if (waits[i].kind == OBJECT_MUTEX)
            waits[i].owner = read_owner(pid, waits[i].lock + offsetof(pthread_mutex_t, __data.__owner));
        if (waits[i].kind == OBJECT_RWLOCK)
            waits[i].owner = read_owner(pid, waits[i].lock + offsetof(pthread_rwlock_t, __data.__cur_writer));
    }
}

/* From the wait to that of who has the lock, and so on: there is one way, which comes back, ends, or goes around without this one. */
static bool is_in_circle(const struct circle_wait *waits, size_t count, const struct map *by_thread,
                         const struct circle_wait *start) {
    const struct circle_wait *at = start;
    for (size_t steps = 0; steps < count && at->owner; steps++) {
        if (at->owner == start->tid) return true;
        const struct map_entry *next = map_find(by_thread, &at->owner, sizeof at->owner);
        if (!next) return false;
        at = &waits[next->value];
    }
    return false;
}

void wait_circles_find(struct circle_wait *waits, size_t count) {
    struct map by_thread = {0};
    for (size_t i = 0; i < count; i++)
        map_put(&by_thread, &waits[i].tid, sizeof waits[i].tid, NULL)->value = (int64_t)i;
    for (size_t i = 0; i < count; i++)
        waits[i].is_endless = is_in_circle(waits, count, &by_thread, &waits[i]);
    map_free(&by_thread);
}
