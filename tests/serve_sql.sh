# SQL of users runs beside all other work of the server, two queries an address, for a minute at most.
# timeout: 240
. "$(dirname "$0")/lib.sh"

"$CLEAR" profile -q --db t.db -o t.profile "$FIXTURES/leak" >/dev/null 2>&1
"$CLEAR" serve --db t.db --http 127.0.0.1:0 >serve.out 2>serve.err &
server=$!
wait_for_text '^serving' serve.out
port=$(sed -n 's,.*http://127.0.0.1:\([0-9]*\)/.*,\1,p' serve.out)
said=$(python3 "$ROOT/tests/serve_sql.py" "$port" "$server" 2>&1) || fail "$said"
kill -TERM "$server"
wait "$server"
expect_equal $? 0 'status after SIGTERM'
expect_equal "$(cat serve.err)" '' 'standard error'
