# A program that forbids itself the clock (strict seccomp, PR_SET_TSC) works on as without clear; what it did before is
# recorded, what it did afterwards is not, and that is told.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"
(exec "$FIXTURES/forbids" raw >alone.txt 2>&1) || [ $? = 3 ] || skip 'this machine does not let a program forbid itself the clock'

warnings() { sql t.db "SELECT DISTINCT subject FROM doctor WHERE section = 'saturation' AND subject LIKE '%PR_SET_TSC%'"; }

for way in strict seccomp tsc raw thread fork; do
    modes=('' --trace=all)
    [ $way = tsc ] && modes+=(--wall --lifetimes --leaks --cpu=1000 --budget=1000% --sample=64KiB)
    for options in "${modes[@]}"; do
        rm -f t.db
        # shellcheck disable=SC2086 # none or one option
        expect_status 3 profile $options -- "$FIXTURES/forbids" $way >out.txt 2>err.txt
        grep -q 'worked on' out.txt || fail "$way $options: it did not work on: $(cat out.txt)"
        [ "$options" = --sample=64KiB ] && continue
        grep '^heap' out.txt >tables.out && expect_tables tables.out
        grep -q "thread.* asked for strict seccomp or PR_SET_TSC" err.txt || fail "$way $options: no note: $(cat err.txt)"
        expect_match "$(warnings)" 'threads of process [0-9]* asked for strict seccomp' "the finding of $way $options"
        expect_equal "$(sql t.db "SELECT count(*) FROM heap WHERE function = 'site_after'")" 0 "$way $options: sites after the end"
    done
done
expect_match "$(warnings)$(sql t.db "SELECT subject FROM doctor WHERE subject LIKE '%could not be recorded%'")" 'could not be recorded' 'the child'

# What the kernel refuses changes nothing.
rm -f t.db
expect_status 3 profile -- "$FIXTURES/forbids" refused >out.txt 2>err.txt
expect_tables out.txt
expect_equal "$(warnings)" '' 'warnings of a call that failed'

# Nor does the question whether there are filters of system calls, as QEMU asks it, or a program with libseccomp.
rm -f t.db
expect_status 3 profile -- "$FIXTURES/forbids" asks >out.txt 2>err.txt
expect_tables out.txt
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE comments LIKE '%was not sampled%'")" 0 'CPU time that was not sampled'
expect_equal "$(sql t.db "SELECT sum(samples) > 0 FROM cpu_use JOIN frames USING (trace_id) WHERE frames.function = 'compute_after'")" 1 'samples behind it'
