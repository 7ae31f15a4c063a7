#!/bin/bash
# Programs with one known fault each: it is the first finding before, and gone when the program is mended. Nothing else
# is said above a note of either: the fault is all that is wrong with them.
# timeout: 240
. "$(dirname "$0")/lib.sh"

# One finding a line, "severity section/code subject", in doctor's own order; what was lost or sampled left out.
findings() { # findings PROGRAM ARGUMENTS...
    local program=$1
    shift
    expect_status 0 profile --quiet -o none.profile -- "$FIXTURES/$program" "$@" >"$program$*.txt"
    expect_exact
    "$CLEAR" doctor --db t.db --json | python3 -c 'import json, sys
for row in json.load(sys.stdin):
    if row["section"] != "saturation": print(row["severity"], row["section"] + "/" + row["code"], row["subject"])' || fail "clear doctor --json after $program $*"
}

bad() { grep -E '^(warning|critical) ' "$1"; } # the lines above a note

check() { # check NAME SECTION/CODE SUBJECT
    local program=fault_$1 code=$2 subject=$3
    findings "$program" >before
    expect_match "$(head -n 1 before)" "^(warning|critical) $code ${subject//./\\.}\$" "$program: the first finding"
    expect_equal "$(bad before | sed 1d)" "" "$program: what else is said of it"
    findings "$program" --mended >after
    expect_equal "$(bad after)" "" "$program --mended: what is said of it"
    expect_same_file "$program--mended.txt" "$program.txt" "what $program prints"
}

count=0
while read -r name code subject; do
    check "$name" "$code" "$subject"
    count=$((count + 1))
done <<'TABLE'
leak            heap/leak              parse_order
tiny_allocs     heap/arena             copy_token
temporary       heap/temporary         measure_word
peak            heap/peak              new_part
quadratic       heap/quadratic-growth  grow
thread_churn    thread/thread-churn    resize_in_thread
hot_mutex       lock/atomic-fit        fault_hot_mutex:statistics_lock
read_mostly     lock/mvcc-fit          fault_read_mostly:routes_lock
convoy          lock/hot-long          fault_convoy:journal
starved         lock/starved           fault_starved:scene_lock
slow_consumer   channel/slow-consumer  values
slow_producer   channel/slow-producer  records
cow_thrash      cell/cow-thrash        fault_cow_thrash:board
write_heavy     cell/misuse            fault_write_heavy:daily_totals
retry_storm     cell/high-retry        fault_retry_storm:contingent
TABLE
expect_equal "$count" "$(find "$ROOT/fixtures" -name 'fault_*.c' | wc -l)" "programs in the table and in fixtures"

# What doctor prints begins with the same finding: the first name below the first heading.
sections=$(sql t.db "SELECT DISTINCT section FROM doctor WHERE section <> 'saturation'" | paste -sd'|')
while IFS='|' read -r run name; do
    "$CLEAR" doctor --db t.db "$run" >report || fail "clear doctor $run"
    expect_match "$(sed -nE "/^($sections)\$/,\$p" report | grep -m1 -A1 -E '^  (warning|critical) ' | tail -n 1)" "^      $name( |\$)" "the report's first finding"
done < <(sql t.db "SELECT run_id, subject FROM doctor WHERE severity IN ('warning', 'critical') AND section <> 'saturation' ORDER BY run_id")

# With the callers' stacks recorded, the first one of a finding is the one to look at: who waits for the routes (not who reloads them,
# which came first), who sells (not who looks how many were sold, which is oftener).
first_stack() { # first_stack PROGRAM: of its first finding, root last
    expect_status 0 profile --quiet --sync-callstacks --sample=1 -o none.profile -- "$FIXTURES/$1" >/dev/null
    sql t.db "SELECT group_concat(function, ' ') FROM frames WHERE trace_id =
        (SELECT trace_ids ->> 0 FROM doctor WHERE section <> 'saturation' LIMIT 1)"
}
expect_match "$(first_stack fault_read_mostly)" '^find_route answer_requests ' "who waits for the routes"
expect_match "$(first_stack fault_retry_storm)" ' sell_ticket agent ' "who sells"
check_db t.db
