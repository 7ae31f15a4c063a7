#!/usr/bin/env bash
# The prompt of clear report: scripts on standard input against pprof's interactive mode, byte for byte, each on a third of the profiles
# (on all in make long); and what pprof's has not: sql, runs, use, kinds, the lines and statuses of errors, a reader that goes away.
# timeout: 480
# longer: PROMPT=whole
# build: plain
# leaks: a session of many reports
. "$(dirname "$0")/lib.sh"
export TZ=UTC CLEAR_DB=$TMP/t.db

profile -q --label first --tag half=1 -o first.profile --cpu off "$FIXTURES/heap_counts" >/dev/null || fail "heap_counts"
profile -q --label second --tag half=2 -o second.profile --cpu off --sync-callstacks --sample 1 "$FIXTURES/lock_contended" >/dev/null || fail "lock_contended"

# ---- as pprof ----
if command -v go >/dev/null; then
    binary=$(go tool -n pprof) || fail "there is no go tool pprof"
    HOME=$TMP python3 "$ROOT/tests/report_prompt.py" "$CLEAR" "$binary" "$TMP" "$TMP/t.db#1#heap" "$TMP/t.db#2#lock" \
        "$ROOT"/fixtures/corpus/pprof/{after_go_cpu,before_go_heap,before_go_mutex}.pb.gz "$ROOT/fixtures/corpus/legacy/gobench.cpu" ||
        fail "sessions differ from pprof's"
fi

# ---- the target: runs, sets, files, kinds ----
say() { printf '%s\n' "$@" | "$CLEAR" report "${target[@]}" >out 2>err; } # say LINE...: a session about $target
said() { # said STATUS ERRORS WHAT...: what the session exited with and wrote to standard error
    local got=$? want=$1 errors=$2
    shift 2
    expect_equal "$got" "$want" "status of $*"
    expect_equal "$(cat err)" "$errors" "errors of $*"
}
"$CLEAR" ingest -q --label app "$ROOT/fixtures/corpus/folded/app.folded" || fail "app.folded"
"$CLEAR" ingest -q --label app "$ROOT/fixtures/corpus/folded/app.folded" || fail "app.folded again"
"$CLEAR" top -compact_labels -nodecount=10 --kind heap second >second.top
"$CLEAR" top -compact_labels -nodecount=10 --kind heap first >first.top
"$CLEAR" top -compact_labels -nodecount=10 --kind heap first second >both.top
"$CLEAR" top -compact_labels -nodecount=10 --kind lock second >lock.top
"$CLEAR" top -compact_labels -nodecount=10 app >app.top
target=(first)
say top "use second" top "use first" "use first second" "kind=heap" top
said 0 "" "use of runs"
cat first.top second.top both.top >want
expect_same_file out want "reports on one run after the other"
target=(second)
say kind=lock top "use app" top "use ./no/such.file" top "use" 'kind=nothing' "top"
said 1 "clear: line 5: ./no/such.file: No such file or directory
clear: line 8: $TMP/t.db: run 3 has no nothing profile; it has: samples" "targets that are not there"
cat lock.top app.top app.top app.top >want
expect_same_file out want "what is in use stays where another cannot be opened"
target=("$ROOT/fixtures/corpus/folded/app.folded")
say top "sql SELECT count(*) AS n FROM runs" "use first" top "sql SELECT count(*) AS n FROM runs"
said 0 "" "a file, then a run"
{ cat app.top; printf 'n\n-\n1\n'; cat first.top; printf 'n\n-\n3\n'; } >want
expect_same_file out want "a file, then a run"
target=(--kind heap)
say top
expect_same_file out <("$CLEAR" top --kind heap -compact_labels -nodecount=10 second) "the latest run that has the kind"

# A value that the new kind has not is not asked for any more; options stay.
target=(second)
say kind=lock sample_index=delay nodecount=2 kind=heap top
said 0 "" "another kind"
expect_same_file out <("$CLEAR" top -compact_labels -nodecount=2 --kind heap second) "another kind"

# ---- bases ----
"$CLEAR" top -compact_labels -nodecount=10 --kind heap --base first second >base.top
"$CLEAR" top -compact_labels -nodecount=10 --kind heap --base first --normalize second >normal.top
! cmp -s base.top normal.top || fail "normalize does nothing here"
target=(--kind heap --base first second)
say top normalize top normalize=false top
said 0 "" "a base"
cat base.top normal.top base.top >want
expect_same_file out want "a base, normalized and not"
target=(first)
say normalize top
said 1 "clear: line 1: normalize needs a base: start with clear report --base RUN" "normalize without a base"
expect_same_file out first.top "normalize without a base"

# ---- over the runs, by a tag: as on the command line ----
target=(--kind heap first second)
say over_runs "top 4" "tree 4" over_runs=false by_tag=half "top 3 main"
said 1 "clear: line 3: over_runs makes a table: top or json, not tree" "a format that is not over runs"
{ "$CLEAR" top -compact_labels -over_runs -nodecount=4 --kind heap first second
  "$CLEAR" top -compact_labels -by_tag=half -nodecount=3 -focus=main --kind heap first second; } >want
[ "$(wc -l <want)" -gt 8 ] || fail "reports over runs: $(cat want)"
expect_same_file out want "reports over runs"

# ---- sql and runs ----
target=(first)
say "sql SELECT label FROM runs WHERE id = :run" "use second" "sql SELECT label FROM runs WHERE id = :run;" "sql @hot-sites top=1" \
    "sql @hot-sites run=first top=1"
said 0 "" "sql"
{ printf 'label\n-----\nfirst\nlabel\n------\nsecond\n'; "$CLEAR" query @hot-sites run=second top=1; "$CLEAR" query @hot-sites run=first top=1; } >want
expect_same_file out want "sql"
say "sql" "sql SELECT nonesuch FROM runs" "sql DELETE FROM runs" "sql @nothing" "runs all" "runs"
got=$?
expect_equal "$got" 1 "status of SQL that is wrong"
expect_match "$(cat err)" "^clear: line 2: .*no such column: nonesuch" "SQL that is wrong"
expect_match "$(cat err)" "^clear: line 3: .*DELETE" "SQL that writes"
expect_equal "$(grep -c '^clear: line [1-5]: ' err)" 5 "errors with their lines"
expect_equal "$(sql "$TMP/t.db" 'SELECT count(*) FROM runs')" 3 "runs after a DELETE"
expect_same_file out <("$CLEAR" runs) "runs"

# ---- lines, statuses, comments ----
say "sqll SELECT 1" "kcachgrind" "tre" "focs=1"
said 1 "clear: line 1: unknown command 'sqll'; did you mean sql?
clear: line 2: unknown command 'kcachgrind'; did you mean kcachegrind?
clear: line 3: unknown command 'tre'; did you mean tree?
clear: line 4: unknown command 'focs=1'; help lists them" "misspelt commands"
say "# a comment" "" "   " "top 3" "lines" "nothing" "top 2" "cum" "top 2"
said 1 "clear: line 6: unknown command 'nothing'; help lists them" "one line that is wrong"
{ "$CLEAR" top -compact_labels -nodecount=3 --kind heap first; "$CLEAR" top -lines -compact_labels -nodecount=2 --kind heap first
  "$CLEAR" top -lines -cum -compact_labels -nodecount=2 --kind heap first; } >want
expect_same_file out want "the lines around one that is wrong, and options without a value"
say "o"
expect_match "$(cat out)" '^  kind +[=] heap +//: \[.*heap.*\]$' "the kinds among the options"
sed -n 's/^ *\([a-z_]* *=.*\)/\1/p' out | grep -v '^kind' >list
cp list script
echo o >>script
"$CLEAR" report first <script >out 2>err || fail "the list of options cannot be read back: $(cat err)"
expect_equal "$(grep -v '^  kind' out)" "$(sed 's/^/  /' list)" "the list of options, read back"
expect_status 2 "$CLEAR" report first </dev/null 2>err
expect_match "$(cat err)" "^clear: no report.*standard input, which is empty" "an empty script"
printf 'use second\n' | "$CLEAR" report -top first >/dev/null 2>&1 || fail "a report is no prompt"

# ---- help knows every name that it lists ----
"$CLEAR" report first <<<help >out
names=$(sed -n 's/^    \( \|  \)\?\([a-z_]\+\) .*/\2/p' out | sort -u)
expect_between "$(wc -l <<<"$names")" 60 200 "names in help"
for name in $names; do echo "help $name"; done >script
"$CLEAR" report first <script >out 2>err || fail "help: $(cat err)"
for name in $("$CLEAR" help --complete -- report -- | sed -n 's/^--\([a-z_]*\).*/\1/p'); do
    case $name in db | config | limit | output | base | diff_base | add_comment | buildid | from | to | window | base_from | base_to | base_window | project | http | no_browser | help | seconds | timeout | tls_* | symbolize | tools) continue ;; esac
    grep -qx -- "$name" <<<"$names" || fail "help at the prompt does not know the option $name"
done

# ---- who reads ----
printf 'top\n%.0s' {1..2000} | "$CLEAR" report first 2>err | head -3 >out
[ ! -s err ] || fail "a reader that went away: $(cat err)"
expect_equal "$(wc -l <out)" 3 "lines before the reader went away"
printf 'top\ntop\n' | "$CLEAR" report first 2>err >/dev/full
expect_equal "$?" 1 "status of a full disk"
expect_equal "$(grep -c 'No space left' err)" 1 "a full disk is said once"
printf 'top >/dev/full\ntop\n' | "$CLEAR" report first 2>err >out
expect_equal "$?" 1 "status of a report into a full disk"
expect_match "$(cat err)" "line 1: /dev/full: No space left" "a report into a full disk"
expect_same_file out first.top "the report behind it"
[ -c /dev/full ] || fail "a device was removed"
echo before >kept
mkdir nowhere
printf 'top >kept\ntop >nowhere\n' | (ulimit -f 0; trap '' XFSZ; "$CLEAR" report first 2>&1 >/dev/null) | cat >err
expect_equal "$(cat kept)" before "a file that could not be written anew"
expect_match "$(cat err)" "line 2: nowhere: is a directory" "a directory"
head -c 300000 /dev/zero | tr '\0' x | "$CLEAR" report first >out 2>err
expect_equal "$?" 1 "status of a very long word"
expect_equal "$(grep -c . err)" 1 "a very long word is one error"
head -c 4000 /dev/urandom | "$CLEAR" report first >out 2>err
expect_between "$?" 0 1 "status of a script that is none"

# ---- programs that show a report ----
mkdir views
printf '#!/bin/sh\ncp "$1" "%s/seen.${1##*.}"\n' "$TMP" >browser
chmod +x browser
printf 'web 5\nsql SELECT 1\n' | TMPDIR=$TMP/views BROWSER=$TMP/browser "$CLEAR" report first >out 2>err || fail "web: $(cat err)"
"$CLEAR" report svg -compact_labels -nodecount=5 first >want
expect_same_file seen.svg want "what the browser is given"
expect_equal "$(ls views)" "" "files of a session that ended"
mkdir bin
ln -s "$(command -v dot)" bin/dot
printf 'gv 5\nevince >graph.pdf\n' | PATH=$TMP/bin TMPDIR=$TMP/views "$CLEAR" report first >out 2>err
expect_equal "$?" 1 "status where gv is not there"
expect_match "$(cat err)" "^clear: line 1: gv: No such file or directory; the page is $TMP/views/clear-.*/report1\.ps$" "no gv"
[ -s "$(echo views/clear-*/report1.ps)" ] || fail "what gv would show is not there"
expect_equal "$(head -c 4 graph.pdf)" "%PDF" "evince into a file"
