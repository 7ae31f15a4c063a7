/* memory_group.h: how many processes the kernel ended because memory ran out, and at which limit.
 *
 * The kernel counts them by control group: `oom_kill` in memory.events (version 2, with all groups below) and in memory.oom_control (version 1). In the root
 * group of version 2, and where no group can be read, they are those of the whole system: `oom_kill` in /proc/vmstat. Which process it was is
 * not said. A container sees its own group as the root of /sys/fs/cgroup. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_MEMORY_GROUP_H
#define CLEAR_INGEST_RECORD_KERNEL_MEMORY_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_group {
    char *counter;  /* the file, NULL where the kernel tells nothing; to be freed by memory_group_free */
    int64_t before; /* what it counted at first */
    int64_t
        limit; /* bytes that the group may have, without those above it; 0: no limit; -1: the counter is that of the system */
};

/* The group of a process. `root` is a directory in which proc/ and sys/ are, "" for that of the system. */
void memory_group_find(struct memory_group *group, const char *root, pid_t pid);
/* Processes that were ended since then. */
int64_t memory_group_kills(const struct memory_group *group);
void memory_group_free(struct memory_group *group);
/* "out of memory at 48.0 MiB: the kernel ended 2 processes of its control group", to be freed; NULL for no process. */
char *memory_group_text(int64_t kills, int64_t limit);
/* How soon the kernel ends this process when memory runs out, and what it starts from now on: from -1,000, never, to MEMORY_RANK_FIRST, before all others
 * (/proc/self/oom_score_adj). Returns what it was, 0 where /proc does not say it. A rank may be raised, and lowered again to what it was. */
enum { MEMORY_RANK_FIRST = 1000 };
int memory_rank_set(int rank);

#endif
