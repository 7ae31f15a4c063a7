/* replay.h: plays the threads of a process again, with a lock that is changed. A thread is a list of steps in their order: it works, sleeps,
 * takes and gives back locks, starts threads and waits for their ends. Work needs a processor for a share of its time; where more is
 * wanted than there are processors, all working threads become slower alike. A lock goes to who waited first. Knows nothing of the warehouse.
 * The caller owns everything it passes. Times are nanoseconds. */
#ifndef CLEAR_QUERY_WHATIF_REPLAY_H
#define CLEAR_QUERY_WHATIF_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum replay_what {
    REPLAY_WORK,  /* for `ns`, slower where there are too few processors */
    REPLAY_SLEEP, /* for `ns`, whatever others do */
    REPLAY_TAKE,  /* the lock `object` */
    REPLAY_GIVE,  /* it back */
    REPLAY_START, /* the thread `object` */
    REPLAY_JOIN,  /* wait for the end of the thread `object` */
};

struct replay_step {
    enum replay_what what;
    int64_t ns;
    size_t object;
};

struct replay_thread {
    const struct replay_step *steps;
    size_t count;
    int64_t start_ns; /* of a thread that no step starts */
    bool is_started;  /* a step of another one starts it */
};

enum replay_change { REPLAY_AS_IT_WAS, REPLAY_FREE, REPLAY_HALF, REPLAY_SHARDS };

struct replay_options {
    double processors; /* at least 1 */
    double cpu_share;  /* of work that needs a processor, 0 to 1 */
    enum replay_change change;
    size_t lock;   /* that is changed */
    size_t shards; /* of REPLAY_SHARDS: each time it is taken, one of so many is, by chance */
    uint64_t seed; /* of that chance: the same seed is the same replay */
};

/* When thread 0 has ended; -1: threads wait for each other for ever. `locks` is larger than any lock of a step. */
int64_t replay_run(const struct replay_thread *threads, size_t count, size_t locks,
                   const struct replay_options *options);

#endif
