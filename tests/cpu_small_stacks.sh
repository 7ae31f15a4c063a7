# Threads with the smallest stack that there may be, of which they use all: CPU samples must not end them. A thread that is made with so little gets
# more; one that has a stack of the program's own, or runs already when clear attaches, is not sampled.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >small.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
enum { SIZE = 16384, GUARD = 4096 };
static volatile sig_atomic_t is_asked_to_end;
static void end(int number) { is_asked_to_end = number; }
static size_t bytes;
static long milliseconds;
static int runs_on;
__attribute__((noinline)) static int work(void) {
    volatile char used[bytes];
    struct timespec now;
    memset((char *)used, 1, bytes);
    do {
        free(malloc(100));
        for (volatile int i = 0; i < 1000; i++) {}
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (runs_on ? !is_asked_to_end : now.tv_sec * 1000 + now.tv_nsec / 1000000 < milliseconds);
    return used[bytes / 2];
}
static void *run(void *unused) { return work() == 1 ? unused : NULL; }
int main(int count, char **arguments) {
    pthread_t threads[2];
    pthread_attr_t attributes;
    bytes = (size_t)atoi(arguments[1]);
    milliseconds = atoi(arguments[2]);
    runs_on = count > 3 && strcmp(arguments[3], "on") == 0;
    signal(SIGUSR1, end);
    pthread_attr_init(&attributes);
    for (int i = 0; i < 2; i++) {
        char *own = mmap(NULL, SIZE + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (count > 3 && !runs_on) {
            mprotect(own + GUARD, SIZE, PROT_READ | PROT_WRITE);
            pthread_attr_setstack(&attributes, own + GUARD, SIZE);
        } else {
            pthread_attr_setstacksize(&attributes, SIZE);
        }
        if (pthread_create(&threads[i], &attributes, run, NULL)) return 2;
    }
    puts("ready");
    fflush(stdout);
    while (runs_on && !is_asked_to_end) usleep(10000); /* where a recorder may enter */
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 7;
}
C
$CC -g -O1 -fno-stack-protector -pthread -o small small.c || fail 'cc'

# As many bytes as are left beside what the C library takes, to 128.
most=1024
while [ "$most" -lt 16384 ] && status=0 && { ./small $((most + 128)) 1 >ready.txt 2>&1 || status=$?; [ "$status" = 7 ]; }; do most=$((most + 128)); done
[ "$most" -gt 2048 ] || fail "the program has no room alone: $most"
samples_of() { sql "$1" "SELECT coalesce(sum(samples), 0) FROM cpu_use WHERE function = 'work'"; }

expect_status 7 profile -q --no-files --cpu=4999 --db made.db -- ./small "$most" 300
[ "$(samples_of made.db)" -gt 20 ] || fail 'samples of threads that were made with small stacks'
expect_status 7 profile -q --no-files --cpu=4999 --db own.db -- ./small "$most" 300 own
expect_equal "$(samples_of own.db)" 0 "samples on stacks of the program's own"

. "$ROOT/tests/attaching.sh"
./small "$most" 0 on >program.txt &
program=$!
wait_for 'the program' grep -qs ready program.txt
"$CLEAR" profile -q --no-files --pid "$program" --duration 1s --cpu=4999 --db on.db || fail 'clear profile --pid'
kill -USR1 "$program" || fail 'the program that was recorded has ended'
status=0
wait "$program" || status=$?
expect_equal "$status" 7 'the status of the program'
