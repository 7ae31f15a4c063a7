# clear profile --trace-when: events are stored only when one was slow, when the program asks for it, or by SIGUSR1 to clear.
# build: plain
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

events() { sql t.db "SELECT count(*) FROM events JOIN processes ON processes.id = process_id JOIN objects ON objects.id = object_id WHERE run_id = $1 AND events.kind LIKE '$2' AND objects.name LIKE '${3:-%}'"; }

# Each round has a region `request` of at least 60 ms. All that came before the last slow one is there.
expect_status 0 profile --quiet -o none.profile --trace=all --trace-limit 10ms --trace-when 'region:request>10ms' "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(events 1 region request) $(events 1 region parse) $(events 1 mark)" '2 2 2' 'events before a slow region'
expect_status 0 profile --quiet -o none.profile --trace=all --trace-limit 10ms --trace-when 'region:request>1h' "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(events 2 %)" 0 'events without a slow region'
expect_status 0 profile --quiet -o none.profile --trace=all --trace-limit 10ms --trace-when 'region:other>10ms' --trace-when 'lock_wait>1h' "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(events 3 %)" 0 'a region of another name'
expect_status 0 profile --quiet -o none.profile --trace=all --trace-limit 10ms --trace-when 'lock_wait>1h' --trace-when 'syscall:epoll_wait>15ms' "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(events 4 syscall epoll_wait)" 2 'a slow call'
# The chains of wait_books wait for 3 ms and more.
expect_status 0 profile --quiet -o none.profile --trace --trace-when 'lock_wait>2ms' "$FIXTURES/wait_books" 3 >books.txt
expect_between "$(events 5 mutex)" 6 9 'a slow wait for a lock'

# The program asks.
expect_status 0 profile --quiet -o none.profile --trace --trace-when signal "$FIXTURES/trace_books" 2 >books.txt
expect_equal "$(events 6 %)" 0 'nobody asked'
expect_status 0 profile --quiet -o none.profile --trace --trace-when signal "$FIXTURES/trace_books" 2 dump >books.txt
expect_between "$(events 7 region request)" 1 2 'clear_trace_dump'

# SIGUSR1 to clear. The program runs on, and does not get the signal, which would end it.
mkfifo started
"$CLEAR" profile --quiet -o none.profile --trace --interval 50ms --trace-when signal "$FIXTURES/wait_storm" 2 0 >started &
recorder=$!
read -r line <started
pid=$(sed -n 's/.*pid \([0-9]*\).*/\1/p' <<<"$line")
waits() { sql t.db "SELECT total(contended) FROM locks JOIN profiles ON profiles.id = profile_id JOIN processes ON processes.id = process_id WHERE processes.pid = $pid"; }
until [ "$(waits)" != 0.0 ]; do sleep 0.05; done
expect_equal "$(events 8 %)" 0 'before the signal'
kill -USR1 "$recorder"
until [ "$(events 8 %)" != 0 ]; do sleep 0.05; done
stored=$(events 8 %)
kill -0 "$pid" || fail 'the program is gone'
kill -KILL "$pid"
wait "$recorder"
expect_equal "$(events 8 %)" "$stored" 'after the signal nothing is added'
check_db t.db

# A POST with the token. It answers when the events are stored.
rm started && mkfifo started
echo 0123456789abcdef0123456789abcdef >token
"$CLEAR" profile --quiet -o none.profile --trace --interval 1h --trace-when signal --http 127.0.0.1:0 --http-token token "$FIXTURES/wait_storm" 2 0 >started 2>http.err &
recorder=$!
read -r line <started
pid=$(sed -n 's/.*pid \([0-9]*\).*/\1/p' <<<"$line")
url=$(sed -n 's/^clear: serving .* at \(http:.*\)$/\1/p' http.err)
posted() { curl -s -o said -w '%{http_code}' -X POST "$@"; }
bearer=(-H "Authorization: Bearer $(cat token)")
expect_equal "$(posted "${url}dump") $(posted -H 'Authorization: Bearer 00000000000000000000000000000000' "${url}dump") $(events 9 %)" '401 403 0' 'without the token'
expect_equal "$(posted "${bearer[@]}" "${url}dump?x=1") $(curl -s -o said -w '%{http_code}' "${bearer[@]}" "${url}dump") $(events 9 %)" '400 405 0' 'a parameter, and a GET'
saved() { python3 -c "import json; print(json.load(open('said', encoding='ascii'))['$1'])"; }
until [ "$(posted "${bearer[@]}" "${url}dump")" = 200 ] && [ "$(saved events)" != 0 ]; do sleep 0.05; done
expect_equal "$(saved events)" "$(sql t.db 'SELECT count(*) FROM events JOIN processes ON processes.id = process_id WHERE run_id = 9')" 'what a POST says'
kill -0 "$pid" || fail 'the program is gone'
kill -KILL "$pid"
wait "$recorder"
check_db t.db
rm started && mkfifo started
"$CLEAR" profile --quiet -o none.profile --http 127.0.0.1:0 --http-token token "$FIXTURES/wait_storm" 2 0 >started 2>http.err &
recorder=$!
read -r line <started
url=$(sed -n 's/^clear: serving .* at \(http:.*\)$/\1/p' http.err)
expect_equal "$(posted "${bearer[@]}" "${url}dump")" 409 'a recording without --trace'
kill -KILL "$(sed -n 's/.*pid \([0-9]*\).*/\1/p' <<<"$line")"
wait "$recorder"

expect_status 2 profile --trace --trace-when 'lock_wait' true 2>err.txt
expect_match "$(cat err.txt)" "'lock_wait' is not KIND>TIME, KIND:NAME>TIME or signal" 'no time'
expect_status 2 profile --trace --trace-when 'lock_wait:x>1ms' true 2>err.txt
expect_status 2 profile --trace --trace-when 'region>soon' true 2>err.txt
expect_status 2 profile --trace=lock --trace-when 'region>1ms' true 2>err.txt
expect_match "$(cat err.txt)" 'not recorded: add their kind to --trace' 'a kind that is not recorded'
expect_status 2 profile --trace=sleep --trace-when 'sleep>1us' true 2>err.txt
expect_status 2 profile --trace-when signal true 2>err.txt
expect_status 2 profile --trace --stream --trace-when signal true 2>err.txt

# A thread that does nothing but events goes round its rings of 1 MiB in 2 ms. They are copied before all else of a flush, so most of what
# they had is there, with its names. (A recorder that does not get the processor in the middle of the copy loses some: then again.)
rm started && mkfifo started
"$CLEAR" profile -o none.profile --trace --trace-buffer 1MiB --interval 1h --trace-when signal --http 127.0.0.1:0 --http-token token "$FIXTURES/region_storm" >started 2>http.err &
recorder=$!
read -r line <started
url=$(sed -n 's/^clear: serving .* at \(http:.*\)$/\1/p' http.err)
until [ "$(posted "${bearer[@]}" "${url}dump")" = 200 ] && [ "$(saved saved)" -ge 18000 ]; do sleep 0.05; done
expect_equal "$(events 11 region request)" "$(($(saved events)))" 'events of a thread that goes on'
[ "$(saved save_ms)" != 0.0 ] || fail 'the time of the copy'
kill -USR1 "$recorder"
until grep -q '^clear: [0-9]* events were saved in [0-9.]* ms, and stored in' http.err; do sleep 0.05; done
expect_equal "$(sql t.db "SELECT count(*) FROM events WHERE kind = 'region' AND trace_id = 0")" 0 'stacks'
kill -KILL "${line#pid }"
wait "$recorder"
check_db t.db

# One request of 10,000 is slow: it is what the events are stored for, and it is found by its name, its time, and what it waited in.
expect_status 0 profile --quiet --db rare.db -o none.profile --trace=region,syscall --trace-limit 10ms --trace-when 'region:request>50ms' "$FIXTURES/rare_request" 4321 >books.txt
python3 - rare.db books.txt <<'PYTHON' || fail 'the slow request of 10,000'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
(_, begin, end), (_, median) = (line.split() for line in open(sys.argv[2], encoding='ascii'))
started, = db.execute('SELECT started_ns FROM runs').fetchone()
count, p50, p99, longest, slowest = db.execute("SELECT count, p50_ns, p99_ns, max_ns, slowest_id FROM region_latency WHERE region = 'request'").fetchone()
# Their median is that of the program by its own clock, which counts the calls too; a busy machine moves both.
assert count > 4321 and p50 <= 10 * int(median) and longest >= 60_000_000 > p99, (count, p50, median, p99, longest)
start, function = db.execute('SELECT start_ns, function FROM events JOIN places USING (trace_id) WHERE id = ?', (slowest,)).fetchone()
assert function == 'answer', function # and not that of clear.h
slack = 1_000_000  # the clocks are not read at one moment
assert int(begin) - started - slack <= start and start + longest <= int(end) - started + slack, (begin, start, longest, end)
inside = db.execute("""SELECT objects.name FROM events AS slow JOIN events ON events.tid = slow.tid AND events.kind = 'syscall' AND events.start_ns >= slow.start_ns
                         AND events.start_ns + events.duration_ns <= slow.start_ns + slow.duration_ns JOIN objects ON objects.id = events.object_id
                       WHERE slow.id = ?""", (slowest,)).fetchall()
assert inside == [('poll',)], inside
PYTHON
