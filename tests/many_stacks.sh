#!/usr/bin/env bash
# A program with more distinct stacks than --profile-max: every allocation still counts, at its function; what was cut is counted and
# said; the recorder keeps no more stacks than the limit allows.
# build: plain
# longer: LOST=told
. "$(dirname "$0")/lib.sh"

profile --profile-max 1000 -- "$FIXTURES/many_stacks" 20000 >out.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep '^heap' out.txt >heap.txt
expect_tables heap.txt
expect_exact
stacks=$(sed -n 's/^stacks //p' out.txt)
expect_between "$stacks" 19000 20000 'distinct stacks of the program'
# A quarter more for stacks of 8 frames, and one for each call of malloc with 1 frame: here leaf's, printf's and the start's.
expect_between "$(sql t.db 'SELECT count(DISTINCT trace_id) FROM sites')" 1000 1260 'stacks kept'
cut=$(sql t.db "SELECT sum(truncated) FROM profiles WHERE kind = 'heap'")
expect_between "$cut" $((stacks - 1260)) 20000 'stacks that were cut'
expect_match "$(cat err.txt)" '^clear: warning: a process had more than 1,000 distinct stacks; .*--profile-max N' 'what clear says'
expect_equal "$(sql t.db "SELECT code, count FROM doctor_saturation WHERE subject = 'heap'")" "truncated|$cut" 'what doctor says'

# Within the limit nothing is cut.
profile --profile-max 30000 -- "$FIXTURES/many_stacks" 20000 >out.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep '^heap' out.txt >heap.txt
expect_tables heap.txt
expect_equal "$(sql t.db "SELECT count(DISTINCT trace_id) FROM heap WHERE function = 'leaf' AND run_id = 2")" "$(sed -n 's/^stacks //p' out.txt)" 'stacks of leaf'
grep -q 'distinct stacks' err.txt && fail "$(cat err.txt)"

# Ticks of the CPU timer meet the runtime while it makes a stack, and flushes read counters of stacks that were made while they read. Neither
# cuts a stack, or loses an allocation. A sample is lost only where its thread had another one waiting that was being counted.
profile --profile-max 100000 --cpu=999 --interval=0.02 -- "$FIXTURES/many_stacks" 60000 >out.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep '^heap' out.txt >heap.txt
expect_tables heap.txt
expect_equal "$(sql t.db "SELECT kind, sum(dropped), sum(truncated) FROM profiles
    WHERE truncated + iif(kind = 'cpu', 0, dropped) > 0 AND run_id > 1 GROUP BY kind")" '' 'what was lost or cut within the limit'
samples=$(sql t.db "SELECT sum(samples) FROM cpu JOIN profiles ON id = profile_id WHERE run_id = 3")
expect_between "$samples" 1 1000000 samples
[ -z "${LOST:-}" ] || expect_between "$(sql t.db "SELECT sum(dropped) FROM profiles WHERE kind = 'cpu' AND run_id = 3")" 0 $((samples / 50)) 'samples that were lost'
