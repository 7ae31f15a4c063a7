# clear store, push and pull: runs of every kind go into a store on PostgreSQL and come back, and their exports have the same bytes; what is
# there is not stored again; a store that is not there, damaged, or of another version says so.
# timeout: 400
# With the sanitizers: the first push of everything, its pull, and one push of each other kind; what is done again is done by the optimized build.
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
. "$(dirname "$0")/warehouses.sh"
postgres_start

# ---- a store ----
expect_status 1 "$CLEAR" push --db none.db --to $STORE 2>/dev/null # no such file
make_warehouses
expect_status 1 "$CLEAR" push --db a.db --to $STORE 2>err.txt
expect_match "$(cat err.txt)" 'there is no store: .*clear store init' 'push without a store'
"$CLEAR" store init --db $STORE >init.txt 2>&1 || fail "init: $(cat init.txt)"
"$CLEAR" store init --to $STORE >init.txt 2>&1 || fail "init again: $(cat init.txt)"
expect_match "$(cat init.txt)" 'was there' 'a second init'

# ---- there and back ----
for db in a b c d; do CLEAR=$PLAIN_CLEAR export_directories $db.db before; done
for db in a b c d; do "$CLEAR" push -q --db $db.db --to $STORE --project all 2>err.txt || fail "push of $db.db: $(cat err.txt)"; done
runs=0
for db in a b c d; do runs=$((runs + $(sql $db.db 'SELECT count(*) FROM runs'))); done
expect_equal "$(pg 'SELECT count(*) FROM clear.runs')" $runs 'runs in the store'
"$CLEAR" pull all --from $STORE --project all --db back.db >pull.txt 2>&1 || fail "pull: $(cat pull.txt)"
expect_match "$(cat pull.txt)" "^$runs runs pulled" 'what pull says'
check_db back.db
CLEAR=$PLAIN_CLEAR export_directories back.db after
diff -r before after >diff.txt || fail "exports of what was pulled: $(head -20 diff.txt)"
# From the newest to the oldest, each by itself: names come in another order than they have in the files.
sql back.db 'SELECT uuid FROM runs ORDER BY started_ns DESC' | while read -r uuid; do
    "$PLAIN_CLEAR" pull -q "$uuid" --from $STORE --project all --db turned.db 2>err.txt || fail "pull $uuid: $(cat err.txt)"
done
check_db turned.db
rm -rf after
CLEAR=$PLAIN_CLEAR export_directories turned.db after
diff -r before after >diff.txt || fail "exports of what was pulled run by run: $(head -20 diff.txt)"

# Every table that hangs on a run, as Python reads both files, rows by content and not by id. clear merge is the other way to copy runs.
"$PLAIN_CLEAR" merge -q merged.db a.db b.db c.db d.db 2>err.txt || fail "merge: $(cat err.txt)"
sql merged.db "SELECT DISTINCT m.name FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' AND f.\"table\" IN ('runs', 'profiles', 'processes')
    AND m.name NOT IN ('run_places', 'site_rows') UNION SELECT 'runs' UNION SELECT 'sites' ORDER BY 1" >hanging.txt
[ "$(wc -l <hanging.txt)" -ge 25 ] || fail "few tables hang on runs: $(cat hanging.txt)"
sql merged.db "SELECT 'SELECT ''' || hanging.name || ''', count(*)' || coalesce((SELECT ', ' || group_concat('sum(\"' || name || '\" % 1000003), count(\"' || name || '\"), sum(length(\"' || name || '\"))', ', ')
        FROM pragma_table_info(hanging.name) WHERE name NOT IN ('id', 'mappings', 'profile_id', 'trace_id', 'label_set_id')
            AND name NOT IN (SELECT \"from\" FROM pragma_foreign_key_list(hanging.name))), '') || ' FROM \"' || hanging.name || '\";'
    FROM (SELECT value AS name FROM json_each('[\"$(paste -sd, hanging.txt | sed 's/,/","/g')\"]')) AS hanging ORDER BY 1" >sums.sql
expect_equal "$(wc -l <sums.sql)" "$(wc -l <hanging.txt)" 'tables to sum'
for db in merged back turned; do sqlite3 -batch -noheader $db.db <sums.sql >$db.sums || fail "sums of $db.db"; done
for db in back turned; do expect_same_file $db.sums merged.sums "the tables of $db.db"; done

# ---- again: nothing is stored twice ----
before=$(pg_contents)
pushing=$CLEAR
for db in a b c d merged; do
    "$pushing" push --json --db $db.db --to $STORE --project all >push.json 2>err.txt || fail "second push of $db.db: $(cat err.txt)"
    expect_match "$(cat push.json)" '"pushed":0,"known":[1-9]' "second push of $db.db"
    pushing=$PLAIN_CLEAR
done
expect_equal "$(pg_contents)" "$before" 'the store after a second push'
"$CLEAR" pull --json all --from $STORE --project all --db back.db >pull.json || fail 'second pull'
expect_match "$(cat pull.json)" "\"pulled\":0,\"known\":$runs" 'second pull'
# Two projects have nothing in common.
"$PLAIN_CLEAR" push -q --db a.db --to $STORE --project other 2>err.txt || fail "push to another project: $(cat err.txt)"
expect_equal "$(pg "SELECT count(*) FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'other'")" "$(sql a.db 'SELECT count(*) FROM runs')" 'runs of another project'
"$CLEAR" store status --json --db $STORE >status.json || fail status
python3 - $runs <<'PY' || fail 'clear store status --json'
import json, sys
status = json.load(open('status.json'))
assert {p['name']: p['runs'] for p in status['projects']}['all'] == int(sys.argv[1]), status['projects']
assert {'runs', 'sites', 'traces'} <= {t['name'] for t in status['tables']} and status['bytes'] > 100000
PY

# ---- what the file's views said ----
# All of what is serious, the first ten of other codes, and how many there are; figures, of functions the first five.
for db in a b many; do
    if [ $db = many ]; then # a code with more findings than the store keeps
        cp a.db many.db
        sql many.db "UPDATE runs SET uuid = substr(uuid, 1, 35) || iif(substr(uuid, 36) = '0', '1', '0'), content_hash = NULL;
            UPDATE rules SET value = 0 WHERE name LIKE 'heap%percent' OR name LIKE '%bytes'"
        "$PLAIN_CLEAR" push -q --db many.db --to $STORE --project more 2>err.txt || fail "push of many findings: $(cat err.txt)"
    fi
    python3 - $db.db >want.txt <<'PY' || fail "reading $db.db"
import sqlite3, sys
db, seen = sqlite3.connect(sys.argv[1]), {}
for uuid, *finding in db.execute('SELECT uuid, section, code, severity, subject, evidence FROM doctor JOIN runs ON runs.id = run_id').fetchall():
    key = (uuid, *finding[:3])
    seen[key] = seen.get(key, 0) + 1
    if seen[key] <= (100 if finding[2] in ('critical', 'warning') else 10): print('finding', uuid, *finding, sep='|')
for key, count in seen.items(): print('count', *key, count, sep='|')
for run, uuid in db.execute('SELECT id, uuid FROM runs').fetchall():
    figures = db.execute('SELECT figure, subject, scope, CAST(value AS INTEGER) FROM series WHERE run_id = ?', (run,)).fetchall()
    for figure in {f[0] for f in figures}:
        functions = sorted((-f[3], f[1]) for f in figures if f[0] == figure and f[2] == 'function')[:5]
        if figure in ('alloc_count', 'alloc_bytes', 'inuse_bytes', 'io_bytes', 'cpu_ns'):
            for value, subject in functions:
                if value: print('figure', uuid, figure, subject, -value, sep='|')
    for f in figures:
        if f[2] in ('run', 'lock'): print('figure', uuid, f[0], f[1], f[3], sep='|')
PY
    sort -o want.txt want.txt
    pg "SELECT 'finding', run, section, code, severity, subject, evidence FROM clear.findings JOIN clear.projects USING (project) WHERE name IN ('all', 'more')
        UNION ALL SELECT 'count', run, section, code, severity, count::text, NULL FROM clear.finding_counts JOIN clear.projects USING (project) WHERE name IN ('all', 'more')
        UNION ALL SELECT 'figure', run, figure, subject, value::bigint::text, NULL, NULL FROM clear.figures JOIN clear.projects USING (project) WHERE name IN ('all', 'more')" |
        sed -E '/^(count|figure)/s/[|]+$//' | sort >all.txt
    [ "$(wc -l <want.txt)" -gt 50 ] && [ -z "$(comm -23 want.txt all.txt)" ] || fail "what the views of $db.db say: $(comm -23 want.txt all.txt | head -3)"
done
expect_equal "$(pg "SELECT count(*) FROM (SELECT project, month, run, section, code, severity FROM clear.findings GROUP BY 1, 2, 3, 4, 5, 6
    HAVING count(*) > CASE WHEN severity IN ('critical', 'warning') THEN 100 ELSE 10 END) AS more")" 0 'codes with more findings than the store keeps'

# ---- which runs ----
pulled() { # pulled SET: how many runs that is
    rm -f set.db
    "$PLAIN_CLEAR" pull --json "$1" --from $STORE --project all --db set.db 2>err.txt | sed 's/.*"pulled":\([0-9]*\).*/\1/'
}
expect_equal "$(pulled last=3)" 3 last=3
expect_equal "$(pulled latest)" 1 latest
expect_equal "$(pulled all:nightly)" 1 'a label'
expect_equal "$(pulled tag:branch=main,last=1)" 1 'a tag'
oldest=$(sql a.db 'SELECT uuid FROM runs ORDER BY started_ns LIMIT 1')
expect_equal "$(pulled "${oldest:0:8},latest,latest")" 2 'the beginning of a uuid, and a run that is named twice'
expect_status 2 "$CLEAR" pull nothing --from $STORE --project all --db set.db 2>err.txt
expect_match "$(cat err.txt)" "no run is 'nothing'" 'a set without runs'

# ---- a store that was tampered with ----
pg "UPDATE clear.functions SET name = name || 'x' WHERE key = (SELECT min(key) FROM clear.functions WHERE name = 'main')" || fail update
rm -f hurt.db
expect_status 1 "$CLEAR" pull all --from $STORE --project all --db hurt.db 2>err.txt
expect_match "$(cat err.txt)" 'is damaged: function' 'a changed name'
check_db hurt.db
pg "UPDATE clear.functions SET name = left(name, -1) WHERE name = 'mainx'" || fail update
# Another definition under the key of a name that is pushed.
"$PLAIN_CLEAR" push -q latest --db a.db --to $STORE --project clash || fail push
pg "ALTER TABLE clear.traces DISABLE TRIGGER own_key; INSERT INTO clear.traces(project, key, \"check\", locations) SELECT clash.project, key, \"check\" # 1, locations FROM clear.projects AS clash, clear.traces
    JOIN clear.projects USING (project) WHERE projects.name = 'all' AND clash.name = 'clash' ON CONFLICT DO NOTHING;
    ALTER TABLE clear.traces ENABLE TRIGGER own_key" || fail clash
before=$(pg_contents)
expect_status 1 "$CLEAR" push latest --db b.db --to $STORE --project clash 2>err.txt
expect_match "$(cat err.txt)" 'another stack under the key' 'a clash of keys'
expect_equal "$(pg_contents)" "$before" 'the store after a clash'

# ---- versions ----
pg "UPDATE clear.meta SET value = '99999999'" || fail update
expect_status 1 "$CLEAR" push --db a.db --to $STORE 2>err.txt
expect_match "$(cat err.txt)" 'newer clear' 'a newer store'
pg "UPDATE clear.meta SET value = '3001'; DROP SCHEMA clear_views CASCADE; ALTER TABLE clear.run_names DROP COLUMN number; DROP SEQUENCE clear.run_number;
    ALTER TABLE clear.traces DROP COLUMN signature, DROP COLUMN shown_location, DROP COLUMN shown_function, DROP COLUMN shown_line" || fail 'an older store'
totals="SELECT * FROM clear.run_totals ORDER BY project, run" # an older one made them of figures
pg "$totals" >totals.txt
pg "ALTER TABLE clear.cpu DROP COLUMN cpu_ns; DROP TABLE clear.syscalls, clear.run_totals CASCADE" || fail update
expect_status 1 "$CLEAR" push --db a.db --to $STORE 2>err.txt
expect_match "$(cat err.txt)" 'clear store upgrade' 'an older store'
"$CLEAR" store upgrade --db $STORE >upgrade.txt || fail upgrade
[ -s totals.txt ] && pg "$totals" | diff totals.txt - >diff.txt || fail "the totals of an older store: $(head -4 diff.txt)"
"$PLAIN_CLEAR" push -q --db a.db --to $STORE --project new 2>err.txt || fail "push after an upgrade: $(cat err.txt)"

# ---- addresses ----
expect_status 2 "$CLEAR" push --db a.db --to 'postgresql://clear:s3cret@/profiles' 2>err.txt
expect_status 2 "$CLEAR" push --db a.db --to 'postgresql:///profiles?password=s3cret' 2>>err.txt
expect_status 2 "$CLEAR" push --db a.db --to 'postgresql://clear:s3%zzcret@/profiles' 2>>err.txt
expect_status 2 "$CLEAR" push --db a.db --to 'http://host/' 2>>err.txt
! grep -q 's3' err.txt || fail "a password in a message: $(cat err.txt)"
expect_match "$(cat err.txt)" 'pgpass' 'a password in an address'
expect_status 1 "$CLEAR" push --db a.db --to "postgresql:///none?host=$PG" 2>err.txt
expect_match "$(cat err.txt)" 'none' 'a database that is not there'
postgres_stop
expect_status 1 "$CLEAR" push --db a.db --to $STORE 2>err.txt
[ "$(wc -l <err.txt)" = 1 ] || fail "more than a line: $(cat err.txt)"
