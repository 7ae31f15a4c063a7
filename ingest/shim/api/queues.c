/* The hooks of channels that are not the program's own: POSIX message queues and GLib's GAsyncQueue. Each call is first
 * tried without waiting, which tells whether the caller had to wait. The identity of a message queue is made of its
 * descriptor, that of a GAsyncQueue is its address. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ingest/shim/api/channel.h"
#include "ingest/shim/core/runtime.h"
#include "ingest/shim/core/slots.h"

/* The next definition after ours: in the usual search order, or in a library that was loaded out of it (a plug-in's own
 * GLib). */
static void *look_up_in(const char *library, const char *name) {
    void *found = is_late() ? late_function(name) : dlsym(RTLD_NEXT, name);
    if (found || !library) return found;
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD); /* layers: NOLOAD only finds what is loaded */
    return handle ? dlsym(handle, name) : NULL;
}

/* A function of another library, looked up at the first call. The look-up allocates, so it is made inside the guard. */
static void *look_up_once(void **place, const char *library, const char *name) {
    void *found = load_acquire(place);
    if (likely(found)) return found;
    int saved_errno = errno;
    struct thread *thread = thread_enter();
    found = look_up_in(library, name);
    if (thread) thread_leave(thread);
    store_release(place, found);
    errno = saved_errno;
    return found;
}

#define REAL(library, type, name, parameters)                                                                          \
    static void *name##_place;                                                                                         \
    typedef type(*name##_function) parameters;                                                                         \
    static ALWAYS_INLINE name##_function real_##name(void) {                                                           \
        return (name##_function)look_up_once(&name##_place, library, #name);                                           \
    }

static ALWAYS_INLINE struct thread *channel_enter(void) {
    struct thread *thread = thread_enter();
    if (unlikely(thread && !(process->features & FEATURE_CHANNELS))) {
        thread_leave(thread);
        return NULL;
    }
    return thread;
}

/* Starts the process if its first event is one of these. */
static ALWAYS_INLINE bool is_recording(void) {
    if (is_paused() || thread_is_blind()) return false;
    if (unlikely(load_relaxed(&process->state) == PROCESS_NEW)) {
        struct thread *thread = thread_enter();
        if (thread) thread_leave(thread);
    }
    return process->features & FEATURE_CHANNELS;
}

/* --- POSIX message queues ------------------------------------------------------------------------------------- */

REAL(NULL, int, mq_timedsend, (mqd_t, const char *, size_t, unsigned, const struct timespec *))
REAL(NULL, ssize_t, mq_timedreceive, (mqd_t, char *, size_t, unsigned *, const struct timespec *))
REAL(NULL, int, mq_send, (mqd_t, const char *, size_t, unsigned))
REAL(NULL, ssize_t, mq_receive, (mqd_t, char *, size_t, unsigned *))
REAL(NULL, int, mq_close, (mqd_t))

enum { QUEUE_BASE = 0x6d710000 }; /* the identity of descriptor 0; user programs map nothing there */

static uintptr_t queue_channel(mqd_t queue) {
    return QUEUE_BASE + (uintptr_t)queue;
}

/* Opens the channel of a queue at its first event. Its name is what /proc/self/fd/N links to (/NAME), its capacity
 * mq_maxmsg. */
static void meet_queue(struct thread *thread, mqd_t queue, const struct mq_attr *attributes) {
    if (channel_is_known(thread, queue_channel(queue))) return;
    char path[40] = "/proc/self/fd/", name[64];
    char digits[12];
    int count = 0;
    unsigned number = (unsigned)queue;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    char *at = path + strlen(path);
    while (count)
        *at++ = digits[--count];
    *at = '\0';
    ssize_t length = readlink(path, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    char *suffix = strstr(name, " (deleted)"); /* the queue was unlinked after it was opened */
    if (suffix) *suffix = '\0';
    channel_opened(thread, queue_channel(queue), (uint64_t)attributes->mq_maxmsg, name);
}

static void queue_sent(struct thread *thread, mqd_t queue, uint64_t blocked_ns) {
    struct mq_attr attributes;
    if (mq_getattr(queue, &attributes) != 0) return;
    meet_queue(thread, queue, &attributes);
    channel_pushed(thread, queue_channel(queue), (uint64_t)attributes.mq_curmsgs, blocked_ns);
}

static void queue_received(struct thread *thread, mqd_t queue, uint64_t blocked_ns) {
    struct mq_attr attributes;
    if (!channel_is_known(thread, queue_channel(queue))) {
        if (mq_getattr(queue, &attributes) != 0) return;
        meet_queue(thread, queue, &attributes);
    }
    channel_popped(thread, queue_channel(queue), blocked_ns);
}

static const struct timespec no_time = {
    0, 0}; /* a moment in the past: a call that would wait fails with ETIMEDOUT instead */

#define BLOCKING(result_type, try_call, wait_call, record)                                                             \
    if (!is_recording()) return wait_call;                                                                             \
    int before = errno;                                                                                                \
    uint64_t blocked_ns = 0;                                                                                           \
    result_type result = try_call;                                                                                     \
    if (result < 0 && errno == ETIMEDOUT) {                                                                            \
        uint64_t asked = clock_monotonic_ns();                                                                         \
        errno = before;                                                                                                \
        result = wait_call;                                                                                            \
        blocked_ns = clock_monotonic_ns() - asked + 1;                                                                 \
    }                                                                                                                  \
    struct thread *thread = result < 0 ? NULL : channel_enter();                                                       \
    if (thread) {                                                                                                      \
        RECORD(thread, record);                                                                                        \
        thread_leave(thread);                                                                                          \
    }                                                                                                                  \
    return result

HOOK int mq_send(mqd_t queue, const char *message, size_t size, unsigned priority) {
    BLOCKING(int, real_mq_timedsend()(queue, message, size, priority, &no_time),
             real_mq_send()(queue, message, size, priority), queue_sent(thread, queue, blocked_ns));
}

HOOK int mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned priority, const struct timespec *until) {
    BLOCKING(int, real_mq_timedsend()(queue, message, size, priority, &no_time),
             real_mq_timedsend()(queue, message, size, priority, until), queue_sent(thread, queue, blocked_ns));
}

HOOK ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority) {
    BLOCKING(ssize_t, real_mq_timedreceive()(queue, message, size, priority, &no_time),
             real_mq_receive()(queue, message, size, priority), queue_received(thread, queue, blocked_ns));
}

HOOK ssize_t mq_timedreceive(mqd_t queue, char *message, size_t size, unsigned *priority,
                             const struct timespec *until) {
    BLOCKING(ssize_t, real_mq_timedreceive()(queue, message, size, priority, &no_time),
             real_mq_timedreceive()(queue, message, size, priority, until), queue_received(thread, queue, blocked_ns));
}

/* The descriptor may name another queue next. */
HOOK int mq_close(mqd_t queue) {
    struct thread *thread = channel_enter();
    if (thread) {
        RECORD(thread, channel_identities_reused());
        thread_leave(thread);
    }
    return real_mq_close()(queue);
}

/* --- GAsyncQueue ---------------------------------------------------------------------------------------------- */

/* GLib's header is not included: it would be needed for these prototypes alone. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define GLIB "libglib-2.0.so.0"

typedef int (*compare_function)(const void *, const void *, void *);

REAL(GLIB, int, g_async_queue_length, (void *))
REAL(GLIB, int, g_async_queue_length_unlocked, (void *))
REAL(GLIB, void, g_async_queue_push, (void *, void *))
REAL(GLIB, void, g_async_queue_push_unlocked, (void *, void *))
REAL(GLIB, void, g_async_queue_push_front, (void *, void *))
REAL(GLIB, void, g_async_queue_push_front_unlocked, (void *, void *))
REAL(GLIB, void, g_async_queue_push_sorted, (void *, void *, compare_function, void *))
REAL(GLIB, void, g_async_queue_push_sorted_unlocked, (void *, void *, compare_function, void *))
REAL(GLIB, void *, g_async_queue_try_pop, (void *))
REAL(GLIB, void *, g_async_queue_try_pop_unlocked, (void *))
REAL(GLIB, void *, g_async_queue_pop, (void *))
REAL(GLIB, void *, g_async_queue_pop_unlocked, (void *))
REAL(GLIB, void *, g_async_queue_timeout_pop, (void *, uint64_t))
REAL(GLIB, void *, g_async_queue_timeout_pop_unlocked, (void *, uint64_t))

/* `before` is the length before the push; afterwards the queue may be freed already, by an owner that was waiting for
 * this message. It is negative while threads wait in pop; then the message goes straight to one of them. */
static void record_push(void *queue, int before) {
    struct thread *thread = channel_enter();
    if (!thread) return;
    RECORD(thread, channel_pushed(thread, (uintptr_t)queue, before < 0 ? 0 : (uint64_t)before + 1, 0));
    thread_leave(thread);
}

static void record_pop(void *queue, uint64_t blocked_ns) {
    struct thread *thread = channel_enter();
    if (!thread) return;
    RECORD(thread, channel_popped(thread, (uintptr_t)queue, blocked_ns));
    thread_leave(thread);
}

#define PUSH(length_call, push_call)                                                                                   \
    bool is_taken = is_recording();                                                                                    \
    int before = is_taken ? length_call : 0;                                                                           \
    push_call;                                                                                                         \
    if (is_taken) record_push(queue, before)

HOOK void g_async_queue_push(void *queue, void *data) {
    PUSH(real_g_async_queue_length()(queue), real_g_async_queue_push()(queue, data));
}

HOOK void g_async_queue_push_unlocked(void *queue, void *data) {
    PUSH(real_g_async_queue_length_unlocked()(queue), real_g_async_queue_push_unlocked()(queue, data));
}

HOOK void g_async_queue_push_front(void *queue, void *data) {
    PUSH(real_g_async_queue_length()(queue), real_g_async_queue_push_front()(queue, data));
}

HOOK void g_async_queue_push_front_unlocked(void *queue, void *data) {
    PUSH(real_g_async_queue_length_unlocked()(queue), real_g_async_queue_push_front_unlocked()(queue, data));
}

HOOK void g_async_queue_push_sorted(void *queue, void *data, compare_function compare, void *context) {
    PUSH(real_g_async_queue_length()(queue), real_g_async_queue_push_sorted()(queue, data, compare, context));
}

HOOK void g_async_queue_push_sorted_unlocked(void *queue, void *data, compare_function compare, void *context) {
    PUSH(real_g_async_queue_length_unlocked()(queue),
         real_g_async_queue_push_sorted_unlocked()(queue, data, compare, context));
}

#define POP(try_call, wait_call)                                                                                       \
    if (!is_recording()) return wait_call;                                                                             \
    uint64_t blocked_ns = 0;                                                                                           \
    void *data = try_call;                                                                                             \
    if (!data) {                                                                                                       \
        uint64_t asked = clock_monotonic_ns();                                                                         \
        data = wait_call;                                                                                              \
        blocked_ns = clock_monotonic_ns() - asked + 1;                                                                 \
    }                                                                                                                  \
    if (data) record_pop(queue, blocked_ns);                                                                           \
    return data

HOOK void *g_async_queue_pop(void *queue) {
    POP(real_g_async_queue_try_pop()(queue), real_g_async_queue_pop()(queue));
}

HOOK void *g_async_queue_pop_unlocked(void *queue) {
    POP(real_g_async_queue_try_pop_unlocked()(queue), real_g_async_queue_pop_unlocked()(queue));
}

HOOK void *g_async_queue_timeout_pop(void *queue, uint64_t timeout) {
    POP(real_g_async_queue_try_pop()(queue), real_g_async_queue_timeout_pop()(queue, timeout));
}

HOOK void *g_async_queue_timeout_pop_unlocked(void *queue, uint64_t timeout) {
    POP(real_g_async_queue_try_pop_unlocked()(queue), real_g_async_queue_timeout_pop_unlocked()(queue, timeout));
}

HOOK void *g_async_queue_try_pop(void *queue) {
    void *data = real_g_async_queue_try_pop()(queue);
    if (data && is_recording()) record_pop(queue, 0);
    return data;
}

HOOK void *g_async_queue_try_pop_unlocked(void *queue) {
    void *data = real_g_async_queue_try_pop_unlocked()(queue);
    if (data && is_recording()) record_pop(queue, 0);
    return data;
}
