# clear profile --trace=KINDS: sleeps, waits for the system, regions, marks and flows, against a program that keeps its own books.
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

expect_status 0 profile --quiet -o none.profile --trace=all --trace-limit 10ms "$FIXTURES/trace_books" 5 >books.txt
python3 - t.db books.txt <<'PYTHON' || fail 'the events'
import collections, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
started, = db.execute('SELECT started_ns FROM runs').fetchone()
rows = db.execute("""SELECT events.*, objects.name, objects.kind AS object_kind, threads.name AS thread
                     FROM events JOIN objects ON objects.id = object_id LEFT JOIN threads USING (process_id, tid)
                     WHERE events.kind IN ('sleep', 'syscall', 'region', 'mark', 'flow')""").fetchall()
events = {row['id']: row for row in rows}
# The clocks of the program and of the events are not read at one moment, and a frequency is measured: 1 ms of tolerance in all.
slack = 1_000_000
for line in open(sys.argv[2], encoding='ascii'):
    kind, name, tid, begin, end, number = line.split()
    tid, begin, end, number = int(tid), int(begin) - started, int(end) - started, int(number)
    found = [event for event in events.values() if (event['kind'], event['name'], event['tid']) == (kind, name, tid)
             and begin - slack <= event['start_ns'] and event['start_ns'] + event['duration_ns'] <= end + slack]
    assert len(found) == 1, (line, [dict(row) for row in found])
    event = found[0]
    del events[event['id']]
    # What the program read before and after the call is the time of the call, and of what the machine gave to others in between.
    if kind in ('mark', 'flow'):
        assert event['duration_ns'] == 0, dict(event)
    else:
        assert event['duration_ns'] >= 10_000_000, dict(event)
    assert event['value'] == (number if kind == 'flow' else None), (line, dict(event))
    assert event['is_late'] == 0 and event['owner_tid'] is None and event['address'] == 0, dict(event)
    assert event['object_kind'] == 'name' and event['thread'] == ('worker' if kind != 'syscall' or name != 'read' else event['thread'])
assert not events, [dict(event) for event in events.values()]
# Regions nest: each `parse` lies in one `request` of its thread, and what happened inside lies in it.
def of(name):
    return [row for row in rows if row['name'] == name]
def lies_in(inner, outer):
    return (inner['tid'] == outer['tid'] and outer['start_ns'] <= inner['start_ns']
            and inner['start_ns'] + inner['duration_ns'] <= outer['start_ns'] + outer['duration_ns'])
for inner, outer in (('parse', 'request'), ('nanosleep', 'parse'), ('usleep', 'parse'), ('cache-miss', 'parse'), ('poll', 'request'), ('job', 'request')):
    assert len(of(inner)) == 5 and all(sum(lies_in(event, region) for region in of(outer)) == 1 for event in of(inner)), inner
# Stacks: where it was called; of a region where it began.
stacks = {row['trace_id']: row['stack'].split(';') for row in db.execute('SELECT trace_id, stack FROM stacks')}
wanted = {'nanosleep': 'take_sleeps', 'usleep': 'take_sleeps', 'poll': 'wait_for_system', 'epoll_wait': 'wait_for_system', 'read': 'read_later'}
for row in rows:
    assert wanted.get(row['name'], 'work') in stacks[row['trace_id']][-2:], (dict(row), stacks[row['trace_id']]) # clear_mark is inline
PYTHON
check_db t.db

# Only what is asked for. Without a value: waits and regions.
kinds_of() { sql t.db "SELECT group_concat(DISTINCT kind) FROM (SELECT kind FROM events JOIN processes ON processes.id = process_id WHERE run_id = $1 ORDER BY kind)"; }
expect_status 0 profile --quiet -o none.profile --trace=sleep,region "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 2)" flow,mark,region,sleep 'the kinds of run 2'
expect_status 0 profile --quiet -o none.profile --trace=syscall --no-locks "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 3)" syscall 'the kinds of run 3'
expect_status 0 profile --quiet -o none.profile --trace "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 4)" flow,join,mark,region 'the kinds of run 4'
expect_status 0 profile --quiet -o none.profile --trace=sleep --trace-limit 1h "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 5)" '' 'sleeps under the limit'
expect_status 0 profile --quiet -o none.profile "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 6)" '' 'a run without --trace'

expect_status 2 profile --trace=lock,slep true 2>err.txt
expect_match "$(cat err.txt)" "no kind of events 'slep': lock, wait, sleep" 'a wrong kind'
expect_status 2 profile --trace= true 2>err.txt
expect_status 2 profile --trace=syscall --no-io true 2>err.txt
expect_match "$(cat err.txt)" '--trace=syscall and --no-io' 'nothing to trace'
