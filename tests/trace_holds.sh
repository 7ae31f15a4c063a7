# clear profile --trace: holds of C11 mutexes, spin locks and locks of clear.h, and the threads that joins wait for, against a program that keeps
# its own books.
# build: plain
. "$(dirname "$0")/lib.sh"

expect_status 0 profile --quiet --db t.db -o none.profile --trace=all --trace-limit 10ms "$FIXTURES/hold_books" 3 >books.txt
python3 - t.db books.txt <<'PYTHON' || fail 'the events'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
started, = db.execute('SELECT started_ns FROM runs').fetchone()
slack = 1_000_000
rows = db.execute("""SELECT events.*, objects.name, objects.kind AS object_kind, stacks.stack FROM events
                     JOIN objects ON objects.id = object_id JOIN stacks USING (trace_id) ORDER BY start_ns""").fetchall()
books = [line.split() for line in open(sys.argv[2], encoding='ascii')]
def inside(row, begin, end):
    return begin - started - slack <= row['start_ns'] and row['start_ns'] + row['duration_ns'] <= end - started + slack
used = set()
for kind, what, tid, begin, end in (book for book in books if book[0] in ('hold', 'wait')):
    wanted = 'hold' if kind == 'hold' else 'own'
    found = [row for row in rows if row['kind'] == wanted and row['tid'] == int(tid) and inside(row, int(begin), int(end)) and row['name'] == 'hold_books:' + what]
    assert len(found) == 1, (kind, what, [dict(row) for row in found])
    assert found[0]['duration_ns'] >= (20_000_000 if kind == 'hold' else 1_900_000), dict(found[0])
    assert ('hold_' + what) in found[0]['stack'].split(';')[-2:], found[0]['stack']
    used.add(found[0]['id'])
# No other long hold of these locks.
assert used == {row['id'] for row in rows if row['kind'] == 'own' or row['kind'] == 'hold' and row['name'].startswith('hold_books:')}
# Each join names the thread that it waited for, and that thread's end lets it go on, also where others ended in between.
waits = {row['event_id']: row for row in db.execute('SELECT * FROM lock_waits')}
deaths = {row['id']: row for row in rows if row['kind'] == 'death'}
joins = [book for book in books if book[0] == 'join']
for _, tid, owner, begin, end in joins:
    found = [row for row in rows if row['kind'] == 'join' and row['tid'] == int(tid) and row['owner_tid'] == int(owner) and inside(row, int(begin), int(end))]
    assert len(found) == 1, (tid, owner, [dict(row) for row in found])
    wait = waits[found[0]['id']]
    assert wait['released_by'] == int(owner) and wait['release_id'] in deaths, dict(wait)
assert len(joins) == len([row for row in rows if row['kind'] == 'join'])
# The path of the process goes back from main through the last thread that it joined, and through the last one that this joined.
steps = db.execute('SELECT * FROM critical_path WHERE region_id IS NULL ORDER BY step').fetchall()
ran = [step['tid'] for step in steps if step['what'] == 'ran']
last = joins[-1]
inner = [book for book in joins if book[1] == last[2]][-1]
assert ran[:2] == [int(last[1]), int(last[2])] and int(inner[2]) in ran, (ran, last, inner)
PYTHON
check_db t.db

# The ends of threads are kept with waits alone too: they are what joins wait for.
expect_status 0 profile --quiet --db w.db -o none.profile --trace=wait "$FIXTURES/hold_books" 1 >books.txt
expect_equal "$(sql w.db "SELECT count(*) = (SELECT count(*) FROM events WHERE kind = 'join') AND min(released_by = owner_tid) FROM lock_waits WHERE kind = 'join'")" 1 'joins with --trace=wait'
