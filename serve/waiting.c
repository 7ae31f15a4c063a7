/* waiting.c: requests that wait: for the end of a span of time (profile_answer.c), or for a command of clear that makes their answer
 * (serve/job.h). The library does not look after a connection that is suspended, so clients that left are found here. */
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "serve/exchange.h"
#include "serve/job.h"
#include "serve/library.h"

#define LOOK_NS                                                                                                        \
    INT64_C(100000000) /* between two checks for a flush of another process, and for clients of jobs that left */
#define SOON_NS INT64_C(1000000) /* a command that has closed its outputs ends in a moment */

/* True if the client has closed its side, which means that it gave up, as in net/http. */
static bool is_disconnected(const struct client *client) {
    struct pollfd one = {.fd = client->descriptor, .events = POLLRDHUP};
    return poll(&one, 1, 0) == 1 && one.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

void waiting_forget(struct exchange *exchange) {
    struct server *server = exchange->server;
    size_t i = 0;
    while (i < server->waiting_count && server->waiting[i] != exchange)
        i++;
    if (i < server->waiting_count) server->waiting[i] = server->waiting[--server->waiting_count];
    job_free(exchange->job);
    exchange->job = NULL;
    live_free(exchange->live);
    exchange->live = NULL;
}

static void resume(struct exchange *exchange) {
    exchange->is_waiting = exchange->is_suspended = false;
    if (exchange->connection) http.resume_connection(exchange->connection);
}

static void go_on(struct exchange *exchange) {
    waiting_forget(exchange);
    resume(exchange);
}

/* ---- jobs ---- */

static bool begins(const struct exchange *exchange) {
    return exchange->is_waiting && exchange->job->is_stream && exchange->job->output.size;
}

/* The request stays among those that wait until all is sent (server.c sends it). */
void exchange_stream(struct exchange *exchange, const char *type) {
    exchange->is_streaming = true;
    exchange->reply.status = MHD_HTTP_OK;
    exchange->reply.type = type;
}

static void begin_stream(struct exchange *exchange) {
    exchange->finish(exchange);
    exchange_stream(exchange, exchange->reply.type);
    resume(exchange);
}

static void wake(struct exchange *exchange, int64_t now_ns) {
    exchange->client->deadline_ns = now_ns + SEND_SECONDS * SECOND_NS;
    resume(exchange);
}

static bool step_live(struct exchange *exchange, int64_t now_ns) {
    live_step(exchange, now_ns);
    bool has_news = live_events(exchange->live)->size || live_is_over(exchange->live);
    if (!exchange->is_suspended || !has_news) return false;
    wake(exchange, now_ns);
    return true;
}

/* A failure behind the first lines of a stream is its last line. */
static void add_failure(struct job *job) {
    if (job->err.status == ERROR_NONE) return;
    buffer_add_text(&job->output, "{\"error\":");
    buffer_add_json_text(&job->output, job->err.message);
    buffer_add_text(&job->output, "}\n");
    job->err = (struct error){0};
}

/* A command that was ended, for its memory or time, would be so again: the sender need not try again. */
static unsigned failure_of(const struct exchange *exchange) {
    bool was_ended = exchange->job->writes && WIFSIGNALED(exchange->job->status);
    return was_ended ? MHD_HTTP_INTERNAL_SERVER_ERROR : exchange->failure;
}

static bool step_job(struct exchange *exchange, int64_t now_ns) {
    struct server *server = exchange->server;
    struct job *job = exchange->job;
    if (job->state == JOB_QUEUED) return false;
    job_step(job, server->descriptor, now_ns);
    if (exchange->is_streaming) {
        if (job->state == JOB_DONE) add_failure(job);
        if (!exchange->is_suspended || (!job->output.size && job->state != JOB_DONE)) return false;
        wake(exchange, now_ns);
    } else if (begins(exchange)) {
        begin_stream(exchange);
    } else if (job->state == JOB_DONE) {
        if (job->err.status == ERROR_NONE)
            exchange->finish(exchange);
        else if (job->err.status == ERROR_FAILURE && exchange->failure)
            exchange_error(exchange, failure_of(exchange), "%s", job->err.message);
        else
            exchange_failed(exchange, MHD_HTTP_BAD_REQUEST, &job->err);
        go_on(exchange);
    } else {
        return false;
    }
    return true;
}

/* SQL has places of its own, of which an address does not get all: somebody's query without end keeps nobody else waiting. */
static bool may_start(const struct exchange *exchange) {
    const struct server *server = exchange->server;
    size_t running = 0, of_address = 0;
    for (size_t i = 0; i < server->waiting_count; i++) {
        const struct exchange *one = server->waiting[i];
        if (!one->job || one->job->state != JOB_RUNNING) continue;
        if (one->job->is_alone && exchange->job->is_alone) return false;
        if (one->job->writes && exchange->job->writes) return false;
        if (exchange_is_sql(one) != exchange_is_sql(exchange)) continue;
        running++;
        of_address += clients_are_one(one->client, exchange->client);
    }
    if (exchange_is_sql(exchange)) return running < JOBS_SQL_MAX && of_address < JOBS_SQL_OF_ADDRESS;
    return running < JOBS_MAX;
}

/* The one that waits longest, of those that may start. */
static struct exchange *next_queued(const struct server *server) {
    struct exchange *next = NULL;
    for (size_t i = 0; i < server->waiting_count; i++) {
        struct exchange *one = server->waiting[i];
        if (!one->job || one->job->state != JOB_QUEUED || (next && one->queued_ns >= next->queued_ns)) continue;
        if (may_start(one)) next = one;
    }
    return next;
}

static void start_jobs(struct server *server) {
    struct exchange *next;
    while ((next = next_queued(server))) {
        if (next->job->is_alone && fetch_is_done(next))
            next->job->state = JOB_DONE;
        else
            job_start(next->job, server->descriptor);
    }
}

/* ---- all of them ---- */

/* Waits for the end of a span of time. */
static bool is_profile(const struct exchange *exchange) {
    return !exchange->job && !exchange->live;
}

static int64_t next_look(const struct server *server) {
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < server->waiting_count; i++)
        if (is_profile(server->waiting[i]) && server->waiting[i]->wait.due_ns < next_ns)
            next_ns = server->waiting[i]->wait.due_ns;
    return next_ns < server->looked_ns + LOOK_NS ? server->looked_ns + LOOK_NS : next_ns;
}

int64_t waiting_next(const struct server *server) {
    int64_t next_ns = next_look(server);
    for (size_t i = 0; i < server->waiting_count; i++) {
        const struct exchange *exchange = server->waiting[i];
        const struct job *job = exchange->job;
        if (is_profile(exchange)) continue;
        bool is_ending = job && !exchange->is_streaming && job->state == JOB_DONE;
        is_ending |= job && job->state == JOB_RUNNING && job->pipe < 0 && job->errors < 0;
        int64_t look_ns = is_ending ? clock_monotonic_ns() + SOON_NS : server->left_ns + LOOK_NS;
        if (look_ns < next_ns) next_ns = look_ns;
    }
    return next_ns;
}

/* A client that left in the middle of a stream is noticed by the library when there is more to send: it is woken. */
static bool has_left(struct exchange *exchange) {
    if (!is_disconnected(exchange->client)) return false;
    if (exchange->is_streaming) {
        if (exchange->is_suspended) {
            shutdown(exchange->client->descriptor, SHUT_RDWR);
            waiting_forget(exchange);
            resume(exchange);
        }
        return true;
    }
    exchange_error(exchange, MHD_HTTP_REQUEST_TIMEOUT, "the client has gone");
    go_on(exchange);
    return true;
}

bool waiting_step(struct server *server, int64_t now_ns, bool looks_for_clients) {
    bool any = false;
    bool looks = server->has_ended || now_ns >= next_look(server);
    bool looks_for_jobs = now_ns >= server->left_ns + LOOK_NS;
    if (looks) server->looked_ns = now_ns;
    if (looks_for_jobs) server->left_ns = now_ns;
    start_jobs(server);
    for (size_t i = server->waiting_count; i-- > 0;) {
        struct exchange *exchange = server->waiting[i];
        if ((is_profile(exchange) ? looks_for_clients : looks_for_jobs) && has_left(exchange)) {
            any = true;
        } else if (exchange->live) {
            any |= looks_for_jobs && step_live(exchange, now_ns);
        } else if (exchange->job) {
            any |= step_job(exchange, now_ns);
        } else if (looks && profile_answer_wait(exchange, now_ns)) {
            go_on(exchange);
            any = true;
        }
    }
    start_jobs(server);
    return any;
}

void waiting_close(struct server *server) {
    while (server->waiting_count) {
        struct exchange *exchange = server->waiting[server->waiting_count - 1];
        bool is_sleeping = exchange->is_waiting || exchange->is_suspended;
        if (!exchange->is_streaming) exchange_error(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is stopping");
        waiting_forget(exchange);
        if (is_sleeping) resume(exchange);
    }
}
