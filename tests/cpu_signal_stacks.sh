# Signal stacks that are for a handler of few lines: one that all threads have together, as those of varnishd, and one of 2 KiB for each thread. CPU
# samples must not be taken there, neither in a program that sets them while it is recorded nor in one that had set them before.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >stacks.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t is_asked_to_end;
static void end(int number) { is_asked_to_end = number; }
static stack_t together = {.ss_size = 65536};
static int runs_on, is_small;
__attribute__((noinline)) static unsigned deeper(unsigned left, unsigned sum) {
    return left ? deeper(left - 1, sum * 31 + left) + 1 : sum;
}
static void *run(void *unused) {
    struct timespec now;
    stack_t own = {.ss_sp = malloc(2048), .ss_size = 2048};
    sigaltstack(is_small ? &own : &together, NULL); /* a kernel may refuse one that is smaller than its frame */
    volatile unsigned sum = 0;
    do {
        free(malloc(100)); /* a thread of a running process is met where it allocates */
        for (int i = 0; i < 1000; i++) sum += deeper(i % 50, sum);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (runs_on ? !is_asked_to_end : now.tv_sec == 0 && now.tv_nsec < 150000000);
    return unused;
}
int main(int count, char **arguments) {
    pthread_t threads[8];
    is_small = strcmp(arguments[1], "small") == 0;
    runs_on = count > 2;
    if (sigaltstack((stack_t *)8, NULL) == 0) return 1;
    signal(SIGUSR1, end);
    together.ss_sp = malloc(together.ss_size);
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, run, NULL);
    puts("ready");
    fflush(stdout);
    while (runs_on && !is_asked_to_end) usleep(10000); /* where a recorder may enter */
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    return 7;
}
C
$CC -g -O1 -fno-optimize-sibling-calls -pthread -o stacks stacks.c || fail 'cc'
has_samples() { # has_samples DB WHAT
    expect_equal "$(sql "$1" "SELECT sum(samples) > 100 FROM cpu_use WHERE function = 'deeper'")" 1 "$2"
}

for kind in together small; do
    expect_status 7 profile -q --no-files --cpu=4999 --db $kind.db -- ./stacks $kind
    has_samples $kind.db "samples of threads, $kind"
done

. "$ROOT/tests/attaching.sh"
for kind in together small; do
    rm -f program.txt
    ./stacks $kind on >program.txt &
    program=$!
    wait_for 'the program' grep -qs ready program.txt
    "$CLEAR" profile -q --no-files --pid "$program" --duration 1s --cpu=4999 --db on-$kind.db || fail "clear profile --pid, $kind"
    kill -USR1 "$program" || fail "the program that was recorded has ended: $kind"
    status=0
    wait "$program" || status=$?
    expect_equal "$status" 7 "the status of the program, $kind"
    has_samples on-$kind.db "samples of threads that ran already, $kind"
done
