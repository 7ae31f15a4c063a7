# What the recorder takes inside the program is not the program's: in a program that is full of hooks the function that calls none has the
# time of its own clock and nearly its share, no function appears that was never called, and the recorder's time is shown apart.
# build: plain
# long: times against clocks; cpu_kept has what is counted
. "$(dirname "$0")/lib.sh"

of() { awk -v name="$2" '$2 == name { print $3 }' "$1"; }
"$FIXTURES/hook_heavy" 800 >alone.txt || fail 'alone'
expect_status 0 profile --cpu=999 -- "$FIXTURES/hook_heavy" 3000 >out.txt 2>summary.txt
cum() { # cum KIND FUNCTION
    sql t.db "SELECT coalesce(sum(cpu_ns), 0) FROM cpu_use WHERE kind = '$1' AND trace_id IN (SELECT trace_id FROM frames WHERE function = '$2')"
}
total=$(of out.txt total)
program=$(sql t.db "SELECT sum(cpu_ns) FROM cpu_use WHERE kind = 'cpu'")
recorder=$(sql t.db "SELECT sum(cpu_ns) FROM cpu_use WHERE kind = 'recorder'")
expect_between $((1000 * (program + recorder) / total)) 980 1020 'per mille of the CPU clock in both'
[ "$recorder" -gt $((total / 10)) ] || fail "the recorder took only $recorder of $total ns: nothing was put to the test"

# 100 independent samples a second at worst: of 300, 40 % are 120 with a standard error of 7 %. Bounds: four of them.
expect_between "$(cum cpu compute)" $(($(of out.txt compute) * 72 / 100)) $(($(of out.txt compute) * 128 / 100)) 'ns of compute, against its own clock'
expect_equal "$(cum recorder compute)" 0 "the recorder's time in compute, which calls no hook"
alone=$((1000 * $(of alone.txt compute) / $(of alone.txt total)))
# A hook that disturbs the caches makes the functions behind it slower, and a share of 200 samples has a standard error of 33 per mille.
expect_between $((1000 * $(cum cpu compute) / program)) $((alone - 200)) $((alone + 132)) "per mille of compute in the program, $alone without the recorder"

# Lock and unlock only were called, and nothing of the runtime is a function of the program.
expect_equal "$(sql t.db "SELECT DISTINCT frames.function FROM cpu_use JOIN frames USING (trace_id) WHERE frames.function GLOB '*trylock*' OR frames.function GLOB '*tryrdlock*'")" '' \
    'functions that were never called'
expect_equal "$(sql t.db "SELECT DISTINCT module FROM frames WHERE module = 'libclear_rt.so'")" '' "the runtime's own functions"
expect_equal "$(sql t.db "SELECT DISTINCT function FROM cpu_use WHERE kind = 'recorder'")" '[clear]' "the leaf of the recorder's time"
"$CLEAR" top --db t.db --kind cpu >top.txt && grep -q '\[clear\]' top.txt && fail 'the recorder among the functions of the program'
"$CLEAR" top --db t.db --kind recorder >top.txt || fail 'top --kind recorder'
expect_match "$(cat top.txt)" '100% +\[clear\]$' 'top of the kind recorder'

# It is said: by the summary, the doctor's first lines, and the counters.
expect_match "$(cat summary.txt)" 'the recorder: [0-9.]+ m?s inside the program' 'the summary'
expect_match "$("$CLEAR" doctor --db t.db)" 'of CPU time sampled; beside it the recording took [0-9.]+ m?s \([0-9]+ % of both\)' 'the doctor'
expect_equal "$(sql t.db "SELECT CAST(round(value) AS INTEGER) FROM counters WHERE name = 'recorder.cpu_ms'")" "$(sql t.db "SELECT CAST(round($recorder / 1e6) AS INTEGER)")" recorder.cpu_ms

# Where the hook of a mutex does glibc's work, that is the program's time, by the name that it called.
cat >locks.c <<'C'
#include <pthread.h>
int main(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    for (long i = 0; i < 100000000; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}
C
$CC -O1 -g -fno-omit-frame-pointer -o locks locks.c || fail 'no compiler'
expect_status 0 profile -q --db locks.db --cpu=999 -- ./locks
mutexes=$(sql locks.db "SELECT coalesce(sum(cpu_ns), 0) FROM cpu_use WHERE kind = 'cpu' AND trace_id IN (SELECT trace_id FROM frames WHERE depth = 0 AND function GLOB 'pthread_mutex_*lock')")
expect_between $((1000 * mutexes / $(sql locks.db "SELECT sum(cpu_ns) FROM cpu_use"))) 500 1000 'per mille of the CPU time in lock and unlock'
