# A run's duration is the program's own, also of a program whose names take longer to find than it runs: what symbolizing and writing
# cost stands in columns of its own.
# build: plain
. "$(dirname "$0")/lib.sh"

# clear itself has much debug information, but with the sanitizers it cannot be recorded. `date` measures the whole command, so all parts together
# must fit into it, where no flush is made beside the program.
for i in 1 2 3; do
    program=("$CLEAR" runs --db t.db)
    [ -z "${SANITIZED:-}" ] || program=("$FIXTURES/cxx")
    before=$(date +%s%N)
    expect_status 0 profile --quiet --interval=60s -o none.profile -- "${program[@]}" >runs.txt
    after=$(date +%s%N)
    expect_equal "$(sql t.db "SELECT duration_ns + symbolize_ns + write_ns <= $((after - before)) FROM runs ORDER BY id DESC LIMIT 1")" 1 \
        "run $i: duration, symbolizing and writing are parts of the command's $((after - before)) ns: \
$(sql t.db "SELECT duration_ns, symbolize_ns, write_ns FROM runs ORDER BY id DESC LIMIT 1")"
done
# After the first run the names of a program may all be known.
expect_equal "$(sql t.db "SELECT count(*) FROM runs WHERE duration_ns > 0 AND write_ns > 0")" 3 'runs with a duration and a time of writing'
expect_between "$(sql t.db "SELECT count(*) FROM runs WHERE symbolize_ns > 0")" 1 3 'runs that had names to find'

# It begins with the program, and not with the row of the run, which is older: the last that a program does is within its run.
cat >last.c <<'C'
#include <pthread.h>
#include <unistd.h>
int main(void) {
    pthread_mutex_t last = PTHREAD_MUTEX_INITIALIZER;
    usleep(20000);
    pthread_mutex_lock(&last);
    usleep(1000);
    pthread_mutex_unlock(&last);
    _exit(0);
}
C
gcc -O1 -o last last.c -pthread || fail 'no program'
for i in 1 2 3; do expect_status 0 profile --quiet --trace=all --db traced.db -- ./last; done
expect_equal "$(sql traced.db "SELECT count(*), sum(start_ns >= 0 AND start_ns + events.duration_ns <= runs.duration_ns)
    FROM events JOIN processes ON processes.id = process_id JOIN runs ON runs.id = run_id WHERE kind IN ('hold', 'exit')")" '6|6' 'events within their runs'

# A program that ends while a flush runs: sleep's own time is known.
expect_status 0 profile --quiet --interval=10ms -o none.profile -- sleep 0.5 >out.txt
expect_equal "$(sql t.db "SELECT duration_ns >= 500000000 FROM runs ORDER BY id DESC LIMIT 1")" 1 "half a second of sleep"
check_db t.db
