# The API of a recording: its events are the flushes as the tables have them, its answers are made meanwhile by other processes, and
# afterwards the run is whole.
# leaks: a server that goes on running
. "$(dirname "$0")/lib.sh"

# The program runs until the last answer is there, however long that takes.
mkfifo input
"$CLEAR" profile --db t.db --label live -o live.profile --http 127.0.0.1:0 --interval 100ms "$FIXTURES/cpu_burn" input <input >profile.out 2>profile.err &
recorder=$!
exec 9>input
wait_for_text serving profile.err
url=$(sed -n 's,.*\(http://127.0.0.1:[0-9]*\)/.*,\1,p' profile.err | head -n 1)
[ -n "$url" ] || fail "no address in: $(cat profile.err)"
curl -sN "$url/api/live" >events.txt 9>&- &
events=$!
curl -s "$url/api/server" >server.json
for _ in $(seq 1200); do [ "$(grep -c '^event: window' events.txt)" -ge 3 ] && break; sleep 0.05; done
curl -s -o tree.json -w '%{http_code}' "$url/api/tree?kind=cpu" >tree.code
curl -s -o rows.txt --data-binary 'SELECT count(*) FROM profiles' "$url/api/rows"
exec 9>&-
wait "$events" || fail 'the events were cut off'
wait "$recorder" || fail "clear profile: $(cat profile.err)"

python3 - t.db <<'END' || fail "events: $(cat events.txt)"
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
uuid, = db.execute('SELECT uuid FROM runs').fetchone()
ends = {time for time, in db.execute('SELECT time_ns FROM profiles')}
names, datas = [], []
for event in open('events.txt', encoding='utf-8').read().split('\n\n'):
    lines = dict(line.split(': ', 1) for line in event.splitlines() if not line.startswith(':'))
    if lines:
        names.append(lines['event'])
        datas.append(json.loads(lines['data']))
assert names[-1] == 'end' and set(names[:-1]) == {'window'} and len(names) >= 4, names
assert {data['uuid'] for data in datas} == {uuid}
times = [data['time_ns'] for data in datas if data['time_ns']]
assert times == sorted(times) and times[-1] == max(ends), (times, ends)
assert not datas[-1]['recording'] and datas[0]['recording']
server = json.load(open('server.json', encoding='utf-8'))
assert server['recording'] == uuid and server['can_toggle'] and server['is_on'], server
rows = [json.loads(line) for line in open('rows.txt', encoding='utf-8')]
assert rows[-1]['end'] and rows[1][0] >= 1, rows
END
expect_equal "$(cat tree.code)" 200 "a tree of the recording: $(cat tree.json)"
expect_match "$(cat tree.json)" '"type":"cpu"' 'a tree of the recording'
check_db t.db
expect_equal "$(sql t.db "SELECT instr(flags, 'unfinished') FROM runs")" 0 'the end of the run'

# Of a run that is over there is nothing more to come.
"$CLEAR" serve --db t.db --http 127.0.0.1:0 >serve.out 2>serve.err &
server=$!
wait_for_text '^serving' serve.out
url=$(sed -n 's,.*\(http://127.0.0.1:[0-9]*\)/.*,\1,p' serve.out)
expect_equal "$(curl -sN -m 20 "$url/api/live" | grep '^event')" "$(printf 'event: window\nevent: end')" 'events of a run that is over'
expect_equal "$(curl -s "$url/api/live?runs=nobody" -o /dev/null -w '%{http_code}')" 400 'events of no run'
kill -TERM "$server"
wait "$server"
