# Comparisons of programs with themselves: at most 1 % of the figures are called a change, and no line to quote claims one. The
# programs are short; `make truth` does the same with longer ones.
# build: plain
# longer: ROUNDS=8
. "$(dirname "$0")/lib.sh"
# In the suite programs that do the same each time; with ROUNDS also those whose threads meet by chance.
programs=(leak stacks)
[ -z "${ROUNDS:-}" ] || programs=(leak heap_threads own_locks stacks mvcc)

# How long a single run takes on a machine that has other things to do is not the program's doing: times of one run against one are left
# to `make truth`. Sets of runs are compared by all figures.
printf 'thresholds:\n  diff_single_ns: 3600000000000\n' >clear.yaml
for ((round = 0; round < ${ROUNDS:-4}; round++)); do
    for program in "${programs[@]}"; do
        expect_status 0 profile --quiet -o none.profile --label "$program" -- "$FIXTURES/$program" >out.txt
    done
done
CLEAR=$CLEAR python3 "$ROOT/tests/compare_same.py" t.db "${programs[@]}" >table.txt || fail "$(cat table.txt)"
check_db t.db
