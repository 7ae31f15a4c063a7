# The command: what it says, what it counts, what a second time does, and how times and snapshots are told.
# quick
. "$(dirname "$0")/lib.sh"

corpus=$ROOT/fixtures/corpus
heap=$corpus/pprof/before_go_heap.pb.gz
ingest() { "$CLEAR" ingest --db t.db "$@"; }

# One file, then the same bytes again under any name, and from standard input.
text=$(ingest --label nightly --tag commit=1a2b3c --tag branch=main "$heap") || fail "$text"
expect_match "$text" 'before_go_heap.pb.gz: run 1, pprof, [0-9]+ rows$' "what it says"
expect_equal "$(sql t.db 'SELECT label, source, content_hash, command FROM runs')" \
    "nightly|$heap|$(sha256sum "$heap" | cut -d' ' -f1)|" "the run"
expect_equal "$(sql t.db 'SELECT key, value FROM tags ORDER BY key')" "branch|main
commit|1a2b3c" tags
time_ns=$(pprof -raw "$heap" 2>/dev/null | sed -n 's/^Time: //p')
expect_equal "$(sql t.db "SELECT strftime('%Y-%m-%d %H:%M:%S', started_ns / 1000000000, 'unixepoch') FROM runs")" "${time_ns%%.*}" "its own time"
sqlite3 t.db .dump >before.sql
cp "$heap" copy.bin
expect_match "$(ingest copy.bin)" '^copy.bin: already in the warehouse as run 1$' "the same bytes"
expect_match "$(ingest - <"$heap")" '^-: already in the warehouse as run 1' "standard input"
sqlite3 t.db .dump >after.sql
expect_same_file after.sql before.sql "after the same bytes again"

# Plain, and recognised by content.
gzip -dc "$heap" >plain.folded
expect_match "$(ingest plain.folded)" 'run 2, pprof, ' "plain, under a wrong name"
expect_equal "$(sql t.db 'SELECT count(DISTINCT trace_id), count(*) / 2 FROM sites')" "$(sql t.db 'SELECT count(DISTINCT trace_id), count(*) FROM sites WHERE profile_id = 1')" "the same stacks"

# --time; a bad one among many; a directory; --quiet.
mkdir -p many/deeper
cp "$corpus/folded/app.folded" many/a
printf 'a;b 1\nnothing here\na;c 2\n' >many/b
cp "$corpus/pprof/after_go_cpu.pb.gz" many/deeper/c
expect_status 1 ingest --time 2024-05-01T12:00:00Z many >out.txt 2>err.txt
expect_equal "$(wc -l <err.txt)" 1 "one line for the broken one: $(cat err.txt)"
expect_match "$(cat err.txt)" '^clear: many/b:2:9: expected a whole number' "file and line"
expect_equal "$(sql t.db "SELECT group_concat(source), min(started_ns), max(time_ns) FROM runs JOIN profiles ON run_id = runs.id WHERE source LIKE 'many/%'")" \
    "many/a,many/deeper/c|1714564800000000000|1714564800000000000" "what the others brought, at that time"
expect_equal "$(ingest --lenient many/b)" "many/b: run 5, folded, 2 rows, 1 skipped" lenient
expect_equal "$(ingest -q "$corpus/pprof/after_go_heap.pb.gz" | wc -c)" 0 quiet
expect_equal "$(sql t.db "SELECT sum(v0) FROM samples JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id WHERE source = 'many/a'")" \
    "$(awk '{ n += $NF } END { print n }' "$corpus/folded/app.folded")" "sum of the folded file"

# Usage.
expect_status 2 ingest 2>/dev/null
expect_status 2 ingest --tag novalue "$heap" 2>/dev/null
expect_status 2 ingest --time yesterday "$heap" 2>/dev/null
expect_status 1 ingest nowhere.pb.gz 2>/dev/null

# --cumulative: the sum over a series is its last snapshot, what is in use is each snapshot's own; a smaller total is another start.
snapshots() { python3 - "$@" <<'PY'
import sys
sys.argv = ["make_profile.py", "made", "good"]
exec(open(__import__("os").environ["ROOT"] + "/fixtures/make_profile.py").read())
types = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
series = [{1: (10, 100, 4, 40)}, {1: (15, 150, 2, 20), 2: (1, 8, 1, 8)}, {1: (15, 150, 2, 20), 2: (5, 40, 0, 0)}, {1: (2, 20, 2, 20)}, {1: (99, 990, 2, 20)}]
for step, rows in enumerate(series):
    data = small(types, [([stack], values, []) for stack, values in rows.items()])
    open(f"snap{step}", "wb").write(data.replace(number(9, 1700000000000000000), number(9, 1700000000000000000 + (step if step < 4 else 1) * 10**9 + step)))
PY
}
ROOT=$ROOT snapshots || fail snapshots
"$CLEAR" ingest -q --db c.db --cumulative --label server snap0 snap1 snap2 || fail "cumulative"
figures="SELECT run_id, function, alloc_count, alloc_bytes, inuse_count, inuse_bytes FROM heap ORDER BY 1, 2"
expect_equal "$(sql c.db "$figures")" "1|one|10|100|4|40
2|one|5|50|2|20
2|two|1|8|1|8
3|one|0|0|2|20
3|two|4|32|0|0" "differences"
expect_equal "$(sql c.db 'SELECT function, sum(alloc_count), sum(alloc_bytes) FROM heap GROUP BY 1')" "one|15|150
two|5|40" "the sum is the last snapshot"
"$CLEAR" ingest -q --db c.db --cumulative --label server snap3 || fail "a process that was started anew"
expect_equal "$(sql c.db "SELECT run_id, alloc_count, flags FROM heap JOIN runs ON runs.id = run_id WHERE run_id = 4")" "4|2|cumulative restart" restart
expect_status 1 "$CLEAR" ingest -q --db c.db --cumulative --label server snap4 2>err.txt
expect_match "$(cat err.txt)" '^clear: snap4: is older than run [0-9]+ of its series: cumulative snapshots come oldest first$' "an older one after a newer"
"$CLEAR" ingest -q --db c.db --cumulative --label other snap4 || fail "another series"
expect_equal "$(sql c.db "SELECT sum(alloc_count) FROM heap JOIN runs ON runs.id = run_id WHERE label = 'other'")" 99 "another label starts from nothing"
check_db c.db
check_db t.db
