# SIGKILL of the program, once when it has begun and with KILLS at random moments: what it had done until then is in the warehouse, to the very allocation.
# timeout: 1200
# alone: it looks for what is left in /dev/shm, and the moments shall be random, not the load
# plain: the runtime, which has no sanitizers
# longer: KILLS=50
. "$(dirname "$0")/lib.sh"
kills=${KILLS:-1}

start() {
    rm -f count
    "$CLEAR" profile --db t.db --interval 0.05 -o "$TMP/t.profile" -- "$FIXTURES/progress" count 300000 >out.txt 2>err.txt &
    pid=$!
}
until_it_runs() { # sets target
    target=$(pgrep -P "$pid" -x progress)
    while [ -z "$target" ]; do
        sleep 0.01
        kill -0 "$pid" 2>/dev/null || fail "clear ended before its program did: $(cat err.txt)"
        target=$(pgrep -P "$pid" -x progress)
    done
}
until_it_began() { until [ -s count ] && [ "$(od -An -t u8 -j 8 -N 8 count)" -gt 0 ]; do sleep 0.01; done; }
milliseconds() { echo $((${EPOCHREALTIME//[.,]/} / 1000)); }

# The moments lie between the start and four times what the program takes to begin: on a busy machine all of it is later.
began=$(milliseconds)
start
until_it_runs
until_it_began
first=$(($(milliseconds) - began))
kill -KILL "$target"
wait "$pid"

echo "begun after $first ms"; exact=0
for round in $(seq "$kills"); do
    start
    if [ "$kills" -eq 1 ]; then
        until_it_runs
        until_it_began
    else
        moment=$((RANDOM % (4 * first)))
        sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
        until_it_runs
    fi
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
done
[ "$exact" -ge $(((2 * kills + 4) / 5)) ] || fail "only $exact of $kills programs had begun when they were killed: nothing is proved"
check_db t.db
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" $((kills + 1)) 'runs'
free_shm_check
