# A lock's holder loses its processor: the wait for the lock says so, in the table, the facts and the doctor, and so do copies of the run.
# build: plain
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -q -- "$FIXTURES/delayed_holder" >out.txt
expect_equal "$(cat out.txt)" waited 'the program'
query="SELECT sum(wait_delay_ns) > 0, sum(wait_delay_ns) <= sum(wait_seen_ns), sum(hold_delay_ns) > 0 FROM locks
    JOIN profiles ON profiles.id = profile_id AND profiles.kind = 'lock'"
expect_equal "$(sql t.db "$query")" '1|1|1' 'in the windows'
expect_equal "$(sql t.db "SELECT wait_delay_ns > 0, wait_delay_ns <= wait_ns, hold_delay_ns > 0, hold_delay_ns <= hold_ns, seen_percent BETWEEN 1 AND 100
    FROM lock_facts ORDER BY wait_ns DESC LIMIT 1")" '1|1|1|1|1' 'in the facts'
expect_equal "$(sql t.db "SELECT own_wait_ns = wait_ns - wait_delay_ns, own_mean_hold_ns < mean_hold_ns FROM lock_traits ORDER BY wait_ns DESC LIMIT 1")" '1|1' \
    'what the doctor judges'
expect_equal "$(sql t.db "SELECT count(*) FROM doctor_lock WHERE evidence ->> 'wait_delay_ns' > 0")" 1 'the evidence'

# A reader and who has a spin lock say so themselves.
for how in spin read; do
    expect_status 0 profile -q --db "$how.db" -- "$FIXTURES/delayed_holder" "$how" >out.txt
    expect_equal "$(sql "$how.db" "SELECT 4 * wait_delay_ns > wait_ns, wait_delay_ns <= wait_ns, seen_percent > 50 FROM lock_facts ORDER BY wait_ns DESC LIMIT 1")" \
        '1|1|1' "the holder of a lock without an owner: $how"
    check_db "$how.db"
done
expect_equal "$(sql spin.db "SELECT 4 * hold_delay_ns > hold_ns FROM lock_facts ORDER BY wait_ns DESC LIMIT 1")" 1 'the hold of a spin lock'

# Who has the lock ends with its hold: what is known of it is as of the last look before. How much that is depends on when the looks come: without
# those looks it is nothing.
expect_status 0 profile -q --db ends.db -- "$FIXTURES/delayed_holder" ends >out.txt
expect_equal "$(sql ends.db "SELECT hold_delay_ns > 1000000, wait_delay_ns >= hold_delay_ns - 1000000, wait_delay_ns <= wait_ns
    FROM lock_facts ORDER BY wait_ns DESC LIMIT 1")" '1|1|1' 'the holder is gone'
check_db ends.db

# The time that the kernel took from a thread is an event, where it tells us: perf_event_open(2) of a switch.
tells() {
    python3 -c 'import ctypes, struct, sys
sys.exit(ctypes.CDLL(None).syscall(298, struct.pack("<IIQQQQQ", 1, 112, 9, 0, 0, 0, 1 << 26 | 1 << 5 | 1 << 1) + bytes(64), 0, -1, -1, 0) < 0)'
}
if tells; then
    expect_status 0 profile -q --trace=lock,preempted --db traced.db -- "$FIXTURES/delayed_holder" >out.txt
    expect_equal "$(sql traced.db "SELECT max(duration_ns) >= 10000000, count(*) > 0, max(start_ns + duration_ns) <= (SELECT duration_ns FROM runs)
        FROM events WHERE kind = 'preempted'")" '1|1|1' 'preemptions are events'
    expect_equal "$(sql traced.db "SELECT DISTINCT class FROM timeline WHERE kind = 'preempted'")" ready 'in the timeline'
    check_db traced.db
fi

# A copy of the run keeps the sums.
sums() { sql "$1" "SELECT sum(wait_seen_ns), sum(wait_delay_ns), sum(hold_delay_ns) FROM lock_use"; }
"$CLEAR" merge -q m.db t.db >/dev/null || fail 'a merge'
expect_equal "$(sums m.db)" "$(sums t.db)" 'of a merged run'
check_db t.db
