#include "ingest/attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "ingest/attach/enter.h"
#include "ingest/attach/running.h"
#include "ingest/attach/stand.h"

/* The runtime that was loaded late; a preloaded one has a path of its own. */
static const struct running_mapping *find_late(const struct running *running) {
    static const char memory[] = "/memfd:" RUNTIME_FILE;
    for (size_t i = 0; i < running->mapping_count; i++)
        if (running->mappings[i].offset == 0 && strncmp(running->mappings[i].path, memory, sizeof memory - 1) == 0)
            return &running->mappings[i];
    return NULL;
}

bool attach_is_there(pid_t pid) {
    struct running running;
    struct error ignored = {0};
    bool is_there = running_open(&running, pid, &ignored) == 0 && find_late(&running);
    running_close(&running);
    return is_there;
}

/* Two that enter a process at once would load two runtimes. The lock is on its directory in /proc, and the helper that enters has it too. -1:
 * there is none. */
static int lock_process(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (lock >= 0 && flock(lock, LOCK_EX) && errno == EINTR)
        continue;
    return lock;
}

/* The C library's allocator walks all of its free blocks to say how much is in use, while those who allocate wait: about 0.3 us a block. What
 * has more memory than this could have so many that this takes longer than 20 ms. */
enum { ASKS_MOST = 16 << 20 };

static int64_t status_kib(pid_t pid, const char *name) {
    char text[64];
    return running_status(pid, name, text, sizeof text) && *text ? strtoll(text, NULL, 10) : -1;
}

int64_t attach_own_memory(pid_t pid) {
    int64_t resident = status_kib(pid, "RssAnon"), swapped = status_kib(pid, "VmSwap");
    return resident < 0 ? -1 : (resident + (swapped > 0 ? swapped : 0)) << 10;
}

static int take_locked_step(struct attached *attached, enum attach_step step, const char *library,
                            const char *directory, struct error *err) {
    struct running running;
    struct entering entering = {.library = library, .call = {.step = step, .slots = ATTACH_FOREIGN_MOST}};
    int code = running_open(&running, attached->pid, err);
    const struct running_mapping *late = code == 0 ? find_late(&running) : NULL;
    if (late) entering.function = running_function(&running, late->low, ATTACH_FUNCTION);
    if (code == 0 && !entering.function && !library)
        code = error_fail(err, "process %d has no runtime of clear in it", (int)attached->pid);
    if (directory) snprintf(entering.call.directory, sizeof entering.call.directory, "%s", directory);
    entering.call.asks_before =
        step == ATTACH_BEGIN && attached->before_bytes >= 0 && attached->before_bytes <= ASKS_MOST;
    if (code == 0) code = enter(&running, &entering, err);
    attached->call = entering.call;
    attached->held_ns = entering.held_ns;
    attached->stops_refused = entering.stops_refused;
    running_close(&running);
    return code;
}

static int take_step(struct attached *attached, enum attach_step step, const char *library, const char *directory,
                     struct error *err) {
    int lock = lock_process(attached->pid);
    int code = take_locked_step(attached, step, library, directory, err);
    if (lock >= 0) close(lock);
    return code;
}

static int refused(const struct attached *attached, struct error *err) {
    int pid = (int)attached->pid;
    switch (attached->call.result) {
    case ATTACH_DONE: return 0;
    case ATTACH_IS_RECORDED:
        return error_fail(err, "process %d is recorded already; clear detach %d ends that", pid, pid);
    case ATTACH_NO_DIRECTORY:
        return error_fail(
            err, "process %d cannot open the directory of the recording: it has another root, or other rights", pid);
    case ATTACH_NO_SEGMENT: return error_fail(err, "process %d has no room for a recording", pid);
    default: return error_fail(err, "process %d is not recorded", pid);
    }
}

int attach_begin(struct attached *attached, pid_t pid, const char *library, const char *directory, struct error *err) {
    *attached = (struct attached){.pid = pid, .before_bytes = attach_own_memory(pid)};
    if (strlen(directory) >= ATTACH_DIRECTORY_SIZE)
        return error_fail(err, "%s: the path of the directory is too long", directory);
    if (take_step(attached, ATTACH_BEGIN, library, directory, err) || refused(attached, err)) return -1;
    attached->is_before_exact = attached->call.has_before;
    if (attached->is_before_exact) attached->before_bytes = (int64_t)attached->call.before_bytes;
    return 0;
}

int attach_again(struct attached *attached, struct error *err) {
    return take_step(attached, ATTACH_AGAIN, NULL, NULL, err) ? -1 : refused(attached, err);
}

bool attach_has_ended(pid_t pid) {
    char state[64];
    return (kill(pid, 0) != 0 && errno == ESRCH) || !running_status(pid, "State", state, sizeof state) ||
           *state == 'Z' || *state == 'X';
}

static int end_step(struct attached *attached, enum attach_step step, struct error *err) {
    struct error failure = {0};
    if (attach_has_ended(attached->pid) || !attach_is_there(attached->pid)) return 0; /* or it has called exec */
    if (take_step(attached, step, NULL, NULL, &failure) == 0 || attach_has_ended(attached->pid)) return 0;
    *err = failure;
    return -1;
}

int attach_end(struct attached *attached, struct error *err) {
    return end_step(attached, ATTACH_END, err);
}

int attach_leave(struct attached *attached, struct error *err) {
    return end_step(attached, ATTACH_LEAVE, err);
}
