/* The hooks of input and output. Each call is counted with its stack: calls, bytes, errors, time. What the C library calls
 * by itself is not seen: stdio, when a buffer is full or a stream closed; fflush is a hook of its own.
 *
 * The thread is not entered during the real call: a read may wait for hours, and end by a cancellation. So the stack is
 * walked before the call and the result counted after it. Clocks: while calls of a stack take less than about 2 us in the
 * mean, one in eight is timed after the first thousand. Costs about 60 ns a call; the cheapest system call takes 100. */
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ingest/shim/core/real.h"
#include "ingest/shim/events/trace.h"
#include "ingest/shim/events/waiting_calls.h"
#include "ingest/shim/locks/lockrecord.h"
#include "ingest/shim/stacks/callstack.h"
#include "ingest/shim/stacks/entries.h"
#include "ingest/shim/stacks/unwind.h"

enum {
    ALL_TIMED = 1024,      /* the first calls of a stack in a thread are all timed */
    SHORT_CALL_SHIFT = 12, /* a call of less than 4,096 ticks is short: 1.2 to 2 us */
    CALLS_SAMPLED = 8,     /* of short calls one in so many is timed, and counts so many times */
    ENTRIES_PER_CHUNK = 32,
};

/* A call under way. */
struct io_begun {
    struct io_counters *counters; /* NULL: not recorded */
    uint64_t since;               /* 0: no clock was read */
    uint32_t weight;              /* calls that this one stands for in the time; 0: it is not timed */
};

/* At random intervals, because fixed ones can fall into step with the program. */
static uint32_t draw_interval(struct thread *thread) {
    if (unlikely(!thread->io_random)) thread->io_random = (uint32_t)(uintptr_t)thread->counters | 1;
    thread->io_random = thread->io_random * 1664525u + 1013904223u;
    return (thread->io_random >> 16) % (2 * CALLS_SAMPLED - 1);
}

static uint32_t time_weight(struct thread *thread, const struct io_counters *counters) {
    uint64_t calls = load_relaxed(&counters->calls);
    if (calls < ALL_TIMED || load_relaxed(&counters->time) >> SHORT_CALL_SHIFT >= calls) return 1;
    if (thread->io_to_skip) {
        thread->io_to_skip--;
        return 0;
    }
    thread->io_to_skip = draw_interval(thread);
    return CALLS_SAMPLED;
}

static void begin(struct thread *thread, enum segment_io_call call, struct frame frame, struct io_begun *io) {
    static const struct entry_shape shape = {CHUNK_IO, sizeof(struct segment_io), ENTRIES_PER_CHUNK};
    struct entry_key key = {.stack = callstack(thread, frame), .part = call};
    struct segment_io *entry = key.stack ? entry_of(thread, &thread->io, key, shape) : NULL;
    if (unlikely(!entry)) {
        fetch_add_relaxed(&process->segment->dropped_io, 1);
        return;
    }
    io->counters = &entry->counters;
    holds_mark(thread);
    call_published(thread, call, key.stack);
    io->weight = time_weight(thread, io->counters);
    if (io->weight || traces(TRACE_SYSCALL)) io->since = clock_ticks();
}

/* Before the call. */
static __attribute__((noinline)) void io_begin(struct io_begun *io, enum segment_io_call call, struct frame frame) {
    struct thread *thread = thread_enter();
    io->counters = NULL;
    io->since = 0;
    if (!thread) return;
    (void)stays_sealed(); /* a program without new threads and stacks comes here */
    if (likely(process->features & FEATURE_IO)) RECORD(thread, begin(thread, call, frame, io));
    thread_leave(thread);
}

static ALWAYS_INLINE bool io_passes(void) {
    return load_relaxed(&is_io_off) || is_paused();
}

static const struct segment_io *entry_of_counters(const struct io_counters *counters) {
    return (const struct segment_io *)((const char *)counters - offsetof(struct segment_io, counters));
}

static void count(struct io_counters *counters, ssize_t result, uint64_t moved, uint64_t asked) {
    add_own(&counters->calls, 1);
    if (result < 0) add_own(errno == EAGAIN ? &counters->would_block : &counters->errors, 1);
    add_own(&counters->bytes, moved);
    if (moved && moved < IO_SMALL && entry_of_counters(counters)->call < IO_SENDFILE) {
        add_own(&counters->small_calls, 1);
        add_own(&counters->small_bytes, moved);
    }
    if (moved && moved < asked) add_own(&counters->short_calls, 1);
}

static void count_time(const struct io_begun *io, uint64_t now) {
    uint64_t took = now > io->since ? now - io->since : 0;
    add_own(&io->counters->time, io->weight * took);
    add_own(&io->counters->timed_calls, 1);
    max_own(&io->counters->time_max, took);
}

static void trace_io(struct thread *thread, const struct io_begun *io, uint64_t now, bool is_interrupted) {
    const struct segment_io *entry = entry_of_counters(io->counters);
    trace_call(thread, call_names[entry->call], io->since, now, is_interrupted, entry->stack);
}

/* A call returned `result`, below 0 where it failed, and moved so many bytes. asked: 0 where it is not known. */
static __attribute__((noinline)) void io_end(const struct io_begun *io, ssize_t result, uint64_t moved,
                                             uint64_t asked) {
    uint64_t now = io->since ? clock_ticks() : 0;
    call_ends();
    struct thread *thread = thread_enter();
    if (!thread) return;
    count(io->counters, result, moved, asked);
    if (io->weight) count_time(io, now);
    if (traces(TRACE_SYSCALL) && io->since) trace_io(thread, io, now, result < 0 && errno == EINTR);
    thread_leave(thread);
}

/* The shape of the hooks. */
#define RECORDED(type, which, moved, asked, call)                                                                      \
    if (io_passes()) return call;                                                                                      \
    struct io_begun io;                                                                                                \
    io_begin(&io, which, CALLER_FRAME());                                                                              \
    type result = call;                                                                                                \
    if (likely(io.counters)) io_end(&io, result, moved, asked);                                                        \
    return result

#define MOVES(which, asked, call)  RECORDED(ssize_t, which, result > 0 ? (uint64_t)result : 0, asked, call)
#define MOVES_NOTHING(which, call) RECORDED(int, which, 0, 0, call)

enum {
    NOT_ONE_NUMBER = 0
}; /* vectors are the kernel's to read: they may be none. What a file or a pipe has not cannot be moved */

/* --- reading ---------------------------------------------------------------------------------------------------- */

HOOK ssize_t read(int file, void *buffer, size_t size) {
    MOVES(IO_READ, size, real.read(file, buffer, size));
}

HOOK ssize_t __read_chk(int file, void *buffer, size_t size, size_t room) {
    MOVES(IO_READ, size, real.__read_chk(file, buffer, size, room));
}

HOOK ssize_t pread(int file, void *buffer, size_t size, off_t offset) {
    MOVES(IO_PREAD, size, real.pread(file, buffer, size, offset));
}

HOOK ssize_t pread64(int file, void *buffer, size_t size, off64_t offset) {
    MOVES(IO_PREAD, size, real.pread64(file, buffer, size, offset));
}

HOOK ssize_t __pread_chk(int file, void *buffer, size_t size, off_t offset, size_t room) {
    MOVES(IO_PREAD, size, real.__pread_chk(file, buffer, size, offset, room));
}

HOOK ssize_t __pread64_chk(int file, void *buffer, size_t size, off64_t offset, size_t room) {
    MOVES(IO_PREAD, size, real.__pread64_chk(file, buffer, size, offset, room));
}

HOOK ssize_t readv(int file, const struct iovec *vectors, int count) {
    MOVES(IO_READV, NOT_ONE_NUMBER, real.readv(file, vectors, count));
}

HOOK ssize_t preadv(int file, const struct iovec *vectors, int count, off_t offset) {
    MOVES(IO_PREADV, NOT_ONE_NUMBER, real.preadv(file, vectors, count, offset));
}

HOOK ssize_t preadv64(int file, const struct iovec *vectors, int count, off64_t offset) {
    MOVES(IO_PREADV, NOT_ONE_NUMBER, real.preadv64(file, vectors, count, offset));
}

HOOK ssize_t preadv2(int file, const struct iovec *vectors, int count, off_t offset, int flags) {
    MOVES(IO_PREADV, NOT_ONE_NUMBER, real.preadv2(file, vectors, count, offset, flags));
}

HOOK ssize_t preadv64v2(int file, const struct iovec *vectors, int count, off64_t offset, int flags) {
    MOVES(IO_PREADV, NOT_ONE_NUMBER, real.preadv64v2(file, vectors, count, offset, flags));
}

HOOK ssize_t recv(int socket, void *buffer, size_t size, int flags) {
    MOVES(IO_RECV, size, real.recv(socket, buffer, size, flags));
}

HOOK ssize_t __recv_chk(int socket, void *buffer, size_t size, size_t room, int flags) {
    MOVES(IO_RECV, size, real.__recv_chk(socket, buffer, size, room, flags));
}

HOOK ssize_t recvfrom(int socket, void *restrict buffer, size_t size, int flags, __SOCKADDR_ARG from,
                      socklen_t *restrict length) {
    MOVES(IO_RECVFROM, size, real.recvfrom(socket, buffer, size, flags, from, length));
}

HOOK ssize_t __recvfrom_chk(int socket, void *restrict buffer, size_t size, size_t room, int flags, __SOCKADDR_ARG from,
                            socklen_t *restrict length) {
    MOVES(IO_RECVFROM, size, real.__recvfrom_chk(socket, buffer, size, room, flags, from, length));
}

HOOK ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    MOVES(IO_RECVMSG, NOT_ONE_NUMBER, real.recvmsg(socket, message, flags));
}

/* The bytes of so many messages; of none where the call failed. */
static uint64_t bytes_of(const struct mmsghdr *messages, int count) {
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += messages[i].msg_len;
    return bytes;
}

/* Several messages in one call, each of which the socket keeps apart. */
HOOK int recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    RECORDED(int, IO_RECVFROM, bytes_of(messages, result), NOT_ONE_NUMBER,
             real.recvmmsg(socket, messages, count, flags, timeout));
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

HOOK ssize_t write(int file, const void *buffer, size_t size) {
    MOVES(IO_WRITE, size, real.write(file, buffer, size));
}

HOOK ssize_t pwrite(int file, const void *buffer, size_t size, off_t offset) {
    MOVES(IO_PWRITE, size, real.pwrite(file, buffer, size, offset));
}

HOOK ssize_t pwrite64(int file, const void *buffer, size_t size, off64_t offset) {
    MOVES(IO_PWRITE, size, real.pwrite64(file, buffer, size, offset));
}

HOOK ssize_t writev(int file, const struct iovec *vectors, int count) {
    MOVES(IO_WRITEV, NOT_ONE_NUMBER, real.writev(file, vectors, count));
}

HOOK ssize_t pwritev(int file, const struct iovec *vectors, int count, off_t offset) {
    MOVES(IO_PWRITEV, NOT_ONE_NUMBER, real.pwritev(file, vectors, count, offset));
}

HOOK ssize_t pwritev64(int file, const struct iovec *vectors, int count, off64_t offset) {
    MOVES(IO_PWRITEV, NOT_ONE_NUMBER, real.pwritev64(file, vectors, count, offset));
}

HOOK ssize_t pwritev2(int file, const struct iovec *vectors, int count, off_t offset, int flags) {
    MOVES(IO_PWRITEV, NOT_ONE_NUMBER, real.pwritev2(file, vectors, count, offset, flags));
}

HOOK ssize_t pwritev64v2(int file, const struct iovec *vectors, int count, off64_t offset, int flags) {
    MOVES(IO_PWRITEV, NOT_ONE_NUMBER, real.pwritev64v2(file, vectors, count, offset, flags));
}

HOOK ssize_t send(int socket, const void *buffer, size_t size, int flags) {
    MOVES(IO_SEND, size, real.send(socket, buffer, size, flags));
}

HOOK ssize_t sendto(int socket, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t length) {
    MOVES(IO_SENDTO, size, real.sendto(socket, buffer, size, flags, to, length));
}

HOOK ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    MOVES(IO_SENDMSG, NOT_ONE_NUMBER, real.sendmsg(socket, message, flags));
}

HOOK int sendmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags) {
    RECORDED(int, IO_SENDTO, bytes_of(messages, result), NOT_ONE_NUMBER, real.sendmmsg(socket, messages, count, flags));
}

/* --- from one file, pipe or socket to another, without a buffer of the program ------------------------------------ */

HOOK ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
    MOVES(IO_SENDFILE, NOT_ONE_NUMBER, real.sendfile(to, from, offset, size));
}

HOOK ssize_t sendfile64(int to, int from, off64_t *offset, size_t size) {
    MOVES(IO_SENDFILE, NOT_ONE_NUMBER, real.sendfile64(to, from, offset, size));
}

HOOK ssize_t splice(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags) {
    MOVES(IO_SPLICE, NOT_ONE_NUMBER, real.splice(from, from_offset, to, to_offset, size, flags));
}

HOOK ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags) {
    MOVES(IO_COPY_FILE_RANGE, NOT_ONE_NUMBER, real.copy_file_range(from, from_offset, to, to_offset, size, flags));
}

/* --- flushing --------------------------------------------------------------------------------------------------- */

/* What the stream has to write, the C library writes by one call. A stream that has nothing, or writes to memory, makes none. */
HOOK int fflush(FILE *stream) {
    size_t pending = stream ? __fpending(stream) : 0;
    if (!pending || io_passes()) return real.fflush(stream);
    struct io_begun io;
    io_begin(&io, IO_FFLUSH, CALLER_FRAME());
    int result = real.fflush(stream);
    size_t left = io.counters ? __fpending(stream) : pending;
    if (io.counters && (left < pending || result != 0))
        io_end(&io, result, left < pending ? pending - left : 0, pending);
    return result;
}

HOOK int fsync(int file) {
    MOVES_NOTHING(IO_FSYNC, real.fsync(file));
}

HOOK int fdatasync(int file) {
    MOVES_NOTHING(IO_FDATASYNC, real.fdatasync(file));
}

/* --- opening and closing ---------------------------------------------------------------------------------------- */

static bool has_mode(int flags) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* Reads the mode of an open, where there is one. */
#define TAKE_MODE(flags)                                                                                               \
    mode_t mode = 0;                                                                                                   \
    if (has_mode(flags)) {                                                                                             \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode = va_arg(list, mode_t);                                                                                   \
        va_end(list);                                                                                                  \
    }

HOOK int open(const char *path, int flags, ...) {
    TAKE_MODE(flags)
    MOVES_NOTHING(IO_OPEN, real.open(path, flags, mode));
}

HOOK int open64(const char *path, int flags, ...) {
    TAKE_MODE(flags)
    MOVES_NOTHING(IO_OPEN, real.open64(path, flags, mode));
}

HOOK int openat(int directory, const char *path, int flags, ...) {
    TAKE_MODE(flags)
    MOVES_NOTHING(IO_OPEN, real.openat(directory, path, flags, mode));
}

HOOK int openat64(int directory, const char *path, int flags, ...) {
    TAKE_MODE(flags)
    MOVES_NOTHING(IO_OPEN, real.openat64(directory, path, flags, mode));
}

HOOK int creat(const char *path, mode_t mode) {
    MOVES_NOTHING(IO_OPEN, real.creat(path, mode));
}

HOOK int creat64(const char *path, mode_t mode) {
    MOVES_NOTHING(IO_OPEN, real.creat64(path, mode));
}

HOOK int __open_2(const char *path, int flags) {
    MOVES_NOTHING(IO_OPEN, real.__open_2(path, flags));
}

HOOK int __open64_2(const char *path, int flags) {
    MOVES_NOTHING(IO_OPEN, real.__open64_2(path, flags));
}

HOOK int __openat_2(int directory, const char *path, int flags) {
    MOVES_NOTHING(IO_OPEN, real.__openat_2(directory, path, flags));
}

HOOK int __openat64_2(int directory, const char *path, int flags) {
    MOVES_NOTHING(IO_OPEN, real.__openat64_2(directory, path, flags));
}

HOOK int close(int file) {
    MOVES_NOTHING(IO_CLOSE, real.close(file));
}
