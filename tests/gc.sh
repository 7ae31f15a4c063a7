# clear gc: which runs stay, by rules that Python applies on its own; that all of the others is gone and nothing else; that the file gets as
# small as one that never held more; old files, recordings that go on, little room, and `retention`.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"

new_warehouse() { # new_warehouse DB: empty, as clear makes it
    "$PLAIN_CLEAR" profile -q --db "$1" --heap=off --cpu=off --locks=off -- true 2>/dev/null || "$PLAIN_CLEAR" profile -q --db "$1" -- true || fail 'no warehouse'
    "$CLEAR" rm --db "$1" latest >/dev/null && "$CLEAR" gc --db "$1" >/dev/null || fail 'an empty warehouse'
}
new_warehouse empty.db
expect_equal "$(sql empty.db 'SELECT (SELECT count(*) FROM traces), (SELECT count(*) FROM functions), (SELECT count(*) FROM locations), (SELECT count(*) FROM mappings),
    (SELECT count(*) FROM site_keys), (SELECT count(*) FROM objects), (SELECT count(*) FROM label_sets)')" '1|0|0|1|0|0|1' 'names after the only run was deleted: the rows 0'
cp empty.db t.db
python3 "$ROOT/bench/make_warehouse.py" t.db 200 60 500 || fail 'runs'
# Two commands, a run each six hours; some with a label, a pin.
sql t.db "UPDATE runs SET started_ns = (strftime('%s', 'now') - 60) * 1000000000 - (200 - id) * 6 * 3600 * 1000000000, command = iif(id % 4, './server', './client');
    UPDATE runs SET label = 'release' WHERE id IN (7, 100);
    INSERT INTO pins VALUES (9, '', 1), (125, 'x', 1);
    INSERT INTO tags VALUES (11, 'branch', 'main'), (12, 'branch', 'main');
    INSERT INTO accepted_changes SELECT uuid, 'cpu_ns', '', 'known', 1 FROM runs WHERE id = 33"
cat >which.py <<'END'
"""which.py DB KEEP_DAYS THIN: the ids that must stay."""
import datetime, sqlite3, sys, time
db, keep, thin = sqlite3.connect(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
runs = db.execute("SELECT id, started_ns, command, label FROM runs ORDER BY started_ns").fetchall()
stay = {run for run, _, _, label in runs if label} | {run for run, in db.execute("SELECT run_id FROM pins")}
stay |= {run for run, in db.execute("SELECT run_id FROM tags WHERE key = 'branch'")}
stay |= {run for run, in db.execute("SELECT id FROM runs JOIN accepted_changes ON run_uuid = uuid")}
newest, spans = {}, {}
for run, started, command, _ in runs:
    newest[command] = run
    when = datetime.datetime.fromtimestamp(started / 1e9, datetime.timezone.utc)
    if started / 1e9 >= time.time() - keep * 86400:
        stay.add(run)
    elif thin != "none":
        spans[command, {"hour": when.strftime("%x %H"), "day": when.strftime("%x"), "week": when.strftime("%Y %W"), "month": when.strftime("%Y %m")}[thin]] = run
print(*sorted(stay | set(newest.values()) | set(spans.values())))
END
cat >content.py <<'END'
"""content.py DB: every row of sites with all names instead of ids, run by run: what must not change."""
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
only = json.loads(sys.argv[2]) if len(sys.argv) > 2 else None
lines = {}
for location, name, file, line, filename, address in db.execute("""SELECT location_lines.location_id, name, functions.filename, line, mappings.filename, address
        FROM location_lines JOIN functions ON functions.id = function_id JOIN locations ON locations.id = location_id
        JOIN mappings ON mappings.id = mapping_id ORDER BY location_id, position"""):
    lines.setdefault(location, []).append((name, file, line, filename, address))
stacks = {trace: [lines[at] for at in json.loads(stack)] for trace, stack in db.execute("SELECT id, stack FROM traces")}
labels = dict(db.execute("SELECT id, labels FROM label_sets"))
rows = []
for run, uuid, trace, label, *values in db.execute("""SELECT run_id, uuid, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes
        FROM sites JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id"""):
    if only is None or run in only:
        rows.append(json.dumps([uuid, stacks[trace], labels[label], values]))
print("\n".join(sorted(rows)))
END
ids() { sql "$1" "SELECT group_concat(id, ' ') FROM (SELECT id FROM runs ORDER BY id)"; }

"$PLAIN_CLEAR" runs --db t.db >/dev/null || fail 'clear runs' # makes what a file written by hand lacks

# ---- rules ----
for rule in '10 none' '10 day' '0 week' '20 month' '30 hour'; do
    read -r days thin <<<"$rule"
    cp t.db r.db
    want=$(python3 which.py t.db "$days" "$thin")
    options=(--keep "${days}d" --base tag:branch=main)
    [ "$thin" = none ] || options+=(--thin "$thin")
    "$CLEAR" gc --db r.db "${options[@]}" --dry-run --json >dry.json || fail "dry run of $rule"
    cmp -s t.db r.db || expect_equal "$(sqlite3 r.db .dump | cksum)" "$(sqlite3 t.db .dump | cksum)" "the file after a dry run of $rule"
    "$CLEAR" gc --db r.db "${options[@]}" --json >done.json || fail "gc by $rule"
    expect_equal "$(ids r.db)" "$want" "what stays by $rule"
    python3 - <<END || fail "what it said by $rule: $(cat dry.json done.json)"
import json
dry, done = json.load(open("dry.json")), json.load(open("done.json"))
gone = sorted(set(range(1, 201)) - set(map(int, "$want".split())))
assert sorted(done["runs"]) == sorted(dry["runs"]) == gone and done["done"] and not dry["done"]
assert dry["rows"] == done["rows"] and dry["names"] == done["names"] > 0
END
    check_db r.db
    python3 content.py t.db "[${want// /,}]" >want.txt
    python3 content.py r.db >got.txt
    expect_same_file got.txt want.txt "the rows of runs that stay by $rule"
    # Names that nothing uses are gone: by Python's own walk from the rows.
    expect_equal "$(sql r.db "SELECT (SELECT count(*) FROM traces WHERE id NOT IN (SELECT trace_id FROM sites) AND id <> 0),
        (SELECT count(*) FROM locations WHERE id NOT IN (SELECT value FROM traces, json_each(stack))),
        (SELECT count(*) FROM functions WHERE id NOT IN (SELECT function_id FROM location_lines)),
        (SELECT count(*) FROM location_lines WHERE location_id NOT IN (SELECT id FROM locations))")" '0|0|0|0' "names that nothing uses, by $rule"
    expect_equal "$(sql r.db 'PRAGMA freelist_count')" 0 "free pages by $rule"
done
# The same bases by a rule of `gates:` alone: of clear.yaml, and as a row that is in the file. A rule whose base has no run yet is no error.
for where in clear.yaml table; do
    cp t.db r.db
    printf 'gates:\n  cpu: {figure: cpu_ns, base: "tag:branch=main"}\n  later: {figure: cpu_ns, base: "tag:branch=later"}\n' >clear.yaml
    [ $where = clear.yaml ] || { "$CLEAR" pin --db r.db 9 x >/dev/null && rm clear.yaml; } || fail 'rules in the file'
    "$CLEAR" gc --db r.db --keep 10d >/dev/null || fail "gc with a base in $where"
    expect_equal "$(ids r.db)" "$(python3 which.py t.db 10 none)" "what stays with a base in $where"
done
rm -f clear.yaml
cp t.db r.db
"$CLEAR" gc --db r.db | grep -q '^deleted 0 runs' || fail 'without rules no run is deleted'

# ---- as small as a file that never held more ----
cp t.db r.db
"$CLEAR" gc --db r.db --keep 5d >/dev/null || fail 'gc'
cp empty.db few.db
python3 - t.db few.db "$(ids r.db)" <<'END' || fail 'a file that never held more'
import sqlite3, sys
db = sqlite3.connect(sys.argv[2])
db.execute("ATTACH ? AS whole", (sys.argv[1],))
keep = "(" + sys.argv[3].replace(" ", ",") + ")"
db.executescript(f"""
    INSERT INTO runs SELECT * FROM whole.runs WHERE id IN {keep}; INSERT INTO processes SELECT * FROM whole.processes WHERE run_id IN {keep};
    INSERT INTO pins SELECT * FROM whole.pins; INSERT INTO tags SELECT * FROM whole.tags; INSERT INTO profiles SELECT * FROM whole.profiles WHERE run_id IN {keep};
    CREATE TEMP TABLE t AS SELECT DISTINCT trace_id AS id FROM whole.sites JOIN profiles ON profiles.id = profile_id;
    CREATE TEMP TABLE l AS SELECT DISTINCT value AS id FROM whole.traces, json_each(stack) WHERE traces.id IN t;
    INSERT INTO mappings SELECT * FROM whole.mappings WHERE id > 0; INSERT INTO traces SELECT * FROM whole.traces WHERE id IN t;
    INSERT INTO functions SELECT * FROM whole.functions WHERE id IN (SELECT function_id FROM whole.location_lines WHERE location_id IN l);
    INSERT INTO locations SELECT * FROM whole.locations WHERE id IN l; INSERT INTO location_lines SELECT * FROM whole.location_lines WHERE location_id IN l;
    INSERT INTO sites SELECT * FROM whole.sites WHERE profile_id IN (SELECT id FROM profiles);""")
db.commit()
END
python3 content.py few.db >few.txt && python3 content.py r.db >r.txt && expect_same_file r.txt few.txt 'what both files hold'
[ "$(stat -c %s r.db)" -le $(($(stat -c %s few.db) * 11 / 10)) ] || fail "$(stat -c %s r.db) bytes after gc, $(stat -c %s few.db) of a file that never held more"

# ---- the size of the file ----
cp t.db r.db
whole=$(stat -c %s t.db) none=$(stat -c %s empty.db)
limit=$(((whole + none) / 2)) # half of the runs
"$CLEAR" gc --db r.db --max-size $limit >/dev/null || fail '--max-size'
[ "$(stat -c %s r.db)" -le $limit ] || fail "$(stat -c %s r.db) bytes, more than --max-size $limit"
[ "$(stat -c %s r.db)" -ge $((none + (limit - none) / 2)) ] || fail "$(stat -c %s r.db) bytes: much less than --max-size $limit"
expect_equal "$(sql r.db "SELECT count(*) FROM runs WHERE id IN (7, 9, 100, 125)")" 4 'runs with a label or a pin'
# Nothing but the oldest went: every run that is younger than one that went and could go is there.
expect_equal "$(sql r.db "ATTACH 't.db' AS t; SELECT count(*) FROM t.runs WHERE id NOT IN (SELECT id FROM runs)
    AND started_ns > (SELECT min(started_ns) FROM runs WHERE label IS NULL AND id NOT IN (SELECT run_id FROM pins) AND uuid NOT IN (SELECT run_uuid FROM accepted_changes))")" 0 'younger runs went first'
"$CLEAR" gc --db r.db --max-size 4K | grep -q 'that is more than 4 KiB:' || fail 'a limit that cannot be kept is not named'

# ---- a file that cannot give pages back: written anew once, if there is room ----
cp t.db old.db
sqlite3 old.db 'PRAGMA auto_vacuum = NONE; VACUUM' && expect_equal "$(sql old.db 'PRAGMA auto_vacuum')" 0 'an older file'
"$CLEAR" gc --db old.db --keep 5d >/dev/null || fail 'gc of an older file'
expect_equal "$(sql old.db 'PRAGMA auto_vacuum; PRAGMA freelist_count')" $'2\n0' 'an older file afterwards'
check_db old.db
python3 content.py old.db >old.txt && expect_same_file old.txt few.txt 'rows of an older file'

# On a disk without room for the copy nothing is written anew: gc says how much it needs, the runs are gone, and the file is whole.
kind=()
if unshare --user --map-root-user --mount true 2>/dev/null; then kind=(--user --map-root-user --mount); elif unshare --mount true 2>/dev/null; then kind=(--mount); fi
if [ ${#kind[@]} -gt 0 ]; then
    cp t.db tight.db && sqlite3 tight.db 'PRAGMA auto_vacuum = NONE; VACUUM'
    mkdir small
    # a -wal beside the file has room, a copy has none
    unshare "${kind[@]}" bash -euc "mount -t tmpfs -o size=$(($(stat -c %s tight.db) * 9 / 4)) none small; cp tight.db small/t.db
        head -c \$((\$(df --output=avail -B1 small | tail -1) - $(stat -c %s tight.db) - 200000)) /dev/zero >small/filler
        SQLITE_TMPDIR=\$PWD/small '$CLEAR' gc --db small/t.db --keep 20d >tight.txt; cp small/t.db tight.db" || fail "gc on a full disk: $(cat tight.txt)"
    expect_match "$(cat tight.txt)" 'hold nothing: to write the file anew, which gives them back, needs .* of free disk' 'too little room'
    expect_equal "$(sql tight.db 'PRAGMA auto_vacuum; PRAGMA integrity_check')" $'0\nok' 'the file on a full disk'
    [ "$(sql tight.db 'PRAGMA freelist_count')" -gt 0 ] || fail 'no page became free'
    check_db tight.db
    "$CLEAR" gc --db tight.db --keep 100d >/dev/null && expect_equal "$(sql tight.db 'PRAGMA auto_vacuum; PRAGMA freelist_count')" $'2\n0' 'with room'
fi

# ---- a recording that goes on is not touched, and its names stay ----
cp t.db live.db
"$CLEAR" profile -q --db live.db --interval 50ms --tag kind=live -- "$FIXTURES/progress" count 100000 stop >out.txt 2>err.txt &
recorder=$!
for _ in $(seq 600); do [ "$(sqlite3 -cmd '.timeout 5000' live.db "SELECT count(*) FROM profiles WHERE run_id > 200" 2>/dev/null || echo 0)" -gt 0 ] && break; sleep 0.05; done
"$CLEAR" gc --db live.db --keep 0d --json >live.json || fail 'gc beside a recorder'
"$CLEAR" query --db live.db 'SELECT count(*) FROM runs' >/dev/null || fail 'a reader beside them'
expect_match "$(cat live.json)" '"recording":true' 'names while a run is recorded'
touch stop
wait $recorder || [ $? -eq 9 ] || fail "the recording: $(cat err.txt)"
expect_equal "$(sql live.db "SELECT flags, exit_status FROM runs WHERE id > 200")" '|9' 'the recording'
check_db live.db
"$CLEAR" gc --db live.db --json | grep -q '"recording":false' || fail 'names afterwards'
check_db live.db
"$CLEAR" doctor --db live.db latest >/dev/null || fail 'the recorded run'

# ---- files are read while names are swept: what a reader of files keeps in memory is forgotten ----
cp t.db both.db
files=("$ROOT"/fixtures/corpus/pprof/*)
"$CLEAR" gc --db both.db --keep 0d >/dev/null
for _ in $(seq 12); do "$PLAIN_CLEAR" rm --force --db both.db last=3 >/dev/null 2>&1; "$PLAIN_CLEAR" gc --db both.db --keep 0s >/dev/null 2>&1; done &
sweeper=$!
for _ in 1 2 3; do "$CLEAR" ingest -q --db both.db "${files[@]}" >/dev/null 2>&1; done
wait $sweeper
check_db both.db
expect_equal "$(sql both.db "SELECT count(*) FROM traces, json_each(stack) WHERE value NOT IN (SELECT id FROM locations)")" 0 'frames of swept locations'

# ---- retention ----
cp t.db runs.sqlite
printf 'database: runs.sqlite\nretention:\n  keep: 5d\n  base: tag:branch=main\n  budget: 60s\n' >clear.yaml
"$CLEAR" profile -- true >out.txt 2>err.txt || fail "profile with retention: $(cat err.txt)"
expect_match "$(cat err.txt)" 'retention deleted [0-9]+ older runs' 'what retention did'
expect_equal "$(sql runs.sqlite 'SELECT count(*) FROM runs WHERE id <= 200')" "$(python3 which.py t.db 5 none | wc -w)" 'runs by retention'
cp t.db runs.sqlite
sed -i 's/budget: .*/budget: 0s/' clear.yaml
"$CLEAR" profile -q -- true 2>err.txt || fail 'profile without time for retention'
expect_equal "$(cat err.txt) $(sql runs.sqlite 'SELECT count(*) FROM runs')" ' 201' 'no time'
# It cannot fail the recording: here the file is locked from the moment that the run is stored.
sed -i 's/budget: .*/budget: 300ms/' clear.yaml
cat >lock.py <<'END'
import sqlite3, sys, time
db = sqlite3.connect("runs.sqlite", isolation_level=None, timeout=20)
while db.execute("SELECT count(*) FROM runs WHERE id > 201 AND exit_status IS NOT NULL").fetchone()[0] == 0:
    pass
db.execute("BEGIN IMMEDIATE")
open("locked", "w")
time.sleep(3)
END
python3 lock.py &
locker=$!
"$CLEAR" profile -- sh -c 'exit 7' 2>err.txt
expect_equal $? 7 "status of the program: $(cat err.txt)"
wait $locker
sql runs.sqlite "SELECT exit_status FROM runs WHERE id = 202" | grep -qx 7 || fail 'the run that was stored'
printf 'retention:\n  keep: soon\n' >clear.yaml
expect_match "$("$CLEAR" runs --db t.db 2>&1)" 'clear.yaml:2:9: keep must be a number' 'a wrong rule'
printf 'retention:\n  thin: year\n' >clear.yaml
expect_match "$("$CLEAR" runs --db t.db 2>&1)" 'clear.yaml:2:9: thin must be hour, day, week or month' 'a wrong span'
