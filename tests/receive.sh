# clear serve --receive: what programs send by OTLP is stored in runs of a service, a host and an hour, while others read; of what is refused
# nothing is, and the answer is in the form of the protocol.
# timeout: 480 (under the sanitizers)
# build: plain
. "$(dirname "$0")/lib.sh"

mkdir pb && protoc -I "$ROOT/tests" --python_out=pb "$ROOT/tests/otlp.proto" "$ROOT/tests/receive.proto" || fail protoc
client() { /usr/bin/python3 "$ROOT/tests/receive.py" pb "$@"; } # Debian's python3 has python3-protobuf
export CLEAR_HTTP_TOKEN=0123456789abcdef0123
start() { # start DB OPTIONS...: sets $server, $port and $url
    rm -f serve.out # of an earlier one, which would be read until the new one is opened
    "$CLEAR" serve --db "$1" --http 127.0.0.1:0 "${@:2}" >serve.out 2>serve.err &
    server=$!
    wait_for_text '^serving' serve.out
    port=$(sed -n 's,^serving.*http://127.0.0.1:\([0-9]*\)/.*,\1,p' serve.out) url=http://127.0.0.1:$port
}
stop() {
    kill -TERM "$server"
    wait "$server"
    expect_equal $? 0 'status after SIGTERM'
    expect_equal "$(cat serve.err)" '' 'standard error'
}
post() { # post PATH FILE HEADER...: prints the status and the type; the answer is in the file `answer`
    local place=$1 file=$2 headers=()
    shift 2
    for header in "$@"; do headers+=(-H "$header"); done
    curl -s -o answer -w '%{http_code} %{content_type}' "${headers[@]}" --data-binary "@$file" "$url$place"
}
otlp=/v1development/profiles
right="Authorization: Bearer $CLEAR_HTTP_TOKEN" proto='Content-Type: application/x-protobuf'
send() { post $otlp "$1" "$right" "$proto" "${@:2}"; }

# Without --receive there are no such paths.
hour=3600000000000 now=$(($(date +%s) / 3600 * 3600))000000000
client otlp one.pb shop h1 "$now" 7 || fail 'otlp'
"$CLEAR" ingest -q --db plain.db one.pb || fail 'ingest'
start plain.db
for place in $otlp /ingest /push.v1.PusherService/Push; do
    expect_match "$(post $place /dev/null "$right" "$proto")" '^404' "$place without --receive"
    expect_match "$(post $place one.pb "$right" "$proto")" '^(404|413)' "$place without --receive"
done
expect_equal "$(sql plain.db 'SELECT count(*) FROM profiles')" 1 'nothing was stored'
stop
expect_status 2 "$CLEAR" serve --every 1h --http 127.0.0.1:0 2>err
expect_match "$(cat err)" 'every needs --receive' '--every alone'

# ---- what is stored

start t.db --receive
expect_match "$(cat serve.out)" "receiving OTLP at $url$otlp" 'where to send to'
client drip "$port" $otlp "$CLEAR_HTTP_TOKEN" >drip.txt 2>&1 &
dripping=$!
expect_equal "$(send one.pb)" '200 application/x-protobuf' 'a profile'
expect_equal "$(stat -c %s answer)" 0 'an answer without rejected ones'
gzip -k one.pb
expect_equal "$(send one.pb.gz 'Content-Encoding: gzip')" '200 application/x-protobuf' 'with gzip'
expect_equal "$(send one.pb 'Transfer-Encoding: chunked')" '200 application/x-protobuf' 'in chunks'
expect_equal "$(send /dev/null)" '200 application/x-protobuf' 'no profile at all'
client otlp late.pb shop h1 $((now - 2 * hour)) 3
client otlp later.pb shop h1 $((now + hour / 2)) 2
client otlp other.pb shop h2 "$now" 5
for file in late later other; do expect_match "$(send $file.pb)" '^200' "$file"; done
runs="SELECT runs.host, (runs.started_ns - $now) / $hour, runs.duration_ns / 1000000000, count(*), sum((SELECT sum(samples) FROM cpu WHERE profile_id = profiles.id))
    FROM runs JOIN profiles ON run_id = runs.id WHERE command = 'shop' GROUP BY runs.id ORDER BY 1, 2"
expect_equal "$(sql t.db "$runs")" 'h1|-2|1|1|3
h1|0|1801|4|23
h2|0|1|1|5' 'runs by service, host and hour'
expect_equal "$(sql t.db "SELECT DISTINCT key, value FROM tags ORDER BY 1, 2")" 'host.name|h1
host.name|h2
service.name|shop' 'tags'
expect_match "$("$CLEAR" query --db t.db --format csv @spans | tr -d '\r')" '000102030405060708090a0b0c0d0e0f,0001020304050607' 'samples of a span'
expect_match "$(curl -s "$url/debug/pprof/profile?run=latest&debug=1")" 'main;work' 'a reader'

# Some of a request: the others are stored, and the sender is told.
client otlp partial.pb part h1 "$now" 4 stack
expect_equal "$(send partial.pb)" '200 application/x-protobuf' 'a part of it'
expect_match "$(client partial <answer)" '^1 .*profile 2, sample 1: stack_index 77' 'what was rejected'
expect_equal "$(sql t.db "SELECT count(*), sum(v) FROM (SELECT (SELECT sum(samples) FROM cpu WHERE profile_id = profiles.id) AS v
    FROM profiles JOIN runs ON runs.id = run_id WHERE command = 'part')")" '1|4' 'what is stored of it'

# ---- what is refused

before=$(sql t.db 'SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM profiles), (SELECT count(*) FROM traces), (SELECT count(*) FROM tags)')
refused() { # refused WANTED CODE FILE WHAT HEADER...: the answer begins with the field of the code, then comes that of the message
    expect_equal "$(post $otlp "$3" "${@:5}")" "$1 application/x-protobuf" "$4"
    expect_equal "$(head -c 3 answer | od -A n -t u1 | tr -s ' ')" " 8 $2 18" "status of $4"
}
refused 401 16 one.pb 'no token' "$proto"
expect_match "$(client status <answer)" '^16 a token is needed' 'the status, by protobuf'
refused 401 16 one.pb 'a wrong token' "$proto" 'Authorization: Bearer 0123456789abcdef0124'
refused 415 3 one.pb 'another type' "$right" 'Content-Type: text/plain'
refused 415 3 one.pb 'another compression' "$right" "$proto" 'Content-Encoding: zstd'
refused 403 7 one.pb 'a page of another site' "$right" "$proto" 'Origin: http://example.org'
expect_equal "$(post $otlp one.pb "$right" 'Content-Type: application/json')" '415 application/json' 'JSON'
expect_match "$(cat answer)" '^\{"code":3,"message":' 'status as JSON'
size=$(stat -c %s one.pb)
for cut in 1 9 $((size / 2)) $((size - 1)); do
    head -c $cut one.pb >cut.pb
    refused 400 3 cut.pb "$cut bytes" "$right" "$proto"
done
refused 400 3 one.pb 'no gzip' "$right" "$proto" 'Content-Encoding: gzip'
head -c 40 one.pb.gz >cut.gz
refused 400 3 cut.gz 'cut gzip' "$right" "$proto" 'Content-Encoding: gzip'
python3 "$ROOT/fixtures/make_otlp.py" hand || fail 'make_otlp.py'
for file in hand/hostile/*; do expect_match "$(send "$file")" '^(200|400) application/x-protobuf$' "$file"; done
head -c 34000000 /dev/zero >large
refused 413 8 large 'too large' "$right" "$proto"
refused 413 8 large 'too large in chunks' "$right" "$proto" 'Transfer-Encoding: chunked'
head -c 300000000 /dev/zero | gzip >bomb.gz
refused 400 3 bomb.gz 'what inflates without end' "$right" "$proto" 'Content-Encoding: gzip'
client otlp future.pb shop h1 $((now + 48 * hour)) 3
refused 400 3 future.pb 'a time in two days' "$right" "$proto"
client tags tags.pb 10000
refused 400 3 tags.pb 'ten thousand tags' "$right" "$proto"
expect_equal "$(curl -s -o answer -w '%{http_code}' -H "$right" "$url$otlp")" 405 GET
client leave "$port" $otlp "$CLEAR_HTTP_TOKEN" || fail leave
python3 "$ROOT/tests/http_attacks.py" "$port" "$server" receiving "$CLEAR_HTTP_TOKEN" >attacks.txt || fail "$(cat attacks.txt)"
expect_match "$(tail -n 1 attacks.txt)" '^[1-9][0-9]+ attacks, 0 went wrong' attacks
expect_equal "$(sql t.db 'SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM profiles), (SELECT count(*) FROM traces), (SELECT count(*) FROM tags)')" "$before" 'nothing of it is stored'

# ---- many, while others read

seq 30 | awk -v url="$url" '{ printf "url = \"%s/debug/pprof/profile?run=latest&n=%d\"\noutput = /dev/null\n", url, $1 }' | sed 's/&n=[0-9]*//' >reads
curl -s -Z --parallel-max 4 --no-progress-meter -w '%{http_code}\n' -K reads >reads.txt 2>curl.err &
reading=$!
client crowd 20 "$now" || fail crowd
for i in $(seq 20); do
    (send_alone() { curl -s -o sent.$i --retry 99 --retry-max-time 200 -w '%{http_code}\n' -H "$right" -H "$proto" --data-binary @many$i.pb "$url$otlp"; }; send_alone >>sent.txt) &
    sending[i]=$!
done
wait "${sending[@]}" $reading
expect_equal "$(sort sent.txt | uniq -c | tr -s ' ')" ' 20 200' 'all are stored'
expect_equal "$(sort reads.txt | uniq -c | tr -s ' ')" ' 30 200' "all are read: $(cat curl.err)"
expect_equal "$(sql t.db "SELECT count(*), sum((SELECT sum(samples) FROM cpu WHERE profile_id = profiles.id)) FROM profiles JOIN runs ON runs.id = run_id WHERE command = 'crowd'")" '20|20' 'as they were sent'
wait $dripping
expect_equal "$(cat drip.txt)" closed 'a body that never ends'
stop
check_db t.db
[ ! -e t.db-wal ] || fail 't.db-wal is left'
expect_equal "$(sql t.db "SELECT count(*) FROM runs WHERE flags <> '' OR id NOT IN (SELECT run_id FROM seals) OR id NOT IN (SELECT run_id FROM run_totals)")" 0 'all are sealed'
"$CLEAR" doctor --db t.db latest >/dev/null 2>&1 || fail doctor

# ---- killed in the middle: what was answered is there, and the file opens

start k.db --receive
(for i in $(seq 200); do post $otlp one.pb "$right" "$proto" | grep -q '^200' && echo "$i" >>answered.txt || exit; done) 2>/dev/null &
sender=$!
has_some() { [ -s answered.txt ] && [ "$(wc -l <answered.txt)" -ge 5 ]; }
wait_for 'some answers' has_some
kill -KILL "$server"
wait "$server" 2>/dev/null
wait $sender
answered=$(wc -l <answered.txt)
no_child() { ! pgrep -f "ingest --received.*--db k.db" >/dev/null; }
wait_for 'the last command' no_child
expect_between "$(sql k.db 'SELECT count(*) FROM profiles')" "$answered" $((answered + 1)) 'profiles after kill -KILL'
start k.db --receive
expect_match "$(send one.pb)" '^200' 'and it goes on'
stop
check_db k.db
