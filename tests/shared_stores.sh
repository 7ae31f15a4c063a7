# Threads that store to one place each, again and again: the doctor says below the CPU table that it cannot see whether these share a cache line. It does not say so of
# one thread, and not of threads that only read, or fill arrays.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >program.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile long hits[2];
static int is_over(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (now.tv_sec - start->tv_sec) * 1000000000 + now.tv_nsec - start->tv_nsec > 300000000;
}
static void *count(void *at) {
    volatile long *mine = at;
    struct timespec start = {0};
    while (!is_over(&start))
        for (long n = 0; n < 1000000; n++) ++*mine;
    return NULL;
}
static void *fill(void *unused) {
    static _Thread_local long array[1000];
    struct timespec start = {0};
    while (!is_over(&start))
        for (long k = 0; k < 1000; k++)
            for (volatile long *at = array; at < array + 1000; at++) *at = k;
    return unused;
}
int main(int argc, char **argv) {
    (void)argc;
    pthread_t threads[2];
    int most = strcmp(argv[1], "alone") == 0 ? 1 : 2;
    for (int i = 0; i < most; i++)
        if (pthread_create(&threads[i], NULL, strcmp(argv[1], "fill") == 0 ? fill : count, (void *)&hits[i])) abort();
    for (int i = 0; i < most; i++) pthread_join(threads[i], NULL);
    return 0;
}
C
gcc -O2 -g -pthread -o program program.c || fail 'no program'
said() { # said HOW: what the doctor says of stores
    "$CLEAR" profile -q --db t.db -o none.profile -- ./program "$1" || fail "profile $1: $?"
    "$CLEAR" doctor --db t.db | tr -s '\n ' ' ' | grep -oE '[a-z_]+ \(program.c:[0-9]+\), [0-9]+ %: [0-9]+ threads store to one place each'
}
expect_match "$(said count)" '^count [(]program.c:15[)], [0-9]+ %: 2 threads store to one place each$' 'two threads that count'
expect_equal "$(said alone)" '' 'one thread'
expect_equal "$(said fill)" '' 'threads that fill arrays'
