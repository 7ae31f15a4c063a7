#!/bin/sh
# gate.sh: records a program and compares it with the runs of a branch. packaging/ci/action.yml (GitHub) and packaging/ci/gitlab.yml run it; it
# works in any other CI that keeps a file from one run to the next.
#
#     PROGRAM='./app input.txt' BRANCH=work packaging/ci/gate.sh
#
# PROGRAM    what to record; the words are split at blanks, without a shell
# BRANCH     the branch of this build: its runs get the tag branch=BRANCH
# BASE       the branch to compare with, by its newest 20 runs. Default: main
# FORMAT     of standard output, as of clear gate --format. Default: text
# CLEAR_DB   the warehouse, kept from one run to the next, or a team's store. Default: runs.sqlite
#
# Writes gate.md, always; gate.sarif and gate.xml (JUnit) where there is a verdict; run.html, the newest run with the browser's pages in one
# file, where a run was recorded. Status: 0 pass, 3 fail, 4 undecided, as clear gate; where there is nothing to compare with, 0, or that of a
# program that fails.
set -eu
: "${PROGRAM:?is the command to record}" "${BRANCH:?is the branch of this build}"
base=${BASE:-main} format=${FORMAT:-text} first=5 # with five runs one more can be judged
export CLEAR_DB="${CLEAR_DB:-runs.sqlite}"
clear=clear
! command -v clear-profile >/dev/null || clear='clear-profile' # its name where Debian's package is installed: /usr/bin/clear is of ncurses
rm -f gate.md gate.sarif gate.xml run.html

# shellcheck disable=SC2317 # the trap reaches it
finish() { # whatever happened: a job without a report says nothing to who asked for the change
    [ -f gate.md ] || echo 'No verdict: the log says why.' >gate.md
    $clear export --html latest -o run.html >/dev/null 2>&1 || rm -f run.html
}
trap finish EXIT

if ! $clear runs "tag:branch=$base" >/dev/null 2>&1; then
    for run in $(seq "$first"); do
        echo "run $run of $first"
        # shellcheck disable=SC2086 # split at blanks, as --run does
        $clear profile --no-files --quiet --tag "branch=$BRANCH" -- $PROGRAM
    done
    echo "There was no run of $base to compare with. The first $first are recorded." | tee gate.md
    exit 0
fi
status=0
$clear gate --base "tag:branch=$base,last=20" --run "$PROGRAM" --tag "branch=$BRANCH" \
    --format "$format" -o gate.md -o gate.sarif -o gate.xml || status=$?
exit "$status"
