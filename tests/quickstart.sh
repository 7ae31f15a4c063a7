# What the README promises, from the first command to the last, on a real program.
# build: plain
. "$(dirname "$0")/lib.sh"

sqlite3 :memory: <"$ROOT/fixtures/work.sql" >want.txt
"$CLEAR" profile --db t.db -- sqlite3 :memory: <"$ROOT/fixtures/work.sql" >got.txt || fail "profile: $?"
expect_same_file got.txt want.txt "sqlite3's output"
for file in alloc.txt heap.pb.gz; do [ -s "sqlite3.profile/$file" ] || fail "no sqlite3.profile/$file"; done
pprof -top -sample_index=alloc_space sqlite3.profile/heap.pb.gz >top.txt 2>/dev/null || fail "pprof: $?"
expect_match "$(cat top.txt)" 'sqlite3' "sqlite3's functions by name"
expect_equal "$(head -n 1 top.txt)" 'File: sqlite3' 'the main binary'
sql t.db 'SELECT * FROM doctor' >/dev/null
"$CLEAR" query --db t.db 'SELECT function, sum(alloc_bytes) FROM heap GROUP BY 1 ORDER BY 2 DESC LIMIT 10' >query.txt || fail "query: $?"
first=$(sql t.db 'SELECT function FROM heap GROUP BY 1 ORDER BY sum(alloc_bytes) DESC LIMIT 1')
grep -qF "$first" query.txt || fail "query does not list $first first: $(cat query.txt)"
"$CLEAR" export --db t.db --sql 'SELECT trace_id, sum(alloc_bytes) AS "alloc_space/bytes" FROM sites GROUP BY 1' -o q.pb.gz || fail "export: $?"
pprof -top q.pb.gz >top.txt 2>/dev/null || fail "pprof: $?"
"$CLEAR" doctor --db t.db >doctor.txt || fail "doctor: $?"

# A second run replaces the directory whole, and the warehouse keeps both.
cp sqlite3.profile/alloc.txt sqlite3.profile/mvcc.txt
"$CLEAR" profile --db t.db --label second --tag commit=abc -- sqlite3 :memory: 'SELECT 1' >/dev/null || fail "profile: $?"
[ ! -e sqlite3.profile/mvcc.txt ] || fail 'the run directory was not replaced whole'
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 2 runs
for name in latest latest~1 2 second commit=abc; do
    "$CLEAR" export --db t.db "$name" --kind heap -o named.pb.gz || fail "a run named $name: $?"
done
# A directory with somebody's own file in it is not thrown away.
touch sqlite3.profile/letter
"$CLEAR" profile --db t.db -- sqlite3 :memory: 'SELECT 1' >/dev/null 2>err.txt && fail 'a directory with a strange file was replaced in silence'
expect_match "$(cat err.txt)" 'letter' 'the message'
[ -e sqlite3.profile/letter ] || fail "somebody's file is gone"
CLEAR_DB=other.db "$CLEAR" profile -o o.profile -- true && [ -s other.db ] || fail 'CLEAR_DB'
