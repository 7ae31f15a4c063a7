/* schedule.h: the threads of a recorded process as a replay plays them, from the events of clear profile --trace=lock,wait,hold. Private to
 * query/whatif. */
#ifndef CLEAR_QUERY_WHATIF_SCHEDULE_H
#define CLEAR_QUERY_WHATIF_SCHEDULE_H

#include "query/whatif/replay.h"
#include "schema/db.h"

struct whatif_process {
    struct replay_thread *threads; /* thread 0 is the first of the process */
    size_t count;
    size_t locks; /* how many there are */
    size_t lock;  /* the one that was asked for */
    int64_t duration_ns;
    int64_t waits, wait_ns; /* of that lock, in the events */
    int64_t holds, hold_ns; /* the same: of holds that others waited for, and long ones */
    int64_t other_wait_ns;  /* of all threads: waits whose end no event explains, which are as long in a replay */
    int64_t work_ns;        /* of all threads: neither waited nor slept */
    int64_t same_name;      /* locks of that name in the run; the one with the longest waits is meant */
    double processors;
    double cpu_share; /* of the work; 1 where CPU time was not sampled */
};

/* A usage error where the run has no such lock; a failure where its waits were not seen, or not all of them. */
/* `without_idle`: a thread that hardly used a processor and has no event waited for others all the time until it was joined. */
int whatif_read(struct whatif_process *process, struct db *db, int64_t run_id, const char *name, bool without_idle,
                struct error *err);
void whatif_free(struct whatif_process *process);

#endif
