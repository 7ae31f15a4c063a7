/* Bytes of a client, through libmicrohttpd and all of serve/ but the commands that make answers. Whatever they are: the server goes on, only
 * a request that names this server gets more than an error, and only one with the token switches the recording or has profiles stored. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "fuzz/fuzz.h"
#include "fuzz/replay.h"
#include "fuzz/warehouse.h"
#include "serve/job.h"
#include "serve/serve.h"

enum {
    OF_ADDRESS = 8192 /* ports that are used up for a minute */,
    TRIES = 50, /* of addresses */
    STEPS_MAX = 40,
    ANSWER_MAX = 1 << 16,
    PASSED_S = 60,
    PASSES = 128
};

static const char token[] = "fuzz-token-0123456789";
static struct server *server;
static struct sockaddr_in place = {.sin_family = AF_INET};
static int64_t passed_ns; /* more than the clock says, so that nothing waits */
static bool is_on, was_switched, was_stored;
static unsigned inputs;

/* ---- around the clock and the commands (the linker's --wrap) ---- */

int64_t __real_clock_monotonic_ns(void);
int64_t __wrap_clock_monotonic_ns(void);
void __real_job_start(struct job *job, int epoll);
void __wrap_job_start(struct job *job, int epoll);

int64_t __wrap_clock_monotonic_ns(void) {
    return __real_clock_monotonic_ns() + passed_ns;
}

void __wrap_job_start(struct job *job, int epoll) {
    if (fuzz_job)
        fuzz_job(job);
    else
        __real_job_start(job, epoll);
}

/* The command would be this program. */
static void answer_job(struct job *job) {
    was_stored |= job->writes;
    buffer_add_text(&job->output, "{}\n");
    job->state = JOB_DONE;
}

/* ---- the server ---- */

static int open_warehouse(void *context, struct db *db, struct error *err) {
    (void)context;
    return db_open(db, fuzz_warehouse()->path, DB_READ, err);
}

static bool get(void *context) {
    (void)context;
    return is_on;
}

static int set(void *context, bool on, struct error *err) {
    (void)context;
    (void)err;
    is_on = on;
    was_switched = true;
    return 0;
}

static int store_events(void *context, struct server_dump *dump, struct error *err) {
    (void)context;
    (void)err;
    *dump = (struct server_dump){.saved = 1};
    was_switched = true;
    return 0;
}

static void end(void) {
    server_close(server);
}

static void start(void) {
    static const struct server_source source = {.open = open_warehouse,
                                                .name = "fuzz",
                                                .control = {get, set, store_events, token, NULL},
                                                .receive = {"fuzz", token, INT64_C(3600000000000)}};
    struct error err = {0};
    if (server) return;
    (void)fuzz_warehouse();
    fuzz_job = answer_job;
    if (server_open(&server, "127.0.0.1:0", false, &source, &err)) bug("%s", err.message);
    place.sin_port = htons((uint16_t)atoi(strrchr(server_url(server), ':') + 1));
    if (!place.sin_port) place.sin_port = htons((uint16_t)atoi(strstr(server_url(server), "127.0.0.1:") + 10));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    atexit(end);
}

/* ---- a client ---- */

/* From the address of that number; -1: what is left of earlier connections is in its way. */
static int connected_from(unsigned number) {
    const struct linger at_once = {.l_onoff = 1}; /* no port stays taken behind it */
    const struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + number)};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0) bug("no socket: %s", strerror(errno));
    setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (bind(client, (const struct sockaddr *)&own, sizeof own) == 0 &&
        connect(client, (struct sockaddr *)&place, sizeof place) == 0)
        return client;
    close(client);
    return -1;
}

static int connected(const uint8_t *data, size_t size) {
    static unsigned number;
    int client = -1;
    if (inputs % OF_ADDRESS == 0) number++;
    for (int tries = 0; client < 0 && tries < TRIES; tries++)
        if ((client = connected_from(number)) < 0) number++;
    if (client < 0) bug("nobody listens: %s", strerror(errno));
    (void)!send(client, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(client, SHUT_WR);
    return client;
}

/* Until the server closes, or says no more. */
static size_t exchange(int client, char *answer, size_t room) {
    size_t got = 0;
    for (int step = 0; step < STEPS_MAX; step++) {
        server_step(server);
        ssize_t more = got < room ? recv(client, answer + got, room - got, MSG_DONTWAIT) : 0;
        if (more == 0) break;
        if (more > 0) got += (size_t)more;
        if (more < 0 && step > 4 && got) break;
    }
    return got;
}

static bool names_server(const char *request) {
    return strcasestr(request, "127.0.0.1") || strcasestr(request, "localhost") || strstr(request, "::1");
}

static void check(const uint8_t *data, size_t size, const char *answer) {
    char *request = xmalloc(size + 1);
    memcpy(request, data, size);
    request[size] = '\0';
    for (size_t i = 0; i < size; i++)
        if (!request[i]) request[i] = ' ';
    if (strncmp(answer, "HTTP/1.", 7) == 0) replay_taken++;
    if (strncmp(answer, "HTTP/1.1 200", 12) == 0 && !names_server(request)) bug("an answer under another name");
    if (was_switched && !strstr(request, token)) bug("switched without the token");
    if (was_switched && !strstr(request, "POST")) bug("switched without POST");
    if (was_stored && !strstr(request, token) && !strcasestr(request, "Basic")) bug("stored without the token");
    if (was_stored && !strstr(request, "POST")) bug("stored without POST");
    was_switched = was_stored = false;
    free(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char answer[ANSWER_MAX + 1];
    start();
    int client = connected(data, size);
    size_t got = exchange(client, answer, ANSWER_MAX);
    answer[got] = '\0';
    close(client);
    /* Behind each minute the warehouse is opened anew, which takes longer than all else. */
    if (inputs++ % PASSES == 0 || replay_is_whole) passed_ns += PASSED_S * INT64_C(1000000000);
    server_step(server);
    check(data, size, answer);
    return 0;
}
