# Go's pprof reads what a run leaves in NAME.profile/, in every view of it, and its totals are those of the tables.
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/heap_threads" >heap.txt
expect_status 0 profile -- "$FIXTURES/lock_contended" >lock.txt
[ -d heap_threads.profile ] && [ -d lock_contended.profile ] || fail "no run directory: $(ls)"

total() { # total FILE SAMPLE-INDEX: the sum over all samples, in the raw unit
    pprof -raw -sample_index="$2" "$1" 2>/dev/null | awk -v column="$3" '
        /^Samples:/ {on = 1; getline; next}
        /^Locations/ {on = 0}
        on && /^ +-?[0-9]/ {sub(/:.*/, ""); n += $column}
        END {printf "%d\n", n}'
}
agree() { # agree FILE COLUMN TYPE SQL
    expect_equal "$(total "$1" "$3" "$2")" "$(sql t.db "$4")" "$3 of $1"
}
file=heap_threads.profile/heap.pb.gz of='FROM heap WHERE run_id = 1'
agree $file 1 alloc_objects "SELECT sum(alloc_count) $of"
agree $file 2 alloc_space "SELECT sum(alloc_bytes) $of"
agree $file 3 inuse_objects "SELECT sum(inuse_count) $of"
agree $file 4 inuse_space "SELECT sum(inuse_bytes) $of"
file=lock_contended.profile/lock.pb.gz of='FROM lock_use WHERE run_id = 2'
agree $file 1 contentions "SELECT sum(contended + read_contended) $of"
agree $file 2 delay "SELECT sum(wait_ns + read_wait_ns) $of"
agree $file 3 hold "SELECT sum(hold_ns) $of"
agree $file 4 acquisitions "SELECT sum(acquires + read_acquires) $of"

for file in heap_threads.profile/heap.pb.gz lock_contended.profile/lock.pb.gz; do
    for view in -top -tree -raw -tags -traces -dot; do
        pprof "$view" "$file" >view.txt 2>view.err || fail "pprof $view $file: $(cat view.err)"
        [ -s view.txt ] || fail "pprof $view $file prints nothing"
    done
    pprof -peek . "$file" >view.txt 2>view.err || fail "pprof -peek $file: $(cat view.err)"
    pprof -svg -output=view.svg "$file" 2>view.err || fail "pprof -svg $file: $(cat view.err)"
    grep -q '</svg>' view.svg || fail "pprof -svg $file: no picture"
done
pprof -top -sample_index=alloc_space heap_threads.profile/heap.pb.gz >top.txt 2>/dev/null
for name in make_small make_large; do grep -q " $name\$" top.txt || fail "no $name in pprof's list: $(cat top.txt)"; done
# The same function and figure in pprof and in the program's own count.
want=$(awk '$1 == "heap" && $2 == "make_small" {print $3}' heap.txt)
got=$(pprof -top -sample_index=alloc_objects -unit=count heap_threads.profile/heap.pb.gz 2>/dev/null | awk '$NF == "make_small" {print $1}')
expect_equal "$got" "$want" 'alloc_objects of make_small in pprof'
pprof -tags heap_threads.profile/heap.pb.gz 2>/dev/null | grep -q 'addr' || fail 'heap samples carry no label addr'

# Any query's result is a profile too.
"$CLEAR" export --db t.db --sql 'SELECT trace_id, sum(alloc_bytes) AS "alloc_space/bytes" FROM sites GROUP BY 1' -o q.pb.gz || fail "export --sql: $?"
expect_equal "$(total q.pb.gz alloc_space 1)" "$(sql t.db 'SELECT sum(alloc_bytes) FROM sites')" 'a query as a profile'
"$CLEAR" export --db t.db 1 --kind heap -o one.pb.gz || fail "export RUN: $?"
cmp one.pb.gz heap_threads.profile/heap.pb.gz || fail 'the same run exported twice gave different bytes'
"$CLEAR" runs --db t.db --json | python3 -c '
import json, sys
commands = [run["command"].rpartition("/")[2] for run in json.load(sys.stdin)]
assert commands == ["lock_contended", "heap_threads"], commands' || fail 'the list of runs, newest first'
