# clear profile --trace=KINDS: sleeps, waits for the system, regions, marks and flows, against a program that keeps its own books.
# build: plain
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
                     WHERE process_id = (SELECT min(id) FROM processes)
                       AND events.kind IN ('sleep', 'syscall', 'region', 'mark', 'flow', 'hold', 'fork', 'alloc', 'free', 'birth')
                     ORDER BY start_ns""").fetchall()
# The worker's own birth is in no book, and a reader's begins before its book does.
main_tid, = db.execute('SELECT pid FROM processes ORDER BY id LIMIT 1').fetchone()
worker, = db.execute("SELECT tid FROM threads WHERE name = 'worker' AND process_id = (SELECT min(id) FROM processes)").fetchone()
births = [row for row in rows if row['kind'] == 'birth']
assert [row['owner_tid'] for row in births] == [main_tid] + 5 * [worker], [dict(row) for row in births]
assert sorted(row['kind'] for row in db.execute("SELECT kind FROM events WHERE kind IN ('death', 'exit') AND process_id = (SELECT min(id) FROM processes)")) == 6 * ['death'] + ['exit']
rows = [row for row in rows if row['kind'] != 'birth']
events = {row['id']: row for row in rows}
# The clocks of the program and of the events are not read at one moment, and a frequency is measured: 1 ms of tolerance in all.
slack = 1_000_000
for line in open(sys.argv[2], encoding='ascii'):
    kind, name, tid, begin, end, number = line.split()
    if kind == 'birth': # the thread was born before
        assert any(row['tid'] == int(tid) and row['start_ns'] <= int(end) - started + slack for row in births), line
        continue
    name = {'held': 'trace_books:held', '-': ''}.get(name, name)
    tid, begin, end, number = int(tid), int(begin) - started, int(end) - started, int(number)
    found = [event for event in events.values() if (event['kind'], event['name'], event['tid']) == (kind, name, tid) and (name or event['value'] == number)
             and begin - slack <= event['start_ns'] and event['start_ns'] + event['duration_ns'] <= end + slack]
    assert len(found) == 1, (line, [dict(row) for row in found])
    event = found[0]
    del events[event['id']]
    # What the program read before and after the call is the time of the call, and of what the machine gave to others in between.
    if kind in ('mark', 'flow', 'alloc', 'free'):
        assert event['duration_ns'] == 0, dict(event)
    elif kind != 'fork':
        assert event['duration_ns'] >= 10_000_000, dict(event)
    if kind == 'sleep': # 20 ms were asked for, and the kernel gives no less
        assert 0.95 * 20_000_000 <= event['duration_ns'] <= 1.05 * (end - begin), (line, dict(event))
    assert event['value'] == (number if kind in ('flow', 'alloc', 'free', 'fork') else None), (line, dict(event))
    assert event['is_late'] == 0 and event['owner_tid'] is None and (event['address'] == 0) == (kind not in ('alloc', 'free', 'hold')), dict(event)
    assert event['object_kind'] == ('lock' if kind == 'hold' else 'name'), dict(event)
    assert event['thread'] == 'worker' or name == 'read', dict(event)
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
frees = {row['address'] for row in rows if row['kind'] == 'free'}
assert frees == {row['address'] for row in rows if row['kind'] == 'alloc'}
wanted = {'': 'use_blocks', 'trace_books:held': 'hold_long', 'fork': 'make_child', 'waitpid': 'make_child', 'nanosleep': 'take_sleeps', 'usleep': 'take_sleeps', 'poll': 'wait_for_system', 'epoll_wait': 'wait_for_system', 'read': 'read_later'}
for row in rows:
    assert wanted.get(row['name'], 'work') in stacks[row['trace_id']][-2:], (dict(row), stacks[row['trace_id']]) # clear_mark is inline
# CPU samples: those between hooks of the same process, each with a stack that the profile has too.
taken, = db.execute("SELECT total(samples) FROM cpu JOIN profiles ON profiles.id = profile_id WHERE process_id = (SELECT min(id) FROM processes)").fetchone()
samples = db.execute("SELECT trace_id FROM events WHERE kind = 'cpu' AND process_id = (SELECT min(id) FROM processes)").fetchall()
assert 0 < len(samples) <= taken, (len(samples), taken)
known = {row['trace_id'] for row in db.execute('SELECT trace_id FROM cpu')}
assert {row['trace_id'] for row in samples} <= known
# Each child slept, and ended by itself.
children = db.execute("SELECT kind, count(*) AS number FROM events WHERE process_id > (SELECT min(id) FROM processes) AND kind IN ('sleep', 'exit') GROUP BY 1").fetchall()
assert {row['kind']: row['number'] for row in children} == {'sleep': 5, 'exit': 5}, [dict(row) for row in children]
PYTHON
check_db t.db

# By topic, as Go's tracer has it: each call stands in one of them, and together they are all time off the CPU.
off_cpu() { "$CLEAR" query --format csv --no-header @trace-off-cpu topic="$1" | tr -d "\r"; }
expect_equal "$(off_cpu net | cut -d, -f5 | sort -u | tr '\n' ' ')" 'epoll_wait poll ' 'calls of the topic net'
expect_equal "$(off_cpu syscall | cut -d, -f5 | sort -u | tr '\n' ' ')" 'read waitpid ' 'calls of the topic syscall'
sum_of() { off_cpu "$1" | awk -F, '{ total += $NF } END { printf "%.0f\n", total }'; }
expect_equal "$(($(sum_of sync) + $(sum_of net) + $(sum_of syscall) + $(sum_of sleep)))" "$(sum_of %)" 'the topics together'

# Only what is asked for. Without a value: waits and regions.
kinds_of() { sql t.db "SELECT group_concat(DISTINCT kind) FROM (SELECT kind FROM events JOIN processes ON processes.id = process_id WHERE run_id = $1 ORDER BY kind)"; }
expect_status 0 profile --quiet -o none.profile --trace=sleep,region "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 2)" flow,mark,region,sleep 'the kinds of run 2'
expect_status 0 profile --quiet -o none.profile --trace=syscall --no-locks "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 3)" syscall 'the kinds of run 3'
expect_status 0 profile --quiet -o none.profile --trace "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 4)" death,flow,join,mark,region 'the kinds of run 4'
expect_status 0 profile --quiet -o none.profile --trace=sleep --trace-limit 1h "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 5)" '' 'sleeps under the limit'
expect_status 0 profile --quiet -o none.profile "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(kinds_of 6)" '' 'a run without --trace'

# Blocked calls of channels and updates that were tried again are those that the tables count. exec ends an image.
expect_status 0 profile --quiet -o none.profile --trace=wait,thread "$FIXTURES/channels" >books.txt
expect_equal "$(sql t.db "SELECT group_concat(name || ' ' || blocked || ' ' || (abs(ns - duration) <= 1000 * blocked + ns / 1000)) FROM (SELECT objects.name, sum(push_blocked + pop_blocked) AS blocked, sum(push_blocked_ns + pop_blocked_ns) AS ns, object_id FROM channels JOIN objects ON objects.id = object_id GROUP BY object_id ORDER BY 1) JOIN (SELECT object_id, sum(duration_ns) AS duration FROM events WHERE kind = 'channel' GROUP BY 1) USING (object_id)")" \
    "$(sql t.db "SELECT group_concat(name || ' ' || number || ' 1') FROM (SELECT objects.name, count(*) AS number FROM events JOIN objects ON objects.id = object_id WHERE events.kind = 'channel' GROUP BY object_id ORDER BY 1)")" 'blocked calls'
expect_between "$(sql t.db "SELECT count(*) FROM events WHERE kind = 'channel'")" 2 1000000 'blocked calls at all'
expect_status 0 profile --quiet -o none.profile --trace=wait,thread "$FIXTURES/mvcc" >books.txt
expect_equal "$(sql t.db "SELECT total(value) FROM events WHERE kind = 'retry'")" "$(sql t.db 'SELECT total(retries) FROM cells')" 'retries'
expect_status 0 profile --quiet --db execs.db -o none.profile --trace=thread sh -c 'exec /bin/ls /' >books.txt
expect_equal "$(sql execs.db "SELECT group_concat(kind) FROM (SELECT kind FROM events WHERE kind <> 'fork' ORDER BY start_ns)")" exec,exit 'an exec'

# Stored at each flush, every one once: those of the books.
count_books() { grep -cE "^($1) " books.txt; }
expect_status 0 profile --quiet --db stream.db -o none.profile --trace=all --trace-limit 10ms --stream --interval 10ms "$FIXTURES/trace_books" 3 >books.txt
for kind in sleep syscall region mark flow alloc free hold fork; do
    expect_equal "$(sql stream.db "SELECT count(*) FROM events WHERE kind = '$kind' AND process_id = (SELECT min(id) FROM processes)")" "$(count_books $kind)" "streamed events: $kind"
done
expect_equal "$(sql stream.db 'SELECT sum(lost_events) FROM processes')" 0 'lost'
check_db stream.db

# The last ones alone.
expect_status 0 profile --quiet --db last.db -o none.profile --trace=all --trace-limit 10ms --trace-last 50ms "$FIXTURES/trace_books" 3 >books.txt
expect_equal "$(sql last.db "SELECT min(events.start_ns + duration_ns) >= (SELECT start_ns FROM events WHERE kind = 'exit' AND process_id = (SELECT min(id) FROM processes)) - 51000000 FROM events WHERE process_id = (SELECT min(id) FROM processes)")" 1 'events of the last 50 ms'
expect_equal "$(sql last.db 'SELECT sum(lost_events) FROM processes')" 0 'what is passed over is not lost'
expect_status 2 profile --stream true 2>err.txt
expect_match "$(cat err.txt)" 'need --trace' 'a stream without events'
expect_status 2 profile --trace --stream --trace-last 1s true 2>err.txt

expect_status 2 profile --trace=alloc --no-heap true 2>err.txt
expect_status 2 profile --trace=cpu --cpu=off true 2>err.txt
expect_status 2 profile --trace=lock,slep true 2>err.txt
expect_match "$(cat err.txt)" "no kind of events 'slep': lock, wait, hold, sleep" 'a wrong kind'
expect_status 2 profile --trace= true 2>err.txt
expect_status 2 profile --trace=syscall --no-io true 2>err.txt
expect_match "$(cat err.txt)" '--trace=syscall and --no-io' 'nothing to trace'
