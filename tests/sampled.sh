# Sampling is unbiased: over several seeds the estimates lie around the exact figures as the sampling law says, at each size of block.
# timeout: 300
# plain: the runtime, which has no sanitizers
# long: a statistic over many seeds; heap_details has one of each
. "$(dirname "$0")/lib.sh"

# One line a seed and site: `SITE exact estimate variance` for a quantity.
collect() { # collect SEEDS OPTION MEAN EVERY
    local seed
    : >figures.txt
    for seed in $(seq "$1"); do
        expect_status 0 profile -q -o t.profile "$2" -- "$FIXTURES/sampled" "$seed" "$3" "$4" >out.txt
        sql t.db "SELECT 'got ' || function || ' ' || sum(alloc_count) || ' ' || sum(alloc_bytes) || ' ' || sum(free_count) || ' ' || sum(free_bytes)
            FROM heap WHERE run_id = (SELECT max(id) FROM runs) AND function GLOB 'site_*' GROUP BY function" >got.txt
        awk 'FNR == 1 {file++}
            file == 1 && $1 == "heap" {count[$2] = $3; bytes[$2] = $4; frees[$2] = $5; freed[$2] = $6}
            file == 1 && $1 == "variance" {vc[$2] = $3; vb[$2] = $4}
            file == 2 {got_count[$2] = $3; got_bytes[$2] = $4; got_frees[$2] = $5; got_freed[$2] = $6}
            END {for (s in count) {
                print s ".allocs", count[s], got_count[s] + 0, vc[s]
                print s ".bytes", bytes[s], got_bytes[s] + 0, vb[s]
                # Each block is freed or not by another coin: the variance is the part that is freed.
                print s ".frees", frees[s], got_frees[s] + 0, vc[s] * frees[s] / count[s]
                print s ".freed_bytes", freed[s], got_freed[s] + 0, vb[s] * freed[s] / bytes[s]
            }}' out.txt got.txt >>figures.txt
    done
}

# The mean over the seeds has the standard error sqrt(sum of variances) / seeds. Of 40 figures, some of them few and skewed, the worst is
# beyond 4 of them less than once in 500 times, so that is the bound for each; a wrong law (too wide) shows in the mean square of deviations.
judge() { # judge WHAT
    awk -v what="$1" '{exact[$1] += $2; got[$1] += $3; variance[$1] += $4; if ($4 > 0) {square += ($3 - $2) ^ 2 / $4; n++}}
        END {
            for (k in exact) {
                error = sqrt(variance[k])
                z = error > 0 ? (got[k] - exact[k]) / error : (got[k] != exact[k]) * 99
                printf "%s %-24s exact %.0f got %.0f: %+.2f standard errors\n", what, k, exact[k], got[k], z
                if (z > 4 || z < -4) bad = 1
                if (got[k] == 0) bad = 1
            }
            printf "%s mean square of single deviations %.2f of the law over %d\n", what, square / n, n
            exit bad || square / n > 2
        }' figures.txt >said.txt || fail "$(cat said.txt)"
    cat said.txt
}

collect 6 --sample=512KiB 524288 0
judge 'by bytes'
IFS='|' read -r sample_n flags <<<"$(sql t.db 'SELECT sample_n, flags FROM runs WHERE id = 1')"
expect_equal "$sample_n" 1 'sample_n of a run sampled by bytes'
expect_match "$flags" '(^| )sample_bytes=524288( |$)' 'flags of a run sampled by bytes'
# The headers say it: the text dump and the profile.
grep -q '^# .*524288' t.profile/alloc.txt || fail "no rate in alloc.txt: $(head -n 5 t.profile/alloc.txt)"
pprof -raw t.profile/heap.pb.gz 2>/dev/null >raw.txt
grep -Eq 'Period: 524288|524288' raw.txt || fail "no rate in heap.pb.gz: $(head -n 5 raw.txt)"
# In use: never negative, though blocks weigh what chance gave them.
expect_equal "$(sql t.db 'SELECT count(*) FROM heap WHERE inuse_count < 0 OR inuse_bytes < 0')" 0 'sites below zero'

# What is freed must be of what was taken, at the same weight: sites that give back all are at zero, however they were sampled.
expect_equal "$(sql t.db "SELECT coalesce(sum(inuse_count), 0) FROM heap WHERE function IN ('site_large', 'site_huge')")" 0 'blocks in use of sites that gave all back'

collect 4 --sample=100 0 100
judge 'every 100th'
expect_equal "$(sql t.db 'SELECT sample_n FROM runs ORDER BY id DESC LIMIT 1')" 100 'sample_n'
grep -q '^# sample_n: 100$' t.profile/alloc.txt || fail "no rate in alloc.txt: $(head -n 5 t.profile/alloc.txt)"
"$CLEAR" doctor --db t.db >doctor.txt || :
grep -Eqi 'sample' doctor.txt || fail "doctor does not say that the run is sampled: $(cat doctor.txt)"
check_db t.db

# What was kept is judged by the samples that were seen, and its figure has an interval: of 1,100 blocks that are kept about eleven are seen.
expect_status 0 profile --quiet --sample=100 -o none.profile -- "$FIXTURES/leak" >/dev/null
expect_equal "$(sql t.db "SELECT count(*) FROM doctor_heap WHERE run_id = (SELECT max(id) FROM runs)
    AND (samples IS NULL OR samples <> round(process_inuse_count / 100.0))")" 0 "samples behind live blocks"
"$CLEAR" doctor --db t.db --top 0 >report || fail "clear doctor of a sampled run"
if [ "$(sql t.db "SELECT count(*) FROM doctor_heap WHERE run_id = (SELECT max(id) FROM runs) AND samples > 0")" -gt 0 ]; then
    grep -Eq 'leak .* \(within [0-9]+ %\)' report || fail "no interval beside a sampled figure: $(cat report)"
fi

# Intervals: of a program whose stacks allocate blocks of one size each, 95 % of those that clear states hold the truth. The four figures of a run
# go together, so 60 runs are some 100 independent ones: 12 of the 240 are expected to miss, with a standard deviation of 6; the mean square of the
# errors, in standard errors, is 1 with one of 0.15.
program=$FIXTURES/fault_pointer_cycle
expect_status 0 profile --quiet -o none.profile -- "$program" >/dev/null
truth=$(sql t.db "SELECT alloc_count, alloc_bytes, inuse_count, inuse_bytes FROM run_summary ORDER BY run_id DESC LIMIT 1")
: >intervals.txt
for seed in $(seq 60); do
    rm -f i.db
    "$CLEAR" profile --quiet --db i.db -o none.profile --sample=4KiB -- "$program" >/dev/null || fail "seed $seed"
    echo "$truth|$(sql i.db "SELECT alloc_count, alloc_bytes, inuse_count, inuse_bytes FROM run_summary")|$("$CLEAR" doctor --db i.db |
        sed -n 's/.*within: allocations \([0-9.e+]*\) %, their bytes \([0-9.e+]*\) %, live blocks \([0-9.e+]*\) %, live bytes \([0-9.e+]*\) %.*/\1|\2|\3|\4/p')" >>intervals.txt
done
awk -F'|' 'NF != 12 {bad = 1} {for (i = 1; i <= 4; i++) {z = 196 * ($i - $(i + 4)) / $(i + 4) / $(i + 8); square += z * z; miss += z > 1.96 || z < -1.96}}
    END {printf "%d of %d intervals miss the truth; mean square %.2f\n", miss, 4 * NR, square / 4 / NR
         exit bad || miss > 40 || square / 4 / NR > 1.8 || square / 4 / NR < 0.4}' intervals.txt >said.txt || fail "$(cat said.txt; head -n 3 intervals.txt)"
cat said.txt
expect_match "$("$CLEAR" list --db i.db --kind heap 'main' 2>&1 >/dev/null)" 'sampled; in 95 of 100 runs the truth is within: allocations [0-9]' 'list of a sampled run'
expect_match "$("$CLEAR" top --db i.db --kind heap 2>&1 >/dev/null)" 'sampled; in 95 of 100 runs the truth is within: allocations [0-9]' 'top of a sampled run'
expect_equal "$("$CLEAR" top --db t.db --kind heap 2>&1 >/dev/null | grep -c 'truth is within')" 0 'top of a run that was not sampled'

# A comparison claims nothing that sampling alone makes: neither a figure nor the line to quote, beside an exact run or another sampled one.
# What is ten times as much is still said.
for one in exact n1:20 n2:20 b1:64KiB b2:64KiB; do
    sampling=${one#*:}
    [ "$sampling" != "$one" ] || sampling=1
    "$CLEAR" profile --quiet --db d.db -o none.profile --cpu=off --label "${one%:*}" --sample="$sampling" -- "$FIXTURES/sampled" 1 >/dev/null || fail "$one"
done
printf 'thresholds:\n  diff_single_ns: 3600000000000\n' >clear.yaml # how long a run takes is not the sampling's doing
for pair in 'exact n1' 'exact b1' 'n1 n2' 'b1 b2' 'n1 b1'; do
    "$CLEAR" doctor --config clear.yaml --db d.db "${pair% *}" --diff "${pair#* }" >said.txt || fail "comparison of $pair"
    expect_match "$(tail -n 1 said.txt)" '^no change' "what is said of $pair: $(cat said.txt)"
done
"$CLEAR" profile --quiet --db d.db -o none.profile --cpu=off --label leak --sample=20 -- "$FIXTURES/leak" >/dev/null || fail leak
expect_match "$("$CLEAR" doctor --config clear.yaml --db d.db leak --diff n1 | tail -n 1)" '^allocated bytes x [0-9,]+' 'a true change between sampled runs'

# CPU samples: of n, a function with the share p has n p, give or take 1.96 standard deviations of the binomial distribution.
expect_status 0 profile --quiet --db c.db --cpu=999 -o none.profile -- "$FIXTURES/cpu_burn" threads 300 >/dev/null
# A share whose interval would reach zero is not told.
of_samples() { # of_samples FILE.db: what a report says of its samples
    sqlite3 -separator ' ' "$1" "SELECT sum(samples), (SELECT value FROM counters WHERE name = 'recorder.cpu_effective_samples') FROM cpu JOIN profiles ON profiles.id = profile_id WHERE kind = 'cpu'" |
        python3 -c 'words = input().split(); ticks = int(words[0]); n = min(float(words[1]), ticks); assert n > 0; z = 1.959964
errors = [(p, 100 * z * n * ((n * p + z * z / 2) * (n - n * p + z * z / 2) / (n + z * z) ** 3) ** 0.5 / (n * p)) for p in (0.1, 0.01)]
told = ", ".join(f"{e:.2g} % for {what} with {100 * p:g} % of the time" for (p, e), what in zip(errors, ("a function", "one")) if e < 99.5)
print("clear: {:,} CPU sample{}".format(ticks, "s" * (ticks > 1)) + (", as exact as {:,}".format(round(n)) if round(n) < ticks else "") + ("; in 95 of 100 runs the error is at most " + told if told
    else ": too few to compare functions (record longer, or with a higher --cpu=HZ)"))'
}
for report in top tree; do
    expect_equal "$("$CLEAR" $report --db c.db --kind cpu 2>&1 >/dev/null | grep 'CPU sample')" "$(of_samples c.db)" "$report of CPU samples"
done
cp c.db few.db
sqlite3 few.db "DELETE FROM cpu WHERE (profile_id, trace_id, label_set_id) NOT IN (SELECT profile_id, trace_id, label_set_id FROM cpu LIMIT 3); UPDATE cpu SET samples = 1"
expect_match "$("$CLEAR" top --db few.db --kind cpu 2>&1 >/dev/null)" '^clear: [1-3] CPU samples?: too few to compare functions' 'top of three samples'
expect_equal "$("$CLEAR" top --db few.db --kind cpu 2>&1 >/dev/null | grep 'CPU sample')" "$(of_samples few.db)" 'the same by the formula'

# ---- the first allocation of a process is sampled as often as any other: that of libstdc++, before main, in 1 of 10 runs
cat >cx.cc <<'C'
#include <vector>
int main() { return std::vector<int>(3).size() != 3; }
C
g++ -O0 -o cx cx.cc || fail g++
for _ in $(seq 40); do
    "$CLEAR" profile -q --no-files --sample=10 --db first.db ./cx || fail './cx'
done
blocks=$(sql first.db 'SELECT sum(alloc_count) FROM sites')
# 2 to 4 blocks a run, 40 runs: 80 to 160, and a standard deviation of 30 to 40.
expect_between "${blocks:-0}" 10 320 'blocks of 40 runs of a program with 2 to 4 of them'
expect_between "$(sql first.db "SELECT count(DISTINCT run_id) FROM sites JOIN profiles ON profiles.id = profile_id WHERE alloc_bytes / alloc_count > 10000")" 0 13 \
    'runs in which the first block was sampled'
