# A lock on a stack goes by its variable and function, whichever thread meets it first and however the program was built; by no other one's where that is
# not known.
# quick
. "$(dirname "$0")/lib.sh"

cat >program.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
struct shard { long hits; pthread_mutex_t lock; };
struct table { long size; struct shard shards[4]; };
static void *once(void *lock) {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}
static void in_thread(void *lock) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, once, lock)) abort();
    pthread_join(thread, NULL);
}
__attribute__((noinline)) static void count(void) {
    pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;
    in_thread(&counted);
}
__attribute__((noinline)) static void write_all(void) {
    pthread_mutex_t written = PTHREAD_MUTEX_INITIALIZER;
    in_thread(&written);
    once(&written);
}
__attribute__((noinline)) static void fill(void) {
    struct table table = {.size = 1};
    for (int i = 0; i < 4; i++) pthread_mutex_init(&table.shards[i].lock, NULL);
    once(&table.shards[0].lock);
    in_thread(&table.shards[3].lock);
}
static sem_t asked, answered;
static void *given;
static void *work(void *unused) {
    (void)unused;
    sem_wait(&asked);
    once(given);
    sem_post(&answered);
    return NULL;
}
__attribute__((noinline)) static void ask(void) {
    volatile char room[4096] = {0}; /* it lies where no other lock was */
    (void)room[0];
    pthread_mutex_t late = PTHREAD_MUTEX_INITIALIZER;
    given = &late;
    sem_post(&asked);
    sem_wait(&answered);
}
int main(void) {
    pthread_t worker;
    sem_init(&asked, 0, 0);
    sem_init(&answered, 0, 0);
    if (pthread_create(&worker, NULL, work, NULL)) return 1;
    count();
    write_all();
    fill();
    ask();
    pthread_join(worker, NULL);
    return 0;
}
C
names() { # names COMPILER...: the locks and their identities
    "$@" -pthread -o program program.c || fail "$*: no program"
    rm -f t.db
    "$CLEAR" profile -q --db t.db -o none.profile ./program || fail "profile: $?"
    sql t.db "SELECT name || ' ' || identity FROM objects WHERE kind = 'lock' ORDER BY id"
}
known='counted (local of count(), program.c:17) local:program:count:counted+0
written (local of write_all(), program.c:21) local:program:write_all:written+0
table.shards[0].lock (local of fill(), program.c:26) local:program:fill:table.shards[0].lock+0
table.shards[3].lock (local of fill(), program.c:26) local:program:fill:table.shards[3].lock+0'
# The worker was there before, and the last lock lies in a frame that is made after all that was noted.
for build in "gcc -g -O0" "gcc -g -O2" "clang -g -O2"; do
    command -v "${build%% *}" >/dev/null || continue
    # shellcheck disable=SC2086
    names $build >found.txt
    expect_equal "$(head -4 found.txt)" "$known" "$build"
    expect_match "$(tail -n +5 found.txt)" '^0x[0-9a-f]+ address:0x[0-9a-f]+$' "$build, a lock that nothing places"
done
# Without debugging information it is the function's; stripped, the module's.
names gcc >found.txt
expect_match "$(head -1 found.txt)" '^local of count[(][)] local:program:count:[+]-[0-9]+$' 'without debugging information'
names gcc -s >found.txt
expect_match "$(head -1 found.txt)" '^local of program[+]0x[0-9a-f]+ local:program:program[+]0x[0-9a-f]+:[+]-[0-9]+$' 'stripped'
check_db t.db
