# Every process is a row with its own exact figures: children, grandchildren, a storm of 200 at once, forks under held locks.
# quick
. "$(dirname "$0")/lib.sh"

agree() { # each `process PID PPID family_alloc ...` line
    sed -n 's/^process //p' out.txt | sort >want.txt
    sql t.db "SELECT pid || ' ' || ppid || ' ' || function || ' ' || sum(alloc_count) || ' ' || sum(alloc_bytes) || ' ' || sum(free_count) || ' '
                     || sum(free_bytes)
              FROM heap JOIN profiles ON profiles.id = heap.profile_id JOIN processes ON processes.id = profiles.process_id
              WHERE heap.run_id = (SELECT max(id) FROM runs) AND function = 'family_alloc' GROUP BY processes.id" | sort >got.txt
    diff want.txt got.txt >difference.txt || fail "$1: counted (<) and recorded (>): $(head -n 10 difference.txt)"
    [ "$(wc -l <want.txt)" -eq "$2" ] || fail "$1: $(wc -l <want.txt) processes, not $2"
    expect_exact
}

expect_status 0 profile -- "$FIXTURES/forks" tree >out.txt
agree tree 13
# A block of the parent that the child freed is no free of the child's profile, nor of the parent's.
expect_equal "$(sql t.db "SELECT sum(alloc_count), sum(free_count) FROM heap WHERE function = 'before_fork'")" '13|0' 'blocks inherited'

expect_status 0 profile -- "$FIXTURES/forks" storm 200 >out.txt
# The storm's parent says nothing of its own: its line is made here (10 before the children, 10 after).
parent=$(awk '$1 == "process" {print $3; exit}' out.txt)
expect_equal "$(sql t.db "SELECT count(*) FROM processes WHERE run_id = (SELECT max(id) FROM runs)")" 201 'processes of the storm'
expect_equal "$(sql t.db "SELECT sum(alloc_count), sum(alloc_bytes) FROM heap JOIN profiles ON profiles.id = heap.profile_id
    JOIN processes ON processes.id = profiles.process_id
    WHERE heap.run_id = (SELECT max(id) FROM runs) AND function = 'family_alloc' AND pid = $parent")" '20|110' "the storm's parent"
{ grep '^process ' out.txt; echo "process $parent $(sql t.db "SELECT ppid FROM processes WHERE run_id = (SELECT max(id) FROM runs) AND pid = $parent") family_alloc 20 110 16 86"; } >all.txt
mv all.txt out.txt
agree storm 201

expect_status 0 profile -- "$FIXTURES/forks" locked >out.txt
agree locked 100
check_db t.db
