# clear profile --http: the run that is being recorded is served by the process that records it, to any moment.
# timeout: 480
# longer: REQUESTS=1000
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/served.sh"

start() { # start NAME OPTIONS... -- PROGRAM...: sets $pid and $url
    local name=$1
    shift
    rm -f "$name.err" # of an earlier one of this name, which would be read until the new one is opened
    "$CLEAR" profile -q --db "$name.db" -o "$name.profile" --http 127.0.0.1:0 "$@" >"$name.out" 2>"$name.err" &
    pid=$!
    wait_for_text '^clear: serving' "$name.err"
    url=$(sed -n 's/^clear: serving .* at \(https\{0,1\}:.*\)$/\1/p' "$name.err")
    [ -n "$url" ] || fail "clear profile --http: $(cat "$name.err")"
}
count() { od -A n -t u8 -N 8 count | tr -d ' '; }
risen() { [ -s count ] && [ "$(count)" -gt "$1" ]; } # risen COUNT: the program is beyond that

# ---- with an interval of an hour: whatever is told was flushed because somebody asked

start run --interval 1h --windows all -- "$FIXTURES/progress" count 100000
wait_for 'the first allocation' risen 0
expect_equal "$(code first.pb.gz "${url}heap")" 200 'before the first flush'
[ "$(flat makes_progress first.pb.gz)" -gt 0 ] || fail 'nothing was flushed for the first request'

# A delta against the program's own count, which is read outside and inside of the seconds. On a busy machine a request can come later
# than its first count inside: then it is asked for more seconds.
for seconds in 2 4 8 16; do
    (sleep $((seconds * 15 / 100)).$((seconds * 15 % 100 / 10)); count >inside.1; sleep $((seconds * 70 / 100)); count >inside.2) &
    inside=$!
    count >outside.1
    expect_equal "$(code seconds.pb.gz "${url}allocs?seconds=$seconds")" 200 "allocs?seconds=$seconds"
    count >outside.2
    wait "$inside"
    least=$(($(cat inside.2) - $(cat inside.1))) most=$(($(cat outside.2) - $(cat outside.1)))
    [ "$(flat makes_progress seconds.pb.gz)" -lt $least ] || break
done
expect_between "$(flat makes_progress seconds.pb.gz)" $least $most "allocations of $seconds seconds"
expect_between "$(total inuse_objects seconds.pb.gz)" 64 66 'in use at the end: the ring of 64, and what is being replaced'

pprof -top -timeout=120 "${url}profile?seconds=2" >cpu.txt 2>&1 || fail "pprof of profile?seconds=2: $(cat cpu.txt)"
# On a busy machine these are a dozen samples: which of the two loops they met is chance.
expect_match "$(cat cpu.txt)" '% +(main|makes_progress)$' 'CPU time'
pprof -top -sample_index=alloc_space "${url}heap" >heap.txt 2>&1 || fail "pprof of heap: $(cat heap.txt)"
expect_match "$(cat heap.txt)" 'makes_progress' heap
expect_equal "$(code mutex.pb.gz "${url}mutex")" 200 'a kind of which there is nothing yet'
expect_equal "$(total contentions mutex.pb.gz)" 0 'nothing waited'
expect_equal "$(code got "${url}heap?run=nobody")" 404 'another run'

# Many scrapes of three kinds, 8 at a time, beside two that wait.
requests=${REQUESTS:-48}
code waited.1 "${url}heap?seconds=3" >waited.1.code &
code waited.2 "${url}profile?seconds=3" >waited.2.code &
mkdir scraped
seq "$requests" | awk -v url="$url" '{ split("heap delta_heap block", path); print "url = \"" url path[$1 % 3 + 1] "\"\noutput = scraped/" $1 ".pb.gz" }' >urls
curl -s -S -Z --parallel-max 8 --no-progress-meter -w '%{http_code}\n' -K urls 2>curl.err | sort | uniq -c >codes.txt
expect_equal "$(awk '{ print $2, $1 }' codes.txt)" "200 $requests" "many requests: $(head -n 3 curl.err)"
gzip -t scraped/*.pb.gz || fail 'a scraped profile is not whole'

# 40 that want to wait, of two addresses, for one would have its connections beyond 32 closed: 32 may. Those that go away make room. Each has
# what is recorded flushed, which can take a busy machine a minute.
for i in $(seq 40); do
    curl -s --interface 127.0.0.$((1 + i % 2)) -o /dev/null -w '%{http_code}\n' "${url}heap?seconds=600" >"crowd.$i.code" &
    echo $! >>crowd.pids
done
turned_away() { [ "$(cat crowd.*.code | grep -c 503)" -ge 8 ]; }
wait_for 'requests that find no place' turned_away
expect_between "$(cat crowd.*.code | grep -c 503)" 8 10 'requests that found no place'
xargs kill <crowd.pids 2>/dev/null
have_waited() { [ -s waited.1.code ] && [ -s waited.2.code ]; }
wait_for 'those whose seconds are over' have_waited
expect_equal "$(cat waited.1.code waited.2.code)" 200200 'those that waited'
has_room() { [ "$(code got "${url}heap?seconds=1")" = 200 ]; }
wait_for 'room after those that went away' has_room

# Flushes by request cost no event: what is stored lies between the allocations that had begun and those that had ended.
kill -TERM "$pid"
wait "$pid"
expect_equal $? 143 'status after SIGTERM, which is sent on'
ended=$(od -A n -t u8 -j 8 -N 8 count | tr -d ' ')
expect_between "$(sql run.db "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress'")" "$ended" "$(count)" 'the run'
expect_equal "$(grep -vc '^clear: serving' run.err)" 0 "standard error: $(cat run.err)"
check_db run.db
[ ! -e run.db-wal ] || fail 'run.db-wal is left'

# Who waits when the program ends gets what there was, whatever was asked for.
rm count
start end --interval 1h -- "$FIXTURES/progress" count 300000 stop
wait_for 'the first allocation' risen 0
curl -s -o last.pb.gz -w '%{http_code}' "${url}heap?seconds=600" >last.code &
last=$!
is_flushed() { [ "$(sql end.db "SELECT count(*) FROM heap WHERE function = 'makes_progress'")" -gt 0 ]; }
wait_for 'the flush for the request, which then waits' is_flushed
touch stop
wait "$last"
expect_equal "$(cat last.code)" 200 'who waits at the end'
wait "$pid"
expect_equal $? 9 'status of the program'
rm stop
expect_between "$(flat makes_progress last.pb.gz)" 1 "$(awk '{ print $2 }' end.out)" 'what happened until the end'
expect_equal "$(sql end.db "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress'")" "$(awk '{ print $2 }' end.out)" 'all of it'

# ---- recording is switched by POST, with the token that was printed

switched() { # switched NAME OPTIONS... -- PROGRAM...: as start, without -q; sets $toggle too
    local name=$1
    shift
    rm -f "$name.err"
    "$CLEAR" profile --db "$name.db" -o "$name.profile" --http 127.0.0.1:0 "$@" >"$name.out" 2>"$name.err" &
    pid=$!
    wait_for_text '^clear: serving' "$name.err"
    url=$(sed -n 's/^clear: serving .* at \(https\{0,1\}:.*\)$/\1/p' "$name.err")
    [ -n "$url" ] || fail "clear profile --http: $(cat "$name.err")"
}
# What is printed can be pasted: it is run as it stands, with more words behind it.
toggle() { bash -c "$(sed -n 's/^clear: switch recording with: //p' switch.err) -s $*"; }

# What happened is between the counts inside of what was on and those outside; a block may be under way at each edge.
rm count
switched switch --start=off --interval 1h -- "$FIXTURES/progress" count 300000 stop
wait_for 'the first allocation' risen 0
least=0 most=0
for words in '' '-d state=on'; do
    count >from.outside
    expect_equal "$(toggle "$words")" '{"recording":true}' "on: $words"
    count >from.inside
    wait_for 'allocations that are recorded' risen $(($(cat from.inside) + 2000))
    expect_equal "$(toggle -d state=on)" '{"recording":true}' 'on, which it is'
    count >to.inside
    expect_equal "$(toggle "${words/on/off}")" '{"recording":false}' "off: $words"
    count >to.outside
    least=$((least + $(cat to.inside) - $(cat from.inside))) most=$((most + $(cat to.outside) - $(cat from.outside) + 2))
    wait_for 'allocations that are not' risen $(($(cat to.outside) + 2000))
done
expect_equal "$(toggle -d state=off)" '{"recording":false}' 'off, which it is'
expect_match "$(curl -s "$url")" 'Recording is off' 'the index'
[ "$least" -gt 1000 ] || fail "the program allocated $least times while it was recorded"
[ "$(count)" -gt $((most + 1000)) ] || fail 'nothing happened while recording was off'
expect_equal "$(code switch.pb.gz "${url}heap")" 200 'heap while recording is off'
expect_between "$(flat makes_progress switch.pb.gz)" "$least" "$most" 'what was told while it was off'

token=$(sed -n 's/.*Bearer \([0-9a-f]*\).*/\1/p' switch.err)
expect_match "$token" '^[0-9a-f]{32}$' 'the token: 128 bits'
replies() { # replies STATUS WORDS...: to a POST to toggle
    local want=$1
    shift
    expect_equal "$(curl -s -o said -D head.txt -w '%{http_code}' "$@")" "$want" "status of curl $*"
}
bearer=(-H "Authorization: Bearer $token")
replies 401 -X POST "${url}toggle"
expect_match "$(tr -d '\r' <head.txt)" '^WWW-Authenticate: Bearer' 'what a 401 asks for'
replies 401 -X POST -u "user:${token%?}" "${url}toggle"
replies 401 -X POST -H "Authorization: $token" "${url}toggle"
replies 403 -X POST -H 'Authorization: Bearer 0123456789abcdef0123456789abcdef' "${url}toggle"
replies 403 -X POST -H "Authorization: Bearer ${token}0" "${url}toggle"
replies 403 -X POST -H "Authorization: Bearer ${token%?}" "${url}toggle"
replies 400 -X POST "${url}toggle?token=$token"
expect_match "$(cat said)" 'header Authorization' 'a token in the URL'
replies 405 "${bearer[@]}" "${url}toggle"
expect_match "$(tr -d '\r' <head.txt)" '^Allow: POST$' 'what a 405 allows'
replies 405 -X POST "${bearer[@]}" "${url}heap"
replies 400 -X POST "${bearer[@]}" "${url}toggle?state=maybe"
replies 400 -X POST "${bearer[@]}" "${url}toggle?run=1"
replies 400 -d state=on "${bearer[@]}" "${url}toggle?state=off"
replies 415 -d '{"state":"on"}' -H 'Content-Type: application/json' "${bearer[@]}" "${url}toggle"
replies 403 -X POST "${bearer[@]}" -H 'Host: evil.example' "${url}toggle"
replies 403 -X POST "${bearer[@]}" -H 'Origin: http://evil.example' "${url}toggle"
expect_match "$(curl -s "$url")" 'Recording is off' 'after all that was refused'
replies 200 -X POST "${bearer[@]}" -H "Origin: ${url%/debug/pprof/}" "${url}toggle?state=on"
expect_equal "$(tr -d '\r' <head.txt | sed -n 's/^Content-Type: //p')" 'application/json' 'type of the answer'
expect_match "$(curl -s "$url")" 'Recording is on' 'the index'
touch stop
wait "$pid"
expect_equal "$? $(grep -c 'clear: recording is on' switch.err) $(grep -c 'clear: recording is off' switch.err)" '9 3 2' 'words at each switch'
expect_match "$(cat switch.err)" 'recording was off for' 'closing words'
expect_equal "$(sql switch.db "SELECT count(*) FROM runs WHERE command LIKE '%$token%'")" 0 'the token in the file'
check_db switch.db

# A token of the user's: by a file, or by the environment, which the program does not see. It is not printed.
for by in file environment; do
    given=abcdefghijklmnop-$by.~+/==
    printf '%s\n' "$given" >token.txt
    if [ $by = file ]; then
        switched given --http-token token.txt -- bash -c 'env; exec sleep 1000'
    else
        export CLEAR_HTTP_TOKEN=$given
        switched given -- bash -c 'env; exec sleep 1000'
        unset CLEAR_HTTP_TOKEN
    fi
    replies 200 -X POST -H "authorization: bearer $given" "${url}toggle"
    expect_equal "$(cat said)" '{"recording":false}' "a token by $by"
    kill "$pid"
    wait "$pid"
    expect_equal "$(grep -c "$given" given.err given.out | tr '\n' ' ')" 'given.err:0 given.out:0 ' "the token by $by is told"
done

# What is not recorded is not waited for.
start without --cpu=off --no-heap -- sleep 1000
before=$SECONDS
for path in 'profile?seconds=60' 'heap?seconds=60' delta_heap syscalls; do
    expect_equal "$(code got "$url$path")" 404 "$path of a run without it"
    expect_match "$(cat got)" 'has no (cpu|heap|syscalls) profile' "$path of a run without it"
done
expect_equal "$(code got "${url}mutex")" 200 'what is recorded'
expect_between $((SECONDS - before)) 0 50 'seconds waited'
kill "$pid"
wait "$pid"
expect_equal $? 143 'status after SIGTERM'

# TLS by a certificate and its key; nothing else is spoken then. The recorded program sees neither, and the printed words switch recording.
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out 'own cert.pem' -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail openssl
switched switch --interval 1h --tls-cert 'own cert.pem' --tls-key key.pem -- sleep 1000
expect_match "$url" '^https://127\.0\.0\.1:' 'the address with TLS'
expect_equal "$(curl -s -o got -w '%{http_code}' --cacert 'own cert.pem' "${url}heap")" 200 'over TLS'
expect_equal "$(code got "${url/https/http}heap")" 000 'without TLS'
expect_equal "$(code got "${url}heap")" 000 'a certificate that nobody signed'
expect_equal "$(toggle '')" '{"recording":false}' 'the printed words'
kill "$pid"
wait "$pid"
expect_equal $? 143 'status after SIGTERM'

# Of a pipe that the program reads too, the token's line is taken and no more.
expect_equal "$(printf '%s\nrest\n' "$given" | "$CLEAR" profile -q --db given.db -o given.profile --http :0 --http-token /dev/stdin -- cat 2>/dev/null)" rest 'what is left of standard input'

# ---- the program does not see it

"$CLEAR" profile -q --db fds.db -o fds.profile -- ls /proc/self/fd >fds.without
"$CLEAR" profile -q --db fds.db -o fds.profile --http :0 -- ls /proc/self/fd >fds.with 2>/dev/null
expect_same_file fds.with fds.without 'descriptors of the program'

# ---- what cannot be served is refused before the program runs

refuses() { # refuses STATUS REGEX OPTIONS...
    local want=$1 regex=$2
    shift 2
    expect_equal "$("$CLEAR" profile --db refused.db "$@" -- touch ran 2>err.txt; echo $?)" "$want" "status of profile $*"
    expect_match "$(cat err.txt)" "$regex" "message of profile $*"
    [ ! -e ran ] || fail "the program ran: $*"
}
refuses 2 '--http-anywhere' --http 0.0.0.0:6060
refuses 2 'HOST:PORT' --http '[::1'
refuses 2 '--http ADDRESS' --http-anywhere
refuses 2 '--http ADDRESS' --http-token token.txt
refuses 2 '--http ADDRESS' --tls-cert 'own cert.pem'
refuses 2 'need each other' --http :0 --tls-cert 'own cert.pem'
refuses 2 'missing.pem: No such file' --http :0 --tls-cert 'own cert.pem' --tls-key missing.pem
openssl genrsa -out other.pem 2048 2>/dev/null || fail openssl
refuses 2 'do not belong together' --http :0 --tls-cert 'own cert.pem' --tls-key other.pem
refuses 2 'No such file' --http :0 --http-token missing.txt
echo short >token.txt
refuses 2 'token.txt.*16 to 256 characters' --http :0 --http-token token.txt
printf 'abcdefghijklmnop qrst\n' >token.txt
refuses 2 'token.txt.*letters, digits' --http :0 --http-token token.txt
: >token.txt
refuses 2 'the file is empty' --http :0 --http-token token.txt
export CLEAR_HTTP_TOKEN=
refuses 2 'CLEAR_HTTP_TOKEN' --http :0
unset CLEAR_HTTP_TOKEN
start busy -- sleep 1000
refuses 1 'in use.*port 0' --http "127.0.0.1:$(sed 's,.*:\([0-9]*\)/.*,\1,' <<<"$url")"
expect_equal "$(sql refused.db 'SELECT count(*) FROM runs')" 0 'runs of what never ran'
kill "$pid"
wait "$pid"
expect_equal $? 143 'status after SIGTERM'
