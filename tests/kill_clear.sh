# SIGKILL of clear itself at 50 random moments: the file is valid, what a reader once saw flushed is there, the program ends as it
# would have, and the next start of clear cleans /dev/shm.
# timeout: 300
# alone: it looks for what is left in /dev/shm
. "$(dirname "$0")/lib.sh"

recorded() { # recorded BEFORE: the count of the run that came after run BEFORE, or nothing where there is none yet
    sqlite3 -batch -cmd '.timeout 5000' t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress' AND run_id > $1" 2>/dev/null
}

"$CLEAR" profile --db t.db -o "$TMP/t.profile" -- true || fail 'no first run'
flushed=0
for round in $(seq 50); do
    rm -f out.txt count
    before=$(sql t.db 'SELECT max(id) FROM runs')
    "$CLEAR" profile --db t.db --interval 0.02 -o "$TMP/t.profile" -- "$FIXTURES/progress" count 450 >out.txt 2>err.txt &
    pid=$!
    sleep "0.$(printf '%03d' $((RANDOM % 300)))"
    seen=$(recorded "$before")
    kill -KILL "$pid" || fail "clear had ended in round $round: $(cat err.txt)"
    wait "$pid"
    # The program goes on, and ends by itself; unless clear was killed before it had started it.
    for i in $(seq 150); do
        grep -q '^done' out.txt || { [ "$i" -gt 25 ] && [ ! -e count ]; } && break
        sleep 0.02
    done
    [ ! -e count ] || grep -q '^done' out.txt || fail "the program did not end by itself in round $round"
    expect_equal "$(sql t.db 'PRAGMA integrity_check')" ok "integrity after round $round"
    run=$(sql t.db 'SELECT max(id) FROM runs')
    [ "$run" -gt "$before" ] || continue # killed before its first transaction
    expect_equal "$(sql t.db 'SELECT exit_status IS NULL AND exit_signal IS NULL, flags FROM runs ORDER BY id DESC LIMIT 1')" '1|unfinished' \
        "the run of round $round"
    got=$(recorded "$before")
    [ "${got:-0}" -ge "${seen:-0}" ] || fail "round $round: $seen allocations were flushed, ${got:-0} are there"
    [ "${got:-0}" -gt 0 ] && flushed=$((flushed + 1))
done
[ "$flushed" -ge 20 ] || fail "only $flushed of 50 runs had been flushed before the kill: nothing is proved"
check_db t.db
expect_equal "$(sql t.db "SELECT count(*) FROM doctor WHERE code = 'unfinished'")" "$(sql t.db "SELECT count(*) FROM runs WHERE flags = 'unfinished'")" \
    'unfinished runs that doctor knows'
expect_status 0 "$CLEAR" profile --db t.db -o "$TMP/t.profile" -- true
free_shm_check
