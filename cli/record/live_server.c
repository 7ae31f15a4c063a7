#include "cli/record/live_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sanitized.h"
#include "cli/cli.h"
#include "serve/serve.h"

enum {
    FINISH_MS = 5000, /* for the answers to waiting requests */
    NICENESS = 10,    /* of the server: the program and its recorder come first */
};
/* A sanitizer maps more than any limit. */
#if IS_SANITIZED
#define MEMORY_MAX RLIM_INFINITY
#else
#define MEMORY_MAX ((rlim_t)4 << 30)
#endif

enum call { CALL_OPENED, CALL_FLUSH, CALL_IS_ON, CALL_SET_ON, CALL_SET_OFF, CALL_STORE_EVENTS };

struct question { /* from the server */
    enum call call;
    int code;
    struct error err;
    char url[512]; /* of CALL_OPENED, as code and err are */
};

enum answer_kind { ANSWER_START, ANSWER_RESULT, ANSWER_END };

struct answer { /* from the recorder */
    enum answer_kind kind;
    int code;
    struct error err;
    int64_t run_id;          /* of ANSWER_START */
    struct server_dump dump; /* of CALL_STORE_EVENTS */
};

/* ---- in the server ---- */

struct live_serving {
    const struct live_server_terms *terms;
    int socket;
    bool is_over; /* the recording has ended */
};

static bool receive(struct live_serving *serving, struct answer *answer) {
    ssize_t size;
    do
        size = recv(serving->socket, answer, sizeof *answer, 0);
    while (size < 0 && errno == EINTR);
    return size == (ssize_t)sizeof *answer;
}

/* The answer's code. */
static int ask_for(struct live_serving *serving, enum call call, struct answer *result, struct error *err) {
    const struct question question = {.call = call};
    struct answer answer;
    bool is_sent = send(serving->socket, &question, sizeof question, MSG_NOSIGNAL) == (ssize_t)sizeof question;
    while (is_sent && receive(serving, &answer)) {
        if (answer.kind == ANSWER_END) serving->is_over = true;
        if (answer.kind != ANSWER_RESULT) continue;
        if (answer.code < 0) *err = answer.err;
        *result = answer;
        return answer.code;
    }
    return error_fail(err, "the recorder has ended");
}

static int ask(struct live_serving *serving, enum call call, struct error *err) {
    struct answer ignored;
    return ask_for(serving, call, &ignored, err);
}

static int ask_flush(void *context, struct error *err) {
    return ask(context, CALL_FLUSH, err);
}

static bool ask_is_on(void *context) {
    struct error ignored = {0};
    return ask(context, CALL_IS_ON, &ignored) > 0;
}

static int ask_set(void *context, bool is_on, struct error *err) {
    return ask(context, is_on ? CALL_SET_ON : CALL_SET_OFF, err);
}

static int ask_store_events(void *context, struct server_dump *dump, struct error *err) {
    struct answer answer;
    int code = ask_for(context, CALL_STORE_EVENTS, &answer, err);
    if (code == 0) *dump = answer.dump;
    return code;
}

static bool records(void *context, const char *kind) {
    const struct live_serving *serving = context;
    return serving->terms->records(serving->terms->context, kind);
}

static int open_server(struct live_serving *serving, struct server **server, struct db *db, int64_t run_id,
                       struct error *err) {
    const struct live_server_terms *terms = serving->terms;
    if (cli_open(db, terms->database, DB_READ, err)) return -1;
    const struct server_source source = {.db = db,
                                         .run_id = run_id,
                                         .flush = ask_flush,
                                         .records = records,
                                         .token = terms->anywhere ? terms->token : NULL,
                                         .certificate = terms->certificate,
                                         .key = terms->key,
                                         .control = {.is_on = ask_is_on,
                                                     .set = ask_set,
                                                     .store_events = terms->store_events ? ask_store_events : NULL,
                                                     .token = terms->token,
                                                     .context = serving},
                                         .context = serving};
    return server_open(server, terms->address, terms->anywhere, &source, err);
}

static void serve(struct live_serving *serving, struct server *server) {
    while (!serving->is_over) {
        struct pollfd polled[] = {{.fd = server_descriptor(server), .events = POLLIN},
                                  {.fd = serving->socket, .events = POLLIN}};
        int64_t wait_ns = server_timeout(server);
        struct answer answer;
        poll(polled, 2, wait_ns < 0 ? -1 : (int)((wait_ns + 999999) / 1000000));
        if (polled[1].revents && (!receive(serving, &answer) || answer.kind == ANSWER_END)) serving->is_over = true;
        server_step(server);
    }
    server_finish(server);
}

/* Signals of the terminal are for the program, and if the recorder is killed, so are we. */
static void live_apart(void) {
    const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};
    setpgid(0, 0);
    prctl(PR_SET_NAME, "clear-server");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICENESS);
    setrlimit(RLIMIT_AS, &memory);
    signal(SIGPIPE, SIG_IGN);
}

_Noreturn static void run(struct live_serving *serving) {
    struct question opened = {.call = CALL_OPENED};
    struct server *server = NULL;
    struct db db = {0};
    struct answer start;
    live_apart();
    if (!receive(serving, &start) || start.kind != ANSWER_START) _exit(0); /* the run never came into the warehouse */
    opened.code = open_server(serving, &server, &db, start.run_id, &opened.err);
    if (server) snprintf(opened.url, sizeof opened.url, "%s", server_url(server));
    bool is_sent = send(serving->socket, &opened, sizeof opened, MSG_NOSIGNAL) == (ssize_t)sizeof opened;
    if (is_sent && server) serve(serving, server);
    struct error ignored = {0};
    server_close(server);
    db_close(&db, &ignored);
    _exit(0);
}

/* ---- in the recorder ---- */

int live_server_start(struct live_server *live, const struct live_server_terms *terms, struct error *err) {
    int ends[2];
    *live = (struct live_server){.terms = terms, .socket = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_fail(err, "socketpair: %s", strerror(errno));
    live->pid = fork();
    if (live->pid == 0) {
        close(ends[0]);
        run(&(struct live_serving){terms, ends[1], false});
    }
    close(ends[1]);
    live->socket = ends[0];
    return live->pid > 0 ? 0 : error_fail(err, "fork: %s", strerror(errno));
}

static void tell(struct live_server *live, const struct answer *answer) {
    ssize_t ignored = send(live->socket, answer, sizeof *answer, MSG_NOSIGNAL);
    (void)ignored; /* a server that has ended is noticed by the next read */
}

int live_server_open(struct live_server *live, int64_t run_id, struct error *err) {
    struct question opened;
    ssize_t size;
    tell(live, &(struct answer){.kind = ANSWER_START, .run_id = run_id});
    do
        size = recv(live->socket, &opened, sizeof opened, 0);
    while (size < 0 && errno == EINTR);
    if (size != (ssize_t)sizeof opened) return error_fail(err, "the server ended before it listened");
    if (opened.code) {
        *err = opened.err;
        return -1;
    }
    memcpy(live->url, opened.url, sizeof live->url);
    return 0;
}

static struct answer answer_to(const struct live_server *live, enum call call) {
    const struct live_server_terms *terms = live->terms;
    struct answer answer = {.kind = ANSWER_RESULT};
    switch (call) {
    case CALL_OPENED: break;
    case CALL_FLUSH: answer.code = terms->flush(terms->context, &answer.err); break;
    case CALL_IS_ON: answer.code = terms->is_on(terms->context); break;
    case CALL_STORE_EVENTS: answer.code = terms->store_events(terms->context, &answer.dump, &answer.err); break;
    case CALL_SET_ON:
    case CALL_SET_OFF: answer.code = terms->set(terms->context, call == CALL_SET_ON, &answer.err); break;
    }
    return answer;
}

static int forget(struct live_server *live) {
    int status = 0;
    close(live->socket);
    while (waitpid(live->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    live->socket = -1;
    live->pid = 0;
    return status;
}

/* Answers all questions that are there. False: the server has ended. */
static bool answer_all(struct live_server *live) {
    for (;;) {
        struct question question;
        ssize_t size = recv(live->socket, &question, sizeof question, MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return true;
        if (size != (ssize_t)sizeof question) return false;
        const struct answer answer = answer_to(live, question.call);
        tell(live, &answer);
    }
}

void live_server_step(struct live_server *live) {
    if (live->socket < 0 || answer_all(live)) return;
    int status = forget(live);
    if (WIFSIGNALED(status))
        error_print("the server was ended by signal %d; the recording goes on", WTERMSIG(status));
    else
        error_print("the server has ended; the recording goes on");
}

void live_server_finish(struct live_server *live) {
    int64_t until_ns = clock_monotonic_ns() + FINISH_MS * INT64_C(1000000);
    if (live->socket < 0) return;
    tell(live, &(struct answer){.kind = ANSWER_END});
    while (answer_all(live) && clock_monotonic_ns() < until_ns) {
        struct pollfd one = {.fd = live->socket, .events = POLLIN};
        poll(&one, 1, 100);
    }
    kill(live->pid, SIGKILL); /* has mostly ended */
    (void)forget(live);
}
