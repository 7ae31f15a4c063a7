/* wait_circles.h: threads that wait for each other: each for a lock that the next one has, and the last for one that the first has. Such waits
 * never end, so they are told of where the process goes on, as waits that its end met are. */
#ifndef CLEAR_INGEST_RECORD_WAIT_CIRCLES_H
#define CLEAR_INGEST_RECORD_WAIT_CIRCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread waits once. */
struct circle_wait {
    uint64_t lock;  /* its address in the process */
    uint32_t kind;  /* enum segment_object_kind */
    uint32_t tid;   /* who waits */
    uint32_t owner; /* who has the lock now; 0: unknown, or several threads */
    bool is_endless;
};

/* Sets `owner` by what the locks say in the memory of the process: mutexes, and rwlocks that are taken for writing. */
void wait_circles_look(pid_t pid, struct circle_wait *waits, size_t count);
/* Sets `is_endless` of those that are in a circle; not of those that wait for one of these. */
void wait_circles_find(struct circle_wait *waits, size_t count);

#endif
