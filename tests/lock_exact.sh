# The lock table agrees with the program's own counts, by lock and outcome.
# quick
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/lock_counts" >out.txt
expect_tables out.txt
expect_exact
check_db t.db

# What never had to wait waited for nothing. What had to wait did so between the two times that the program measured: from when it was
# seen to wait until the lock was given back, and around the whole call.
expect_equal "$(sql t.db 'SELECT count(*) FROM lock_use WHERE (contended + read_contended + timeouts + unfinished = 0) <> (wait_ns + read_wait_ns = 0)')" 0 \
    'waits without contention, or contention without waits'
expect_equal "$(sql t.db 'SELECT count(*) FROM lock_use WHERE max_wait_ns > wait_ns OR max_hold_ns > hold_ns OR contended > acquires')" 0 'maxima over totals'
read -r least most < <(sed -n 's/^waited_ns //p' out.txt)
waited=$(sql t.db "SELECT sum(wait_ns) FROM lock_use WHERE object GLOB '*:waited_mutex'")
expect_between "$waited" "$least" "$most" 'wait_ns of waited_mutex'

# 200 ms and more in condition waits are neither hold nor wait. What is left is the code between them, and a little of the calls.
read -r outside inside < <(sed -n 's/^held_ns //p' out.txt)
[ "$inside" -ge 200000000 ] || fail "the condition waits took $inside ns only"
held=$(sql t.db "SELECT sum(hold_ns) FROM lock_use WHERE object GLOB '*:cond_mutex'")
expect_between "$held" 1 $((outside + inside / 2)) 'hold_ns of cond_mutex'

expect_equal "$(sql t.db "SELECT DISTINCT kind FROM lock_use WHERE object GLOB '*_mutex' OR object GLOB '*_rwlock' OR object GLOB '*_spin' ORDER BY 1")" \
    $'mutex\nrwlock\nspin' 'kinds'
