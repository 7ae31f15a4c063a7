# clear tag, label, pin and rm: what they change, what they refuse, and that nothing of a deleted run is left in any table of the schema.
# quick
# build: plain
. "$(dirname "$0")/lib.sh"

sqlite3 t.db <"$ROOT/schema/tables.sql" || fail "no database"
# Three runs with a row in each table that hangs on a run, by the foreign keys of the schema alone. Names and stacks are there once.
sqlite3 t.db "INSERT INTO label_sets VALUES (1, '[]x'); INSERT INTO source_texts VALUES (1, 'h', 't');
    INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'i', 'n'); INSERT INTO site_keys(id, trace_id) VALUES (0, 0);
    INSERT INTO locations(id, mapping_id, address) VALUES (1, 0, 1)" || fail 'names'
python3 - t.db <<'END' || fail 'filling every table'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
tables = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
keys = {table: {row[3]: row[2] for row in db.execute(f"PRAGMA foreign_key_list({table})")} for table in tables}
parents = {"profiles", "runs", "processes"}
hanging = ["runs", "processes", "profiles"] + [t for t in tables if t not in parents and parents & set(keys[t].values())]
hanging.sort(key=lambda table: table == "run_totals")  # last: a trigger removes it where other rows are inserted
for run in (1, 2, 3):
    for table in hanging:
        row = {}
        for _, name, kind, notnull, default, key in db.execute(f"PRAGMA table_info({table})"):
            target = keys[table].get(name)
            if target in parents or (table in parents and name == "id"):
                row[name] = run
            elif target:
                row[name] = 0 if target in ("traces", "site_keys", "mappings") else 1
            elif notnull and default is None or key:
                row[name] = f"{table}{run}" if kind == "TEXT" else run
        db.execute(f"INSERT INTO {table}({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
db.commit()
open("hanging", "w").write("\n".join(hanging))
END
[ "$(wc -l <hanging)" -ge 25 ] || fail "few tables hang on a run: $(cat hanging)"
check_db t.db

# ---- tags, labels, pins ----
expect_equal "$("$CLEAR" tag --db t.db 1..2 branch=main 'who=a=b' 2>&1)" '2 runs: branch=main, who=a=b' 'two tags of two runs'
"$CLEAR" tag --db t.db 2 branch= who=me >/dev/null || fail 'removing a tag'
expect_equal "$(sql t.db "SELECT run_id, key, value FROM tags WHERE key IN ('branch', 'who') ORDER BY 1, 2")" $'1|branch|main\n1|who|a=b\n2|who|me' 'tags'
"$CLEAR" label --db t.db 1,3 'a "label"' >/dev/null && "$CLEAR" label --db t.db 3 '' >/dev/null || fail 'labels'
expect_equal "$(sql t.db "SELECT id, label FROM runs WHERE label IS NOT NULL")" '1|a "label"' 'labels'
sql t.db 'DELETE FROM pins'
"$CLEAR" pin --db t.db 1..2 'it is odd' >/dev/null && "$CLEAR" pin --db t.db 2 >/dev/null || fail 'pins'
expect_equal "$(sql t.db "SELECT run_id, why, pinned_ns > 1700000000000000000 FROM pins")" $'1|it is odd|1\n2||1' 'pins'
"$CLEAR" pin --db t.db --unpin 2 >/dev/null || fail 'unpinning'
expect_equal "$("$CLEAR" runs --db t.db --json | python3 -c 'import json, sys; print([(r["run_id"], r["pinned"]) for r in json.load(sys.stdin)])')" \
    "[(3, None), (2, None), (1, 'it is odd')]" 'pins in clear runs --json'
expect_match "$("$CLEAR" runs --db t.db | grep 'a "label"')" ' pinned(,|$)' 'pins in clear runs'

# ---- refusals, which change nothing ----
before=$(sqlite3 t.db .dump | cksum)
refused() { # refused STATUS REGEX ARGUMENTS...
    local want=$1 regex=$2 got=0
    shift 2
    "$CLEAR" "$@" >out 2>err </dev/null || got=$?
    expect_equal "$got" "$want" "status of clear $*: $(cat err)"
    expect_match "$(cat err)" "$regex" "clear $*"
}
refused 2 "'branch' is no tag: write KEY=VALUE" tag --db t.db 1 a=b branch
refused 2 "'=x' is no tag" tag --db t.db 1 =x
refused 2 "no run 'nine'" label --db t.db nine text
refused 2 'give runs and a label' label --db t.db 1
refused 2 'name the runs' rm --db t.db
refused 1 'run 1 is pinned: it is odd: --force' rm --db t.db 1
refused 2 '2 runs would be deleted.*--force' rm --db t.db 2..3
refused 1 'no such file' pin --db none.db 1
[ ! -e none.db ] || fail 'a warehouse was made'
expect_equal "$(sqlite3 t.db .dump | cksum)" "$before" 'the file after refusals'
counts=$(sql t.db "SELECT group_concat('SELECT count(*) AS rows FROM ' || made.name || ' WHERE ' || first.name || ' IN (2, 3)', ' UNION ALL ')
    FROM sqlite_schema AS made JOIN pragma_table_info(made.name) AS first ON first.cid = 0 WHERE made.type = 'table' AND made.name GLOB '*_facts'")
facts=$(sql t.db "SELECT sum(rows) FROM ($counts)")
[ "$facts" -gt 0 ] || fail 'the runs have no facts'
expect_equal "$("$CLEAR" rm --db t.db --dry-run --json 2..3 | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["runs"], d["deleted"], d["rows"])')" \
    "[2, 3] False $(($(grep -c . hanging) * 2 - 2 + 1 + facts))" 'a dry run: a row of each table a run, two tags of run 2, no pin, and facts'
expect_equal "$(sqlite3 t.db .dump | cksum)" "$before" 'the file after a dry run'

# ---- a run that has no end ----
sql t.db "UPDATE runs SET flags = 'unfinished', started_ns = strftime('%s', 'now') * 1000000000 WHERE id = 2"
refused 1 'run 2 has no end: it is being recorded, or its recorder was killed' rm --db t.db 2
sql t.db "UPDATE runs SET started_ns = started_ns - 2 * 86400 * 1000000000 WHERE id = 2"
"$CLEAR" rm --db t.db 2 >/dev/null || fail 'a run whose recorder was killed two days ago'

# ---- nothing is left, in any table; the others are as they were ----
"$CLEAR" rm --db t.db --force 1 >/dev/null || fail 'a pinned run by force'
for table in $(cat hanging); do
    case $table in
    runs | profiles | processes) column=id ;;
    *) column=$(sql t.db "SELECT \"from\" FROM pragma_foreign_key_list('$table') WHERE \"table\" IN ('runs', 'profiles', 'processes') LIMIT 1") ;;
    esac
    [ "$table" = pins ] || expect_equal "$(sql t.db "SELECT group_concat(DISTINCT \"$column\") FROM \"$table\"")" 3 "$table after deleting runs 1 and 2"
done
expect_equal "$(sql t.db "SELECT sum(rows) FROM (${counts//2, 3/1, 2})")" 0 'facts of runs 1 and 2'
check_db t.db
"$CLEAR" runs --db t.db >/dev/null || fail 'the file afterwards'

# ---- a table of a user that hangs on runs, and one that is being recorded ----
sql t.db "CREATE TABLE notes(run INTEGER REFERENCES runs(id) ON DELETE CASCADE, note TEXT); INSERT INTO notes VALUES (3, 'mine')"
"$CLEAR" rm --db t.db 3 >/dev/null || fail "a run with a user's rows"
expect_equal "$(sql t.db 'SELECT count(*) FROM notes')" 0 "the user's rows"
check_db t.db
mkfifo go
"$CLEAR" profile -q --db live.db --interval 50ms -- sh -c 'read line <go' &
recorder=$!
for _ in $(seq 1200); do [ "$(sqlite3 -cmd '.timeout 5000' live.db 'SELECT count(*) FROM profiles' 2>/dev/null)" -gt 0 ] 2>/dev/null && break; sleep 0.1; done
refused 1 'run 1 is being recorded, and is not deleted' rm --db live.db --force 1
echo go >go
wait $recorder || fail 'the recording'
"$CLEAR" rm --db live.db 1 >/dev/null || fail 'the run that is over'
check_db live.db

# ---- a question on a terminal ----
needs_terminals
profile -q -- true && profile -q -- true || fail 'two runs'
asked() { # asked ANSWER
    script -qec "$CLEAR rm --db t.db last=2" /dev/null <<<"$1"
}
asked n | grep -q 'delete 2 runs of t.db' || fail 'the question'
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 2 'no'
asked y | grep -q 'deleted 2 runs' || fail 'yes'
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 0 'yes'
