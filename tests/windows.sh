# Time inside a run: a program that tells what it did in each phase against the windows that the recorder cut, by --from and
# --to, by --window, in SQL, in every kind and format; and what folding and a ring leave of them.
# build: plain
. "$(dirname "$0")/lib.sh"

# ---- a recording, and what it said -------------------------------------------------------------------------------------
# A recorder that gets no processor in the pause between two phases cuts no window there: then the pauses are longer.
for pause in 800 3200 6400; do
    rm -f t.db
    expect_status 0 profile --interval 0.03 --windows=all -q -- "$FIXTURES/phases" $pause >out.txt
    [ "$(sql t.db "SELECT min(windows) FROM (SELECT count(*) AS windows FROM windows WHERE kind IN ('heap', 'lock', 'mvcc', 'channels', 'fibers') GROUP BY kind)")" -lt 5 ] || break
done
run=$(sql t.db 'SELECT max(id) FROM runs')
started=$(sql t.db "SELECT started_ns FROM runs WHERE id = $run")
expect_equal "$(grep -c '^phase' out.txt)" 5 'phases'
told() { awk -v p="$1" -v n="$2" '$1 == "phase" && $2 == p { print $n }' out.txt; } # told PHASE FIELD
# From just before a phase to just before the next one, from the run's start.
before() { awk -v p="$1" -v s="$started" '$1 == "phase" && $2 == p { printf "%.3f", ($3 - s) / 1e9 - 0.005 }' out.txt; }
after() { [ "$1" = 5 ] && echo 3600s || before $(($1 + 1)); }

for kind in heap lock mvcc channels fibers; do
    windows=$(sql t.db "SELECT count(*) FROM windows WHERE run_id = $run AND kind = '$kind'")
    expect_between "$windows" 5 80 "windows of kind $kind"
done
expect_equal "$(sql t.db "SELECT count(*) FROM windows AS one JOIN windows AS next ON next.kind = one.kind AND next.number = one.number + 1
                          WHERE next.start_ns < one.time_ns")" 0 'windows that overlap'
expect_equal "$(sql t.db 'SELECT count(*) FROM sites WHERE alloc_count = 0 AND free_count = 0')" 0 'rows of nothing'

# ---- --from and --to: each phase is what the program did in it; in use is the state at its end ---------------------------
# The sums of the samples below `frame` (all, where it is empty), as csv has them: from the column of the first value on.
values() { # values FRAME FIRST-VALUE ARGUMENTS...
    local frame=$1 first=$2
    shift 2
    "$CLEAR" export --db t.db "$run" --format csv "$@" 2>said.txt >values.csv || fail "export $*: $(cat said.txt)"
    python3 - "$frame" "$first" <<'PYTHON'
import csv, sys
rows = list(csv.reader(open("values.csv")))
at = rows[0].index(sys.argv[2])
print(" ".join(str(sum(int(row[i]) for row in rows[1:] if sys.argv[1] in row[0])) for i in range(at, len(rows[0]))))
PYTHON
}
for phase in 1 2 3 4 5; do
    span=(--from "$(before $phase)" --to "$(after $phase)")
    expect_equal "$(values site_phase alloc_objects/count --kind heap "${span[@]}")" \
        "$(told $phase 5) $(told $phase 6) $(told $phase 9) $(told $phase 10)" "heap of phase $phase"
    expect_match "$(cat said.txt)" "^clear: windows? [0-9]+( to [0-9]+)? of [0-9]+, [0-9.]+ s to [0-9.]+ s of run $run\$" 'which windows were taken'
    expect_equal "$(values phase_lock contentions/count --kind lock "${span[@]}" | cut -d' ' -f1,4)" "0 $(told $phase 11)" "locks of phase $phase"
    expect_equal "$(values '' reads/count --kind mvcc "${span[@]}")" \
        "$(told $phase 12) $(told $phase 13) $(told $phase 14) $(((64 * ($(told $phase 13) + $(told $phase 14)))))" "cells of phase $phase"
    expect_equal "$(values '' pushes/count --kind channels "${span[@]}")" "$(told $phase 15) $(told $phase 16) 0 0 $(told $phase 17)" "channels of phase $phase"
    expect_equal "$(values '' spawns/count --kind fibers "${span[@]}" | cut -d' ' -f1-3)" "$(told $phase 18) $(told $phase 19) $(told $phase 20)" "fibers of phase $phase"
done
# Two phases are their sum; open ends reach to the run's.
expect_equal "$(values site_phase alloc_objects/count --kind heap --from "$(before 2)" --to "$(after 3)")" \
    "$(($(told 2 5) + $(told 3 5))) $(($(told 2 6) + $(told 3 6))) $(told 3 9) $(told 3 10)" 'phases 2 and 3'
expect_equal "$(values site_phase alloc_objects/count --kind heap --from "$(before 4)" | cut -d' ' -f1,3)" "$(($(told 4 5) + $(told 5 5))) $(told 5 9)" 'from phase 4'
expect_equal "$(values site_phase alloc_objects/count --kind heap --to "$(after 2)")" \
    "$(($(told 1 5) + $(told 2 5))) $(($(told 1 6) + $(told 2 6))) $(told 2 9) $(told 2 10)" 'to phase 2'
# The end of a pause: nothing happened, and what was in use is still there.
expect_equal "$(values site_phase alloc_objects/count --kind heap --from "$(awk -v s="$started" '$1 == "phase" && $2 == 3 { printf "%.3f", ($3 - s) / 1e9 - 0.15 }' out.txt)" --to "$(before 3)s")" "0 0 $(told 2 9) $(told 2 10)" 'the pause after phase 2'
# The same by moments, and in a text dump, and as pprof reads it.
moment() { date -u -d "@$(awk -v s="$started" -v t="$1" 'BEGIN { printf "%.3f", s / 1e9 + t }')" +%Y-%m-%dT%H:%M:%S.%3NZ; }
expect_equal "$(values site_phase alloc_objects/count --kind heap --from "$(moment "$(before 3)")" --to "$(moment "$(after 3)")" | cut -d' ' -f1)" "$(told 3 5)" 'moments'
"$CLEAR" export --db t.db "$run" --kind heap --format dump --from "$(before 3)" --to "$(after 3)" 2>/dev/null |
    grep -q " $(told 3 5) $(told 3 6) $(told 3 7) $(told 3 8) $(told 3 10)\$" || fail 'the dump of phase 3'
"$CLEAR" export --db t.db "$run" --kind heap --from "$(before 3)" --to "$(after 3)" -o three.pb.gz 2>/dev/null || fail 'three.pb.gz'
expect_match "$(pprof -top -sample_index=inuse_objects three.pb.gz 2>&1)" " $(told 3 9) .* site_phase" 'what pprof shows in use after phase 3'

# ---- --window: all of them together are the whole ------------------------------------------------------------------------
whole=$(values site_phase alloc_objects/count --kind heap)
count=$(sql t.db "SELECT max(number) FROM windows WHERE run_id = $run AND kind = 'heap'")
allocs=0 bytes=0
for number in $(seq "$count"); do
    read -r one size inuse _ < <(values site_phase alloc_objects/count --kind heap --window "$number")
    allocs=$((allocs + one)) bytes=$((bytes + size))
    expect_equal "$(sql t.db "SELECT inuse_count FROM heap_windows JOIN windows USING (run_id, profile_id)
                              WHERE run_id = $run AND function = 'site_phase' AND number <= $number ORDER BY number DESC LIMIT 1")" "$( ((inuse)) && echo "$inuse")" "in use after window $number"
done
expect_equal "$allocs $bytes $inuse" "$(cut -d' ' -f1-3 <<<"$whole")" 'windows together'
expect_equal "$(values '' alloc_objects/count --kind heap --window -1)" "$(values '' alloc_objects/count --kind heap --window "$count")" 'the last window'
# In SQL.
expect_equal "$(sql t.db "SELECT sum(alloc_bytes) FROM sites JOIN profiles ON profiles.id = profile_id JOIN places USING (trace_id)
                          WHERE run_id = $run AND function = 'site_phase' AND profiles.time_ns BETWEEN $(told 4 3) AND $(told 5 3)")" "$(told 4 6)" 'phase 4 in SQL'

# As docs/recording.md has it, with other times.
python3 - "$ROOT/docs/recording.md" "$(before 2)" "$(after 4)" >page.sql <<'PYTHON'
import re, sys
text = open(sys.argv[1]).read()
sql, = [sql for sql in re.findall(r'clear query "([^"]*)"', text) if "BETWEEN started_ns" in sql]
for old, new in (("+ 10 *", f"+ {sys.argv[2]} *"), ("+ 20 *", f"+ {sys.argv[3]} *")):
    assert sql.count(old) == 1, old
    sql = sql.replace(old, new)
print(sql)
PYTHON
expect_equal "$("$CLEAR" query --db t.db --format csv --no-header "$(cat page.sql)" run="$run" | tr -d '\r' | grep '^site_phase,')" \
    "site_phase,$(($(told 2 5) + $(told 3 5) + $(told 4 5))),$(($(told 2 6) + $(told 3 6) + $(told 4 6)))" "the query of docs/recording.md"

# ---- refusals ------------------------------------------------------------------------------------------------------------
refused() { # refused REGEX ARGUMENTS...
    local regex=$1
    shift
    expect_status 2 "$CLEAR" export --db t.db "$run" -o x.pb.gz "$@" 2>said.txt
    expect_match "$(cat said.txt)" "$regex" "export $*"
    [ ! -e x.pb.gz ] || fail "export $* left a file"
}
refused "has $count windows of kind heap" --kind heap --window 100000
refused "has $count windows of kind heap" --kind heap --window -100000
refused '--window' --kind heap --window 0
refused 'exclude each other' --kind heap --window 1 --from 1s
refused 'not before' --kind heap --from 1s --to 0.5s
refused 'took' --kind heap --from 1h
refused 'not a date and time' --kind heap --from 2026-99-99
refused 'need --kind' --sql 'SELECT 1' --from 1s

# ---- folding: whatever is kept, every sum stays, and the state at the end of what is left --------------------------------
# A line a kind: everything that does not depend on the clock.
sums() { # sums RUN
    sql t.db "SELECT 'heap', sum(alloc_count), sum(alloc_bytes), sum(free_count), sum(free_bytes) FROM heap WHERE run_id = $1 AND function = 'site_phase';
              SELECT 'lock', sum(acquires), sum(contended) FROM lock_use WHERE run_id = $1 AND object GLOB '*phase_lock';
              SELECT 'mvcc', sum(reads), sum(commits), sum(retries), max(struct_size), sum(cow_bytes) FROM cell_use WHERE run_id = $1;
              SELECT 'channel', sum(pushes), sum(pops), max(max_depth), max(capacity) FROM channel_use WHERE run_id = $1;
              SELECT 'task', site, sum(spawns), sum(runs), sum(exits), sum(schedulers ->> '\$.0'), sum(schedulers ->> '\$.1')
              FROM task_sites JOIN profiles ON profiles.id = profile_id WHERE run_id = $1 GROUP BY site;
              SELECT 'fibers', sum(total_fibers) FROM fibers JOIN profiles ON profiles.id = profile_id WHERE run_id = $1;
              SELECT 'scheduler', scheduler, sum(fibers) FROM schedulers JOIN profiles ON profiles.id = profile_id WHERE run_id = $1 GROUP BY scheduler"
}
sums "$run" >sums.all
for limit in --windows=1 --windows=3 --windows=all --keep=0.2; do
    expect_status 0 profile --interval 0.03 "$limit" -q -- "$FIXTURES/phases" 400 >folded.txt
    this=$(sql t.db 'SELECT max(id) FROM runs')
    sums "$this" >sums.this
    expect_same_file sums.this sums.all "the sums under $limit"
    most=$(sql t.db "SELECT max(n) FROM (SELECT count(*) AS n FROM windows WHERE run_id = $this GROUP BY kind)")
    case $limit in
    --windows=[13]) expect_equal "$most" "${limit#*=}" "windows under $limit" ;;
    --keep=*) expect_between "$most" 1 10 "windows under $limit" ;;
    esac
    # The state after the window, as the program was left by the last phase before its end, or, as the recorder reads it later, by one that began
    # before the end of the next window.
    sql t.db "SELECT time_ns, sum(inuse_count), sum(inuse_bytes) FROM heap_windows WHERE run_id = $this AND function = 'site_phase' GROUP BY time_ns ORDER BY 1" >states
    [ -s states ] || fail "no state under $limit"
    awk -F'[| ]' 'NR == FNR { if ($1 == "phase") { n++; begin[n] = $3; end[n] = $4; count[n] = $9; bytes[n] = $10 } next }
                  { time[++windows] = $1; blocks[windows] = $2; size[windows] = $3 }
                  END { for (w = 1; w <= windows; w++) {
                            for (i = n; i && end[i] > time[w]; i--);
                            for (j = i; j < n && (blocks[w] != count[j] || size[w] != bytes[j]) && (w == windows || begin[j + 1] < time[w + 1]); j++);
                            if (blocks[w] != count[j] || size[w] != bytes[j]) { print "at " time[w] ": " blocks[w] " blocks, not " count[i]; bad = 1 }
                        }
                        exit bad }' folded.txt states || fail "the state at the ends of windows under $limit"
done
# Ten milliseconds is the least between two flushes. Of some 300, 64 windows are kept where nothing is said, the oldest the longest.
expect_status 9 profile --interval 10ms -q -- "$FIXTURES/progress" count 3000 >counted.txt
this=$(sql t.db 'SELECT max(id) FROM runs')
[ "$(sql t.db "SELECT CAST(max(value) AS INTEGER) FROM counters JOIN profiles ON profiles.id = profile_id WHERE run_id = $this AND name = 'recorder.flushes'")" -gt 100 ] ||
    fail 'three seconds of 10 ms were less than a hundred flushes'
# The program may not have run in one of them.
expect_equal "$(sql t.db "SELECT (SELECT count(*) FROM windows WHERE run_id = $this AND kind = 'heap'), sum(sites.alloc_count) = $(awk '{ print $2 }' counted.txt)
                          FROM windows JOIN sites USING (profile_id) JOIN places USING (trace_id)
                          WHERE run_id = $this AND kind = 'heap' AND function = 'makes_progress'")" '64|1' 'windows kept, and their sum'
expect_equal "$(sql t.db "SELECT min(duration_ns) >= 9000000 FROM windows WHERE run_id = $this AND kind = 'heap' AND number < 64")" 1 'the shortest window but for the last'
expect_equal "$(sql t.db "SELECT sum(duration_ns) FILTER (WHERE number <= 8) > 2 * sum(duration_ns) FILTER (WHERE number BETWEEN 56 AND 63) FROM windows WHERE run_id = $this AND kind = 'heap'")" 1 'the oldest are the longest'
expect_status 2 profile --interval 9ms -- true 2>said.txt
expect_match "$(cat said.txt)" 'interval 9ms.*10 ms to 1 h' 'an interval that is too short'
expect_status 2 profile --windows=0 -- true 2>/dev/null
expect_status 2 profile --keep=never -- true 2>/dev/null

# ---- processes: each has windows of its own, under numbers that they share ------------------------------------------------
expect_status 0 profile --interval 0.03 --windows=all -q -- "$FIXTURES/phases" 400 fork >forked.txt
run=$(sql t.db 'SELECT max(id) FROM runs')
expect_equal "$(sql t.db "SELECT count(DISTINCT process_id) FROM windows WHERE run_id = $run AND kind = 'heap'")" 2 'processes with windows'
expect_equal "$(values site_phase alloc_objects/count --kind heap | cut -d' ' -f1,2)" \
    "$(awk '$1 == "phase" || $1 == "child" { a += $5; b += $6 } END { print a, b }' forked.txt)" 'allocations of both processes'
expect_equal "$(sql t.db "SELECT sum(alloc_count), sum(inuse_count) FROM heap_windows JOIN windows USING (run_id, profile_id) JOIN processes ON processes.id = windows.process_id
                          WHERE windows.run_id = $run AND function = 'site_phase' AND ppid IN (SELECT pid FROM processes WHERE run_id = $run)")" \
    "$(awk '$1 == "child" { print $5 "|" $9 }' forked.txt)" "the child's one window"

# ---- two parts of one run as a difference: what each window's rows say, in every kind of output -----------------------------
run=$(sql t.db "SELECT run_id FROM windows WHERE kind = 'heap' GROUP BY 1 HAVING count(DISTINCT process_id) = 1 AND count(*) > 3 ORDER BY 1 LIMIT 1")
of_window() { sql t.db "SELECT coalesce(sum(alloc_bytes), 0) FROM windows JOIN sites USING (profile_id) WHERE run_id = $run AND kind = 'heap' AND number = $1"; }
difference=$(($(of_window 3) - $(of_window 2)))
expect_equal "$("$CLEAR" report json --db t.db --kind heap --sample_index alloc_space --nodefraction 0 --window 3 --diff_base "$run" --base_window 2 "$run" |
    python3 -c 'import json, sys; print(sum(node["flat"] for node in json.load(sys.stdin)["nodes"]))')" "$difference" 'window 3 against window 2'
sum=$(values '' alloc_space/bytes --kind heap --window 3 --base "$run" --base_window 2)
expect_equal "${sum%% *}" "$difference" 'the same as a table of samples'
expect_match "$(tr '\n' ' ' <said.txt)" 'window 3 of.*window 2 of' 'which windows were compared'
expect_status 2 "$CLEAR" report --db t.db top --base_window 2 "$run" 2>said.txt
expect_match "$(cat said.txt)" 'need a base' 'a part of no base'
expect_status 2 "$CLEAR" report --db t.db top --diff_base "$run" --base_window 2 --base_to 1s "$run" 2>/dev/null
expect_status 2 "$CLEAR" export --db t.db --kind heap --base 'SELECT 1' --base_to 1s -o parts.pb.gz "$run" 2>/dev/null
check_db t.db
