# The API of the browser: each answer is what the command prints for the same selection, trees are sums of the folded stacks, and what is
# not allowed is refused in words.
. "$(dirname "$0")/lib.sh"

"$PLAIN_CLEAR" profile -q --db t.db --label heaps -o heaps.profile "$FIXTURES/leaks" >/dev/null 2>&1 || fail leaks
"$PLAIN_CLEAR" profile -q --db t.db --label waits --tag branch=main -o waits.profile "$FIXTURES/lock_contended" >/dev/null || fail lock_contended
"$CLEAR" serve --db t.db --http 127.0.0.1:0 --source-path "$ROOT/fixtures" >serve.out 2>serve.err &
server=$!
wait_for_text '^serving' serve.out
url=$(sed -n 's,.*\(http://127.0.0.1:[0-9]*\)/.*,\1,p' serve.out)
[ -n "$url" ] || fail "no address in: $(cat serve.out serve.err)"

python3 "$ROOT/tests/serve_api.py" "$url" t.db "$server" >checks.txt || fail "$(cat checks.txt)"
expect_match "$(cat checks.txt)" '^[1-9][0-9][0-9]+ checks' checks

kill -TERM "$server"
wait "$server"
expect_equal $? 0 'status after SIGTERM'
expect_equal "$(cat serve.err)" '' 'standard error'
check_db t.db
