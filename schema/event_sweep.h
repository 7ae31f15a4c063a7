/* event_sweep.h: what the order of the events of a process shows of its locks, in one pass over them by time: how many wait when a wait
 * begins, which lock is asked for by who has another one, and who blocks while others wait for a lock of his.
 *
 * That a thread has a lock is known while another one waits for it that found it so (`owner`), until it releases it, and where holds are events.
 * At one time, ends come before starts, and those before releases. A wait of no length lasts for 1 ns. A thread waits for one lock at a time. Of a
 * thread that had more than SWEEP_LOCKS locks at once, the others are passed over: so each event costs no more than that many steps. */
#ifndef CLEAR_SCHEMA_EVENT_SWEEP_H
#define CLEAR_SCHEMA_EVENT_SWEEP_H

#include "schema/event_log.h"

enum { SWEEP_LOCKS = 32 };

struct event_sweep {
    /* One for each lock of the log, by its number. */
    struct sweep_queue {
        int64_t waits, time_ns;
        uint32_t waiting, most; /* now; at most */
        uint32_t longest; /* the longest wait, the first of them by id: index of the event + 1; 0: there was none */
        int64_t *depths;  /* [most]: how many waits began as the 1st, 2nd, ... of those that waited then */
    } * queues;
    /* A thread that had `outer` asked for `inner`. */
    struct sweep_order {
        uint32_t outer, inner;                     /* locks of the log */
        int64_t outer_object, inner_object, trace; /* the greatest ids */
        int64_t count, time_ns;                    /* each wait for the inner one once, and its time; a hold has none */
        uint32_t last;                             /* the event that was counted last, + 1 */
    } * orders;
    /* Who had `lock` blocked at a stack while others waited for it. */
    struct sweep_block {
        uint32_t lock;
        int64_t trace, object, waiter_trace; /* the stack; of the others the greatest ids */
        int64_t waits, time_ns;              /* of others: how many in part, and for how long together */
    } * blocks;
    size_t queue_count, order_count, block_count;
};

/* sweep_free it. */
void sweep_events(struct event_sweep *sweep, const struct event_log *log);
void sweep_free(struct event_sweep *sweep);

#endif
