# Recording switched off and on while the program runs: what happened while it was off is not there, what was recorded is followed.
# build: plain
. "$(dirname "$0")/lib.sh"

"$CLEAR" profile --db t.db --start off --cpu=off -o out.profile -- "$FIXTURES/switched" >out.txt 2>err.txt || fail "$(cat err.txt)"
expect_equal "$(cat out.txt)" 'allocated 2000 freed 1000 acquired 2001 read 2000 pushed 2' "the program's own figures"
expect_equal "$(grep -c 'clear: recording is on' err.txt) $(grep -c 'clear: recording is off' err.txt)" '2 1' "words at a switch"
heap() { # heap COLUMN [PLUS]: of the blocks of `take`
    sql t.db "SELECT sum($1) FROM heap WHERE function = 'take'"
}
expect_equal "$(heap alloc_count)|$(heap free_count)|$(heap inuse_count)" '2000|1000|1000' blocks
expect_equal "$(heap alloc_bytes)|$(heap inuse_bytes)" "$((1000 * 101 + 1000 * 103))|$((1000 * 103))" bytes
expect_equal "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'main'")" '' "realloc of blocks that were never recorded"
expect_equal "$(sql t.db "SELECT sum(acquires) FROM lock_use WHERE object LIKE '%mutex'")" 2001 acquisitions
hold=$(sql t.db "SELECT max(max_hold_ns) FROM lock_use WHERE object LIKE '%mutex'")
expect_between "$hold" 300000000 8000000000 "the hold that ended while recording was off"
expect_equal "$(sql t.db 'SELECT sum(reads) FROM cell_use')" 2000 "reads of the cell"
expect_equal "$(sql t.db 'SELECT object, sum(pushes), max(capacity) FROM channel_use')" 'orders|2|8' "the channel"
paused=$(sql t.db "SELECT CAST(max(value) AS INTEGER) FROM counters WHERE name = 'recorder.paused_ms'")
expect_between "$paused" 500 20000 "ms for which recording was off"
expect_match "$(grep 'clear: run 1' err.txt)" 'recording was off for [0-9.]+ m?s' "closing words"
expect_equal "$(sql t.db "SELECT section, code, subject FROM doctor WHERE code = 'paused'")" 'saturation|paused|recorder' "the doctor's first words"
check_db t.db

# Off from start to end: nothing, and it is said.
"$CLEAR" profile --db off.db --start=off -o off.profile -- "$FIXTURES/progress" count 300 >/dev/null 2>err.txt
expect_equal $? 9 "exit status"
expect_equal "$(sql off.db 'SELECT coalesce(sum(alloc_count), 0) FROM heap')|$(sql off.db 'SELECT coalesce(sum(samples), 0) FROM cpu')" '0|0' "recorded while off"

# A program that wants SIGUSR2 for itself gets it where --start was not given.
cat >usr2.sh <<'E2'
trap 'echo got it; exit 3' USR2
echo ready
for i in $(seq 200); do sleep 0.3; done
E2
rm -f out.txt
"$CLEAR" profile --db u.db -q -o u.profile -- bash usr2.sh >out.txt &
pid=$!
wait_for_text ready out.txt
kill -USR2 $pid
wait $pid
expect_equal "$? $(tail -1 out.txt)" '3 got it' "SIGUSR2 is the program's"
expect_status 2 "$CLEAR" profile --db u.db --start=later -- true 2>err.txt
expect_match "$(cat err.txt)" '\-\-start must be on or off' "usage"

# Children and threads that begin while recording is off are there when it is switched on.
cat >late.c <<'E2'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int is_on;
__attribute__((noinline)) static void *in_thread(void *unused) {
    while (!is_on) usleep(1000);
    for (int i = 0; i < 500; i++) free(malloc(77));
    return unused;
}
__attribute__((noinline)) static void in_child(void) {
    sleep(3); /* longer than the switch takes on a slow machine */
    for (int i = 0; i < 300; i++) free(malloc(78));
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pid_t child = fork();
    if (child == 0) { in_child(); _exit(0); }
    kill(getppid(), SIGUSR2);
    usleep(2000000);
    is_on = 1;
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    return 0;
}
E2
gcc -O1 -g -fno-builtin -fno-omit-frame-pointer -pthread -o late late.c || fail "no compiler"
"$CLEAR" profile --db l.db --start=off -q -o l.profile -- ./late || fail "late: $?"
expect_equal "$(sql l.db "SELECT function, sum(alloc_count) FROM heap WHERE function IN ('in_thread', 'in_child') GROUP BY 1 ORDER BY 1")" \
    "$(printf 'in_child|300\nin_thread|500')" "a thread and a child that began before"
