/* The hooks of calls that wait for the system and move no bytes: with TRACE_SYSCALL each that took long is an event, with TRACE_WALL
 * each is published while it lasts, else they cost one load. The thread is not entered during the call, and the stack of a long one
 * is walked after it: it is the same. */
#undef _FORTIFY_SOURCE
#include <errno.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/events/waiting_calls.h"
#include "ingest/shim/stacks/unwind.h"

/* The shape of the hooks. */
#define TRACED(type, which, call)                                                                                      \
    if (!traces(TRACE_SYSCALL | TRACE_WALL) || thread_is_blind()) return call;                                         \
    uint64_t since = clock_ticks();                                                                                    \
    call_begins(CALL_##which, CALLER());                                                                               \
    type result = call;                                                                                                \
    call_ends();                                                                                                       \
    if (traces(TRACE_SYSCALL))                                                                                         \
        trace_call_ended(EVENT_SYSCALL, call_names[CALL_##which], since, result == -1 && errno == EINTR, CALLER());    \
    return result

/* --- files and sockets ---------------------------------------------------------------------------------------- */

HOOK int poll(struct pollfd *files, nfds_t count, int timeout) {
    TRACED(int, POLL, real.poll(files, count, timeout));
}

HOOK int __poll_chk(struct pollfd *files, nfds_t count, int timeout, size_t room) {
    TRACED(int, POLL, real.__poll_chk(files, count, timeout, room));
}

HOOK int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    TRACED(int, PPOLL, real.ppoll(files, count, timeout, mask));
}

HOOK int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                     size_t room) {
    TRACED(int, PPOLL, real.__ppoll_chk(files, count, timeout, mask, room));
}

HOOK int select(int count, fd_set *restrict read, fd_set *restrict write, fd_set *restrict except,
                struct timeval *restrict timeout) {
    TRACED(int, SELECT, real.select(count, read, write, except, timeout));
}

HOOK int pselect(int count, fd_set *restrict read, fd_set *restrict write, fd_set *restrict except,
                 const struct timespec *restrict timeout, const sigset_t *restrict mask) {
    TRACED(int, PSELECT, real.pselect(count, read, write, except, timeout, mask));
}

HOOK int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout) {
    TRACED(int, EPOLL_WAIT, real.epoll_wait(epoll, events, room, timeout));
}

HOOK int epoll_pwait(int epoll, struct epoll_event *events, int room, int timeout, const sigset_t *mask) {
    TRACED(int, EPOLL_PWAIT, real.epoll_pwait(epoll, events, room, timeout, mask));
}

HOOK int epoll_pwait2(int epoll, struct epoll_event *events, int room, const struct timespec *timeout,
                      const sigset_t *mask) {
    TRACED(int, EPOLL_PWAIT2, real.epoll_pwait2(epoll, events, room, timeout, mask));
}

HOOK int accept(int socket, __SOCKADDR_ARG from, socklen_t *restrict length) {
    TRACED(int, ACCEPT, real.accept(socket, from, length));
}

HOOK int accept4(int socket, __SOCKADDR_ARG from, socklen_t *restrict length, int flags) {
    TRACED(int, ACCEPT4, real.accept4(socket, from, length, flags));
}

HOOK int connect(int socket, __CONST_SOCKADDR_ARG to, socklen_t length) {
    TRACED(int, CONNECT, real.connect(socket, to, length));
}

HOOK int flock(int file, int operation) {
    TRACED(int, FLOCK, real.flock(file, operation));
}

/* --- processes and signals ------------------------------------------------------------------------------------ */

HOOK pid_t wait(int *status) {
    TRACED(pid_t, WAIT, real.wait(status));
}

HOOK pid_t waitpid(pid_t pid, int *status, int options) {
    TRACED(pid_t, WAITPID, real.waitpid(pid, status, options));
}

HOOK pid_t wait3(int *status, int options, struct rusage *usage) {
    TRACED(pid_t, WAIT3, real.wait3(status, options, usage));
}

HOOK pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
    TRACED(pid_t, WAIT4, real.wait4(pid, status, options, usage));
}

HOOK int waitid(idtype_t type, id_t id, siginfo_t *information, int options) {
    TRACED(int, WAITID, real.waitid(type, id, information, options));
}

/* It returns the error. */
HOOK int sigwait(const sigset_t *restrict set, int *restrict number) {
    TRACED(int, SIGWAIT, real.sigwait(set, number));
}

HOOK int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict information) {
    TRACED(int, SIGWAITINFO, real.sigwaitinfo(set, information));
}

HOOK int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict information,
                      const struct timespec *restrict timeout) {
    TRACED(int, SIGTIMEDWAIT, real.sigtimedwait(set, information, timeout));
}

/* The next two end by a signal alone. */
HOOK int sigsuspend(const sigset_t *set) {
    TRACED(int, SIGSUSPEND, real.sigsuspend(set));
}

HOOK int pause(void) {
    TRACED(int, PAUSE, real.pause());
}
