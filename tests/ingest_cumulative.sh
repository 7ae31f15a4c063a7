# Snapshots of one Go process, of three kinds under one label, told as cumulative: over the series the sums are those of the last
# snapshot, as Go's viewer reads it; what is in use is each snapshot's own. Mutex and block profiles, which differ in nothing
# but their stacks, do not mix.
. "$(dirname "$0")/lib.sh"

HOME=$TMP GO111MODULE=off go build -o snapshots "$ROOT/fixtures/snapshots.go" || fail "go build"
./snapshots . || fail snapshots
sums() { # sums FILE: the sum of each value over the samples, by go tool pprof
    pprof -raw "$1" 2>/dev/null | awk '/^Locations/ { exit } /^ *-?[0-9]+( +-?[0-9]+)*:/ { sub(/:.*/, ""); for (i = 1; i <= NF; i++) sum[i] += $i; n = NF }
        END { for (i = 1; i <= n; i++) printf "%s%.0f", (i > 1 ? "|" : ""), sum[i] }'
}
for step in 0 1 2; do
    "$CLEAR" ingest -q --db t.db --cumulative --label server heap$step.pb.gz mutex$step.pb.gz block$step.pb.gz || fail "ingest of step $step"
done
series="JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id WHERE source GLOB"
for kind in mutex block; do
    want=$(sums "${kind}2.pb.gz")
    [ "${want%%|*}" -gt 100 ] || fail "nothing happened: $kind $want"
    expect_equal "$(sql t.db "SELECT sum(contended), sum(wait_ns) FROM locks $series '${kind}*'")" "$want" "the $kind series"
    expect_equal "$(sql t.db "SELECT min(contended) >= 0 AND min(wait_ns) >= 0, count(DISTINCT run_id) FROM locks $series '${kind}*'")" "1|3" "differences of $kind"
done
want=$(sums heap2.pb.gz)
expect_equal "$(sql t.db "SELECT sum(alloc_count), sum(alloc_bytes) FROM sites $series 'heap*'")" "$(cut -d'|' -f1,2 <<<"$want")" "the heap series"
for step in 0 1 2; do
    expect_equal "$(sql t.db "SELECT sum(alloc_count - free_count), sum(alloc_bytes - free_bytes) FROM sites $series 'heap$step*'")" \
        "$(sums heap$step.pb.gz | cut -d'|' -f3,4)" "in use at step $step"
done
expect_equal "$(sql t.db "SELECT count(*) FROM runs WHERE flags <> 'cumulative'")" 0 "restarts that were none"

# A process that is started anew counts less somewhere, even if it counts more in all.
python3 - "$ROOT" <<'PY' || fail "make_profile.py"
import sys
root, sys.argv = sys.argv[1], ["make_profile.py", "made", "good"]
exec(open(root + "/fixtures/make_profile.py").read())
types = [("contentions", "count"), ("delay", "nanoseconds")]
for step, rows in enumerate([{1: (10, 100), 2: (1, 5)}, {1: (12, 130), 2: (1, 5)}, {1: (900, 9000)}]):
    data = small(types, [([stack], values, []) for stack, values in rows.items()])
    open(f"again{step}", "wb").write(data.replace(number(9, 1700000000000000000), number(9, 1700000000000000000 + step * 10**9)))
PY
"$CLEAR" ingest -q --db r.db --cumulative --label again again0 again1 again2 || fail "three snapshots, two processes"
expect_equal "$(sql r.db "SELECT run_id, flags, sum(contended), sum(wait_ns) FROM locks $series '*' GROUP BY 1")" "1|cumulative|11|105
2|cumulative|2|30
3|cumulative restart|900|9000" "a restart"
check_db t.db
check_db r.db
