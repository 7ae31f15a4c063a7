#include "serve/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"

extern char **environ;

/* A sanitizer maps more than any limit. */
#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_MAX 0
#else
#define MEMORY_MAX ((size_t)3 << 30)
#endif

enum { SAID_MAX = 4096, STREAM_AHEAD = 1 << 20 /* bytes that are read before the client takes them */ };

/* ---- words ---- */

void job_words_add(struct job_words *words, const char *format, ...) {
    va_list args;
    char *word;
    if (words->count == JOB_WORDS_MAX) bug("a command of more than %d words", JOB_WORDS_MAX);
    va_start(args, format);
    if (vasprintf(&word, format, args) < 0) word = xstrdup("");
    va_end(args);
    words->items[words->count++] = word;
}

void job_words_free(struct job_words *words) {
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    *words = (struct job_words){0};
}

/* ---- start ---- */

struct job *job_new(void) {
    struct job *job = xcalloc(1, sizeof *job);
    job->pipe = job->errors = job->file = -1;
    job->seconds = JOB_SECONDS;
    job->output_max = (size_t)64 << 20;
    return job;
}

static void close_end(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
}

/* 0 or an errno. A group of its own, so that what the command starts (graphviz, objdump) ends with it. */
static int spawn(struct job *job, int input, int output, int errors) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    int why = posix_spawn(&job->pid, job->words.items[0], &actions, &attributes, job->words.items, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    const struct rlimit limit = {MEMORY_MAX, MEMORY_MAX};
    if (why == 0 && MEMORY_MAX > 0) (void)prlimit(job->pid, RLIMIT_AS, &limit, NULL);
    return why;
}

/* True for a pipe or file to write to; the job has the end to read from. */
static bool open_outputs(struct job *job, int *output, int *errors) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return false;
    job->errors = ends[0];
    *errors = ends[1];
    if (job->to_file) return (*output = job->file = memfd_create("answer", MFD_CLOEXEC)) >= 0;
    if (pipe2(ends, O_CLOEXEC)) return false;
    job->pipe = ends[0];
    *output = ends[1];
    return true;
}

static void watch(struct job *job, int epoll, bool is_watched) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = job};
    if (job->is_watched == is_watched || job->pipe < 0) return;
    job->is_watched = is_watched;
    (void)epoll_ctl(epoll, is_watched ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, job->pipe, &event);
}

void job_start(struct job *job, int epoll) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = job};
    int output = -1, errors = -1, input = child_input(&job->input);
    bool is_open = input >= 0 && open_outputs(job, &output, &errors);
    int why = is_open ? spawn(job, input, output, errors) : errno;
    close_end(&input);
    close_end(&errors);
    if (!job->to_file) close_end(&output);
    if (why) {
        job->state = JOB_DONE;
        error_fail(&job->err, "cannot start clear for the answer: %s%s", strerror(why),
                   is_open && why == ENOENT ? " (/proc is missing)" : "");
        return;
    }
    job->state = JOB_RUNNING;
    job->deadline_ns = clock_monotonic_ns() + job->seconds * INT64_C(1000000000);
    (void)fcntl(job->errors, F_SETFL, O_NONBLOCK);
    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, job->errors, &event);
    if (job->pipe >= 0) (void)fcntl(job->pipe, F_SETFL, O_NONBLOCK);
    watch(job, epoll, true);
}

/* ---- end ---- */

static void stop(struct job *job) {
    if (job->state != JOB_RUNNING) return;
    (void)kill(-job->pid, SIGKILL);
    while (waitpid(job->pid, &job->status, 0) < 0 && errno == EINTR)
        continue;
    job->state = JOB_DONE;
}

void job_free(struct job *job) {
    if (!job) return;
    stop(job);
    close_end(&job->pipe); /* which takes it out of the epoll too */
    close_end(&job->errors);
    close_end(&job->file);
    job_words_free(&job->words);
    buffer_free(&job->input);
    buffer_free(&job->output);
    buffer_free(&job->said);
    free(job);
}

/* The command's own message, without the name of the program and the hint to its help. */
static void take_message(struct job *job, enum error_status status) {
    const char *said = buffer_text(&job->said), *line = said;
    for (const char *next; (next = strstr(line, "\nclear: "));) /* the last one: notes come before it */
        line = next + 1;
    if (strncmp(line, "clear: ", 7) == 0) line += 7;
    size_t size = strcspn(line, "\n");
    const char *hint = strstr(line, " (see clear ");
    if (hint && hint < line + size) size = (size_t)(hint - line);
    if (!size)
        error_fail(&job->err, "clear ended without an answer");
    else if (status == ERROR_USAGE)
        error_usage(&job->err, "%.*s", (int)size, line);
    else
        error_fail(&job->err, "%.*s", (int)size, line);
}

static void judge(struct job *job) {
    job->state = JOB_DONE;
    if (WIFEXITED(job->status) && WEXITSTATUS(job->status) == 0) return;
    if (WIFEXITED(job->status))
        take_message(job, WEXITSTATUS(job->status) == ERROR_USAGE ? ERROR_USAGE : ERROR_FAILURE);
    else
        error_fail(&job->err, "the command was ended by signal %d", WTERMSIG(job->status));
}

const char *job_notes(const struct job *job) {
    return buffer_text(&job->said);
}

/* ---- output ---- */

/* Closes the end at the end of the output. */
static void read_some(int *end, struct buffer *into, size_t max, size_t *total) {
    char piece[65536];
    ssize_t size = read(*end, piece, sizeof piece);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size <= 0) {
        close_end(end);
        return;
    }
    size_t fits = into->size < max ? max - into->size : 0;
    buffer_add(into, piece, (size_t)size < fits ? (size_t)size : fits);
    *total += (size_t)size;
}

/* Up to 16 pieces, so that one command does not keep the others waiting. */
static void read_output(struct job *job) {
    size_t ignored = 0;
    if (job->errors >= 0) read_some(&job->errors, &job->said, SAID_MAX, &ignored);
    for (int i = 0; i < 16 && job->pipe >= 0 && (!job->is_stream || job->output.size < STREAM_AHEAD); i++) {
        size_t before = job->output_total;
        read_some(&job->pipe, &job->output, SIZE_MAX, &job->output_total);
        if (job->output_total == before || job->output_total > job->output_max) return;
    }
}

void job_step(struct job *job, int epoll, int64_t now_ns) {
    if (job->state != JOB_RUNNING) return;
    read_output(job);
    watch(job, epoll, !job->is_stream || job->output.size < STREAM_AHEAD);
    if (job->output_total > job->output_max) {
        stop(job);
        error_fail(&job->err, "the answer has more than %zu MiB", job->output_max >> 20);
    } else if (job->pipe < 0 && job->errors < 0 && waitpid(job->pid, &job->status, WNOHANG) == job->pid) {
        judge(job);
    } else if (now_ns >= job->deadline_ns) {
        stop(job);
        error_fail(&job->err, "it took longer than %d seconds and was stopped", job->seconds);
    }
}
