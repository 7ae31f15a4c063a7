# clear push --otlp: a run that another clear receives is the same there; a receiver that is busy is asked again, and what it says is told.
# timeout: 300 (under the sanitizers)
# build: plain
. "$(dirname "$0")/lib.sh"

mkdir pb && protoc -I "$ROOT/tests" --python_out=pb "$ROOT/tests/otlp.proto" "$ROOT/tests/receive.proto" || fail protoc
client() { /usr/bin/python3 "$ROOT/tests/receive.py" pb "$@"; } # Debian's python3 has python3-protobuf
compare() { /usr/bin/python3 "$ROOT/tests/otlp.py" pb compare "$@"; }
export CLEAR_HTTP_TOKEN=0123456789abcdef0123
echo $CLEAR_HTTP_TOKEN >token.txt
python3 "$ROOT/fixtures/make_otlp.py" hand || fail 'make_otlp.py'

# ---- to another clear

"$CLEAR" profile -q --db from.db --no-files --label here --tag build=7 -- "$FIXTURES/leak" >/dev/null 2>&1 || fail profile
"$CLEAR" ingest -q --db from.db --tag team=a "$ROOT"/fixtures/corpus/pprof/after_go_*.pb.gz hand/good/links.otlp || fail ingest
runs=$(sql from.db 'SELECT count(*) FROM runs')
"$CLEAR" serve --db to.db --receive --http 127.0.0.1:0 >serve.out 2>serve.err &
server=$!
wait_for_text '^serving' serve.out
url=http://127.0.0.1:$(sed -n 's,^serving.*http://127.0.0.1:\([0-9]*\)/.*,\1,p' serve.out)
expect_status 1 "$CLEAR" push --db from.db --otlp "$url" 1 2>err
expect_match "$(cat err)" 'the server answered 401: a token is needed' 'without the token'
expect_equal "$(sql to.db 'SELECT count(*) FROM runs')" 0 'nothing was taken'
"$CLEAR" push --db from.db --otlp "$url" --otlp-token token.txt >pushed.txt || fail push
expect_match "$(cat pushed.txt)" "^$runs runs pushed, [0-9]+ profiles, " 'what push says'
expect_match "$("$CLEAR" push --db from.db --otlp "$url/v1development/profiles" --otlp-token token.txt --json 2>&1 "$runs")" '^\{"pushed":1,"profiles":[1-9][0-9]*,"bytes":[1-9][0-9]*\}$' 'as JSON'
kill -TERM "$server"
wait "$server"
expect_equal "$(cat serve.err)" '' 'standard error of the server'
check_db to.db
expect_equal "$(sql to.db "SELECT (SELECT group_concat(key || '=' || value, ',') FROM (SELECT key, value FROM tags WHERE run_id = runs.id AND key IN ('build', 'service.name'))) FROM runs WHERE command = 'leak'")" \
    'build=7,service.name=leak' 'tags of the run that was recorded'
expect_equal "$(sql to.db 'SELECT host FROM runs WHERE command = '"'leak'")" "$(sql from.db 'SELECT host FROM runs WHERE id = 1')" 'its host'
expect_equal "$(sql to.db 'SELECT sum(alloc_count), sum(alloc_bytes), sum(alloc_count - free_count) FROM sites JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id WHERE command = '"'leak'")" \
    "$(sql from.db 'SELECT sum(alloc_count), sum(alloc_bytes), sum(alloc_count - free_count) FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = 1')" 'its allocations'
for file in "$ROOT"/fixtures/corpus/pprof/after_go_*.pb.gz; do
    name=${file##*/}
    there=$(sql to.db "SELECT id FROM runs WHERE command = '$name'")
    "$CLEAR" export --db to.db "$there" --kind "$(sql to.db "SELECT kind FROM profiles WHERE run_id = $there")" -o back.pb.gz || fail "export of $name"
    python3 "$ROOT/tests/profile_diff.py" "$file" back.pb.gz || fail "$name is another one"
done
"$CLEAR" export --db to.db "$(sql to.db "SELECT id FROM runs WHERE command = 'shop'")" --format otlp -o back.otlp || fail 'export of links.otlp'

# Two files that received profiles of the same service, host and hour are not one run: clear merge takes both.
rm serve.out
"$CLEAR" serve --db other.db --receive --http 127.0.0.1:0 >serve.out 2>serve.err &
server=$!
wait_for_text '^serving' serve.out
"$CLEAR" push -q --db from.db --otlp "$(sed -n 's,^serving.* at \(http://[0-9.:]*\)/.*,\1,p' serve.out)" --otlp-token token.txt 1 || fail 'push to another file'
kill -TERM "$server"
wait "$server"
"$CLEAR" merge -q to.db other.db || fail merge
expect_equal "$(sql to.db "SELECT count(*) FROM runs WHERE command = 'leak'")" 2 'runs of both files'

# ---- to a Collector that is busy, takes all, takes a part, takes nothing

client collector >port.txt 2>collector.err &
collector=$!
wait_for_text '^[0-9]+$' port.txt
there=127.0.0.1:$(cat port.txt)
export OTEL_EXPORTER_OTLP_HEADERS='X-Scope-OrgID=tenant, Other=1'
"$CLEAR" push --db from.db -q --otlp "http://$there" --otlp-token token.txt "$runs" || fail "push: $(cat collector.err)"
expect_equal "$(cat collected.txt)" "/v1development/profiles application/x-protobuf Bearer $CLEAR_HTTP_TOKEN tenant" 'where it went'
compare collected.pb hand/good/links.otlp || fail 'what was OTLP is another one'
expect_status 1 "$CLEAR" push --db from.db --otlp "$there/other" latest 2>err
expect_match "$(cat err)" 'run [0-9]+: .*2 profiles were rejected: two are wrong' 'a part'
expect_match "$(cat collected.txt)" '^/other ' 'a path of its own'
expect_status 1 "$CLEAR" push --db from.db --otlp "http://$there" latest 2>err
expect_match "$(cat err)" 'the server answered 400: no such profile' 'nothing'
wait $collector
expect_status 2 "$CLEAR" push --db from.db --otlp nowhere 2>err
expect_status 2 "$CLEAR" push --db from.db --otlp-token token.txt 2>err
expect_status 2 "$CLEAR" push --db from.db --otlp "http://$there" --to postgresql:///a 2>err
expect_status 1 "$CLEAR" push --db from.db --otlp "http://$there" latest 2>err # nobody is there
