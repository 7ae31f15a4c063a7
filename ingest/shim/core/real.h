/* real.h: the functions behind the hooks: those of the program's allocator (glibc's, or one that is linked in) and of
 * glibc.
 *
 * Each pointer starts at a stub that looks up all functions and calls the real one, so a hook just calls the pointer.
 * dlsym may itself allocate during the look-up. Such calls get memory from a small static pool, which the hooks of
 * free, realloc and malloc_usable_size know. */
#ifndef CLEAR_SHIM_REAL_H
#define CLEAR_SHIM_REAL_H

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "ingest/shim/core/atomic.h"

/* The C library's headers declare these under _FORTIFY_SOURCE alone. */
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, __SOCKADDR_ARG, socklen_t *);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

/* Input and output. Names with _chk and _2 are what the compiler calls in their place under _FORTIFY_SOURCE. */
#define IO_FUNCTIONS(X)                                                                                                \
    X(ssize_t, read, (int, void *, size_t))                                                                            \
    X(ssize_t, __read_chk, (int, void *, size_t, size_t))                                                              \
    X(ssize_t, pread, (int, void *, size_t, off_t))                                                                    \
    X(ssize_t, pread64, (int, void *, size_t, off64_t))                                                                \
    X(ssize_t, __pread_chk, (int, void *, size_t, off_t, size_t))                                                      \
    X(ssize_t, __pread64_chk, (int, void *, size_t, off64_t, size_t))                                                  \
    X(ssize_t, readv, (int, const struct iovec *, int))                                                                \
    X(ssize_t, preadv, (int, const struct iovec *, int, off_t))                                                        \
    X(ssize_t, preadv64, (int, const struct iovec *, int, off64_t))                                                    \
    X(ssize_t, preadv2, (int, const struct iovec *, int, off_t, int))                                                  \
    X(ssize_t, preadv64v2, (int, const struct iovec *, int, off64_t, int))                                             \
    X(ssize_t, recv, (int, void *, size_t, int))                                                                       \
    X(ssize_t, __recv_chk, (int, void *, size_t, size_t, int))                                                         \
    X(ssize_t, recvfrom, (int, void *, size_t, int, __SOCKADDR_ARG, socklen_t *))                                      \
    X(ssize_t, __recvfrom_chk, (int, void *, size_t, size_t, int, __SOCKADDR_ARG, socklen_t *))                        \
    X(ssize_t, recvmsg, (int, struct msghdr *, int))                                                                   \
    X(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, struct timespec *))                                        \
    X(ssize_t, write, (int, const void *, size_t))                                                                     \
    X(ssize_t, pwrite, (int, const void *, size_t, off_t))                                                             \
    X(ssize_t, pwrite64, (int, const void *, size_t, off64_t))                                                         \
    X(ssize_t, writev, (int, const struct iovec *, int))                                                               \
    X(ssize_t, pwritev, (int, const struct iovec *, int, off_t))                                                       \
    X(ssize_t, pwritev64, (int, const struct iovec *, int, off64_t))                                                   \
    X(ssize_t, pwritev2, (int, const struct iovec *, int, off_t, int))                                                 \
    X(ssize_t, pwritev64v2, (int, const struct iovec *, int, off64_t, int))                                            \
    X(ssize_t, send, (int, const void *, size_t, int))                                                                 \
    X(ssize_t, sendto, (int, const void *, size_t, int, __CONST_SOCKADDR_ARG, socklen_t))                              \
    X(ssize_t, sendmsg, (int, const struct msghdr *, int))                                                             \
    X(int, sendmmsg, (int, struct mmsghdr *, unsigned, int))                                                           \
    X(ssize_t, sendfile, (int, int, off_t *, size_t))                                                                  \
    X(ssize_t, sendfile64, (int, int, off64_t *, size_t))                                                              \
    X(ssize_t, splice, (int, off64_t *, int, off64_t *, size_t, unsigned))                                             \
    X(ssize_t, copy_file_range, (int, off64_t *, int, off64_t *, size_t, unsigned))                                    \
    X(int, fflush, (FILE *))                                                                                           \
    X(int, fsync, (int))                                                                                               \
    X(int, fdatasync, (int))                                                                                           \
    X(int, open, (const char *, int, ...))                                                                             \
    X(int, open64, (const char *, int, ...))                                                                           \
    X(int, openat, (int, const char *, int, ...))                                                                      \
    X(int, openat64, (int, const char *, int, ...))                                                                    \
    X(int, creat, (const char *, mode_t))                                                                              \
    X(int, creat64, (const char *, mode_t))                                                                            \
    X(int, __open_2, (const char *, int))                                                                              \
    X(int, __open64_2, (const char *, int))                                                                            \
    X(int, __openat_2, (int, const char *, int))                                                                       \
    X(int, __openat64_2, (int, const char *, int))                                                                     \
    X(int, close, (int))

/* Other calls that wait for the system. */
#define BLOCKING_FUNCTIONS(X)                                                                                          \
    X(int, poll, (struct pollfd *, nfds_t, int))                                                                       \
    X(int, __poll_chk, (struct pollfd *, nfds_t, int, size_t))                                                         \
    X(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))                                \
    X(int, __ppoll_chk, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t))                  \
    X(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *))                                              \
    X(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))                    \
    X(int, epoll_wait, (int, struct epoll_event *, int, int))                                                          \
    X(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *))                                       \
    X(int, epoll_pwait2, (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))                  \
    X(int, accept, (int, __SOCKADDR_ARG, socklen_t *))                                                                 \
    X(int, accept4, (int, __SOCKADDR_ARG, socklen_t *, int))                                                           \
    X(int, connect, (int, __CONST_SOCKADDR_ARG, socklen_t))                                                            \
    X(pid_t, wait, (int *))                                                                                            \
    X(pid_t, waitpid, (pid_t, int *, int))                                                                             \
    X(pid_t, wait3, (int *, int, struct rusage *))                                                                     \
    X(pid_t, wait4, (pid_t, int *, int, struct rusage *))                                                              \
    X(int, waitid, (idtype_t, id_t, siginfo_t *, int))                                                                 \
    X(int, sigwait, (const sigset_t *, int *))                                                                         \
    X(int, sigwaitinfo, (const sigset_t *, siginfo_t *))                                                               \
    X(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *))                                     \
    X(int, sigsuspend, (const sigset_t *))                                                                             \
    X(int, pause, (void))                                                                                              \
    X(int, flock, (int, int))

/* Mappings. */
#define MAPPING_FUNCTIONS(X)                                                                                           \
    X(void *, mmap, (void *, size_t, int, int, int, off_t))                                                            \
    X(void *, mmap64, (void *, size_t, int, int, int, off64_t))                                                        \
    X(int, munmap, (void *, size_t))                                                                                   \
    X(void *, mremap, (void *, size_t, size_t, int, ...))                                                              \
    X(void *, sbrk, (intptr_t))                                                                                        \
    X(int, brk, (void *))

/* Every function that is hooked: type, name, parameters. */
#define REAL_FUNCTIONS(X)                                                                                              \
    X(void *, malloc, (size_t))                                                                                        \
    X(void *, calloc, (size_t, size_t))                                                                                \
    X(void *, realloc, (void *, size_t))                                                                               \
    X(void *, reallocarray, (void *, size_t, size_t))                                                                  \
    X(void, free, (void *))                                                                                            \
    X(int, posix_memalign, (void **, size_t, size_t))                                                                  \
    X(void *, aligned_alloc, (size_t, size_t))                                                                         \
    X(void *, memalign, (size_t, size_t))                                                                              \
    X(void *, valloc, (size_t))                                                                                        \
    X(void *, pvalloc, (size_t))                                                                                       \
    X(size_t, malloc_usable_size, (void *))                                                                            \
    X(int, dlclose, (void *))                                                                                          \
    X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))                           \
    X(int, sigaction, (int, const struct sigaction *, struct sigaction *))                                             \
    X(sighandler_t, signal, (int, sighandler_t))                                                                       \
    X(int, sigaltstack, (const stack_t *, stack_t *))                                                                  \
    X(int, pthread_sigmask, (int, const sigset_t *, sigset_t *))                                                       \
    X(int, sigprocmask, (int, const sigset_t *, sigset_t *))                                                           \
    X(pid_t, fork, (void))                                                                                             \
    X(int, execve, (const char *, char *const *, char *const *))                                                       \
    X(int, execvpe, (const char *, char *const *, char *const *))                                                      \
    X(int, fexecve, (int, char *const *, char *const *))                                                               \
    X(int, pthread_mutex_lock, (pthread_mutex_t *))                                                                    \
    X(int, pthread_mutex_trylock, (pthread_mutex_t *))                                                                 \
    X(int, pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *))                                      \
    X(int, pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *))                           \
    X(int, pthread_mutex_unlock, (pthread_mutex_t *))                                                                  \
    X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *))                                                                \
    X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                                                             \
    X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *))                                  \
    X(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, const struct timespec *))                       \
    X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *))                                                                \
    X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *))                                                             \
    X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *))                                  \
    X(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, const struct timespec *))                       \
    X(int, pthread_rwlock_unlock, (pthread_rwlock_t *))                                                                \
    X(int, pthread_spin_lock, (pthread_spinlock_t *))                                                                  \
    X(int, pthread_spin_trylock, (pthread_spinlock_t *))                                                               \
    X(int, pthread_spin_unlock, (pthread_spinlock_t *))                                                                \
    X(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *))                                                   \
    X(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))                     \
    X(int, pthread_cond_clockwait, (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))          \
    X(int, pthread_cond_signal, (pthread_cond_t *))                                                                    \
    X(int, pthread_cond_broadcast, (pthread_cond_t *))                                                                 \
    X(int, sem_wait, (sem_t *))                                                                                        \
    X(int, sem_trywait, (sem_t *))                                                                                     \
    X(int, sem_timedwait, (sem_t *, const struct timespec *))                                                          \
    X(int, sem_clockwait, (sem_t *, clockid_t, const struct timespec *))                                               \
    X(int, sem_post, (sem_t *))                                                                                        \
    X(int, pthread_barrier_wait, (pthread_barrier_t *))                                                                \
    X(int, pthread_join, (pthread_t, void **))                                                                         \
    X(int, pthread_tryjoin_np, (pthread_t, void **))                                                                   \
    X(int, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *))                                        \
    X(int, pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *))                             \
    X(int, mtx_lock, (mtx_t *))                                                                                        \
    X(int, mtx_trylock, (mtx_t *))                                                                                     \
    X(int, mtx_timedlock, (mtx_t *, const struct timespec *))                                                          \
    X(int, mtx_unlock, (mtx_t *))                                                                                      \
    X(int, cnd_wait, (cnd_t *, mtx_t *))                                                                               \
    X(int, cnd_timedwait, (cnd_t *, mtx_t *, const struct timespec *))                                                 \
    X(int, cnd_signal, (cnd_t *))                                                                                      \
    X(int, cnd_broadcast, (cnd_t *))                                                                                   \
    X(int, thrd_join, (thrd_t, int *))                                                                                 \
    X(int, thrd_create, (thrd_t *, thrd_start_t, void *))                                                              \
    X(int, sched_yield, (void))                                                                                        \
    X(void, thrd_yield, (void))                                                                                        \
    X(int, nanosleep, (const struct timespec *, struct timespec *))                                                    \
    X(int, thrd_sleep, (const struct timespec *, struct timespec *))                                                   \
    X(unsigned, sleep, (unsigned))                                                                                     \
    X(int, usleep, (useconds_t))                                                                                       \
    X(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *))                              \
    IO_FUNCTIONS(X)                                                                                                    \
    BLOCKING_FUNCTIONS(X)                                                                                              \
    MAPPING_FUNCTIONS(X)

struct real_functions {
#define X(type, name, parameters) type(*name) parameters;
    REAL_FUNCTIONS(X)
#undef X
};
extern HIDDEN struct real_functions real;

/* syscall(2) of libc. It has no row above because it is variadic: futex.c passes calls on to it by a jump, which leaves
 * all registers and the stack as they are. */
typedef long system_call(long number, ...);
extern HIDDEN system_call *real_syscall;

/* Looks everything up; returns at once when that is done. */
void real_resolve(void);
/* Asks for no huge pages for the zeros of this library; before any of them is written to. */
void keep_pages_small(void);

/* The rests of the hook of pthread_mutex_lock, which jumps there. `caller` is CALLER() of the hook. */
int mutex_lock_slowly(pthread_mutex_t *mutex, const uint64_t *caller);
int mutex_lock_asking(pthread_mutex_t *mutex);
int mutex_take_passing(pthread_mutex_t *mutex);
int mutex_lock_counting(pthread_mutex_t *mutex);

/* The function behind the hook that begins at an address, also behind its rest; NULL: none does. */
void *real_behind(uint64_t hook);
/* The function whose work the hook that begins at an address does itself, mostly (plain_mutex.h); NULL: none. */
void *real_in_place(uint64_t hook);
/* Whether one of them begins there. */
bool real_has(uint64_t function);

/* Of what dlsym allocates before the real functions are known. */
enum { EARLY_POOL_SIZE = 64 * 1024 };
extern HIDDEN char early_pool[EARLY_POOL_SIZE];
static ALWAYS_INLINE bool is_pool_block(const void *block) {
    return unlikely((uintptr_t)block - (uintptr_t)early_pool < EARLY_POOL_SIZE);
}
/* Whether any was taken: the C library must not get it for free. */
bool pool_is_used(void);
size_t pool_block_size(const void *block);
void *pool_realloc(void *block, size_t size); /* a pool block becomes one of the real allocator */

#endif
