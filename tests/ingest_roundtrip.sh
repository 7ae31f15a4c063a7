# What goes in comes out: for Go's own profiles and for made ones with every field set, `go tool pprof -raw` of the export is that
# of the original, ids and order aside; and the export, ingested again, brings no new name or stack. The tables hold it all: what
# the oracle makes of them is the original too, so what it says of other profiles can be believed.
# timeout: 400 (under the sanitizers)
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/fixtures/make_profile.py" made good || fail "make_profile.py"
binary=$(go tool -n pprof) || fail "there is no go tool pprof"
raw_of() { HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none "$binary" -symbolize=none -raw "$1" 2>/dev/null; }
names() { sql "$1" 'SELECT (SELECT min(kind) FROM profiles), (SELECT count(*) FROM traces), (SELECT count(*) FROM locations), (SELECT count(*) FROM functions), (SELECT count(*) FROM mappings), (SELECT count(*) FROM label_sets)'; }
count=0
for file in "$ROOT"/fixtures/corpus/pprof/*.pb.gz made/*.pb made/*.pb.gz; do
    at=came.$count
    "$CLEAR" ingest -q --db $at.db "$file" || fail "ingest $file"
    before=$(names $at.db)
    kind=${before%%|*}
    "$CLEAR" export --db $at.db --kind "$kind" -o $at.pb.gz || fail "export $kind of $file"
    raw_of "$file" >$at.a.raw || fail "pprof $file"
    raw_of $at.pb.gz >$at.b.raw || fail "pprof of the export of $file"
    printf '%s\t%s\t%s\t%s\t%s\n' "$file" $at.pb.gz $at.db "$kind" $at >>pairs.txt
    "$PLAIN_CLEAR" ingest -q --db $at.db $at.pb.gz || fail "ingest of the export of $file"
    expect_equal "$(names $at.db)" "$before" "names and stacks after $file came again"
    check_db $at.db
    count=$((count + 1))
done
expect_equal "$count" 21 "files compared"

# A run alone is reported as it is stored: samples whose values are all 0 too, which Go's heap profiles have. Counted by a reader of its own.
zeros=$(cd "$ROOT/tests" && python3 -c '
import sys; from profile_diff import fields, rd, vs
stacks = {}
for field, sample in fields(rd(open(sys.argv[1], "rb").read())):
    if field != 2: continue
    of = lambda wanted: [value for field, value in fields(sample) if field == wanted]
    stack = str([vs(value) for value in of(1)]), str(of(3)) # and labels: equal ones are one sample of the run
    stacks[stack] = stacks.get(stack, False) or any(one for value in of(2) for one in vs(value))
print(sum(not has_value for has_value in stacks.values()))' "$ROOT/fixtures/corpus/pprof/after_go_allocs.pb.gz")
[ "$zeros" -gt 0 ] || fail 'no sample of zeros to report'
expect_equal "$("$CLEAR" report raw --db zeros.db "$ROOT/fixtures/corpus/pprof/after_go_allocs.pb.gz" | grep -cE '^ +0 +0 +0 +0:')" "$zeros" 'samples whose values are all 0'

# Which table takes what.
kind_of() { rm -f k.db; "$CLEAR" ingest -q --db k.db "$1" || fail "$1"; sql k.db "SELECT kind, (SELECT count(*) FROM sites), (SELECT count(*) FROM locks), (SELECT count(*) FROM cpu), (SELECT count(*) FROM samples) FROM profiles"; }
expect_equal "$(kind_of made/every_field.pb)" "heap|5|0|0|0" "heap; two of six samples are equal"
expect_equal "$(kind_of made/contention.pb)" "contentions|0|0|0|2" "contentions with labels"
expect_equal "$(kind_of made/other_types.pb)" "kind0|0|0|0|2" "types without a table"
expect_equal "$(sql k.db 'SELECT more FROM samples WHERE label_set_id = 0')" '[14,31,50,71]' "values nine to twelve: 8²-50 and on"
expect_equal "$(kind_of "$ROOT/fixtures/corpus/pprof/after_go_mutex.pb.gz")" "lock|0|1|0|0" mutex
expect_equal "$(kind_of "$ROOT/fixtures/corpus/pprof/after_go_goroutine.pb.gz")" "goroutine|0|0|0|2" goroutine
expect_equal "$(kind_of "$ROOT/fixtures/corpus/pprof/after_go_cpu.pb.gz" | cut -d'|' -f1,2,3,5)" "cpu|0|0|0" cpu
expect_equal "$(sql k.db 'SELECT sum(samples), sum(cpu_ns) FROM cpu')" \
    "$(pprof -raw "$ROOT/fixtures/corpus/pprof/after_go_cpu.pb.gz" 2>/dev/null | awk '/^Locations/ { exit } /^ *[0-9]+ +[0-9]+:/ { a += $1; b += $2 } END { print a "|" b }')" "sums of the CPU profile"
expect_equal "$(kind_of made/inuse.pb)" "heap|2|0|0|0" "in use alone"
expect_equal "$(sql k.db 'SELECT inuse_count, inuse_bytes FROM heap ORDER BY 1 DESC')" "1|100
-1|-7" "in use, negative too"

# What clear exported of locks, waits, cells and channels comes back as that, with its names: the same export, the same oracle, and the finding.
identity() { sql "$1" "SELECT identity FROM objects WHERE name = '$2' ORDER BY kind = 'lock' DESC LIMIT 1"; } # identity WAREHOUSE NAME
returns() { # returns PROGRAM KIND SECTION/CODE OBJECT
    local at=own.$1.$2
    rm -f a.db b.db
    "$PLAIN_CLEAR" profile -q --no-files --db a.db "$FIXTURES/$1" >/dev/null || fail "$1"
    "$PLAIN_CLEAR" export --db a.db --kind "$2" -o "$at.a.pb.gz" || fail "export of $1"
    "$CLEAR" ingest -q --db b.db "$at.a.pb.gz" || fail "ingest of $2 of $1"
    expect_equal "$(sql b.db 'SELECT kind FROM profiles')" "$2" "the kind of $2.pb.gz of $1"
    "$CLEAR" export --db b.db --kind "$2" -o "$at.b.pb.gz" || fail "export of $2 again"
    expect_equal "$(identity b.db "$4")" "$(identity a.db "$4")" "what $4 is called"
    [ -n "$(identity b.db "$4")" ] || fail "there is no $4"
    [ -z "$3" ] || expect_equal "$(sql b.db "SELECT count(*) FROM doctor WHERE section || '/' || code = '$3' AND subject = '$4' AND severity <> 'note'")" 1 "$3 of the file of $1"
    [ "$2" = wait ] || expect_equal "$(sql b.db 'SELECT count(*) FROM samples')" 0 "samples of no kind"
    check_db b.db
    mv b.db "$at.db"
    printf '%s\t%s\t%s\t%s\t\n' "$at.a.pb.gz" "$at.b.pb.gz" "$at.db" "$2" >>pairs.txt
}
returns fault_retry_storm mvcc cell/high-retry fault_retry_storm:contingent
returns fault_slow_consumer channels channel/slow-consumer values
returns fault_slow_consumer wait '' fault_slow_consumer:values+40
returns fault_convoy lock lock/hot-long fault_convoy:journal
returns own_locks lock '' own_locks:table_lock

# Of each pair: what pprof prints is the same; all that profile.proto has is; and all of it is in the tables.
python3 - "$ROOT/tests" pairs.txt <<'END' || fail 'what came out is not what went in, see above'
import functools, sys
sys.path.insert(0, sys.argv[1])
import oracle, profile_diff, raw_profile

profile_diff.norm = functools.lru_cache(4)(profile_diff.norm)  # of the original once
compared = 0
for line in open(sys.argv[2], encoding="utf-8"):
    original, export, db, kind, printed = line.rstrip("\n").split("\t")
    if printed:
        want, got = (raw_profile.plain(f"{printed}.{side}.raw") for side in "ab")
        if len(want) < 4: sys.exit(f"nothing to compare in {original}")
        if got != want: sys.exit(f"export of {original}: {[one for one in got if one not in want][:3]}, not {[one for one in want if one not in got][:3]}")
    if profile_diff.compare(original, export, "comments"): sys.exit(f"profile_diff of {original} and its export as {kind}")
    tables = f"{db}.tables.pb.gz"
    oracle.write(db, tables, kind, "1")
    if profile_diff.compare(original, tables, "comments"): sys.exit(f"the tables have not all of {original}")
    compared += 1
sys.exit(compared != 26)
END
