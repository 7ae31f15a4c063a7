# Threads that have one signal stack together, as those of varnishd, for a handler that ends the process: CPU samples must not meet there,
# neither in a program that sets it while it is recorded nor in one that had set it before the recording began.
# build: plain
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/attaching.sh"

cat >shared.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t is_asked_to_end;
static void end(int number) { is_asked_to_end = number; }
static stack_t shared = {.ss_size = 65536};
__attribute__((noinline)) static unsigned deeper(unsigned left, unsigned sum) {
    return left ? deeper(left - 1, sum * 31 + left) + 1 : sum;
}
static void *run(void *runs_on) {
    struct timespec now;
    sigaltstack(&shared, NULL);
    volatile unsigned sum = 0;
    do {
        free(malloc(100)); /* a thread of a running process is met where it allocates */
        for (int i = 0; i < 1000; i++) sum += deeper(i % 50, sum);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (runs_on ? !is_asked_to_end : now.tv_sec == 0 && now.tv_nsec < 150000000);
    return NULL;
}
int main(int count, char **arguments) {
    pthread_t threads[8];
    signal(SIGUSR1, end);
    shared.ss_sp = malloc(shared.ss_size);
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, run, count > 1 ? arguments : NULL);
    puts("ready");
    fflush(stdout);
    while (count > 1 && !is_asked_to_end) usleep(10000); /* where a recorder may enter */
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    return 7;
}
C
$CC -g -O1 -fno-optimize-sibling-calls -pthread -o shared shared.c || fail 'cc'
expect_status 7 profile -q --no-files --cpu=4999 --db t.db -- ./shared
expect_equal "$(sql t.db "SELECT sum(samples) > 100 FROM cpu_use WHERE function = 'deeper'")" 1 'samples of the threads'

./shared on >program.txt &
program=$!
wait_for 'the program' grep -qs ready program.txt
"$CLEAR" profile -q --no-files --pid "$program" --duration 1s --cpu=4999 --db a.db || fail 'clear profile --pid'
kill -USR1 "$program" || fail 'the program that was recorded has ended'
status=0
wait "$program" || status=$?
expect_equal "$status" 7 'the status of the program'
expect_equal "$(sql a.db "SELECT sum(samples) > 100 FROM cpu_use WHERE function = 'deeper'")" 1 'samples of the threads that ran already'
