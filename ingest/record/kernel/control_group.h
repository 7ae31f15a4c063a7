/* control_group.h: what the kernel took from a process because of the limits of its control group: how many processes it ended because memory ran out,
 * and for how long it stopped threads because the group had used its share of the processors.
 *
 * Processes that were ended are counted by group: `oom_kill` in memory.events (version 2, with all groups below) and in memory.oom_control (version 1). In the
 * root group of version 2, and where no group can be read, they are those of the whole system: `oom_kill` in /proc/vmstat. Which process it was is
 * not said. Stopped threads are in cpu.stat: `throttled_usec` (version 2), `throttled_time` (version 1). A container sees its own group as the root of
 * /sys/fs/cgroup. Limits of groups above it are not looked at. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_CONTROL_GROUP_H
#define CLEAR_INGEST_RECORD_KERNEL_CONTROL_GROUP_H

#include <stdint.h>
#include <sys/types.h>

/* Of a part of the group's life. */
struct control_group_use {
    int64_t kills;                 /* processes that were ended because memory ran out */
    int64_t memory_limit;          /* bytes; 0: none; -1: the kills are those of the system */
    int64_t throttled_ns;          /* in which threads were ready to run and might not, the sum of all processors */
    int64_t processor_thousandths; /* that the group may use; 0: no limit */
};

/* To be freed by control_group_free; NULL where the kernel tells nothing. */
struct control_group {
    char *memory_counter, *processor_counter;
    struct control_group_use before; /* as counted at first */
};

/* The group of a process. `root` is a directory in which proc/ and sys/ are, "" for that of the system. */
void control_group_find(struct control_group *group, const char *root, pid_t pid);
/* Since then. */
struct control_group_use control_group_use(const struct control_group *group);
void control_group_free(struct control_group *group);
/* "out of memory at 48.0 MiB: the kernel ended 2 processes of its control group", to be freed; NULL where it ended none. */
char *control_group_memory_text(const struct control_group_use *use);

/* How soon the kernel ends this process when memory runs out, and what it starts from now on: from -1,000, never, to MEMORY_RANK_FIRST, before all others
 * (/proc/self/oom_score_adj). Returns what it was, 0 where /proc does not say it. A rank may be raised, and lowered again to what it was. */
enum { MEMORY_RANK_FIRST = 1000 };
int memory_rank_set(int rank);

#endif
