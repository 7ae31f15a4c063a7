#!/usr/bin/env bash
# Signals reach the program once, exactly as sent; dispositions and mask are as without clear; clear ends as it did.
# build: plain
. "$(dirname "$0")/lib.sh"

# Writes every signal it gets, and ends with status 42 at SIGTERM.
cat >catch.py <<'E2'
import signal, sys, time
def catch(number, frame):
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM: sys.exit(42)
for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGINT", "SIGQUIT"):
    signal.signal(getattr(signal, name), catch)
print("ready", flush=True)
while True: time.sleep(10)
E2
python=$(python3 -c 'import sys; print(sys.executable)')

"$CLEAR" profile -q --db "$TMP/t.db" "$python" catch.py >out 2>err &
pid=$!
wait_for_text "^ready$" out
for signal in HUP USR1 USR2 ALRM INT QUIT; do
    kill -s "$signal" "$pid"
    wait_for_text "^SIG$signal$" out
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
expect_equal "$status" 42 "status of a program that handles SIGTERM"
expect_equal "$(tr '\n' ' ' <out)" "ready SIGHUP SIGUSR1 SIGUSR2 SIGALRM SIGINT SIGQUIT SIGTERM " "signals seen"
expect_equal "$(sql t.db 'SELECT exit_status, flags FROM runs')" "42|" "the run's end"

# A signal that ends the program ends clear too, so that the shell's $? is the same; no core of clear's own.
ulimit -c unlimited
for signal in TERM KILL SEGV ABRT HUP USR1; do
    want=0 got=0
    bash -c "ulimit -c 0; kill -s $signal \$\$" 2>/dev/null || want=$?
    "$CLEAR" profile -q --db t.db bash -c "ulimit -c 0; kill -s $signal \$\$" 2>/dev/null || got=$?
    expect_equal "$got" "$want" "status after SIG$signal"
done
expect_equal "$(find . -name 'core*')" "" "core files"
expect_equal "$(sql t.db 'SELECT group_concat(exit_signal) FROM runs WHERE exit_status IS NULL')" "15,9,11,6,1,10" signals

# What the program was started with is what it would have been without clear: /proc shows masks and dispositions.
masks() { # masks COMMAND...: of a child started by python with SIGPIPE and SIGCHLD ignored and SIGUSR2 blocked
    "$python" - "$@" <<'E2'
import os, signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
os.execvp(sys.argv[1], sys.argv[1:])
E2
}
show=(grep -E '^Sig(Blk|Ign|Cgt):' /proc/self/status)
expect_equal "$(masks "$CLEAR" profile -q --cpu=off --db t.db "${show[@]}")" "$(masks "${show[@]}")" "mask and dispositions"
# Samples of CPU time need a handler, of SIGPROF alone (signal 27, bit 26).
caught() { sed -n 's/^SigCgt:[[:space:]]*/0x/p'; }
with=$(masks "$CLEAR" profile -q --db t.db "${show[@]}" | caught) without=$(masks "${show[@]}" | caught)
expect_equal "$((with ^ without))" "$((1 << 26))" "signals caught with --cpu and without"
# A child that gives all signals their default between fork and execve does not want the signal, and who has a handler of its own has it.
child() { # child NAME HANDLER
    "$CLEAR" profile -q --cpu=999 --db "$1" "$python" - "$2" <<'E2' || fail "$*"
import os, signal, sys, time
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
else:
    before = signal.signal(signal.SIGPROF, getattr(signal, sys.argv[1]) if sys.argv[1].startswith("SIG_") else lambda *_: None)
    assert before == signal.SIG_DFL and signal.getsignal(signal.SIGPROF) != before or sys.argv[1] == "SIG_DFL"
    begun = time.process_time()
    while time.process_time() < begun + 0.1: pass
E2
    sql "$1" "SELECT sum(comments LIKE '%sets SIGPROF itself%') || ' ' || (SELECT sum(samples) > 0 FROM cpu JOIN profiles ON profiles.id = cpu.profile_id
        WHERE process_id = (SELECT max(id) FROM processes)) FROM profiles WHERE kind = 'cpu'"
}
expect_equal "$(child default.db SIG_DFL) $(child handler.db handler | cut -d' ' -f1) $(child ignored.db SIG_IGN | cut -d' ' -f1)" "0 1 1 1" "whose SIGPROF is"
masks "$CLEAR" profile -q --db t.db bash -c 'exit 9'
expect_equal "$?" 9 "status with SIGCHLD ignored"
