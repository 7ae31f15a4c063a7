# Every section of the doctor over a directory of dumps whose figures can be judged by hand, in the stock shell; and diagnoses of a
# user's own, made with the stock shell, found by clear, read by the stock shell again.
# quick
# build: plain
. "$(dirname "$0")/lib.sh"

"$CLEAR" ingest --db t.db "$ROOT/fixtures/corpus/dumps/ledger.profile" >/dev/null || fail "ingest"
# From the dumps, by the conditions of each code:
#   alloc.txt: one site frees all; 4,000 of 12,000; none of 6,000 of 8 B; none of 9,000 of 256 B.
#   locks.txt: 97 % reads and 16 % contended of 49,500; 150,000 exclusive, 1 %; 30 % of 40, held 3 ms.
#   mvcc.txt: 240,000 commits of 512 B; 5,200 commits to 120 reads; 1,400 retries of 900 commits.
#   channels.txt: 42 % of pushes wait, full; 76 % of pops wait, 4 % deep; nobody waits.
#   fibers.txt: 2,600 of 4,200 under 10 us; 3,900 of 4,200 on scheduler 0, task site 4 is local and 99.7 % there.
#   perf-stat.txt: 0.75 a cycle, 31 % of cache references and 6.6 % of branches missed; three sites of 5,000 blocks of 16 to 512 B.
cat >want.txt <<'WANT'
cell cow-thrash 0x7f10ab000040
cell high-retry 0x7f10ab000180
cell misuse 0x7f10ab000100
channel balanced channel#2
channel slow-consumer channel#0
channel slow-producer channel#1
fibers imbalance task site 4
fibers micro-fibers fibers
freeze freeze 0x1012a40
freeze freeze 0x1012a40
freeze freeze 0x1013010
hardware branch-high branches
hardware ipc-low instructions per cycle
hardware llc-high last-level cache
heap arena 0x1012f10
heap leak 0x1012a40
heap rc 0x1013010
lock atomic-fit 0x7f10aa002000
lock hot-long 0x7f10aa003000
lock mvcc-fit 0x7f10aa001000
WANT
codes="SELECT section || ' ' || code || ' ' || iif(code = 'imbalance', substr(subject, 1, 11), subject) FROM doctor WHERE section <> 'saturation' ORDER BY 1"
sql t.db "$codes" >got.txt
expect_same_file got.txt want.txt "sections, codes and subjects"
sql t.db "SELECT 'SELECT count(*) FROM (SELECT * FROM ' || name || '); -- in the stock shell' FROM sqlite_schema WHERE type = 'view'" >views.sql
sqlite3 -bail t.db <views.sql >counts.txt || fail "a view in the stock shell"
expect_equal "$(wc -l <counts.txt)" "$(wc -l <views.sql)" "views that were read"
# The views of single codes share the rows of the union out among them.
sql t.db "SELECT 'SELECT section || '' '' || code || '' '' || subject FROM ' || name || ';' FROM sqlite_schema WHERE name GLOB 'doctor_*_*' OR name = 'doctor_freeze'" >code-views.sql
sqlite3 -bail t.db <code-views.sql | sort >got.txt
sql t.db "SELECT section || ' ' || code || ' ' || subject FROM doctor" | sort >want.txt
expect_same_file got.txt want.txt "rows of the views of single codes"
# To be counted, without what it costs to show them: the same findings, of every section.
sql t.db "SELECT run_id, section, code, count(*) FROM finding_codes GROUP BY run_id, section, code ORDER BY 1, 2, 3" >codes.txt
sql t.db "SELECT run_id, section, code, count(*) FROM doctor GROUP BY run_id, section, code ORDER BY 1, 2, 3" >want-codes.txt
expect_same_file codes.txt want-codes.txt "findings by code"

# ---- why each of them: the rule with its thresholds, and SQL that any shell runs as it is printed
behind() { # behind NUMBER: code of the finding, the thresholds that it does not meet; its statements run, and have rows
    "$CLEAR" doctor --db t.db 1 --why "$1" --json >why.json || fail "--why $1 --json"
    python3 - "$1" <<'PY' || fail "--why $1: $(cat why.json)"
import json, sqlite3, sys
why, db = json.load(open('why.json')), sqlite3.connect('t.db')
rows = [len(db.execute(row).fetchall()) for row in why['sql']]
assert why['number'] == int(sys.argv[1]) and why['facts'] is not None and rows[0] == 1 and all(rows), rows
print(why['section'], why['code'], *(t['name'] for t in why['thresholds'] if t.get('met') is False and t['decides'] == 'code'))
PY
}
findings=$(sql t.db "SELECT count(*) FROM doctor")
sanitized=$CLEAR
for number in $(seq "$findings"); do
    [ $((number % 8)) = 1 ] && CLEAR=$sanitized || CLEAR=$PLAIN_CLEAR # with the sanitizers one takes 0.6 s of a processor, and their code is the same
    behind "$number"
done | grep -v '^saturation' >why-all.txt
"$CLEAR" doctor --db t.db --why "$findings" >why.txt || fail "--why $findings"
sed -n '/^SQL for sqlite3 t.db$/,$s/^  //p' why.txt >why.sql
[ "$(wc -l <why.sql)" -ge 3 ] && sqlite3 -bail t.db <why.sql >rows.txt && [ -s rows.txt ] || fail "the printed SQL: $(cat why.sql)"
expect_equal "$(wc -l <why-all.txt)" "$(grep -vc '^saturation' want.txt)" "findings that were explained"
# Of two sides of an "or" one is enough: 150,000 exclusive operations, and what is said of recorded runs only.
expect_equal "$(grep ' .* ' why-all.txt)" "lock atomic-fit lock_fit_contended_percent
heap arena leak_warning_count" "thresholds that are not met"
expect_status 2 "$CLEAR" doctor --db t.db --why 99 2>err.txt
expect_match "$(cat err.txt)" '^clear: --why 99: the run has the findings 1 to [0-9]+' 'a number that no finding has'
expect_status 2 "$CLEAR" doctor --db t.db 1 --why 1 --together 2>err.txt
expect_match "$(cat err.txt)" '^clear: --why explains a finding of one whole run' 'why of several runs'

# ---- the example of docs/doctor.md, and one more
sed -n '/sqlite3 runs.sqlite "CREATE VIEW doctor_big_blocks/,/1e6/p' "$ROOT/docs/doctor.md" | sed 's/runs\.sqlite/t.db/' >example.sh
[ -s example.sh ] || fail "docs/doctor.md has no example"
sed -i 's/1e6/1e3/' example.sh # 30 blocks of 4 KiB are big enough here
bash -eu example.sh || fail "the example of docs/doctor.md"
sql t.db "CREATE VIEW doctor_syscalls AS SELECT run_id, 'syscalls' AS section, 'fails' AS code, 'critical' AS severity, name AS subject,
    printf('{\"errors\":%d}', errors) AS evidence, '[]' AS trace_ids, 'Ask why.' AS advice FROM syscalls JOIN profiles ON profiles.id = profile_id
    WHERE name = 'openat' AND errors > 0"
sql t.db "CREATE VIEW doctor_bad AS SELECT 1 AS run_id, 'bad' AS section"
mine="SELECT section, code, severity, subject FROM doctor WHERE code IN ('big-blocks', 'fails') ORDER BY code"
expect_equal "$(sql t.db "$mine")" "" "before clear has seen them"
"$CLEAR" doctor --db t.db >report.txt 2>err.txt || fail "clear doctor"
expect_equal "$(cat err.txt)" "clear: the view doctor_bad is not used as a diagnosis: it has no column code, severity, subject, evidence, trace_ids, advice" \
    "what is said of a view that cannot join"
expect_match "$(cat report.txt)" '^ +critical +fails' "a diagnosis of the user's in the report"
expect_match "$(cat report.txt)" 'big-blocks' "the example of docs/doctor.md in the report"
expect_equal "$(sql t.db "$mine")" "heap|big-blocks|warning|0x1013444
syscalls|fails|critical|openat" "in the stock shell"
expect_equal "$("$CLEAR" doctor --json --db t.db 2>/dev/null | python3 -c 'import json, sys; print([row["evidence"] for row in json.load(sys.stdin) if row["code"] == "big-blocks"])')" \
    "[{'alloc_count': 30, 'alloc_bytes': 122880}]" "--json"
sql t.db "CREATE VIEW doctor_odd AS SELECT 1 AS run_id, 'a b' AS section, 'x''y' AS code, 'note' AS severity, 'it''s' || char(27, 10) || '1' AS subject,
    '{\"calls\":3}' AS evidence, '[]' AS trace_ids, '' AS advice"
"$CLEAR" doctor --db t.db >/dev/null 2>&1
"$CLEAR" doctor --json --db t.db >all.json 2>/dev/null
for number in $(python3 -c 'import json; print(*(row["number"] for row in json.load(open("all.json")) if row["code"] in ("big-blocks", "fails", "x\x27y")))'); do
    CLEAR=$PLAIN_CLEAR behind "$number" 2>/dev/null
done >why-all.txt
expect_equal "$(grep -c "^syscalls fails$\|^heap big-blocks$\|^a b x'y$" why-all.txt)" 3 "why of a user's diagnoses"
sql t.db "DROP VIEW doctor_odd" && "$CLEAR" doctor --db t.db >/dev/null 2>&1
check_db t.db

# ---- a file that cannot be written: for the command alone, with thresholds of a configuration in force as well
sql t.db "DROP VIEW doctor_bad"
sql t.db "CREATE VIEW doctor_threshold AS SELECT 1 AS run_id, 'mine' AS section, 'threshold' AS code, 'critical' AS severity, value AS subject,
    '{}' AS evidence, '[]' AS trace_ids, '' AS advice FROM rules WHERE name = 'cell_retry_ratio'"
locked=$(mktemp -d /tmp/clear-locked.XXXXXX) # not in $TMP, which is its owner's alone
trap 'rm -rf "$locked"' EXIT
cp t.db before.db && cp t.db "$locked/" && printf 'thresholds:\n  cell_retry_ratio: 1.6\n' >"$locked/mild.yaml"
chmod 444 "$locked"/* && chmod 555 "$locked"
as_reader=()
[ "$(id -u)" != 0 ] || as_reader=(setpriv --reuid 65534 --clear-groups) # root may write everything
reader() { "${as_reader[@]}" "$CLEAR" "$@"; }
if (cd / && reader version) >/dev/null 2>&1; then
    ask="SELECT subject FROM doctor WHERE code IN ('threshold', 'high-retry')"
    expect_equal "$(reader --config /dev/null query --db "$locked/t.db" --no-header "$ask" | xargs)" "1.0 0x7f10ab000180" "read-only"
    expect_equal "$(reader --config "$locked/mild.yaml" query --db "$locked/t.db" --no-header "$ask" | xargs)" "1.6" "read-only, other thresholds"
    expect_match "$(reader --config /dev/null doctor --db "$locked/t.db")" 'critical +threshold' "clear doctor, read-only"
    expect_match "$(reader --config /dev/null shell --db "$locked/t.db" "$ask")" '^1.0' "clear shell, read-only"
    expect_same_file "$locked/t.db" before.db "a file that cannot be written"
fi
chmod 755 "$locked"

# A view that fails for a run only when its rows are made is left out of that report, not of the next run's.
sql t.db "CREATE VIEW doctor_fails AS SELECT id AS run_id, 'mine' AS section, 'fails' AS code, 'critical' AS severity, 'late' AS subject,
    iif(id = 1, '{', '{}') AS evidence, '[]' AS trace_ids, '' AS advice FROM runs"
"$CLEAR" ingest --db t.db "$ROOT/fixtures/corpus/dumps/old-formats.profile" >/dev/null || fail "ingest"
"$CLEAR" doctor --json --db t.db 1 >one.json 2>err.txt || fail "clear doctor 1"
expect_equal "$(cat err.txt)" "clear: the view doctor_fails is not used as a diagnosis: evidence is not a JSON object" "broken evidence"
"$CLEAR" doctor --json --db t.db 2 >two.json 2>err.txt || fail "clear doctor 2"
expect_equal "$(cat err.txt)" "" "run 2"
expect_equal "$(python3 -c 'import json; print(*(sum(row["subject"] == "late" for row in json.load(open(name))) for name in ("one.json", "two.json")))')" "0 1" \
    "rows of a view that fails for run 1"

# One that fails when it runs, in the stock shell: by the rows that a clear wrote, kept out of the file's doctor by that clear and named;
# the rest of the doctor is there. By rows that the shell itself wrote: the shell has the error, and the next clear mends it.
sql t.db "DROP VIEW doctor_fails; CREATE VIEW doctor_late AS SELECT id AS run_id, 'mine' AS section, 'late' AS code, 'note' AS severity,
    json_extract(iif(id < 3, '{}', '{'), '\$') AS subject, '{}' AS evidence, '[]' AS trace_ids, '' AS advice FROM runs"
"$CLEAR" doctor --db t.db 1 >/dev/null 2>err.txt || fail "clear doctor 1"
expect_equal "$(cat err.txt)|$(sql t.db "SELECT count(*) FROM doctor WHERE code = 'late'")" "|2" "a view that is good so far"
printf 'main;a 1\n' >third.folded && "$CLEAR" ingest --db t.db third.folded >/dev/null || fail "ingest"
expect_equal "$(sql t.db "SELECT count(*) FROM doctor WHERE code = 'late'")" 0 "a view that the third run breaks"
[ "$(sql t.db "SELECT count(*) FROM doctor")" -gt 10 ] || fail "the doctor of the stock shell"
"$CLEAR" doctor --db t.db 1 >/dev/null 2>err.txt || fail "clear doctor 1"
expect_equal "$(cat err.txt)" "clear: the view doctor_late is not used as a diagnosis: malformed JSON" "a view that the third run breaks"
sql t.db "PRAGMA foreign_keys = ON; DELETE FROM runs WHERE id = 3"
"$CLEAR" ingest --db t.db "$ROOT/fixtures/corpus/dumps/ledger.profile" >/dev/null || fail "ingest"
expect_equal "$(sql t.db "SELECT count(*) FROM doctor WHERE code = 'late'")" 2 "mended"
sqlite3 t.db "INSERT INTO runs(id, uuid, started_ns, duration_ns, source) VALUES (9, 'nine', 1, 1, 'x')" || fail "insert"
! sqlite3 t.db "SELECT count(subject) FROM doctor" 2>/dev/null || fail "the shell's own rows"
"$CLEAR" ingest --db t.db third.folded >/dev/null || fail "ingest"
[ "$(sql t.db "SELECT count(*) FROM doctor")" -gt 10 ] || fail "the doctor after the next clear"
check_db t.db
