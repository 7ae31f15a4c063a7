# Facts of a run are made when it ends, and again when its rows, their definition or a part of the run is looked at.
# quick
. "$(dirname "$0")/lib.sh"

record=("$CLEAR" profile -q --db t.db --interval 30ms -- "$FIXTURES/channels")
"${record[@]}" >/dev/null 2>err.txt || fail "recording: $(cat err.txt)"
facts() { sql t.db "SELECT object_id, channel, pushes, pops, push_blocked, pop_blocked, max_depth FROM channel_facts WHERE run_id = 1 ORDER BY 1, 2"; }
expect_equal "$(facts)" "$(sql t.db "SELECT object_id, iif(identity GLOB 'name:*', 0, channel), sum(pushes), sum(pops), sum(push_blocked), sum(pop_blocked), max(max_depth)
    FROM channels JOIN profiles ON profiles.id = profile_id JOIN objects ON objects.id = object_id GROUP BY 1, 2 ORDER BY 1, 2")" 'the sums of all windows'
[ -n "$(facts)" ] || fail 'the run has no channels'
expect_equal "$(sql t.db 'SELECT count(*) FROM seals')" 1 'the run is sealed'
check_db t.db

# A change by another program breaks the seal; the next clear makes it anew. Thresholds are no part of facts.
sql t.db "UPDATE channels SET pushes = pushes + 1000000 WHERE profile_id = (SELECT min(profile_id) FROM channels)"
expect_equal "$(sql t.db 'SELECT count(*) FROM seals')" 0 'a changed run'
"$CLEAR" runs --db t.db >/dev/null || fail 'clear runs'
expect_equal "$(sql t.db 'SELECT count(*) FROM seals')" 1 'the seal after that'
[ "$(sql t.db 'SELECT max(pushes) FROM channel_facts')" -ge 1000000 ] || fail 'the facts are the old ones'
before=$(sql t.db "SELECT count(*) FROM doctor_channel WHERE code = 'balanced'")
[ "$before" -gt 0 ] || fail 'no channel is balanced'
sql t.db "UPDATE rules SET value = 0 WHERE name = 'channel_blocked_percent'"
expect_equal "$(sql t.db "SELECT count(*) FROM doctor_channel WHERE code = 'balanced'")" 0 'a changed threshold holds at the next SELECT'
sql t.db 'UPDATE profiles SET kind = kind WHERE id = 1'
"$CLEAR" runs --db t.db >/dev/null || fail 'clear runs'
expect_equal "$(sql t.db "SELECT count(*) FROM seals; SELECT value FROM rules WHERE name = 'channel_blocked_percent'")" $'1\n0.0' 'a threshold of the user, after the run was sealed again'

# So does each row of a table that facts are made of, added, changed or deleted.
cat >change.py <<'EOF'
import re, sqlite3, sys
db = sqlite3.connect("t.db")
made_of = set(re.findall(r"\b(?:FROM|JOIN) (\w+)\b", "".join(open(path, encoding="utf-8").read() for path in sys.argv[1:])))
for table, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").fetchall():
    columns = db.execute(f"SELECT name, type FROM pragma_table_info('{table}')").fetchall()
    owner = next((name for name, _ in columns if name in ("profile_id", "process_id")), None)
    if not owner or table not in made_of or table.endswith("_facts") or table == "profiles": continue
    key, = db.execute(f"SELECT id FROM {owner[:-3].replace('profile', 'profiles').replace('process', 'processes')} WHERE run_id = 1").fetchone()
    values = [key if name == owner else "x" if kind == "TEXT" else 12345 for name, kind in columns]
    changes = [(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values), (f"UPDATE {table} SET {owner} = {owner} WHERE {owner} = ?", [key]),
               (f"DELETE FROM {table} WHERE {owner} = ?", [key])]
    for change, arguments in changes:
        db.execute("INSERT OR REPLACE INTO seals VALUES (1, 1)")
        try: db.execute(change, arguments)
        except sqlite3.IntegrityError as error: print(change, error)
        if db.execute("SELECT count(*) FROM seals WHERE run_id = 1").fetchone()[0]: print(change, "leaves the seal")
    db.rollback()
    print(table)
EOF
expect_equal "$(python3 change.py "$ROOT"/schema/facts/*.sql "$ROOT"/schema/event_facts/*.sql | tr '\n' ' ')" \
    'cells channels counters cpu events fibers heap_peaks io leaks locks maps samples schedulers site_details site_rows spin_loops spins syscalls task_sites thread_delays thread_starts ' \
    'tables that facts are made of'

# A run is sealed by its own rows: no statement goes through a table of the file, which has those of all runs, from one end to the other.
cat >scans.py <<'EOF'
import re, sqlite3, sys
db = sqlite3.connect("t.db")
for name, count in (("first_step", 2), ("step_at", 2), ("locations_met", 1)): db.create_function(name, count, print) # schema/stack_steps.h; plans call none
small = {"wrappers", "rules", "advice", "meta"} # not rows of runs
tables = {name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")} - small
def scanned(statement):
    names = re.findall(r":(\w+)", re.sub(r"'[^']*'", "", statement))
    steps = [step for *_, step in db.execute("EXPLAIN QUERY PLAN " + statement, dict.fromkeys(names, 1))]
    return [step for step in steps if (name := re.match(r"SCAN (\w+)", step)) and name[1] in tables and f"{name[1]} AS (" not in statement]
texts = [(path, open(path, encoding="utf-8").read().partition("\n-- Fill\n")[2].split(";\n")) for path in sys.argv[1:]]
for path, statements in texts:
    for statement in statements:
        if "CREATE " in statement: db.execute(statement)
asked = 0
for path, statements in texts:
    for statement in statements:
        select = statement[statement.index("SELECT"):] if "-- Summed in memory" in statement else re.sub(r"--.*", "", statement)
        if "CREATE " in select or not select.strip(): continue
        for step in scanned(select): print(path, step)
        asked += 1
print(asked > 50)
# Nor do views that are asked for one run, but for those that say so, and what clear says of a run and its findings.
views = [name for name, in db.execute("SELECT m.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c WHERE m.type = 'view' AND c.name = 'run_id'")]
for view in views:
    for step in scanned(f"SELECT * FROM {view} WHERE run_id = :run") if view not in ("run_order", "wait_chains") else (): print(view, step)
print(len(views) > 50)
asked = 0
for name in ("report/finding_words", "report/head", "report/overview", "report/own_frame", "report/own_line", "report/stack", "report/why", "report/verdict",
             "report/holder", "api/resource_objects", "ingest/transpiled_path"):
    text = open(f"{sys.argv[1].partition('/facts/')[0]}/{name}.sql", encoding="utf-8").read()
    for statement in [re.sub(r"--.*", "", part) for part in re.split(r"^-- @.*", text, flags=re.M)]:
        if not statement.strip(): continue
        asked += 1
        for step in scanned(statement.replace("main.runs", "runs")):
            if not step.startswith("SCAN runs"): print(name, step) # a row each, and no more
print(asked > 30)
# What profiles say of themselves is asked for each process of a run: a build has thousands, and each is not to go through the profiles of all.
heads = re.sub(r"--.*", "", open(f"{sys.argv[1].partition('/facts/')[0]}/export/profiles.sql", encoding="utf-8").read())
plan = [step for *_, step in db.execute("EXPLAIN QUERY PLAN " + heads, dict.fromkeys(re.findall(r":(\w+)", heads), 1)) if " one " in step]
print(len(plan) == 4 and all("profiles_process" in step or "PRIMARY KEY" in step for step in plan) or plan)
EOF
expect_equal "$(python3 scans.py "$ROOT"/schema/facts/*.sql | tr '\n' ' ')" 'True True True True ' 'statements that scan a table of all runs'

# Without a trigger by hand.
sql t.db 'DROP TRIGGER seals_channels_delete; DELETE FROM channels'
expect_match "$("$CLEAR" reseal --db t.db 1)" '^run 1: sealed again$' 'clear reseal of a run'
expect_equal "$(facts)" '' 'facts without rows'
expect_match "$("$CLEAR" reseal --db t.db)" 'sealed again' 'clear reseal of all'

# Of another definition, such as an older clear's: all runs are sealed anew; what a user made stays.
"${record[@]}" >/dev/null 2>err.txt || fail "recording: $(cat err.txt)"
want=$(sql t.db 'SELECT * FROM channel_facts')
sql t.db "UPDATE meta SET value = 'other' WHERE key = 'facts_hash'; UPDATE meta SET value = json_insert(value, '\$[#]', 'former_facts') WHERE key = 'own_facts';
    DROP TABLE channel_facts; CREATE TABLE channel_facts(run_id INTEGER) STRICT; CREATE TABLE former_facts(run_id INTEGER) STRICT;
    CREATE TABLE my_facts(x); UPDATE seals SET definition = 7"
"$CLEAR" runs --db t.db >/dev/null || fail 'another definition'
expect_equal "$(sql t.db 'SELECT * FROM channel_facts')" "$want" 'facts of another definition'
expect_equal "$(sql t.db "SELECT group_concat(name) FROM sqlite_schema WHERE name IN ('former_facts', 'my_facts')")" my_facts 'tables that are not clear'"'"'s'
check_db t.db

# In a file that cannot be written they are made for whoever reads it.
sql t.db 'DELETE FROM seals; DELETE FROM channel_facts'
mkdir still && cp t.db still/ && chmod 444 still/t.db && chmod 555 still
if [ "$(id -u)" = 0 ]; then reader=(setpriv --reuid=65534 --regid=65534 --clear-groups --); chmod 755 . ; else reader=(); fi
chmod o+rx "$TMP" 2>/dev/null
if (cd still && "${reader[@]}" "$CLEAR" runs --db t.db >/dev/null 2>&1); then
    expect_equal "$(cd still && "${reader[@]}" "$CLEAR" query --db t.db --format csv 'SELECT count(*) FROM doctor_channel WHERE run_id = 2' | tail -1)" \
        "$(wc -l <<<"$want")" 'findings of a file that cannot be written'
fi
chmod 755 still

# A part of a run is judged by what happened in it.
"$CLEAR" runs --db t.db >/dev/null
whole=$(sql t.db 'SELECT sum(pushes) FROM channel_facts WHERE run_id = 2')
# Windows are counted by the kind that has most of them: that is another one where the program's channels come late.
most="(SELECT kind FROM profiles WHERE run_id = 2 GROUP BY kind ORDER BY count(DISTINCT time_ns) DESC, kind LIMIT 1)"
IFS='|' read -r number after until <<<"$(sql t.db "SELECT number, (SELECT coalesce(max(time_ns), 0) FROM windows AS earlier WHERE run_id = 2 AND kind = $most AND earlier.time_ns < windows.time_ns), time_ns
    FROM windows WHERE run_id = 2 AND kind = $most AND time_ns >= (SELECT min(time_ns) FROM profiles WHERE run_id = 2 AND kind = 'channels') ORDER BY 1 LIMIT 1")"
part=$("$CLEAR" doctor --db t.db 2 --json --window "$number" | python3 -c 'import json, sys; print(sum(f["evidence"]["pushes"] for f in json.load(sys.stdin) if f["section"] == "channel"))')
[ "$part" -gt 0 ] || fail "no pushes in window $number"
expect_equal "$part" "$(sql t.db "SELECT coalesce(sum(pushes), 0) FROM channels JOIN profiles ON profiles.id = profile_id
    WHERE run_id = 2 AND time_ns > $after AND time_ns <= $until")" "pushes of window $number of $whole"
expect_match "$("$CLEAR" doctor --db t.db 2 --window "$number")" "only window $number of " 'the head of a part'
"$CLEAR" doctor --db t.db 2 --window 9999 2>err.txt && fail 'a window that is not there'
expect_match "$(cat err.txt)" 'window' 'a window that is not there'

# Of an ingested profile a site has a row of facts where it has several of its own, by its labels; the totals have all.
"$CLEAR" ingest -q --db several.db "$ROOT/fixtures/corpus/dumps/ledger.profile" || fail "ingest: $?"
total() { sql several.db "SELECT sum(alloc_count), sum(alloc_bytes) - sum(free_bytes) FROM sites JOIN profiles ON profiles.id = profile_id WHERE kind = 'heap'"; }
in_facts() { sql several.db 'SELECT alloc_count, inuse_bytes FROM heap_facts'; }
expect_equal "$(in_facts) $(sql several.db 'SELECT count(*) FROM site_facts')" "$(total) 0" 'sites with a row each'
sqlite3 several.db "INSERT INTO label_sets(id, labels) VALUES (1000, '[[\"key\",\"text\"]]');
    INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes)
    SELECT profile_id, trace_id, 1000, 7, 700, 0, 0 FROM sites WHERE alloc_count > free_count ORDER BY trace_id LIMIT 1" || fail 'a row with a label'
"$CLEAR" reseal --db several.db >/dev/null || fail 'clear reseal'
expect_equal "$(in_facts)" "$(total)" 'the totals with a label'
expect_equal "$(sql several.db 'SELECT trace_id, alloc_count, alloc_bytes, free_count, free_bytes FROM site_facts')" \
    "$(sql several.db 'SELECT trace_id, sum(alloc_count), sum(alloc_bytes), sum(free_count), sum(free_bytes) FROM sites GROUP BY trace_id HAVING count(*) > 1')" 'the site with two rows'
expect_equal "$(sql several.db 'SELECT count(*) FROM site_facts')" 1 'sites with facts'

# Of many short processes the stacks that freed all they allocated in each are summed without a row a process. What is told of the others, of functions
# and of the run is the same as when all rows are read.
"$CLEAR" profile -q --no-files --db short.db -- sh -c 'for i in $(seq 40); do ls -l /etc >/dev/null; grep -c root /etc/passwd; done' >/dev/null 2>err.txt || fail "a build: $(cat err.txt)"
expect_equal "$(sql short.db "SELECT (SELECT count(*) FROM processes) > 80, count(*) > 0 FROM site_facts")" '1|1' 'processes, and sites with facts'
expect_equal "$(sql short.db 'SELECT trace_id, alloc_count, alloc_bytes, free_count, free_bytes, coalesce(process_inuse_count, alloc_count - free_count) FROM site_facts ORDER BY 1')" \
    "$(sql short.db 'SELECT trace_id, sum(allocs), sum(bytes), sum(frees), sum(freed), max(allocs - frees)
        FROM (SELECT trace_id, sum(alloc_count) AS allocs, sum(alloc_bytes) AS bytes, sum(free_count) AS frees, sum(free_bytes) AS freed
              FROM sites JOIN profiles ON profiles.id = profile_id GROUP BY trace_id, process_id)
        WHERE trace_id IN (SELECT trace_id FROM site_facts) GROUP BY trace_id ORDER BY 1')" \
    'sites of short processes'
expect_equal "$(sql short.db 'SELECT trace_id FROM sites GROUP BY trace_id HAVING sum(alloc_count) > sum(free_count) AND count(*) > 1 EXCEPT SELECT trace_id FROM site_facts')" '' \
    'sites that several processes left blocks of'
expect_equal "$(sql short.db 'SELECT alloc_count, inuse_bytes FROM heap_facts; SELECT sum(alloc_count), sum(inuse_bytes) FROM function_facts')" \
    "$(sql short.db 'SELECT sum(alloc_count), sum(alloc_bytes) - sum(free_bytes) FROM sites UNION ALL SELECT sum(alloc_count), sum(alloc_bytes) - sum(free_bytes) FROM sites')" 'the totals of short processes'

# A store keeps the columns that it was made with until `clear store upgrade`, which clear asks for where TEAM_VERSION (ingest/team/team.h) is another one. So
# with other columns of facts goes another version: add one to it, and write both here.
columns=$(sql t.db "SELECT tables.name, columns.name, columns.type FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND (tables.name GLOB '*_facts' OR tables.name = 'figures') ORDER BY 1, columns.cid" | cksum | cut -d ' ' -f 1)
version=$(sed -n 's/.*TEAM_VERSION = \([0-9]*\).*/\1/p' "$ROOT/ingest/team/team.h")
expect_equal "$version $columns" '8 1996520446' 'the version of the store, and the columns of facts'
