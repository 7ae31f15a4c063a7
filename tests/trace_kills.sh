# clear profile --trace=all --stream --wall, and SIGKILL: of the program, and of clear itself, at many moments. Each run is readable and keeps its
# events: after a kill of clear at least those that were stored before, each once, and those that the rings still had; none is half written.
# KILLS=60 is what `make attack` makes, half of each; `make long` 8, and the suite 2.
# timeout: 240
# alone: it looks for what is left in /dev/shm
# build: plain
# longer: KILLS=8
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db
kills=${KILLS:-2}

events() { sql t.db "SELECT count(*) FROM events JOIN processes ON processes.id = process_id WHERE run_id = $1"; }
start() { # a program that waits all the time, with a flush every 20 ms: sets recorder, pid and run
    rm -f started && mkfifo started
    "$CLEAR" profile --quiet -o none.profile --trace=all --stream --interval 20ms --wall "$FIXTURES/wait_storm" 3 0 >started &
    recorder=$!
    read -r line <started
    pid=$(sed -n 's/.*pid \([0-9]*\).*/\1/p' <<<"$line")
    run=$(sql t.db 'SELECT max(id) FROM runs')
    wait_for 'the first events' has_events
}
has_events() { [ "$(events "$run")" -gt 0 ]; }
# No event twice, none outside of the run, all of known kinds, waits with their object and its stack.
check_events() {
    expect_equal "$(sql t.db "SELECT count(*) - count(DISTINCT tid || kind || start_ns || address || trace_id || object_id || duration_ns) FROM events JOIN processes ON processes.id = process_id WHERE run_id = $run")" 0 "$1: events twice"
    expect_equal "$(sql t.db "SELECT count(*) FROM events JOIN processes ON processes.id = process_id JOIN runs ON runs.id = run_id WHERE run_id = $run
        AND (start_ns < 0 OR events.duration_ns < 0 OR start_ns + events.duration_ns > runs.duration_ns + 2000000000 OR events.kind NOT IN (SELECT kind FROM event_kinds)
             OR events.kind = 'mutex' AND (events.trace_id = 0 OR address = 0))")" 0 "$1: events that cannot be"
    "$CLEAR" trace "$run" -n 3 >out.txt 2>&1 || fail "$1: clear trace: $(cat out.txt)"
    "$CLEAR" export "$run" -o out.perfetto-trace >out.txt 2>&1 || fail "$1: export: $(cat out.txt)"
    check_db t.db
}

for ((turn = 1; turn <= kills / 2; turn++)); do
    start
    sleep "0.0$((turn * 23 % 10))"
    kill -KILL "$pid"
    wait "$recorder"
    check_events "the program was killed, $turn"
    expect_match "$(sql t.db "SELECT sum(v1) > 0 FROM samples JOIN profiles ON profiles.id = profile_id WHERE kind = 'off-cpu' AND run_id = $run")" 1 'wall time'
done

for ((turn = 1; turn <= kills / 2; turn++)); do
    start
    sleep "0.0$((turn * 37 % 10))"
    kill -KILL "$recorder"
    wait "$recorder" 2>/dev/null
    before=$(events "$run")
    kill -KILL "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
    "$CLEAR" recover >out.txt 2>&1 || fail "recover: $(cat out.txt)"
    expect_between "$(events "$run")" "$before" 100000000 "turn $turn: events after clear was killed"
    check_events "clear was killed, $turn"
    expect_equal "$(sql t.db "SELECT flags LIKE '%unfinished%' FROM runs WHERE id = $run")" 0 'the run is finished'
done
echo "$kills attempts, each a kill of the program or of clear; $(sql t.db 'SELECT count(*) FROM events') events"
