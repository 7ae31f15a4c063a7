# CPU samples: two functions that burn 3 to 1 by their own clocks are found so, in threads, in threads shorter than a period, over
# fork and exec; and what sleeps is not sampled.
# alone: the other tests would not change the figures, but take the time
# timeout: 900
# plain: the runtime, which has no sanitizers
# long: times against clocks; cpu_kept has what is counted
. "$(dirname "$0")/lib.sh"

of() { awk -v name="$1" '$1 == "cpu" && $2 == name {print $3}' out.txt; }
cpu_of() { # cpu_of FUNCTION: samples and nanoseconds in which it is on the stack; % for all
    sql t.db "SELECT coalesce(sum(samples), 0), coalesce(sum(cpu_ns), 0) FROM cpu_use WHERE run_id = (SELECT max(id) FROM runs) AND kind = 'cpu'
        AND ('$1' = '%' OR trace_id IN (SELECT trace_id FROM frames WHERE function = '$1'))"
}

# On a busy machine a kernel notices late that a timer ran out, and never if the thread ends before: 9 periods a thread were met
# once in ten runs beside 20 processes that never wait. So a run that misses its bounds is made again, thrice at most.
well_sampled() { # well_sampled CHECK 'HZ [OPTION]...' ARGUMENTS...: a run of cpu_burn for which CHECK HZ holds
    local check=$1 hz=$2 said
    shift 2
    for _ in 1 2 3 4; do
        # shellcheck disable=SC2086 # options may follow
        expect_status 0 profile -q --cpu=$hz -o t.profile -- "$FIXTURES/cpu_burn" "$@" >out.txt 2>err.txt
        said=$("$check" "$hz" 2>&1) && { echo "$said"; return; }
        echo "$* at $hz Hz: $said"
    done
    fail "four runs of $* at $hz Hz: $said"
}

# A timer of HZ ticks for each HZ-th of a second of a thread's CPU time. So the samples of all threads are HZ times the time that they took, less up to one
# period a thread that was begun and not ended, and where in its period each function runs is chance: the number of samples of
# a function is binomial at worst, of n samples with p = 3/4. Bounds: four standard errors, and one period a thread.
check() { # check HZ [THREADS]: the newest run against out.txt
    local hz=${1%% *} threads=${2:-4} large small all n expected slack
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

well_sampled check 99 threads 800
n=$(cpu_of %)
n=${n%|*}
expect_equal "$(pprof -sample_index=samples -top t.profile/cpu.pb.gz 2>/dev/null | sed -n 's/.* of \([0-9]*\) total.*/\1/p')" "$n" 'samples in cpu.pb.gz'
pprof -top t.profile/cpu.pb.gz 2>/dev/null >top.txt
grep -q '^Type: cpu' top.txt || fail "the default type is not cpu: $(cat top.txt)"
expect_match "$(sed -n '/flat%/{n;p;}' top.txt)" burn_large 'the top of pprof -top'
expect_equal "$(sql t.db "SELECT DISTINCT period, period_type, period_unit FROM profiles WHERE kind = 'cpu'")" '10101010|cpu|nanoseconds' 'the period'

well_sampled check 250 threads 500

# 250 threads that live for 8 ms each: a timer that began anew in each would never ring at 99 Hz. With a random phase each is sampled with
# p = 8 / 10.1, less what the kernel rounds up to its next tick (1 to 10 ms, 4 here, half of it on average): 149 to 198 samples,
# standard error 10. On a busy machine a thread may miss a whole tick: 58 were met. So the program also counts the ticks of such timers
# of its own, at the same time and under the same load. Bounds: half and twice that.
check_short() {
    local own
    "$FIXTURES/cpu_burn" ticks 500 >own.txt || return
    own=$(awk '$1 == "ticks" {print $2}' own.txt)
    expect_between "$own" 25 240 'ticks of timers of its own'
    expect_between "$(cpu_of % | cut -d'|' -f1)" $((own / 2)) $((own * 2)) "samples of 250 threads of 8 ms ($own ticks of timers of its own)"
    expect_between "$(cpu_of % | cut -d'|' -f1)" 25 240 'samples of 250 threads of 8 ms'
}
well_sampled check_short 99 short 500

check_processes() { check "$1" 2; }
well_sampled check_processes 99 fork 800
expect_equal "$(sql t.db "SELECT count(DISTINCT processes.id) FROM profiles JOIN processes ON processes.id = process_id WHERE profiles.run_id = (SELECT max(id) FROM runs) AND kind = 'cpu'")" 2 'processes with samples'

check_exec() {
    local before all expected
    before=$(awk '$1 == "before" {print $2}' err.txt) # the clock of a process goes on over exec
    IFS='|' read -r _ all <<<"$(cpu_of %)"
    expected=$(of total)
    expect_between "$all" $((expected - expected / 20 - 60000000)) $((expected + expected / 20 + 60000000)) "CPU time of both images, $before of the first"
}
well_sampled check_exec 99 exec 800

expect_status 0 profile --cpu=99 -- "$FIXTURES/cpu_burn" idle 500 >out.txt
expect_between "$(cpu_of % | cut -d'|' -f1)" 0 2 'samples of a sleeper'
expect_status 0 profile --cpu=off -- "$FIXTURES/cpu_burn" threads 100 >out.txt
expect_equal "$(cpu_of %)" '0|0' 'samples with --cpu=off'

# In windows: each function has its time, and all windows together are the run. A turn ends in a pause, where a window does.
samples() { # samples FUNCTION ARGUMENTS...: samples and CPU time below it (all, where it is empty) in what is exported
    local name=$1
    shift
    "$CLEAR" export --db t.db latest --kind cpu --format folded --type cpu "$@" -o - 2>/dev/null | awk -v name="$name" 'index($0, name) { n += $NF } END { print n + 0 }'
}
check_turns() {
    local began second turn took
    began=$(sql t.db "SELECT started_ns FROM runs ORDER BY id DESC LIMIT 1")
    second=$(awk -v s="$began" '$1 == "turn" && $2 == "burn_small" { printf "%.3f", ($3 - s) / 1e9 - 0.005 }' out.txt)
    for turn in "burn_large burn_small --to" "burn_small burn_large --from"; do
        read -r one other edge <<<"$turn"
        took=$(awk -v name="$one" '$1 == "turn" && $2 == name { print $5 }' out.txt)
        expect_between "$(samples "$one" "$edge" "$second")" $((took - took / 10)) $((took + took / 10)) "CPU time of $one in its turn"
        expect_equal "$(samples "$other" "$edge" "$second")" 0 "CPU time of $other in the turn of $one"
    done
}
well_sampled check_turns '999 --interval 0.02 --windows=all' turns 500
run=$(sql t.db 'SELECT max(id) FROM runs')
count=$(sql t.db "SELECT max(number) FROM windows WHERE run_id = $run AND kind = 'cpu'")
expect_between "$count" 10 200 'windows of kind cpu'
sum=0
for number in $(seq "$count"); do sum=$((sum + $(samples '' --window "$number"))); done
expect_equal "$sum" "$(samples '')" 'all windows together'
expect_equal "$sum" "$(sql t.db "SELECT sum(cpu_ns) FROM cpu_use WHERE run_id = $run AND kind = 'cpu'")" 'and in the tables'
check_db t.db
