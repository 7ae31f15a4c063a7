# What CPU samples keep, whatever the times are: pprof sees as many, a process that was forked has its own, what sleeps and what is not
# asked for has none, and the windows of a run are the run. tests/cpu.sh (make long) holds the times against the programs' own clocks.
# build: plain
. "$(dirname "$0")/lib.sh"

cpu_of() { # cpu_of FUNCTION: samples and nanoseconds in which it is on the stack; % for all. What the recording took is a kind of its own
    sql t.db "SELECT coalesce(sum(samples), 0), coalesce(sum(cpu_ns), 0) FROM cpu_use WHERE run_id = (SELECT max(id) FROM runs) AND kind = 'cpu'
        AND ('$1' = '%' OR trace_id IN (SELECT trace_id FROM frames WHERE function = '$1'))"
}

expect_status 0 profile -q --cpu=99 -o t.profile -- "$FIXTURES/cpu_burn" threads 800 >out.txt
n=$(cpu_of %)
n=${n%|*}
[ "$n" -gt 0 ] || fail 'no sample in 800 ms of CPU time'
expect_equal "$(pprof -sample_index=samples -top t.profile/cpu.pb.gz 2>/dev/null | sed -n 's/.* of \([0-9]*\) total.*/\1/p')" "$n" 'samples in cpu.pb.gz'
pprof -top t.profile/cpu.pb.gz 2>/dev/null >top.txt
grep -q '^Type: cpu' top.txt || fail "the default type is not cpu: $(cat top.txt)"
expect_match "$(cat top.txt)" 'burn_(large|small)' 'pprof -top'
expect_equal "$(sql t.db "SELECT DISTINCT period, period_type, period_unit FROM profiles WHERE kind = 'cpu'")" '10101010|cpu|nanoseconds' 'the period'

expect_status 0 profile -q --cpu=99 -- "$FIXTURES/cpu_burn" fork 800 >out.txt
expect_equal "$(sql t.db "SELECT count(DISTINCT processes.id) FROM profiles JOIN processes ON processes.id = process_id
    WHERE profiles.run_id = (SELECT max(id) FROM runs) AND kind = 'cpu'")" 2 'processes with samples'

expect_status 0 profile -q --cpu=99 -- "$FIXTURES/cpu_burn" idle 500 >out.txt
expect_between "$(cpu_of % | cut -d'|' -f1)" 0 2 'samples of a sleeper'
expect_status 0 profile -q --cpu=off -- "$FIXTURES/cpu_burn" threads 100 >out.txt
expect_equal "$(cpu_of %)" '0|0' 'samples with --cpu=off'

all() { # all ARGUMENTS...: CPU time in what is exported
    "$CLEAR" export --db t.db latest --kind cpu --format folded --type cpu "$@" -o - 2>/dev/null | awk '{ n += $NF } END { print n + 0 }'
}
expect_status 0 profile -q --cpu=999 --interval 0.02 --windows=all -- "$FIXTURES/cpu_burn" turns 500 >out.txt
run=$(sql t.db 'SELECT max(id) FROM runs')
count=$(sql t.db "SELECT max(number) FROM windows WHERE run_id = $run AND kind = 'cpu'")
[ "$count" -ge 2 ] || fail "$count windows"
sum=0
for number in $(seq "$count"); do sum=$((sum + $(all --window "$number"))); done
expect_equal "$sum" "$(all)" 'all windows together'
expect_equal "$sum" "$(sql t.db "SELECT sum(cpu_ns) FROM cpu_use WHERE run_id = $run AND kind = 'cpu'")" 'and in the tables'
check_db t.db
