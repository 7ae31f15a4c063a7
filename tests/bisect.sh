#!/usr/bin/env bash
# clear bisect on repositories whose first bad commit is known: an exact figure and one with noise, commits that do not build, stored runs
# that answer, stopping and going on, subjects of strangers; and the user's checkout stays as it is.
# build: plain
. "$(dirname "$0")/lib.sh"
history=$ROOT/fixtures/bisect_history.py
export CLEAR_DB=$TMP/t.db NOISE=$TMP/noise TMPDIR=$TMP/trees GIT_CONFIG_NOSYSTEM=1 HOME=$TMP
mkdir "$TMPDIR"
build='cc -O1 -g -fno-builtin -o program program.c -lm'
runs() { sql "$CLEAR_DB" 'SELECT count(*) FROM runs'; }
state() { # state REPOSITORY: what must not change: branch, commits, changes, work trees, marks, files of the repository
    git -C "$1" rev-parse --symbolic-full-name HEAD && git -C "$1" log --format=%H -1 && git -C "$1" status --short && git -C "$1" worktree list &&
        git -C "$1" for-each-ref && ls "$1/.git" | grep -v packed-refs # git makes an empty one
}
expect_untouched() { # expect_untouched REPOSITORY WHAT...
    local repository=$1
    shift
    expect_equal "$(state "$repository")" "$(cat "$repository.state")" "the repository $*"
    expect_equal "$(ls "$TMPDIR")" '' "work trees $*"
}

# An exact figure, from a directory of the repository, whose checkout has changes. The first one that git asks for does not compile.
bad=$(python3 "$history" exact 16 9 --broken 7,12) || fail 'repository'
echo '// mine' >>exact/src/program.c
echo untracked >exact/src/notes
state exact >exact.state
first=$(git -C exact rev-list --max-parents=0 HEAD)
(cd exact/src && "$CLEAR" bisect --good "$first" --figure alloc_count --build "$build" -- ./program) >found.txt 2>found.err ||
    fail "bisect: $(cat found.txt found.err)"
expect_equal "$(cat found.err)" '' 'standard error'
expect_match "$(cat found.txt)" "^$bad is the first bad commit$" 'the commit'
expect_equal "$(tail -n 1 found.txt)" "first bad commit: $bad" 'the last line'
expect_match "$(cat found.txt)" '^  author:  A U Thor <author@example.org>, 2023-11-14T23:22:20\+01:00$' 'its author'
expect_match "$(cat found.txt)" '^  alloc_count: 1,000 -> 1,300 \(\+30 %\), 1 run before, 1 run after$' 'the figure'
expect_match "$(cat found.txt)" '^skip .*does not build \(exit status 1\)$' 'what was skipped'
expect_match "$(cat found.txt)" '^      parse  program.c:[0-9]+$' 'the stacks that moved'
expect_untouched exact 'after a search'
[ ! -e exact/src/owned ] && [ ! -e owned ] || fail 'a subject was run'
LC_ALL=C grep -q "$(printf '[\033\007]')" found.txt && fail 'a subject wrote to the terminal'
expect_equal "$(sql t.db "SELECT count(DISTINCT value) FROM tags WHERE key = 'bisect'")" 1 'the tag bisect'
expect_equal "$(sql t.db "SELECT count(*) FROM runs WHERE NOT EXISTS (SELECT 1 FROM tags WHERE run_id = id AND key = 'git_commit')")" 0 'the tag git_commit'
for run in $(sql t.db "SELECT run_id || ',' || value FROM tags WHERE key = 'git_commit'"); do
    want=1300
    git -C exact merge-base --is-ancestor "$bad" "${run#*,}" || want=1000
    expect_equal "$(sql t.db "SELECT alloc_count FROM run_totals WHERE run_id = ${run%,*}")" $want "run ${run%,*} is of the commit of its tag"
done

# Asked again, the stored runs are the answer: nothing is built, nothing is run. Of what was deleted, that alone.
before=$(runs)
(cd exact/src && "$CLEAR" bisect --good "$first" --bad main --figure alloc_count --build 'touch ../../built; exit 1' --json -- ./program) >found.json ||
    fail 'by stored runs'
expect_equal "$(runs)" "$before" 'runs of the second search'
cat >check.py <<'E2'
import json, sqlite3, sys
found, db = json.load(open(sys.argv[1])), sqlite3.connect(sys.argv[2])
assert found["first_bad"]["commit"] == sys.argv[3], found["first_bad"]
assert found["first_bad"]["subject"] == sys.argv[4], found["first_bad"]
assert found["before"]["mean"] == 1000 and found["after"]["mean"] == 1300 and found["figure"] == "alloc_count", found
for commit in found["commits"]:
    for run in commit["runs"]:
        row = db.execute("SELECT alloc_count, value FROM run_totals JOIN tags USING (run_id) WHERE run_id = ? AND key = 'git_commit'", (run["run"],)).fetchone()
        assert row == (run["value"], commit["commit"]), (run, row)
E2
python3 check.py found.json t.db "$bad" "$(git -C exact show -s --format=%s "$bad")" || fail "JSON: $(cat found.json)"
"$CLEAR" rm --force "git_commit=$bad" >/dev/null || fail 'clear rm'
# The sanitizers have seen a whole search, and how stored runs answer; the searches below repeat it a dozen recordings at a time, and are theirs
# where one goes on.
sanitized=$CLEAR CLEAR=$PLAIN_CLEAR
# A tag as users write it: commit=, and shortened.
sql t.db "UPDATE tags SET key = 'commit', value = substr(value, 1, 8) WHERE key = 'git_commit' AND value = '$first'"
(cd exact/src && "$CLEAR" bisect --good "$first" --figure alloc_count --build "$build" -- ./program) >found.txt || fail 'with one run missing'
expect_match "$(cat found.txt)" "^$bad is the first bad commit$" 'the commit again'
expect_equal "$(runs)" $((before + 1)) 'runs of the two commits between what is known' # 9, which was deleted, and 10
expect_equal "$(sql t.db "SELECT count(*) FROM tags WHERE key = 'git_commit' AND value IN ('$bad', '$(git -C exact rev-parse HEAD~5)')")" 2 'their runs'
expect_untouched exact 'after three searches'

# Only commits that do not build are left: all that it may be.
mkdir other && bad=$(python3 "$history" other/skipped 6 3 --broken 2,3) || fail 'repository'
(cd other/skipped/src && "$CLEAR" bisect --good HEAD~5 --figure alloc_count --build "$build" -- ./program) >found.txt || fail 'skipped'
expect_match "$(cat found.txt)" '^the first bad commit is one of these' 'not to be told apart'
for at in 2 1; do expect_match "$(cat found.txt)" "^$(git -C other/skipped rev-parse HEAD~$at)$" 'a possible one'; done

# Noise: 100,000 bytes with a deviation of 5 % against 50 % more; --of names a function, and the whole has the same answer.
for of in '' 'function parse'; do
    rm -rf noisy "$NOISE" && bad=$(python3 "$history" noisy 8 3 --step 50 --noise 5) || fail 'repository'
    (cd noisy/src && "$CLEAR" bisect --db "$TMP/noise.db" --good HEAD~7 --figure alloc_bytes --of "$of" --build "$build" -- ./program) >found.txt ||
        fail "noise: $(cat found.txt)"
    expect_match "$(cat found.txt)" "^$bad is the first bad commit$" "in noise, of '$of'"
    rm noise.db
done

# Stopped, by Ctrl-C and by SIGKILL, and its work trees gone: it goes on, and takes no run again.
bad=$(python3 "$history" stopped 16 5 --step 10 --broken 3) && state stopped >stopped.state || fail 'repository'
wait_until() { # wait_until TRIES COMMAND...
    local tries=$1
    shift
    while ! "$@"; do
        [ $((tries--)) -gt 0 ] || fail "waited in vain: $*"
        sleep 0.1
    done
}
slow="[ ! -e $TMP/hold ] || { touch $TMP/waiting; exec sleep 100; }; $build"
start() { # start WORDS...: in a session of its own, as a shell's job; Ctrl-C is what it gets
    (cd stopped/src && exec setsid python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$CLEAR" bisect "$@" >"$TMP/stopped.txt" 2>"$TMP/stopped.err") &
    leader=$!
}
rm t.db
start --good HEAD~15 --figure alloc_count --build "$slow" -- ./program
wait_until 600 grep -q '^bad' stopped.txt
touch hold
wait_until 600 test -e waiting
kill -INT -- -$leader
status=0
wait $leader || status=$?
expect_equal "$status" 130 "status after Ctrl-C: $(cat stopped.err)"
expect_match "$(cat stopped.err)" '^clear: stopped: clear bisect --continue goes on' 'what it says'
expect_status 1 "$CLEAR" bisect --continue 2>err.txt # not here
(cd stopped && expect_status 2 "$CLEAR" bisect --good HEAD~15 --figure alloc_count -- ./program 2>err.txt) || fail 'a second search'
expect_match "$(cat stopped/err.txt)" 'clear bisect --continue goes on' 'of a second search'
rm -rf stopped/err.txt waiting "$TMPDIR"/* # as after a restart of the machine
CLEAR=$sanitized start --continue
wait_until 600 test -e waiting
kill -KILL -- -$leader
wait $leader 2>/dev/null
rm -f hold
(cd stopped && "$sanitized" bisect --continue) >found.txt || fail "to go on: $(cat found.txt)"
expect_match "$(cat found.txt)" "^$bad is the first bad commit$" 'after two stops'
expect_untouched stopped 'after two stops'
expect_equal "$(sql t.db "SELECT count(*) FROM (SELECT value FROM tags WHERE key = 'git_commit' GROUP BY 1 HAVING count(*) > 2)")" 0 'runs taken again'
touch hold
rm -f waiting
start --good HEAD~15 --figure alloc_count --new-only --build "$slow" -- ./program
wait_until 600 test -e waiting
(cd stopped && expect_status 1 "$CLEAR" bisect --abort 2>err.txt; cat err.txt; rm err.txt) | grep -q 'another clear bisect' || fail 'two at once'
kill -TERM $leader
wait $leader
expect_equal "$?" 143 'status after SIGTERM'
(cd stopped && "$sanitized" bisect --abort) || fail '--abort'
expect_untouched stopped 'after --abort'

# What cannot be searched says why, and leaves nothing behind.
refused() { # refused STATUS REGEX WORDS...
    local want=$1 regex=$2 got=0 clear=$sanitized
    [ "$want" = 2 ] || clear=$PLAIN_CLEAR # what is built and recorded first
    shift 2
    (cd stopped/src && "$clear" bisect "$@" >/dev/null 2>"$TMP/refused.err") || got=$?
    expect_equal "$got" "$want" "status of $*: $(cat refused.err)"
    expect_match "$(tail -1 refused.err)" "$regex" "message of $*"
    expect_untouched stopped "after $*"
}
refused 1 'alloc_count is the same at both commits: there is nothing to search' --good HEAD~15 --bad HEAD~14 --figure alloc_count --build "$build" -- ./program
refused 1 'the good commit .* cannot be tested: run [0-9]+ has no figure cell_reads' --good HEAD~15 --figure cell_reads --new-only --build "$build" -- ./program
refused 2 "no figure is called 'alloc_cuont'; did you mean alloc_count: duration_ns, .*, truncated \(see" --good HEAD~15 --figure alloc_cuont --build 'touch ../../built' -- ./program
refused 2 "no figure is called 'x': duration_ns, .*, truncated, findings, counter, sample \(see" --good HEAD~15 --figure x --of 'lock *' -- ./program
[ ! -e stopped/built ] && [ ! -e built ] || fail 'a commit was built for a figure that there is not'
# The figures are those of the catalogue.
named=$(cat "$ROOT/schema/views/figure_kinds.sql" - <<'SQL' | sqlite3 :memory:
SELECT group_concat(figure, ', ') FROM (SELECT figure FROM figure_kinds WHERE adds_up <> 'no' ORDER BY place);
SQL
) || fail figure_kinds
"$CLEAR" bisect --good HEAD --figure zzzzzzzz -- ./program 2>&1 | grep -qF ": $named (see" || fail "the figures of runs: $named"
refused 1 'the good commit .* cannot be tested: does not build' --good HEAD~12 --figure alloc_count --build "$build" -- ./program
refused 1 'the good commit .* cannot be tested: .*[Nn]o such file' --good HEAD~15 --figure alloc_count -- ./nowhere
refused 1 'the good commit .* cannot be tested: sh ended with exit status 3' --good HEAD~15 --figure alloc_count -- sh -c 'exit 3'
refused 2 'no commit of that name' --good nowhere --figure alloc_count -- ./program
refused 2 'no commit of that name' --good=--all --figure alloc_count -- ./program
refused 2 'the same commit' --good HEAD --figure alloc_count -- ./program
refused 2 '--figure is missing' --good HEAD~3 -- ./program
refused 2 '--good is missing' --figure alloc_count -- ./program
refused 2 'no command' --good HEAD~3 --figure alloc_count
refused 2 'no search was stopped' --abort
expect_status 1 "$CLEAR" bisect --good HEAD~3 --figure alloc_count -- ./program 2>refused.err
expect_match "$(cat refused.err)" 'not a git repository' 'no repository'
check_db t.db
