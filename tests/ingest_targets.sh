# A file wherever a run can be named: doctor, export and query answer about it as about an ingested one, the warehouse is not
# written and need not exist; which names are files; what is refused.
. "$(dirname "$0")/lib.sh"

corpus=$ROOT/fixtures/corpus
heap=$corpus/pprof/before_go_heap.pb.gz
only=$corpus/dumps/ledger.profile
ask() { "$CLEAR" query --format csv --no-header "$@" | tr -d '\r'; }
refused() { # refused STATUS REGEX COMMAND...
    local status=$1 regex=$2
    shift 2
    expect_status "$status" "$@" >out.txt 2>err.txt
    expect_match "$(cat err.txt)" "$regex" "what is said to: $*"
    expect_equal "$(wc -c <out.txt)" 0 "output of: $*"
}

# Without a warehouse. The dump's diagnoses are those of its ingested rows, but for the commands at the end.
"$CLEAR" ingest -q --db kept.db "$only" || fail ingest
"$CLEAR" doctor --db kept.db 1 | sed '/^next$/,$d' >want.txt
"$CLEAR" doctor "$only" >got.txt || fail "doctor of a directory"
sed '/^next$/,$d' got.txt >shown.txt
expect_same_file shown.txt want.txt "the report"
# What the dump must be said to suffer from, counted in its rows: the sites that never free, and have small blocks.
arenas=$(awk '!/^#/ && NF >= 5 && $4 == 0 && $2 > 0 && int($3 / $2) < 16 { n++ } END { print n + 0 }' "$only/alloc.txt")
[ "$arenas" -gt 0 ] || fail "the dump has no site of small blocks that are never freed"
expect_equal "$("$CLEAR" doctor --json "$only" | python3 -c 'import json, sys; print(sum(row["code"] == "arena" for row in json.load(sys.stdin)))')" \
    "$arenas" "sites of small blocks that are never freed"
# The commands that the report offers work as they stand.
grep -o "clear query .*" got.txt | sed "s|^clear|'$CLEAR'|" >offered.sh
[ -s offered.sh ] || fail "no command offered"
expect_match "$(sh offered.sh)" 'arena' "the query that the report offers"

# A profile goes out as it came in, by way of no file that anyone could see.
"$CLEAR" export "$heap" --kind heap -o out.pb.gz || fail "export of a file"
python3 "$ROOT/tests/profile_diff.py" "$heap" out.pb.gz || fail "the export is not the profile"
"$CLEAR" export - --kind heap -o - <"$heap" >piped.pb.gz || fail "export of standard input"
python3 "$ROOT/tests/profile_diff.py" "$heap" piped.pb.gz || fail "the export of standard input is not the profile"
pprof -raw "$heap" >raw.txt 2>/dev/null
bytes=$(awk '/^Locations/ { exit } inside && /^ +-?[0-9]+ +-?[0-9]+ +-?[0-9]+ +-?[0-9]+:/ { sub(":", "", $4); sum += $4 } /^Samples:/ { inside = 1 } END { print sum }' raw.txt)
expect_equal "$(ask 'SELECT sum(inuse_bytes) FROM heap WHERE run_id = :run' run="$heap")" "$bytes" "bytes in use"
expect_equal "$(ask 'SELECT count(*) FROM runs WHERE id = :run' run="$heap")" 1 "the file's run"
expect_equal "$(find . -name '*.sqlite*')" "" "a warehouse that nobody asked for"
for file in "$corpus"/legacy/* "$corpus"/folded/* "$corpus/perf/perf.data.singleprocess-3.8" "$only/locks.txt"; do
    "$CLEAR" doctor "$file" >/dev/null || fail "doctor $file"
done

# Beside a warehouse: a run's name wins over the file's, a path with a slash in front is a file, nothing is written.
cp "$corpus/folded/app.folded" nightly
cp -r "$only" 1
"$CLEAR" ingest -q --db t.db --label nightly "$heap" || fail ingest
sha256sum t.db >before.txt
source_of() { ask --db t.db 'SELECT source FROM runs WHERE id = :run' run="$1"; }
expect_equal "$(source_of nightly)" "$heap" "the label"
expect_equal "$(source_of 1)" "$heap" "the number"
expect_equal "$(source_of ./nightly)" ./nightly "the file of that name"
expect_equal "$(source_of 1/)" 1/ "the directory of that name"
expect_equal "$(source_of "$PWD/nightly")" "$PWD/nightly" "an absolute name"
cp nightly other
expect_equal "$(source_of other)" other "a file whose name no run has"
expect_equal "$(ask --db t.db 'SELECT count(*) FROM runs' run=other 2>&1 | grep -c 'no parameter :run')" 1 \
    "run= without a :run in the SQL"
"$CLEAR" doctor --db t.db other >/dev/null && "$CLEAR" export --db t.db other --kind samples -o o.pb.gz || fail "a file beside a warehouse"
sha256sum t.db >after.txt
expect_same_file after.txt before.txt "the warehouse after all that"
expect_equal "$(find . -name 't.db-*')" "" "left beside the warehouse"
chmod -w t.db
: >empty.db
"$CLEAR" doctor --db empty.db other >/dev/null || fail "beside an empty warehouse"
expect_equal "$(wc -c <empty.db)" 0 "the empty warehouse"

# Refused: the file is named.
refused 1 '^clear: \./none\.pb\.gz: No such file' "$CLEAR" doctor ./none.pb.gz
refused 2 '^clear: prod/none\.pb\.gz: no such file, and no warehouse runs\.sqlite' "$CLEAR" doctor prod/none.pb.gz
refused 2 '^clear: prod/none\.pb\.gz: no such file, and no run of t\.db has that name' "$CLEAR" doctor --db t.db prod/none.pb.gz
refused 2 "^clear: t\\.db: no run 'none' among 1" "$CLEAR" doctor --db t.db none
refused 1 '^clear: \./t\.db: is a SQLite database; to use it as the warehouse: --db' "$CLEAR" doctor ./t.db
head -c 3000 "$heap" >cut.pb.gz
refused 1 '^clear: cut\.pb\.gz: byte 3000: the gzip stream is truncated' "$CLEAR" export cut.pb.gz --kind heap -o none.pb.gz
refused 2 '^clear: other: run 1 has no heap profile; it has: samples' "$CLEAR" export other --kind heap -o none.pb.gz
[ ! -e none.pb.gz ] || fail "a file was left by a failed export"
mkdir plain
refused 1 '^clear: plain: is not a directory of dumps' "$CLEAR" doctor plain
refused 2 'only reading is allowed: DELETE from runs is refused' "$CLEAR" query 'DELETE FROM runs WHERE id = :run' run=other
refused 1 '^clear: runs\.sqlite: no such file' "$CLEAR" doctor
refused 1 '^clear: runs\.sqlite: no such file' "$CLEAR" doctor latest
cp other latest
refused 1 '^clear: runs\.sqlite: no such file' "$CLEAR" doctor latest
"$CLEAR" doctor ./latest >/dev/null || fail "./latest"
