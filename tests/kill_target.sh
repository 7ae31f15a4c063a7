# SIGKILL of the program at 50 random moments: what it had done until then is in the warehouse, to the very allocation.
# timeout: 300
# alone: it looks for what is left in /dev/shm, and the moments shall be random, not the load
. "$(dirname "$0")/lib.sh"

exact=0
for round in $(seq 50); do
    "$CLEAR" profile --db t.db --interval 0.05 -o "$TMP/t.profile" -- "$FIXTURES/progress" count 5000 >out.txt 2>err.txt &
    pid=$!
    # From before the program's start to half a second into it.
    sleep "0.$(printf '%03d' $((RANDOM % 400)))"
    target=$(pgrep -P "$pid" -x progress)
    while [ -z "$target" ]; do
        sleep 0.01
        kill -0 "$pid" 2>/dev/null || fail "clear ended before its program did: $(cat err.txt)"
        target=$(pgrep -P "$pid" -x progress)
    done
    kill -KILL "$target"
    wait "$pid"
    expect_equal $? 137 "status in round $round"
    expect_equal "$(sql t.db 'SELECT exit_signal, flags FROM runs ORDER BY id DESC LIMIT 1')" '9|' "how round $round ended"
    begun=0 ended=0
    [ -s count ] && read -r begun ended < <(od -An -t u8 -N 16 count)
    got=$(sql t.db "SELECT coalesce(sum(alloc_count), 0) FROM heap WHERE function = 'makes_progress' AND run_id = (SELECT max(id) FROM runs)")
    expect_between "$got" "$ended" "$begun" "allocations recorded in round $round"
    expect_equal "$(sql t.db "SELECT coalesce(sum(dropped), 0) FROM profiles WHERE run_id = (SELECT max(id) FROM runs)")" 0 'dropped'
    [ "$ended" -gt 0 ] && exact=$((exact + 1))
    rm -f count
done
[ "$exact" -ge 25 ] || fail "only $exact of 50 programs had begun when they were killed: nothing is proved"
check_db t.db
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 50 'runs'
free_shm_check
