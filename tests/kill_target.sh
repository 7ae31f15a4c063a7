# SIGKILL of the program at 50 random moments: what it had done until then is in the warehouse, to the very allocation.
# timeout: 1200
# alone: it looks for what is left in /dev/shm, and the moments shall be random, not the load
# plain: the runtime, which has no sanitizers
. "$(dirname "$0")/lib.sh"

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
milliseconds() { echo $((${EPOCHREALTIME//[.,]/} / 1000)); }

# The moments lie between the start and four times what the program takes to begin: on a busy machine all of it is later.
began=$(milliseconds)
start
until_it_runs
until [ -s count ] && [ "$(od -An -t u8 -j 8 -N 8 count)" -gt 0 ]; do sleep 0.01; done
first=$(($(milliseconds) - began))
kill -KILL "$target"
wait "$pid"

echo "begun after $first ms"; exact=0
for round in $(seq 50); do
    start
    moment=$((RANDOM % (4 * first)))
    sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
    until_it_runs
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
[ "$exact" -ge 20 ] || fail "only $exact of 50 programs had begun when they were killed: nothing is proved"
check_db t.db
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 51 'runs'
free_shm_check
