# A profile that holds addresses only, of pprof and of gperftools: named from the program that is given, from the binary at its own path, in
# each form of names, as pprof names it; and ingested with its names. Functions of a program's own are compared, figures and all.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/code.bash"
build_programs
refuse() { # STATUS MESSAGE ARGUMENTS...
    local want=$1 text=$2 got=0
    shift 2
    "$CLEAR" "$@" >out 2>err || got=$?
    expect_equal "$got" "$want" "status of clear $*"
    grep -qF -- "$text" err || fail "clear $*: $(cat err)"
}
cat >strip.py <<'PY'
import gzip, sys
sys.path.insert(0, sys.argv[4])
from wire import block, number, varint
def read(b, i):
    r = s = 0
    while True:
        r |= (b[i] & 127) << s; s += 7; i += 1
        if b[i - 1] < 128: return r, i
def fields(b):
    i = 0
    while i < len(b):
        start = i; key, i = read(b, i); v, i = read(b, i)
        if key & 7 == 2: v, i = b[i:i + v], i + v
        yield key >> 3, v, b[start:i]
def legacy(out, data):
    "gperftools' CPU profile of the same samples: one sample at each location, and the mappings"
    word = lambda *words: b"".join(w.to_bytes(8, "little") for w in words)
    texts = [v for f, v, raw in fields(data) if f == 6]
    body, maps = word(0, 3, 0, 10000, 0), ""
    for f, v, raw in fields(data):
        part = {g: w for g, w, _ in fields(v)} if f in (3, 4) else {}
        if f == 4: body += word(2, 1, part[3])
        if f == 3: maps += "%x-%x r-xp %08x 00:00 1 %s\n" % (part[2], part[3], part.get(4, 0), texts[part[5]].decode())
    open(out, "wb").write(body + word(0, 1, 0) + maps.encode())
data = gzip.open(sys.argv[1]).read()
out = b""
for f, v, raw in fields(data):
    drop = {3: (7, 8, 9, 10), 4: (4,)}.get(f)
    if f != 5: out += block(f, b"".join(r for g, w, r in fields(v) if g not in drop)) if drop else raw
open(sys.argv[2], "wb").write(gzip.compress(out, mtime=0))
legacy(sys.argv[3], data)
PY
strip() { python3 strip.py "$1.pb.gz" "$1-bare.pb.gz" "$1.cpu" "$ROOT/tests" || fail "strip $1"; }
strip pie && strip nopie && strip library

# ---- as pprof ----
compared=0
compare() { # PPROF'S WORDS... -- CLEAR'S: every other one with $PLAIN_CLEAR, of each program the others
    local words=() clear=$CLEAR
    [ $((compared++ % 2)) = 0 ] || clear=$PLAIN_CLEAR
    while [ "$1" != -- ]; do words+=("$1") && shift; done && shift
    "$viewer" -top -nodecount=0 "${words[@]}" >want 2>want.err || fail "pprof ${words[*]}: $(cat want.err)"
    "$clear" report top -nodecount=0 "$@" >got 2>got.err || fail "clear report top $*: $(cat got.err)"
    [ ! -s got.err ] || fail "clear report top $* said: $(cat got.err)"
    diff <(grep -v ^Time: want) <(grep -v ^Time: got) >differences || fail "clear report top $*: $(head -20 differences)"
}
for program in pie nopie; do
    compare $program $program-bare.pb.gz -- ./$program $program-bare.pb.gz
    grep -q hot_ got || fail "no names: $(cat got)"
    compare ./$program $program.cpu -- $program $program.cpu
    grep -q hot_ got || fail "no names: $(cat got)"
    compare $program-bare.pb.gz -- $program-bare.pb.gz # its own path
    compare -symbolize=fastlocal -lines $program $program-bare.pb.gz -- -symbolize=fastlocal -lines $program $program-bare.pb.gz
    compare -symbolize=local:force -lines ./$program $program.pb.gz -- -symbolize=local:force -lines ./$program $program.pb.gz
    compare -symbolize=none ./$program $program-bare.pb.gz -- -symbolize=none ./$program $program-bare.pb.gz
    compare -symbolize=remote ./$program $program-bare.pb.gz -- -symbolize=remote ./$program $program-bare.pb.gz
done
"$CLEAR" report top -symbolize=demangle=full library-bare.pb.gz >got 2>err || fail "$(cat err)"
grep -q 'shop::price(double, int)' got || fail "full names: $(cat got)"
"$CLEAR" report top -symbolize=demangle=templates library-bare.pb.gz >got 2>err || fail "$(cat err)"
grep -q 'shop::Stack<int>::push' got || fail "templates: $(cat got)"
"$CLEAR" report top -symbolize=demangle=none library-bare.pb.gz >got 2>err || fail "$(cat err)"
grep -q '_ZN4shop5priceEdi$' got || fail "the linker's names: $(cat got)"
refuse 2 "symbolize=nearby: expected none, local, fastlocal, remote, force, or demangle=none, full, templates or default, with colons between (see clear top --help)" top -symbolize=nearby ./pie-bare.pb.gz

# In the browser too.
"$CLEAR" web --no-browser ./pie pie-bare.pb.gz >shown 2>err &
shown=$!
wait_for_text '^serving' shown
curl -sf "$(sed 's/^serving .* at //; s/?.*//' shown)api/table?report=top" | grep -q hot_ || fail "no names in the browser: $(cat shown err)"
kill "$shown"
wait "$shown" || fail "clear web of a program and its profile: $(cat err)"

# ---- another build, another user's wish, nothing there ----
"$CLEAR" top ./nopie pie-bare.pb.gz >got 2>err || fail "$(cat err)"
grep -q "nopie: its addresses stay without names: .*another build" err || fail "another build: $(cat err)"
! grep -q hot_ got || fail "names of another build"
mkdir away && mv pie away
"$CLEAR" top pie-bare.pb.gz >got 2>err || fail "$(cat err)"
expect_equal "$(cat err)" "clear: addresses of the program have no names: name it before the profile, as in clear top ./PROGRAM pie-bare.pb.gz" \
    "a binary that is not there"
PPROF_BINARY_PATH=$TMP/away "$CLEAR" top pie-bare.pb.gz >got 2>err || fail "$(cat err)"
grep -q hot_ got || fail "PPROF_BINARY_PATH: $(cat got)"
mv away/pie .

# ---- a run of the program's name goes before a file ----
"$CLEAR" ingest --db t.db --label pie pie.pb.gz >/dev/null 2>&1
"$CLEAR" ingest --db t.db nopie.pb.gz >/dev/null 2>&1
"$CLEAR" top --db t.db pie 2 >got 2>err || fail "$(cat err)"
grep -q 'cpu of 2 runs' err || head -1 got | grep -q . || fail "a run named as a file: $(cat got err)"
"$CLEAR" report raw --db t.db pie 2 2>/dev/null | sed -n '/^Mappings/,$p' >got
grep -q '/nopie' got && grep -q '/pie' got || fail "both runs: $(cat got)"

# ---- kept with names ----
for file in pie-bare.pb.gz pie.cpu; do
    "$CLEAR" ingest --db named.db --binary ./pie $file >out 2>err || fail "ingest --binary: $(cat err)"
done
grep -q '^pie.cpu: run 2, legacy-pprof,' out || fail "the format: $(cat out)"
"$CLEAR" ingest --db named.db pie-bare.pb.gz >out 2>err || fail "without names: $(cat err)"
grep -q 'run 3' out || fail "the same file without names: $(cat out)"
for run in 1 2; do
    "$CLEAR" top --db named.db $run >got 2>err || fail "$(cat err)"
    grep -q hot_ got || fail "run $run has no names: $(cat got)"
done
expect_equal "$(sql named.db 'SELECT started_ns FROM runs WHERE id = 2')" "$(date -r pie.cpu +%s%N)" 'the time of a file that has none of its own'
refuse 1 "pie.pb.gz: has no address of its program without a name: leave out --binary" ingest --db named.db --binary ./pie pie.pb.gz
refuse 1 "pie-bare.pb.gz: ./nopie names none of the addresses of its program" ingest --db named.db --binary ./nopie pie-bare.pb.gz
echo 'main;work 3' >x.folded
refuse 1 "x.folded: --binary is for profiles of pprof; this is folded" ingest --db named.db --binary ./pie x.folded
