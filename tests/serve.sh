# clear serve: stored runs and live ones at the paths of net/http/pprof, for go tool pprof, curl and scrapers.
# timeout: 480
# longer: REQUESTS=1000
# leaks: a server that goes on running
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/served.sh"

serve() { # serve NAME OPTIONS...: sets $pid and $url
    local name=$1
    shift
    rm -f "$name.out" # of an earlier one of this name
    # bash ignores SIGINT for what it starts in the background, and clear leaves ignored signals ignored.
    env --default-signal=INT "$CLEAR" serve --http 127.0.0.1:0 "$@" >"$name.out" 2>"$name.err" &
    pid=$!
    wait_for_text '^serving' "$name.out"
    url=$(sed -n 's/^serving .* at \(http:.*\)$/\1/p' "$name.out")
    [ -n "$url" ] || fail "clear serve $*: $(cat "$name.out" "$name.err")"
}
stop() { # stop SIGNAL: it must end cleanly
    local status=0
    kill "-$1" "$pid"
    wait "$pid" || status=$?
    expect_equal "$status" 0 "status of clear serve after SIG$1"
}
header() { # header NAME URL
    curl -s -o /dev/null -D - "$2" | tr -d '\r' | sed -n "s/^$1: //Ip"
}

# ---- stored runs

"$PLAIN_CLEAR" profile -q --db t.db --label locks -o locks.profile "$FIXTURES/lock_contended" >/dev/null || fail lock_contended
"$PLAIN_CLEAR" profile -q --db t.db --label queues -o queues.profile "$FIXTURES/channels" >/dev/null || fail channels
"$PLAIN_CLEAR" profile -q --db t.db --label cells -o cells.profile "$FIXTURES/mvcc" >/dev/null || fail mvcc
serve stored --db t.db

# What comes over the wire is what `clear export` writes.
while read -r path kind options; do
    # shellcheck disable=SC2086 # words are meant
    "$PLAIN_CLEAR" export --db t.db queues --kind "$kind" $options -o "want.$path.pb.gz" || fail "export $kind"
    expect_equal "$(code "got.$path" "$url$path?run=queues")" 200 "$path"
    expect_same_file "got.$path" "want.$path.pb.gz" "$path"
    expect_equal "$(header Content-Type "$url$path?run=queues")" application/octet-stream "type of $path"
    expect_equal "$(header Content-Disposition "$url$path?run=queues")" "attachment; filename=\"$path\"" "name of $path"
    expect_equal "$(header X-Content-Type-Options "$url$path?run=queues")" nosniff "sniffing of $path"
done <<END
heap heap
allocs heap --type alloc_space
mutex mutex
block block
profile cpu
lock lock
channels channels
END
expect_equal "$(code got.cells "${url}cells")" 200 'cells of the latest run'
expect_equal "$(total reads got.cells)" "$(sql t.db "SELECT sum(reads) FROM cell_use WHERE run_id = 3")" 'reads of cells'

# Go's own two figures, of locks, and of locks, channels and other waits: against the tables.
waits="SELECT sum(wait_ns + read_wait_ns) FROM locks JOIN profiles ON profiles.id = profile_id WHERE run_id = 2"
locks="$waits AND profiles.kind = 'lock'"
channels="SELECT sum(push_blocked_ns + pop_blocked_ns) FROM channels JOIN profiles ON profiles.id = profile_id WHERE run_id = 2"
expect_match "$(pprof -raw got.mutex 2>/dev/null)" '^contentions/count delay/nanoseconds\[dflt\]$' 'types of mutex'
expect_match "$(pprof -raw got.block 2>/dev/null)" '^contentions/count delay/nanoseconds\[dflt\]$' 'types of block'
expect_equal "$(total delay got.mutex)" "$(sql t.db "$locks")" 'delay of mutex'
expect_equal "$(total delay got.block)" "$(sql t.db "SELECT ($waits) + ($channels)")" 'delay of block'
expect_match "$(pprof -top got.allocs 2>/dev/null)" '^Type: alloc_space' 'what pprof shows first of allocs'

# The run is named as everywhere; stretches of it; texts.
expect_equal "$(code got "${url}heap?run=latest~2")" 200 'latest~2'
expect_equal "$(pprof -raw got 2>/dev/null | grep -c 'label: locks')" 1 'the run that was named'
expect_equal "$(code got "${url}heap?run=1&window=-1")" 200 'a window'
expect_equal "$(code got "${url}heap?run=1&from=0&to=1h")" 200 'a stretch'
expect_equal "$(code got "${url}heap?run=1&seconds=1")" 200 'the last second of a run that has ended'
expect_equal "$(header Content-Disposition "${url}heap?run=1&seconds=1")" 'attachment; filename="heap-delta"' 'name of a delta'
"$PLAIN_CLEAR" export --db t.db 1 --kind lock --format folded -o want.folded
expect_equal "$(code got "${url}lock?run=1&debug=1")" 200 'debug=1'
expect_same_file got want.folded 'debug=1'
expect_equal "$(header Content-Type "${url}lock?debug=1&run=1")" 'text/plain; charset=utf-8' 'type of debug=1'
"$PLAIN_CLEAR" export --db t.db 1 --kind cpu -o want.svg
expect_equal "$(header Content-Type "${url}profile?run=1&format=flamegraph")" image/svg+xml 'type of a flame graph'
expect_equal "$(curl -s "${url}profile?run=1&format=flamegraph" | head -c 5)" "$(head -c 5 want.svg)" 'a flame graph'

# The index: a page that lists paths and runs, and text of a program stays text.
"$PLAIN_CLEAR" profile -q --db t.db --label '<script>alert(1)</script>' -o script.profile "$FIXTURES/leak" >/dev/null 2>&1
"$PLAIN_CLEAR" profile -q --db t.db --label tasks -o tasks.profile "$FIXTURES/fibers" >/dev/null 2>&1 || fail fibers
sql t.db "INSERT INTO profiles(run_id, kind) SELECT id, 'counters' FROM runs WHERE label = 'tasks'"
expect_equal "$(code index.html "$url")" 200 index
expect_equal "$(header Content-Type "$url")" 'text/html; charset=utf-8' 'type of the index'
expect_match "$(cat index.html)" '&lt;script&gt;alert' 'a label in the index'
expect_equal "$(grep -c '<script' index.html)" 0 'scripts in the index'
expect_equal "$(grep -c '<a href="/">' index.html)" 1 'the link to the application'
for link in $(grep -o 'href="[a-z_]*?run=[^"]*"' index.html | sed 's/.*"\(.*\)"/\1/; s/&amp;/\&/g'); do
    expect_equal "$(code got "$url$link")" 200 "the index's link $link"
done
for link in channels?run=2 cells?run=3 fibers?run=5; do
    grep -qF "href=\"$link\"" index.html || fail "the index has no link $link"
done
expect_equal "$(grep -c 'href="counters' index.html)" 0 'links to what is no profile'
expect_equal "$(code got "${url}counters?run=tasks")" 404 'what is no profile'
expect_match "$(cat got)" 'no stacks.*clear query' 'counters'
expect_match "$("$CLEAR" export --db t.db 1 --kind counters -o x.pb.gz 2>&1)" 'no stacks.*clear query' 'export of counters'
root=${url%/debug/pprof/}
expect_equal "$(code index.got "$root/debug/pprof")" 302 'the index without its last slash'

# The application: its files as they are in web/, but for comments and indentation, each with a tag by which a browser keeps it.
expect_equal "$(code page.got "$root/?runs=latest&f=x")" 200 'the application'
lasting=$(grep -o 'v-[0-9a-f]*/' page.got | sort -u)
sed "s,/web/$lasting,/web/," page.got >page.plain
expect_same_file page.plain "$ROOT/web/index.html" 'the application'
expect_equal "$(header Cache-Control "$root/")" no-cache 'the page itself'
expect_equal "$(header Cache-Control "$root/web/v-0123456789abcdef/main.js")" no-cache 'a file of another version'
expect_match "$(header Content-Security-Policy "$root/")" "^default-src 'none'; script-src 'self'; style-src 'self'; " 'policy of the application'
python3 - "$root" "$lasting" page.got "$ROOT" $(cd "$ROOT" && ls web/*.* web/*/*.*) >count.txt <<'PYTHON' || fail 'the files of the application'
import re, sys, urllib.request

root, lasting, page, tree, *files = sys.argv[1:]


def get(path):  # an answer that is no 200 raises an error
    with urllib.request.urlopen(root + path) as answer:
        assert answer.status == 200, (path, answer.status)
        return answer.read().decode(), answer.headers


def plain(text):
    """Without blanks: those around operators are not sent, nor is indentation, but for that of texts over several lines, nor what ends a block's last statement; const is let, true !0."""
    return re.sub(r";(\n*\})", r"\1", re.sub(r"(?<!export )\bconst ", "let ", text).replace("true", "!0").replace("false", "!1").replace(" ", ""))


def same(got, want, is_code):
    """Of code, the ends of lines do not matter where the statement goes on."""
    return plain(got).replace("\n", "") == plain(want).replace("\n", "") if is_code else got == want


def quoted(text):
    """The texts of lines without a slash and a backquote, which are sent as they are."""
    found = [re.findall(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", line) for line in text.split("\n") if not re.search("[`/]", line)]
    return [text for texts in found for text in texts]


names = re.findall('"(/web/[^"]*)', open(page, encoding="utf-8").read())
for name in names:
    assert "immutable" in get(name)[1]["Cache-Control"], name
for file in files:
    with open(f"{tree}/{file}", encoding="utf-8", newline="") as source:
        want = source.read()
    got = get("/" + file)[0]
    is_code = file.endswith((".js", ".css"))
    if is_code:  # comments on lines of their own are not sent
        want = re.sub(r"(?ms)^ */\*.*?\*/ *$", "", want)
        want = re.sub(r"(?m)(^| +)//.*$", "", want)  # and those at ends of lines are not sent
        assert len(re.findall("(?m)^ ", got)) < 10, f"{file} is sent with its indentation"
    assert not is_code or [text for text in quoted(want) if text not in got] == [], file
    assert same(got.replace("/web/" + lasting, "/web/"), want, is_code), file
print(len(names), len(files))
PYTHON
expect_match "$(cat count.txt)" '^[1-9][0-9]* [1-9][0-9]*$' 'the files that were compared'
code file.got "$root/web/charts/timeline_layout.js" >/dev/null
grep -q '^       sum(min(' file.got || fail 'a text of timeline_layout.js lost its indentation'
expect_equal "$(header Content-Type "$root/web/main.js")" 'text/javascript; charset=utf-8' 'type of a module'
tag=$(header ETag "$root/web/main.js")
expect_equal "$(curl -s -o file.got -w '%{http_code} %{size_download}' -H "If-None-Match: $tag" "$root/web/main.js")" '304 0' 'a file that the browser has'
expect_equal "$(code got "$root/web/nothing.js")" 404 'a file that is not there'
expect_equal "$(curl -sI "${url}heap" | tr -d '\r' | head -n 1)" 'HTTP/1.1 200 OK' HEAD

# What net/http/pprof has beside the profiles: go tool pprof meets no 404, whatever the run is.
"$PLAIN_CLEAR" profile -q --db t.db --label words -o words.profile /bin/echo "it's" 'two words' >/dev/null || fail echo
expect_equal "$(code got "${url}cmdline?run=words")" 200 'the command line'
expect_equal "$(tr '\0' '\n' <got)" $'/bin/echo\nit\'s\ntwo words' 'the command line'
for path in threadcreate goroutine; do
    expect_equal "$(code got "$url$path?run=words")" 200 "$path of a run without one"
    expect_match "$(pprof -raw got 2>/dev/null)" "^$path/count" "types of an empty $path"
    expect_equal "$(pprof -comments got 2>/dev/null)" "run $(sql t.db "SELECT id FROM runs WHERE label = 'words'") has no $path profile" "comment of an empty $path"
    expect_match "$(pprof -top "$url$path?run=words" 2>&1)" "of 0 total" "pprof of an empty $path"
    expect_equal "$(curl -s "$url$path?run=words&debug=1")" "$path profile: total 0" "an empty $path as text"
    expect_equal "$(header Content-Disposition "$url$path?run=words")" "attachment; filename=\"$path\"" "name of $path"
done
expect_equal "$(code got "${url}threadcreate?run=locks")" 200 threadcreate
expect_equal "$(total started got)" "$(sql t.db "SELECT sum(started) FROM thread_starts JOIN profiles ON profiles.id = profile_id WHERE run_id = 1")" 'threads that were started'
read -r address name < <(sql t.db "SELECT printf('0x%x', address) || ' ' || functions.name FROM locations JOIN location_lines ON location_id = locations.id
    AND position = 0 JOIN functions ON functions.id = function_id WHERE functions.name = 'main' ORDER BY locations.id LIMIT 1")
curl -s "${url}symbol?$address+0xfffffffffff" >got
expect_equal "$(cat got)" "num_symbols: 1"$'\n'"$address $name" 'the name of an address'
curl -s --data-binary "0xfffffffffff+$address" -H 'Content-Type: application/octet-stream' "${url}symbol" >posted
expect_same_file posted got 'the same, as pprof asks'

# There is nothing to switch here, whoever asks.
expect_equal "$(curl -s -o got -w '%{http_code}' -X POST -H 'Authorization: Bearer 0123456789abcdef' "${url}toggle")" 409 'toggle of stored runs'
expect_match "$(cat got)" 'clear profile --http' 'what can be switched'
expect_equal "$(code got "${url}toggle")" 405 'GET of toggle'

# Errors are sentences, and go tool pprof shows them.
expect_match "$(curl -s "${url}heap?run=nobody")" "no run 'nobody'" 'an unknown run'
expect_match "$(curl -s "${url}channels?run=locks")" 'has no channels profile; it has: ' 'a kind that a run lacks'
expect_match "$(pprof -top "${url}heap?run=nobody" 2>&1)" "no run 'nobody'" 'the error in pprof'

# Another file under the same name is served; a connection that nobody uses is given up.
"$PLAIN_CLEAR" profile -q --db other.db --label other -o other.profile "$FIXTURES/leak" >/dev/null 2>&1
mv t.db kept.db && mv other.db t.db
expect_equal "$(code got "${url}heap")" 200 'another file'
expect_equal "$(pprof -raw got 2>/dev/null | grep -c 'label: other')" 1 'the file that is there now'
is_closed() { [ -z "$(find "/proc/$pid/fd" -lname '*t.db*')" ]; }
wait_for 'the end of an idle connection' is_closed
stop INT
mv kept.db t.db

# ---- a run that another process records, its windows folded into three: what was told is not told again

"$PLAIN_CLEAR" profile -q --db live.db --interval 0.2 --windows 3 -o live.profile "$FIXTURES/progress" count 300000 stop >live.txt &
recorder=$!
count() { od -A n -t u8 -N 8 count | tr -d ' '; }
has_begun() { [ -s live.db ] && [ -s count ] && [ "$(count)" -gt 0 ]; }
wait_for 'the first allocation' has_begun
serve live --db live.db
expect_equal "$(code first.pb.gz "${url}delta_heap")" 200 'delta_heap'
expect_equal "$(code seconds.pb.gz "${url}heap?seconds=2")" 200 'heap?seconds=2'
after=$(count)
# It begins with the flush before it was asked for, which told at least what the first one did.
first=$(flat makes_progress first.pb.gz)
expect_between "$(flat makes_progress seconds.pb.gz)" 1 $((after - ${first:-0})) 'allocations of two seconds'
expect_match "$(pprof -raw seconds.pb.gz 2>/dev/null)" '^Duration: ([2-9]|1[0-9])(\.[0-9]+)?s?' 'what it says it covers, no less than was asked for'
[ "$(total inuse_objects seconds.pb.gz)" -ge 64 ] || fail "in use is no difference: $(total inuse_objects seconds.pb.gz)"

# go tool pprof fetches by itself.
rm -rf "$TMP/pprof"
pprof -top -seconds=1 -timeout=120 "${url}profile" >cpu.txt 2>&1 || fail "pprof of profile: $(cat cpu.txt)"
expect_match "$(cat cpu.txt)" '% +(main|makes_progress)$' 'CPU time'
pprof -top "${url}heap" >heap.txt 2>&1 || fail "pprof of heap: $(cat heap.txt)"
expect_match "$(cat heap.txt)" 'makes_progress' 'heap'
expect_equal "$(code second.pb.gz "${url}delta_heap")" 200 'delta_heap again'
# Whoever waits does not keep the server from ending.
kept=$pid kept_url=$url
serve ends --db live.db
curl -s -o ends.txt -w '%{http_code}' "${url}heap?seconds=60" >ends.code &
waits=$!
sleep 0.5
expect_equal "$(cat ends.code)" '' 'a request for the next minute'
stop INT
wait "$waits"
expect_match "$(cat ends.code)" '^(503|000)$' 'what it gets'
pid=$kept url=$kept_url
pprof -top -timeout=120 "${url}profile?seconds=2" >cpu.txt 2>&1 || fail "pprof of profile?seconds=2: $(cat cpu.txt)"

# A scraper: many requests, 8 at a time, each a whole profile.
requests=${REQUESTS:-48}
scrape() { # scrape URL DIRECTORY: how often it was answered how
    seq "$requests" | awk -v url="$1" -v directory="$2" '{ print "url = \"" url "\"\noutput = " directory "/" $1 ".pb.gz" }' >urls
    curl -s -Z --parallel-max 8 --no-progress-meter -w '%{http_code}\n' -K urls | sort | uniq -c | awk '{ print $2, $1 }'
}
mkdir scraped refused
expect_equal "$(scrape "${url}heap?n=1" refused)" "400 $requests" 'a parameter that is not there'
expect_equal "$(scrape "${url}heap" scraped)" "200 $requests" 'many requests'
gzip -t scraped/*.pb.gz || fail 'a scraped profile is not whole'

touch stop
wait "$recorder"
expect_equal $? 9 'status of the program'
expect_equal "$(code third.pb.gz "${url}delta_heap")" 200 'delta_heap after the end'
# What the three told is the run, neither more nor less.
sum=$(($(flat makes_progress first.pb.gz) + $(flat makes_progress second.pb.gz) + $(flat makes_progress third.pb.gz)))
expect_equal "$sum" "$(awk '{ print $2 }' live.txt)" 'sum of the deltas'
expect_equal "$(code fourth.pb.gz "${url}delta_heap")" 200 'delta_heap when nothing happened'
expect_equal "$(flat makes_progress fourth.pb.gz | awk '{ n += $1 } END { print n + 0 }')" 0 'nothing happened'
stop TERM
expect_equal "$(cat live.err)" '' 'standard error'
[ ! -e live.db-wal ] || fail 'live.db-wal is left'
check_db live.db

# ---- where it may listen

refuses() { # refuses STATUS REGEX OPTIONS...
    local want=$1 regex=$2
    shift 2
    expect_equal "$(timeout 10 "$CLEAR" serve --db t.db "$@" >/dev/null 2>err.txt; echo $?)" "$want" "status of serve $*"
    expect_match "$(cat err.txt)" "$regex" "message of serve $*"
}
refuses 2 '--http-anywhere' --http 0.0.0.0:0
refuses 2 '--http-anywhere' --http '[::]:0'
refuses 2 'port' --http 127.0.0.1:99999
refuses 2 'port' --http 127.0.0.1:http
refuses 2 'no-such-host.invalid' --http no-such-host.invalid:0
refuses 1 'no such file' --db missing.db
refuses 2 'here' here
refuses 2 'needs --http-anywhere' --http-token token.txt
serve first --db t.db
refuses 1 'in use.*port 0' --http "127.0.0.1:$(sed 's,.*:\([0-9]*\)/.*,\1,' <<<"$url")"
stop TERM
# Where others can ask, every request needs the token, as a password for a browser; whoever made it up gets nothing.
serve anywhere --db t.db --http-anywhere --http 0.0.0.0:0
port=$(sed 's,.*:\([0-9]*\)/.*,\1,' <<<"$url")
token=$(sed -n 's/^clear: the token, which every request needs: //p' anywhere.err)
expect_match "$token" '^[0-9a-f]{32}$' 'the token that is printed'
asks() { curl -s -o got -w '%{http_code}' "$@"; }
for path in debug/pprof/heap debug/pprof/ '' web/main.js api/runs api/tree; do
    at="http://127.0.0.1:$port/$path"
    expect_equal "$(asks "$at")" 401 "/$path without a token"
    expect_equal "$(asks -u "any:not-$token" "$at")" 401 "/$path with a wrong password"
    expect_equal "$(asks -H "Authorization: Bearer x$token" "$at")" 401 "/$path with a wrong token"
    expect_equal "$(asks -u "any:$token" "$at")" 200 "/$path with the token as a password"
    expect_equal "$(asks -H "Authorization: Bearer $token" "$at")" 200 "/$path with the token"
done
expect_equal "$(asks -X POST --data-binary 'SELECT 1' "http://127.0.0.1:$port/api/rows")" 401 'SQL without a token'
expect_match "$(curl -sI "http://127.0.0.1:$port/" | tr -d '\r')" '^WWW-Authenticate: Basic ' 'what a browser is asked for'
expect_equal "$(asks -u "any:$token" -H 'Host: 192.0.2.1' "http://127.0.0.1:$port/debug/pprof/heap")" 200 'an address that we may have'
expect_equal "$(asks -u "any:$token" -H 'Host: evil.example' "http://127.0.0.1:$port/debug/pprof/heap")" 403 'a name that is not ours'
stop TERM

# TLS by a certificate and its key; nothing else is spoken then.
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null || fail openssl
openssl genrsa -out other.pem 2048 2>/dev/null || fail openssl
refuses 2 'need each other' --tls-cert cert.pem
refuses 2 'No such file' --tls-cert cert.pem --tls-key missing.pem
refuses 2 'do not belong together' --http 127.0.0.1:0 --tls-cert cert.pem --tls-key other.pem
"$CLEAR" serve --db t.db --http 127.0.0.1:0 --tls-cert cert.pem --tls-key key.pem >tls.out 2>tls.err &
pid=$!
wait_for_text '^serving' tls.out
port=$(sed -n 's,^serving .* at https://127.0.0.1:\([0-9]*\)/.*,\1,p' tls.out)
[ -n "$port" ] || fail "clear serve with TLS: $(cat tls.out tls.err)"
at=https://localhost:$port
expect_equal "$(curl -s -o got -w '%{http_code}' --cacert cert.pem "$at/api/runs")" 200 'over TLS'
# Of the versions 1.2 and 1.3, and of no older one (RFC 8996).
spoken=
for version in tls1 tls1_1 tls1_2 tls1_3; do
    echo | timeout 20 openssl s_client -connect "127.0.0.1:$port" "-$version" -cipher 'ALL:@SECLEVEL=0' 2>&1 | grep -q '^New, TLS' && spoken="$spoken $version"
done
expect_equal "$spoken" ' tls1_2 tls1_3' 'versions of TLS'
expect_equal "$(curl -s -o got -w '%{http_code}' --cacert cert.pem -H "Origin: $at" --data-binary 'SELECT 1' "$at/api/rows")" 200 'SQL of our own page'
expect_equal "$(curl -s -o got -w '%{http_code}' --cacert cert.pem -H "Origin: http://localhost:$port" --data-binary 'SELECT 1' "$at/api/rows")" 403 'SQL of a page without TLS'
expect_equal "$(curl -s -o got -w '%{http_code}' "http://localhost:$port/api/runs")" 000 'without TLS'
stop TERM

# Whoever does not serve does not load what serving needs.
expect_equal "$(readelf -d "$CLEAR" | grep -c microhttpd)" 0 'libraries of every command'
