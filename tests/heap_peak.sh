# The peak of live bytes: equal to what a program counted itself, stack by stack, with one thread; within the stated bound with more;
# of each process after a fork; after SIGKILL. And equal to what massif says of a real program.
# build: plain
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
recorded() { # recorded [CONDITION]: as the program prints it
    sql t.db "SELECT 'peak ' || peak_count || ' ' || peak_bytes FROM peaks WHERE $newest AND ${1:-1}"
    sql t.db "SELECT 'at ' || function || ' ' || sum(peak_count) || ' ' || sum(peak_bytes) FROM heap
              WHERE $newest AND function GLOB '*_site' AND ${1:-1} GROUP BY function ORDER BY function = 'small_site' DESC, function = 'middle_site' DESC"
}

expect_status 0 profile -q -- "$FIXTURES/heap_peak" alone >out.txt
recorded >got.txt
expect_same_file got.txt out.txt "the peak of one thread"
# Windows come and go while it runs; the newest one has the last word.
expect_status 0 profile -q --interval 10ms -- "$FIXTURES/heap_peak" alone >out.txt
recorded >got.txt
expect_same_file got.txt out.txt "the peak over windows"
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE kind = 'heap-peak' AND $newest")" 1 "profiles of the peak"
expect_equal "$(sql t.db "SELECT max(run_bytes) = max(peak_bytes) FROM memory, peaks WHERE memory.$newest AND peaks.$newest")" 1 "the highest of the view memory"

for count in 2 4; do
    expect_status 0 profile -q -- "$FIXTURES/heap_peak" threads $count >out.txt
    truth=$(awk '$1 == "peak" { print $3 }' out.txt)
    got=$(sql t.db "SELECT peak_bytes FROM peaks WHERE $newest")
    step=$((truth / 512 > 16384 ? truth / 512 : 16384))
    # Beside its own blocks the C library allocates a little for each thread.
    expect_between "$got" $((truth - (count + 1) * step)) $((truth + count * 1000)) "the peak of $count threads"
    expect_equal "$(sql t.db "SELECT count(*) FROM heap WHERE $newest AND (peak_bytes < 0 OR peak_count < 0 OR peak_bytes > alloc_bytes)")" 0 \
        "sites that had less than nothing"
done

expect_status 0 profile -q -- "$FIXTURES/heap_peak" fork >out.txt
child=$(sql t.db "SELECT process_id FROM peaks WHERE $newest ORDER BY peak_bytes DESC LIMIT 1")
expect_equal "$(sql t.db "SELECT count(*) FROM peaks WHERE $newest")" 2 "processes with a peak"
expect_equal "$(sql t.db "SELECT group_concat('peak ' || peak_count || ' ' || peak_bytes, char(10))
    FROM (SELECT * FROM peaks WHERE $newest ORDER BY peak_bytes DESC)")" "$(grep peak out.txt)" "the peaks of child and parent"
head -4 out.txt >want.txt
sql t.db "SELECT 'at ' || function || ' ' || sum(heap_peaks.peak_count) || ' ' || sum(heap_peaks.peak_bytes) FROM heap_peaks JOIN places USING (trace_id)
    WHERE profile_id = (SELECT profile_id FROM peaks WHERE process_id = $child) GROUP BY function ORDER BY function" >got.txt
expect_same_file got.txt <(grep ^at want.txt | sort) "what the child had live"

expect_status 137 profile -q -- "$FIXTURES/heap_peak" killed >out.txt
recorded >got.txt
expect_same_file got.txt out.txt "the peak of a program that was killed while it grew"

# Every report and export has the kind, and doctor says it first.
expect_match "$("$CLEAR" top --db t.db --kind heap-peak)" 'large_site$' "top"
"$CLEAR" export --db t.db --kind heap-peak -o peak.pb.gz || fail "export"
expect_equal "$(pprof -sample_index=peak_space -top -unit bytes peak.pb.gz 2>/dev/null | awk '$NF == "large_site" { print $1 }')" \
    "$(awk '$2 == "large_site" { print $4 "B" }' out.txt)" "what pprof reads"
"$CLEAR" doctor --db t.db >doctor.txt || fail "doctor"
expect_match "$(sed -n '/^run/,/^$/p' doctor.txt)" '^  peak: 500 blocks of .* live at ' "the first lines of doctor"

# The picture: well-formed, its highest point is the peak, its line ends where the run ended.
expect_status 0 profile -q --interval 10ms -- "$FIXTURES/phases" 50 >out.txt
"$CLEAR" export --db t.db --format memory -o memory.svg || fail "export of a picture"
python3 - "$(sql t.db "SELECT peak_bytes || ' ' || (SELECT count(*) FROM memory WHERE $newest) FROM peaks WHERE $newest")" <<'END' || fail "the picture"
import sys, xml.etree.ElementTree as tree
peak, moments = map(int, sys.argv[1].split())
svg = tree.parse("memory.svg").getroot()
space = "{http://www.w3.org/2000/svg}"
points = [tuple(map(float, point.split(","))) for point in svg.find(space + "polyline").get("points").split()]
assert len(points) == moments + 1, (len(points), moments)
highest = min(points, key=lambda point: point[1])
mark = [item for item in svg.iter(space + "circle") if item.get("class") == "peak"][0]
assert (float(mark.get("cx")), float(mark.get("cy"))) == highest, (mark.attrib, highest)
lines = [(item.text, float(item.get("y")) - 4) for item in svg.iter(space + "text") if item.get("text-anchor") == "end" and item.get("class") == "dim"]
zero, top = lines[0], lines[-1]
assert zero[0] == "0 B" and abs(zero[1] - points[0][1]) < 0.2
number, unit = top[0].split()
scale = float(number) * {"B": 1, "KiB": 1024, "MiB": 1 << 20}[unit]
shown = (zero[1] - highest[1]) / (zero[1] - top[1]) * scale
assert abs(shown - peak) <= 0.01 * peak + 10, (shown, peak)
END
expect_status 0 profile -q --no-heap -- true
expect_status 1 "$CLEAR" export --db t.db --format memory -o none.svg 2>err.txt
[ ! -e none.svg ] || fail "a picture of nothing"
expect_status 2 "$CLEAR" export --db t.db --format memory --kind lock -o none.svg 2>err.txt

# massif counts the useful bytes of every allocation too; a snapshot is exact where the peak is (--peak-inaccuracy=0).
command -v valgrind >/dev/null || skip "valgrind is not installed; all else passed"
head -c 20000 /dev/urandom | base64 | awk '{ print "INSERT INTO t VALUES(\x27" $0 "\x27);" }' >rows.txt
{ echo 'CREATE TABLE t(x);'; cat rows.txt; echo 'SELECT count(*), max(x) FROM (SELECT x, length(x) FROM t ORDER BY x DESC);'; } >work.sql
for command in "$FIXTURES/heap_peak alone" "sqlite3 :memory: .read\\ work.sql"; do
    eval "set -- $command"
    valgrind --tool=massif --peak-inaccuracy=0.0 --massif-out-file=massif.out "$@" >/dev/null 2>&1 || fail "massif of $command"
    massif=$(awk -F= '$1 == "mem_heap_B" { if ($2 > most) most = $2 } END { print most }' massif.out)
    expect_status 0 profile -q -- "$@" >/dev/null
    got=$(sql t.db "SELECT peak_bytes FROM peaks WHERE $newest")
    echo "$command: massif $massif, clear $got"
    expect_equal "$got" "$massif" "the peak of $command against massif"
done
