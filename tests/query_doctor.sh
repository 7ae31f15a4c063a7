#!/bin/bash
# clear doctor and clear runs over figures that can be added up by hand (query_data.sql). $CLEAR answers once in each way; the same pages
# about other rows are of $PLAIN_CLEAR.
# build: plain
. "$(dirname "$0")/lib.sh"
cat "$ROOT/schema/tables.sql" "$ROOT/tests/query_data.sql" | sqlite3 t.db || fail "making t.db"
export CLEAR_DB=t.db TZ=UTC

"$CLEAR" doctor 1 >report || fail "doctor exits $?"
# First the verdict: the worst of each severity with its line and its cost, then what needs nobody's attention, in one line.
expect_equal "$(sed '/^$/,$d' report)" "1 critical: [2] lock contended, server:g_lock, costs 400.0 ms
2 warnings: [3] heap leak, insert_row, at table.c:42, keeps 2.8 MiB of 2.9 MiB live at the end
            [1] saturation dropped, heap, lacks 1,234
3 notes (lock 1, heap 2), 1 ok (lock); --top 0 shows the notes" "the verdict"
expect_equal "$(sed -n '/^run 1/,$p' report | sed -n 1,4p)" "run 1 (base): ./server --port 0
  2023-11-14 22:13:20, 1.3 s, exit 0, processes: 1
  20,505 allocations of 2.9 MiB; live at the end: 20,291 blocks of 2.9 MiB
  5,130 lock operations, 2,550 of them waited, 404.0 ms in all" "the head"
# The overview says the same in its first line, with the three worst, whatever their section, and the functions of the view series.
"$CLEAR" doctor --overview 1 >overview.json || fail "doctor --overview exits $?"
of_overview() { python3 -c "import json; d = json.load(open('overview.json')); print($1)"; }
expect_equal "$(of_overview "d['verdict']['text']")" "$(head -1 report)" "the overview's verdict"
expect_equal "$(of_overview "''.join(part['text'] for part in d['verdict']['parts'])")" "$(head -1 report)" "its parts"
expect_equal "$(of_overview "[part['function'] for part in d['verdict']['parts'] if part.get('is') == 'subject'][0]")" server:g_lock "what can be followed in it"
expect_equal "$(of_overview "' '.join(f['section'] + ' ' + f['code'] for f in d['findings'])")" 'lock contended heap leak saturation dropped' "the three worst"
expect_equal "$(of_overview "d['findings'][1]['text']")" "[3] heap leak, insert_row, at table.c:42, keeps 2.8 MiB of 2.9 MiB live at the end" "its line"
"$CLEAR" doctor --json 1 >all.json || fail "doctor --json exits $?"
said='[(f["number"], f["subject"], f.get("short", ""), f.get("unless", "")) for f in %s]'
expect_equal "$(of_overview "$(printf "$said" 'd["findings"]')")" \
    "$(of_overview "[one for f in d['findings'] for one in $(printf "$said" 'json.load(open("all.json"))') if one[0] == f['number']]")" \
    "what is said of the three is what is said where all are asked"
expect_equal "$(of_overview "'\\n'.join(f'{r[\"function\"]}|{r[\"value\"]}' for r in d['functions'][0]['rows'])")" \
    "$(sqlite3 t.db "SELECT substr(subject, 10), value FROM series_functions WHERE run_id = 1 AND figure = 'alloc_bytes' ORDER BY 2 DESC")" "who allocates"
expect_equal "$(of_overview "d['sentence']")" \
    'It allocated 2.9 MiB in 20,505 blocks, 98 % of it in insert_row; its threads waited for locks for 404.0 ms.' "what the memory went to"
# CPU time that no sample met is of no function, and least of all of one of another list.
cp t.db unsampled.db
sqlite3 unsampled.db "INSERT INTO functions(id, name) VALUES (90, '[unsampled]'); INSERT INTO locations(id, mapping_id, address) VALUES (90, 0, 0);
    INSERT INTO location_lines(location_id, position, function_id) VALUES (90, 0, 90);
    INSERT INTO traces(id, hash, signature, stack, location_id, function_id) VALUES (90, 90, 90, '[90]', 90, 90);
    INSERT INTO profiles(id, run_id, kind) VALUES (90, 1, 'cpu'); INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (90, 90, 1, 10000000); DELETE FROM seals" || fail 'CPU time without samples'
expect_match "$("$CLEAR" doctor --db unsampled.db --overview 1)" '"sentence":"In 1\.3 s it computed for 10\.0 ms; its threads' 'what no sample met'
# Over time, by thread groups: not what no sample met, which is known when the process ends. A name that is a number is a name.
sqlite3 unsampled.db "INSERT INTO label_sets(id, labels) VALUES (91, '[[\"thread\",\"pool-1\"]]'), (92, '[[\"thread\",\"pool-2\"]]'), (93, '[[\"thread\",\"42\"]]');
    INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) SELECT 91, id, 1, 'cpu', started_ns + 500000000, 500000000 FROM runs WHERE id = 1;
    INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (91, 1, 91, 1, 10000000), (91, 1, 92, 2, 20000000), (91, 1, 93, 1, 5000000), (91, 90, 91, 1, 90000000);
    UPDATE locks SET wait_ns = 0, read_wait_ns = 0; DELETE FROM seals" || fail 'threads'
"$PLAIN_CLEAR" doctor --db unsampled.db --overview 1 >overview.json || fail "doctor --overview exits $?"
expect_equal "$(of_overview "[(one['name'], [(group['name'], group['points']) for group in one['groups']]) for one in d['series'] if one['name'] in ('cpu', 'waits')]")" \
    "[('cpu', [('pool', [[0, 500000000, 30000000]]), ('42', [[0, 500000000, 5000000]])])]" "thread groups over time, and no waits"
for other in --diff=1 --focus=main; do
    expect_equal "$("$CLEAR" doctor --overview "$other" 2>&1 >/dev/null | head -1)" \
        'clear: --overview is a page of its own: without --diff, --peek, --why, --what-if, --focus and --ignore (see clear doctor --help)' "two pages at once"
done
# The processors are a section and its only subject: named once.
cp t.db crowded.db
sqlite3 crowded.db "INSERT INTO profiles(id, run_id, kind) VALUES (91, 3, 'recorder');
    INSERT INTO counters(profile_id, name, value) VALUES (91, 'recorder.run_delay_ms', 5000); DELETE FROM seals" || fail 'a run without processors'
"$PLAIN_CLEAR" doctor --db crowded.db --overview 3 >overview.json || fail "doctor --overview exits $?"
expect_equal "$(of_overview "d['findings'][0]['text']")" '[1] processors crowded, kept threads waiting for 5.0 s' "threads that waited for processors"
# Who held a lock is told where the stack is known that had it for half of the time: 700 ms of the 1,300 in all, at table.c:42.
cp t.db held.db
sqlite3 held.db "INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, hold_ns) VALUES (2, 1, 100, 1, 'mutex', 1, 700000000); DELETE FROM seals"
expect_equal "$("$CLEAR" doctor --db held.db 1 | sed -n 1,2p)" "1 critical: [2] lock contended, server:g_lock, at table.c:42, costs 400.0 ms, held for 700.0 ms by
            insert_row, table.c:42" "who held the lock"
sqlite3 held.db "UPDATE locks SET hold_ns = 500000000 WHERE trace_id = 1; DELETE FROM seals"
! "$PLAIN_CLEAR" doctor --db held.db 1 | sed '/^$/,$d' | grep -q held || fail "held for less than half of the time"
# So is how much of the waits was for a processor; they cost the rest: 90 of 200 ms that were seen, of 400.
sqlite3 held.db "UPDATE locks SET wait_seen_ns = 200000000, wait_delay_ns = 90000000, hold_delay_ns = 50000000 WHERE object_id = 1 AND trace_id = 0; DELETE FROM seals"
"$PLAIN_CLEAR" doctor --db held.db 1 >delayed
expect_match "$(cat delayed)" '^1 critical: \[2\] lock contended, server:g_lock, at table.c:42, costs 220.0 ms' "waits without those for a processor"
expect_match "$(cat delayed)" '^ +of the waits, who had it or waited had no processor for 180.0 ms, of the holds 100.0 ms$' "what the lock's holders lost"
sqlite3 held.db "INSERT INTO profiles(id, run_id, kind) VALUES (92, 1, 'recorder');
    INSERT INTO counters(profile_id, name, value) VALUES (92, 'recorder.run_delay_ms', 5000); DELETE FROM seals"
expect_match "$("$PLAIN_CLEAR" doctor --db held.db --top 0 1)" '^ +of the waits for locks, those for threads that had none 180.0 ms$' "the same where processors lacked"
line_of() { grep -n -m1 -- "$1" report | cut -d: -f1; }
[ "$(line_of '^saturation')" -lt "$(line_of '^heap')" ] && [ "$(line_of '^saturation')" -lt "$(line_of '^lock')" ] || fail "saturation is not first"
# 20,505 allocations and 214 frees were recorded: 1,234 of 21,953 are 6 %.
expect_match "$(cat report)" '^  warning +dropped +1,234 +6 %$' "what was dropped"
# 3,000,000 - 30,000 bytes are 2.83 MiB in 20,000 - 200 blocks; 2,970,000 of 3,019,010 live bytes are 98 %.
expect_match "$(cat report)" '^  warning   leak +2.8 MiB  19,800 +98 % +2.9 MiB +20,000 +98 % +150 B$' "the leak"
expect_equal "$(grep -A2 '^  warning   leak' report | tail -2)" "  [3] insert_row  table.c:42
        main  main.c:7" "its stack, without the wrapper"
expect_match "$(cat report)" '^  \[2\] server:g_lock$' "the lock's name"
expect_match "$(cat report)" '^  critical  contended +5,000 +0 +50 % +400.0 ms +3.0 ms +120.0 us$' "the lock's figures"
expect_equal "$(grep -c '^  leak: ' report)" 1 "advice once a code"
[ "$(line_of '^  critical  contended')" -lt "$(line_of '^  warning   leak')" ] || fail "the worst is not first"
! grep -q $'\033' report || fail "colour without a terminal"
! grep -q ' $' report || fail "trailing blanks"
expect_equal "$(sed '/^next/,$d' report | python3 -c 'import sys; print("".join(l for l in sys.stdin.buffer.read().decode().splitlines(True) if len(l) > 101), end="")')" "" "lines over 100 columns"
expect_match "$("$CLEAR" doctor --top 1 1)" '3 notes' "--top 1"
expect_match "$("$PLAIN_CLEAR" doctor --top 0 1)" '^  \[6\] server\+0x1b58  \(server\)$' "--top 0 shows notes"

# The commands that it ends with work as printed: the query gives the view's rows.
query=$(grep '^  clear query' report | sed 's/^  clear/"$CLEAR"/')
expect_equal "$(eval "$query" | wc -l)" "$(($(sql t.db "SELECT count(*) FROM doctor WHERE run_id = 1") + 2))" "$query"
why=$(grep '^  clear doctor .*--why' report | sed 's/^  clear/"$CLEAR"/')
expect_match "$(eval "$why" | head -1)" '^critical: \[2\] lock contended, server:g_lock' "$why" # of this run, not of the latest
! "$CLEAR" doctor --together 1,2 | grep -q -e --why || fail "--why of several runs"
export=$(sed -n '/-o heap-findings/,/GROUP BY/p' report | sed 's/^  clear/"$CLEAR"/')
eval "$export" || fail "does not run: $export"
pprof -raw heap-findings.pb.gz >raw 2>&1 || fail "pprof: $(cat raw)"
expect_match "$(cat raw)" '^ +20000 +3000000 +19800 +2970000:' "the leak, exported"

"$CLEAR" doctor --json 1 | python3 -c 'import json, sys
rows = json.load(sys.stdin)
assert rows[0]["section"] == "saturation" and rows[0]["evidence"] == {"count": 1234, "recorded": 20719, "percent": 6}, rows[0]
leak = [row for row in rows if row["code"] == "leak"][0]
assert leak["evidence"]["inuse_bytes"] == 2970000 and leak["trace_ids"] == [1] and leak["run_id"] == 1, leak' || fail "--json"

# A loss of less than a percent is a line of the head, and does not lead the report; the rows still say it.
cp t.db small.db && sql small.db "UPDATE profiles SET dropped = 100 * (kind = 'heap') + (kind = 'lock') WHERE run_id = 1"
"$PLAIN_CLEAR" doctor --db small.db 1 >report || fail "doctor"
expect_equal "$(sed -n '/^  note: 100/,/^lock/p' report)" "  note: 100 heap events were not recorded (0 %), 20,719 were
  note: 1 lock operation was not recorded (0 %), 5,130 were

lock" "small losses"
! grep -q '^saturation' report || fail "small losses lead the report"
expect_equal "$("$CLEAR" doctor --db small.db --json 1 | python3 -c 'import json, sys
print(*(row["code"] + " " + row["subject"] + " " + row["severity"] for row in json.load(sys.stdin)[:2]), sep=", ")')" "dropped heap note, dropped lock note" "small losses in JSON"
"$CLEAR" doctor --db small.db --peek=main 1 >report || fail "--peek"
expect_match "$(cat report)" '^  note: 100 heap events' "small losses with --peek"
# Plurals; and an arena's figures: what was allocated stands last in the export, where a viewer looks first.
sql small.db "UPDATE profiles SET dropped = 0; UPDATE runs SET source = 'x' WHERE id = 1;
    UPDATE sites SET alloc_count = 1, alloc_bytes = 1, free_count = 0, free_bytes = 0 WHERE trace_id = 1;
    DELETE FROM sites WHERE trace_id <> 1; UPDATE locks SET contended = 0, acquires = object_id = 1, read_acquires = 0"
"$PLAIN_CLEAR" doctor --db small.db --top 0 1 >report || fail "doctor"
expect_equal "$(sed -n '/^  1 alloc/,+1p' report)" "  1 allocation of 1 B; live at the end: 1 block of 1 B
  1 lock operation, 0 of them waited, 404.0 ms in all" "one of each"
sql small.db "UPDATE sites SET alloc_count = 6000, alloc_bytes = 15000 WHERE trace_id = 1"
"$CLEAR" doctor --db small.db --top 0 1 >report || fail "doctor"
expect_match "$(cat report)" '^  warning   arena  14.6 KiB   6,000    100 %   14.6 KiB   6,000   100 %      2.5 B$' "an arena"
export=$(sed -n '/-o heap-findings/,/GROUP BY/p' report | sed 's/^  clear/"$CLEAR"/')
eval "$export" || fail "does not run: $export"
expect_match "$(pprof -top heap-findings.pb.gz 2>&1)" '14.65kB +100% +100% .*insert_row' "an arena, as the viewer shows it first"

# The stack of a lock begins where a person would point, not in the wrapper that locks.
sql t.db "INSERT INTO functions(id, name) VALUES (9, 'std::mutex::lock()'); INSERT INTO locations(id, mapping_id, address) VALUES (9, 1, 9);
    INSERT INTO location_lines(location_id, position, function_id) VALUES (9, 0, 9);
    INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES (9, 9, 9, '[9,2,3]', 2, 2, 42);
    UPDATE locks SET trace_id = 9 WHERE object_id = 1"
expect_equal "$("$CLEAR" doctor 1 | grep -A2 '^  \[2\] server:g_lock')" "  [2] server:g_lock
        insert_row  table.c:42
        main  main.c:7" "the stack of a lock"
expect_equal "$("$CLEAR" doctor --json 3)" "[]" "--json without findings"
expect_match "$("$CLEAR" doctor 3)" '^no findings$' "no findings"
expect_match "$("$CLEAR" doctor | grep -m1 ^run)" '^run 2 \(base\)' "the latest is the default"
expect_match "$("$PLAIN_CLEAR" doctor)" 'unfinished' "an unfinished run says so"

got=0
message=$("$CLEAR" doctor nix 2>&1) || got=$?
expect_equal "$got" 2 "no such run"
expect_match "$message" "^clear: t.db: no run 'nix' among 3 \(the latest is 2\)" "no such run"
sqlite3 t.db "PRAGMA foreign_keys = ON; DELETE FROM runs" || fail "emptying"
got=0
message=$("$CLEAR" doctor 2>&1) || got=$?
expect_equal "$got" 2 "no run at all"
expect_match "$message" "^clear: t.db: holds no run yet" "no run at all"

# ---- what a person meets first
# Dumps of one rate: one row of all kinds, which the tools beside them are none of; waits of an unknown length are not 0.
"$CLEAR" doctor "$ROOT/fixtures/corpus/dumps/ledger.profile" >report || fail "doctor of dumps"
expect_equal "$(grep -c '^  note      sampled' report)" 1 "rows of what was sampled"
expect_match "$(cat report)" '^ *\[[0-9]+\] channels, fibers, heap, lock, mvcc$' "kinds that were sampled"
expect_match "$(cat report)" '^  warning +slow-consumer +64 +64 +50,000 +42 % +50,000 +0 %$' "waits whose time is not known"
unset CLEAR_DB
(mkdir none && cd none && expect_status 2 "$CLEAR" doctor heap.pb.gz 2>../err.txt) || fail "a file that is not there"
expect_match "$(cat err.txt)" '^clear: heap\.pb\.gz: no such file, and no warehouse runs\.sqlite with a run of that name' "a file that is not there"
# Colour on a terminal that has it, and then only the colours and weights that end where they began.
on_terminal() { env "$@" script -qec "stty cols 200; '${doctor:-$PLAIN_CLEAR}' doctor --db t.db 1" /dev/null | tr -d '\r'; }
sqlite3 t.db ".read $ROOT/tests/query_data.sql" 2>/dev/null
"$PLAIN_CLEAR" doctor --db t.db 1 >plain || fail "doctor"
if has_terminals; then
doctor=$CLEAR on_terminal -u NO_COLOR TERM=xterm >coloured
grep -q $'\033\\[1;31mcritical *\033\\[0m' coloured || fail "no colour on a terminal: $(head -20 coloured)"
expect_equal "$(sed 's/\x1b\[[0-9;]*m//g' coloured)" "$(cat plain)" "what is coloured, without its colours"
for words in "NO_COLOR=1 TERM=xterm" "-u NO_COLOR TERM=dumb" "-u NO_COLOR -u TERM"; do
    # shellcheck disable=SC2086 # several words
    expect_equal "$(on_terminal $words | grep -c $'\033')" 0 "colour with $words"
done
fi

# Below the findings the functions that cost most CPU time; where nothing is worse than a note, the functions that cost most of what no diagnosis speaks of.
printf 'main;parse;copy 30\nmain;parse 9\nmain 1\n' >hot.folded
"$CLEAR" doctor hot.folded >report || fail "doctor of samples"
expect_equal "$(head -1 report)" 'no findings' "samples alone"
expect_equal "$(sed -n '/^samples by/,$p' report | head -5)" "samples by function, samples
  itself     %  with callees      %  function
  ------  ----  ------------  -----  --------
      30  75 %            30   75 %  copy
       9  22 %            39   98 %  parse" "samples alone"
sqlite3 t.db "INSERT INTO profiles(id, run_id, kind, sample_types, default_type) VALUES (91, 1, 'cpu', '[[\"samples\",\"count\"],[\"cpu\",\"nanoseconds\"]]', 'cpu');
    INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (91, 1, 3, 30000000)" || fail "insert"
expect_match "$("$PLAIN_CLEAR" doctor --db t.db 1)" '^cpu by function' "the functions beside a warning"
sqlite3 t.db "UPDATE rules SET value = 1e12 WHERE name IN ('leak_warning_count', 'lock_wait_note_ns'); UPDATE profiles SET dropped = 0"
"$PLAIN_CLEAR" doctor --db t.db 1 >report || fail "doctor without a finding above a note"
expect_match "$(cat report)" '^ +30\.0 ms +100 % +30\.0 ms +100 % +insert_row \(table\.c:42\) in xmalloc$' "functions where nothing is above a note"
# A leak says nothing of where a program spends its time: the functions stand below it.
sqlite3 t.db "UPDATE rules SET value = 100 WHERE name = 'leak_warning_count';
    INSERT INTO runs(id, uuid, command, started_ns, duration_ns, source) VALUES (90, 'u90', './keeps', 90, 1000000000, 'profile');
    INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (90, 90, 1, 1, 'keeps', 90);
    INSERT INTO profiles(id, run_id, process_id, kind, sample_types, default_type) VALUES (92, 90, 90, 'heap', '[[\"alloc_objects\",\"count\"]]', ''),
        (93, 90, 90, 'cpu', '[[\"samples\",\"count\"],[\"cpu\",\"nanoseconds\"]]', 'cpu');
    INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES (92, 1, 2000, 20000000, 1000, 10000000);
    INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (93, 1, 10, 100000000)" || fail "insert 90"
"$PLAIN_CLEAR" doctor --db t.db 90 >report || fail "doctor of a leak"
expect_match "$(cat report)" '^ +(warning|critical) +leak ' "the leak"
expect_match "$(cat report)" '^ +100\.0 ms +100 % ' "and where the time goes"
# CPU time that no sample met is a row like a function, with the reason below where it is a tenth or more.
! grep -q '^  \[unsampled\]' report || fail "a reason for what is not there"
sqlite3 t.db "INSERT INTO functions(id, name) VALUES (70, '[unsampled]'); INSERT INTO locations(id, mapping_id, address) VALUES (70, 1, 70);
    INSERT INTO location_lines(location_id, position, function_id) VALUES (70, 0, 70);
    INSERT INTO traces(id, hash, signature, stack, location_id, function_id) VALUES (70, 70, 70, '[70]', 70, 70);
    INSERT INTO cpu(profile_id, trace_id, cpu_ns) VALUES (91, 70, 10000000); UPDATE processes SET threads_started = 20;
    UPDATE profiles SET period = 10101010, period_type = 'cpu' WHERE id = 91" || fail "insert"
expect_match "$("$CLEAR" doctor --db t.db 1 | tr -s '\n ' ' ')" '\[unsampled\], 25 %: no sample met this CPU time\. 20 threads in 1 process had 2\.0 ms of CPU time in the mean, and a sample comes after 10\.1 ms of one\. .* --cpu=perf,999 samples both' "why CPU time was not sampled"
# A function of a library stands behind the line of the program's own code that calls it, in the table of CPU time.
cat "$ROOT/schema/tables.sql" "$ROOT/tests/doctor_data.sql" | sqlite3 data.db || fail data.db
"$CLEAR" doctor --db data.db 21 >said.txt || fail "doctor of data.db"
expect_match "$(cat said.txt)" ' 60 %.* function_1 \(x\.c:10\) in strlen \[libc\.so\]' 'strlen, by its caller'
expect_match "$(tr -s '\n ' ' ' <said.txt)" 'It looks for the end of a text\.' 'what is usual there'
# A finding that names a function of a library stands behind that line, too, in the first lines and in its section; a finding of its own code stays.
sqlite3 data.db "INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (30, 'thirty', 1, 1000000000, 'profile');
    INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (30, 30, 10, 1, '/bin/x', 1);
    INSERT INTO profiles(id, run_id, process_id, kind) VALUES (3000, 30, 30, 'heap');
    INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (3000, 211, 1000, 1000000), (3000, 3, 1000, 10000)" || fail 'a leak of a library'
"$CLEAR" doctor --db data.db 30 --top 0 >said.txt || fail "doctor of the leak"
expect_match "$(head -1 said.txt)" ' heap leak, function_1 in strlen, at x\.c:10, keeps ' 'the first line of a finding in a library'
expect_match "$(cat said.txt)" '^ *\[[0-9]+\] function_1 \(x\.c:10\) in strlen \[libc\.so\]$' 'its name'
expect_match "$(cat said.txt)" '^ *\[[0-9]+\] function_3  x\.c:30$' 'a name of its own code'
expect_equal "$("$CLEAR" doctor --db data.db 30 --json | python3 -c 'import json, sys
for row in json.load(sys.stdin): print(row["subject"], *(row.get("own_" + part) for part in ("function", "file", "line")))')" \
    "strlen function_1 /src/x.c 10
function_3 None None None" 'the own line in JSON'
# A lock that a library takes: the program's own line that calls it, and who held it.
sqlite3 data.db "INSERT INTO objects(id, kind, identity, name) VALUES (300, 'lock', 'pages', 'libc.so:pages'), (301, 'lock', 'rows', 'x:rows');
    INSERT INTO profiles(id, run_id, process_id, kind) VALUES (3001, 30, 30, 'lock');
    INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns)
        VALUES (3001, 300, 16, 211, 'mutex', 100, 60, 600000000, 10000000, 500000000, 10000000), (3001, 301, 32, 3, 'mutex', 100, 60, 500000000, 10000000, 500000000, 10000000);
    DELETE FROM seals WHERE run_id = 30" || fail 'a lock of a library'
"$CLEAR" doctor --db data.db 30 --top 0 >said.txt || fail "doctor of the lock"
expect_match "$(tr -s '\n ' ' ' <said.txt)" ' lock hot-long, libc\.so:pages, used by function_1 in strlen, at x\.c:10, costs 600\.0 ms.*, held for 500\.0 ms by function_1 in strlen, x\.c:10 ' 'the line of a lock in a library'
expect_match "$(tr -s '\n ' ' ' <said.txt)" ' lock hot-long, x:rows, at x\.c:30, costs 500\.0 ms.*, held for 500\.0 ms by function_3, x\.c:30 ' 'the line of its own lock'
expect_match "$(cat said.txt)" '^ *\[[0-9]+\] libc\.so:pages, used by function_1 \(x\.c:10\) in strlen \[libc\.so\]$' 'the name of a lock in a library'
expect_match "$(cat said.txt)" '^ *\[[0-9]+\] x:rows$' 'the name of its own lock'
expect_equal "$("$CLEAR" doctor --db data.db 30 --json | python3 -c 'import json, sys
for row in json.load(sys.stdin):
    if row["section"] == "lock": print(row["subject"], row.get("own_function"), row.get("own_callee"))' | sort)" "libc.so:pages function_1 strlen
x:rows None None" 'the own line of a lock in JSON'
needs_terminals # for the part above
