#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"

extern char **environ;

enum { SAID_MAX = 4096 };

struct child {
    pid_t pid;
    enum child_group group;
    int input, output[2], errors[2]; /* -1: closed */
    int64_t deadline_ms;
    struct buffer said; /* on standard error: the first SAID_MAX bytes */
};

static int64_t now_ms(void) {
    return clock_monotonic_ns() / 1000000;
}

void child_close(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
}

static void close_child(struct child *child) {
    child_close(&child->input);
    for (int i = 0; i < 2; i++) {
        child_close(&child->output[i]);
        child_close(&child->errors[i]);
    }
    buffer_free(&child->said);
}

/* A write may take less than it was given. */
static bool write_whole(int file, const struct buffer *input) {
    for (size_t done = 0; done < input->size;) {
        ssize_t size = write(file, input->data + done, input->size - done);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return false;
        done += (size_t)size;
    }
    return true;
}

int child_input(const struct buffer *input) {
    if (!input || !input->size) return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0 || (write_whole(file, input) && lseek(file, 0, SEEK_SET) == 0)) return file;
    int why = errno;
    close(file);
    errno = why;
    return -1;
}

int child_start(const struct child_start *start, pid_t *pid) {
    static const short groups[] = {
        [CHILD_OURS] = 0, [CHILD_GROUP] = POSIX_SPAWN_SETPGROUP, [CHILD_SESSION] = POSIX_SPAWN_SETSID};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, pipe_signal;
    sigemptyset(&none);
    sigemptyset(&pipe_signal);
    if (!start->blocked) sigaddset(&pipe_signal, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | groups[start->group]));
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, start->blocked ? start->blocked : &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(&actions, start->files[i], i);
    if (start->directory) posix_spawn_file_actions_addchdir_np(&actions, start->directory);
    int why = posix_spawnp(pid, start->program ? start->program : start->argv[0], &actions, &attributes,
                           (char *const *)(uintptr_t)start->argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    const struct rlimit limit = {start->memory_max, start->memory_max};
    if (why == 0 && start->memory_max) (void)prlimit(*pid, RLIMIT_AS, &limit, NULL);
    return why;
}

int child_kill(pid_t pid, enum child_group group) {
    int status;
    pid_t got;
    (void)kill(group == CHILD_OURS ? pid : -pid, SIGKILL);
    while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        continue;
    return got < 0 ? -1 : status;
}

void child_take(int *end, struct buffer *out, size_t max, size_t *total) {
    char piece[65536];
    ssize_t size = read(*end, piece, sizeof piece);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size <= 0) {
        child_close(end);
        return;
    }
    size_t fits = out->size < max ? max - out->size : 0;
    buffer_add(out, piece, (size_t)size < fits ? (size_t)size : fits);
    *total += (size_t)size;
}

/* Reads both outputs to their ends. False with the error set at a limit. */
static bool read_outputs(struct child *child, const char *name, const struct child_limits *limits, struct buffer *out,
                         struct error *err) {
    size_t max = out->size + limits->output_max, total = out->size, ignored = 0;
    while (child->output[0] >= 0 || child->errors[0] >= 0) {
        struct pollfd ends[] = {{.fd = child->output[0], .events = POLLIN}, {.fd = child->errors[0], .events = POLLIN}};
        int64_t left = child->deadline_ms - now_ms();
        int ready = left > 0 ? poll(ends, 2, (int)left) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            error_fail(err, "%s: did not end within %d seconds, stopped", name, limits->seconds);
            return false;
        }
        if (ends[1].revents) child_take(&child->errors[0], &child->said, SAID_MAX, &ignored);
        if (ends[0].revents) child_take(&child->output[0], out, max, &total);
        if (total > max) {
            error_fail(err, "%s: more than %zu MiB of output, stopped", name, limits->output_max >> 20);
            return false;
        }
    }
    return true;
}

/* A child that closed its outputs may still run: waits for it until its time is over. */
static int wait_for(struct child *child) {
    for (int status;;) {
        pid_t got = waitpid(child->pid, &status, WNOHANG);
        if (got > 0) return status;
        if (got < 0 && errno != EINTR) return -1;
        if (now_ms() >= child->deadline_ms) return child_kill(child->pid, child->group);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static enum child_end judge(const struct child *child, const char *name, int status, struct error *err) {
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return CHILD_DONE;
    const char *said = buffer_text(&child->said);
    size_t size = strcspn(said, "\n");
    if (size)
        error_fail(err, "%s failed: %.*s", name, (int)size, said);
    else if (status >= 0 && WIFSIGNALED(status))
        error_fail(err, "%s was ended by signal %d", name, WTERMSIG(status));
    else
        error_fail(err, "%s failed with status %d", name, status >= 0 ? WEXITSTATUS(status) : -1);
    return CHILD_FAILED;
}

enum child_end child_read(const char *const *argv, const struct buffer *input, const struct child_limits *limits,
                          struct buffer *out, struct error *err) {
    struct child child = {.group = limits->group, .input = -1, .output = {-1, -1}, .errors = {-1, -1}};
    const char *name = path_base(argv[0]);
    enum child_end end = CHILD_FAILED;
    child.deadline_ms = now_ms() + (int64_t)limits->seconds * 1000;
    if ((child.input = child_input(input)) < 0 || pipe2(child.output, O_CLOEXEC) != 0 ||
        pipe2(child.errors, O_CLOEXEC) != 0) {
        error_fail(err, "%s: %s", name, strerror(errno));
        close_child(&child);
        return CHILD_FAILED;
    }
    const struct child_start how = {.argv = argv,
                                    .files = {child.input, child.output[1], child.errors[1]},
                                    .group = limits->group,
                                    .memory_max = limits->memory_max};
    int why = child_start(&how, &child.pid);
    child_close(&child.output[1]);
    child_close(&child.errors[1]);
    if (why == ENOENT) {
        end = CHILD_MISSING;
    } else if (why) {
        error_fail(err, "%s: %s", name, strerror(why));
    } else {
        if (!read_outputs(&child, name, limits, out, err)) child.deadline_ms = 0;
        int status = wait_for(&child);
        if (err->status == ERROR_NONE) end = judge(&child, name, status, err);
    }
    close_child(&child);
    return end;
}

char *child_find(const char *name, const char *directories) {
    for (const char *at = directories; at && *at;) {
        size_t size = strcspn(at, ":");
        char *path = xasprintf("%.*s/%s", size ? (int)size : 1, size ? at : ".", name);
        if (access(path, X_OK) == 0) return path;
        free(path);
        at += size + (at[size] == ':');
    }
    return NULL;
}
