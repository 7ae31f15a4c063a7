#include "ingest/outside/outside.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ingest/outside/kernel_events.h"
#include "ingest/outside/perf_file.h"

enum { LOOK_NS = 50000000 }; /* between two looks at the rings: 2 MiB in that time are 40 MB/s of each processor */

static volatile sig_atomic_t is_asked_to_end;

static void ask_to_end(int signal) {
    (void)signal;
    is_asked_to_end = 1;
}

/* They arrive while we sleep, and at no other time. */
static void block_ends(sigset_t *others) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, others);
    sigdelset(others, SIGINT);
    sigdelset(others, SIGTERM);
    is_asked_to_end = 0;
    sigaction(SIGINT, &(struct sigaction){.sa_handler = ask_to_end}, NULL);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = ask_to_end}, NULL);
}

static void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int outside_check(pid_t pid, bool *sees_kernel, struct error *err) {
    int file = kernel_events_try(pid, false);
    if (sees_kernel) *sees_kernel = file >= 0;
    if (file < 0 && (errno == EACCES || errno == EPERM)) file = kernel_events_try(pid, true);
    if (file >= 0) return close(file);
    if (errno == EACCES || errno == EPERM)
        return error_fail(err,
                          "the kernel does not let clear sample process %d from outside (perf_event_open): root may, "
                          "or sysctl kernel.perf_event_paranoid=1",
                          (int)pid);
    if (errno == ENOSYS || errno == EINVAL) return error_fail(err, "this kernel has no perf_event_open");
    return error_fail(err, "process %d: perf_event_open: %s", (int)pid, strerror(errno));
}

static int record(struct kernel_events *events, struct perf_file *file, const sigset_t *others, struct error *err) {
    struct buffer records = {0};
    bool is_last = false;
    int code = 0;
    while (code == 0 && !is_last) {
        pselect(0, NULL, NULL, NULL, &(struct timespec){.tv_nsec = LOOK_NS}, others);
        is_last = is_asked_to_end;
        buffer_clear(&records);
        kernel_events_take(events, &records);
        code = perf_file_add(file, &records, err);
    }
    buffer_free(&records);
    return code;
}

int outside_record(const struct outside_request *request, const char *output, int answer, struct error *err) {
    struct kernel_events events;
    struct perf_file file = {.file = -1};
    sigset_t others;
    block_ends(&others);
    raise_file_limit();
    int code = kernel_events_open(&events, request, err);
    if (code == 0) code = perf_file_open(&file, output, &events, request, err);
    if (code == 0 && write(answer, "ack\n", 4) != 4) code = error_fail(err, "clear has ended: %s", strerror(errno));
    if (code == 0) code = record(&events, &file, &others, err);
    if (perf_file_close(&file, err)) code = -1;
    kernel_events_close(&events);
    return code;
}
