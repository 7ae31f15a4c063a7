# Profiles that a server hands out: Go's own net/http/pprof, and a small server for what goes wrong.
# timeout: 300 (a new machine builds the packages of Go first)
. "$(dirname "$0")/lib.sh"

cat >server.go <<'E2'
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"time"
)

var kept [][]byte
var first []byte

func main() {
	runtime.MemProfileRate = 16 << 10 // 1,024 samples of 16 MiB: a tenth is three standard deviations
	for i := 0; i < 64; i++ { // until the first sample: it was drawn for the rate before, one in 512 KiB
		first = make([]byte, 1<<20)
	}
	first = nil
	for i := 0; i < 4096; i++ {
		kept = append(kept, make([]byte, 4096))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	os.Stdout.Close()
	go func() { // a third of a processor: enough for samples, and the rest of this test is not for its sake
		for ; ; time.Sleep(20 * time.Millisecond) {
			for x := 0; x < 20000000; x++ {
			}
		}
	}()
	http.Serve(listener, nil)
}
E2
GO111MODULE=off go build -o server server.go || fail "no Go program"
./server >address.txt &
server=$!
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null ||
    fail "no certificate"
cat >other.py <<'E2'
import http.server, ssl, sys, threading
profile = open(sys.argv[1], "rb").read()
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        path, _, query = self.path.partition("?")
        with open("asked.txt", "a") as log: log.write(self.path + "\n")
        if path == "/round": self.answer(302, b"", [("Location", "/round")])
        elif path == "/file": self.answer(302, b"", [("Location", "file:///etc/passwd")])
        elif path == "/there": self.answer(302, b"", [("Location", "/profile")])
        elif path == "/text": self.answer(200, b"<html>no profile</html>")
        elif path == "/short": self.answer(200, profile, [("Content-Length", str(len(profile) + 10))])
        elif path.startswith("/profile"): self.answer(200, profile)
        else: self.answer(404, b"no such \x1b[31mprofile\nmore\n")
    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers: self.send_header(name, value)
        if "Content-Length" not in dict(headers): self.send_header("Content-Length", len(body)) # else OpenSSL 3.5 misses a goodbye
        self.end_headers()
        self.wfile.write(body)
plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
secure = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
if len(sys.argv) > 2:
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations("cert.pem")
secure.socket = context.wrap_socket(secure.socket, server_side=True)
print(plain.server_address[1], secure.server_address[1], flush=True)
threading.Thread(target=plain.serve_forever, daemon=True).start()
secure.serve_forever()
E2
input=$ROOT/fixtures/corpus/pprof/after_go_allocs.pb.gz
python3 other.py "$input" >ports.txt &
other=$!
python3 other.py "$input" strict >strict.txt &
strict=$!
trap 'kill $server $other $strict 2>/dev/null' EXIT
until [ -s address.txt ] && [ -s ports.txt ] && [ -s strict.txt ]; do sleep 0.05; done
address=$(cat address.txt)
read -r port secure <ports.txt
read -r _ mutual <strict.txt

# ---- Go's server: what it hands to pprof is what it hands to us ----
"$CLEAR" ingest --db t.db "http://$address/debug/pprof/heap?gc=1" "$address/debug/pprof/goroutine" >out.txt || fail "Go's heap: $(cat out.txt)"
expect_equal "$(sql t.db "SELECT sum(inuse_bytes) BETWEEN 14000000 AND 20000000 FROM heap WHERE function = 'main.main'")" 1 "16 MiB in the heap of Go's program, which samples"
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE kind = 'goroutine'")" 1 "goroutines, from a URL without a scheme"
for _ in 1 2 3 4 5 6 7 8 9 10; do # a second in which the program gets no processor has no sample
    started=$(date +%s%N)
    "$CLEAR" ingest --db t.db --seconds 1 "http://$address/debug/pprof/profile?seconds=30" >out.txt || fail "Go's CPU: $(cat out.txt)"
    expect_between $((($(date +%s%N) - started) / 1000000)) 900 15000 "ms for --seconds 1"
    ms=$(sql t.db "SELECT coalesce(sum(cpu_ns), 0) / 1000000 FROM cpu_use WHERE function LIKE 'main.main.func1%' AND run_id = (SELECT max(id) FROM runs)")
    [ "$ms" -lt 10 ] || break
done
expect_between "$ms" 10 2000 "ms of CPU time, which other programs may take too"
# Anywhere a run is named.
"$CLEAR" query --format csv --no-header 'SELECT sum(inuse_bytes) > 1000000 FROM heap WHERE run_id = :run' run="http://$address/debug/pprof/heap?gc=1" >out.txt ||
    fail "query of a URL"
expect_equal "$(tr -d '\r' <out.txt)" 1 "a query about a URL"
"$CLEAR" top "http://$address/debug/pprof/heap?gc=1" | grep -q main.main || fail "top of a URL"
"$CLEAR" doctor "http://$address/debug/pprof/heap?gc=1" >out.txt || fail "doctor of a URL"
grep -q 'allocations of' out.txt || fail "doctor of a URL: $(cat out.txt)"

# ---- what is asked for ----
: >asked.txt
"$CLEAR" ingest --db u.db -q --seconds 7 "http://me:secret@127.0.0.1:$port/profile?x=1&seconds=3&y=2" || fail "seconds"
expect_equal "$(cat asked.txt)" '/profile?x=1&y=2&seconds=7' "the request"
expect_equal "$(sql u.db 'SELECT source FROM runs')" "http://127.0.0.1:$port/profile?x=1&seconds=3&y=2" "the source, without a password"
"$CLEAR" ingest --db file.db -q "$input"
expect_equal "$(sql u.db 'SELECT content_hash FROM runs')" "$(sql file.db 'SELECT content_hash FROM runs')" "the bytes"
expect_match "$("$CLEAR" ingest --db u.db "http://127.0.0.1:$port/there")" 'already in the warehouse as run 1' "the same bytes after a redirect"

# ---- what goes wrong: one line, nothing kept ----
sql u.db .dump >before.txt
refused() { # refused REGEX ARGUMENT...
    local regex=$1
    shift
    expect_status 1 "$CLEAR" ingest --db u.db "$@" >/dev/null 2>err.txt
    expect_match "$(cat err.txt)" "$regex" "$*"
    expect_equal "$(wc -l <err.txt)$(grep -c $'\e' err.txt)" 10 "one line: $(cat err.txt)"
}
refused "^clear: http://127.0.0.1:$port/none: the server answered 404: no such .*profile$" "http://127.0.0.1:$port/none"
refused "/round: .*redirects" "http://127.0.0.1:$port/round"
refused "/file: .*[Pp]rotocol" "http://127.0.0.1:$port/file"
refused "/text: .*(format|not)" "http://127.0.0.1:$port/text"
refused "/short: .*(closed|outstanding|missing)" "http://127.0.0.1:$port/short"
refused "^clear: http://127.0.0.1:1/x: .*([Cc]onnect|refused)" "http://127.0.0.1:1/x"
getent hosts localhost >/dev/null || skip 'the name localhost is not known (/etc/hosts): what goes over TLS was not tried'
refused "(certificate|SSL)" "https://localhost:$secure/profile"
refused "(certificate|SSL|alert|not connected|reset)" --tls_ca cert.pem "https://localhost:$mutual/profile"
sql u.db .dump >after.txt
expect_same_file after.txt before.txt "the warehouse after failures"
expect_status 1 "$CLEAR" ingest --db u.db --tls_cert cert.pem "https://localhost:$mutual/profile" 2>err.txt
expect_match "$(cat err.txt)" 'tls_key' "a certificate without its key"
started=$(date +%s)
python3 -c 'import socket,time; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); print(s.getsockname()[1],flush=True); time.sleep(60)' >silent.txt &
silent=$!
until [ -s silent.txt ]; do sleep 0.05; done
refused '[Tt]imed? ?out' --timeout 1 "http://127.0.0.1:$(cat silent.txt)/x"
kill $silent
expect_between $(($(date +%s) - started)) 1 30 "seconds for --timeout 1"

# ---- TLS ----
"$CLEAR" ingest --db tls.db -q "https+insecure://localhost:$secure/profile" || fail "https+insecure"
"$CLEAR" ingest --db tls2.db -q --tls_ca cert.pem "https://localhost:$secure/profile" || fail "tls_ca"
"$CLEAR" ingest --db tls3.db -q --tls_ca cert.pem --tls_cert cert.pem --tls_key key.pem "https://localhost:$mutual/profile" || fail "tls_cert"
for db in tls tls2 tls3; do expect_equal "$(sql $db.db 'SELECT content_hash FROM runs')" "$(sql file.db 'SELECT content_hash FROM runs')" "$db"; done

# ---- reports: the options as pprof spells them, the same bytes and the same requests ----
export TZ=UTC
same_report() { # same_report WHAT: got.txt and want.txt, but for the time, which pprofs of different ages print in different ways
    sed -i '/^Time: /d' got.txt want.txt
    expect_same_file got.txt want.txt "$1"
}
reports_alike() { # reports_alike OPTION... URL
    : >asked.txt
    pprof -top "$@" >want.txt 2>err.txt || fail "pprof $*: $(cat err.txt)"
    mv asked.txt asked_by_pprof.txt
    : >asked.txt
    "$CLEAR" report -top "$@" >got.txt || fail "report $*"
    same_report "report $*"
    expect_same_file asked.txt asked_by_pprof.txt "the request of report $*"
}
before=$ROOT/fixtures/corpus/pprof/before_go_allocs.pb.gz
plain=http://127.0.0.1:$port/profile
reports_alike "$plain"
reports_alike -seconds=7 "$plain"
reports_alike -seconds 7 -timeout=30 -cum "$plain?seconds=3"
reports_alike -base="$plain" "$before"
reports_alike "127.0.0.1:$port/profile"
reports_alike "https+insecure://localhost:$secure/profile"
# Go's pprof takes the TLS options and leaves them at that: what it says of the file is what they must give.
pprof -top "$input" >want.txt 2>err.txt
"$CLEAR" report -top -tls_ca cert.pem "https://localhost:$secure/profile" >got.txt || fail "report -tls_ca"
same_report "report -tls_ca"
"$CLEAR" report -top -tls_ca=cert.pem -tls_cert=cert.pem -tls_key=key.pem "https://localhost:$mutual/profile" >got.txt || fail "report -tls_cert"
same_report "report -tls_cert"
"$CLEAR" top --tls_ca cert.pem --seconds 2 "https://localhost:$secure/profile" "$before" >got.txt || fail "two dashes"
pprof -top "$input" "$before" >want.txt 2>err.txt
same_report "a URL and a file"
# In the browser too.
: >asked.txt
"$CLEAR" report -no_browser -http=: -tls_ca cert.pem -seconds 7 "https://localhost:$secure/profile" >shown.txt &
shown=$!
wait_for_text '^serving .*\?runs=1$' shown.txt
kill "$shown"
wait "$shown" || fail "report -http of a URL"
expect_equal "$(cat asked.txt)" '/profile?seconds=7' "what report -http asks a server"
"$CLEAR" ingest --db before.db -q "$before"
pprof -top "$before" "$input" >want.txt 2>err.txt
"$CLEAR" top --db before.db 1 "$plain" >got.txt || fail "a run and a URL"
same_report "a run and a URL"
: >asked.txt
pprof -top -seconds=1 "http://127.0.0.1:$port" >/dev/null 2>&1
"$CLEAR" top -seconds=1 "http://127.0.0.1:$port/" >/dev/null 2>err.txt
expect_equal "$(cat asked.txt)" $'/debug/pprof/profile?seconds=1\n/debug/pprof/profile?seconds=1' "a server without a path"
expect_equal "$(grep -c . err.txt)" 1 "one line: $(cat err.txt)"
refuse_report() { # refuse_report STATUS REGEX ARGUMENT...
    local status=$1 regex=$2
    shift 2
    expect_status "$status" "$CLEAR" top "$@" >out.txt 2>err.txt
    expect_match "$(cat err.txt)" "$regex" "top $*"
    [ ! -s out.txt ] || fail "top $* wrote on standard output"
}
refuse_report 1 '(certificate|SSL)' "https://localhost:$secure/profile"
refuse_report 2 'tls_cert and --tls_key' -tls_cert=cert.pem "https://localhost:$mutual/profile"
refuse_report 1 'the server answered 404' "http://127.0.0.1:$port/none"
refuse_report 2 'seconds must be a number' -seconds=soon "$plain"
python3 -c 'import socket,time; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); print(s.getsockname()[1],flush=True); time.sleep(60)' >mute.txt &
silent=$!
until [ -s mute.txt ]; do sleep 0.05; done
started=$(date +%s)
refuse_report 1 '[Tt]imed? ?out' -timeout=1 "http://127.0.0.1:$(cat mute.txt)/x"
kill $silent
expect_between $(($(date +%s) - started)) 1 30 "seconds for -timeout=1"
expect_match "$("$CLEAR" top -seconds=1 "http://$address")" '^Type: cpu$' "Go's server, by its name alone"
