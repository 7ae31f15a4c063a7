#include "ingest/shim/api/channel.h"

#include "ingest/shim/locks/lockrecord.h"
#include "ingest/shim/stacks/intern.h"

static COLD void channel_dropped(void) {
    fetch_add_relaxed(&process->segment->dropped_channels, 1);
}

static struct known_object *known_channel(struct thread *thread, uintptr_t channel) {
    return known_of(thread->known_channels, (const void *)channel);
}

bool channel_is_known(struct thread *thread, uintptr_t channel) {
    const struct known_object *known = known_channel(thread, channel);
    return known->object == (const void *)channel && known->generation == load_relaxed(&process->objects_generation);
}

static struct channel_counters *know(struct thread *thread, uintptr_t channel, uint32_t id) {
    struct channel_counters *counters = id ? channel_counters_of(thread, id) : NULL;
    if (!counters) {
        channel_dropped();
        return NULL;
    }
    *known_channel(thread, channel) = (struct known_object){.object = (const void *)channel,
                                                            .counters = counters,
                                                            .generation = load_relaxed(&process->objects_generation)};
    return counters;
}

static ALWAYS_INLINE struct channel_counters *channel_of(struct thread *thread, uintptr_t channel) {
    if (likely(channel_is_known(thread, channel))) return known_channel(thread, channel)->counters;
    struct object_key key = {.address = channel, .class = CLASS_CHANNEL};
    return know(thread, channel, object_intern(thread, key, OBJECT_CHANNEL));
}

void channel_opened(struct thread *thread, uintptr_t channel, uint64_t capacity, const char *name) {
    know(thread, channel, channel_intern(thread, channel, capacity, name));
}

void channel_pushed(struct thread *thread, uintptr_t channel, uint64_t depth, uint64_t blocked_ns) {
    struct channel_counters *counters = channel_of(thread, channel);
    if (!counters) return;
    add_own(&counters->pushes, 1);
    max_own(&counters->max_depth, depth);
    if (!blocked_ns) return;
    add_own(&counters->push_blocked, 1);
    add_own(&counters->push_blocked_ns, blocked_ns);
}

void channel_popped(struct thread *thread, uintptr_t channel, uint64_t blocked_ns) {
    struct channel_counters *counters = channel_of(thread, channel);
    if (!counters) return;
    add_own(&counters->pops, 1);
    if (!blocked_ns) return;
    add_own(&counters->pop_blocked, 1);
    add_own(&counters->pop_blocked_ns, blocked_ns);
}

void channel_identities_reused(void) {
    fetch_add_relaxed(&process->objects_generation, 1);
}
