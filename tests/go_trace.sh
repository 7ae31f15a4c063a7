# Execution traces of Go into the tables: two written by hand (fixtures/make_go_traces.py), of which each row is known; two of esbuild, a real program,
# against a count of their events by another decoder; older formats and broken files are refused whole.
# quick
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db PYTHONDONTWRITEBYTECODE=1

python3 "$ROOT/fixtures/make_go_traces.py" made
for file in made/go/*; do
    cmp "$file" "$ROOT/fixtures/corpus/go/${file##*/}" || fail "$file is not what is in the corpus"
done
"$CLEAR" ingest made/go/marks.trace made/go/waits.trace >out.txt
expect_match "$(cat out.txt)" 'run 1, go-trace, [0-9]+ rows' 'the format'
rows() { sql t.db "SELECT printf('%d %s %d %d %s %s by %s task %s at %s:%d%s', tid % 4294967296, thread, start_ns, duration_ns, kind, object,
                       coalesce(owner_tid || '/' || released_by, '-'), coalesce(value, '-'), function, line, iif(is_late, ' cut', ''))
                   FROM timeline WHERE run_id = $1 ORDER BY start_ns, duration_ns DESC, kind"; }
cat >marks.txt <<'END'
13 main.serve 0 25600 channel chan receive in main.serve by - task - at runtime.chanrecv1:442 cut
1 task request 640 3840 region request by - task 1 at main.main:5
2 task request 1280 24320 region request by - task 2 at main.main:5 cut
1 main.main 1920 1920 region parse by - task 1 at main.work:30
1 main.main 2240 0 mark rows: 17 by - task 1 at main.work:30
1 main.main 2560 640 region inner by - task 1 at main.work:30
1 main.main 4160 0 cpu  by - task - at main.work:30
1 task request 5120 6400 region request by - task 3 at main.main:5
1 main.main 5120 0 cpu  by - task - at main.work:30
1 main.main 5760 1280 region GC mark assist by - task - at :0
3 stop the world 6400 1280 region stop the world: GC sweep termination by - task - at :0
4 GC 7040 5760 region GC by - task - at :0
1 main.main 7680 1280 region GC sweep by - task - at :0
9 main.helper 12160 0 birth  by - task - at main.main:5
1 main.main 12800 2560 futex coroutine by 9/9 task - at :0
9 main.helper 13440 1920 region left open by - task - at main.helper:50 cut
9 main.helper 15360 0 death  by - task - at :0
1 main.main 16000 9600 region to the end by - task - at main.main:5 cut
11  18560 0 birth  by - task - at :0
11  19200 0 death  by - task - at :0
END
cat >waits.txt <<'END'
5 main.worker 0 0 birth  by - task - at main.main:10
6 main.worker 100 0 birth  by - task - at main.main:10
1 main.main 150 1000 sem wait group in main.main by 6/6 task - at sync.(*WaitGroup).Wait:110
6 main.worker 300 600 mutex mutex in main.worker by 5/5 task - at internal/sync.(*Mutex).lockSlow:149
5 main.worker 950 960 sleep time.Sleep by - task - at time.Sleep:195
6 main.worker 1050 0 death  by - task - at :0
1 main.main 1200 300 syscall syscall.read by - task - at syscall.Syscall:70
1 main.main 1550 500 channel chan receive in main.main by 5/5 task - at runtime.chanrecv1:442
1 main.main 3000 900 sleep time.Sleep by - task - at time.Sleep:195 cut
5 main.worker 3900 0 death  by - task - at :0
END
rows 1 >got.txt; expect_same_file got.txt marks.txt 'regions, tasks, the collector'
rows 2 >got.txt; expect_same_file got.txt waits.txt 'waits and who ended them'
expect_equal "$(sql t.db 'SELECT started_ns FROM runs WHERE id = 1')" 1740755049000064123 'the time of day'
expect_equal "$(sql t.db 'SELECT group_concat(samples || stack, char(10)) FROM (SELECT samples, stack FROM cpu JOIN stacks USING (trace_id) ORDER BY samples)')" \
    $'1main.main\n2main.main;main.work' 'samples of CPU time'
expect_equal "$(sql t.db "SELECT group_concat(v0 || ' ' || v1 || ' ' || labels || ' ' || stack, char(10)) FROM (SELECT v0, v1, labels, stack FROM samples JOIN profiles ON profiles.id = profile_id
                          JOIN label_sets ON label_sets.id = label_set_id JOIN stacks USING (trace_id) WHERE run_id = 2 AND stack LIKE '%Mutex%')")" \
    '1 600 [["state","mutex"]] main.worker;sync.(*Mutex).Lock;internal/sync.(*Mutex).lockSlow' 'the kind off-cpu'
expect_equal "$(sql t.db "SELECT what || ' ' || tid FROM critical_path WHERE run_id = 2 AND region_id IS NULL ORDER BY step")" $'ran 1\nwoke 1\nran 5' 'what decided it'

# Real ones: goroutines and calls as another decoder counts them; no goroutine waits twice at a time; who ended a wait did so while it lasted.
for version in 23 26; do
    file=$ROOT/fixtures/corpus/go/esbuild-go1.$version.trace
    "$CLEAR" ingest "$file" >/dev/null || fail "go 1.$version"
    counts=$(sql t.db "SELECT sum(kind = 'birth'), sum(kind = 'death'), sum(kind = 'syscall' AND NOT is_late) FROM events JOIN processes ON processes.id = process_id
                       WHERE run_id = (SELECT max(id) FROM runs)")
    expect_equal "$counts" "$(python3 "$ROOT/tests/go_trace.py" "$file")" "events of go 1.$version"
done
expect_equal "$(sql t.db "SELECT count(*) FROM (SELECT start_ns, lag(start_ns + duration_ns) OVER (PARTITION BY process_id, tid ORDER BY start_ns) AS ended FROM events
                          WHERE kind IN (SELECT kind FROM event_kinds WHERE class IN ('wait', 'sleep', 'io'))) WHERE start_ns < ended")" 0 'overlapping waits'
expect_equal "$(sql t.db "SELECT count(*) FROM lock_waits WHERE owner_tid IS NOT released_by AND NOT is_late")" 0 'waits whose owner did not release them'
expect_between "$(sql t.db 'SELECT count(*) FROM lock_waits WHERE released_by IS NOT NULL')" 20 500 'waits with an owner'
for run in 3 4; do
    expect_match "$("$CLEAR" doctor "$run")" 'no findings' 'a healthy program'
done

refused() { # refused WHAT REGEX: refused.file is refused, and nothing of it is there
    before=$(sql t.db 'SELECT count(*) FROM events')
    expect_status 1 "$CLEAR" ingest refused.file >out.txt 2>err.txt
    expect_match "$(cat err.txt)" "$2" "$1"
    expect_equal "$(sql t.db 'SELECT count(*) FROM events')" "$before" "$1: rows"
}
trace=$ROOT/fixtures/corpus/go/waits.trace
{ printf 'go 1.19 trace\0\0\0'; tail -c +17 "$trace"; } >refused.file; refused 'an older format' 'refused.file: an execution trace in the format of go 1[.]19: .* go 1[.]22'
{ cat "$trace"; printf '\1\2'; } >refused.file; refused 'half a batch' 'byte [0-9]+: the trace ends in the middle of a batch'
{ cat "$trace"; printf '\77'; } >refused.file; refused 'no batch' 'byte [0-9]+: expected a batch of events, found event 63'
{ cat "$trace"; printf '\1\1\1\1\0'; } >refused.file; refused 'an earlier generation' 'generation 1 after generation 2'
{ cat "$trace"; printf '\1\3\1\1\1\20'; } >refused.file; refused 'no clock' 'generation 3 of the trace has no frequency'
{ cat "$trace"; printf '\1\3\1\1\2\10\1\1\3\1\1\1\77'; } >refused.file; refused 'a newer event' 'event 63 of go 1[.]22 is not known'
"$CLEAR" ingest --lenient refused.file >out.txt 2>&1 || fail 'lenient'
expect_match "$(cat out.txt)" 'go-trace, [0-9]+ rows' 'the generations before the broken one'
