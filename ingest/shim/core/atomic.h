/* atomic.h: atomics named by their memory order. What two threads may use at once goes through them; runtime.h says
 * what may be read plainly, and by whom.
 *
 * A counter has one writing thread at a time. A relaxed load and store is enough for it and costs what a plain one
 * does, while a locked add costs 18 to 20 cycles even uncontended. */
#ifndef CLEAR_SHIM_ATOMIC_H
#define CLEAR_SHIM_ATOMIC_H

/* clang's builtins refuse _Atomic types, whose members segment.h has for the collector: the value of a comma has none of the
 * qualifiers. */
#define plain_pointer(at) ((__typeof__(((void)0, *(at))) *)(at))

#define load_relaxed(at)             __atomic_load_n(plain_pointer(at), __ATOMIC_RELAXED)
#define load_acquire(at)             __atomic_load_n(plain_pointer(at), __ATOMIC_ACQUIRE)
#define store_relaxed(at, value)     __atomic_store_n(plain_pointer(at), value, __ATOMIC_RELAXED)
#define store_release(at, value)     __atomic_store_n(plain_pointer(at), value, __ATOMIC_RELEASE)
#define fetch_add_relaxed(at, value) __atomic_fetch_add(plain_pointer(at), value, __ATOMIC_RELAXED)
#define fetch_or_relaxed(at, value)  __atomic_fetch_or(plain_pointer(at), value, __ATOMIC_RELAXED)
#define fetch_and_relaxed(at, value) __atomic_fetch_and(plain_pointer(at), value, __ATOMIC_RELAXED)
#define fetch_or_acq_rel(at, value)  __atomic_fetch_or(plain_pointer(at), value, __ATOMIC_ACQ_REL)
#define fetch_and_acq_rel(at, value) __atomic_fetch_and(plain_pointer(at), value, __ATOMIC_ACQ_REL)
#define exchange_acq_rel(at, value)  __atomic_exchange_n(plain_pointer(at), value, __ATOMIC_ACQ_REL)
#define compare_exchange(at, expected, value)                                                                          \
    __atomic_compare_exchange_n(plain_pointer(at), expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* For counters of one writing thread, which other threads and processes may read. */
#define add_own(at, value) store_relaxed(at, load_relaxed(at) + (value))
/* The same with 1, of 64 bits, in one instruction, which no signal handler can interrupt in the middle. */
static inline __attribute__((always_inline)) void count_own(uint64_t *at) {
    __asm__ volatile("incq %0" : "+m"(*at) : : "cc");
}
#define max_own(at, value) (load_relaxed(at) < (value) ? store_relaxed(at, value) : (void)0)

#define likely(x)     __builtin_expect(!!(x), 1)
#define unlikely(x)   __builtin_expect(!!(x), 0)
#define COLD          __attribute__((noinline, cold))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define HOOK          __attribute__((visibility("default")))
/* Of a declared variable of the runtime: it is read at its address. -fvisibility says nothing of declarations, and the address of what others may
 * define is computed first: of a hook that passes an allocation over that was a fifth of the instructions. */
#define HIDDEN __attribute__((visibility("hidden")))
/* Of a function that a hook runs at each call, and of a variable that it reads there: side by side, they take fewer lines and pages of the caches from
 * the program. */
#define HOT      __attribute__((hot))
#define HOT_WORD __attribute__((section(".data.hooks")))

#endif
