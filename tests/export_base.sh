# Sets of runs are summed, a base is taken away as pprof -diff_base does, kinds without a table of their own go out with their
# types, saved queries with their defaults.
. "$(dirname "$0")/lib.sh"

cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" - <<'END' | sqlite3 t.db || fail "no database"
INSERT INTO runs(id, uuid, label, started_ns, source) VALUES
    (3, '6f1f9a52-0000-4000-8000-000000000003', 'nightly', 1700000200000000000, 'profile'),
    (4, '6f1f9a52-0000-4000-8000-000000000004', 'nightly', 1700000300000000000, 'profile');
INSERT INTO tags VALUES (1, 'branch', 'main'), (3, 'branch', 'main'), (4, 'branch', 'new');
INSERT INTO profiles(id, run_id, kind, time_ns, sample_types, default_type) VALUES
    (8, 3, 'heap', 1700000200000000000, '[]', ''), (9, 4, 'heap', 1700000300000000000, '[]', ''),
    (10, 3, 'goroutine', 1700000200000000000, '[["goroutine","count"]]', 'goroutine'),
    (11, 4, 'wide', 0, '[["a","count"],["b","count"],["c","count"],["d","count"],["e","count"],["f","count"],["g","count"],["h","count"],["i","bytes"],["j","count"]]', 'i'),
    (12, 4, 'goroutine', 0, '[["threads","count"]]', 'threads'),
    (13, 4, 'fibers', 0, '[]', ''), (14, 4, 'syscalls', 0, '[]', '');
INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (8, 2, 3, 300), (8, 3, 1, 50), (9, 2, 5, 700), (9, 4, 2, 80);
INSERT INTO samples(profile_id, trace_id, v0) VALUES (10, 2, 12), (10, 3, 1), (12, 2, 1);
INSERT INTO samples(profile_id, trace_id, v0, v7, more) VALUES (11, 2, 1, 8, '[900,-10]'), (11, 3, 2, 0, NULL);
INSERT INTO task_sites(profile_id, site, spawns, total_lifetime_ns, dispatch, kind, line) VALUES (13, 7, 40, 5000, 'local', 'BG', 12);
INSERT INTO syscalls VALUES (14, 'futex', 9, 1, 77);
END
out() { "$CLEAR" export --db t.db "$@" || fail "clear export $*"; }
totals() { # the sums of all values of a file, as go tool pprof reads them, those of the base marked
    pprof -raw "$1" 2>/dev/null | awk '/^Samples:/ { on = 1; getline; next } /^Locations/ { on = 0 }
        on && /^ *-?[0-9][-0-9 ]*:/ { sub(/:.*/, ""); for (i = 1; i <= NF; i++) sum[i] += $i; if (NF > n) n = NF }
        END { for (i = 1; i <= n; i++) printf "%s%.0f", (i > 1 ? "|" : ""), sum[i] }'
}
wanted() { # wanted RUN-CONDITION: the same of the tables
    sql t.db "SELECT sum(alloc_count), sum(alloc_bytes), sum(alloc_count - free_count), sum(alloc_bytes - free_bytes)
              FROM sites JOIN profiles ON profiles.id = profile_id WHERE $1"
}
set_of() { # set_of CONDITION SET...
    local condition=$1
    shift
    out "$@" --kind heap -o set.pb.gz
    expect_equal "$(totals set.pb.gz)" "$(wanted "$condition")" "$*"
}
set_of 'run_id = 4' latest
set_of 'run_id IN (2, 3, 4)' 2..4
set_of 'run_id IN (2, 3, 4)' latest..2
set_of 'run_id IN (1, 3)' 1,3
set_of 'run_id IN (1, 3)' 1 3 1
set_of 'true' all
set_of 'run_id IN (3, 4)' all:nightly
set_of 'run_id IN (1, 3)' all:branch=main
set_of 'run_id IN (1, 2, 4)' all:branch=new,1..2
# A merge as pprof makes it of the files, which the oracle makes of the tables: the same samples.
for run in 1 2 3 4; do python3 "$ROOT/tests/oracle.py" t.db $run.pb.gz --kind heap --runs $run || fail "oracle.py"; done
pprof -proto -output=merged.pb.gz 1.pb.gz 2.pb.gz 3.pb.gz 4.pb.gz >/dev/null 2>&1 || fail "go tool pprof merges"
out all --kind heap -o all.pb.gz
tops() { pprof -sample_index=alloc_space -top -cum "$@" 2>/dev/null | sed -n '/flat%/,$p' | tr -s ' ' | sort; }
expect_equal "$(tops all.pb.gz)" "$(tops merged.pb.gz)" "our sum and pprof's"

# Differences.
out 4 --kind heap --base 3 -o diff.pb.gz
expect_equal "$(tops diff.pb.gz)" "$(tops -diff_base 3.pb.gz 4.pb.gz)" "our difference and pprof's"
expect_equal "$(totals diff.pb.gz)" "3|430|3|430" "sum of the differences"
expect_equal "$(pprof -raw diff.pb.gz 2>/dev/null | grep -c 'pprof::base:\[true\]')" 2 "samples of the base"
out all:nightly --kind heap --base 1,2 -o sets.pb.gz
expect_equal "$(totals sets.pb.gz)" "$(sql t.db "SELECT sum(s * alloc_count), sum(s * alloc_bytes), sum(s * (alloc_count - free_count)), sum(s * (alloc_bytes - free_bytes))
    FROM (SELECT *, CASE WHEN run_id > 2 THEN 1 ELSE -1 END AS s FROM sites JOIN profiles ON profiles.id = profile_id)")" "sets less sets"
out --sql 'SELECT trace_id, sum(alloc_bytes) AS "space/bytes" FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = :run GROUP BY 1' \
    run=4 --base 3 -o q.pb.gz
expect_equal "$(totals q.pb.gz)" 430 "a query for other runs"
expect_status 2 "$CLEAR" export --db t.db --sql 'SELECT trace_id, alloc_bytes AS "space/bytes" FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = :run' run=3..4 \
    --base ' select id AS trace_id, 1 AS "extra/count" FROM traces WHERE id = 0' -o no.pb.gz 2>err.txt
expect_match "$(cat err.txt)" 'the base has other values \(extra/count .*space/bytes' "a base with other values"
out --sql 'SELECT 2 AS "a/count", 3 AS "b/count"' --base 'SELECT 1 AS "b/count", 1 AS "a/count"' -o order.pb.gz
expect_equal "$(totals order.pb.gz)" "1|2" "a base with its columns in another order"
out 4 --kind heap --base 3 --format folded --type alloc_space >diff.folded
expect_equal "$(cat diff.folded)" "__libc_start_main;main 50 0
__libc_start_main;main;serve 300 700
__libc_start_main;other_main 0 80" "before and after"
out 4 --kind heap --base 3 --format flamegraph --type alloc_space -o diff.svg
python3 - <<'END' || fail "differential flame graph"
import xml.etree.ElementTree as xml
S = "{http://www.w3.org/2000/svg}"
boxes = {b.get("data-n"): b for b in xml.parse("diff.svg").getroot().iter(S + "svg") if b.get("class") == "f"}
hue = lambda name: boxes[name].find(S + "rect").get("fill").split(",")[0]
assert hue("serve") == "hsl(4" and hue("other_main") == "hsl(4", "what grew is red"
width = lambda name: float(boxes[name].get("width").rstrip("%"))
assert abs(width("main") - 100 * 750 / 830) < 1e-3, "main is as wide as what vanished in it and what grew"
assert "300 B \u2192 700 B (+400 B, +133 %)" in boxes["serve"].find(S + "title").text
assert "new" in boxes["other_main"].find(S + "title").text
END

# Kinds that have no table of their own, and those that are no heap.
out 3 --kind goroutine -o g.pb.gz
expect_equal "$(totals g.pb.gz) $(pprof -raw g.pb.gz 2>/dev/null | sed -n '/^Samples:/{n;p}')" "13 goroutine/count[dflt]" "goroutines"
out 4 --kind wide -o w.pb.gz
expect_equal "$(totals w.pb.gz)" "3|0|0|0|0|0|0|8|900|-10" "more values than the table has columns"
out 4 --kind fibers -o f.pb.gz
expect_equal "$(totals f.pb.gz)" "40|0|0|5000" "fibers"
out 4 --kind syscalls --format folded --type calls >s.folded
expect_equal "$(cat s.folded)" "futex 9" "system calls"
expect_status 2 "$CLEAR" export --db t.db 3..4 --kind goroutine -o no.pb.gz 2>err.txt
expect_match "$(cat err.txt)" 'run 4 has goroutine profiles of other sample types .*threads.*goroutine' "unlike types in one set"

# Saved queries: defaults, arguments, and what they say of their export.
sqlite3 t.db <<'END' || fail "no query"
INSERT INTO queries VALUES ('mine', 'bytes by function', '[{"name":"run","type":"run","default":"latest"},{"name":"least","type":"integer","default":60}]',
    'SELECT trace_id, alloc_bytes AS "space/bytes" FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = :run AND alloc_bytes >= :least',
    '{"format":"folded"}');
END
expect_equal "$(out --query mine -o - | awk '{ sum += $NF } END { print sum }')" 780 "a saved query"
expect_equal "$(out --query mine least=100 run=3..4 -o - | awk '{ sum += $NF } END { print sum }')" 1000 "with arguments"
out --query mine --format pprof -o m.pb.gz
expect_equal "$(totals m.pb.gz)" 780 "an option before the query's own"
expect_equal "$(out --query mine run=4 --base 3 least=0)" "$(cat diff.folded)" "a saved query less itself"
expect_status 2 "$CLEAR" export --db t.db --query mien -o no.pb.gz 2>err.txt
expect_match "$(cat err.txt)" "mien" "a query that is not there"

refused() { # refused REGEX ARGUMENTS...
    local regex=$1
    shift
    expect_status 2 "$CLEAR" export --db t.db "$@" -o no.pb.gz 2>err.txt
    expect_match "$(cat err.txt)" "$regex" "message of $*"
    expect_equal "$(wc -l <err.txt)" 1 "lines of the message of $*"
}
refused "no run is in 'all:goat'" all:goat --kind heap
refused "no run is in 'all:branch=goat'" all:branch=goat --kind heap
refused "no run '9'" 1..9 --kind heap
refused "no run 'goat'" 1,goat --kind heap
refused 'base: SQL: no such table: goats' 1 --kind heap --base 'SELECT * FROM goats'
refused 'no parameter :run' --sql 'SELECT 1 AS n' --base 3
expect_status 2 "$CLEAR" export --db t.db 1..2 --kind lock -o no.pb.gz 2>err.txt
expect_match "$(cat err.txt)" 'run 2 has no lock profile; it has: heap' "a run of a set without the kind"
[ -z "$(ls -A | grep '^no')" ] || fail "left behind: $(ls -A)"
