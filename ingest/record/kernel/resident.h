/* resident.h: how much memory of a process is in RAM, read from outside.
 *
 * At each flush /proc/PID/statm is read, 10 us: the private pages, without files and without shared memory, in which segments are. The tables in which the runtime
 * keeps blocks are among them: 4 bytes for each 32 bytes of address space that held blocks.
 *
 * How much of that is the heap of the C library is read from /proc/PID/smaps, whose lines the kernel finds out page by page: some 5 ms for 1 GiB. So it is read
 * only where the heap may hold twice what is live and 16 MiB, and for at most a fiftieth of the recorder's time. */
#ifndef CLEAR_INGEST_RECORD_KERNEL_RESIDENT_H
#define CLEAR_INGEST_RECORD_KERNEL_RESIDENT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* As of the last look; a zeroed struct has seen nothing. */
struct resident {
    int64_t private_bytes; /* 0: not known */
    int64_t heap_bytes; /* of the C library's malloc, without what it mapped for single large blocks; 0: not looked */
    int64_t due_ns;     /* CLOCK_MONOTONIC: the heap is not looked at before */
};

/* Looks at a running process whose blocks of malloc have `live_bytes`. */
void resident_look(struct resident *resident, pid_t process, int64_t live_bytes);
/* The heap in a text of the form of /proc/PID/smaps: [heap], and the arenas of threads, which begin at multiples of 64 MiB. Of one with huge pages 2 MiB
 * count as not in use, because the kernel made its end as large. */
int64_t resident_heap(FILE *smaps);

#endif
