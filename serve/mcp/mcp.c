#include "serve/mcp/mcp.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "serve/mcp/session.h"

enum {
    PIECE = 4096, /* what poll says that a pipe takes without waiting (PIPE_BUF) */
    READ_PIECE = 1 << 16,
    OUT_MAX = 8 << 20, /* bytes that the client does not read: no more is read of what it asks */
};

enum end { GOES_ON, INPUT_ENDED, IS_OVER };

/* INPUT, OUTPUT and SIGNALS are -1 where they are not waited for. */
enum { INPUT, OUTPUT, COMMANDS, SIGNALS, ENDS };

static int timeout_ms(const struct mcp_session *session) {
    int64_t now_ns = clock_monotonic_ns(), due_ns = session_due(session, now_ns);
    if (due_ns == INT64_MAX) return -1;
    int64_t ms = (due_ns - now_ns + 999999) / 1000000;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static enum end read_input(struct mcp_session *session, int input) {
    char bytes[READ_PIECE];
    ssize_t size = read(input, bytes, sizeof bytes);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return GOES_ON;
    if (size > 0) session_take(session, bytes, (size_t)size);
    if (size <= 0) session_end(session, clock_monotonic_ns());
    return size > 0 ? GOES_ON : INPUT_ENDED;
}

/* In pieces that do not wait: a client that reads nothing must not keep its commands from being stopped. */
static bool write_output(struct mcp_session *session, int output) {
    struct buffer *out = &session->out;
    ssize_t size = write(output, out->data, out->size < PIECE ? out->size : PIECE);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    memmove(out->data, out->data + size, out->size - (size_t)size + 1);
    out->size -= (size_t)size;
    return true;
}

/* One that is taken ends the server in order, and does not end the process afterwards. */
static bool take_signal(int signals, short revents) {
    struct signalfd_siginfo taken;
    return revents && read(signals, &taken, sizeof taken) == sizeof taken;
}

static int loop(struct mcp_session *session, int input, int output, int signals, struct error *err) {
    enum end state = GOES_ON;
    while (state == GOES_ON || (state == INPUT_ENDED && (session->call_count || session->out.size))) {
        struct pollfd ends[ENDS] = {
            [INPUT] = {.fd = state == GOES_ON && session->out.size < OUT_MAX ? input : -1, .events = POLLIN},
            [OUTPUT] = {.fd = output, .events = session->out.size ? POLLOUT : 0}, /* errors are told of in any case */
            [COMMANDS] = {.fd = session->epoll, .events = POLLIN},
            [SIGNALS] = {.fd = signals, .events = POLLIN}};
        if (poll(ends, ENDS, timeout_ms(session)) < 0) {
            if (errno == EINTR) continue;
            return error_fail(err, "waiting for requests: %s", strerror(errno));
        }
        if (take_signal(signals, ends[SIGNALS].revents) || ends[OUTPUT].revents & (POLLERR | POLLNVAL)) return 0;
        if (ends[INPUT].revents) state = read_input(session, input);
        session_step(session, clock_monotonic_ns());
        if (ends[OUTPUT].revents & POLLOUT && session->out.size && !write_output(session, output)) return 0;
    }
    return 0;
}

int mcp_run(const struct mcp_source *source, int input, int output, struct error *err) {
    struct mcp_session session;
    sigset_t caught, before;
    sigemptyset(&caught);
    sigaddset(&caught, SIGINT);
    sigaddset(&caught, SIGTERM);
    sigaddset(&caught, SIGHUP);
    sigprocmask(SIG_BLOCK, &caught, &before);
    signal(SIGPIPE, SIG_IGN);
    int signals = signalfd(-1, &caught, SFD_CLOEXEC), code = -1;
    if (signals < 0)
        error_fail(err, "waiting for signals: %s", strerror(errno));
    else if (session_open(&session, source, err) == 0)
        code = loop(&session, input, output, signals, err);
    if (signals >= 0) session_close(&session);
    child_close(&signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}
