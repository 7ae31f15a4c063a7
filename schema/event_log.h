/* event_log.h: the events of a process (clear profile --trace) in memory, with threads and locks as small numbers: for facts that depend on
 * the order of events. 72 bytes an event. */
#ifndef CLEAR_SCHEMA_EVENT_LOG_H
#define CLEAR_SCHEMA_EVENT_LOG_H

#include "schema/db.h"

/* The classes of the view event_kinds, in which waits for a lock stand apart; a kind of another class is left out. */
enum event_class {
    EVENT_LEFT_OUT,
    EVENT_LOCK,  /* a wait for a lock */
    EVENT_WAIT,  /* for something else */
    EVENT_BLOCK, /* a sleep or a system call */
    EVENT_HOLD,
    EVENT_RELEASE,
    EVENT_REGION
};
enum event_class event_class_of(const char *kind);

struct event {
    int64_t id, start_ns, end_ns; /* end_ns >= start_ns */
    int64_t object_id, trace_id;
    int64_t tid, address;
    uint32_t thread; /* its tid in order of appearance, from 0 */
    uint32_t owner;  /* that of the thread that had the lock, + 1; 0: unknown */
    uint32_t lock;   /* its address in order of appearance, from 0; of EVENT_LOCK, EVENT_HOLD and EVENT_RELEASE */
    enum event_class class;
};

struct event_log {
    struct event *events; /* by thread, and in it by start */
    size_t count;
    struct map threads, locks; /* tid, address -> number */
};

/* Reads those of a process. event_log_free it, whatever it returns. */
int event_log_read(struct event_log *log, struct db *db, int64_t process_id, struct error *err);
void event_log_free(struct event_log *log);

/* Room for one more in an array that doubles when `count` is a power of two. */
void *event_grown(void *items, size_t count, size_t size);

/* A moment, or another number, and whose it is. */
struct event_point {
    uint64_t at;
    uint32_t event, what;
};
/* By `at`; those with the same one keep their order. Linear. */
void event_points_sort(struct event_point *points, size_t count);

#endif
