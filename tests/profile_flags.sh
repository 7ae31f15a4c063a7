#!/usr/bin/env bash
# What the flags of clear profile choose, and where the rate of a sample is shown.
. "$(dirname "$0")/lib.sh"

newest='run_id = (SELECT max(id) FROM runs)'
kinds() { sql t.db "SELECT group_concat(kind) FROM (SELECT DISTINCT kind FROM profiles WHERE $newest AND kind NOT IN ('recorder', 'spin', 'threads') ORDER BY kind)"; }
files() { (cd t.profile && find . -type f ! -name 'recorder*' -printf '%f\n' | sort | paste -sd ' '); }
record() { # record ARGUMENTS...: quietly, into t.profile
    expect_status 0 profile -q -o t.profile "$@" >out.txt
}

# What is off has no profile, no file, and no row. (mvcc has cells, no channels, no fibers.)
record "$FIXTURES/mvcc"
expect_equal "$(kinds)" cpu,heap,heap-peak,lock,mvcc,wait 'kinds'
expect_equal "$(files)" 'alloc.txt cpu.pb.gz heap-peak.pb.gz heap.pb.gz lock.pb.gz locks.txt mvcc.pb.gz mvcc.txt run.txt.gz spin.pb.gz threads.pb.gz wait.pb.gz' 'files'
record --no-heap --no-locks --cpu=off "$FIXTURES/mvcc"
expect_equal "$(kinds)" mvcc 'kinds with all but cells off'
expect_equal "$(sql t.db "SELECT count(DISTINCT kind) FROM profiles WHERE $newest AND kind = 'threads'")" 1 'threads, which are always recorded'
expect_equal "$(files)" 'mvcc.pb.gz mvcc.txt run.txt.gz threads.pb.gz' 'files with all but cells off'
expect_equal "$(sql t.db "SELECT count(*) FROM heap WHERE $newest")" 0 'sites with --no-heap'
grep '^cell ' out.txt | grep -v '+24 128 ' >cells.txt # all but the one in the heap, which nobody knows now
expect_tables cells.txt
expect_equal "$(sql t.db "SELECT count(*) FROM cell_use WHERE $newest AND object GLOB '0x*'")" 1 'the cell in the heap goes by its address'
record --no-heap "$FIXTURES/lock_contended"
expect_equal "$(kinds)" cpu,io,lock,wait 'kinds with --no-heap'
record --no-locks "$FIXTURES/lock_contended"
expect_equal "$(kinds)" cpu,heap,heap-peak,io 'kinds with --no-locks'
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE $newest AND (dropped OR truncated)")" 0 'losses of what is off'

# The period of CPU samples is the rate.
record --cpu=250 "$FIXTURES/leak"
expect_equal "$(sql t.db "SELECT DISTINCT period, period_type, period_unit FROM profiles WHERE kind = 'cpu' AND $newest")" '4000000|cpu|nanoseconds' '--cpu=250'

# How long threads had no processor is looked at before the first flush too: this one ends before that.
record --interval=10 "$FIXTURES/cpu_burn" idle 500
expect_equal "$(sql t.db "SELECT count(*) FROM counters JOIN profiles ON profiles.id = profile_id WHERE $newest AND name = 'recorder.run_delay_ms'")" 1 'a look at a short run'

# Every Nth event: in the run, its profiles, the dumps, the profiles for pprof, the list of runs, and the doctor.
record --sample=100 "$FIXTURES/mvcc"
expect_equal "$(sql t.db "SELECT sample_n, flags FROM runs WHERE id = (SELECT max(id) FROM runs)")" '100|' '--sample=100'
expect_equal "$(sql t.db "SELECT DISTINCT kind, sample_n, period FROM profiles WHERE $newest AND kind NOT IN ('cpu', 'heap-peak', 'recorder', 'spin', 'threads', 'wait') ORDER BY kind")" \
    $'heap|100|100\nlock|100|100\nmvcc|100|100' 'rates of the profiles'
expect_equal "$(sql t.db "SELECT DISTINCT sample_n FROM profiles WHERE $newest AND kind = 'cpu'")" 1 'CPU samples are not thinned out'
for dump in alloc locks mvcc; do
    expect_equal "$(grep -c '^# sample_n: 100$' t.profile/$dump.txt)" 1 "$dump.txt"
done
expect_equal "$(sql t.db "SELECT count(*) FROM heap WHERE $newest AND (alloc_count % 100 OR free_count % 100)")" 0 'each event counts 100 times'
for kind in heap mvcc; do
    expect_match "$(pprof -comments t.profile/$kind.pb.gz 2>/dev/null)" 'sampled: every 100th event, counted 100 times' "$kind.pb.gz"
done
expect_match "$("$CLEAR" runs --db t.db | sed -n 3p)" 'sampled 1 in 100' 'clear runs'
expect_match "$("$CLEAR" doctor --db t.db)" 'sampled 1 in 100; figures are scaled up' 'clear doctor'
expect_equal "$(sql t.db "SELECT group_concat(subject) FROM doctor WHERE $newest AND code = 'sampled' AND subject NOT IN ('heap-peak', 'wait')")" heap,lock,mvcc 'doctor'
expect_match "$(profile --sample=100 "$FIXTURES/leak" 2>&1 >/dev/null)" '; sampled 1 in 100$' 'closing words'

# By bytes: the heap alone.
record --sample=64KiB "$FIXTURES/mvcc"
expect_equal "$(sql t.db "SELECT sample_n, flags FROM runs WHERE id = (SELECT max(id) FROM runs)")" '1|sample_bytes=65536' '--sample=64KiB'
expect_equal "$(sql t.db "SELECT DISTINCT kind, sample_n, period, period_type FROM profiles WHERE $newest AND kind NOT IN ('cpu', 'heap-peak', 'recorder', 'spin', 'threads', 'wait') ORDER BY kind")" \
    $'heap|1|65536|space\nlock|1|1|contentions\nmvcc|1|1|commits' 'rates of the profiles'
expect_equal "$(sed -n 's/^# sample_bytes: //p' t.profile/alloc.txt)" 65536 'alloc.txt'
expect_equal "$(grep -c sample_bytes t.profile/locks.txt)" 0 'locks.txt'
expect_match "$(pprof -comments t.profile/heap.pb.gz 2>/dev/null)" 'one allocation in 65536 bytes' 'heap.pb.gz'
expect_match "$("$CLEAR" runs --db t.db | sed -n 3p)" 'sampled every 64.0 KiB' 'clear runs'
expect_match "$("$CLEAR" doctor --db t.db)" 'allocations sampled every 64.0 KiB' 'clear doctor'
expect_equal "$(sql t.db "SELECT sample_n, sample_bytes FROM run_summary WHERE $newest")" '1|65536' run_summary
grep '^cell ' out.txt | grep -v '+24 128 ' >cells.txt # the one in the heap: its block may be none of the sample
expect_tables cells.txt                             # cells stay exact

# Callers of locks: sampled unless said otherwise; then exact, and the sum over the callers is what the program counted.
record --sync-callstacks "$FIXTURES/lock_contended"
expect_equal "$(sql t.db "SELECT sample_n FROM runs WHERE id = (SELECT max(id) FROM runs)")" 100 '--sync-callstacks'
record --sync-callstacks --sample=1 "$FIXTURES/mvcc" 2 2000
expect_equal "$(sql t.db "SELECT sample_n FROM runs WHERE id = (SELECT max(id) FROM runs)")" 1 '--sync-callstacks --sample=1'
expect_tables out.txt
expect_equal "$(sql t.db "SELECT count(*) FROM cell_use WHERE $newest AND stack_of <> 'caller'")" 0 'cells without a caller'
[ "$(sql t.db "SELECT max(callers) FROM (SELECT count(DISTINCT trace_id) AS callers FROM cell_use WHERE $newest GROUP BY object_id)")" -gt 1 ] ||
    fail 'no cell has two callers'
expect_equal "$(awk -F'\t' '!/^#/ && $8 !~ /^0x/' t.profile/mvcc.txt | wc -l)" 0 'rows of mvcc.txt without caller_trace'

# Children.
record sh -c "$FIXTURES/leak; true"
expect_equal "$(sql t.db "SELECT count(*) FROM processes WHERE $newest")" 2 'processes'
record --follow=none sh -c "$FIXTURES/leak; true"
expect_equal "$(sql t.db "SELECT count(*) FROM processes WHERE $newest")" 1 'processes with --follow=none'
record --follow=none sh -c "exec $FIXTURES/leak"
expect_equal "$(sql t.db "SELECT count(*) FROM processes WHERE $newest AND executable GLOB '*/leak'")" 1 'exec is no child'

# What the recording cost. (How long it had no processor is known where a look met it.)
expect_equal "$(sql t.db "SELECT group_concat(name) FROM (SELECT name FROM counters JOIN profiles ON profiles.id = profile_id WHERE $newest AND name LIKE 'recorder.%' AND name NOT LIKE '%.run_delay_%' ORDER BY name)")" \
    recorder.corrupt_segments,recorder.cpu_effective_samples,recorder.cpu_ms,recorder.cpu_samples,recorder.dropped,recorder.events,recorder.flush_ms,recorder.flushes,recorder.processors,recorder.segment_bytes,recorder.truncated,recorder.unrecorded_processes,recorder.voluntary_switches \
    'counters of the recorder'

while IFS='|' read -r why arguments; do
    # shellcheck disable=SC2086 # words are meant
    message=$("$CLEAR" profile --db never.db $arguments ls 2>&1 >/dev/null)
    expect_equal "$?" 2 "status of: $arguments"
    expect_match "$message" "$why" "message of: $arguments"
done <<'E2'
--sample must be|--sample=x
out of range|--sample=0
out of range|--sample=0KiB
--sample must be|--sample=1.5
--cpu must be|--cpu=fast
out of range|--cpu=0
out of range|--cpu=10001
out of range|--cpu=perf,0
--cpu must be|--cpu=perf,fast
all or none|--follow=some
E2
[ ! -e never.db ] || fail 'a refused command made a database'
check_db t.db
