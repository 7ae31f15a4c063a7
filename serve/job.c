#include "serve/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"

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

static void words_free(struct job_words *words) {
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    *words = (struct job_words){0};
}

/* ---- start ---- */

struct job *job_new(void) {
    struct job *job = xcalloc(1, sizeof *job);
    job->pipe = job->errors = job->file = -1;
    job->seconds = JOB_SECONDS;
    job->memory_max = CHILD_MEMORY_MAX;
    job->output_max = (size_t)64 << 20;
    return job;
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
    /* A group of its own, so that what the command starts (graphviz, objdump) ends with it. */
    const struct child_start how = {.argv = (const char *const *)job->words.items,
                                    .files = {input, output, errors},
                                    .group = CHILD_GROUP,
                                    .memory_max = job->memory_max};
    int why = is_open ? child_start(&how, &job->pid) : errno;
    child_close(&input);
    buffer_free(&job->input); /* the command has a copy */
    child_close(&errors);
    if (!job->to_file) child_close(&output);
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
    job->status = child_kill(job->pid, CHILD_GROUP);
    job->state = JOB_DONE;
}

void job_free(struct job *job) {
    if (!job) return;
    stop(job);
    child_close(&job->pipe); /* which takes it out of the epoll too */
    child_close(&job->errors);
    child_close(&job->file);
    words_free(&job->words);
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

/* Up to 16 pieces, so that one command does not keep the others waiting. */
static void read_output(struct job *job) {
    size_t ignored = 0;
    if (job->errors >= 0) child_take(&job->errors, &job->said, SAID_MAX, &ignored);
    for (int i = 0; i < 16 && job->pipe >= 0 && (!job->is_stream || job->output.size < STREAM_AHEAD); i++) {
        size_t before = job->output_total;
        child_take(&job->pipe, &job->output, SIZE_MAX, &job->output_total);
        if (job->output_total == before || job->output_total > job->output_max) return;
    }
}

void job_stop(struct job *job, int64_t now_ns) {
    if (job->state == JOB_RUNNING && job->stopping_seconds && !job->is_stopping) {
        (void)kill(job->pid, SIGTERM);
        job->deadline_ns = now_ns + job->stopping_seconds * INT64_C(1000000000);
        job->is_stopping = true;
    } else {
        stop(job);
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
    } else if (job->is_stopping && waitpid(job->pid, &job->status, WNOHANG) == job->pid) {
        (void)kill(-job->pid, SIGKILL); /* what it started may hold its outputs open */
        judge(job);
    } else if (now_ns >= job->deadline_ns) {
        job_stop(job, now_ns);
        if (job->state == JOB_DONE)
            error_fail(&job->err, "it took longer than %d seconds and was stopped", job->seconds);
    }
}
