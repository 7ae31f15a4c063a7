#!/usr/bin/env bash
# The server of clear profile --http is a process of its own: whatever ends it or stops it, the run is recorded to its end.
. "$(dirname "$0")/lib.sh"

answers() {
    url=$(sed -n 's/^clear: serving the run at //p' err.txt)
    [ -n "$url" ] && curl -sf -o /dev/null "$url"
}
start() { # the program runs until there is a file `stop`, and the server has answered
    rm -f stop
    "$CLEAR" profile --db t.db --interval 0.1 --http 127.0.0.1:0 -o out -- "$FIXTURES/progress" count 300000 stop >out.txt 2>err.txt &
    pid=$!
    wait_for 'an answer' answers
    server=$(pgrep -P "$(pgrep -P "$pid" -x clear-recorder)" -x clear-server) || fail "no server process: $(ps --ppid "$pid" -o pid,args)"
}
recorded() { # recorded RUN: the program ends; the status and the count are its own
    touch stop
    wait "$pid"
    expect_equal $? 9 "status of run $1"
    expect_equal "$(sql t.db "SELECT exit_status, flags, (SELECT sum(alloc_count) FROM heap WHERE run_id = runs.id AND function = 'makes_progress')
        FROM runs WHERE id = $1")" "9||$(sed -n 's/^done //p' out.txt)" "run $1"
    ! kill -0 "$server" 2>/dev/null || fail "the server of run $1 is left"
}

start
kill -KILL "$server"
wait_for_text 'the recording goes on' err.txt
recorded 1
expect_match "$(cat err.txt)" '^clear: the server was ended by signal 9; the recording goes on$' 'what clear says'

# A server that does not answer, with a client that waits.
start
curl -sv -o /dev/null -m 60 "${url}heap?seconds=600" 2>curl.log &
wait_for_text '^> GET' curl.log
sleep 0.5 # it waits by now
kill -STOP "$server"
recorded 2

# A client that waits gets what there is when the program ends.
start
rm -f curl.log
curl -sv -o waited.pb.gz -w '%{http_code}' "${url}heap?seconds=600" >code.txt 2>curl.log &
client=$!
wait_for_text '^> GET' curl.log
sleep 0.5
recorded 3
wait "$client"
expect_equal "$(cat code.txt)" 200 'a client that waited for more time than there was'
check_db t.db

# clear serve: what takes long is made beside it as well, and what is small is not worth a process.
children() { # page faults of children that have ended
    sed 's/.*) //' "/proc/$server/stat" | cut -d' ' -f9
}
for stacks in 20 2000; do
    for i in $(seq $stacks); do echo "main;f$((i % 40));g$i $i"; done >"$stacks.folded"
    "$CLEAR" ingest --db "$stacks.db" "$stacks.folded" >/dev/null || fail "ingest of $stacks stacks"
    "$CLEAR" serve --db "$stacks.db" --http 127.0.0.1:0 >served.txt 2>&1 &
    server=$!
    wait_for_text '^serving' served.txt
    url=$(sed -n 's,.*\(http:[^ ]*\)/debug.*,\1,p' served.txt)
    curl -sf "$url/debug/pprof/samples?format=folded" >answered.folded || fail "no profile of $stacks stacks"
    expect_equal "$(sort answered.folded)" "$(sort "$stacks.folded")" "$stacks stacks"
    expect_equal "$(($(children) > 0))" "$((stacks > 1000))" "a process for $stacks stacks"
    kill "$server"
    wait "$server"
done
