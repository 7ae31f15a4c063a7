#!/bin/bash
# Programs with one known fault each, tests/faults.list: it is the first finding before, and gone when the program is mended. Nothing else
# is said above a note of either: the fault is all that is wrong with them. `make truth` runs each of them four times.
# timeout: 400
# alone: it judges waits, and on a busy machine there are others
# plain: the judgement, with code that the tests of doctor run
# long: judges waits; faults_counted has the faults that are counted
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/tests/faults.py" t.db 1 --strict --again=2 >table.txt || fail "$(grep -v ' right |$' table.txt)"
expect_match "$(tail -n 1 table.txt)" '^([2-9][0-9]) of \1 pairs are right' 'the number of pairs'

# What is done under a lock whose holds no hook sees is named with its line: the write of the fault, which the twin does elsewhere.
if [ -x "$FIXTURES/fault_guarded_file" ]; then
    expect_status 0 profile --quiet -o none.profile -- "$FIXTURES/fault_guarded_file" >/dev/null
    line=$(grep -n -m1 'write_all' "$ROOT/fixtures/fault_guarded_file.rs" | cut -d: -f1)
    expect_match "$(sql t.db "SELECT advice FROM doctor_wait WHERE code = 'contended' AND run_id = (SELECT max(id) FROM runs)")" \
        "Behind the lines that wait: write in fault_guarded_file::book_order \\(fault_guarded_file\\.rs:$line\\)" "what to move out"
fi

# Who takes a lock wakes others from it, who waits for a queue does not.
if [ -x "$FIXTURES/fault_slow_fetch" ]; then
    expect_status 0 profile --quiet -o none.profile -- "$FIXTURES/fault_slow_fetch" >/dev/null
    expect_equal "$(sql t.db "SELECT sum(own_wakes), sum(signals) FROM wait_use WHERE object LIKE '%HAS_MESSAGES' AND run_id = (SELECT max(id) FROM runs)")" \
        '0|400' "wakes of a queue, by threads that waited for it"
    expect_equal "$(sql t.db "SELECT sum(own_wakes) * 2 >= sum(signals) FROM wait_use WHERE object LIKE '%BOOKED' AND run_id = (SELECT max(id) - 1 FROM runs)")" \
        1 "wakes of a lock"
fi

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
