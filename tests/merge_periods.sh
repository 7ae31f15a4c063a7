# Profiles of one kind with unlike periods (Go's 512 KiB, 2 MiB of C++): the table and the views keep the values as given,
# the export of both is what pprof makes of the two files: values added, the greater period.
. "$(dirname "$0")/lib.sh"

ROOT=$ROOT python3 - <<'PY' || fail "profiles"
import os, sys
sys.argv = ["make_profile.py", "made", "good"]
exec(open(os.environ["ROOT"] + "/fixtures/make_profile.py").read())

def heap(period, rows):
    profile = Profile()
    profile.types(("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes"))
    for stack, values in rows:
        profile.sample(stack, values)
    profile.mapping(1, 0x1000, 0x9000, 0, "/bin/program", "abcd", 15) # pprof makes up one where there is none
    for ident, name in (1, "one"), (2, "two"):
        profile.location(ident, 1, 0x1000 + ident, [(ident, ident, 0)])
        profile.function(ident, name, name, name + ".go", 1)
    profile.add(number(9, 1700000000000000000))
    profile.add(block(11, number(1, profile.text("space")) + number(2, profile.text("bytes"))))
    profile.add(number(12, period))
    return profile.bytes()

open("go.pb", "wb").write(heap(512 << 10, [([1], (10, 1000, 4, 400)), ([1, 2], (3, 30, 3, 30))]))
open("cxx.pb", "wb").write(heap(2 << 20, [([1], (7, 70, 7, 70)), ([2], (5, 50, 1, 10))]))
PY
"$CLEAR" ingest -q --db t.db go.pb cxx.pb || fail ingest
expect_equal "$(sql t.db "SELECT period, sum(alloc_bytes) FROM profiles JOIN sites ON profile_id = profiles.id GROUP BY profile_id")" "524288|1030
2097152|120" "what is stored"
expect_equal "$(sql t.db "SELECT run_id, alloc_bytes, inuse_bytes FROM site_history WHERE function = 'one' AND signature =
                              (SELECT signature FROM site_history WHERE alloc_bytes = 1000) ORDER BY run_id")" "1|1000|400
2|70|70" "the history of a site"

# Both in one run, in either order: what stands first must not decide.
for order in 'go cxx' 'cxx go'; do
    # shellcheck disable=SC2086
    set -- $order
    rm -f t.db
    "$CLEAR" ingest -q --db t.db "$1.pb" "$2.pb" || fail ingest
    sql t.db 'UPDATE profiles SET run_id = 1; DELETE FROM run_totals'
    pprof -proto -output theirs.pb.gz "$1.pb" "$2.pb" >log.txt 2>&1 || fail "pprof: $(cat log.txt)"
    "$CLEAR" export --db t.db 1 --kind heap -o ours.pb.gz || fail export
    python3 "$ROOT/tests/profile_diff.py" theirs.pb.gz ours.pb.gz || fail "$order: pprof merges otherwise"
    expect_equal "$(pprof -raw ours.pb.gz 2>/dev/null | sed -n 's/^Period: //p')" 2097152 "$order: period"
    expect_equal "$(sql t.db 'SELECT alloc_count, alloc_bytes, inuse_count, inuse_bytes FROM run_summary WHERE run_id = 1')" \
        "25|1150|15|510" "$order: the run's sums"
    expect_equal "$(sql t.db "SELECT max(bytes) FROM (SELECT sum(alloc_bytes) AS bytes FROM heap WHERE run_id = 1 AND function = 'one' GROUP BY trace_id)")" 1070 "$order: the site's sum"
done
