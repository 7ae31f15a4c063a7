# Waits and holds lie between bounds that the program measured with its own clock.
# alone: the bounds are as narrow as the scheduler lets them be
# build: plain
# long: bounds by clocks; lock_waits holds waits
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/lock_contended" >out.txt
expect_tables out.txt
of() { awk -v key="$1" '$1 == key {print $2}' out.txt; }
within() { # within LOCK COLUMN INNER OUTER: 0.1 % for the rate of the time stamp counter, which is measured, not known
    local got inner outer
    got=$(sql t.db "SELECT sum($2) FROM lock_use WHERE object GLOB '*:$1'")
    inner=$(of "$3") outer=$(of "$4")
    expect_between "$got" $((inner - inner / 1000)) $((outer + outer / 1000)) "$2 of $1 (the program measured $inner..$outer)"
}
within hot_mutex wait_ns hot_mutex.waited_inner hot_mutex.waited_outer
within hot_rwlock read_wait_ns hot_rwlock.waited_inner hot_rwlock.waited_outer
within hot_rwlock hold_ns hot_rwlock.held_inner hot_rwlock.held_outer
# The asker holds the mutex too, for the time of two calls: in hold_ns, not in the holder's own figures.
got=$(sql t.db "SELECT sum(hold_ns) FROM lock_use WHERE object GLOB '*:hot_mutex'")
inner=$(of hot_mutex.held_inner) outer=$(of hot_mutex.held_outer)
expect_between "$got" $((inner - inner / 1000)) $((outer + outer / 1000 + 5000000)) 'hold_ns of hot_mutex'
