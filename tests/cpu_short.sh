# Threads and processes that live shorter than a few ticks of the timer: all their CPU time is there. What no sample met is [unsampled],
# below the functions that the threads began in. The truth is getrusage(2), of the program and its children.
# build: plain
# long: times against clocks; cpu_kept has what is counted
. "$(dirname "$0")/lib.sh"

check() { # check LEAST MOST ARGUMENTS...: per mille of what getrusage says
    local least=$1 most=$2 used got
    shift 2
    rm -f t.db
    expect_status 0 profile -q --no-heap --no-locks -- "$FIXTURES/short_lives" "$@" >out.txt
    used=$(awk '{ print $3 }' out.txt)
    got=$(sql t.db 'SELECT sum(cpu_ns) FROM cpu')
    expect_between $((got * 1000 / used)) "$least" "$most" "$*: per mille of $used ns that are stored"
}
for life in 1 5 10; do
    check 980 1020 threads $life 300
    expect_between "$(sql t.db "SELECT 1000 * sum(cpu_ns) FILTER (WHERE trace_id IN (SELECT trace_id FROM frames WHERE function IN ('live_short', 'live_other')))
        / sum(cpu_ns) FROM cpu")" 850 1000 "per mille below the functions that the threads of $life ms began in"
    expect_equal "$(sql t.db "SELECT count(*) FROM cpu_use WHERE function = '[unsampled]' AND samples <> 0")" 0 'samples of what was not sampled'
done
check 980 1020 threads 5 300 4
# The kernel takes 0.3 ms to tear a process down, after its last instruction: no recorder sees that.
for life in 1 5 20; do
    check 980 1020 forks $life 200
    check 980 1020 execs $life 200
done
check_db t.db
expect_equal "$(sql t.db "SELECT count(*) FROM doctor_saturation WHERE subject LIKE 'WARNING%'")" 0 'warnings of the ends of processes'

# Nothing can be preloaded into a static program. What it used is said, and is not credited to anything that was recorded.
cat >burns.c <<'C'
#include <time.h>
int main(void) { while (clock() < CLOCKS_PER_SEC / 5) {} return 0; }
C
gcc -O1 -static -o static burns.c || fail 'no static program'
"$CLEAR" profile --db static.db -- sh -c './static; head -c 1 /dev/zero' >out.txt 2>err.txt || fail 'a static child'
expect_between "$(sql static.db "SELECT sum(cpu_ns) FROM cpu JOIN stacks USING (trace_id) WHERE stack = '[unsampled]'")" 195000000 260000000 'ns of the static child'
expect_match "$(cat err.txt)" '^clear: cpu: [0-9.]+ ms sampled and 2[0-9.]+ ms that no recorder saw; ' 'the summary'
expect_match "$(sql static.db "SELECT subject FROM doctor_saturation WHERE code = 'warning'")" \
    '^WARNING: 2[0-9.]+ ms of 2[0-9.]+ ms of CPU time was not seen: processes that cannot be recorded' 'what the doctor says'
for option in --follow=none --start=off; do
    "$CLEAR" profile --db meant.db $option -- sh -c './static; head -c 1 /dev/zero' >out.txt 2>err.txt || fail "$option"
    ! grep -q 'no recorder saw' err.txt || fail "$option: $(cat err.txt)"
done
# A program that is one long thread has next to nothing unsampled: less than two ticks.
check 980 1020 threads 500 500
expect_between "$(sql t.db "SELECT coalesce(sum(cpu_ns), 0) FROM cpu_use WHERE function = '[unsampled]'")" 0 30000000 'ns unsampled of one long thread'
# Paused, nothing is recorded, and nothing is made up for later.
"$CLEAR" profile -q --db off.db --start off -- "$FIXTURES/short_lives" threads 5 100 >out.txt || fail 'a paused recording'
expect_equal "$(sql off.db 'SELECT count(*) FROM cpu')" 0 'CPU time of a paused recording'
