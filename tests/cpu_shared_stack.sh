# Threads that have one signal stack together, as those of varnishd, for a handler that ends the process: CPU samples must not meet there.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >shared.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static stack_t shared = {.ss_size = 65536};
__attribute__((noinline)) static unsigned deeper(unsigned left, unsigned sum) {
    return left ? deeper(left - 1, sum * 31 + left) + 1 : sum;
}
static void *run(void *unused) {
    struct timespec now;
    sigaltstack(&shared, NULL);
    volatile unsigned sum = 0;
    do {
        for (int i = 0; i < 1000; i++) sum += deeper(i % 50, sum);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 150000000);
    return unused;
}
int main(void) {
    pthread_t threads[8];
    shared.ss_sp = malloc(shared.ss_size);
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    return 7;
}
C
$CC -g -O1 -fno-optimize-sibling-calls -pthread -o shared shared.c || fail 'cc'
expect_status 7 profile -q --no-files --cpu=4999 --db t.db -- ./shared
expect_equal "$(sql t.db "SELECT sum(samples) > 100 FROM cpu_use WHERE function = 'deeper'")" 1 'samples of the threads'
