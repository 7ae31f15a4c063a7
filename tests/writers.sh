#!/usr/bin/env bash
# Twelve recorders at once write into one file, flushing often: no run is lost, each has what its program counted, and the -wal stays
# small and is gone at the end.
# build: plain
. "$(dirname "$0")/lib.sh"

WRITERS=12 ROUNDS=${WRITERS_ROUNDS:-2}
writer() { # writer NUMBER
    local round
    for ((round = 0; round < ROUNDS; round++)); do
        "$CLEAR" profile -q --db t.db --interval 0.05 --label "w$1" -o "out$1" -- "$FIXTURES/many_stacks" 500 >out.$1 2>err.$1 || {
            echo "status $?: $(cat "err.$1")" >>failed
        }
    done
}
for ((i = 1; i <= WRITERS; i++)); do
    writer "$i" &
    pids[i]=$!
done
largest=0
while kill -0 "${pids[@]}" 2>/dev/null || jobs -r | grep -q .; do
    size=$(stat -c %s t.db-wal 2>/dev/null || echo 0)
    [ "$size" -le "$largest" ] || largest=$size
    sleep 0.1
done
wait
[ ! -e failed ] || fail "$(sort failed | uniq -c)"
runs=$((WRITERS * ROUNDS))
expect_equal "$(sql t.db "SELECT count(*), count(DISTINCT label), sum(flags <> '') FROM runs WHERE exit_status = 0")" "$runs|$WRITERS|0" 'runs'
expect_equal "$(sql t.db "SELECT count(*), min(n), max(n) FROM (SELECT sum(alloc_count) AS n FROM heap WHERE function = 'leaf' GROUP BY run_id)")" "$runs|500|500" \
    'allocations of each run'
# Beyond 16 MiB the -wal is emptied; twelve transactions may come in between.
expect_between "$largest" 0 $((64 << 20)) 'bytes of the -wal at its largest'
[ ! -e t.db-wal ] || fail "a -wal of $(stat -c %s t.db-wal) bytes is left"
[ ! -e t.db.lost ] || fail "kept: $(ls t.db.lost)"
check_db t.db
echo "$runs attempts, 0 failures"
