# Wakes that are lost, and waits that only look so, by a program that knows.
# quick
# build: plain
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -q -- "$FIXTURES/lost_wakes" >out.txt
expect_equal "$(grep -c '^lost ' out.txt)" 7 'what the program knows'
while read -r _ name lost; do
    expect_equal "$(sql t.db "SELECT sum(lost_wakes) FROM wait_use JOIN stacks USING (trace_id) WHERE stack || ';' LIKE '%;$name;%' AND kind = 'cond'")" "$lost" "lost wakes of $name"
done < <(grep '^lost ' out.txt)
expect_equal "$(sql t.db "SELECT sum(lost_wakes) FROM wait_facts")" 15 'in the facts'
check_db t.db
