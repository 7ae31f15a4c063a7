# CPU samples: two functions that burn 3 to 1 by their own clocks are found so, in threads, in threads shorter than a period, over
# fork and exec; and what sleeps is not sampled.
# alone: the other tests would not change the figures, but take the time
# timeout: 120
. "$(dirname "$0")/lib.sh"

of() { awk -v name="$1" '$1 == "cpu" && $2 == name {print $3}' out.txt; }
cpu_of() { # cpu_of FUNCTION: samples and nanoseconds in which it is on the stack; % for all
    sql t.db "SELECT coalesce(sum(samples), 0), coalesce(sum(cpu_ns), 0) FROM cpu_use WHERE run_id = (SELECT max(id) FROM runs)
        AND ('$1' = '%' OR trace_id IN (SELECT trace_id FROM frames WHERE function = '$1'))"
}

# A timer of HZ ticks for each HZ-th of a second of a thread's CPU time. So the samples of all threads are HZ times the time that they took, less up to one
# period a thread that was begun and not ended, and where in its period each function runs is chance: the number of samples of
# a function is binomial at worst, of n samples with p = 3/4. Bounds: four standard errors, and one period a thread.
check() { # check HZ THREADS: the newest run against out.txt
    local hz=$1 threads=$2 large small all n expected slack
    IFS='|' read -r n all <<<"$(cpu_of %)"
    IFS='|' read -r _ large <<<"$(cpu_of burn_large)"
    IFS='|' read -r _ small <<<"$(cpu_of burn_small)"
    expected=$(of total)
    slack=$((threads * 1000000000 / hz + expected / 20))
    expect_between "$all" $((expected - slack)) $((expected + slack)) "CPU time sampled at $hz Hz"
    awk -v n="$n" -v large="$large" -v small="$small" -v true_large="$(of burn_large)" -v true_small="$(of burn_small)" 'BEGIN {
        p = true_large / (true_large + true_small)
        got = large / (large + small)
        error = sqrt(p * (1 - p) / n)
        printf "share of burn_large %.4f of %d samples, %.4f by its clock, standard error %.4f\n", got, n, p, error
        exit got < p - 4 * error || got > p + 4 * error
    }' || fail "the ratio at $hz Hz"
}

expect_status 0 profile --cpu=99 -o t.profile -- "$FIXTURES/cpu_burn" threads 800 >out.txt
check 99 4
n=$(cpu_of %)
n=${n%|*}
expect_equal "$(pprof -sample_index=samples -top t.profile/cpu.pb.gz 2>/dev/null | sed -n 's/.* of \([0-9]*\) total.*/\1/p')" "$n" 'samples in cpu.pb.gz'
pprof -top t.profile/cpu.pb.gz 2>/dev/null >top.txt
grep -q '^Type: cpu' top.txt || fail "the default type is not cpu: $(cat top.txt)"
expect_match "$(sed -n '/flat%/{n;p;}' top.txt)" burn_large 'the top of pprof -top'
expect_equal "$(sql t.db "SELECT DISTINCT period, period_type, period_unit FROM profiles WHERE kind = 'cpu'")" '10101010|cpu|nanoseconds' 'the period'

expect_status 0 profile --cpu=250 -- "$FIXTURES/cpu_burn" threads 500 >out.txt
check 250 4

# 250 threads that live for 8 ms each: a timer that began anew in each would never ring at 99 Hz. With a random phase each is sampled with
# p = 8 / 10.1, less what the kernel rounds up to its next tick (1 to 10 ms, 4 here, half of it on average): 149 to 198 samples,
# standard error 10. On a busy machine a thread may miss a whole tick: 99, and 81 were met.
expect_status 0 profile --cpu=99 -- "$FIXTURES/cpu_burn" short 500 >out.txt
IFS='|' read -r n all <<<"$(cpu_of %)"
expect_between "$n" 60 240 'samples of 250 threads of 8 ms'

expect_status 0 profile --cpu=99 -- "$FIXTURES/cpu_burn" fork 800 >out.txt
check 99 2
expect_equal "$(sql t.db "SELECT count(DISTINCT processes.id) FROM profiles JOIN processes ON processes.id = process_id WHERE profiles.run_id = (SELECT max(id) FROM runs) AND kind = 'cpu'")" 2 'processes with samples'

expect_status 0 profile --cpu=99 -- "$FIXTURES/cpu_burn" exec 800 >out.txt 2>err.txt
before=$(awk '$1 == "before" {print $2}' err.txt) # the clock of a process goes on over exec
IFS='|' read -r _ all <<<"$(cpu_of %)"
expected=$(of total)
expect_between "$all" $((expected - expected / 20 - 60000000)) $((expected + expected / 20 + 60000000)) "CPU time of both images, $before of the first"

expect_status 0 profile --cpu=99 -- "$FIXTURES/cpu_burn" idle 500 >out.txt
expect_between "$(cpu_of % | cut -d'|' -f1)" 0 2 'samples of a sleeper'
expect_status 0 profile --cpu=off -- "$FIXTURES/cpu_burn" threads 100 >out.txt
expect_equal "$(cpu_of %)" '0|0' 'samples with --cpu=off'

# In windows: each function has its time, and all windows together are the run. A turn ends in a pause, where a window does.
expect_status 0 profile --cpu=999 --interval 0.02 --windows=all -q -- "$FIXTURES/cpu_burn" turns 500 >out.txt
run=$(sql t.db 'SELECT max(id) FROM runs')
samples() { # samples FUNCTION ARGUMENTS...: samples and CPU time below it (all, where it is empty) in what is exported
    local name=$1
    shift
    "$CLEAR" export --db t.db "$run" --kind cpu --format folded --type cpu "$@" -o - 2>/dev/null | awk -v name="$name" 'index($0, name) { n += $NF } END { print n + 0 }'
}
started=$(sql t.db "SELECT started_ns FROM runs WHERE id = $run")
for turn in 'burn_large burn_small' 'burn_small burn_large'; do
    span=$(awk -v name="${turn% *}" -v s="$started" '$1 == "turn" && $2 == name { from = ($3 - s) / 1e9 - 0.005; printf "--from %.3f --to %.3f", from < 0 ? 0 : from, ($4 - s) / 1e9 + 0.3 }' out.txt)
    took=$(awk -v name="${turn% *}" '$1 == "turn" && $2 == name { print $5 }' out.txt)
    # shellcheck disable=SC2086 # words are meant
    expect_between "$(samples "${turn% *}" $span)" $((took - took / 10)) $((took + took / 10)) "CPU time of ${turn% *} in its turn"
    # shellcheck disable=SC2086 # words are meant
    expect_equal "$(samples "${turn#* }" $span)" 0 "CPU time of ${turn#* } in the turn of ${turn% *}"
done
count=$(sql t.db "SELECT max(number) FROM windows WHERE run_id = $run AND kind = 'cpu'")
expect_between "$count" 10 200 'windows of kind cpu'
sum=0
for number in $(seq "$count"); do sum=$((sum + $(samples '' --window "$number"))); done
expect_equal "$sum" "$(samples '')" 'all windows together'
expect_equal "$sum" "$(sql t.db "SELECT sum(cpu_ns) FROM cpu_use WHERE run_id = $run")" 'and in the tables'
check_db t.db
