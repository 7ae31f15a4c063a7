#!/usr/bin/env bash
# clear profile --pid of a process whose threads wait already: what each waits for, with its stack, is in the run as of a wait that began when the
# recording did; it ends once, with what the thread does next. Two threads that wait for each other are a deadlock while the process goes on.
# plain: a program is entered by ptrace, and its figures are compared
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/attaching.sh"

# A caller with a frame pointer, which the kernel does not tell, and one without.
"${CC:-gcc}" -O0 -g -fno-omit-frame-pointer -pthread -o framed "$ROOT/fixtures/waits_before.c"
"${CC:-gcc}" -O2 -g -fomit-frame-pointer -fno-ipa-icf -pthread -o frameless "$ROOT/fixtures/waits_before.c"

FUTEX=202
are_waiting() { # are_waiting COUNT: so many threads of the program are in a wait
    [ "$(cat /proc/"$program"/task/*/syscall | grep -c "^$FUTEX ")" = "$1" ]
}
start() { # start PROGRAM [MODE]
    rm -f program.txt
    "./$@" >program.txt &
    program=$!
    wait_for 'the program' grep -Eqs 'ready|waits' program.txt
}
go_on() { # go_on WORD: the program's answer to a signal
    kill -USR1 "$program"
    wait_for "$1" grep -qs "$1" program.txt
}
# waits RUN: kind, function that waits, acquisitions, those that waited, unfinished, of all that had to wait there
waits() {
    sql t.db "SELECT locks.kind, replace(stack, rtrim(stack, replace(stack, ';', '')), ''), sum(acquires + read_acquires),
            sum(contended + read_contended), sum(unfinished)
        FROM locks JOIN profiles ON profiles.id = profile_id JOIN stacks USING (trace_id)
        WHERE run_id = $1 AND wait_ns + read_wait_ns > 0 AND stack GLOB '*;wait_*' GROUP BY 1, 2 ORDER BY 2"
}
each() { # each ACQUIRES CONTENDED: what `waits` says of the eight
    printf '%s|'"$1|$2"'|0\n' 'barrier|wait_at_barrier' 'cond|wait_for_condition' 'mutex|wait_for_mutex' 'sem|wait_for_semaphore' \
        'join|wait_for_thread' 'futex|wait_for_word' 'rwlock|wait_to_read' 'rwlock|wait_to_write'
}

run=0
for build in framed frameless; do
    # All eight get what they wait for while they are recorded.
    start "$build"
    wait_for 'the waits' are_waiting 8
    attach
    [ -z "$(find "${TMPDIR:-/tmp}" /dev/shm -name "waits.$program" 2>/dev/null)" ] || fail "$build: the file of the waits is still there"
    sleep 0.2
    go_on end
    detach
    run=$((run + 1))
    expect_equal "$(waits $run)" "$(each 1 1)" "$build: the waits"
    expect_equal "$(sql t.db "SELECT count(*) FROM locks JOIN profiles ON profiles.id = profile_id JOIN stacks USING (trace_id)
        WHERE run_id = $run AND stack GLOB '*start_thread;wait_*' AND max_wait_ns + read_max_wait_ns > 180000000 AND contended + read_contended = 1")" 8 "$build: how long they were"
    # Since its first call, a sleep, which lasts 20 ms.
    expect_equal "$(sql t.db "SELECT sum(hold_ns) > 19000000 AND max(timed_holds) = 1 FROM locks JOIN profiles ON profiles.id = profile_id
        JOIN objects ON objects.id = object_id WHERE run_id = $run AND objects.name GLOB '*:held'")" 1 "$build: the hold behind the wait"
    kill -USR1 "$program"
    wait "$program" || fail "$build: the program ended with $?"

    # Two wait for each other: while they do, and once more when the runtime is there already.
    start "$build" deadlock
    wait_for 'the waits' are_waiting 10
    for _ in 1 2; do
        attach --duration 600ms
        wait "$clear" || fail "clear profile ended with $?"
        run=$((run + 1))
        expect_equal "$(waits $run | grep -v '|0$')" 'mutex|wait_for_first|0|0|1
mutex|wait_for_second|0|0|1' "$build: waits without an end"
        expect_equal "$(waits $run | grep -c '|0|0|0$')" 8 "$build: the other waits"
        expect_equal "$(sql t.db "SELECT severity, replace(subject, '$build:', '') FROM doctor WHERE run_id = $run AND code = 'deadlock' ORDER BY 2")" 'critical|first
critical|second' "$build: the deadlock"
    done
    expect_match "$("$CLEAR" doctor --db t.db $run)" 'wait_for_first .*waits_before.c:[0-9]+' "$build: where it is, in the doctor"
    go_on end
    kill -TERM "$program"
    wait "$program"
done

# The waits begin in hooks, whose recording ends before them: the next one has them too, and counts them once.
start frameless late
attach
go_on ready
wait_for 'the waits' are_waiting 8
detach
attach
go_on end
detach
expect_equal "$(waits $((run + 1)))" "$(each 0 0 | sed 's/|0$//' | while read -r line; do echo "$line|0"; done)" 'waits that a recording does not see the end of'
expect_equal "$(waits $((run + 2)))" "$(each 1 1)" 'waits that the next one sees the end of'
kill -USR1 "$program"
wait "$program" || fail "the program ended with $?"
check_db t.db
