/* api_off ITERATIONS: the cost of the calls of clear.h in a program that is not profiled. It times a loop with and
 * without them in alternating rounds, and takes the best of each. The loop has four calls: cell read, channel push,
 * lock acquired, lock released. Prints ns per call. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ingest/clear.h"

enum { ROUNDS = 15, CALLS = 4 };

static int cell, channel, lock;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Work between the calls, so that the loop takes more than a cycle by itself. */
#define WORK(state)                                                                                                    \
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;                                                   \
    __asm__ volatile("" : "+r"(state))

__attribute__((noipa)) static double without(long iterations) {
    uint64_t state = 88172645463325252u;
    double start = now_ns();
    for (long i = 0; i < iterations; i++) {
        WORK(state);
    }
    return now_ns() - start;
}

__attribute__((noipa)) static double with_calls(long iterations) {
    uint64_t state = 88172645463325252u;
    double start = now_ns();
    for (long i = 0; i < iterations; i++) {
        WORK(state);
        clear_cell_read(&cell);
        clear_channel_push(&channel, state, 0);
        clear_lock_acquired(&lock, CLEAR_EXCLUSIVE, 0, 0);
        clear_lock_released(&lock, CLEAR_EXCLUSIVE);
    }
    return now_ns() - start;
}

int main(int argc, char **argv) {
    long iterations = argc > 1 ? atol(argv[1]) : 20000000;
    double best_without = 1e300, best_with = 1e300;
    for (int i = 0; i < ROUNDS; i++) {
        double one = without(iterations), other = with_calls(iterations);
        if (one < best_without) best_without = one;
        if (other < best_with) best_with = other;
    }
    double base = best_without / (double)iterations, full = best_with / (double)iterations;
    printf("loop alone %.3f ns, with %d calls %.3f ns: %.3f ns per call\n", base, CALLS, full, (full - base) / CALLS);
    return 0;
}
