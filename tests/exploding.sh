# Small files that become large when they are read or written out: each command ends with a message that names --limit, in little time and
# memory, and works where the limit is raised.
# build: plain
# timeout: 300
. "$(dirname "$0")/lib.sh"
export LC_ALL=C HOME=$TMP

within() { # within WHAT COMMAND...: its memory in KiB goes to `kib`
    local what=$1 got=0
    shift
    timeout 100 python3 - "$@" >out 2>err <<'PYTHON' || got=$?
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print("peak %d" % resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
PYTHON
    [ "$got" -ne 124 ] || fail "$what: no end"
    kib=$(sed -n 's/^peak //p' err)
    return $got
}

refused() { # refused WHAT KIB COMMAND...: the limit is named, and the memory stays below KIB
    local what=$1 most=$2
    shift 2
    if within "$what" "$@"; then fail "$what: not refused"; fi
    expect_match "$(grep -v ^peak err)" "(the limit is [0-9]+ ([MK]i)?B; raise it with --limit SIZE|--limit 4G allows it)$" "$what"
    [ -n "${SANITIZED:-}" ] || expect_between "$kib" 1 "$most" "$what: KiB"
}

# Text that inflates a thousand times.
python3 "$ROOT/tests/exploding.py" names 30 30 4000000 >inflates.pb.gz || fail "making inflates.pb.gz"
expect_between "$(stat -c %s inflates.pb.gz)" 1 200000 "bytes of inflates.pb.gz"
refused "inflating" 200000 "$CLEAR" ingest --db t.db inflates.pb.gz
[ ! -e t.db ] || fail "a warehouse of a file that was refused"

# Stacks that are written out, below a limit that a test has time for.
python3 "$ROOT/tests/exploding.py" leaf 4000 400 >leaf.pb.gz && python3 "$ROOT/tests/exploding.py" root 4000 400 >root.pb.gz &&
    python3 "$ROOT/tests/exploding.py" names 150 150 30000 >names.pb.gz || fail "making profiles"
expect_between "$(cat leaf.pb.gz root.pb.gz names.pb.gz | wc -c)" 1 150000 "bytes of the profiles"
refused "reading stacks" 200000 "$CLEAR" ingest --db t.db --limit 4M leaf.pb.gz
for file in leaf root names; do "$CLEAR" ingest -q --db t.db --label $file $file.pb.gz >/dev/null 2>&1 || fail "ingest of $file"; done
refused "loading stacks" 200000 "$CLEAR" top --db t.db --limit 4M leaf
for format in speedscope samples; do refused "$format" 250000 "$CLEAR" export --db t.db --kind samples --format $format --limit 1M -o x.$format leaf; done
for format in folded csv; do refused "$format" 250000 "$CLEAR" export --db t.db --kind samples --format $format --limit 8M -o x.$format names; done
refused raw 250000 "$CLEAR" report raw --db t.db --kind samples --limit 2M leaf
refused traces 250000 "$CLEAR" report traces --db t.db --kind samples --limit 16M names
for format in folded flamegraph; do refused "tree of $format" 400000 "$CLEAR" export --db t.db --kind samples --format $format --limit 32M -o x.$format root; done
refused "flame graph of names" 400000 "$CLEAR" export --db t.db --kind samples --format flamegraph --limit 32M -o x.flamegraph names
[ -z "$(find . -name 'x.*')" ] || fail "half a file is left: $(find . -name 'x.*')"

# Without --limit the names do not fit, and nobody waits for them; raised, what was refused is written.
refused "traces by default" 300000 "$CLEAR" report traces --db t.db --kind samples names
within "raised" "$CLEAR" export --db t.db --kind samples --format folded --limit 1G -o x.folded leaf || fail "raised: $(cat err)"
expect_equal "$(wc -l <x.folded)" 400 "lines of the profile where the limit is raised"

# One request to a recorder for what becomes large: it gets an error, and the recorder goes on in its own memory.
"$CLEAR" profile -q --db t.db -o long.profile --http 127.0.0.1:0 -- sleep 1000 >profile.out 2>profile.err &
recorder=$!
wait_for_text serving profile.err
url=$(sed -n 's,.*\(http://127.0.0.1:[0-9]*/[^ ]*\).*,\1,p' profile.err)
for words in "samples?run=names&debug=1" "samples?run=names&format=csv" "samples?run=root&format=flamegraph"; do
    curl -s -m 100 -o answer "${url}$words" || fail "no answer to $words"
    expect_match "$(head -c 1000 answer | tr -d '\0')" "raise it with --limit SIZE|<svg|it took longer than 20 seconds" "$words"
done
# While such an answer is made, whoever asks for something else gets it.
server=$(pgrep -P "$(pgrep -P "$recorder" -o -x clear-recorder)" -x clear-server) || fail "no server process"
ask_slowly() {
    curl -s -m 100 -o slow "${url}samples?run=root&format=flamegraph" & # 1.5 s
    slow=$!
}
answering() { # asked again where the answer was there before anybody looked
    pgrep -P "$server" >answering && return
    kill -0 "$slow" 2>/dev/null || ask_slowly
    return 1
}
ask_slowly
wait_for "a process that makes the answer" answering
sleep 0.2 # it has begun by then: the server waits for that
kill -STOP "$(cat answering)"
expect_equal "$(curl -s -m 15 -o answer -w '%{http_code}' "$url")" 200 "the index meanwhile"
kill -CONT "$(cat answering)"
wait "$slow"
expect_equal "$(curl -s -o answer -w '%{http_code}' "${url}heap?debug=1&run=leaf")" 404 "a kind that the run does not have"
expect_equal "$(curl -s -o answer -w '%{http_code}' "${url}samples?debug=1&run=leaf")" 200 "a request after those"
[ -n "${SANITIZED:-}" ] || expect_between "$(awk '/VmHWM/ {print $2}' /proc/$recorder/status)" 1 250000 "KiB of the recorder"
kill -TERM $recorder
wait $recorder
expect_equal $? 143 "status of what was recorded"
expect_equal "$(sql t.db "SELECT exit_signal FROM runs ORDER BY id DESC LIMIT 1")" 15 "the recorded run"
