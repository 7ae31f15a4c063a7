# Every kind of a run as pprof: Go's viewer reads it, its totals are those of the tables, stacks, labels and header as stored.
# quick
. "$(dirname "$0")/lib.sh"

cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" | sqlite3 t.db || fail "no database"

totals() { # totals FILE: the sums of the sample values, as go tool pprof reads them
    pprof -raw "$1" 2>/dev/null | awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
        on && /^ *-?[0-9]+[-0-9 ]*:/ { sub(/:.*/, ""); for (i = 1; i <= NF; i++) sum[i] += $i; if (NF > n) n = NF }
        END { for (i = 1; i <= n; i++) printf "%s%.0f", (i > 1 ? "|" : ""), sum[i] }'
}
types() { pprof -raw "$1" 2>/dev/null | sed -n '/^Samples:/{n;p}'; }
export_kind() { "$CLEAR" export --db t.db first --kind "$1" -o "$1.pb.gz" || fail "export of $1"; }

for kind in heap lock mvcc channels cpu; do export_kind $kind; done
of_run="JOIN profiles ON profiles.id = profile_id WHERE run_id = 1"
expect_equal "$(totals heap.pb.gz)" "$(sql t.db "SELECT sum(alloc_count), sum(alloc_bytes), sum(alloc_count - free_count),
    sum(alloc_bytes - free_bytes) FROM sites $of_run")" heap
expect_equal "$(totals lock.pb.gz)" "$(sql t.db "SELECT sum(contended + read_contended), sum(wait_ns + read_wait_ns), sum(hold_ns),
    sum(acquires + read_acquires) FROM locks $of_run")" lock
expect_equal "$(totals mvcc.pb.gz)" "$(sql t.db "SELECT sum(reads), sum(commits), sum(retries), sum(struct_size * (commits + retries))
    FROM cells $of_run")" mvcc
expect_equal "$(totals channels.pb.gz)" "$(sql t.db "SELECT sum(pushes), sum(pops), sum(push_blocked), sum(pop_blocked),
    sum(max_depth) FROM channels $of_run")" channels
expect_equal "$(totals cpu.pb.gz)" "$(sql t.db "SELECT sum(samples), sum(cpu_ns) FROM cpu $of_run")" cpu

expect_equal "$(types heap.pb.gz)" "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes[dflt]" types
expect_equal "$(types lock.pb.gz)" "contentions/count delay/nanoseconds[dflt] hold/nanoseconds acquisitions/count" types
expect_equal "$(types mvcc.pb.gz)" "reads/count commits/count retries/count cow_bytes/bytes[dflt]" types
expect_equal "$(types channels.pb.gz)" "pushes/count[dflt] pops/count push_blocked/count pop_blocked/count max_depth/count" types
expect_equal "$(types cpu.pb.gz)" "samples/count cpu/nanoseconds[dflt]" types

# Independent of the viewer: whole stacks (the viewer drops the allocator's frame), labels, header.
text=$(python3 "$ROOT/tests/profile_diff.py" heap.pb.gz)
inlined='\[3000 /opt/server#abc123 grow\|grow\|/src/table.h\|3:5:9>Table::insert\(int\)\|_ZN5Table6insertEi\|/src/table.cc\|7:8:0\]'
expect_match "$text" "^1500 96000 1100 70400 \{addr=0x3000\} \[23000 /lib/libc.so.6#c0ffee operator new.* $inlined" "inlined stack"
expect_match "$text" '^10 640 0 0 \{addr=0x3000,bytes=512/bytes,thread=worker "1"\} ' "label set"
expect_match "$text" '^period space/bytes 1$' period
expect_match "$text" '^time 1700000005000000000 dur 5000000000$' time
expect_match "$text" '^comments .*WARNING: 17 samples dropped' "loss in the comments"
expect_match "$text" '^comments .*command: ./server --port 0' "command in the comments"
text=$(python3 "$ROOT/tests/profile_diff.py" lock.pb.gz)
expect_match "$text" '^530 4060000 8000000 2300 \{object=server:g_table_lock\} \[0 - server:g_table_lock\|' "lock without a caller"
expect_match "$text" '^10 70000 90000 100 \{object=new_table\+24\} \[2000 /opt/server#abc123 serve\|' "lock with a caller"
expect_match "$(pprof -raw heap.pb.gz 2>/dev/null | sed -n '/^Mappings/{n;p}')" '^1: .* /opt/server abc123' "main binary first"

# drop_frames: the viewer gives what operator new allocated to its caller, and loses nothing.
top=$(pprof -top -unit=B -sample_index=alloc_space heap.pb.gz 2>/dev/null)
expect_match "$top" '96640B +[0-9.]+% +[0-9.]+% +96640B .* grow \(inline\)' "flat of the caller"
grep -q 'operator new' <<<"$top" && fail "operator new is shown: $top"
expect_match "$(pprof -tags heap.pb.gz 2>/dev/null)" '0x3000' "addr label in -tags"
for view in -tree -traces; do pprof $view heap.pb.gz >view.txt 2>&1 && grep -q serve view.txt || fail "pprof $view"; done
pprof -svg heap.pb.gz >view.svg 2>view.err && grep -q '</svg>' view.svg || fail "pprof -svg: $(cat view.err)"

# The other run: sampled, another main binary.
"$CLEAR" export --db t.db latest --kind heap -o other.pb.gz || fail "run 2"
text=$(python3 "$ROOT/tests/profile_diff.py" other.pb.gz)
expect_match "$text" '^period space/bytes 10$' "period of a sampled run"
expect_match "$text" '^comments .*sampled: every 10th event' "sampling in the comments"
expect_match "$(pprof -raw other.pb.gz 2>/dev/null | sed -n '/^Mappings/{n;p}')" '^1: .* /opt/other def456' "its main binary"

# The same bytes again, over an older file, and on standard output.
cp heap.pb.gz before.pb.gz
echo old >heap.pb.gz
export_kind heap
expect_same_file heap.pb.gz before.pb.gz "the same export twice"
"$CLEAR" export --db t.db 1 --kind heap -o - >piped.pb.gz || fail "-o -"
expect_same_file piped.pb.gz before.pb.gz "standard output"
