# -symbolize=remote: a profile of addresses from a Go server is named by its /debug/pprof/symbol, as pprof names it; what a hostile server answers is
# limited, and is a message at most.
# timeout: 300 (a new machine builds the packages of Go first)
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed: there is no server to ask"
export HOME=$TMP PPROF_TMPDIR=$TMP/pprof
mkdir work
cat >work/server.go <<'GO'
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"runtime"
)

var kept [][]byte

//go:noinline
func keepBytes() []uintptr {
	kept = append(kept, make([]byte, 1<<20))
	pcs := make([]uintptr, 8)
	return pcs[:runtime.Callers(1, pcs)]
}

//go:noinline
func outerWork() []uintptr { return keepBytes() }

func varint(b []byte, v uint64) []byte {
	for ; v > 127; v >>= 7 {
		b = append(b, byte(v)|128)
	}
	return append(b, byte(v))
}
func number(b []byte, field int, v uint64) []byte { return varint(varint(b, uint64(field)<<3), v) }
func block(b []byte, field int, data []byte) []byte {
	return append(varint(varint(b, uint64(field)<<3|2), uint64(len(data))), data...)
}

// A profile of addresses alone, without a mapping.
func bare(w http.ResponseWriter, r *http.Request) {
	var out, sample []byte
	out = block(out, 1, number(number(nil, 1, 1), 2, 2))
	for i := range stack {
		sample = number(sample, 1, uint64(i)+1)
	}
	out = block(out, 2, number(sample, 2, 7))
	for i, pc := range stack {
		out = block(out, 4, number(number(nil, 1, uint64(i)+1), 3, uint64(pc)))
	}
	for _, s := range []string{"", "work", "count"} {
		out = block(out, 6, []byte(s))
	}
	w.Write(out)
}

var stack []uintptr

func main() {
	runtime.MemProfileRate = 1 // of a MiB the usual one sees nothing in one of seven servers
	stack = outerWork()
	http.HandleFunc("/debug/pprof/bare", bare)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	http.Serve(l, nil)
}
GO
(cd work && GO111MODULE=off go build -o ../server server.go) || fail "no Go program"
./server >address.txt &
server=$!
cat >hostile.py <<'PY'
import http.server, sys
profile = open(sys.argv[1], "rb").read()
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def note(self, what):
        with open("asked.txt", "a") as log: log.write(what + "\n")
    def answer(self, status, *headers):
        self.send_response(status)
        for header in headers: self.send_header(*header)
        self.end_headers()
    def do_GET(self):
        self.note("GET " + self.path)
        self.answer(200)
        self.wfile.write(profile)
    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).split(b"+")
        self.note("POST %s %d" % (self.path, len(asked)))
        mode = self.path.split("/")[1]
        if mode == "redirect": return self.answer(307, ("Location", "/elsewhere/debug/pprof/symbol"))
        if mode == "error":
            self.answer(500)
            return self.wfile.write(b"no \x1b[31mnames\nhere\n")
        self.answer(200)
        if mode == "endless":
            try:
                while True: self.wfile.write(b"0x1 x\n" * 10000)
            except OSError: return
        self.wfile.write({
            "long": b"%s %s\n%s fine\n" % (asked[0], b"n" * 5000, asked[1]),
            "control": b"%s \x1b]0;evil\x07\n%s \xff\xfe\n%s fine\n" % (asked[0], asked[1], asked[2]),
            "strangers": b"0x1 stranger\n0xzz x\n0x x\n0x%s y\n%s fine\n%s second\n%s" % (b"f" * 40, asked[0], asked[0], asked[1]),
            "nothing": b"", "plain": b"num_symbols: 1\n" + b"".join(b"%s fine\n" % each for each in asked)}[mode])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
PY
wait_until() { # FILE: until it has a line
    local tries=0
    until [ -s "$1" ]; do sleep 0.05; [ $((tries += 1)) -lt 400 ] || fail "$1 stays empty"; done
}
wait_until address.txt
at=http://$(cat address.txt)/debug/pprof
trap 'kill $server $hostile 2>/dev/null' EXIT
hostile=

# ---- a Go server
top() { # NAME... of `clear report top`, which is to say nothing
    "$CLEAR" report top -nodecount=0 "$@" >got 2>err || fail "top $*: $(cat err)"
    [ ! -s err ] || fail "top $* said: $(cat err)"
    sed '1,/flat%/d' got | sed 's/  */ /g; s/^ //' | sort
}
names='0 0% 100% 7 100% main.main
0 0% 100% 7 100% main.outerWork
0 0% 100% 7 100% runtime.goexit
0 0% 100% 7 100% runtime.main
7 100% 100% 7 100% main.keepBytes'
expect_equal "$(top -symbolize=remote "$at/bare")" "$names" "names of Go's server"
expect_equal "$(top -symbolize=remote "${at#http://}/bare?seconds=1")" "$names" "the same without a scheme and with a query"
go tool pprof -top -nodecount=0 -symbolize=remote "$at/bare" >want 2>/dev/null || fail "pprof"
expect_equal "$(sed '1,/flat%/d' want | sed 's/  */ /g; s/^ //' | sort)" "$names" "as pprof"
expect_equal "$("$CLEAR" report top -symbolize=none "$at/bare" 2>/dev/null | grep -c main)" 0 "nobody is asked by default"
"$CLEAR" report top -nodecount=0 -symbolize=remote "$at/heap?debug=1" >got 2>err || fail "heap?debug=1: $(cat err)"
grep -q 'main.keepBytes$' got && grep -q 'runtime.main$' got || fail "the older format: $(cat got)"

# ---- a hostile one
"$CLEAR" report proto -output=bare.pb.gz "$at/bare" 2>/dev/null || fail "proto"
python3 hostile.py bare.pb.gz >hostile.txt &
hostile=$!
wait_until hostile.txt
ask() { # MODE [PATH]: how often the only good name is there, and the message
    local of
    of=http://$(cat hostile.txt)/$1/${2:-debug/pprof/heap}
    timeout 120 "$CLEAR" report top -nodecount=0 -symbolize=remote "$of" >got 2>err || fail "$1: status $?"
    echo "$(grep -c ' fine$' got) $(grep 'symbolize' err | sed "s/$(cat hostile.txt)/HOST/")"
    ! grep -q 'stranger\|second\|evil\|nnn' got || fail "$1: $(cat got)"
    ! grep -q "$(printf '\033')" got err || fail "$1: control characters"
}
expect_equal "$(ask plain)" '1 ' 'a good answer'
expect_equal "$(ask endless)" '0 clear: symbolize=remote: http://HOST/endless/debug/pprof/symbol: more than 16.0 MiB' 'endless'
expect_equal "$(ask long)" '1 ' 'a name of 5,000 bytes'
expect_equal "$(ask control)" '1 ' 'control characters'
expect_equal "$(ask strangers)" '1 ' 'what was not asked for'
expect_equal "$(ask nothing)" '0 ' 'nothing'
expect_equal "$(ask redirect)" '0 clear: symbolize=remote: http://HOST/redirect/debug/pprof/symbol: the server answered 307' 'a redirection'
expect_match "$(ask error)" '^0 clear: symbolize=remote: http://HOST/error/debug/pprof/symbol: the server answered 500: no ' 'an error'
: >asked.txt
ask plain 'pprof/heap' >/dev/null && ask plain 'profiles/old/' >/dev/null && ask plain 'profiles/old?x=/debug/pprof/' >/dev/null
expect_equal "$(grep POST asked.txt)" 'POST /plain/pprof/symbol 5
POST /plain/profiles/symbolz 5
POST /plain/profiles/symbolz 5' 'where it asks'
# Two servers may mean two programs: which of them an address is of, nobody says.
: >asked.txt
"$CLEAR" report top -symbolize=remote "http://$(cat hostile.txt)/plain/pprof/heap" bare.pb.gz >/dev/null 2>&1 || fail 'a URL and a file'
expect_equal "$(grep -c POST asked.txt)" 0 'a URL and a file'
