# clear serve, web and shell on a team's store: the list of runs comes from the store, a run is fetched when it is named, answers are those of a
# file with the same runs, nothing is written to the store, and nothing is left behind.
# timeout: 400
# longer: STORE_SERVE=whole
# plain: the server does with a store what it does with a file, and store_read reads one with the sanitizers
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
. "$(dirname "$0")/warehouses.sh"
postgres_start
export XDG_CACHE_HOME=$PWD/cache CLEAR_PROJECT=all TMPDIR=$PWD/tmp
mkdir "$TMPDIR"
unset CLEAR_CACHE_SIZE CLEAR_DB
make_warehouses
"$CLEAR" store init --db $STORE >/dev/null || fail init
for db in a b; do "$CLEAR" push -q --db $db.db --to $STORE 2>err.txt || fail "push of $db.db: $(cat err.txt)"; done
"$CLEAR" pull -q all --from $STORE --db file.db || fail pull
before=$(pg_contents)

serve() { # serve NAME OPTIONS...: $url and $server
    "$CLEAR" serve "${@:2}" --http 127.0.0.1:0 >"$1.out" 2>"$1.err" &
    server=$!
    wait_for_text '^serving' "$1.out"
    url=$(sed -n 's,.*\(http://127.0.0.1:[0-9]*\)/.*,\1,p' "$1.out")
    [ -n "$url" ] || fail "no address in: $(cat "$1.out" "$1.err")"
}
serve file --db file.db
of_file=$url file_server=$server
serve store --db $STORE
of_store=$url
expect_match "$(cat store.out)" '^serving postgresql:///profiles, project all at http' 'what is served'

python3 "$ROOT/tests/store_serve.py" "$of_file" "$of_store" file.db >checks.txt 2>&1 || fail "$(cat checks.txt store.err)"
expect_match "$(cat checks.txt)" '^[1-9][0-9]+ checks' checks
expect_equal "$(pg_contents)" "$before" 'the store after all that'
[ -n "$(find "$TMPDIR" -name runs.sqlite)" ] || fail 'where are the runs?'
[ -z "$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -type d ! -perm 700)" ] || fail "others may read: $(ls -l "$TMPDIR")"

# ---- a store that is away: what was fetched is still shown ----
uuid=$(sql file.db 'SELECT uuid FROM runs ORDER BY id LIMIT 1')
postgres_stop
curl -fsS "$of_store/api/run?runs=$uuid" >out.txt || fail 'a run that was fetched'
curl -sS "$of_store/api/runs" >out.txt
expect_match "$(cat out.txt)" '"error":"postgresql:///profiles: ' 'the list of a store that is away'
kill -TERM "$server" "$file_server"
wait "$server"
expect_equal $? 0 'status after SIGTERM'
expect_equal "$(cat store.err)" '' 'standard error'
expect_equal "$(ls "$TMPDIR")" '' 'what the server left'
"$CLEAR" serve --db $STORE --http 127.0.0.1:0 >out.txt 2>err.txt
expect_equal $? 1 'a server of a store that is away'
expect_match "$(cat err.txt)" '^clear: postgresql:///profiles: ' 'a server of a store that is away'
expect_equal "$(ls "$TMPDIR")" '' 'what a server that did not start left'
postgres_run

# ---- limits, and runs that are named at the start ----
serve some --db $STORE --runs last=2
curl -fsS -H 'Content-Type: text/plain' -d 'SELECT count(*) FROM runs' "$url/api/rows" | head -2 | tail -1 >out.txt
expect_equal "$(cat out.txt)" '[2]' 'runs of --runs'
curl -fsS "$url/debug/pprof/" >out.txt || fail 'the index'
expect_equal "$(grep -c '<tr><td class=n>' out.txt)" 2 'runs of the index'
expect_match "$(cat out.txt)" 'postgresql:///profiles, project all' 'the index'
kill -TERM "$server"
wait "$server"
serve small --db $STORE --fetch-limit 1
expect_equal "$(curl -sS -o out.txt -w '%{http_code}' "$url/api/run?runs=latest")" 507 'status over the limit'
expect_match "$(cat out.txt)" '--fetch-limit is 1 B: start it again' 'over the limit'
kill -TERM "$server"
wait "$server"
"$CLEAR" serve --db file.db --fetch-limit 1G >out.txt 2>err.txt
expect_equal $? 2 'a limit for a file'
expect_match "$(cat err.txt)" 'is for a store, and file.db is a file' 'a limit for a file'

# ---- clear web ----
BROWSER=true "$CLEAR" web --db $STORE "$uuid" >web.out 2>web.err &
server=$!
wait_for_text '^serving' web.out
expect_match "$(cat web.out)" "^serving postgresql:///profiles, project all at http://127.0.0.1:[0-9]+/[?]runs=$uuid" 'clear web'
kill -TERM "$server"
wait "$server"
BROWSER=true "$CLEAR" web --db $STORE nothing >out.txt 2>err.txt
expect_equal $? 2 'clear web of no run'
expect_match "$(cat err.txt)" "no run is 'nothing'" 'clear web of no run'

# ---- clear mcp ----
ask_mcp() { # ask_mcp TOOL ARGUMENTS [OPTION]...: the answer to one call
    local version='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
    echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{$version,\"name\":\"$1\",\"arguments\":$2}}" |
        "$CLEAR" mcp --db $STORE "${@:3}"
}
counting='{"sql":"SELECT count(*) FROM runs"}'
expect_match "$(ask_mcp query "$counting")" 'say which runs of the store: --runs last=20' 'all runs of a store'
expect_match "$(ask_mcp query "$counting" --runs last=2)" '"rows":\[\[2\]\]' 'runs of --runs'
for tool in runs doctor top; do
    expect_match "$(ask_mcp $tool '{}' --runs last=2)" '"isError":false' "$tool with --runs"
done
expect_match "$(ask_mcp doctor "{\"run\":\"$uuid\"}")" "\"uuid\":\"$uuid\"" 'a run of a store'
expect_status 2 "$CLEAR" mcp --db file.db --runs last=2 </dev/null 2>err.txt
expect_match "$(cat err.txt)" 'is for a store, and file.db is a file' '--runs of a file'

# ---- clear shell ----
"$CLEAR" shell --db $STORE 'SELECT uuid FROM runs' >out.txt 2>err.txt || fail "shell: $(cat err.txt)"
expect_equal "$(tail -1 out.txt | tr -d ' ')" "$(sql file.db 'SELECT uuid FROM runs ORDER BY started_ns DESC, uuid DESC LIMIT 1')" 'the run of a shell'
"$CLEAR" shell --db $STORE --runs last=3 'SELECT count(*) AS n FROM hot_sites' >out.txt 2>err.txt || fail "shell: $(cat err.txt)"
"$CLEAR" shell --db $STORE --runs last=3 'SELECT count(*) FROM runs' | tail -1 >out.txt
expect_equal "$(tr -d ' ' <out.txt)" 3 'runs of a shell'
"$CLEAR" shell --db $STORE 'SELECT nothing' >out.txt 2>err.txt
expect_equal $? 1 'the status of sqlite3'
"$CLEAR" shell --db $STORE 'DELETE FROM runs' >out.txt 2>err.txt && fail 'a shell that writes'
# A signal ends sqlite3 too, and nothing is left.
mkfifo input
"$CLEAR" shell --db $STORE <input >out.txt 2>err.txt &
shell=$!
exec 7>input
echo "SELECT 'it runs';" >&7
wait_for_text 'it runs' out.txt
kill -TERM $shell
wait $shell
expect_equal $? 143 'status of a shell that was ended'
exec 7>&-
expect_equal "$(ls "$TMPDIR")" '' 'what the shell left'

# ---- clear pull --cached ----
"$CLEAR" pull --cached last=2 --from $STORE --db pulled.db >out.txt || fail 'pull --cached'
expect_equal "$(cat out.txt)" '2 runs pulled (1..2)' 'pull --cached'
rm -f pulled2.db
"$CLEAR" pull -q last=2 --from $STORE --db pulled2.db || fail pull
export_directories pulled.db cached
export_directories pulled2.db uncached
diff -r cached uncached >diff.txt || fail "from the cache: $(head -5 diff.txt)"
"$CLEAR" pull --cached --json last=3 --from $STORE --db pulled.db >out.txt || fail 'pull --cached'
expect_equal "$(cat out.txt)" '{"pulled":1,"known":2,"first_run":3,"last_run":3}' 'pull --cached again'
expect_equal "$(pg_contents)" "$before" 'the store at the end'
exit 0
