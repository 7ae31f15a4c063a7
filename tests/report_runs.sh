#!/usr/bin/env bash
# What a profile alone cannot say: means over runs, columns by a tag, runs and files together, a thousand runs in the memory of
# fifty, and what --all promises. Figures come from go tool pprof on each run's file and Python's statistics, or from the stock sqlite3 shell.
# timeout: 480
# longer: TIMES=3
# build: plain
. "$(dirname "$0")/lib.sh"
export TZ=UTC

refuse() { # refuse TEXT ARGUMENTS...
    local text=$1 got=0
    shift
    "$CLEAR" "$@" >out 2>err || got=$?
    expect_equal "$got" 2 "status of clear $*"
    expect_match "$(cat err)" "^clear: $text" "clear $*"
    [ ! -s out ] || fail "clear $* wrote on standard output"
}

# ---- made-up runs against pprof ----
if command -v go >/dev/null; then
    mkdir made
    HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none python3 "$ROOT/tests/report_runs.py" "$CLEAR" "$(go tool -n pprof)" "$TMP/made" ||
        fail "reports over runs"
fi

# ---- recorded runs against SQL: several windows a run, one of them of another program ----
export CLEAR_DB=$TMP/t.db
for fixture in heap_counts leak heap_counts; do
    CLEAR=$PLAIN_CLEAR profile -q --cpu off -o one.profile --interval 10ms --tag "commit=$fixture" "$FIXTURES/$fixture" >/dev/null || fail "$fixture"
done
sql t.db "WITH each AS (
              SELECT run_id, frames.function AS name, sum(alloc_bytes) AS bytes
              FROM sites JOIN profiles ON profiles.id = profile_id
              JOIN frames ON frames.trace_id = sites.trace_id AND frames.depth = 0
              GROUP BY run_id, frames.function HAVING sum(alloc_bytes) > 0)
          SELECT name || ' ' || printf('%.6f', sum(bytes) / 3.0) || ' '
                 || printf('%.6f', sqrt((sum(bytes * bytes) - sum(bytes) * sum(bytes) / 3.0) / 2)) || ' ' || count(*)
          FROM each GROUP BY name ORDER BY name" >want
[ "$(wc -l <want)" -gt 5 ] || fail "nothing was allocated"
alloc=(--kind heap --sample_index alloc_space)
"$CLEAR" top "${alloc[@]}" --over-runs --all --json all >over.json || fail "--over-runs"
python3 -c 'import json
for node in sorted(json.load(open("over.json"))["nodes"], key=lambda node: node["name"]):
    if node["flat"]["mean"]: print(node["name"], "%.6f" % node["flat"]["mean"], "%.6f" % node["flat"]["sd"], node["n"])' >got
expect_same_file got want "mean and sd of allocated bytes"
sql t.db "SELECT frames.function || ' ' || sum(alloc_bytes * (value = 'heap_counts')) || ' ' || sum(alloc_bytes * (value = 'leak'))
          FROM sites JOIN profiles ON profiles.id = profile_id JOIN tags USING (run_id)
          JOIN frames ON frames.trace_id = sites.trace_id AND frames.depth = 0
          GROUP BY frames.function HAVING sum(alloc_bytes) > 0 ORDER BY frames.function" >want
"$CLEAR" top "${alloc[@]}" --by-tag commit --json --all all >by.json || fail "--by-tag"
python3 -c 'import json
report = json.load(open("by.json"))
assert [column["value"] for column in report["columns"]] == ["heap_counts", "leak"], report["columns"]
assert [column["runs"] for column in report["columns"]] == [2, 1]
for node in sorted(report["nodes"], key=lambda node: node["name"]):
    if node["total_flat"]: print(node["name"], *node["flat"])' >got
expect_same_file got want "allocated bytes by commit"

# ---- --all: whole numbers in their own unit, and what they are worth ----
sql t.db "SELECT sum(alloc_bytes) FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = 1" >total
for report in text tree; do
    "$CLEAR" report $report --all "${alloc[@]}" 1 >all.txt || fail "--all"
    expect_match "$(cat all.txt)" '^All [0-9]+ nodes: exact, nothing truncated$' "$report --all"
    expect_match "$(cat all.txt)" "^Showing nodes accounting for $(cat total)B, 100% of $(cat total)B total$" "$report --all"
    expect_equal "$(grep -cE '(^| )-?[0-9]+(\.[0-9]+)?[kMGT]B |[0-9]\.[0-9]+B ' all.txt)" 0 "$report --all rounds"
done
"$CLEAR" report traces --all "${alloc[@]}" 1 >all.txt || fail "traces --all"
expect_match "$(cat all.txt)" '^All [0-9]+ samples: exact, nothing truncated$' "traces --all"
expect_equal "$(awk '/^ *[0-9]+B? /{ if (!/:/) { sub(/B$/, "", $1); sum += $1 } } END { print sum }' all.txt)" "$(cat total)" "values of traces --all"
printf 'main;%s 9007199254740993\nmain 9007199254740993\n' deep >large.folded # 2^53 + 1 is no double
"$CLEAR" top --all ./large.folded >all.txt
expect_match "$(cat all.txt)" '^9007199254740993 +50.00% +50.00% +9007199254740993 +50.00%  deep$' "a number beyond 2^53"
expect_match "$(cat all.txt)" '^9007199254740993 +50.00% +100% +18014398509481986 +100%  main$' "a sum beyond 2^53"
expect_match "$("$CLEAR" top --all --unit MB "${alloc[@]}" 1)" '^All [0-9]+ nodes: nothing left out; rounded to two decimals' "--all with a unit"
for report in "" --by-tag=commit; do
    expect_match "$("$CLEAR" top --all --json ${report:+"$report"} "${alloc[@]}" 1)" '"figures":"exact, nothing truncated"\}$' "json --all $report"
done
expect_match "$("$CLEAR" top --all --mean "${alloc[@]}" 1)" '^All [0-9]+ nodes: nothing left out; means are rounded down$' "--all with means"
expect_match "$("$CLEAR" top --all --over-runs "${alloc[@]}" all)" '^All [0-9]+ nodes: nothing left out; means and deviations to 15 digits$' "--all over runs"

# ---- a label with as many values as samples ----
python3 - <<'E2' | "$PLAIN_CLEAR" ingest -q --db values.db --label values - || fail "no profile"
import sys
from wire import block, number, varint
out = bytearray(block(1, number(1, 1) + number(2, 2)))
for i in range(100000):
    out += block(2, block(1, varint(1)) + block(2, varint(i + 1)) + block(3, number(1, 3) + number(2, 5 + i)))
out += block(4, number(1, 1) + number(3, 0x1000) + block(4, number(1, 1))) + block(5, number(1, 1) + number(2, 4))
for text in ["", "events", "count", "user", "main"] + [f"user{i}" for i in range(100000)]: out += block(6, text.encode())
sys.stdout.buffer.write(out)
E2
timeout 100 "$CLEAR" top --db values.db --by-tag=user --columns=2 --all >out || fail "100,000 values: $?"
expect_match "$(cat out)" 'Showing the largest 2 of 100000 values of user; the other 99998 are in \(other\)' "100,000 values"
expect_match "$(cat out)" '^ +100000 +99999 +4999850001 +5000050000 +100% .* main$' "100,000 values"

# ---- words ----
"$CLEAR" report -top -over_runs 1 3 >one
"$CLEAR" top --over-runs 1,3 >two
expect_same_file two one "both spellings"
expect_match "$(cat one)" '^Over 2 runs: mean, sd ' "how many runs"
expect_equal "$("$CLEAR" report json --by_tag commit 1 2)" "$("$CLEAR" top --json --by-tag=commit 1..2)" "json"
"$CLEAR" top --over-runs --focus=nowhere all >out 2>err
expect_equal "$(cat err)" "clear: Focus expression matched no samples" "said once of three runs"
"$CLEAR" top --over-runs --focus=leaks_all all >out 2>err
expect_equal "$(cat err)" "" "a focus that matches in one run of three"
printf 'over_runs=true\ntop 1\nover_runs=false\nby_tag=commit\ntop 1\n' | "$CLEAR" report all >out || fail "the prompt"
expect_match "$(cat out)" '^Over 3 runs' "the prompt"
expect_match "$(cat out)" '^Columns: flat by tag commit of 3 runs$' "the prompt"
refuse 'over_runs makes a table: top or json, not tree' tree --over-runs all
refuse 'by_tag makes a table: top or json, not dot' report dot --by-tag commit all
refuse 'over_runs, by_tag and history exclude each other' top --over-runs --by-tag commit all
refuse 'by_tag=comit: no run has such a tag, and no sample such a label' top --by-tag comit all
refuse 'over_runs and a base exclude each other' top --over-runs --base 1 2
refuse 'columns must be 1 or more' top --by-tag commit --columns 0 all
printf 'main 5\n' >small.folded
refuse 'no one kind of profile is in all of these runs; give --kind' top --over-runs 1 ./small.folded

# ---- a thousand runs: memory goes with the stacks, time with the runs ----
mkdir many
python3 - <<'E2' || fail "no runs"
import random
program = random.Random(3)
stacks = [";".join(["main"] + [f"function_{program.randrange(200)}" for _ in range(10)]) for _ in range(400)]
for run in range(1000):
    values = random.Random(run)
    with open(f"many/{run:04}.folded", "w") as file:
        file.writelines(f"{stack} {values.randrange(1, 1000)}\n" for stack in stacks)
E2
"$PLAIN_CLEAR" ingest -q --db many.db many || fail "a thousand runs"
sql many.db "INSERT INTO tags SELECT id, 'commit', 'c' || ((id - 1) * 20 / 1000) FROM runs"
"$CC" -O1 -o peak "$ROOT/bench/peak.c" || fail "no program to measure with"
subject=$PLAIN_CLEAR # costs are of the optimized build, which the gate has beside the other one
[ -z "${SANITIZED:-}" ] || [ "$subject" != "$CLEAR" ] || subject=
measure() { # measure ARGUMENTS...: the least KB, and with TIMES=3 the least CPU milliseconds of three
    local i
    for ((i = 0; i < ${TIMES:-1}; i++)); do
        ./peak "$subject" top --db many.db "$@" 2>&1 >/dev/null || fail "$*"
    done | sort -n -k2 | awk 'NR == 1 { ms = $2 } NR == 1 || $1 < kb { kb = $1 } END { print kb, ms }'
}
for mode in '' --over-runs --by-tag=commit; do
    [ -n "$subject" ] || break
    # shellcheck disable=SC2086
    read -r few _ <<<"$(measure $mode 1..50)"
    # shellcheck disable=SC2086
    read -r many all <<<"$(measure $mode 1..1000)"
    expect_between "$many" 1 $((few * 125 / 100)) "KB for a thousand runs, $mode"
    [ -n "${TIMES:-}" ] || continue
    # shellcheck disable=SC2086
    read -r _ some <<<"$(measure $mode 1..250)"
    printf '%s: 50 runs %s KB, 250 runs %s ms, 1,000 runs %s KB %s ms\n' "$mode" "$few" "$some" "$many" "$all"
    expect_between "$all" 0 $((some * 4 * 16 / 10 + 50)) "ms for four times the runs, $mode"
done
expect_equal "$("$CLEAR" top --db many.db --all --json all | python3 -c 'import json,sys; print(json.load(sys.stdin)["total"])')" \
    "$(cat many/*.folded | awk '{ sum += $2 } END { print sum }')" "the total of a thousand runs"
