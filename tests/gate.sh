#!/usr/bin/env bash
# clear gate from end to end: a program that is built twice, with one allocation more; rules and their errors; queries as rules; runs that
# cannot be compared; --run, with old and new by turns. tests/gate_verdicts.sh has the statistics, tests/gate_formats.sh the formats.
# build: plain
. "$(dirname "$0")/lib.sh"
export HOME=$TMP XDG_CONFIG_HOME='' CLEAR_DB=t.db
unset GITHUB_WORKSPACE

# ---- a real program, built twice: parse_line allocates once more for each tenth line ----
mkdir src
cat >src/app.c <<'C'
#include <stdlib.h>
#include <stdio.h>
static void *volatile kept;
__attribute__((noinline)) static void parse_line(int line) {
    kept = malloc(64); free(kept);
    if (EXTRA && line % 10 == 0) { kept = malloc(16); free(kept); }
}
int main(int argc, char **argv) {
    for (int line = 0; line < 1000; line++) parse_line(line);
    if (argc > 1) return atoi(argv[1]);
    return 0;
}
C
"${CC:-gcc}" -g -O1 -DEXTRA=0 -o old "$TMP/src/app.c" && "${CC:-gcc}" -g -O1 -DEXTRA=1 -o new "$TMP/src/app.c" || fail "the compiler"
record() { "${recorder:-$PLAIN_CLEAR}" profile -q --no-files --tag "$1" "${@:2}" >/dev/null || [ $? -lt 100 ] || fail "profile $*"; }
gate() { "$CLEAR" gate --source-root "$TMP" "$@"; }
# With the sanitizers a gate takes 0.6 s of a processor, optimized 0.1: they look at one of a kind, and at all that reads texts of strangers;
# tests/gate_formats.sh, too, has a gate of each verdict with them.
sanitized=$CLEAR
record branch=main ./old && record branch=main ./old && record branch=work ./new

status=0
out=$(gate branch=work --base tag:branch=main) || status=$?
expect_equal "$status" 3 "status of a gate that should fail: $out"
expect_match "$out" '^FAIL: 1 run against 2 runs of the base tag:branch=main; rules: 2 failed, 5 passed$' "the summary"
expect_match "$out" '^FAIL +allocations +alloc_count +1,000 +1,100 +\+100 \(\+10\.0 %\) +1 % +none$' "the row"
expect_match "$out" '^ +most of it: parse_line, src/app\.c:6, \+100$' "the site that did it"
CLEAR=$PLAIN_CLEAR
expect_status 0 gate branch=main --base tag:branch=main,last=5 >/dev/null # the newest against the other
expect_match "$(gate branch=work --base tag:branch=main --format github | head -1)" '^::error file=src/app\.c,line=6,title=clear gate%3A allocations::alloc_count: 1,000 -> 1,100, \+100 \(\+10\.0 %25\), limit 1 %25; most of it' "the annotation"
# The other way round it is better, and that is no failure.
expect_status 0 gate 1 --base branch=work >/dev/null
# Files instead of runs.
CLEAR=$sanitized
"$CLEAR" export 1 --kind heap -o old.pb.gz || fail "export"
"$CLEAR" export branch=work --kind heap -o new.pb.gz || fail "export"
expect_status 3 gate ./new.pb.gz --base ./old.pb.gz >/dev/null

# ---- the base rolls: what was merged in spite of the gate is the base ----
CLEAR=$PLAIN_CLEAR
record branch=main ./new && record branch=main ./new
expect_status 3 gate branch=work --base 1 >/dev/null
expect_status 0 gate branch=work --base tag:branch=main,last=2 >/dev/null

# ---- rules of clear.yaml ----
rules() { printf 'gates:\n' >clear.yaml && printf '  %s\n' "$@" >>clear.yaml; }
rules 'site: {figure: alloc_count, subject: "site parse_line *", limit_percent: 5}' 'all: {figure: alloc_count, limit_percent: 20}'
CLEAR=$sanitized
out=$(gate branch=work --base 1,2)
expect_match "$out" 'rules: 1 failed, 1 passed$' "rules of clear.yaml alone"
expect_match "$out" '^FAIL +site +site parse_line app\.c [0-9a-f]{16} +1,000 +1,100 ' "a site"
expect_match "$("$CLEAR" gate --list)" '^all +alloc_count +the whole run +up +20 % +1 +fail$' "--list"
expect_equal "$("$CLEAR" gate --list --json | python3 -c 'import json, sys; print([(r["name"], r["limit_percent"], r["timed"]) for r in json.load(sys.stdin)])')" \
    "[('site', 5, False), ('all', 20, False)]" "--list --json"
expect_equal "$(sql t.db 'SELECT count(*) FROM gates WHERE is_own = 0')" 0 "reading wrote rules into the file"
CLEAR=$PLAIN_CLEAR
rules 'all: {figure: alloc_count, limit_percent: 5, action: warn}'
expect_status 0 gate branch=work --base 1 >/dev/null
expect_match "$(gate branch=work --base 1 | sed -n 5p)" '^warn +all' "a rule that warns"
rules 'all: {figure: alloc_count, limit_percent: 10}'
expect_status 0 gate branch=work --base 1 >/dev/null # 10 % are not more than 10 %
rules 'all: {figure: alloc_count, limit_percent: 9.9, limit: 100}'
expect_status 0 gate branch=work --base 1 >/dev/null # nor are 100 more than 100
rules 'all: {figure: alloc_count, limit_percent: 9.9, limit: 99}'
expect_status 3 gate branch=work --base 1 >/dev/null
rules 'all: {figure: alloc_count, limit_percent: 9.9, runs: 2}'
expect_status 4 gate branch=work --base 1,2 >/dev/null
expect_match "$(gate branch=work --base 1,2)" 'needs 2 runs a side, has 2 and 1' "too few runs"
# A rule of a user that judges nothing is probably misspelt.
rules 'all: {figure: alloc_cuont}'
expect_status 4 gate branch=work --base 1 >/dev/null
expect_match "$(gate branch=work --base 1)" 'no run has a figure alloc_cuont' "an unknown figure"
rules 'all: {figure: alloc_count, subject: "function prase_*"}'
expect_match "$(gate branch=work --base 1)" "no run has a figure alloc_count of a subject that matches 'function prase_\*'" "an unknown subject"

wrong() { # wrong RULE MESSAGE
    rules "$1"
    expect_equal "$(gate 1 --base 2 2>&1)" "clear: $TMP/clear.yaml:$2" "the rule $1"
}
CLEAR=$sanitized
wrong 'a: {figure: x, limti: 3}' "2:18: unknown key 'limti'; did you mean 'limit'?"
wrong 'a: {limit: 3}' '2:6: a gate needs either `figure:` or `query:`'
wrong 'a: {figure: x, query: "@q"}' '2:6: a gate needs either `figure:` or `query:`'
wrong 'a: {figure: x, direction: sideways}' "2:29: unknown direction 'sideways'; write up, down or both"
wrong 'a: {figure: cpu_ns, runs: 0}' '2:29: must be 1 or more'
wrong 'a: {figure: x, limit_percent: -1}' '2:33: must not be negative'
wrong 'a: {figure: io_bytes, limit: 3 parsecs}' "2:32: limit must be a number such as 4096 or 512KiB, not '3 parsecs'"
wrong 'a: {figure: x, action: explode}' "2:26: unknown action 'explode'; write fail or warn"
wrong 'a b: {figure: x}' "2:8: 'a b' is not a valid name: use letters, digits, - and _"
CLEAR=$PLAIN_CLEAR
# What a figure is, is said by the view figure_kinds: it is timed where no program repeats it, but not where its unit is its own.
rules 'a: {figure: waits}' 'b: {figure: cell_update_failures}' 'c: {figure: io_time_ns, limit: 3ms}' 'd: {figure: lock_acquires}' 'e: {figure: findings}' \
    'f: {figure: counter, subject: "counter *"}'
expect_equal "$("$CLEAR" gate --list --json | grep -oE '"(name|timed)": ?[^,}]+' | sed 's/.*: *//' | tr -d '"' | paste -sd' ')" \
    'a true b true c true d false e false f false' "timed figures"
# A base in the rules: of the first command line without --base; one is enough, two different ones are an error.
rules 'all: {figure: alloc_count, base: "1"}' 'bytes: {figure: alloc_bytes}'
expect_status 3 gate branch=work >/dev/null
expect_match "$(gate branch=work)" '^FAIL: 1 run against 1 run of the base 1; ' "the base of a rule"
expect_status 0 gate branch=work --base tag:branch=main,last=1 >/dev/null # --base goes before it
expect_match "$("$CLEAR" gate --list)" '^compared with 1, where --base names no others$' "--list of a base"
rules 'all: {figure: alloc_count, base: "1"}' 'bytes: {figure: alloc_bytes, base: "2"}'
expect_match "$(gate branch=work 2>&1)" '^clear: the rule all has the base 1 and the rule bytes has 2: name one with --base' "two bases"
rules 'all: {figure: alloc_count}'
expect_match "$(gate branch=work 2>&1)" '^clear: --base SET is missing' "no base"
printf 'gates: {}\n' >clear.yaml
expect_match "$(gate 1 --base 2 2>&1)" 'there is no rule: `gates:` in clear.yaml is empty' "no rules"

# ---- queries as rules ----
CLEAR=$sanitized
counts='SELECT function AS subject, sum(iif(run_id = :base, alloc_count, 0)) AS old, sum(iif(run_id = :run, alloc_count, 0)) AS new FROM heap WHERE run_id IN (:base, :run) GROUP BY 1'
rules "sql: {query: \"$counts\", limit_percent: 1}"
out=$(gate 3,4 --base 1,2)
expect_match "$out" '^FAIL +sql +parse_line +1,000 +1,100 +\+100 \(\+10\.0 %\) +1 % +none$' "a query"
expect_equal "$(gate 3,4 --base 1 --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["rows"]; print([(x["old"]["n"], x["new"]["n"]) for x in r])')" "[(1, 2)]" "the last run of the shorter side counts once"
printf 'queries:\n  totals: {description: d, sql: "SELECT %s AS subject, 5 AS old, 7 AS new"}\ngates:\n  q: {query: "@totals", direction: both, limit: 1}\n' "'it'" >clear.yaml
expect_match "$(gate 3,4 --base 1,2)" '^FAIL +q +it +5 +7 +\+2 \(\+40\.0 %\) +1 *$' "a saved query without parameters is asked once"
refused() { # refused SQL MESSAGE
    rules "q: {query: \"$1\"}"
    expect_match "$(gate 3 --base 1 2>&1)" "$2" "the query $1"
}
refused 'DELETE FROM runs' '^clear: gate q: '
refused 'SELECT 1 AS old' 'the query of the gate q has no column `subject`'
refused "SELECT 'a' AS subject, 'x' AS old, 1 AS new" "column \`old\` is 'x', which is not a number"
refused 'SELECT nosuch' '^clear: gate q: .*no such column: nosuch'
refused '@nothing' "gate q: no saved query 'nothing'"
rules "q: {query: \"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT 'a' AS subject, count(*) AS old, 1 AS new FROM n\"}"
expect_match "$(gate 3 --base 1 --timeout 200ms 2>&1)" 'stopped after 0.2 s' "a query without an end"
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 5 "the runs after what was refused"
rm clear.yaml

# ---- runs that cannot be compared ----
CLEAR=$PLAIN_CLEAR
record branch=broken ./new 3
expect_status 4 gate branch=broken --base tag:branch=main >/dev/null
expect_match "$(gate branch=broken --base tag:branch=main)" 'Run 6 of the new side is left out: it ended with exit status 3, as no run of the base did\.' "a program that fails"
record branch=broken-too ./old 3
expect_status 3 gate branch=broken --base branch=broken-too >/dev/null # a base that ends so too
sql t.db "UPDATE runs SET flags = 'unfinished' WHERE id = 7"
expect_match "$(gate branch=broken-too --base 1)" 'Run 7 of the new side is left out: it is not over' "a run that is not over"
"$PLAIN_CLEAR" profile -q --no-files --no-heap --tag branch=bare ./old
expect_match "$(gate branch=bare --base 1)" '^skipped +allocations ' "a run without the figure"
"$PLAIN_CLEAR" profile -q --no-files --start=off --tag branch=paused ./old
expect_status 4 gate branch=paused --base 1 >said.txt
expect_match "$(cat said.txt)" 'Run [0-9]+ of the new side is left out: its recording was paused all the time\.' "a paused run"
expect_match "$(cat said.txt)" 'no run of the new side counts' "its figures"
expect_match "$(cat said.txt)" '^Undecided: all runs of a side are left out\.$' "what follows"

# ---- a recording without a heap has no leaks, and says nothing of them ----
"$PLAIN_CLEAR" profile -q --no-files --no-heap --tag branch=heapless ./old
expect_match "$("$CLEAR" gate branch=heapless --base 1 2>&1 | grep -A1 leaks | tr "\n" " ")" 'skipped +leaks.*not recorded on the new side' "leaks without a heap"

# ---- usage ----
usage() { # usage MESSAGE ARGUMENTS...
    expect_status 2 gate "${@:2}" 2>err.txt >/dev/null
    expect_match "$(cat err.txt)" "$1" "gate ${*:2}"
}
usage 'no run is in .tag:branch=none.' latest --base tag:branch=none
usage '\-\-base SET is missing' latest
usage 'no runs: name a SET, or --run COMMAND' --base 1
usage 'every run of --base 1 is in 1 too' 1 --base 1
usage '\-\-run-base needs --run' 1 --base 2 --run-base ./old
usage '\-\-run: a quote .*is not closed' --base 1 --run "./old 'x"
usage "unknown format 'pdf'" 1 --base 2 --format pdf

# ---- --run: old and new by turns, the failure confirmed, every run stored ----
before=$(sql t.db 'SELECT max(id) FROM runs')
taken() { sql t.db "SELECT group_concat(value, ' ') FROM (SELECT value FROM tags JOIN runs ON runs.id = run_id WHERE key = 'gate' AND run_id > $before ORDER BY run_id)"; }
CLEAR=$sanitized expect_status 3 gate --base 1,2 --run ./new --run-base ./old --tag pull=7 2>err.txt >out.txt
expect_match "$(cat err.txt)" '^gate: confirming run' "what is said of the runs"
turns=$(taken)
expect_match "$turns new" '^(base new )+new new$' "old and new by turns, and a fresh run at the end"
expect_equal "$(sql t.db "SELECT DISTINCT value FROM tags WHERE key = 'pull'")" 7 "the tag of new runs"
# A failure that a fresh run does not confirm is none: this program allocates more only in the first of its runs.
cat >once.sh <<'SH'
#!/bin/sh
if mkdir "$0.done" 2>/dev/null; then exec ./new; else exec ./old; fi
SH
chmod +x once.sh
rules 'all: {figure: alloc_count, subject: "function parse_line", limit_percent: 1}'
expect_status 4 gate --base 1,2 --run ./once.sh --max-runs 2 2>err.txt >out.txt
expect_match "$(cat out.txt)" 'a fresh run did not confirm it: 1000' "an outlier"
rm -r once.sh.done
expect_status 0 gate --base 1,2 --run ./once.sh --max-runs 20 -q 2>err.txt >out.txt # with more runs it is noise
expect_equal "$(cat err.txt)" '' "--quiet"
# Stored runs and fresh ones together; nothing is recorded where they suffice.
before=$(sql t.db 'SELECT max(id) FROM runs')
expect_status 0 gate 2 --base 1 --run ./new 2>err.txt >out.txt
expect_equal "$(taken)" '' "runs of a gate that is sure from the start"
# A command that fails, and one that is not there.
expect_status 1 gate --base 1 --run './new 3' 2>err.txt >out.txt
expect_match "$(cat err.txt)" 'clear: ./new ended with exit status 3 \(run [0-9]+\): its figures cannot be compared' "a command that fails"
expect_status 1 gate --base 1 --run ./missing 2>err.txt >out.txt
expect_match "$(cat err.txt)" 'not recorded: .*No such file or directory' "a command that is not there"
# The tags of git_commit and git_branch of the base go to its further runs, whatever is checked out here.
sql t.db "INSERT INTO tags VALUES (1, 'git_commit', 'aaaa'), (1, 'git_branch', 'main')"
before=$(sql t.db 'SELECT max(id) FROM runs')
gate --base 1 --run ./old --run-base ./old -q >/dev/null || [ $? -ne 1 ] || fail "the gate of git tags"
expect_equal "$(sql t.db "SELECT DISTINCT value FROM tags WHERE key = 'git_commit' AND run_id IN (SELECT run_id FROM tags WHERE key = 'gate' AND value = 'base' AND run_id > $before)")" aaaa "the commit of further runs of the base"

# ---- a count that varies although it seemed exact: one run a side would be wrong; with more runs, noise is noise and a step is found ----
cat >src/varies.c <<'C'
#include <stdlib.h>
#include <stdio.h>
#include <sys/random.h>
static void *volatile kept;
int main(int argc, char **argv) { /* argv[1] blocks, give or take 4 % */
    unsigned drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) return 1;
    int mean = atoi(argv[argc - 1]), blocks = mean + (int)(drawn % (unsigned)(mean * 8 / 100 + 1)) - mean * 4 / 100;
    for (int i = 0; i < blocks; i++) { kept = malloc(32); free(kept); }
    return 0;
}
C
"${CC:-gcc}" -g -O1 -o varies "$TMP/src/varies.c" || fail "the compiler"
rules 'all: {figure: alloc_count, limit_percent: 3}'
record branch=varies ./varies 10000
expect_status 0 gate --base branch=varies --run './varies 10000' --run-base './varies 10000' --max-runs 25 -q >out.txt
expect_status 3 gate --base branch=varies --run './varies 12000' --run-base './varies 10000' --max-runs 25 --json -q >out.txt
expect_equal "$(python3 -c 'import json; r = json.load(open("out.txt"))["rows"][0]; print(r["confirmed"], r["old"]["mean"] < 10500 and r["new"]["mean"] > 11500)')" "True True" "a step of 20 %"
rm clear.yaml

# ---- rules without a warehouse, and rules that a command which writes stored ----
expect_match "$("$CLEAR" gate --list --db none.db)" "^cpu +cpu_ns +the whole run +up +10 % and 20.0 ms +1 +fail$" "clear's own rules"
[ ! -e none.db ] || fail "--list made a warehouse"
rules 'kept: {figure: alloc_count, limit_percent: 7}'
recorder=$sanitized record branch=main ./old
rm clear.yaml
expect_equal "$(sql t.db 'SELECT name, limit_percent, is_own FROM gates')" 'kept|7.0|0' "the rules in the warehouse"
sql t.db "UPDATE meta SET value = 'of another clear' WHERE key = 'rules_hash'"
record branch=main ./old
expect_equal "$(sql t.db 'SELECT name, limit_percent, is_own FROM gates')" 'kept|7.0|0' "the rules after a clear with other rules of its own"
sql t.db "DELETE FROM gates; UPDATE meta SET value = 'of another clear' WHERE key = 'rules_hash'"
record branch=main ./old
expect_equal "$(sql t.db 'SELECT count(*), min(is_own) FROM gates')" '7|1' "clear's own rules again"

# ---- accepted changes: branch=work allocates 1,100 instead of 1,000 ----
accept() { sql t.db "INSERT INTO accepted_changes SELECT uuid, '$2', '$3', '$4', 1 FROM runs WHERE id = $1"; }
rules 'all: {figure: alloc_count, limit_percent: 1}'
expect_status 3 gate 3 --base 1,2 >/dev/null
accept 3 alloc_bytes '' 'another figure'
accept 3 alloc_count 'function parse_line' 'another subject'
expect_status 3 gate 3 --base 1,2 >/dev/null
accept 3 alloc_count '' 'a faster parser'
CLEAR=$sanitized expect_status 0 gate 3 --base 1,2 >out.txt
expect_match "$(cat out.txt)" '^accepted +all +alloc_count +1,000 +1,100' "an accepted row"
expect_match "$(cat out.txt)" 'accepted with run 3: a faster parser' "why"
expect_status 0 gate 4,5 --base 1,2 >/dev/null # later runs with the value that was accepted
sed 's/line % 10/line % 5/' src/app.c >src/worse.c && "${CC:-gcc}" -g -O1 -DEXTRA=1 -o worse "$TMP/src/worse.c" || fail "the compiler"
record branch=worse ./worse
expect_status 3 gate branch=worse --base 1,2 >/dev/null # 1,200 is more than was accepted
# In the base, it is where the base starts anew: 1,000 before it do not count.
expect_equal "$(gate branch=worse --base 1,2,3,4 --json | python3 -c 'import json, sys; r = json.load(sys.stdin)["rows"][0]; print(r["old"]["n"], r["old"]["mean"], r["verdict"])')" "2 1100 fail" "a base with an accepted run"
# A pattern of subjects.
rules 'each: {figure: alloc_count, subject: "function *"}'
sql t.db "DELETE FROM accepted_changes"
expect_status 3 gate 3 --base 1,2 >/dev/null
accept 3 alloc_count 'function parse_*' 'all of the parser'
expect_status 0 gate 3 --base 1,2 >/dev/null

# ---- clear's own rule `leaks`: a program that forgets memory where it did not before ----
rm -f clear.yaml
for options in --mended ''; do "$PLAIN_CLEAR" profile -q --no-files --cpu=off --db leaks.db -- "$FIXTURES/fault_leak" $options >/dev/null || fail "fault_leak $options"; done
expect_status 3 gate --db leaks.db 2 --base 1 >out.txt
expect_match "$(cat out.txt)" '^FAIL +leaks +finding heap-leak parse_order +0 +1 +\+1 \(new\)' "a leak"
expect_status 0 gate --db leaks.db 1 --base 2 >out.txt # mended
expect_match "$("$CLEAR" gate --db leaks.db 1 --base 2 --all)" '^pass +leaks ' "no leak any more"

# ---- Ctrl-C during --run: the program ends, gate ends by the signal and without a verdict, and the runs until then are kept ----
"$PLAIN_CLEAR" profile -q --no-files --db stop.db -- sh -c 'exit 0' || fail "a base"
printf '%s\n' 'gates:' '  never: {figure: alloc_count, runs: 10000}' >clear.yaml # undecided until --max-runs
cat >slow.sh <<'E2'
echo >>going
[ $(wc -l <going) -lt 3 ] || exec sleep 60
E2
for how in group alone; do
    rm -f going
    [ $how = group ] && CLEAR=$sanitized || CLEAR=$PLAIN_CLEAR
    before=$(sql stop.db 'SELECT count(*) FROM runs')
    setsid python3 - "$CLEAR" <<'E2' >stopped.txt 2>stopped.err &
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL) # a shell's background jobs ignore it
os.execv(sys.argv[1], [sys.argv[1], "gate", "--db", "stop.db", "--base", "1", "--run", "sh slow.sh"])
E2
    leader=$! # a job without job control is no group leader, so setsid does not fork
    for ((i = 0; i < 600; i++)); do [ "$(cat going 2>/dev/null | wc -l)" -ge 3 ] && break; sleep 0.1; done
    if [ $how = group ]; then kill -INT -- "-$leader"; else kill -INT "$leader"; fi
    status=0
    wait $leader || status=$?
    expect_equal "$status|$(cat stopped.txt)" '130|' "what gate ended with after SIGINT to the $how: $(cat stopped.err)"
    expect_equal "$(sql stop.db "SELECT count(*), sum(flags = ''), sum(exit_status IS 0) FROM runs JOIN tags ON run_id = id AND key = 'gate' WHERE id > $before")" '3|3|2' "the runs ($how)"
    pgrep -s "$leader" >/dev/null && fail "something still runs ($how)"
done
check_db stop.db
