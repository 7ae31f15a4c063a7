# clear profile --pprof: what a program serves of itself becomes windows of its run, which add up to its last answer; of its goroutines the last are
# kept. The program of the test counts its answers, so that each figure is known. Where nothing answers, clear says so, and the run is there.
# build: plain
. "$(dirname "$0")/lib.sh"
cat >serves.py <<'PYTHON'
import http.server, os, sys, threading, time
sys.path.insert(0, sys.argv[1])
from wire import block, number

def profile(types, values):
    """One stack of one function, main.work."""
    names = ["", "main.work", "main.go"] + [name for pair in types for name in pair]
    out = b"".join(block(1, number(1, names.index(kind)) + number(2, names.index(unit))) for kind, unit in types)
    out += block(2, number(1, 1) + b"".join(number(2, value) for value in values))
    out += block(4, number(1, 1) + number(3, 4096) + block(4, number(1, 1) + number(2, 7)))
    out += block(5, number(1, 1) + number(2, 1) + number(3, 1) + number(4, 2))
    return out + b"".join(block(6, name.encode()) for name in names) + number(9, time.time_ns())

class Answers(http.server.BaseHTTPRequestHandler):
    counts = {}
    def do_GET(self):
        kind = self.path.rsplit("/", 1)[1]
        n = self.counts[kind] = self.counts.get(kind, 0) + 1
        bodies = {"heap": lambda: profile([("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")], [10 * n, 1000 * n, 5, 500 + n]),
                  "mutex": lambda: profile([("contentions", "count"), ("delay", "nanoseconds")], [2 * n, 300 * n]),
                  "goroutine": lambda: profile([("goroutine", "count")], [n])}
        self.send_response(200 if kind in bodies else 404)
        self.end_headers()
        self.wfile.write(bodies[kind]() if kind in bodies else b"no such profile\n")
    def log_message(self, *ignored): pass

server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
with open("port.part", "w") as out: out.write(str(server.server_port))
PYTHON
# The port must be known before: one that was free a moment ago.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
sed -i "s/^server = .*/server = http.server.HTTPServer((\"127.0.0.1\", $port), Answers)/; /port.part/d" serves.py
cat >>serves.py <<'PYTHON'
threading.Thread(target=server.serve_forever, daemon=True).start()
for _ in range(200):
    if Answers.counts.get("heap", 0) >= 4 and Answers.counts.get("goroutine", 0) >= 3 and Answers.counts.get("mutex", 0) >= 3: break
    time.sleep(0.05)
print("served"); sys.stdout.flush()
os._exit(3)
PYTHON
status=0
profile --no-files --no-heap --cpu=off --pprof ":$port/" -- python3 serves.py "$ROOT/fixtures" >out.txt 2>err.txt || status=$?
expect_equal "$status $(cat out.txt)" '3 served' "the program: $(cat err.txt)"
windows=$(sql t.db "SELECT count(*) FROM profiles WHERE kind = 'heap'")
expect_between "$windows" 3 200 'windows'
expect_equal "$(sql t.db "SELECT sum(alloc_count), sum(alloc_bytes), sum(inuse_count), sum(inuse_bytes) FROM heap WHERE function = 'main.work'")" \
    "$((10 * windows))|$((1000 * windows))|5|$((500 + windows))" 'the heap at the last answer'
expect_equal "$(sql t.db "SELECT group_concat(DISTINCT alloc_count) FROM heap WHERE function = 'main.work'")" 10 'of each window'
mutexes=$(sql t.db "SELECT count(*) FROM profiles WHERE kind = 'lock' AND process_id IS NULL")
expect_equal "$(sql t.db "SELECT sum(contended), sum(wait_ns) FROM locks JOIN profiles ON profiles.id = profile_id WHERE process_id IS NULL")" \
    "$((2 * mutexes))|$((300 * mutexes))" 'the mutexes'
expect_between "$mutexes" 2 200 'windows of the mutexes'
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE kind = 'goroutine'")" 1 'goroutines as they were last'
check_db t.db

# A program that ends in the middle of its answers: what could not be read costs its own window, and the goroutines are those before.
sed 's/^        self.wfile.write(bodies/        if n >= 3 and kind in ("heap", "goroutine"): return\n&/' serves.py >cut.py
status=0
profile --db cut.db --no-files --no-heap --cpu=off --pprof ":$port/" -- python3 cut.py "$ROOT/fixtures" >out.txt 2>err.txt || status=$?
expect_equal "$status $(cat out.txt)" '3 served' "the program that cuts its answers: $(cat err.txt)"
expect_match "$(cat err.txt)" "warning: --pprof: [0-9]+ of [0-9]+ answers of http://localhost:$port/debug/pprof could not be stored, as when the program ends in the middle of one: .*pprof-heap-00000002: byte 0: " 'cut answers'
expect_equal "$(sql cut.db "SELECT count(*), sum(alloc_count) FROM heap WHERE function = 'main.work'")" '2|20' 'the two windows before'
expect_equal "$(sql cut.db "SELECT count(*) FROM profiles WHERE kind = 'goroutine'")" 1 'the goroutines before'
[ "$(sql cut.db "SELECT count(*) FROM profiles WHERE kind = 'lock' AND process_id IS NULL")" -ge 2 ] || fail 'the mutexes beside them'
check_db cut.db

profile --db none.db --no-files --cpu=off --pprof "localhost:$port" -- sleep 0.3 2>err.txt || fail 'no server'
expect_match "$(cat err.txt)" "warning: --pprof: nothing came from http://localhost:$port/debug/pprof: .*" 'nobody answers'
expect_equal "$(sql none.db 'SELECT count(*) FROM runs')" 1 'the run'
expect_status 2 "$CLEAR" profile --pprof 'ftp://host/' -- true 2>err.txt
expect_match "$(cat err.txt)" '^clear: --pprof must be the address of a server' 'no address'
expect_status 2 "$CLEAR" profile --pid $$ --pprof ':6060' 2>err.txt
expect_match "$(cat err.txt)" 'clear ingest http://localhost:6060/debug/pprof/heap stores what it says now' 'a program that runs already'
