/* trace_regions COUNT: that many regions of clear.h around a little work; prints what one takes. COUNT 0: until SIGTERM; prints its process id, and the count of
 * each 100 ms on a line of its own, so that a pause is seen. */
#include <clear.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static volatile uint64_t sink;

static void end(int signal_number) {
    (void)signal_number;
    is_over = 1;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static __attribute__((noinline)) void request(uint64_t seed) {
    clear_region_begin("request");
    for (int i = 0; i < 32; i++)
        seed = seed * 6364136223846793005u + 1;
    sink = seed;
    clear_region_end();
}

static void run_until_over(void) {
    enum { STEP_NS = 100000000 };
    int64_t next = now_ns() + STEP_NS;
    printf("%d\n", (int)getpid());
    for (long count = 0; !is_over; count++) {
        request((uint64_t)count);
        if (count % 1024 || now_ns() < next) continue;
        printf("%ld\n", count);
        fflush(stdout);
        next += STEP_NS;
    }
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 1000000;
    signal(SIGTERM, end);
    if (!count) {
        run_until_over();
        return 0;
    }
    int64_t start = now_ns();
    for (long i = 0; i < count; i++)
        request((uint64_t)i);
    printf("%.1f ns per region\n", (double)(now_ns() - start) / (double)count);
    return 0;
}
