#include "ingest/record/kernel/recorder_share.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TURN_NS = 100000 };

/* As the kernel defines it in linux/sched/types.h, which cannot stand beside sched.h. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
    uint32_t least, most;
};

/* A recorder that was started with a nice value keeps it: a session's counts for all that is in it. */
static void be_nice(int nice) {
    char text[16];
    int length = snprintf(text, sizeof text, "%d", nice);
    int file = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!write(file, text, (size_t)length);
    close(file);
}

void recorder_share_take(void) {
    int nice = getpriority(PRIO_PROCESS, 0);
    if (setsid() >= 0 && nice > 0) be_nice(nice);
    struct scheduling turns = {.size = sizeof turns, .nice = nice, .runtime_ns = TURN_NS};
    struct scheduling now = {.size = sizeof now};
    bool is_usual = syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0 && now.policy == 0;
    if (is_usual) (void)syscall(SYS_sched_setattr, 0, &turns, 0);
}

/* How many threads of the machine run or could run, the caller among them; 0: the kernel does not say. */
static long count_running(void) {
    long running = 0;
    FILE *file = fopen("/proc/loadavg", "re");
    if (file && fscanf(file, "%*f %*f %*f %ld/", &running) != 1) running = 0;
    if (file) fclose(file);
    return running;
}

/* By sched_setaffinity, as under taskset. */
static bool has_one_processor(void) {
    unsigned long allowed[128] = {0};
    int count = 0;
    if (syscall(SYS_sched_getaffinity, 0, sizeof allowed, allowed) < 0) return false;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        count += __builtin_popcountl(allowed[i]);
    return count == 1;
}

bool recorder_share_has_room(void) {
    enum { LOOKS = 5, BETWEEN_NS = 200000 }; /* a thread of the kernel that wrote what we wrote is gone in a moment */
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (has_one_processor()) return false;
    for (int i = 0; i < LOOKS && processors > 1; i++) {
        const long running = count_running();
        if (running && running <= processors) return true;
        nanosleep(&(struct timespec){.tv_nsec = BETWEEN_NS}, NULL);
    }
    return false;
}
