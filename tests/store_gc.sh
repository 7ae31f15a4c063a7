# clear store gc: drops the months that are old, keeps runs with a label or a pin and the newest of each command, deletes names that no run
# uses and no others; gives back the space of months of which runs stay; a dry run changes nothing; what stays comes back with the same bytes; pushes
# go on meanwhile.
# timeout: 400
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
. "$(dirname "$0")/warehouses.sh"
postgres_start
"$PLAIN_CLEAR" store init --db $STORE >/dev/null || fail init
make_warehouses
"$PLAIN_CLEAR" merge -q all.db a.db b.db c.db d.db 2>err.txt || fail "merge: $(cat err.txt)"
# Sixteen runs tell the same as all: some of each file, more than there are months.
"$PLAIN_CLEAR" rm --force --db all.db "9..$(sql all.db 'SELECT max(id) - 8 FROM runs')" >/dev/null 2>err.txt || fail "rm: $(cat err.txt)"
# Months from 13 ago to this one, one run each; labels and pins as the tests below name them.
sql all.db "DELETE FROM pins; UPDATE runs SET label = NULL, command = 'old', flags = '';
    UPDATE runs SET started_ns = CAST(strftime('%s', 'now', 'start of month', '-' || (13 - (SELECT count(*) FROM runs AS b WHERE b.id < runs.id) % 14) || ' months') AS INTEGER) * 1000000000 + id;
    UPDATE runs SET label = 'kept' WHERE id = (SELECT min(id) FROM runs);
    INSERT INTO pins(run_id, pinned_ns) SELECT min(id) + 1, 0 FROM runs;
    UPDATE runs SET command = 'alone' WHERE id = (SELECT min(id) + 2 FROM runs)"
[ "$(sql all.db 'SELECT count(*) FROM runs')" -ge 14 ] || fail 'few runs'
"$PLAIN_CLEAR" push -q --db all.db --to $STORE --project all 2>err.txt || fail "push: $(cat err.txt)"

# ---- a dry run, against what Python makes of the file ----
cat >want.py <<'PY'
import datetime, sqlite3, time
db = sqlite3.connect('all.db')
oldest = datetime.datetime.fromtimestamp(time.time() - 200 * 86400, datetime.timezone.utc)
first = datetime.datetime(oldest.year, oldest.month, 1, tzinfo=datetime.timezone.utc).timestamp() * 1e9
newest = {}
for id, command in db.execute('SELECT id, command FROM runs ORDER BY started_ns, uuid'): newest[command] = id
for id, uuid, started, label in db.execute('SELECT id, uuid, started_ns, label FROM runs ORDER BY uuid').fetchall():
    pinned = db.execute('SELECT count(*) FROM pins WHERE run_id = ?', (id,)).fetchone()[0]
    if started >= first or label or pinned or id in newest.values(): print(uuid)
PY
python3 want.py >want.txt || fail want.py
before=$(pg_contents) all=$(sql all.db 'SELECT count(*) FROM runs')
deleted=$((all - $(wc -l <want.txt)))
[ "$deleted" -ge 3 ] || fail "few runs to delete: $deleted of $all"
"$CLEAR" store gc --keep 200d --dry-run --json --db $STORE >trial.json 2>err.txt || fail "dry run: $(cat err.txt)"
expect_match "$(cat trial.json)" "\"runs\":$deleted," 'runs that would be deleted'
"$PLAIN_CLEAR" store gc --keep 200d -n --db $STORE >trial.txt || fail 'dry run'
expect_match "$(cat trial.txt)" 'would delete' 'a dry run'
expect_equal "$(pg_contents)" "$before" 'the store after a dry run'

# ---- of one project ----
expect_status 2 "$CLEAR" store gc --keep 200d --dry-run --project nosuch --db $STORE 2>err.txt
expect_match "$(cat err.txt)" "has no project 'nosuch'" 'a project that is not there'
"$PLAIN_CLEAR" push -q --db all.db --to $STORE --project twin || fail push
"$PLAIN_CLEAR" store gc --keep 200d --dry-run --json --project twin --db $STORE >trial.json || fail 'dry run of a project'
expect_match "$(cat trial.json)" "\"runs\":$deleted," 'runs of one project that would be deleted'
"$CLEAR" store gc --keep 200d --json --project twin --db $STORE >trial.json || fail 'gc of a project'
expect_equal "$(pg "SELECT count(*) FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'all'")" "$all" 'runs of the other project'
expect_equal "$(pg "SELECT run FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'twin' ORDER BY 1")" "$(cat want.txt)" 'runs of the project that stay'
"$PLAIN_CLEAR" rm --force all --project twin --db $STORE >/dev/null || fail 'rm of a project'

# ---- the space of a month of which runs stay, also where a reader held it at first ----
"$PLAIN_CLEAR" push -q --db all.db --to $STORE --project space || fail push
of_month=$(pg "SELECT max(month) FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'space' AND label IS NULL AND command = 'old'
    AND month IN (SELECT month FROM clear.runs WHERE label = 'kept')")
part=clear.sites_$(tr -d - <<<"${of_month%-*}")
pg "INSERT INTO clear.sites(project, month, run, place) SELECT project, month, run, generate_series(1000, 60000)
    FROM (SELECT * FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'space' AND month = '$of_month' AND label IS NULL AND command = 'old' LIMIT 1) AS one" || fail 'rows of a month'
size_of() { pg "SELECT pg_total_relation_size('$part') / 1000000"; }
[ "$(size_of)" -ge 4 ] || fail "the month takes $(size_of) MB"
psql -Xq -c BEGIN -c "SELECT count(*) FROM $part WHERE place < 0" -c 'SELECT pg_sleep(300)' >held.txt 2>&1 &
wait_for 'a reader of the month' test -s held.txt
"$CLEAR" store gc --keep 200d --project space --json --db $STORE >held.json 2>err.txt || fail "gc beside a reader: $(cat err.txt)"
expect_match "$(cat held.json)" '"later":1,' 'a month that is read'
[ "$(size_of)" -ge 4 ] || fail 'a month was rewritten under its reader'
pg "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(300)%' AND pid <> pg_backend_pid()" >/dev/null
"$CLEAR" store gc --project space --db $STORE >after.txt 2>err.txt || fail "gc after a reader: $(cat err.txt)"
expect_match "$(cat after.txt)" "${of_month%-*} .* MiB .*KiB" 'what the month took and takes'
expect_equal "$(size_of)" 0 'what the month takes [MB]'
expect_equal "$(pg "SELECT run FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'space' ORDER BY 1")" "$(cat want.txt)" 'runs that stay beside it'
"$PLAIN_CLEAR" rm --force all --project space --db $STORE >/dev/null || fail 'rm of a project'

# ---- done, while others push ----
for i in 1 2 3; do "$PLAIN_CLEAR" push -q --db a.db --to $STORE --project other$i 2>push.$i & done
"$CLEAR" store gc --keep 200d --json --db $STORE >done.json 2>err.txt || fail "gc: $(cat err.txt)"
wait
for i in 1 2 3; do
    [ ! -s push.$i ] || grep -q 'push again' push.$i || fail "push beside gc: $(cat push.$i)"
    "$PLAIN_CLEAR" push -q --db a.db --to $STORE --project other$i 2>err.txt || fail "push after gc: $(cat err.txt)"
done
expect_match "$(cat done.json)" "\"runs\":$deleted,.*\"done\":true" 'what gc says'
expect_equal "$(pg "SELECT run FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'all' ORDER BY 1")" "$(cat want.txt)" 'runs that stay'
oldest=$(pg "SELECT to_char(month, 'YYYYMM') FROM clear.runs WHERE label = 'kept'")
expect_equal "$(pg "SELECT to_regclass('clear.sites_$oldest') IS NOT NULL")" t 'the partition with a run that stays'
dropped=$(python3 -c "import json; print(min(m['month'] for m in json.load(open('done.json'))['months'] if not m['kept']).replace('-', ''))")
expect_equal "$(pg "SELECT to_regclass('clear.sites_$dropped') IS NULL AND to_regclass('clear.site_facts_$dropped') IS NULL")" t 'partitions of a month without runs'

# ---- names: all that is used is there, nothing else ----
rm -rf before after
"$PLAIN_CLEAR" pull -q all --from $STORE --project all --db back.db 2>err.txt || fail "pull: $(cat err.txt)"
check_db back.db
"$PLAIN_CLEAR" rm --force --db all.db "$(sql all.db "ATTACH 'back.db' AS back; SELECT group_concat(uuid) FROM runs WHERE uuid NOT IN (SELECT uuid FROM back.runs)")" >/dev/null 2>err.txt ||
    fail "rm: $(cat err.txt)"
CLEAR=$PLAIN_CLEAR export_directories all.db before
CLEAR=$PLAIN_CLEAR export_directories back.db after
diff -r before after >diff.txt || fail "exports of what stayed: $(head -20 diff.txt)"
"$CLEAR" store gc --json --db $STORE >again.json || fail 'gc again'
expect_match "$(cat again.json)" '"runs":0,"names":0,' 'a second gc'
# A store into which only these were pushed has as many.
"$PLAIN_CLEAR" push -q --db back.db --to $STORE --project alone 2>err.txt || fail "push: $(cat err.txt)"
for table in functions locations mappings traces label_sets objects source_texts subjects; do
    expect_equal "$(pg "SELECT count(*), sum(key) FROM clear.$table JOIN clear.projects USING (project) WHERE projects.name = 'all'")" \
        "$(pg "SELECT count(*), sum(key) FROM clear.$table JOIN clear.projects USING (project) WHERE projects.name = 'alone'")" "$table after gc"
done
# A month that was dropped can be pushed to again.
"$PLAIN_CLEAR" push --json --db d.db --to $STORE --project all >/dev/null 2>err.txt || fail "push to a dropped month: $(cat err.txt)"

# ---- who may, and what is refused ----
"$PLAIN_CLEAR" store grant --db $STORE >/dev/null || fail grant
pg 'CREATE ROLE ci LOGIN IN ROLE clear_push' || fail role
PGUSER=ci expect_status 1 "$CLEAR" store gc --keep 1d --db $STORE 2>err.txt
expect_match "$(cat err.txt)" 'permission denied' 'gc by clear_push'
expect_status 2 "$CLEAR" store status --project all --db $STORE 2>err.txt
expect_match "$(cat err.txt)" 'store status has no option --project' 'an option of another word'
CLEAR_DB=$STORE "$CLEAR" store findings --project all >/dev/null 2>err.txt || fail "findings by CLEAR_DB: $(cat err.txt)"
expect_status 2 "$CLEAR" store gc --keep soon --db $STORE 2>err.txt
exit 0
