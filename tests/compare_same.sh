# Twenty comparisons of programs with themselves: at most 1 % of the figures are called a change, and no line to quote claims one. The
# programs are short, some with threads that meet by chance, one with writers that collide. `make truth` does the same with longer ones.
# build: plain
. "$(dirname "$0")/lib.sh"

# How long a single run takes on a machine that has other things to do is not the program's doing: times of one run against one are left
# to `make truth`. Sets of runs are compared by all figures.
printf 'thresholds:\n  diff_single_ns: 3600000000000\n' >clear.yaml
for _ in 1 2 3 4 5 6 7 8; do
    for program in leak heap_threads own_locks stacks mvcc; do
        expect_status 0 profile --quiet -o none.profile --label "$program" -- "$FIXTURES/$program" >out.txt
    done
done
CLEAR=$CLEAR python3 "$ROOT/tests/compare_same.py" t.db leak heap_threads own_locks stacks mvcc >table.txt || fail "$(cat table.txt)"
check_db t.db
