# A run is flushed while it runs: other processes read its figures, which only grow and end exact.
. "$(dirname "$0")/lib.sh"

"$CLEAR" profile --db t.db --interval 0.1 -- "$FIXTURES/progress" count 300000 stop >out.txt &
pid=$!
last=0 steps=0 looks=0
while kill -0 "$pid" 2>/dev/null; do # until five flushes were seen, however long they take
    sleep 0.2
    now=$(sqlite3 -batch -cmd '.timeout 5000' t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress'" 2>/dev/null)
    [ "${now:-0}" -ge "$last" ] || fail "the count fell from $last to $now"
    [ "${now:-0}" -gt "$last" ] && steps=$((steps + 1))
    last=${now:-0} looks=$((looks + 1))
    [ "$steps" -lt 5 ] && [ "$looks" -lt 300 ] || touch stop
done
wait "$pid"
expect_equal $? 9 status
[ "$steps" -ge 5 ] || fail "a reader saw $steps flushes in $looks looks at a run with --interval 0.1"
expect_equal "$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress'")" "$(awk '{print $2}' out.txt)" 'the figure at the end'
expect_equal "$(sql t.db 'SELECT count(*), sum(exit_status) FROM runs')" '1|9' runs
check_db t.db
