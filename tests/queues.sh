# POSIX message queues and GLib's GAsyncQueue are channels, without a word of the program: counts exact, waits between bounds.
# build: plain
. "$(dirname "$0")/lib.sh"

within() { # of each `channel_ns NAME push_least push_most pop_least pop_most`
    local name push_least push_most pop_least pop_most got
    read -r _ name push_least push_most pop_least pop_most < <(grep '^channel_ns ' out.txt)
    got=$(sql t.db "SELECT push_blocked_ns FROM channel_use WHERE run_id = (SELECT max(id) FROM runs) AND $1")
    expect_between "$got" "$push_least" "$push_most" "push_blocked_ns of $name"
    got=$(sql t.db "SELECT pop_blocked_ns FROM channel_use WHERE run_id = (SELECT max(id) FROM runs) AND $1")
    expect_between "$got" "$pop_least" "$pop_most" "pop_blocked_ns of $name"
}

timeout 20 "$FIXTURES/mq" >alone.txt 2>&1 || skip "this system has no POSIX message queues: $(tail -n 1 alone.txt)"
expect_status 0 profile -- "$FIXTURES/mq" >out.txt
expect_tables out.txt
expect_exact
within "object = '/clear_fixture_mq'"

expect_status 0 profile -- "$FIXTURES/mq" processes >out.txt
read -r _ _ capacity pushes pops _ < <(grep '^channel ' out.txt)
expect_equal "$(sql t.db "SELECT max(capacity), sum(pushes), sum(pops), count(*), count(DISTINCT object_id) FROM channel_use WHERE run_id = (SELECT max(id) FROM runs)")" \
    "$capacity|$pushes|$pops|2|1" 'one queue between two processes'

# GLib makes its queue out of malloc: it is called after the function that asked for it.
expect_status 0 profile -- "$FIXTURES/gqueue" >out.txt
read -r _ _ capacity pushes pops push_blocked pop_blocked max_depth < <(grep '^channel ' out.txt)
expect_equal "$(sql t.db "SELECT capacity, pushes, pops, push_blocked, pop_blocked, max_depth FROM channel_use WHERE run_id = (SELECT max(id) FROM runs) AND object = 'main+0'")" \
    "$capacity|$pushes|$pops|$push_blocked|$pop_blocked|$max_depth" 'GAsyncQueue'
within "object = 'main+0'"
expect_exact
check_db t.db
