# clear profile --trace: single waits with their owners, against programs that keep their own books.
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

expect_status 0 profile --quiet -o none.profile --trace "$FIXTURES/wait_books" 20 >books.txt
"$CLEAR" trace --json >waits.json
python3 - t.db books.txt waits.json <<'PYTHON' || fail 'the waits'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
started, = db.execute('SELECT started_ns FROM runs').fetchone()
waits = json.load(open(sys.argv[3], encoding='utf-8'))
names = {'alpha': None, 'beta': None, 'gamma': None, 'delta': None}
open_waits = {wait['event_id']: wait for wait in waits if wait['kind'] not in ('join', 'death')}
chained = 0
# The clocks of the program and of the events are not read at one moment, and a frequency is measured: 1 ms of tolerance in all.
slack = 1_000_000
for line in open(sys.argv[2], encoding='ascii'):
    _, tid, name, owner, begin, end, late = line.split()
    tid, owner, begin, end, late = int(tid), int(owner), int(begin) - started, int(end) - started, int(late)
    found = [wait for wait in open_waits.values() if wait['tid'] == tid and wait['object'].split(':')[-1] == name
             and begin - slack <= wait['start_ns'] and wait['start_ns'] + wait['duration_ns'] <= end + slack]
    assert len(found) == 1, (line, found)
    wait = found[0]
    del open_waits[wait['event_id']]
    assert wait['owner_tid'] == owner, (line, wait)
    assert wait['is_late'] == late, (line, wait)
    assert late or wait['released_by'] == owner, (line, wait)
    assert {'first': 'wait_for_first', 'table': 'read_table'}.get(name, 'give_up_second' if late else 'wait_for_second') == wait['function'], wait
    if not late and name != 'second':
        assert wait['release_function'] == 'hold_first', wait
    names[wait['thread']], names[wait['owner']] = tid, owner
    chain = db.execute('SELECT tid, owner_tid, object, start_ns, duration_ns FROM wait_chains WHERE event_id = ? ORDER BY step', (wait['event_id'],)).fetchall()
    assert chain[0][:2] == (tid, owner) and chain[0][4] == wait['duration_ns'], chain
    if name == 'second' and not late: # gamma waits for beta, which waits for alpha
        assert len(chain) == 2 and chain[1][0] == owner and chain[1][1] == names['alpha'] and chain[1][2].endswith(':first'), (chain, names)
        assert chain[1][3] >= wait['start_ns'] and 0 < chain[1][4] <= wait['duration_ns'], chain
        chained += 1
assert not open_waits, open_waits
assert chained == 20 and len(set(names.values())) == 4 and None not in names.values(), (chained, names)
# The lock table counted the same waits; its times are rounded in each window, by the frequency as it was known then.
for kind, wanted in (('lock', "('mutex', 'rwlock', 'read')"), ('wait', "('join')")):
    counted = db.execute("SELECT sum(contended + read_contended + timeouts), sum(wait_ns + read_wait_ns) FROM locks JOIN profiles ON profiles.id = profile_id WHERE profiles.kind = ?", (kind,)).fetchone()
    traced = db.execute(f'SELECT count(*), sum(duration_ns) FROM events WHERE kind IN {wanted}').fetchone()
    assert counted[0] == traced[0] and abs(counted[1] - traced[1]) <= 2 * counted[0] + counted[1] * 1e-6, (kind, counted, traced)
PYTHON
check_db t.db

# A trace file for other viewers: a slice for each wait, an arrow from its release.
"$CLEAR" export --format chrome -o waits.trace.json
python3 - t.db waits.trace.json <<'PYTHON' || fail 'the trace file'
import collections, json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
trace = json.load(open(sys.argv[2], encoding='utf-8'))['traceEvents']
slices = [event for event in trace if event['ph'] == 'X' and event.get('cat') != 'release' and event['name'] != 'wake']
waits = db.execute("SELECT start_ns, duration_ns, tid, kind FROM events WHERE kind <> 'release' ORDER BY 1").fetchall()
assert sorted((round(e['ts'] * 1000), round(e['dur'] * 1000), e['tid'], e['cat']) for e in slices) == sorted(waits)
flows = collections.defaultdict(list)
for event in trace:
    if event['ph'] in 'sf':
        flows[event['id']].append(event)
releases, deaths = ({(row[0], row[1]) for row in db.execute("SELECT start_ns, tid FROM events WHERE kind = ?", (kind,))} for kind in ("release", "death"))
ends = {(start + duration, tid) for start, duration, tid, _ in waits}
for flow in flows.values():
    start, finish = sorted(flow, key=lambda event: event['ph'], reverse=True)
    assert (start['ph'], finish['ph']) == ('s', 'f') and start['ts'] <= finish['ts']
    assert (round(start['ts'] * 1000), start['tid']) in releases | deaths and (round(finish['ts'] * 1000), finish['tid']) in ends
by_death = sum((round(event['ts'] * 1000), event['tid']) in deaths for flow in flows.values() for event in flow if event['ph'] == 's')
joins, = db.execute("""SELECT count(*) FROM events AS wait JOIN events AS death ON death.kind = 'death' AND death.tid = wait.owner_tid
    WHERE wait.kind = 'join' AND death.start_ns BETWEEN wait.start_ns AND wait.start_ns + wait.duration_ns""").fetchone()
assert len(flows) - by_death == 60 and by_death == joins > 0, (len(flows), by_death, joins) # 60 of first, second and table
names = {event['args']['name'] for event in trace if event['ph'] == 'M' and event['name'] == 'thread_name'}
assert names >= {'alpha', 'beta', 'gamma', 'delta'}, names
PYTHON

# What is shown.
expect_equal "$("$CLEAR" trace --json --lock '*:table' | python3 -c 'import json, sys; print(len(json.load(sys.stdin)), )')" 20 'the waits for a lock'
expect_equal "$("$CLEAR" trace --json -n 3 | python3 -c 'import json, sys; d = [w["duration_ns"] for w in json.load(sys.stdin)]; print(len(d), d == sorted(d, reverse=True))')" '3 True' 'the longest'
expect_equal "$("$CLEAR" trace --json --from 1h | tr -d '\n')" '[]' 'waits after the end'
"$CLEAR" trace --thread delta >table.txt
expect_equal "$(grep -c 'gave up' table.txt)" 20 'timed waits that gave up'
expect_match "$(tr '\n' ' ' <table.txt)" 'table +alpha [0-9]+ +at read_table wait_books.c:[0-9]+; released at hold_first wait_books.c:[0-9]+' 'a line'
for columns in $(! has_terminals || echo 40 64 100 200); do
    script -qec "stty cols $columns; PAGER= \"$CLEAR\" trace -n 9" /dev/null </dev/null >narrow.txt
    expect_between "$(tr -d '\r' <narrow.txt | wc -L)" $((columns < 100 ? columns - 8 : 64)) $((columns < 100 ? columns : 100)) "the width on $columns columns"
    expect_equal "$(grep -c ' ms ' narrow.txt)" 9 "events on $columns columns"
done

# Nothing without --trace, and nothing without waits.
expect_status 0 profile --quiet -o none.profile "$FIXTURES/wait_books" 2 >books.txt
expect_status 1 "$CLEAR" export --format chrome -o none.trace.json 2>err.txt
expect_match "$(cat err.txt)" 'run 2 has no waits: record it with clear profile --trace' 'no trace to export'
expect_match "$("$CLEAR" trace 2>&1)" "^clear: run 2 has no events.*clear profile --trace" "a run without a trace"
expect_status 2 profile --trace --no-locks true 2>err.txt
expect_status 2 profile --trace --sample=10 true 2>err.txt
expect_match "$(cat err.txt)" '--trace needs every wait' 'sampled waits'
expect_status 2 profile --trace --trace-buffer 1K true 2>err.txt

# More events than fit: the latest are kept, the others counted, none is lost without a word.
expect_status 0 profile --quiet -o none.profile --trace --trace-buffer 1MiB "$FIXTURES/wait_storm" 2 20000 >storm.txt
python3 - t.db <<'PYTHON' || fail 'a full buffer'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
process, lost = db.execute('SELECT id, lost_events FROM processes ORDER BY id DESC LIMIT 1').fetchone()
kept, = db.execute('SELECT count(*) FROM events WHERE process_id = ?', (process,)).fetchone()
waits, = db.execute("SELECT sum(contended + read_contended) FROM locks JOIN profiles ON profiles.id = profile_id WHERE process_id = ? AND profiles.kind = 'lock'", (process,)).fetchone()
assert lost > 0 and kept * 40 <= 1 << 20, (kept, lost)
assert kept + lost >= 2 * waits - 2, (kept, lost, waits) # a wait and a release each
assert waits >= 2000, waits
last, = db.execute('SELECT max(start_ns + duration_ns) FROM events WHERE process_id = ?', (process,)).fetchone()
end, = db.execute('SELECT ended_ns - runs.started_ns FROM processes JOIN runs ON runs.id = run_id ORDER BY runs.id DESC LIMIT 1').fetchone()
assert last <= end + 1_000_000, (last, end)
PYTHON
expect_match "$("$CLEAR" trace -n 1 2>&1)" '[0-9,]+ events of run 3 are lost' 'what was lost'

# Stored at each flush: no event twice, and what is not stored is counted, also of chunks that are emptied meanwhile.
expect_status 0 profile --quiet -o none.profile --trace --stream --interval 10ms --trace-buffer 1MiB "$FIXTURES/wait_storm" 2 20000 >storm.txt
python3 - t.db <<'PYTHON' || fail 'a stream'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
process, lost = db.execute('SELECT id, lost_events FROM processes ORDER BY id DESC LIMIT 1').fetchone()
kept, distinct = db.execute('SELECT count(*), count(DISTINCT tid || kind || start_ns || trace_id) FROM events WHERE process_id = ?', (process,)).fetchone()
waits, = db.execute("SELECT sum(contended + read_contended) FROM locks JOIN profiles ON profiles.id = profile_id WHERE process_id = ? AND profiles.kind = 'lock'", (process,)).fetchone()
assert kept == distinct, (kept, distinct)
assert kept + lost >= 2 * waits - 2 and kept > 0, (kept, lost, waits)
traced, = db.execute("SELECT count(*) FROM events WHERE kind NOT IN ('release', 'join', 'death') AND process_id = ?", (process,)).fetchone()
assert traced <= waits, (traced, waits)
PYTHON

# A process that outlives the recording: what its rings have at the end of that is stored.
storm="$FIXTURES/wait_storm" "$CLEAR" profile --quiet --db alive.db -o none.profile --trace sh -c '"$storm" 2 0 >alive.txt & until [ -s alive.txt ]; do sleep 0.05; done; sleep 0.3'
alive=$(sed -n 's/.*pid \([0-9]*\).*/\1/p' alive.txt)
kill -KILL "$alive"
expect_between "$(sql alive.db "SELECT count(*) FROM events JOIN processes ON processes.id = process_id WHERE pid = $alive")" 1 10000000 'events of a process that goes on'

# A program that is killed: what its rings have is stored.
for i in 1 2 3; do
    mkfifo "started.$i"
    "$CLEAR" profile --quiet --db killed.db -o none.profile --trace "$FIXTURES/wait_storm" 2 0 >"started.$i" &
    recorder=$!
    read -r line <"started.$i"
    pid=$(sed -n 's/.*pid \([0-9]*\).*/\1/p' <<<"$line")
    sleep "0.$i"
    kill -KILL "$pid"
    wait "$recorder"
    expect_between "$(sql killed.db "SELECT count(*) FROM events JOIN processes ON processes.id = process_id WHERE run_id = $i")" 1 10000000 "events of the killed run $i"
    expect_equal "$(sql killed.db "SELECT count(*) FROM events WHERE duration_ns < 0 OR start_ns < 0 OR object_id NOT IN (SELECT id FROM objects) OR trace_id NOT IN (SELECT id FROM traces)")" 0 'half an event'
done
check_db killed.db
