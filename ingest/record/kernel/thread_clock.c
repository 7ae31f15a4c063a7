#include "ingest/record/kernel/thread_clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILES_KEPT = 512 }; /* files of threads beyond that many descriptors are opened at each look */

int thread_file_open(int32_t process, uint32_t tid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%u/%s", process, tid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

bool thread_clock_look(struct thread_clock *clock, int32_t process, uint32_t tid) {
    char text[96], *end;
    int file = clock->file >= 0 ? clock->file : thread_file_open(process, tid, "schedstat");
    ssize_t size = file < 0 ? -1 : pread(file, text, sizeof text - 1, 0);
    clock->file = file;
    if (size <= 0 || file >= FILES_KEPT) thread_clock_close(clock);
    if (size <= 0) return false;
    text[size] = '\0';
    clock->ran_ns = strtoull(text, &end, 10);
    clock->ready_ns = strtoull(end, NULL, 10);
    return clock->ran_ns != 0;
}

void thread_clock_close(struct thread_clock *clock) {
    if (clock->file >= 0) close(clock->file);
    clock->file = -1;
}
