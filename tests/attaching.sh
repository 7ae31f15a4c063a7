# shellcheck shell=bash
# attaching.sh: sourced by the tests that attach to a program of theirs, whose process number is $program. They are skipped where that is forbidden.

python3 "$ROOT/tests/may_trace.py" || skip 'ptrace is forbidden on this machine'

attach() { # attach OPTION...: begins a recording into t.db, without the budget; what it says is in err.txt
    rm -f err.txt # of the attachment before
    "$CLEAR" profile --pid "$program" --db t.db --no-files --budget=off "$@" 2>err.txt &
    clear=$!
    wait_for 'the attachment' grep -qs 'is recorded from now on' err.txt
}
detach() {
    "$CLEAR" detach "$program" || fail 'clear detach'
    wait "$clear" || fail "clear profile ended with $?"
}
