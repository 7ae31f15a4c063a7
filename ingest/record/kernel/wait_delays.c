#include "ingest/record/kernel/wait_delays.h"

#include <stdlib.h>

#include "base/error.h"
#include "ingest/record/kernel/thread_clock.h"

enum { RECORDS_MOST = 1024, STANDS_FOR_MOST = 16 };
#define SHORTEST_DELAYED_NS 1000000u

/* A record of a thread in the segment, and the wait for a lock that a look met it in. */
struct watched_wait {
    uint32_t tid;              /* 0: not known */
    struct thread_clock clock; /* as of the last look that met it in a wait, or asked for it as an owner, ... */
    uint64_t clock_ns;         /* and when that was */
    uint64_t waited_until;     /* as of the last look */
    uint64_t since;            /* ticks; 0: it waits for no lock */
    uint64_t lock;             /* address */
    uint32_t object, weight;   /* the same as in the record */
    uint32_t owner;            /* the thread that has the lock; 0: not known */
    uint64_t has_lock;         /* address of a lock without an owner that the thread has; 0: none */
    bool is_unowned;           /* nothing said who has the lock when it began */
    bool is_held;              /* who has it, or had it last, says so itself */
    bool has_owner;            /* it is known, or was */
    bool is_only;              /* no other wait for that owner was known then */
    uint64_t own_ns, owner_ns; /* run delay: of the thread when the wait was met, of the owner when it was, ... */
    uint64_t owner_last_ns;    /* and at the last look */
    uint64_t past_ns,
        past_hold_ns; /* while it waited: of earlier owners; the same where it was the only wait for them */
    uint64_t met_ns, met_ticks, gap_ns; /* of the look that met it */
};

void wait_delays_init(struct wait_delays *delays) {
    *delays = (struct wait_delays){.records.file = -1};
}

static struct watched_wait *wait_of_thread(struct wait_delays *delays, uint32_t tid) {
    for (size_t i = 0; i < delays->count; i++)
        if (delays->waits[i].tid == tid) return &delays->waits[i];
    return NULL;
}

/* The run delay of a thread now; 0: not known. */
static uint64_t delay_of(struct wait_delays *delays, uint32_t tid, const struct wait_look *look) {
    struct watched_wait *wait = tid ? wait_of_thread(delays, tid) : NULL;
    struct thread_clock passing = {.file = -1};
    if (!tid) return 0;
    if (wait && wait->clock_ns == look->now_ns) return wait->clock.ready_ns;
    struct thread_clock *clock = wait ? &wait->clock : &passing;
    bool is_known = thread_clock_look(clock, delays->records.pid, tid);
    if (wait && is_known) wait->clock_ns = look->now_ns;
    uint64_t ns = is_known ? clock->ready_ns : 0;
    thread_clock_close(&passing);
    return ns;
}

/* The same of a thread that may have ended meanwhile: then as of the last look, `last_ns`. */
static uint64_t delay_up_to_end(struct wait_delays *delays, uint32_t tid, uint64_t last_ns,
                                const struct wait_look *look) {
    const uint64_t ns = delay_of(delays, tid, look);
    return ns ? ns : last_ns;
}

/* As of the last look where that asked for it, because the thread waited then; else now. So what a thread that got the lock since was delayed is
 * not passed over. */
static uint64_t delay_before(struct wait_delays *delays, uint32_t tid, const struct wait_look *look) {
    const struct watched_wait *wait = tid ? wait_of_thread(delays, tid) : NULL;
    uint64_t before_ns = wait ? wait->clock.ready_ns : 0;
    bool is_fresh = wait && look->gap_ns && wait->clock_ns == look->now_ns - look->gap_ns;
    return is_fresh ? before_ns : delay_of(delays, tid, look);
}

static uint64_t grown_by(uint64_t now, uint64_t before) {
    return before && now > before ? now - before : 0;
}

/* What of `grown_ns` of run delay, which came to the account between the two looks, was before the wait ended: what exceeds that time is from before
 * the first look, and the rest is spread evenly. */
static uint64_t before_end(uint64_t grown_ns, uint64_t waited_ns, uint64_t looked_ns) {
    if (waited_ns >= looked_ns) return grown_ns;
    uint64_t within = grown_ns < looked_ns ? grown_ns : looked_ns;
    return grown_ns - within + (uint64_t)((double)within * (double)waited_ns / (double)looked_ns);
}

static struct wait_delay *sum_of_object(struct wait_delays *delays, uint32_t object) {
    bool added;
    struct map_entry *entry = map_put(&delays->index, &object, sizeof object, &added);
    if (!added) return &delays->sums[entry->value];
    if (delays->sum_count == delays->sum_capacity) {
        delays->sum_capacity = delays->sum_capacity ? delays->sum_capacity * 2 : 16;
        delays->sums = xrealloc(delays->sums, delays->sum_capacity * sizeof *delays->sums);
    }
    entry->value = (int64_t)delays->sum_count;
    delays->sums[delays->sum_count] = (struct wait_delay){.object = object};
    return &delays->sums[delays->sum_count++];
}

static uint64_t ns_of(const struct wait_look *look, uint64_t ticks) {
    if (!look->rate_ticks) return 0;
    return (uint64_t)((double)ticks * (double)look->rate_ns / (double)look->rate_ticks);
}

static void count(struct wait_delays *delays, const struct watched_wait *wait, uint64_t took_ns, uint64_t delay_ns,
                  uint64_t hold_delay_ns) {
    double stands_for = wait->weight ? wait->weight : 1;
    if (took_ns < wait->gap_ns)
        stands_for *=
            wait->gap_ns < STANDS_FOR_MOST * took_ns ? (double)wait->gap_ns / (double)took_ns : STANDS_FOR_MOST;
    struct wait_delay *sum = sum_of_object(delays, wait->object);
    if (!wait->has_owner && sum->has_owner && took_ns >= SHORTEST_DELAYED_NS) return;
    sum->has_owner = wait->has_owner;
    sum->seen_ns += (uint64_t)(stands_for * (double)took_ns);
    sum->delay_ns += (uint64_t)(stands_for * (double)delay_ns);
    sum->hold_delay_ns += (uint64_t)(stands_for * (double)hold_delay_ns);
}

static uint64_t at_most(uint64_t value, uint64_t most) {
    return value < most ? value : most;
}

/* The wait is over. Another one of the thread may have begun and ended since: then it is not known when, and it counts up to now. */
static void wait_is_over(struct wait_delays *delays, struct watched_wait *wait, uint64_t until,
                         const struct wait_look *look) {
    if (until <= wait->since || until > look->now_ticks) until = look->now_ticks;
    uint64_t took_ns = until > wait->since ? ns_of(look, until - wait->since) : 0;
    uint64_t own_ns = 0, owner_ns = 0;
    if (took_ns >= SHORTEST_DELAYED_NS) {
        uint64_t looked_ns = look->now_ns - wait->met_ns;
        uint64_t waited_ns = until > wait->met_ticks ? ns_of(look, until - wait->met_ticks) : 0;
        uint64_t own_end_ns = delay_up_to_end(delays, wait->tid, wait->clock.ready_ns, look);
        uint64_t owner_end_ns = delay_up_to_end(delays, wait->owner, wait->owner_last_ns, look);
        own_ns = before_end(grown_by(own_end_ns, wait->own_ns), waited_ns, looked_ns);
        owner_ns = before_end(grown_by(owner_end_ns, wait->owner_ns), waited_ns, looked_ns);
    }
    if (took_ns && (wait->has_owner || wait->is_unowned))
        count(delays, wait, took_ns, at_most(own_ns + owner_ns + wait->past_ns, took_ns),
              at_most(wait->past_hold_ns + (wait->is_only ? owner_ns : 0), took_ns));
    wait->since = 0;
}

static bool is_waited_for(const struct wait_delays *delays, uint32_t owner) {
    for (size_t i = 0; i < delays->count; i++)
        if (delays->waits[i].since && delays->waits[i].owner == owner) return true;
    return false;
}

static void wait_is_met(struct wait_delays *delays, struct watched_wait *wait, const struct thread_counters *record,
                        const struct wait_look *look) {
    bool is_known = record->wait_owner < WAIT_OWNER_UNKNOWN && record->wait_owner != record->tid;
    uint32_t owner = is_known ? record->wait_owner : 0;
    wait->is_only = owner && !is_waited_for(delays, owner);
    wait->owner = owner;
    wait->has_owner = owner != 0;
    wait->is_unowned = record->wait_owner >= WAIT_OWNER_UNKNOWN;
    wait->object = record->wait_object;
    wait->weight = record->wait_weight;
    wait->lock = record->wait_lock;
    wait->owner_ns = wait->owner_last_ns = delay_of(delays, owner, look);
    wait->own_ns = delay_of(delays, wait->tid, look);
    wait->past_ns = wait->past_hold_ns = 0;
    wait->is_held = false;
    wait->met_ns = look->now_ns;
    wait->met_ticks = look->now_ticks;
    wait->gap_ns = look->gap_ns;
    wait->since = record->wait_since;
}

/* Who says that it has a lock without an owner: the same as at the last look, if that one still does, so of several who read it is the one that takes
 * longest; 0: nobody does. */
static uint32_t holder_of(struct wait_delays *delays, const struct watched_wait *wait) {
    const struct watched_wait *had = wait->owner ? wait_of_thread(delays, wait->owner) : NULL;
    if (had && had->has_lock == wait->lock) return had->tid;
    for (size_t i = 0; i < delays->count; i++) {
        const struct watched_wait *other = &delays->waits[i];
        if (other->has_lock == wait->lock && other->tid && other->tid != wait->tid) return other->tid;
    }
    return 0;
}

/* Who has the lock now: whoever the thread that began to wait for it last found there. */
static uint32_t owner_told(const struct wait_delays *delays, const struct watched_wait *wait) {
    const struct watched_wait *newest = wait;
    for (size_t i = 0; i < delays->count; i++) {
        const struct watched_wait *other = &delays->waits[i];
        if (other->lock == wait->lock && other->since > newest->since && other->owner) newest = other;
    }
    return newest->owner;
}

/* The owner changed since the last look: it is not known when, so each had the lock for half of that time. */
static void change_owner(struct wait_delays *delays, struct watched_wait *wait, uint32_t owner,
                         const struct wait_look *look) {
    uint64_t late_ns = grown_by(delay_up_to_end(delays, wait->owner, wait->owner_last_ns, look), wait->owner_last_ns);
    uint64_t left_ns = grown_by(wait->owner_last_ns, wait->owner_ns) + late_ns / 2;
    uint64_t before_ns = delay_before(delays, owner, look), now_ns = delay_of(delays, owner, look);
    uint64_t taken_ns = grown_by(now_ns, before_ns) / 2;
    wait->past_ns += left_ns + taken_ns;
    wait->past_hold_ns += wait->is_only ? left_ns : 0;
    wait->owner = 0;
    wait->is_only = !is_waited_for(delays, owner);
    wait->past_hold_ns += wait->is_only ? taken_ns : 0;
    wait->owner = owner;
    wait->has_owner = true;
    wait->owner_ns = wait->owner_last_ns = now_ns;
}

static uint32_t owner_now(struct wait_delays *delays, const struct watched_wait *wait) {
    uint32_t holder = holder_of(delays, wait);
    return holder || wait->is_held ? holder : owner_told(delays, wait);
}

static void follow_owner(struct wait_delays *delays, struct watched_wait *wait, const struct wait_look *look) {
    uint32_t owner = owner_now(delays, wait);
    if (owner != wait->owner && owner != wait->tid) {
        change_owner(delays, wait, owner, look);
        wait->is_held = owner == holder_of(delays, wait);
    }
    wait->owner_last_ns = delay_up_to_end(delays, wait->owner, wait->owner_last_ns, look);
    (void)delay_of(delays, wait->tid, look);
}

static bool look_at_record(struct wait_delays *delays, size_t index, const struct wait_look *look) {
    struct watched_wait *wait = &delays->waits[index];
    struct thread_counters record;
    if (!thread_records_read(&delays->records, index, &record)) return false;
    bool waits = record.wait_since && record.wait_owner != WAIT_NO_LOCK;
    bool has_waited = waits || record.waited_until != wait->waited_until;
    if (wait->since && record.wait_since != wait->since) wait_is_over(delays, wait, record.waited_until, look);
    if (wait->tid != record.tid) {
        thread_clock_close(&wait->clock);
        wait->clock_ns = 0;
    }
    wait->tid = record.tid;
    wait->waited_until = record.waited_until;
    wait->has_lock = record.has_lock;
    if (waits && !wait->since) wait_is_met(delays, wait, &record, look);
    return has_waited;
}

static void find_records(struct wait_delays *delays, uint64_t used) {
    thread_records_find(&delays->records, used);
    for (; delays->count < delays->records.count && delays->count < RECORDS_MOST; delays->count++) {
        if (delays->count == delays->capacity) {
            delays->capacity = delays->capacity ? delays->capacity * 2 : 16;
            delays->waits = xrealloc(delays->waits, delays->capacity * sizeof *delays->waits);
        }
        delays->waits[delays->count] = (struct watched_wait){.clock.file = -1};
    }
}

static void forget_records(struct wait_delays *delays) {
    for (size_t i = 0; i < delays->count; i++)
        thread_clock_close(&delays->waits[i].clock);
    delays->count = 0;
    thread_records_close(&delays->records);
}

bool wait_delays_look(struct wait_delays *delays, int directory, const char *segment, const struct wait_look *look) {
    struct segment head;
    if (delays->records.file < 0 && !thread_records_open(&delays->records, directory, segment)) return false;
    if (!thread_records_head(&delays->records, &head)) return false;
    if (head.end_ticks) { /* it ends: its threads go */
        forget_records(delays);
        return false;
    }
    bool has_waited = false;
    find_records(delays, head.used);
    for (size_t i = 0; i < delays->count; i++)
        has_waited |= look_at_record(delays, i, look);
    for (size_t i = 0; i < delays->count; i++)
        if (delays->waits[i].since) follow_owner(delays, &delays->waits[i], look);
    return has_waited;
}

uint32_t wait_owner_of(const struct wait_delays *delays, size_t record) {
    return record < delays->count && delays->waits[record].since ? delays->waits[record].owner : 0;
}

void wait_delays_free(struct wait_delays *delays) {
    forget_records(delays);
    free(delays->waits);
    free(delays->sums);
    map_free(&delays->index);
    *delays = (struct wait_delays){.records.file = -1};
}
