# Whose CPU time it is, in a program that allocates all the time: clear top, the doctor, @hot-cpu, folded stacks and Go's pprof name the same
# functions with the same figures, the allocator's own among them, and perf record gives the same shares.
# build: plain
# longer: SHARES=1
. "$(dirname "$0")/lib.sh"

by_name() { awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (name in sum) printf "%s %.0f\n", name, sum[name] }' | sort; }
expect_status 0 profile -q --cpu=999 --no-heap --no-locks -- "$FIXTURES/malloc_loop" 2500 >out.txt
"$CLEAR" query --db t.db --format csv --no-header @hot-cpu top=1000 | python3 -c '
import csv, sys
for row in csv.reader(sys.stdin): print(row[0], row[3])' | by_name >query.txt
# Functions of one name in two binaries, such as clock_gettime of libc and of the vdso, are two lines of a report and one row of the query.
flat() { awk '$1 ~ /^[0-9]+ns$/ || ($1 == "0" && $2 == "0%") {
        n = $1; sub(/ns$/, "", n); $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); sub(/ \((partial-)?inline\)$/, ""); sum[$0] += n }
    END { for (name in sum) if (sum[name] > 0) printf "%s %.0f\n", name, sum[name] }' | sort; }
"$CLEAR" top --db t.db --kind cpu --unit ns --nodefraction 0 --margin=false | flat >top.txt || fail top
"$CLEAR" export --db t.db --kind cpu -o cpu.pb.gz || fail export
pprof -top -unit=ns -nodefraction=0 -nodecount=10000 cpu.pb.gz 2>/dev/null | flat >pprof.txt
"$CLEAR" doctor --db t.db --json --cumulative | python3 -c '
import json, sys
for row in json.load(sys.stdin):
    if row["section"] == "function" and row["kind"] == "cpu" and row["flat"]: print(row["function"], row["flat"])' | by_name >doctor.txt
"$CLEAR" export --db t.db --kind cpu --format folded -o - | sed 's/.*;//' | by_name >folded.txt
for other in top pprof doctor folded; do expect_same_file $other.txt query.txt "flat CPU time by function, $other against @hot-cpu"; done

[ -n "${SHARES:-}" ] || exit 0 # shares are estimates

# Shares of what is ours and of all the rest, which is the allocator's.
shares() { # shares FILE of lines `NAME VALUE`: per mille of churn, of compute, of the rest
    awk '{ n = $NF; all += n; if ($1 == "churn" || $1 == "compute") own[$1] += n }
        END { printf "%d %d %d\n", 1000 * own["churn"] / all, 1000 * own["compute"] / all, 1000 * (all - own["churn"] - own["compute"]) / all }' "$1"
}
read -r churn compute allocator < <(shares query.txt)
truth=$(awk '$2 == "compute" { part = $3 } $2 == "total" { print int(1000 * part / $3) }' out.txt)
# A timer of 999 Hz rings at the kernel's own ticks, at worst 100 a second, with its overruns: of 250 independent samples a share has a standard
# error of at most 32 per mille. Bounds: four of them.
expect_between "$compute" $((truth - 128)) $((truth + 128)) "per mille of compute, $truth by the program's own clock"
[ "$allocator" -gt 400 ] || fail "only $allocator per mille in the allocator: nothing was put to the test"

perf_records cpu-clock:u || { echo "perf is not permitted: the rest is not compared"; exit 0; }
perf record -o perf.data -e cpu-clock:u -F 999 "$FIXTURES/malloc_loop" 2500 >perf.out 2>perf.err || { echo "perf is not permitted: the rest is not compared"; exit 0; }
perf script -i perf.data -F ip,sym 2>/dev/null | awk 'NF { print $2, 1 }' >perf.txt
read -r perf_churn perf_compute perf_allocator < <(shares perf.txt)
# perf's 2,500 samples add 10 per mille: 34 for the difference, four of them.
expect_between "$churn" $((perf_churn - 136)) $((perf_churn + 136)) "per mille of churn, $perf_churn by perf"
expect_between "$compute" $((perf_compute - 136)) $((perf_compute + 136)) "per mille of compute, $perf_compute by perf"
expect_between "$allocator" $((perf_allocator - 136)) $((perf_allocator + 136)) "per mille of the allocator, $perf_allocator by perf"
