/* job.h: a command of clear that makes an answer, in a process of its own beside the server, which goes on with other requests. The
 * request waits (exchange_wait) until the command has ended, or, where the answer is a stream, until there is output. Memory, time and
 * output are limited; when the client disconnects, the command is killed.
 *
 * At most JOBS_MAX run at a time, others wait for their turn. SQL of users may take all of its time: at most JOBS_SQL_MAX of these run
 * beside the others, and JOBS_SQL_OF_ADDRESS of one address. Private to serve/. */
#ifndef CLEAR_SERVE_JOB_H
#define CLEAR_SERVE_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

enum { JOBS_MAX = 4, JOBS_SQL_MAX = 4, JOBS_SQL_OF_ADDRESS = 2, JOB_WORDS_MAX = 80, JOB_SECONDS = 60 };

/* The words of a command; each is owned. */
struct job_words {
    char *items[JOB_WORDS_MAX + 1]; /* ends with NULL */
    size_t count;
};
void job_words_add(struct job_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE };

struct job {
    struct job_words words;
    struct buffer input; /* its standard input */
    size_t output_max;   /* bytes; more is a failure */
    int seconds;
    int stopping_seconds; /* after that time it is told to end (SIGTERM), and killed so much later; 0: killed at once */
    size_t memory_max;    /* bytes of its address space; 0: no limit */
    bool is_stream;       /* the output is sent as it comes */
    bool is_sql;          /* of a user */
    bool is_alone;        /* no two of these run at a time: it fetches runs of a store */
    bool writes;          /* into the warehouse: no two of these run at a time */
    bool to_file;         /* the output goes to `file`, which has no name, and not to `output` */

    enum job_state state;
    pid_t pid;
    int pipe, errors, file; /* -1: closed */
    bool is_watched;        /* the pipe is in the server's epoll */
    int64_t deadline_ns;    /* CLOCK_MONOTONIC */
    bool is_stopping;       /* it was told to end */
    struct buffer output, said;
    size_t output_total; /* bytes that have been read */
    int status;          /* of waitpid, once it is done */
    struct error
        err; /* of a job that is done and failed: ERROR_USAGE where the command said that the request is wrong */
};

/* A queued job; the caller fills words, input and limits. */
struct job *job_new(void);
/* Ends the command if it still runs. Safe on NULL. */
void job_free(struct job *job);
/* Starts the command; a failure is in job->err, and the job is done. */
void job_start(struct job *job, int epoll);
/* Tells it to end, as its time does: a command with stopping_seconds has so long, another one is killed. */
void job_stop(struct job *job, int64_t now_ns);
/* Reads what is there, without waiting; ends what took too long. */
void job_step(struct job *job, int epoll, int64_t now_ns);
/* The notes of a command that succeeded, as it printed them: lines "clear: TEXT". "" for none. */
const char *job_notes(const struct job *job);

#endif
