# clear serve --receive by Pyroscope's two ways: a program in Go that sends what runtime/pprof wrote, forms, texts, protobuf and JSON; labels become
# tags, states are not added up; of what is refused nothing is stored.
# timeout: 480 (under the sanitizers)
# build: plain
# leaks: a receiver that goes on running
. "$(dirname "$0")/lib.sh"

mkdir pb && protoc -I "$ROOT/tests" --python_out=pb "$ROOT/tests/otlp.proto" "$ROOT/tests/receive.proto" || fail protoc
client() { /usr/bin/python3 "$ROOT/tests/receive.py" pb "$@"; } # Debian's python3 has python3-protobuf
HOME=$TMP GO111MODULE=off go build -o sends "$ROOT/tests/receive_client.go" || fail 'go build'
python3 "$ROOT/fixtures/make_profile.py" made good || fail 'make_profile.py'
export CLEAR_HTTP_TOKEN=0123456789abcdef0123
"$CLEAR" serve --db t.db --receive --every 1d --http 127.0.0.1:0 >serve.out 2>serve.err &
server=$!
wait_for_text '^serving' serve.out
url=http://127.0.0.1:$(sed -n 's,^serving.*http://127.0.0.1:\([0-9]*\)/.*,\1,p' serve.out)
right="Authorization: Bearer $CLEAR_HTTP_TOKEN" push=/push.v1.PusherService/Push
post() { # post PATH CURL-ARGUMENT...: prints the status and the type; the answer is in the file `answer`
    curl -s -o answer -w '%{http_code} %{content_type}' -H "$right" "${@:2}" "$url$1"
}
values() { sql t.db "SELECT $1 FROM $2 JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id WHERE command = '$3' AND profiles.kind = '$4'"; }

# ---- a program in Go: its second heap has 4 MiB more in use than the first

./sends "$url" ingest >sent.txt || fail "sends ingest: $(cat serve.err)"
expect_equal "$(cat sent.txt)" 12 'MiB that it keeps'
kinds="SELECT kind, count(*) FROM profiles JOIN runs ON runs.id = run_id WHERE command = 'go.app' GROUP BY 1 ORDER BY 1"
expect_equal "$(sql t.db "$kinds")" 'cpu|1
go_block|1
goroutine|2
heap|2
lock|1' 'kinds of go.app'
expect_equal "$(sql t.db "SELECT host, flags, source, (SELECT group_concat(key || '=' || value, ',') FROM tags WHERE run_id = runs.id) FROM runs WHERE command = 'go.app'")" \
    'box||received|hostname=box,region=eu' 'the run'
mib=$(values 'sum(alloc_bytes - free_bytes) / 1048576' sites go.app heap)
expect_between "$mib" 12 13 'MiB in use: of the second heap, not of both'
expect_between "$(values 'sum(v0)' samples go.app goroutine)" 2 9 'goroutines: of the second profile'
expect_match "$("$CLEAR" top --db t.db --kind cpu 2>/dev/null)" 'burnsTime' 'CPU time'
expect_equal "$(values 'sum(contended) > 0 AND sum(wait_ns) > 0' locks go.app lock)" 1 'the mutex'
expect_equal "$(values 'sum(v0) > 0 AND sum(v1) > 0' samples go.app go_block)" 1 'the block'
./sends "$url" push >sent.txt || fail "sends push: $(cat serve.err)"
expect_equal "$(sql t.db "${kinds/go.app/go.push}")" 'cpu|1
go_block|1
heap|1
lock|1' 'kinds of go.push'
expect_equal "$(sql t.db "SELECT key, value FROM tags JOIN runs ON runs.id = run_id WHERE command = 'go.push' ORDER BY 1")" 'hostname|box
service_name|go.push' 'labels, but those of Pyroscope itself'

# ---- pprof, text and JSON by curl

from='from=1700000000&until=1700000010' one=made/every_field.pb
gzip -kf "$one"
for form in "--data-binary @$one" "--data-binary @$one.gz" "-F profile=@$one" "-F profile=@$one.gz -F sample_type_config={}" "-H Content-Encoding:gzip --data-binary @$one.gz"; do
    # shellcheck disable=SC2086 # words
    expect_match "$(post "/ingest?name=forms&$from&format=pprof" $form)" '^200' "$form"
done
expect_equal "$(sql t.db "SELECT count(*), count(DISTINCT kind) FROM profiles JOIN runs ON runs.id = run_id WHERE command = 'forms'")" '5|1' 'five times the same'
expect_match "$(post "/ingest?name=text.cpu%7Benv%3D%22a+b%22%2C+x%3D1%7D&$from" --data-binary $'foo;bar 100\nfoo;baz 200\n')" '^200' folded
expect_match "$(post "/ingest?name=text.cpu&format=lines&sampleRate=50&$from" --data-binary $'foo;bar\nfoo;bar\n')" '^200' lines
expect_equal "$(values 'sum(samples), sum(cpu_ns)' cpu text cpu)" '302|3040000000' 'samples and their time'
expect_match "$(post "/ingest?name=text.alloc_space&units=bytes&$from" --data-binary $'foo;bar 4096\n')" '^200' bytes
expect_equal "$(sql t.db "SELECT kind, sample_types FROM profiles JOIN runs ON runs.id = run_id WHERE command = 'text' AND kind <> 'cpu'")" \
    'heap|[["alloc_space","bytes"]]' 'what bytes are'
expect_equal "$(sql t.db "SELECT started_ns, runs.duration_ns FROM runs WHERE command = 'text'")" '1700000000000000000|10000000000' 'its time'
# Labels that differ are those of no run; a kind with other types is one of its own.
expect_equal "$(sql t.db "SELECT count(*) FROM tags JOIN runs ON runs.id = run_id WHERE command = 'text'")" 2 'labels of the first text'
expect_match "$(post "/ingest?name=text.cpu%7Benv%3Dother%7D&$from" --data-binary 'foo 1')" '^200' 'another label'
expect_equal "$(sql t.db "SELECT key, value FROM tags JOIN runs ON runs.id = run_id WHERE command = 'text'")" 'x|1' 'labels that all have in common'
for units in samples bytes lock_nanoseconds; do
    expect_match "$(post "/ingest?name=units&units=$units&$from" --data-binary 'foo 1')" '^200' "units $units"
done
expect_equal "$(sql t.db "SELECT kind FROM profiles JOIN runs ON runs.id = run_id WHERE command = 'units' ORDER BY 1")" 'cpu
samples
samples_2' 'kinds of unlike types'
"$CLEAR" export --db t.db "$(sql t.db "SELECT id FROM runs WHERE command = 'units'")" --kind samples_2 --format folded -o - >folded.txt || fail 'export of samples_2'
expect_equal "$(cat folded.txt)" 'foo 1' 'samples_2'

client push push.pb pushed h7 "$one.gz" "$one" || fail push
expect_equal "$(post $push -H 'Content-Type: application/proto' --data-binary @push.pb)" '200 application/proto' protobuf
gzip -kf push.pb
expect_equal "$(post $push -H 'Content-Type: application/proto' -H 'Content-Encoding: gzip' --data-binary @push.pb.gz)" '200 application/proto' 'with gzip'
json() { printf '{"series":[{"labels":[{"name":"service_name","value":"pushed"},{"name":"hostname","value":"h7"}],"samples":[{"%s":"%s"}]}]}' "$1" "$2"; }
for field in rawProfile raw_profile; do
    json $field "$(base64 -w0 "$one.gz")" >push.json
    expect_equal "$(post $push -H 'Content-Type: application/json; charset=utf-8' --data-binary @push.json)" '200 application/json' "JSON with $field"
    expect_equal "$(cat answer)" '{}' 'the answer'
done
expect_equal "$(sql t.db "SELECT host, count(*), count(DISTINCT kind) FROM profiles JOIN runs ON runs.id = run_id WHERE command = 'pushed'")" 'h7|6|1' 'what was pushed'

# ---- what is refused

count='SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM profiles), (SELECT count(*) FROM traces), (SELECT count(*) FROM tags), (SELECT count(*) FROM functions)'
before=$(sql t.db "$count")
refused() { # refused STATUS CODE WHAT PATH CURL-ARGUMENT...
    expect_equal "$(post "${@:4}")" "$1 application/json" "$3"
    expect_match "$(cat answer)" "^\{\"code\":\"$2\",\"message\":\".+\"\}$" "error of $3"
}
bad() { refused 400 invalid_argument "$@"; }
proto=(-H 'Content-Type: application/proto') json=(-H 'Content-Type: application/json')
refused 401 unauthenticated 'a wrong token' $push -H 'Authorization: Bearer 0123456789abcdef0124' "${proto[@]}" --data-binary @push.pb
refused 405 invalid_argument GET /ingest?name=a
refused 415 invalid_argument 'another type' $push --data-binary @push.pb
refused 501 unimplemented 'another compression' $push "${proto[@]}" -H 'Content-Encoding: br' --data-binary @push.pb
head -c 34000000 /dev/zero >large
refused 413 resource_exhausted 'too large' "/ingest?name=a&$from" --data-binary @large
refused 413 resource_exhausted 'too large in chunks' $push "${proto[@]}" -H 'Transfer-Encoding: chunked' --data-binary @large
bad 'no name' "/ingest?$from" --data-binary 'a 1'
for name in '%7B%7D' 'a%7B' 'a%7Bx' 'a%7Bx%3D1' 'a%7Bx%3D1%7Db' 'a%00' 'a%zz' 'a%7Bx%3D%FF%7D' '%FF'; do
    bad "name $name" "/ingest?name=$name&$from" --data-binary 'a 1'
done
bad 'a long label' "/ingest?name=a%7Bx%3D$(printf '%05000d' 0)%7D&$from" --data-binary 'a 1'
bad 'many labels' "/ingest?name=a%7B$(seq -f 'k%g%%3D1' -s, 129)%7D&$from" --data-binary 'a 1'
bad 'a time' '/ingest?name=a&from=yesterday' --data-binary 'a 1'
bad 'a far time' '/ingest?name=a&from=9999999999' --data-binary 'a 1'
bad 'no rate' "/ingest?name=a&sampleRate=0&$from" --data-binary 'a 1'
bad 'a text' "/ingest?name=a&$from" --data-binary $'a 1\nb'
bad 'no text' "/ingest?name=a&$from" --data-binary $'\xff\xfe 1'
bad 'an empty body' "/ingest?name=a&$from" --data-binary ''
for format in jfr trie tree speedscope; do bad "$format" "/ingest?name=a&format=$format&$from" --data-binary 'a 1'; done
head -c 30 "$one" >cut.pb
bad 'a cut profile' "/ingest?name=a&format=pprof&$from" --data-binary @cut.pb
bad 'a form with a cut profile' "/ingest?name=a&$from" -F profile=@cut.pb
bad 'a form without a profile' "/ingest?name=a&$from" -F other=1
bad 'a form with an earlier profile' "/ingest?name=a&$from" -F "profile=@$one" -F "prev_profile=@$one"
bad 'a recording of Java' "/ingest?name=a&$from" -F "jfr=@$one"
for body in '' '--x' $'--x\r\n' $'--x\r\n\r\n' $'--x\r\nContent-Disposition: form-data; name="profile"\r\n\r\nabc' $'--x\r\nContent-Disposition: form-data; name="profile"\r\n\r\nabc\r\n--x'; do
    bad 'a cut form' "/ingest?name=a&$from" -H 'Content-Type: multipart/form-data; boundary=x' --data-binary "$body"
done
bad 'a form without a boundary' "/ingest?name=a&$from" -H 'Content-Type: multipart/form-data' --data-binary "@$one"
size=$(stat -c %s push.pb)
for cut in 1 $((size / 2)) $((size - 1)); do
    head -c $cut push.pb >cut.pb
    bad "$cut bytes of a request" $push "${proto[@]}" --data-binary @cut.pb
done
client push bad.pb pushed h7 "$one" "$ROOT/tests/lib.sh" # the second is no profile: the first is not stored either
bad 'one that is no profile' $push "${proto[@]}" --data-binary @bad.pb
for text in '' '[' '{"series":1' "$(json rawProfile '!!!!')" "$(json rawProfile '')" "$(json rawProfile aGVsbG8=)"; do
    bad "JSON: $text" $push "${json[@]}" --data-binary "$text"
done
expect_equal "$(sql t.db "$count")" "$before" 'nothing of it is stored'

kill -TERM "$server"
wait "$server"
expect_equal $? 0 'status after SIGTERM'
expect_equal "$(cat serve.err)" '' 'standard error'
check_db t.db
