# Requests that no honest client sends: the server answers or drops each, stays up, and neither grows nor keeps descriptors.
# leaks: a server that goes on running
. "$(dirname "$0")/lib.sh"

"$CLEAR" profile -q --db t.db -o t.profile "$FIXTURES/leak" >/dev/null 2>&1
# A profile whose text is longer than a socket takes without its reader.
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "main;%s_%d;%s_%d 1\n", "a_function_with_a_name_as_long_as_those_of_templates_are", i, "another_function_whose_name_is_hardly_shorter_than_that", i }' >wide.folded
"$CLEAR" ingest -q --db t.db --label wide --time @1000000000 wide.folded || fail "ingest of wide.folded"

"$CLEAR" serve --db t.db --http 127.0.0.1:0 >serve.out 2>serve.err &
server=$!
wait_for_text '^serving' serve.out
port=$(sed -n 's,.*http://127.0.0.1:\([0-9]*\)/.*,\1,p' serve.out)
[ -n "$port" ] || fail "no port in: $(cat serve.out serve.err)"
expect_equal "$(curl -s -o wide.txt -w '%{http_code}' "http://127.0.0.1:$port/debug/pprof/samples?run=wide&debug=1")" 200 'a long text'
expect_equal "$(wc -l <wide.txt)" 40000 'its lines'

python3 "$ROOT/tests/http_attacks.py" "$port" "$server" >attacks.txt || fail "$(cat attacks.txt)"
expect_match "$(tail -n 1 attacks.txt)" '^[1-9][0-9][0-9] attacks, 0 went wrong' attacks
tail -n 1 attacks.txt

kill -TERM "$server"
wait "$server"
expect_equal $? 0 'status after SIGTERM'
expect_equal "$(cat serve.err)" '' 'standard error'
check_db t.db
[ ! -e t.db-wal ] || fail 't.db-wal is left'

# The paths that change something, of a recording that must go on as it is. It is of two threads that make events without end.
"$CLEAR" profile -q --db t.db -o long.profile --trace --trace-when signal --http 127.0.0.1:0 -- "$FIXTURES/wait_storm" 2 0 >profile.out 2>profile.err &
recorder=$!
wait_for_text serving profile.err
port=$(sed -n 's,.*http://127.0.0.1:\([0-9]*\)/.*,\1,p' profile.err)
python3 "$ROOT/tests/http_attacks.py" "$port" "$recorder" recording >attacks.txt || fail "$(cat attacks.txt)"
expect_match "$(tail -n 1 attacks.txt)" '^[1-9][0-9]+ attacks, 0 went wrong' 'attacks on toggle and dump'
tail -n 1 attacks.txt
kill -TERM "$recorder"
wait "$recorder"
expect_equal $? 143 'status of what was recorded'
expect_equal "$(grep -vc serving profile.err)" 0 "standard error of clear profile: $(cat profile.err)"
expect_equal "$(sql t.db "SELECT count(*) FROM counters WHERE name = 'recorder.paused_ms' AND value > 0")" 0 'recording was never off'
expect_equal "$(sql t.db 'SELECT count(*) FROM events')" 0 'no event was stored'
