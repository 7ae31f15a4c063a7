# clear profile --wall: the time of every thread, by what it waited in, against a program that keeps its own books. The sums are those of
# the kernel's clocks; the parts are an estimate from looks, so their limits are wide (a machine that is busy looks late).
# timeout: 180
# build: plain
# long: an estimate from looks
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

expect_status 0 profile --quiet -o none.profile --wall "$FIXTURES/wall_books" 2 >books.txt
python3 - t.db books.txt <<'PYTHON' || fail 'the times'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
books = {key: (int(ns), int(asked)) for key, ns, asked in (line.split() for line in open(sys.argv[2], encoding='ascii'))}
assert books['interrupted'][0] == 0, books
rows = db.execute("""SELECT profiles.kind, stacks.stack, v0, v1 FROM samples JOIN profiles ON profiles.id = profile_id
                     JOIN stacks USING (trace_id)""").fetchall()
def total(kind, *frames):
    return sum(ns for of, stack, looks, ns in rows if of == kind and set(frames) <= set(stack.split(';')))
cpu, = db.execute("SELECT total(cpu_ns) FROM cpu JOIN profiles ON profiles.id = profile_id WHERE kind = 'cpu'").fetchone()
wall, off, whole = total('wall'), total('off-cpu'), books['whole'][0]
# What is not off the processor is on it, to the nanosecond.
assert wall - off == cpu, (wall, off, cpu)
# All time of all threads. The program's own clocks begin and end a little later and earlier.
assert abs(wall - whole) <= 0.03 * whole + 300e6, (wall, whole)
assert total('off-cpu', '[unsampled]') <= 0.2 * whole, (total('off-cpu', '[unsampled]'), whole)
places = {'nap': ('nap', '[nanosleep]'), 'queue': ('queue_up', '[mutex]'), 'poll': ('wait_in_poll', '[poll]'), 'epoll': ('wait_in_epoll', '[epoll_wait]'),
          'sem': ('wait_for_semaphore', '[sem]'), 'cond': ('wait_for_condition', '[cond]'), 'read': ('wait_in_read', '[read]'), 'join': ('wait_for_threads', '[join]')}
for key, (function, place) in places.items():
    found = total('off-cpu', function, place)
    assert found > 0, (key, found)
    # A wait is named where it was made, and nowhere else. (nanosleep is also that of hold_turn.)
    others = {stack for kind, stack, looks, ns in rows if place in stack.split(';') and function not in stack.split(';') and 'hold_turn' not in stack.split(';')}
    assert not others, (place, others)
    if key in books:
        ns, asked = books[key]
        assert found <= 1.3 * ns + 300e6, (key, found, ns)
        assert found >= (0.4 if key == 'nap' else 0.6) * asked, (key, found, asked)
# Each wait has its state and its thread; what ran has the labels of `cpu` and its state.
states = dict(db.execute("""SELECT label.value ->> 1, count(*) FROM samples JOIN label_sets ON label_sets.id = label_set_id, json_each(label_sets.labels) AS label
                            WHERE label.value ->> 0 = 'state' GROUP BY 1""").fetchall())
assert {'running', 'waiting'} <= set(states) <= {'running', 'waiting', 'ready', 'unsampled'}, states
PYTHON
check_db t.db
"$CLEAR" top --kind off-cpu >top.txt 2>&1 && grep -q '\[poll\]' top.txt || fail 'top of off-cpu'
"$CLEAR" top --kind wall --tagfocus state=running >top.txt 2>&1 && grep -q compute top.txt && ! grep -q '\[poll\]' top.txt || fail 'top of what ran'
"$CLEAR" export --kind wall -o wall.pb.gz >/dev/null 2>&1 || fail 'export of wall'
"$CLEAR" ingest --db again.db wall.pb.gz >/dev/null 2>&1 || fail 'the exported profile'
expect_equal "$(sql again.db 'SELECT sum(v1) FROM samples')" "$(sql t.db "SELECT sum(v1) FROM samples JOIN profiles ON profiles.id = profile_id WHERE kind = 'wall'")" 'the exported time'

# The threads by state and place: the same rows, added up here.
"$CLEAR" query --format csv @wall-threads | tr -d '\r' >threads.csv || fail '@wall-threads'
python3 - t.db threads.csv <<'PYTHON' || fail '@wall-threads'
import collections, csv, json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
want = collections.Counter()
for labels, stack, ns in db.execute("""SELECT labels, stack, v1 FROM samples JOIN profiles ON profiles.id = profile_id JOIN stacks USING (trace_id)
                                       JOIN label_sets ON label_sets.id = label_set_id WHERE profiles.kind = 'wall'"""):
    labels = {label[0]: label[1] for label in json.loads(labels)}
    place = stack.split(';')[-1] if labels['state'] == 'waiting' else ''
    want[labels.get('thread', ''), str(labels.get('tid', '')), labels['state'], place] += ns
rows = list(csv.DictReader(open(sys.argv[2], encoding='utf-8')))
got = {(row['thread'], row['tid'], row['state'], row['waited_in']): int(row['wall_ns']) for row in rows}
assert len(got) == len(rows) and got == want, (set(got.items()) ^ set(want.items()))
shares = collections.Counter()
for row in rows: shares[row['thread'], row['tid']] += float(row['percent'])
assert all(abs(share - 100) < 0.1 * len(rows) for share in shares.values()), shares
assert any(row['waited_in'] == '[poll]' and float(row['percent']) > 50 for row in rows), rows
PYTHON

off_ns() { sql t.db "SELECT coalesce(sum(v1), 0) FROM samples JOIN profiles ON profiles.id = profile_id JOIN processes ON processes.id = profiles.process_id JOIN stacks USING (trace_id) WHERE profiles.kind = 'off-cpu' AND profiles.run_id = (SELECT max(id) FROM runs) AND $1"; }
# Children, and an image that follows another one in its process: each has its own time.
expect_status 0 profile --quiet -o none.profile --wall=500 sh -c 'sleep 0.5; exec sleep 0.7' >/dev/null
expect_between "$(off_ns "executable LIKE '%sleep' AND stack LIKE '%sleep]'")" 900000000 2000000000 'what both sleeps slept'
expect_between "$(off_ns "executable NOT LIKE '%sleep' AND stack LIKE '%[wait%'")" 300000000 30000000000 'what the shell waited'
expect_equal "$("$CLEAR" doctor | grep -E '^(wall|off-cpu) by function')" 'off-cpu by function, time without a processor
wall by function, wall time' 'the tables of doctor'

# A recorder that is killed: the program goes on, and the looks died with the recorder. What its threads did off the processor, from its start
# to its end, is time that nobody looked at; the sums are whole.
rm -f books.txt
"$CLEAR" profile --quiet --db killed.db -o none.profile --interval 0.1 --wall "$FIXTURES/wall_books" 4 >books.txt &
recorder=$!
looked() { sqlite3 -cmd '.timeout 5000' killed.db "SELECT 'yes' FROM profiles JOIN samples ON samples.profile_id = profiles.id WHERE profiles.kind = 'off-cpu' AND v0 > 0 LIMIT 1" 2>/dev/null | grep -q yes; }
wait_for 'a look' looked
kill -KILL "$recorder"
wait "$recorder"
wait_for 'the end of the program' grep -q '^whole ' books.txt
"$CLEAR" recover --db killed.db >recovered.txt 2>&1 || fail "recover: $(cat recovered.txt)"
python3 - killed.db books.txt <<'PYTHON' || fail 'the recovered times'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
whole, = (int(line.split()[1]) for line in open(sys.argv[2], encoding='ascii') if line.startswith('whole '))
def total(kind, end=''):
    return db.execute("""SELECT coalesce(sum(v1), 0) FROM samples JOIN profiles ON profiles.id = profile_id JOIN stacks USING (trace_id)
                         WHERE profiles.kind = ? AND stack LIKE '%' || ?""", (kind, end)).fetchone()[0]
cpu, = db.execute("SELECT coalesce(sum(cpu_ns), 0) FROM cpu JOIN profiles ON profiles.id = profile_id WHERE kind = 'cpu'").fetchone()
wall, off, unsampled = total('wall'), total('off-cpu'), total('off-cpu', '[unsampled]')
assert wall - off == cpu, (wall, off, cpu)
assert abs(wall - whole) <= 0.03 * whole + 300e6, (wall, whole)
assert 0 < unsampled <= off, (unsampled, off)
PYTHON
check_db killed.db

# A program that is killed: what was seen until then is kept, and its threads lived until then.
expect_status 137 profile --quiet -o none.profile --wall sh -c "'$FIXTURES/wall_books' 30 & sleep 2; kill -9 \$!; kill -9 \$\$" >/dev/null
expect_between "$(off_ns "stack LIKE '%wait_in_poll;[poll]'")" 300000000 30000000000 'a poll that was killed'

# Two threads with one processor: who is ready and has none is shown where it was, not at its start.
cat >two.c <<'C'
#include <pthread.h>
#include <time.h>
__attribute__((noinline)) static void count_up(volatile long *sum) {
    struct timespec now = {0};
    while (now.tv_nsec < 300000000 && now.tv_sec == 0) {
        for (int i = 0; i < 100000; i++) *sum += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }
}
static void *run(void *unused) {
    long sum = 0;
    count_up(&sum);
    return unused;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, run, 0);
    run(0);
    pthread_join(other, 0);
}
C
"$CC" -O1 -g -o two two.c || fail 'compiling two.c'
taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')" "$CLEAR" profile --quiet --db t.db -o none.profile --wall ./two || fail 'two threads with one processor'
expect_between "$(off_ns "stack LIKE '%;count_up;%[ready]'")" 150000000 30000000000 'time without a processor, where the threads were'

# Recording that is off sees nothing; what is missing of the lives of threads is then no loss.
expect_status 0 profile --quiet -o none.profile --wall --start=off sleep 0.3 >/dev/null
expect_equal "$(off_ns 1)" 0 'looks while recording was off'

for refused in '--wall --cpu=off' '--wall --no-locks' '--wall --no-io' '--wall --sample=10' --wall=0 --wall=x; do
    # shellcheck disable=SC2086 # several options
    expect_status 2 profile $refused true
done
