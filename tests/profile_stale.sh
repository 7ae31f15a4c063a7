#!/usr/bin/env bash
# The next start leaves alone what a killed recorder left and clear recover can store, and what a living one uses. The killed one's rows
# stand. Without a recording, what is left goes.
. "$(dirname "$0")/lib.sh"

exists() { # exists PID: that recorder's directory. Those of others are not ours to count.
    [ -n "$(find /dev/shm -maxdepth 1 -name "clear-$(id -u)-$1-*")" ]
}
wait_until() { # wait_until COMMAND...: 20 s at most
    local i
    for ((i = 0; i < 400; i++)); do
        "$@" && return
        sleep 0.05
    done
    fail "never: $*"
}
is_gone() { ! exists "$1"; } # within a moment: another clear may look at it, or remove it, just now
flushed() { [ "$(sql "$1" 'SELECT count(*) FROM sites' 2>/dev/null)" -gt 0 ] 2>/dev/null; }

"$CLEAR" profile -q --interval 0.05 --db living.db perl -e 'my @kept; for (1 .. 2000) { push @kept, "x" x 1000; select undef, undef, undef, 0.01 }' &
living=$!
"$CLEAR" profile -q --interval 0.05 --db killed.db perl -e '$| = 1; print "$$\n"; my @kept; for (1 .. 2000) { push @kept, "x" x 1000; select undef, undef, undef, 0.01 }' >pid &
killed=$!
wait_until flushed living.db
wait_until flushed killed.db
wait_until test -s pid
exists "$killed" && exists "$living" || fail "two recordings without directories"
kill -KILL "$killed"
wait "$killed" 2>/dev/null
program=$(cat pid)
kill -0 "$program" || fail "the program died with its recorder"

"$CLEAR" profile --db true.db true 2>true.err
! grep -q 'was killed' true.err || fail "a start with another warehouse says: $(cat true.err)"
exists "$killed" || fail "the next start took what can be recovered"
exists "$living" || fail "the next start took the directory of a living recorder"
kill -0 "$program" || fail "the program died when its directory went"
check_db killed.db
expect_equal "$(sql killed.db 'SELECT flags, exit_status IS NULL FROM runs')" "unfinished|1" "the killed run"
# A start of another recording beside this one may hold the directory while it looks at it.
says_lost() {
    "$CLEAR" profile --db killed.db true 2>true.err
    grep -q '^clear: 1 recording of a clear that was killed: clear recover --list$' true.err
}
wait_until says_lost

kill -TERM "$living" "$program"
wait "$living" 2>/dev/null
expect_equal "$(sql living.db 'SELECT exit_signal, flags FROM runs')" "15|" "the living run"
exists "$living" && fail "a directory is left"
expect_match "$("$CLEAR" recover --db killed.db)" ': run 1, .* 1 process: perl' 'the killed run, recovered'
wait_until is_gone "$killed"
expect_equal "$(sql killed.db "SELECT flags, count(*) FROM runs JOIN processes ON run_id = runs.id WHERE runs.id = 1")" "|1" "the recovered run"

mkdir -m 700 "/dev/shm/clear-$(id -u)-$killed-0123456789abcdef"
"$CLEAR" profile -q --db true.db true
wait_until is_gone "$killed"
