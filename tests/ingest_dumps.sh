# CLEAR's text dumps: every table row by row against the files, read by awk here; old versions; names from the binary; broken
# files; our own run directories.
. "$(dirname "$0")/lib.sh"

corpus=$ROOT/fixtures/corpus/dumps
ingest() { "$CLEAR" ingest --db t.db "$@" >out.txt 2>err.txt || fail "ingest $*: $(cat err.txt)"; }
last='run_id = (SELECT max(id) FROM runs)'
of_last="JOIN profiles ON profiles.id = profile_id WHERE $last"
rows() { grep -v '^#' "$1" | tr '\t' ' ' | tr -s ' ' | sed '/^ *$/d'; } # rows FILE: its rows, blank-separated
addresses() { # addresses LABEL: as a dump writes a stack, of the trace in column trace_id
    echo "coalesce((SELECT group_concat(printf('0x%x', address), ',') FROM (SELECT address FROM frames JOIN locations
        ON locations.id = location_id WHERE frames.trace_id = $1.trace_id GROUP BY depth ORDER BY depth)), '-')"
}
expect_rows() { # expect_rows FILE SQL: the rows of both, whatever their order
    rows "$1" | sort >want.txt
    sql t.db "$2" | tr '|' ' ' | sort >got.txt
    [ -s want.txt ] || fail "$1 has no rows"
    expect_same_file got.txt want.txt "$1"
}

# ---- the newest formats
dir=$corpus/ledger.profile
ingest --label ledger "$dir"
expect_rows "$dir/alloc.txt" "SELECT $(addresses sites), alloc_count, alloc_bytes, free_count, free_bytes, alloc_bytes - free_bytes FROM sites $of_last"
expect_rows "$dir/locks.txt" "SELECT printf('0x%x', address), acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns, read_acquires,
    read_contended, read_wait_ns, read_max_wait_ns, $(addresses locks) FROM locks $of_last"
expect_rows "$dir/mvcc.txt" "SELECT printf('0x%x', address), struct_size, reads, commits, retries, update_failures, multi_commits,
    $(addresses cells) FROM cells $of_last"
expect_rows "$dir/channels.txt" "SELECT channel, pushes, pops, push_blocked, pop_blocked, max_depth, capacity FROM channels $of_last"
expect_equal "$(sql t.db "SELECT total_fibers, short_fibers, very_short_fibers, total_lifetime_ns, max_lifetime_ns FROM fibers $of_last")" \
    "$(awk '/^[a-z_0-9]*: / { printf "%s%s", (n++ ? "|" : ""), $2 }' "$dir/fibers.txt")" fibers
rows <(sed -n '/^# sched/,/^# per-site/p' "$dir/fibers.txt") >schedulers.txt
expect_rows schedulers.txt "SELECT scheduler, fibers FROM schedulers $of_last"
rows <(sed -n '/^# site/,$p' "$dir/fibers.txt") >sites.txt
expect_rows sites.txt "SELECT site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form,
    replace(replace(replace(schedulers, '{', ''), '}', ''), '\"', '') FROM task_sites $of_last"
expect_equal "$(sql t.db "SELECT site, task_sites.kind, line, column FROM task_sites $of_last")" \
    "$(sed -n 's/.*SITE id=\([0-9]*\) kind=\([A-Z]*\) line=\([0-9]*\) column=\([0-9]*\) .*/\1|\2|\3|\4/p' "$dir/transpiled.zig")" "task sites"
expect_equal "$(sql t.db "SELECT name, calls, errors FROM syscalls $of_last ORDER BY name")" \
    "$(awk 'NF >= 5 && $1 ~ /^[0-9]/ && $NF != "total" { print $NF "|" $4 "|" (NF == 6 ? $5 : 0) }' "$dir/syscalls.txt" | LC_ALL=C sort)" syscalls
expect_equal "$(sql t.db "SELECT sum(calls), sum(errors) FROM syscalls $of_last")" "$(awk '$NF == "total" { print $4 "|" $5 }' "$dir/syscalls.txt")" "strace's own total"
expect_equal "$(sql t.db "SELECT CAST(value AS INTEGER) FROM counters $of_last AND name = 'cycles:u'")" 4812330114 cycles
expect_equal "$(sql t.db "SELECT count(*), sum(value IS NULL) FROM counters $of_last")" "10|2" "counters, and those that the machine lacks"
expect_equal "$(sql t.db "SELECT value, unit FROM counters $of_last AND name = 'seconds time elapsed'")" "1.846210331|seconds" elapsed
expect_equal "$(sql t.db "SELECT kind, sample_n FROM profiles WHERE $last AND sample_n > 1 ORDER BY kind")" "$(printf 'heap|10\nlock|100')" "sample_n"
expect_equal "$(sql t.db 'SELECT sample_n FROM runs')" 100 "sample_n of the run"
expect_equal "$(sql t.db "SELECT function FROM heap WHERE $last AND alloc_count = 30")" 0x1013444 "a name without a binary"
expect_match "$(sql t.db "SELECT comments FROM profiles WHERE kind = 'heap'")" 'total_allocs: 81234' "a header without a column"

# ---- the older ones, each file for itself
for file in "$corpus"/old-formats.profile/*.txt; do ingest --label "old-$(basename "$file")" "$file"; done
run_of() { echo "run_id = (SELECT id FROM runs WHERE label = 'old-$1')"; }
expect_equal "$(sql t.db "SELECT function, alloc_count, alloc_bytes, free_count, free_bytes FROM heap WHERE $(run_of alloc.txt) ORDER BY 1")" \
    "$(rows "$corpus/old-formats.profile/alloc.txt" | tr ' ' '|' | sed 's/|[0-9]*$//')" "alloc.txt v1"
expect_equal "$(sql t.db "SELECT object, acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns, read_acquires, read_contended,
    read_wait_ns, read_max_wait_ns FROM lock_use WHERE $(run_of locks.txt)")" "$(rows "$corpus/old-formats.profile/locks.txt" | tr ' ' '|')" "locks.txt v2"
expect_equal "$(sql t.db "SELECT object, struct_size, reads, commits, retries, update_failures, multi_commits FROM cell_use WHERE $(run_of mvcc.txt)")" \
    "$(rows "$corpus/old-formats.profile/mvcc.txt" | tr ' ' '|')|0" "mvcc.txt v1"
expect_equal "$(sql t.db "SELECT dropped FROM profiles WHERE $(run_of locks.txt)")" 17 "dropped samples"
expect_match "$("$CLEAR" doctor --db t.db old-locks.txt)" '17' "doctor on dropped samples"
expect_equal "$(sql t.db "SELECT count(*) FROM doctor WHERE $(run_of locks.txt) AND section = 'saturation' AND code = 'warning'")" 1 "the warning itself"
check_db t.db

# ---- names from the binary beside the directory; addr2line is the truth
cat >app.c <<'C'
#include <stdlib.h>
static int global_lock[16];
__attribute__((noinline)) void *inner(int n) { return malloc((size_t)n); }
__attribute__((noinline)) void *outer(int n) { char *p = inner(n); p[0] = (char)global_lock[n & 15]; return p; }
int main(int argc, char **argv) { (void)argv; global_lock[argc & 15] = 1; free(outer(argc + 7)); return 0; }
C
"${CC:-gcc}" -g -O1 -no-pie -o app app.c || fail "no binary"
address() { nm app | awk -v name="$1" '$3 == name { print "0x" $1 }'; }
inner=$(printf '0x%x' $(($(address inner) + 4))) outer=$(printf '0x%x' $(($(address outer) + 8))) main=$(printf '0x%x' $(($(address main) + 4)))
lock=$(printf '0x%x' $(($(address global_lock) + 8)))
mkdir app.profile
printf '# alloc-profile v2\n# addrs alloc_count alloc_bytes free_count free_bytes live_bytes\n%s,%s,%s 3 24 3 24 0\n0xdead0000 1 8 0 0 8\n' \
    "$inner" "$outer" "$main" >app.profile/alloc.txt
printf '# lock-profile v2\n%s\t5\t0\t0\t0\t10\t10\t0\t0\t0\t0\n' "$lock" >app.profile/locks.txt
ingest app.profile
expect_equal "$(sql t.db "SELECT stack FROM stacks JOIN sites USING (trace_id) $of_last AND alloc_count = 3")" "main;outer;inner" "stack"
for at in "$inner" "$outer" "$main"; do
    expect_equal "$(sql t.db "SELECT DISTINCT file || ':' || line FROM frames JOIN locations ON locations.id = location_id WHERE address = $((at))")" \
        "$(addr2line -e app "$at" | sed 's/ (disc.*//')" "line of $at"
done
expect_equal "$(sql t.db "SELECT function FROM heap WHERE $last AND alloc_count = 1")" 0xdead0000 "an address outside of the binary"
expect_equal "$(sql t.db "SELECT object FROM lock_use WHERE $last")" app:global_lock+8 "a global lock"
ingest app.profile/alloc.txt
expect_equal "$(sql t.db "SELECT function FROM heap WHERE $last AND alloc_count = 3")" inner "a single file of the directory"

# ---- CRLF, no final newline, unknown headers, tabs for blanks
printf '# alloc-profile v1\r\n# engine: new\r\n0x10\t1 8\t0 0 8\r\n0x20 2 16 0 0 16' >crlf
ingest crlf
expect_equal "$(sql t.db "SELECT sum(alloc_count), sum(alloc_bytes) FROM sites $of_last")" "3|24" CRLF
expect_equal "$(sql t.db "SELECT comments FROM profiles WHERE $last")" '["engine: new"]' "an unknown header"
printf '# alloc-profile v1\n0x10 2 80 1 40 41\n' >disagree
ingest disagree
expect_match "$(sql t.db "SELECT comments FROM profiles WHERE $last")" 'WARNING: live_bytes .* 1 rows' "a total that disagrees"

# ---- broken: the place is named, nothing stays, --lenient skips it
broken() { # broken NAME REGEX FORMAT: the dump as printf writes it
    local before
    # shellcheck disable=SC2059
    printf "$3" >"$1"
    before=$(sqlite3 t.db .dump | sha256sum)
    expect_status 1 "$CLEAR" ingest --db t.db "$1" 2>err.txt >/dev/null
    expect_match "$(cat err.txt)" "$2" "$1"
    expect_equal "$(sqlite3 t.db .dump | sha256sum)" "$before" "the database after $1"
    ingest --lenient "$1"
    expect_match "$(cat out.txt err.txt)" '1 .*skipped|skipped.* 1' "$1 with --lenient"
}
alloc='# alloc-profile v2\n0x1 1 8 0 0 8\n'
broken letter 'letter:3:9: expected a number' "$alloc"'0x2 1 8 x 0 8\n'
broken short 'short:3:1: expected 6 columns, found 5' "$alloc"'0x2 1 8 0 0\n'
broken long 'long:3:15: expected the end of the row' "$alloc"'0x2 1 8 0 0 8 9\n'
broken address 'address:3:1: expected an address' "$alloc"'zz 1 8 0 0 8\n'
broken comma 'comma:3:5: expected an address' "$alloc"'0x2,,0x3 1 8 0 0 8\n'
broken wide 'wide:3:1: .*64 bits' "$alloc"'0x10000000000000000 1 8 0 0 8\n'
broken big 'big:3:7: .*63 bits' "$alloc"'0x2 1 9223372036854775808 0 0 8\n'
broken negative 'negative:3:5: expected a number' "$alloc"'0x2 -1 8 0 0 8\n'
broken nul 'nul:3:7: expected a number' "$alloc"'0x2 1 8\0000 0 8 1\n'
broken caller 'caller:2:29: expected an address' '# lock-profile v3\n0x1\t1\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0x5,\n'
broken cells 'cells:2:1: expected 6 to 8 columns, found 5' '# mvcc-profile v2\n0x1 1 1 1 1\n'
broken channels 'channels:2:1: expected 6 or 7 columns' '# channel-profile v1\n1\t2\t3\t4\t5\n'
broken fibers 'fibers:2:15: expected a number' '# fiber-profile v1\ntotal_fibers: many\n'
broken spread 'spread:3:23: expected SCHEDULER:RUNS' '# fiber-profile v1\n# per-site fibers\n4\t1\t1\t1\t1\t1\tlocal\tfsm\t0;90\n'
broken strace 'strace:2:11: expected seconds' '%% time     seconds  usecs/call     calls    errors syscall\n  0.00    0.00x           0         9           read\n'
broken counters 'counters:3:3: expected a number' ' Performance counter stats for x:\n\n  12,3x4 cycles\n'
mkdir two.profile
cp "$dir/alloc.txt" two.profile
printf '# lock-profile v2\n0x1\t1\n' >two.profile/locks.txt
before=$(sqlite3 t.db .dump | sha256sum)
expect_status 1 "$CLEAR" ingest --db t.db two.profile 2>err.txt >/dev/null
expect_match "$(cat err.txt)" 'two.profile/locks.txt:2:1: ' "a broken file of a directory"
expect_equal "$(sqlite3 t.db .dump | sha256sum)" "$before" "the database after a broken directory"

# ---- profiles in other formats beside the dumps are one run with them; without a dump, each is its own
mkdir mixed.profile several
cp "$dir/alloc.txt" mixed.profile
cp "$ROOT/fixtures/corpus/perf/sqlite3-fp.perf.data" mixed.profile/perf.data
ingest mixed.profile
expect_equal "$(sql t.db "SELECT kind, coalesce((SELECT sum(samples) FROM cpu WHERE profile_id = profiles.id), 0) FROM profiles WHERE $last ORDER BY 1")" \
    "$(printf 'cpu|426\nheap|0')" "kinds of a directory with perf.data"
cp "$ROOT/fixtures/corpus/legacy/gobench.heap" several/heap.pb.gz
cp "$ROOT/fixtures/corpus/legacy/gobench.cpu" several/cpu.pb.gz
runs=$(sql t.db 'SELECT count(*) FROM runs')
ingest several
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" $((runs + 2)) "runs of a directory without dumps"

# ---- the dumps and profiles of a run directory of our own: the same figures by stack and by lock
rm -f t.db
"$CLEAR" profile --db t.db -o own.profile -- "$FIXTURES/heap_counts" >/dev/null || fail "no recording"
"$CLEAR" profile --db t.db -o locks.profile -- "$FIXTURES/lock_counts" >/dev/null || fail "no recording"
rm own.profile/run.txt.gz locks.profile/run.txt.gz && "$CLEAR" ingest --db t.db own.profile locks.profile >/dev/null || fail "own directories"
by_stack() { sql t.db "SELECT stack, sum(alloc_count), sum(alloc_bytes), sum(free_count), sum(free_bytes) FROM heap JOIN stacks USING (trace_id)
    WHERE run_id = $1 GROUP BY stack ORDER BY stack"; }
by_lock() { sql t.db "SELECT address, object, kind, sum(acquires), sum(contended), sum(wait_ns), max(max_wait_ns), sum(hold_ns), max(max_hold_ns), sum(read_acquires),
    sum(read_contended), sum(read_wait_ns), max(read_max_wait_ns) FROM lock_use WHERE run_id = $1 GROUP BY address, object, kind ORDER BY address"; }
for pair in "1 3" "2 4"; do
    read -r recorded ingested <<<"$pair"
    by_stack "$recorded" >want.txt
    by_stack "$ingested" >got.txt
    expect_same_file got.txt want.txt "heap of run $recorded"
    by_lock "$recorded" >want.txt
    by_lock "$ingested" >got.txt
    expect_same_file got.txt want.txt "locks of run $recorded"
done
expect_between "$(by_stack 1 | wc -l)" 10 1000 "stacks compared"
expect_match "$(by_lock 4)" 'lock_counts:[a-z_]+.*\|mutex\|' "names of locks"
expect_between "$(by_lock 2 | wc -l)" 3 1000 "locks compared"
check_db t.db
