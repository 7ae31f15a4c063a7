# What the doctor says of programs that look alike to a recorder: a worker without work and one that holds the program up; a table that is
# kept and a leak.
# build: plain
. "$(dirname "$0")/lib.sh"

severity() { # severity SECTION SUBJECT: of the newest run, as on a machine that has nothing else to do: beside others a wait may be for a processor
    sql t.db "UPDATE run_facts SET run_delay_ns = 0; SELECT code, severity FROM doctor WHERE run_id = (SELECT max(id) FROM runs) AND section = '$1' AND subject GLOB '$2'"
}
expect_status 0 profile -- "$FIXTURES/judged" pool >out.txt
expect_equal "$(severity wait '*jobs_there')" 'slow-producer|note' 'a worker without work'
expect_status 0 profile -- "$FIXTURES/judged" starved >out.txt
expect_equal "$(severity wait '*jobs_there')" 'slow-producer|warning' 'a worker that main waits for'
# Neither the names of the condition variables nor their order say which side is which: the functions that wait do.
expect_status 0 profile -- "$FIXTURES/judged" reader >out.txt
expect_equal "$(severity wait '*:one')" 'slow-consumer|warning' 'a queue whose reader is slow'
expect_status 0 profile -- "$FIXTURES/judged" writer >out.txt
expect_equal "$(severity wait '*:other')" 'slow-producer|warning' 'a queue whose writer is slow'
# Without any name that tells, the order of first use does, though one side never waits; and the advice says so.
for what in full:west:east:consumer empty:east:west:producer; do
    IFS=: read -r mode other waited slow <<<"$what"
    expect_status 0 profile -- "$FIXTURES/judged" "$mode" >out.txt
    expect_equal "$(severity wait "*:$waited")" "slow-$slow|warning" "a queue that is always $mode"
    expect_equal "$(severity wait "*:$other")" '' "$other, which nobody waits for, of a queue that is always $mode"
    expect_equal "$(sql t.db "SELECT told_by, advice LIKE '%No name says which side waits here: the order of first use does%' FROM doctor_wait
        WHERE run_id = (SELECT max(id) FROM runs)")" 'order|1' "how the side of a queue that is always $mode was told"
done
# Nor is the order enough in a library that is stripped, as of a garbage collector's thread that waits for work: nobody could look.
cat >rounds.c <<'C'
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one = PTHREAD_COND_INITIALIZER, other = PTHREAD_COND_INITIALIZER;
static int asked, done;
static __attribute__((noipa)) void idle(void) { while (!asked) pthread_cond_wait(&other, &mutex); }
static void *run(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;; idle()) { asked = 0; done++; pthread_cond_broadcast(&one); }
    return unused;
}
void rounds_step(void) {
    pthread_mutex_lock(&mutex);
    int before = done;
    asked = 1;
    pthread_cond_broadcast(&other);
    while (done == before) pthread_cond_wait(&one, &mutex);
    pthread_mutex_unlock(&mutex);
}
void rounds_begin(void) { /* who begins waits first, until the thread is there */
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, run, NULL);
    while (!done) pthread_cond_wait(&one, &mutex);
    pthread_mutex_unlock(&mutex);
}
C
printf '%s\n' '#include <unistd.h>' 'void rounds_begin(void), rounds_step(void);' \
    'int main(void) { rounds_begin(); for (int i = 0; i < 150; i++) { usleep(3000); rounds_step(); } return 0; }' >user.c
$CC -g -O1 -shared -fPIC -pthread -o librounds.so rounds.c && $CC -g -O1 -o user user.c -L. -lrounds -Wl,-rpath,"$PWD" || fail 'compiling the library'
for what in 'order|slow-consumer|warning' 'nameless|slow-consumer|note'; do
    rm -f library.db # its names would be known by the build id
    "$CLEAR" profile -q --no-files --db library.db -- ./user || fail 'a thread of a library'
    sql library.db 'UPDATE run_facts SET run_delay_ns = 0'
    expect_equal "$(sql library.db "SELECT told_by, code, severity FROM doctor_wait")" "$what" 'a thread of a library that waits for work'
    strip librounds.so
done
# A channel of Rust waits in the thread's own futex, and only the library's function says whether the thread sends or receives.
if command -v rustc >/dev/null; then
    cat >channel.rs <<'RUST'
use std::{env, sync::mpsc, thread, time::Duration};
fn pause(ms: u64) { if ms > 0 { thread::sleep(Duration::from_millis(ms)) } }
fn main() {
    let (left, right) = if env::args().nth(1).unwrap() == "full" { (0, 2) } else { (2, 0) };
    let (to, from) = mpsc::sync_channel::<u64>(4);
    let other = thread::spawn(move || { let mut sum = 0; for n in from { pause(right); sum += n } sum });
    for n in 0..300 { pause(left); to.send(n).unwrap() }
    drop(to);
    println!("{}", other.join().unwrap());
}
RUST
    rustc -g -O -o channel channel.rs || fail 'compiling channel.rs'
    for what in full:consumer empty:producer; do
        expect_status 0 profile -- ./channel "${what%:*}" >out.txt
        expect_equal "$(sql t.db "SELECT code, told_by FROM doctor_wait WHERE code <> 'contended' AND run_id = (SELECT max(id) FROM runs)")" \
            "slow-${what#*:}|names" "a channel of Rust that is always ${what%:*}"
    done
fi
# A lock that others take while a thread waits for it to the end is no deadlock, whatever ended the run.
expect_status 142 profile --interval=0.1 -- "$FIXTURES/judged" passed >out.txt
expect_equal "$(sql t.db "SELECT unfinished, code = 'deadlock', severity IN ('critical', 'warning') FROM doctor_lock
    WHERE run_id = (SELECT max(id) FROM runs) AND subject GLOB '*:routes'")" '1|0|1' 'a writer behind readers'
# Where no process was searched, when the blocks came decides.
expect_status 0 profile --no-leaks -- "$FIXTURES/judged" table >out.txt
expect_equal "$(severity heap add_entry)" 'leak|note' 'a table of the start'
expect_status 0 profile --no-leaks -- "$FIXTURES/judged" leak >out.txt
expect_equal "$(severity heap add_entry)" 'leak|warning' 'a leak all through the run'
check_db t.db
