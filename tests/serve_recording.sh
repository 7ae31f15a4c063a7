# clear profile --http: the run that is being recorded is served by the process that records it, to any moment.
. "$(dirname "$0")/lib.sh"

start() { # start NAME OPTIONS... -- PROGRAM...: sets $pid and $url
    local name=$1
    shift
    "$CLEAR" profile -q --db "$name.db" -o "$name.profile" --http 127.0.0.1:0 "$@" >"$name.out" 2>"$name.err" &
    pid=$!
    for _ in $(seq 100); do grep -q '^clear: serving' "$name.err" 2>/dev/null && break; sleep 0.05; done
    url=$(sed -n 's/^clear: serving .* at \(http:.*\)$/\1/p' "$name.err")
    [ -n "$url" ] || fail "clear profile --http: $(cat "$name.err")"
}
code() { curl -s -o "$1" -w '%{http_code}' "$2"; }
total() { # total TYPE FILE: the sum of that value over all samples
    pprof -raw "$2" 2>/dev/null | awk -v type="$1" '
        /^Samples:/ { there = 1; next }
        /^Locations/ { there = 0 }
        there == 1 { for (i = 1; i <= NF; i++) if (index($i, type "/") == 1) column = i; there = 2; next }
        there == 2 && /^ *[0-9].*:/ { sub(/:.*/, ""); sum += $column }
        END { printf "%d\n", sum }'
}
flat() { # flat FUNCTION FILE: allocations in it
    pprof -top -nodefraction=0 -sample_index=alloc_objects "$2" 2>/dev/null | awk -v name="$1" '$6 == name { n = $1 } END { print n + 0 }'
}
count() { od -A n -t u8 -N 8 count | tr -d ' '; }

# ---- with an interval of an hour: whatever is told was flushed because somebody asked

start run --interval 1h --windows all -- "$FIXTURES/progress" count 100000
for _ in $(seq 100); do [ -s count ] && [ "$(count)" -gt 0 ] && break; sleep 0.05; done
expect_equal "$(code first.pb.gz "${url}heap")" 200 'before the first flush'
[ "$(flat makes_progress first.pb.gz)" -gt 0 ] || fail 'nothing was flushed for the first request'

# A delta against the program's own count, which is read outside and inside of the two seconds.
(sleep 0.3; count >inside.1; sleep 1.4; count >inside.2) &
inside=$!
count >outside.1
expect_equal "$(code seconds.pb.gz "${url}allocs?seconds=2")" 200 'allocs?seconds=2'
count >outside.2
wait "$inside"
expect_between "$(flat makes_progress seconds.pb.gz)" $(($(cat inside.2) - $(cat inside.1))) $(($(cat outside.2) - $(cat outside.1))) \
    'allocations of two seconds'
expect_between "$(total inuse_objects seconds.pb.gz)" 64 66 'in use at the end: the ring of 64, and what is being replaced'

pprof -top "${url}profile?seconds=2" >cpu.txt 2>&1 || fail "pprof of profile?seconds=2: $(cat cpu.txt)"
expect_match "$(cat cpu.txt)" 'makes_progress' 'CPU time'
pprof -top -sample_index=alloc_space "${url}heap" >heap.txt 2>&1 || fail "pprof of heap: $(cat heap.txt)"
expect_match "$(cat heap.txt)" 'makes_progress' heap
expect_equal "$(code mutex.pb.gz "${url}mutex")" 200 'a kind of which there is nothing yet'
expect_equal "$(total contentions mutex.pb.gz)" 0 'nothing waited'
expect_equal "$(code got "${url}heap?run=nobody")" 404 'another run'

# A thousand scrapes of three kinds, 8 at a time, beside two that wait.
code waited.1 "${url}heap?seconds=3" >waited.1.code &
code waited.2 "${url}profile?seconds=3" >waited.2.code &
mkdir scraped
seq 1000 | awk -v url="$url" '{ split("heap delta_heap block", path); print "url = \"" url path[$1 % 3 + 1] "\"\noutput = scraped/" $1 ".pb.gz" }' >urls
curl -s -S -Z --parallel-max 8 --no-progress-meter -w '%{http_code}\n' -K urls 2>curl.err | sort | uniq -c >codes.txt
expect_equal "$(awk '{ print $2, $1 }' codes.txt)" '200 1000' "a thousand requests: $(head -n 3 curl.err)"
gzip -t scraped/*.pb.gz || fail 'a scraped profile is not whole'

# 40 that want to wait: 32 may. Those that go away make room.
for i in $(seq 40); do
    curl -s -o /dev/null -w '%{http_code}\n' "${url}heap?seconds=60" >"crowd.$i.code" &
    echo $! >>crowd.pids
done
sleep 1.5
expect_between "$(cat crowd.*.code | grep -c 503)" 8 10 'requests that found no place'
xargs kill <crowd.pids 2>/dev/null
sleep 1.5
expect_equal "$(cat waited.1.code waited.2.code)" 200200 'those that waited'
expect_equal "$(code got "${url}heap?seconds=1")" 200 'there is room again'

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
start end -- "$FIXTURES/progress" count 2000
expect_equal "$(code last.pb.gz "${url}heap?seconds=600")" 200 'who waits at the end'
wait "$pid"
expect_equal $? 9 'status of the program'
expect_between "$(flat makes_progress last.pb.gz)" 1 "$(awk '{ print $2 }' end.out)" 'what happened until the end'
expect_equal "$(sql end.db "SELECT sum(alloc_count) FROM heap WHERE function = 'makes_progress'")" "$(awk '{ print $2 }' end.out)" 'all of it'

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
start busy -- sleep 3
refuses 1 'in use.*port 0' --http "127.0.0.1:$(sed 's,.*:\([0-9]*\)/.*,\1,' <<<"$url")"
expect_equal "$(sql refused.db 'SELECT count(*) FROM runs')" 0 'runs of what never ran'
wait "$pid"
