# clear merge and clear ingest of a warehouse: exports of each run and kind have the same bytes before and after, whatever order names have in the
# files; every table that hangs on a run comes along; the same run is stored once; clashes are told; hostile files do nothing.
# timeout: 400
# build: plain
. "$(dirname "$0")/lib.sh"

# ---- three warehouses with every kind that there is ----
. "$(dirname "$0")/warehouses.sh"
make_warehouses
for db in a b c d; do CLEAR=$PLAIN_CLEAR exports $db.db before; done # tests/store.sh makes them with sanitizers
find before -name '*.pb.gz' | sed 's/.*\.\([a-z-]*\)\.pb\.gz/\1/' | sort | uniq -c >kinds.txt
for kind in heap heap-peak mmap lock cpu wait channels mvcc io lifetimes; do grep -qw -- "$kind" kinds.txt || fail "no export of $kind: $(cat kinds.txt)"; done
[ "$(find before -name '*.txt' | wc -l)" -ge 5 ] || fail 'few text files'
mkdir directories && cp -r before/*/ directories
exported() { # exported DB: the directory of each run, which has all kinds; of one.db each kind is exported by itself, too
    sql "$1" 'SELECT id, uuid FROM runs' | while IFS='|' read -r run uuid; do
        "$PLAIN_CLEAR" export --db "$1" "$run" -o "after/$uuid/" >/dev/null 2>&1 || rm -rf "after/$uuid"
    done
}

# ---- merged in two orders, and a merge of merges ----
sums() { for db in "$@"; do cksum <$db; done; }
source_sums=$(sums a.db b.db c.db d.db)
"$CLEAR" merge one.db a.db b.db c.db d.db >one.txt 2>err.txt || fail "merge: $(cat err.txt)"
"$CLEAR" merge -q two.db d.db c.db b.db a.db 2>err.txt || fail "merge: $(cat err.txt)"
"$CLEAR" merge -q three.db b.db 2>err.txt && "$CLEAR" merge -q three.db two.db 2>>err.txt || fail "merge of a merge: $(cat err.txt)"
expect_equal "$(sums a.db b.db c.db d.db)" "$source_sums" 'the sources afterwards'
for db in one two three; do
    check_db $db.db
    rm -rf after && mkdir after
    if [ $db = one ]; then
        CLEAR=$PLAIN_CLEAR exports $db.db after
        want=before
    else
        exported $db.db
        want=directories
    fi
    diff -r $want after >diff.txt || fail "exports of $db.db: $(head -20 diff.txt)"
    expect_equal "$(sql $db.db 'SELECT count(*) FROM runs')" "$(($(sql a.db 'SELECT count(*) FROM runs') + $(sql b.db 'SELECT count(*) FROM runs') + $(sql c.db 'SELECT count(*) FROM runs') + $(sql d.db 'SELECT count(*) FROM runs')))" "runs of $db.db"
done
expect_equal "$(sql two.db 'SELECT count(*) > 0 FROM run_places')" 1 'two orders of names met'
expect_equal "$(sql one.db 'SELECT count(*) > 0 FROM events')" 1 'events of --trace'
# Names are there once.
for db in one two three; do
    expect_equal "$(sql $db.db "SELECT (SELECT count(*) - count(DISTINCT stack) FROM traces), (SELECT count(*) FROM (SELECT 1 FROM functions GROUP BY name, system_name, filename, start_line HAVING count(*) > 1)),
        (SELECT count(*) FROM (SELECT 1 FROM objects GROUP BY kind, identity HAVING count(*) > 1))")" '0|0|0' "names of $db.db"
done
# In every table that hangs on runs or profiles, by the schema: as many rows, and the same sum of each column that is no id.
python3 - <<'END' || fail 'rows that hang on runs'
import sqlite3
db, sources = sqlite3.connect("one.db"), "abcd"
for source in sources: db.execute(f"ATTACH '{source}.db' AS {source}")
tables = [name for name, in db.execute("""SELECT DISTINCT m.name FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f
    WHERE m.type = 'table' AND f."table" IN ('runs', 'profiles', 'processes') AND m.name <> 'run_places' ORDER BY 1""")]
assert len(tables) >= 25, tables
tables.remove("run_totals")  # also of runs that had none
for table in tables:
    keys = db.execute('SELECT "from", "table" FROM pragma_foreign_key_list(?)', (table,)).fetchall()
    skipped = {"id", "mappings", *(column for column, _ in keys)}
    columns = ", ".join(f'total("{name}") % 1000003, count("{name}"), max(length("{name}"))'
                        for name, in db.execute("SELECT name FROM pragma_table_info(?)", (table,)) if name not in skipped) or "1"
    if table == "site_rows": columns = "total(alloc_count), total(free_count)"
    # By which column it hangs on what: the run itself, a profile or a process.
    column, target = min((key for key in keys if key[1] in ("runs", "profiles", "processes")), key=lambda key: ("runs", "profiles", "processes").index(key[1]))
    want = sum(db.execute(f'SELECT count(*) FROM {source}."{table}"').fetchone()[0] for source in sources)
    assert db.execute(f'SELECT count(*) FROM main."{table}"').fetchone() == (want,), (table, want)
    for source in sources:
        runs = f"SELECT id FROM main.runs WHERE uuid IN (SELECT uuid FROM {source}.runs)"
        owned = runs if target == "runs" else f"SELECT id FROM main.{target} WHERE run_id IN ({runs})"
        got = db.execute(f'SELECT {columns} FROM main."{table}" WHERE {column} IN ({owned})').fetchone()
        want = db.execute(f'SELECT {columns} FROM {source}."{table}"').fetchone()
        assert got == want, (table, source, got, want)
END
expect_equal "$(sql one.db "SELECT * FROM run_summary" | wc -l)" "$(sql one.db 'SELECT count(*) FROM runs')" 'summaries'
for db in a b; do
    sql $db.db 'SELECT uuid, alloc_count, alloc_bytes, inuse_bytes, lock_acquires, lock_wait_ns, cpu_ns, dropped FROM run_summary ORDER BY uuid' >want
    sql one.db "ATTACH '$db.db' AS s; SELECT uuid, alloc_count, alloc_bytes, inuse_bytes, lock_acquires, lock_wait_ns, cpu_ns, dropped FROM run_summary WHERE uuid IN (SELECT uuid FROM s.runs) ORDER BY uuid" >got
    expect_same_file got want "totals of the runs of $db.db"
done

# ---- again: nothing new; what people wrote comes along, and what differs is told ----
rows=$(sql one.db 'SELECT (SELECT count(*) FROM traces), (SELECT count(*) FROM runs), (SELECT count(*) FROM site_rows)')
"$CLEAR" merge one.db b.db >again.txt || fail 'again'
expect_match "$(cat again.txt)" "^b.db: 0 runs, $(sql b.db 'SELECT count(*) FROM runs') already here" 'again'
expect_equal "$(sql one.db 'SELECT (SELECT count(*) FROM traces), (SELECT count(*) FROM runs), (SELECT count(*) FROM site_rows)')" "$rows" 'again'
"$CLEAR" ingest --db c2.db "$ROOT"/fixtures/corpus/pprof/* >/dev/null 2>&1
expect_equal "$("$CLEAR" merge --json one.db c2.db | python3 -c 'import json, sys; print([(f["runs"], f["known"] > 0) for f in json.load(sys.stdin)])')" '[(0, True)]' 'the same files, read into another warehouse'
"$CLEAR" tag --db a.db 2 branch=other new=1 >/dev/null && "$CLEAR" label --db a.db 1 'late' >/dev/null && "$CLEAR" pin --db a.db 2 'look' >/dev/null || fail 'edits'
"$CLEAR" query --db a.db --save mine 'SELECT 1 AS a' >/dev/null && "$CLEAR" query --db one.db --save other 'SELECT 2 AS b' >/dev/null && "$CLEAR" query --db a.db --save other 'SELECT 3 AS c' >/dev/null || fail 'queries'
sql a.db "CREATE VIEW my_view AS SELECT 42 AS answer; CREATE VIEW clash AS SELECT 1 AS x; INSERT INTO accepted_changes VALUES ('u', 'cpu_ns', '', 'known', 5)"
sql one.db 'CREATE VIEW clash AS SELECT 2 AS x'
"$CLEAR" merge one.db a.db >again.txt 2>told.txt || fail 'texts'
run=$(sql one.db "ATTACH 'a.db' AS a; SELECT r.id FROM runs AS r JOIN a.runs AS s ON s.uuid = r.uuid WHERE s.id = 2")
first=$(sql one.db "ATTACH 'a.db' AS a; SELECT r.id FROM runs AS r JOIN a.runs AS s ON s.uuid = r.uuid WHERE s.id = 1")
expect_equal "$(sql one.db "SELECT key, value FROM tags WHERE run_id = $run ORDER BY 1; SELECT why FROM pins WHERE run_id = $run; SELECT label FROM runs WHERE id = $first; SELECT answer FROM my_view;
    SELECT x FROM clash; SELECT sql FROM queries WHERE name IN ('mine', 'other') ORDER BY name; SELECT * FROM accepted_changes")" \
    $'branch|main\nnew|1\nlook\nlate\n42\n2\nSELECT 1 AS a\nSELECT 2 AS b\nu|cpu_ns||known|5' 'what people wrote'
expect_match "$(cat told.txt)" "run $run keeps its tag branch=main, which is other there" 'a tag that differs'
expect_match "$(cat told.txt)" '@other differs there' 'a query that differs'
expect_match "$(cat told.txt)" 'view clash differs there' 'a view that differs'
expect_match "$(cat again.txt)" 'saved queries: 1, 1 view, 1 accepted change' 'what came along'

# ---- clear ingest of a warehouse ----
"$CLEAR" ingest --db four.db b.db >out.txt 2>&1 || fail "ingest: $(cat out.txt)"
expect_match "$(cat out.txt)" "^b.db: $(sql b.db 'SELECT count(*) FROM runs') runs" 'ingest of a warehouse'
expect_status 1 "$CLEAR" ingest --db four.db --label x a.db 2>err.txt
expect_match "$(cat err.txt)" 'a.db: is a warehouse, whose runs keep their labels' 'a label for a warehouse'

# ---- what is refused, with nothing merged ----
"$CLEAR" merge -q base.db d.db || fail base.db
before=$(sqlite3 base.db .dump | cksum)
refused() { # refused REGEX FILE WHAT
    expect_status 1 "$CLEAR" merge base.db "$2" >out.txt 2>err.txt
    expect_match "$(cat err.txt)" "$1" "$3"
    expect_equal "$(sqlite3 base.db .dump | cksum)" "$before" "base.db after: $3"
}
refused 'is the warehouse itself' base.db 'itself'
ln base.db link.db && refused 'is the warehouse itself' link.db 'itself by another name'
rm link.db
refused 'no such file' none.db 'no file'
echo text >text.db && refused 'not a SQLite database' text.db 'a text'
spoil() { # spoil SQL REGEX WHAT: a copy of a.db
    cp a.db bad.db
    sqlite3 bad.db "PRAGMA foreign_keys = OFF; $1" || fail "spoiling: $3"
    refused "$2" bad.db "$3"
}
spoil "UPDATE site_rows SET profile_id = profile_id WHERE 0; UPDATE traces SET stack = '[1,99999999]' WHERE id = (SELECT max(trace_id) FROM sites)" 'is damaged: there is no row 99999999 in locations' 'a frame that is not there'
spoil "UPDATE traces SET stack = 'x' WHERE id = (SELECT max(trace_id) FROM sites)" 'no list of ids' 'a stack that is none'
spoil "UPDATE locks SET object_id = 12345678" 'no row 12345678 in objects' 'an object that is not there'
spoil "UPDATE profiles SET process_id = 77777777" 'an id that is not in the file' 'a process that is not there'
spoil "ALTER TABLE tags RENAME TO t; CREATE VIEW tags AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS run_id, '' AS key, '' AS value FROM n" 'tags is not a table of its own' 'a view in place of a table'
spoil "ALTER TABLE runs ADD COLUMN evil TEXT GENERATED ALWAYS AS (hex('x')) VIRTUAL" 'computed column' 'a computed column'

# Pages that refer to each other: a table of 400^11 times its rows. It ends, too.
cp a.db bad.db
python3 - "$(sql a.db "SELECT rootpage FROM sqlite_schema WHERE name = 'traces'")" <<'END' || fail 'an endless table'
import struct, sys
data, root = bytearray(open("bad.db", "rb").read()), int(sys.argv[1])
size = struct.unpack(">H", data[16:18])[0]
leaf = bytes(data[(root - 1) * size:root * size])
data += leaf
for level in range(11):
    child, cells = len(data) // size, 400
    page = bytearray(size)
    start = size - 5 * cells
    page[0:12] = struct.pack(">BHHHBI", 5, 0, cells, start, 0, child)
    for i in range(cells):
        page[12 + 2 * i:14 + 2 * i] = struct.pack(">H", start + 5 * i)
        page[start + 5 * i:start + 5 * i + 5] = struct.pack(">IB", child, 1)
    data += page
data[(root - 1) * size:root * size] = data[-size:]
data[28:32] = struct.pack(">I", len(data) // size)
open("bad.db", "wb").write(data)
END
LD_PRELOAD=$FIXTURES/lib_hurried.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
    refused 'stopped, because it takes too long' bad.db 'a table without an end' # after half a minute of that clock

# ---- a file that an older clear made: migrated as a copy, and left as it is ----
make_first_release old.db old
sql old.db "PRAGMA journal_mode = DELETE" >/dev/null
old_sum=$(cksum <old.db)
cp old.db migrated.db
chmod a-w old.db
"$CLEAR" merge -q young.db old.db 2>err.txt || fail "an older file: $(cat err.txt)"
"$CLEAR" ingest -q --db young2.db old.db 2>err.txt || fail "ingest of an older file: $(cat err.txt)"
expect_equal "$(cksum <old.db)" "$old_sum" 'the older file afterwards'
[ ! -e old.db-wal ] && [ ! -e old.db-shm ] || fail 'files beside the older file'
check_db young.db
"$CLEAR" export --db migrated.db latest --kind heap -o migrated.pb.gz || fail "the migrated file"
expect_equal "$(sql migrated.db 'PRAGMA user_version')" "$(sql young.db 'PRAGMA user_version')" 'migrated in place'
for db in young young2; do
    "$CLEAR" export --db $db.db latest --kind heap -o $db.pb.gz || fail "an export of $db.db"
    expect_same_file $db.pb.gz migrated.pb.gz "the run of the older file in $db.db"
    expect_equal "$(sql $db.db "SELECT label, alloc_bytes FROM run_summary WHERE uuid = 'old'; SELECT function, alloc_bytes FROM heap WHERE alloc_count = 9")" $'kept|900\nmake_thing|900' 'its rows'
done
expect_match "$("$CLEAR" merge young.db old.db)" '^old.db: 0 runs, 1 already here' 'once more'
sql old.db 'PRAGMA application_id' >/dev/null; chmod u+w old.db; cp old.db worse.db
sqlite3 worse.db "DROP TABLE tags; CREATE VIEW tags AS SELECT 1 AS run_id, '' AS key, '' AS value"
refused 'tags is not a table' worse.db 'a view in place of a table of an older file'

# ---- a text under the hash of another one: it is not believed ----
cp d.db texts.db && cp d.db liar.db
for db in texts liar; do
    sqlite3 $db.db "INSERT INTO source_texts(hash, text) VALUES ('$(printf 'the text' | sha256sum | cut -d' ' -f1)', '$([ $db = liar ] && echo 'a lie' || echo 'the text')');
        INSERT INTO sources(run_id, path, role, text_id) SELECT max(runs.id), '/src/$db.c', 'source', last_insert_rowid() FROM runs;
        UPDATE runs SET uuid = '$db' || id, content_hash = NULL"
done
"$CLEAR" merge -q told.db liar.db texts.db 2>err.txt || fail "texts: $(cat err.txt)"
expect_equal "$(sql told.db "SELECT path, text FROM sources JOIN source_texts ON source_texts.id = text_id WHERE path IN ('/src/liar.c', '/src/texts.c') ORDER BY 1")" $'/src/liar.c|a lie\n/src/texts.c|the text' 'texts by their content'

# ---- hostile texts: nothing of them runs ----
plant() { # plant FILE NAME TEXT: a view of that name in a copy of a.db, of which the schema has this text
    cp a.db "$1"
    sqlite3 "$1" "CREATE VIEW $2 AS SELECT 1; CREATE TRIGGER planted AFTER INSERT ON runs BEGIN INSERT INTO tags VALUES (NEW.id, 'planted', 'x'); END"
    sqlite3 -cmd '.dbconfig defensive off' "$1" "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '$3' WHERE name = '$2'" >/dev/null || fail 'planting'
}
plant evil.db two "CREATE VIEW two AS SELECT 1; VACUUM INTO ''$TMP/harmed.db''"
sqlite3 evil.db 'CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n'
"$CLEAR" merge safe.db evil.db >out.txt 2>err.txt || fail "a hostile file: $(cat err.txt)"
[ ! -e harmed.db ] || fail 'the second statement of a view ran'
expect_equal "$(sql safe.db "SELECT group_concat(name, ' ') FROM sqlite_schema WHERE name IN ('endless', 'two', 'planted')")" endless 'what came along'
expect_equal "$(sql safe.db "SELECT count(*) FROM tags WHERE key = 'planted'")" 0 'a trigger'
expect_match "$(cat err.txt)" 'the view two is left out' 'a view that is none'
# What SQLite itself takes for a damaged file is refused.
for text in 'DROP TABLE runs' 'CREATE VIEW ours AS SELECT 1' 'CREATE TABLE evil(x)'; do
    plant worse.db evil "$text"
    "$CLEAR" merge safe.db worse.db >/dev/null 2>err.txt || expect_match "$(cat err.txt)" '^clear: worse.db: ' "$text"
    expect_equal "$(sql safe.db "SELECT count(*) FROM sqlite_schema WHERE name IN ('ours', 'evil')")" 0 "$text"
done
check_db safe.db
head -c 30000 a.db >short.db && expect_status 1 "$CLEAR" merge base.db short.db 2>err.txt
ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99 CLEAR=${SANITIZED_CLEAR:-$CLEAR} python3 - <<'END' || fail 'flipped bytes' # in the gate the one part with sanitizers
import os, random, subprocess
clear, data, source = os.environ["CLEAR"], open("a.db", "rb").read(), random.Random(5)
for trial in range(8 if "SANITIZED_CLEAR" in os.environ else 25):
    bad = bytearray(data)
    for _ in range(source.randrange(1, 40)):
        bad[source.randrange(100, len(bad))] = source.randrange(256)
    open("flipped.db", "wb").write(bad)
    for name in ("flipped.db-wal", "flipped.db-shm"):
        if os.path.exists(name): os.remove(name)
    done = subprocess.run([clear, "merge", "flip.db", "flipped.db"], capture_output=True, timeout=60)
    assert done.returncode in (0, 1), (trial, done)
END
expect_equal "$(sql flip.db 'PRAGMA integrity_check')" ok 'after flipped bytes'
expect_equal "$(sqlite3 base.db .dump | cksum)" "$before" 'base.db at the end'

# ---- a file that is being recorded: as it is now, and replaced later ----
"$CLEAR" profile -q --db live.db --interval 50ms -- "$FIXTURES/progress" count 100000 stop >out.txt 2>err.txt &
recorder=$!
for _ in $(seq 600); do [ "$(sqlite3 -cmd '.timeout 5000' live.db "SELECT count(*) FROM site_rows" 2>/dev/null || echo 0)" -gt 0 ] && break; sleep 0.05; done
"$CLEAR" merge now.db live.db >out2.txt 2>err2.txt || fail "a file that is being recorded: $(cat err2.txt)"
expect_match "$(cat out2.txt)" '^live.db: 1 run .*, 1 without an end' 'a run without an end'
check_db now.db
expect_equal "$(sql now.db "SELECT flags FROM runs")" unfinished 'its flag'
touch stop
wait $recorder || [ $? -eq 9 ] || fail "the recording: $(cat err.txt)"
"$CLEAR" merge now.db live.db >out2.txt || fail 'the whole run'
expect_match "$(cat out2.txt)" '1 in place of an unfinished copy' 'the whole run'
expect_equal "$(sql now.db 'SELECT uuid, flags, exit_status, alloc_count FROM run_summary')" "$(sql live.db 'SELECT uuid, flags, exit_status, alloc_count FROM run_summary')" 'the whole run'
expect_match "$("$CLEAR" merge now.db live.db)" '^live.db: 0 runs, 1 already here' 'and once'
check_db now.db

# ---- a column that a user added to a table of clear stays where it is ----
sqlite3 now.db "ALTER TABLE runs ADD COLUMN note TEXT DEFAULT 'none'" && "$CLEAR" merge -q bare.db now.db 2>err.txt || fail "a user's column: $(cat err.txt)"
"$CLEAR" merge -q now.db a.db 2>err.txt || fail "into a file with a user's column: $(cat err.txt)"
expect_equal "$(sql bare.db 'SELECT uuid, alloc_count FROM run_summary')" "$(sql live.db 'SELECT uuid, alloc_count FROM run_summary')" "the run beside a user's column"
expect_equal "$(sql now.db "SELECT count(*) FROM runs WHERE note = 'none'")" "$(($(sql a.db 'SELECT count(*) FROM runs') + 1))" "runs with a user's column"
check_db bare.db
