# What interrupts a program's system calls stays its own business while its CPU time is sampled and its threads are looked at: its timers
# interrupt every wait, and ours none.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"

for rate in --cpu=99 --cpu=1000 '--cpu=99 --wall=1000'; do
    # shellcheck disable=SC2086 # one option or two
    expect_status 0 profile $rate -- "$FIXTURES/eintr" >out.txt
    samples=$(sql t.db "SELECT coalesce(sum(samples), 0) FROM cpu_use WHERE run_id = (SELECT max(id) FROM runs)")
    [ "$samples" -gt 20 ] || fail "only $samples samples: nothing was put to the test"
    awk '$1 == "own" && $2 != "write" && $3 != 20 {print "its own timer did not interrupt: " $0; bad = 1}
         $1 == "unexpected" && $3 != 0 {print "interrupted: " $0; bad = 1}
         END {exit bad || NR < 18}' out.txt >said.txt || fail "with $rate: $(cat said.txt)"
done
same_as_without "$FIXTURES/signals" eintr
same_as_without "$FIXTURES/signals" mask
