#!/bin/bash
# Programs with one known fault each, tests/faults.list: it is the first finding before, and gone when the program is mended. Nothing else
# is said above a note of either: the fault is all that is wrong with them. `make truth` runs each of them four times.
# timeout: 400
# alone: it judges waits, and on a busy machine there are others
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/tests/faults.py" t.db 1 --strict --again=2 >table.txt || fail "$(grep -v ' right |$' table.txt)"
expect_match "$(tail -n 1 table.txt)" '^([2-9][0-9]) of \1 pairs are right' 'the number of pairs'

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
