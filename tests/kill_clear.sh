# SIGKILL of clear itself, by turns at a random moment before the first flush and after a flush was seen: the file is valid, what a reader once saw flushed is there, the program ends as it
# would have, and clear recover stores all that it did, to the last allocation.
# timeout: 1200
# alone: it looks for what is left in /dev/shm
# build: plain
# longer: KILLS=50
. "$(dirname "$0")/lib.sh"
kills=${KILLS:-2}

recorded() { # recorded BEFORE: the count of the run that came after run BEFORE, or nothing where there is none yet
    sqlite3 -batch -cmd '.timeout 5000' t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress' AND run_id > $1" 2>/dev/null
}
start() { # in a session of its own, by which everything that comes of it is known
    rm -f out.txt count stop
    setsid "$CLEAR" profile --db t.db --interval 0.02 -o "$TMP/t.profile" -- "$FIXTURES/progress" count 300000 stop >out.txt 2>err.txt &
    pid=$!
}
running() { ps -s "$pid" -o stat= | grep -qv '^Z'; } # a process that only waits for init to ask for its status has ended
milliseconds() { echo $((${EPOCHREALTIME//[.,]/} / 1000)); }
sleep_ms() { sleep "$(($1 / 1000)).$(printf '%03d' $(($1 % 1000)))"; }
until_recorded() { # until_recorded BEFORE
    until [ "$(recorded "$1")" ]; do kill -0 "$pid" || fail "clear ended: $(cat err.txt)"; sleep 0.01; done
}

"$CLEAR" profile --db t.db -o "$TMP/t.profile" -- true || fail 'no first run'
before=$(sql t.db 'SELECT max(id) FROM runs') began=$(milliseconds)
start
until_recorded "$before"
first=$(($(milliseconds) - began))
touch stop
wait "$pid"
expect_equal $? 9 'status of the program that was told to stop'

# Odd rounds kill within the time that the first flush takes. Even rounds kill after a flush was seen. So both kinds of moment
# are met on a busy machine as well.
echo "first flush after $first ms"; flushed=0 recovered=0
for round in $(seq "$kills"); do
    before=$(sql t.db 'SELECT max(id) FROM runs')
    seen=0
    start
    if [ $((round % 2)) = 1 ]; then
        sleep_ms $((RANDOM % first))
    else
        until_recorded "$before"
        sleep_ms $((RANDOM % 100))
        seen=$(recorded "$before")
    fi
    kill -KILL "$pid" || fail "clear had ended in round $round: $(cat err.txt)"
    wait "$pid"
    # The program goes on, and ends by itself once it is told to; unless clear was killed before it had started it.
    touch stop
    for _ in $(seq 3000); do
        running || break
        sleep 0.02
    done
    running && fail "the program of round $round does not end: $(ps -s "$pid" -o pid,stat,wchan:20,args)"
    [ ! -e count ] || grep -q '^done' out.txt || fail "the program did not end by itself in round $round"
    expect_equal "$(sql t.db 'PRAGMA integrity_check')" ok "integrity after round $round"
    run=$(sql t.db 'SELECT max(id) FROM runs')
    [ "$run" -gt "$before" ] || continue # killed before its first transaction
    expect_equal "$(sql t.db 'SELECT exit_status IS NULL AND exit_signal IS NULL, flags FROM runs ORDER BY id DESC LIMIT 1')" '1|unfinished' \
        "the run of round $round"
    got=$(recorded "$before")
    [ "${got:-0}" -ge "${seen:-0}" ] || fail "round $round: $seen allocations were flushed, ${got:-0} are there"
    [ "${got:-0}" -gt 0 ] && flushed=$((flushed + 1))
    "$CLEAR" recover --db t.db >recovered.txt 2>&1 || fail "round $round: recover: $(cat recovered.txt)"
    [ -e count ] || continue
    expect_match "$(cat recovered.txt)" ": run $run, " "what recover says in round $round"
    got=$(recorded "$before") # no site where the program was told to stop before its first allocation
    expect_equal "${got:-0}" "$(sed -n 's/^done //p' out.txt)" "allocations recovered in round $round, against those of the program"
    expect_equal "$(sql t.db "SELECT exit_status IS NULL, flags FROM runs WHERE id = $run")" '1|' "run $run when it is recovered"
    recovered=$((recovered + 1))
done
[ "$recovered" -ge $((kills / 2)) ] || fail "only $recovered of $kills runs were recovered"
expect_equal "$("$CLEAR" recover --db t.db)" 'nothing to recover' 'recover once more'
[ "$flushed" -ge $((kills / 2)) ] || fail "only $flushed of $kills runs had been flushed before the kill"
check_db t.db
expect_equal "$(sql t.db "SELECT count(*) FROM doctor WHERE code = 'unfinished'")" "$(sql t.db "SELECT count(*) FROM runs WHERE flags = 'unfinished'")" \
    'unfinished runs that doctor knows'
expect_status 0 "$CLEAR" profile --db t.db -o "$TMP/t.profile" -- true
free_shm_check
