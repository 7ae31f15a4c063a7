# What a team's store promises when something goes wrong: a kill in the middle leaves no half run and to push again completes it; many who push
# the same runs store each once, without a deadlock; texts that look like SQL or are no UTF-8 come back as they were; roles.
# timeout: 400
# The sanitizers look on where hard texts come and go, at a push among others, and at one who may not; the kills and the server's rights are no matter of theirs.
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
postgres_start

ingest_corpus
"$PLAIN_CLEAR" store init --db $STORE >/dev/null || fail init

# ---- killed ----
halves="SELECT count(*) FROM clear.run_names AS n FULL JOIN clear.runs AS r USING (project, month, run) WHERE n.run IS NULL OR r.run IS NULL"
run_count() { pg "SELECT count(*) FROM clear.runs JOIN clear.projects USING (project) WHERE name = '$1'"; }
has_runs() { [ "$(run_count killed)" -ge "$1" ]; }
for wanted in 1 2 4 7; do # killed somewhere behind that run
    "$PLAIN_CLEAR" push -q --db c.db --to $STORE --project killed 2>/dev/null &
    wait_for "run $wanted in the store" has_runs $wanted
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    expect_equal "$(pg "$halves")" 0 'half runs after a kill'
done
"$PLAIN_CLEAR" push -q --db c.db --to $STORE --project killed 2>err.txt || fail "push after kills: $(cat err.txt)"
expect_equal "$(run_count killed)" "$runs" 'runs after kills'
# A server that dies: those runs that were committed are there.
"$PLAIN_CLEAR" push -q --db c.db --to $STORE --project crash 2>err.txt &
wait_for 'a run in the store' sh -c "[ \"\$(psql -XqAt -c \"SELECT count(*) FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'crash'\" 2>/dev/null)\" -ge 1 ]"
postgres_stop immediate
wait $!
postgres_run
expect_equal "$(pg "$halves")" 0 'half runs after a crash of the server'
"$PLAIN_CLEAR" push -q --db c.db --to $STORE --project crash 2>err.txt || fail "push after a crash: $(cat err.txt)"
expect_equal "$(run_count crash)" "$runs" 'runs after a crash'

# A column that a user added to a table of clear stays in the file.
cp c.db users.db && sqlite3 users.db "ALTER TABLE runs ADD COLUMN note TEXT DEFAULT 'none'; ALTER TABLE locks ADD COLUMN note TEXT"
"$CLEAR" push -q --db users.db --to $STORE --project users 2>err.txt || fail "push beside a user's columns: $(cat err.txt)"
expect_equal "$(run_count users)" "$runs" "runs beside a user's columns"

# ---- several at once ----
pushing=$CLEAR
for i in 1 2 3 4; do
    "$pushing" push --json --db c.db --to $STORE --project many >many.$i 2>many.err.$i &
    pushing=$PLAIN_CLEAR
done
wait
for i in 1 2 3 4; do [ -s many.$i ] || fail "push $i of four: $(cat many.err.$i)"; done
expect_equal "$(cat many.[1-4] | sed 's/.*"pushed":\([0-9]*\).*/\1/' | awk '{sum += $1} END {print sum}')" "$runs" 'runs that four stored together'
expect_equal "$(run_count many)" "$runs" 'runs of four'
expect_equal "$(pg 'SELECT sum(deadlocks) FROM pg_stat_database')" 0 deadlocks
expect_equal "$(pg "SELECT count(DISTINCT project) FROM (SELECT project, count(*), sum(key) FROM clear.traces GROUP BY project) AS t")" 4 'projects with stacks'
expect_equal "$(pg "SELECT count(DISTINCT (rows, keys)) FROM (SELECT count(*) AS rows, sum(key) AS keys FROM clear.traces GROUP BY project) AS t")" 1 'the same stacks in each'

# ---- texts ----
cat >texts.py <<'PY'
import sqlite3, sys
hard = ["'); DROP TABLE clear.runs; --", '\\.', '\\N', 'a\tb\nc\rd\\e', '{"a",NULL}', '"', '$1', '\U0010fe80 and \U0010ff41', 'ü', '']
texts = [t.encode() for t in hard] + [b'\xff\xfe', b'\xc3', b'\xf4\x8f\xb8', b'\xed\xa0\x80', b'x\x01y\x7f']
db = sqlite3.connect(sys.argv[1]); db.text_factory = bytes
def read():
    labels = [r[0] for r in db.execute('SELECT label FROM runs ORDER BY uuid')]
    tags = [r for r in db.execute('SELECT uuid, key, value FROM tags JOIN runs ON runs.id = run_id ORDER BY 1, 2')]
    names = sorted(r[0] for r in db.execute("SELECT name FROM functions WHERE filename = 'hard'"))
    return labels, tags, names
if sys.argv[2] == 'write':
    text = 'CAST(? AS TEXT)'
    ids = [r[0] for r in db.execute('SELECT id FROM runs ORDER BY id LIMIT ?', (len(texts),))]
    for id, t in zip(ids, texts):
        db.execute(f'UPDATE runs SET label = {text}, command = {text} WHERE id = ?', (t, t, id))
        db.execute(f'INSERT INTO tags VALUES (?, {text}, {text})', (id, b'k' + t, t))
    functions = [r[0] for r in db.execute("SELECT DISTINCT function_id FROM location_lines ORDER BY 1 LIMIT ?", (len(texts),))]
    for id, t in zip(functions, texts):
        db.execute(f"UPDATE functions SET name = {text}, filename = 'hard' WHERE id = ?", (t, id))
    db.commit()
    assert len(functions) == len(texts)
else:
    other = sqlite3.connect(sys.argv[3]); other.text_factory = bytes
    mine = read(); db = other; theirs = read()
    assert mine == theirs, [pair for m, t in zip(mine, theirs) for pair in zip(m, t) if pair[0] != pair[1]][:3]
    assert len(mine[2]) == len(texts), mine[2]
PY
"$PLAIN_CLEAR" pull -q all --from $STORE --project many --db hard.db || fail pull
python3 texts.py hard.db write || fail 'writing texts'
"$CLEAR" push -q --db hard.db --to $STORE --project "o'ne\"; \\" 2>err.txt || fail "push of hard texts: $(cat err.txt)"
"$CLEAR" pull -q all --from $STORE --project "o'ne\"; \\" --db back.db 2>err.txt || fail "pull of hard texts: $(cat err.txt)"
python3 texts.py hard.db compare back.db || fail 'texts that came back'
check_db back.db
expect_status 2 "$CLEAR" pull "'); DROP TABLE clear.runs; --" --from $STORE --project many --db back.db 2>err.txt
expect_status 2 "$CLEAR" pull "tag:k'=' OR 1=1 --" --from $STORE --project many --db back.db 2>err.txt
expect_equal "$(run_count many)" "$runs" 'runs after all that'

# ---- roles ----
"$CLEAR" store grant --db $STORE >grant.txt 2>&1 && "$PLAIN_CLEAR" store grant --db $STORE >grant.txt 2>&1 || fail "grant: $(cat grant.txt)"
pg 'CREATE ROLE ci LOGIN IN ROLE clear_push; CREATE ROLE eve LOGIN IN ROLE clear_read; CREATE ROLE mallory LOGIN' || fail roles
as() { PGUSER=$1 "${@:2}"; }
as ci "$PLAIN_CLEAR" push -q --db c.db --to $STORE --project roles 2>err.txt || fail "push as clear_push: $(cat err.txt)"
sql hard.db "UPDATE runs SET started_ns = CAST(strftime('%s', 'now', '-35 months') AS INTEGER) * 1000000000, uuid = '00000000-0000-4000-8000-00000000000a', content_hash = NULL WHERE id = 1"
expect_equal "$(pg "SELECT count(*) FROM pg_class WHERE relnamespace = 'clear'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0 AND reltuples < 0")" 0 'tables that the planner knows nothing of'
as ci "$PLAIN_CLEAR" push -q 1 --db hard.db --to $STORE --project roles 2>err.txt || fail "a new month as clear_push: $(cat err.txt)"
as eve "$PLAIN_CLEAR" pull -q all --from $STORE --project roles --db eve.db 2>err.txt || fail "pull as clear_read: $(cat err.txt)"
expect_equal "$(sql eve.db 'SELECT count(*) FROM runs')" $((runs + 1)) 'runs that clear_read read'
expect_status 1 as eve "$CLEAR" push -q --db c.db --to $STORE --project eve 2>err.txt
expect_match "$(cat err.txt)" 'permission denied.*clear store grant' 'push as clear_read'
expect_status 1 as eve "$CLEAR" store gc --keep 1d --db $STORE 2>err.txt
expect_match "$(cat err.txt)" 'permission denied' 'gc as clear_read'
expect_equal "$(run_count roles)" $((runs + 1)) 'runs after clear_read tried to delete'
expect_status 1 as mallory "$CLEAR" pull -q all --from $STORE --project roles --db mallory.db 2>err.txt
# Hard texts by the store's address, as the owner and as one who may only read: the list, findings and bytes of a file with the same runs.
hard="o'ne\"; \\"
export XDG_CACHE_HOME=$PWD/cache
ids() { sed -E 's/"(run_id|id)":[0-9]+/"\1":N/g'; }
"$PLAIN_CLEAR" runs --json --db back.db | ids >want.txt
[ "$(wc -c <want.txt)" -gt 1000 ] || fail 'few runs in the list of the file'
asking=$CLEAR
for who in clear eve; do
    as $who "$asking" runs --json --db $STORE --project "$hard" 2>err.txt | ids | diff want.txt - >diff.txt || fail "the list as $who: $(head -5 diff.txt err.txt)"
    for uuid in $(sql back.db 'SELECT uuid FROM runs ORDER BY id LIMIT 4'); do
        for command in 'doctor --json' 'export --format json -o -'; do
            # shellcheck disable=SC2086
            "$PLAIN_CLEAR" $command --db back.db "$uuid" 2>/dev/null | ids >one.txt
            # shellcheck disable=SC2086
            as $who "$asking" $command --db $STORE --project "$hard" "$uuid" 2>err.txt | ids | diff one.txt - >diff.txt || fail "$command as $who: $(head -5 diff.txt err.txt)"
        done
    done
    expect_status 2 as $who "$asking" doctor --db $STORE --project "$hard" "k'=' OR 1=1 --" 2>err.txt
    rm -rf "$XDG_CACHE_HOME"
    asking=$PLAIN_CLEAR # the same rows, by another role
done
expect_status 1 as mallory "$CLEAR" runs --db $STORE --project "$hard" 2>err.txt
expect_match "$(cat err.txt)" 'permission denied' 'a list as one who may nothing'
for statement in 'DELETE FROM clear.runs' "UPDATE clear.functions SET name = ''" 'TRUNCATE clear.runs' "INSERT INTO clear.meta VALUES ('a', 'b')" 'DROP TABLE clear.runs'; do
    for who in ci eve; do as $who psql -Xq -v ON_ERROR_STOP=1 -c "$statement" 2>/dev/null && fail "$who may: $statement"; done
done
exit 0
