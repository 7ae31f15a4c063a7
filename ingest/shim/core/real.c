#include "ingest/shim/core/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/shim/core/atomic.h"
#include "ingest/shim/core/slots.h"

/* --- the pool for what dlsym allocates ------------------------------------------------------------------------ */

enum { POOL_ALIGNMENT = 16 };

_Alignas(POOL_ALIGNMENT) char early_pool[EARLY_POOL_SIZE];
static size_t pool_used;

/* A block is preceded by its size. Memory is zero because it is never used twice. */
static void *pool_alloc(size_t size) {
    if (size > EARLY_POOL_SIZE) return NULL;
    size_t whole = POOL_ALIGNMENT + ((size + POOL_ALIGNMENT - 1) & ~(size_t)(POOL_ALIGNMENT - 1));
    size_t at = fetch_add_relaxed(&pool_used, whole);
    if (at + whole > EARLY_POOL_SIZE) return NULL;
    memcpy(early_pool + at, &size, sizeof size);
    return early_pool + at + POOL_ALIGNMENT;
}

bool pool_is_used(void) {
    return load_relaxed(&pool_used) != 0;
}

size_t pool_block_size(const void *block) {
    size_t size;
    memcpy(&size, (const char *)block - POOL_ALIGNMENT, sizeof size);
    return size;
}

void *pool_realloc(void *block, size_t size) {
    void *copy = real.malloc(size);
    size_t old = pool_block_size(block);
    if (copy) memcpy(copy, block, old < size ? old : size);
    return copy;
}

/* --- looking up ----------------------------------------------------------------------------------------------- */

/* The stubs of the functions that dlsym may call serve it from the pool; the others wait for the look-up by doing
 * it. */
static __thread volatile bool resolving __attribute__((tls_model("initial-exec")));
static uint32_t resolved;

static void *first_malloc(size_t size) {
    if (resolving) return pool_alloc(size);
    real_resolve();
    return real.malloc(size);
}
static void *first_calloc(size_t count, size_t size) {
    size_t whole;
    if (resolving) return __builtin_mul_overflow(count, size, &whole) ? NULL : pool_alloc(whole);
    real_resolve();
    return real.calloc(count, size);
}
static void *first_realloc(void *block, size_t size) {
    if (resolving) {
        void *copy = pool_alloc(size);
        if (copy && block) memcpy(copy, block, pool_block_size(block) < size ? pool_block_size(block) : size);
        return copy;
    }
    real_resolve();
    return real.realloc(block, size);
}
static void first_free(void *block) {
    if (resolving) return; /* only pool blocks can be freed here, and those are never given back */
    real_resolve();
    real.free(block);
}

/* clang-format off */
#define FIRST(type, name, parameters, arguments) \
    static type first_##name parameters { real_resolve(); return real.name arguments; }
FIRST(void *, reallocarray, (void *b, size_t n, size_t s), (b, n, s))
FIRST(int, posix_memalign, (void **b, size_t a, size_t s), (b, a, s))
FIRST(void *, aligned_alloc, (size_t a, size_t s), (a, s))
FIRST(void *, memalign, (size_t a, size_t s), (a, s))
FIRST(void *, valloc, (size_t s), (s))
FIRST(void *, pvalloc, (size_t s), (s))
FIRST(size_t, malloc_usable_size, (void *b), (b))
FIRST(int, dlclose, (void *h), (h))
FIRST(int, pthread_create, (pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p), (t, a, f, p))
FIRST(int, sigaction, (int n, const struct sigaction *a, struct sigaction *o), (n, a, o))
FIRST(sighandler_t, signal, (int n, sighandler_t h), (n, h))
FIRST(int, sigaltstack, (const stack_t *s, stack_t *o), (s, o))
FIRST(int, pthread_sigmask, (int h, const sigset_t *s, sigset_t *o), (h, s, o))
FIRST(int, sigprocmask, (int h, const sigset_t *s, sigset_t *o), (h, s, o))
FIRST(pid_t, fork, (void), ())
FIRST(int, execve, (const char *f, char *const *a, char *const *e), (f, a, e))
FIRST(int, execvpe, (const char *f, char *const *a, char *const *e), (f, a, e))
FIRST(int, fexecve, (int f, char *const *a, char *const *e), (f, a, e))
FIRST(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))
FIRST(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m))
FIRST(int, pthread_mutex_timedlock, (pthread_mutex_t *m, const struct timespec *t), (m, t))
FIRST(int, pthread_mutex_clocklock, (pthread_mutex_t *m, clockid_t c, const struct timespec *t), (m, c, t))
FIRST(int, pthread_mutex_unlock, (pthread_mutex_t *m), (m))
FIRST(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))
FIRST(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), (l))
FIRST(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *l, const struct timespec *t), (l, t))
FIRST(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *l, clockid_t c, const struct timespec *t), (l, c, t))
FIRST(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))
FIRST(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l), (l))
FIRST(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *l, const struct timespec *t), (l, t))
FIRST(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *l, clockid_t c, const struct timespec *t), (l, c, t))
FIRST(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l))
FIRST(int, pthread_spin_lock, (pthread_spinlock_t *l), (l))
FIRST(int, pthread_spin_trylock, (pthread_spinlock_t *l), (l))
FIRST(int, pthread_spin_unlock, (pthread_spinlock_t *l), (l))
FIRST(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))
FIRST(int, pthread_cond_timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t), (c, m, t))
FIRST(int, pthread_cond_clockwait, (pthread_cond_t *c, pthread_mutex_t *m, clockid_t k, const struct timespec *t), (c, m, k, t))
FIRST(int, pthread_cond_signal, (pthread_cond_t *c), (c))
FIRST(int, pthread_cond_broadcast, (pthread_cond_t *c), (c))
FIRST(int, sem_wait, (sem_t *s), (s))
FIRST(int, sem_trywait, (sem_t *s), (s))
FIRST(int, sem_timedwait, (sem_t *s, const struct timespec *t), (s, t))
FIRST(int, sem_clockwait, (sem_t *s, clockid_t k, const struct timespec *t), (s, k, t))
FIRST(int, sem_post, (sem_t *s), (s))
FIRST(int, pthread_barrier_wait, (pthread_barrier_t *b), (b))
FIRST(int, pthread_join, (pthread_t t, void **r), (t, r))
FIRST(int, pthread_tryjoin_np, (pthread_t t, void **r), (t, r))
FIRST(int, pthread_timedjoin_np, (pthread_t t, void **r, const struct timespec *u), (t, r, u))
FIRST(int, pthread_clockjoin_np, (pthread_t t, void **r, clockid_t k, const struct timespec *u), (t, r, k, u))
FIRST(int, mtx_lock, (mtx_t *m), (m))
FIRST(int, mtx_trylock, (mtx_t *m), (m))
FIRST(int, mtx_timedlock, (mtx_t *m, const struct timespec *t), (m, t))
FIRST(int, mtx_unlock, (mtx_t *m), (m))
FIRST(int, cnd_wait, (cnd_t *c, mtx_t *m), (c, m))
FIRST(int, cnd_timedwait, (cnd_t *c, mtx_t *m, const struct timespec *t), (c, m, t))
FIRST(int, cnd_signal, (cnd_t *c), (c))
FIRST(int, cnd_broadcast, (cnd_t *c), (c))
FIRST(int, thrd_join, (thrd_t t, int *r), (t, r))
FIRST(int, thrd_create, (thrd_t *t, thrd_start_t f, void *a), (t, f, a))
FIRST(int, sched_yield, (void), ())
FIRST(void, thrd_yield, (void), ())
FIRST(int, nanosleep, (const struct timespec *t, struct timespec *r), (t, r))
FIRST(int, thrd_sleep, (const struct timespec *t, struct timespec *r), (t, r))
FIRST(unsigned, sleep, (unsigned s), (s))
FIRST(int, poll, (struct pollfd *f, nfds_t n, int t), (f, n, t))
FIRST(int, __poll_chk, (struct pollfd *f, nfds_t n, int t, size_t r), (f, n, t, r))
FIRST(int, ppoll, (struct pollfd *f, nfds_t n, const struct timespec *t, const sigset_t *m), (f, n, t, m))
FIRST(int, __ppoll_chk, (struct pollfd *f, nfds_t n, const struct timespec *t, const sigset_t *m, size_t r), (f, n, t, m, r))
FIRST(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t))
FIRST(int, pselect, (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *m), (n, r, w, e, t, m))
FIRST(int, epoll_wait, (int f, struct epoll_event *e, int n, int t), (f, e, n, t))
FIRST(int, epoll_pwait, (int f, struct epoll_event *e, int n, int t, const sigset_t *m), (f, e, n, t, m))
FIRST(int, epoll_pwait2, (int f, struct epoll_event *e, int n, const struct timespec *t, const sigset_t *m), (f, e, n, t, m))
FIRST(int, accept, (int s, __SOCKADDR_ARG a, socklen_t *l), (s, a, l))
FIRST(int, accept4, (int s, __SOCKADDR_ARG a, socklen_t *l, int f), (s, a, l, f))
FIRST(int, connect, (int s, __CONST_SOCKADDR_ARG a, socklen_t l), (s, a, l))
FIRST(pid_t, wait, (int *s), (s))
FIRST(pid_t, waitpid, (pid_t p, int *s, int o), (p, s, o))
FIRST(pid_t, wait3, (int *s, int o, struct rusage *u), (s, o, u))
FIRST(pid_t, wait4, (pid_t p, int *s, int o, struct rusage *u), (p, s, o, u))
FIRST(int, waitid, (idtype_t t, id_t i, siginfo_t *s, int o), (t, i, s, o))
FIRST(int, sigwait, (const sigset_t *s, int *n), (s, n))
FIRST(int, sigwaitinfo, (const sigset_t *s, siginfo_t *i), (s, i))
FIRST(int, sigtimedwait, (const sigset_t *s, siginfo_t *i, const struct timespec *t), (s, i, t))
FIRST(int, sigsuspend, (const sigset_t *s), (s))
FIRST(int, pause, (void), ())
FIRST(int, flock, (int f, int o), (f, o))
FIRST(int, usleep, (useconds_t t), (t))
FIRST(int, clock_nanosleep, (clockid_t c, int f, const struct timespec *t, struct timespec *r), (c, f, t, r))
FIRST(ssize_t, read, (int a, void *b, size_t c), (a, b, c))
FIRST(ssize_t, __read_chk, (int a, void *b, size_t c, size_t d), (a, b, c, d))
FIRST(ssize_t, pread, (int a, void *b, size_t c, off_t d), (a, b, c, d))
FIRST(ssize_t, pread64, (int a, void *b, size_t c, off64_t d), (a, b, c, d))
FIRST(ssize_t, __pread_chk, (int a, void *b, size_t c, off_t d, size_t e), (a, b, c, d, e))
FIRST(ssize_t, __pread64_chk, (int a, void *b, size_t c, off64_t d, size_t e), (a, b, c, d, e))
FIRST(ssize_t, readv, (int a, const struct iovec *b, int c), (a, b, c))
FIRST(ssize_t, preadv, (int a, const struct iovec *b, int c, off_t d), (a, b, c, d))
FIRST(ssize_t, preadv64, (int a, const struct iovec *b, int c, off64_t d), (a, b, c, d))
FIRST(ssize_t, preadv2, (int a, const struct iovec *b, int c, off_t d, int e), (a, b, c, d, e))
FIRST(ssize_t, preadv64v2, (int a, const struct iovec *b, int c, off64_t d, int e), (a, b, c, d, e))
FIRST(ssize_t, recv, (int a, void *b, size_t c, int d), (a, b, c, d))
FIRST(ssize_t, __recv_chk, (int a, void *b, size_t c, size_t d, int e), (a, b, c, d, e))
FIRST(ssize_t, recvfrom, (int a, void *b, size_t c, int d, __SOCKADDR_ARG e, socklen_t *f), (a, b, c, d, e, f))
FIRST(ssize_t, __recvfrom_chk, (int a, void *b, size_t c, size_t d, int e, __SOCKADDR_ARG f, socklen_t *g), (a, b, c, d, e, f, g))
FIRST(ssize_t, recvmsg, (int a, struct msghdr *b, int c), (a, b, c))
FIRST(int, recvmmsg, (int a, struct mmsghdr *b, unsigned c, int d, struct timespec *e), (a, b, c, d, e))
FIRST(ssize_t, write, (int a, const void *b, size_t c), (a, b, c))
FIRST(ssize_t, pwrite, (int a, const void *b, size_t c, off_t d), (a, b, c, d))
FIRST(ssize_t, pwrite64, (int a, const void *b, size_t c, off64_t d), (a, b, c, d))
FIRST(ssize_t, writev, (int a, const struct iovec *b, int c), (a, b, c))
FIRST(ssize_t, pwritev, (int a, const struct iovec *b, int c, off_t d), (a, b, c, d))
FIRST(ssize_t, pwritev64, (int a, const struct iovec *b, int c, off64_t d), (a, b, c, d))
FIRST(ssize_t, pwritev2, (int a, const struct iovec *b, int c, off_t d, int e), (a, b, c, d, e))
FIRST(ssize_t, pwritev64v2, (int a, const struct iovec *b, int c, off64_t d, int e), (a, b, c, d, e))
FIRST(ssize_t, send, (int a, const void *b, size_t c, int d), (a, b, c, d))
FIRST(ssize_t, sendto, (int a, const void *b, size_t c, int d, __CONST_SOCKADDR_ARG e, socklen_t f), (a, b, c, d, e, f))
FIRST(ssize_t, sendmsg, (int a, const struct msghdr *b, int c), (a, b, c))
FIRST(int, sendmmsg, (int a, struct mmsghdr *b, unsigned c, int d), (a, b, c, d))
FIRST(ssize_t, sendfile, (int a, int b, off_t *c, size_t d), (a, b, c, d))
FIRST(ssize_t, sendfile64, (int a, int b, off64_t *c, size_t d), (a, b, c, d))
FIRST(ssize_t, splice, (int a, off64_t *b, int c, off64_t *d, size_t e, unsigned f), (a, b, c, d, e, f))
FIRST(ssize_t, copy_file_range, (int a, off64_t *b, int c, off64_t *d, size_t e, unsigned f), (a, b, c, d, e, f))
FIRST(void *, mmap, (void *a, size_t b, int c, int d, int e, off_t f), (a, b, c, d, e, f))
FIRST(void *, mmap64, (void *a, size_t b, int c, int d, int e, off64_t f), (a, b, c, d, e, f))
FIRST(int, munmap, (void *a, size_t b), (a, b))
FIRST(void *, sbrk, (intptr_t a), (a))
FIRST(int, brk, (void *a), (a))
FIRST(int, fflush, (FILE *a), (a))
FIRST(int, fsync, (int a), (a))
FIRST(int, fdatasync, (int a), (a))
FIRST(int, creat, (const char *a, mode_t b), (a, b))
FIRST(int, creat64, (const char *a, mode_t b), (a, b))
FIRST(int, __open_2, (const char *a, int b), (a, b))
FIRST(int, __open64_2, (const char *a, int b), (a, b))
FIRST(int, __openat_2, (int a, const char *b, int c), (a, b, c))
FIRST(int, __openat64_2, (int a, const char *b, int c), (a, b, c))
FIRST(int, close, (int a), (a))
/* clang-format on */

static void *first_mremap(void *address, size_t old_size, size_t size, int flags, ...) {
    va_list list;
    va_start(list, flags);
    void *wanted = va_arg(list, void *); /* not used where it was not passed */
    va_end(list);
    real_resolve();
    return real.mremap(address, old_size, size, flags, wanted);
}

/* A mode that was not passed is not used. */
#define FIRST_OPEN(name, parameters, flags, ...)                                                                       \
    static int first_##name parameters {                                                                               \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode_t mode = va_arg(list, mode_t);                                                                            \
        va_end(list);                                                                                                  \
        real_resolve();                                                                                                \
        return real.name(__VA_ARGS__, mode);                                                                           \
    }
FIRST_OPEN(open, (const char *path, int flags, ...), flags, path, flags)
FIRST_OPEN(open64, (const char *path, int flags, ...), flags, path, flags)
FIRST_OPEN(openat, (int directory, const char *path, int flags, ...), flags, directory, path, flags)
FIRST_OPEN(openat64, (int directory, const char *path, int flags, ...), flags, directory, path, flags)

/* Until libc's is found the kernel is called here: the look-up itself may come this way. */
static long first_syscall(long number, ...) {
    long arguments[6], result;
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    register long fourth __asm__("r10") = arguments[3];
    register long fifth __asm__("r8") = arguments[4];
    register long sixth __asm__("r9") = arguments[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(fourth), "r"(fifth),
                       "r"(sixth)
                     : "rcx", "r11", "memory");
    if (result >= -4095 && result < 0) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

system_call *real_syscall = first_syscall;

struct real_functions real = {
#define X(type, name, parameters) .name = first_##name,
    REAL_FUNCTIONS(X)
#undef X
};

/* The default version of pthread_cond_* is GLIBC_2.3.2. dlsym without a version may find the incompatible version
 * GLIBC_2.2.5, and a program that mixes them hangs. (pthread_cond_clockwait has one version, which is newer.) Only what every libc of ours has is looked up here: dlerror's
 * message of a failure is allocated, and the caller may be an allocator of the program (Chromium's). */
static void *look_up(const char *name) {
    if (is_late()) return late_function(name);
    static const char *const old[] = {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_signal",
                                      "pthread_cond_broadcast"};
    bool is_old = false;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        is_old |= strcmp(name, old[i]) == 0;
    return is_old ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : dlsym(RTLD_NEXT, name);
}

/* Where the hooks themselves begin. In a late runtime their names mean the functions that they stand for. */
static struct {
#define X(type, name, parameters) uint64_t name;
    REAL_FUNCTIONS(X)
#undef X
} own_hooks;

/* Two threads may both do this; they find the same. A name that is not there keeps its stub, and is then never
 * called. */
/* Of the linker: where the zeros of this library begin and end. */
extern char __bss_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

/* Four struct threads of 5 MB are among them, of which a word is used each: as in map_memory. Before any of them is written to. */
void keep_pages_small(void) {
    uintptr_t start = ((uintptr_t)__bss_start + 4095) & ~(uintptr_t)4095, end = (uintptr_t)_end & ~(uintptr_t)4095;
    if (end > start) madvise((void *)start, end - start, MADV_NOHUGEPAGE);
}

void real_resolve(void) {
    if (load_acquire(&resolved) || resolving) return;
    int saved_errno = errno;
    resolving = true;
    keep_pages_small();
    void *found;
#define X(type, name, parameters)                                                                                      \
    if ((found = look_up(#name))) store_release((void **)&real.name, found);                                           \
    own_hooks.name = (uintptr_t)(is_late() ? late_hook(#name) : (void *)name);
    REAL_FUNCTIONS(X)
#undef X
    if ((found = look_up("syscall"))) store_release((void **)&real_syscall, found);
    resolving = false;
    store_release(&resolved, 1);
    errno = saved_errno;
}

void *real_behind(uint64_t hook) {
#define X(type, name, parameters)                                                                                      \
    if (hook == own_hooks.name) return (void *)(uintptr_t)load_relaxed(&real.name);
    REAL_FUNCTIONS(X)
#undef X
    const uint64_t rests[] = {(uintptr_t)mutex_lock_slowly, (uintptr_t)mutex_lock_asking, (uintptr_t)mutex_take_passing,
                              (uintptr_t)mutex_lock_counting};
    for (size_t i = 0; i < sizeof rests / sizeof *rests; i++)
        if (hook == rests[i]) return (void *)(uintptr_t)load_relaxed(&real.pthread_mutex_lock);
    return NULL;
}

void *real_in_place(uint64_t hook) {
    if (hook == own_hooks.pthread_mutex_unlock) return (void *)(uintptr_t)load_relaxed(&real.pthread_mutex_unlock);
    bool is_lock = hook == own_hooks.pthread_mutex_lock || hook == (uintptr_t)mutex_take_passing ||
                   hook == (uintptr_t)mutex_lock_counting;
    return is_lock ? (void *)(uintptr_t)load_relaxed(&real.pthread_mutex_lock) : NULL;
}

bool real_has(uint64_t function) {
#define X(type, name, parameters)                                                                                      \
    if (function == (uint64_t)(uintptr_t)load_relaxed(&real.name)) return true;
    REAL_FUNCTIONS(X)
#undef X
    return false;
}
