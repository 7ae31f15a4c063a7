# Thousands of clients that take all places of a server: others are answered meanwhile, and when all leave at once, it goes on.
# longer: ROUNDS=20
. "$(dirname "$0")/lib.sh"

"$PLAIN_CLEAR" profile -q --db t.db -o t.profile "$FIXTURES/leak" >/dev/null 2>&1
"$CLEAR" serve --db t.db --http 127.0.0.1:0 >serve.out 2>serve.err &
server=$!
wait_for_text '^serving' serve.out
port=$(sed -n 's,.*http://127.0.0.1:\([0-9]*\)/.*,\1,p' serve.out)
said=$(python3 "$ROOT/tests/crowd.py" "$port" "$server" "${ROUNDS:-10}" 2>&1) || fail "clear serve: $said"
kill -TERM "$server"
wait "$server"
expect_equal $? 0 'status after SIGTERM'
expect_equal "$(cat serve.err)" '' 'standard error'

# The server of a recording, which waits in a loop of its own. The program runs until there is a file `stop`.
"$CLEAR" profile -q --db t.db --http 127.0.0.1:0 -o out "$FIXTURES/progress" count 300000 stop >profile.out 2>profile.err &
recorder=$!
wait_for_text serving profile.err
port=$(sed -n 's,.*http://127.0.0.1:\([0-9]*\)/.*,\1,p' profile.err)
server=$(pgrep -P "$(pgrep -P "$recorder" -o -x clear-recorder)" -x clear-server) || fail 'no server process'
said=$(python3 "$ROOT/tests/crowd.py" "$port" "$server" 5 2>&1) || fail "clear profile --http: $said"
touch stop
wait "$recorder"
expect_equal $? 9 'status of what was recorded'
