#!/usr/bin/env bash
# On a terminal: the program owns it, ^C reaches it once, ^Z stops it and clear together, fg goes on.
# timeout: 240
# build: plain
. "$(dirname "$0")/lib.sh"
needs_terminals

cat >job.py <<'E2'
"""A shell of one job on a pseudo terminal: starts COMMAND as the foreground job, types, and looks at the job."""
import os, pty, select, signal, sys, termios, time

def until(what, test, seconds=60):
    end = time.time() + seconds
    while time.time() < end:
        value = test()
        if value: return value
        time.sleep(0.02)
    sys.exit(f"FAIL: {what}; terminal: {output!r}")

output = b""
def read():
    global output
    while select.select([master], [], [], 0)[0]:
        try: piece = os.read(master, 4096)
        except OSError: break
        if not piece: break
        output += piece
    return output

master, slave = pty.openpty()
job = os.fork()
if job == 0:
    os.setsid()
    os.close(master)
    import fcntl
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for number in range(3): os.dup2(slave, number)
    # A shell that is the session's leader, and the job in a group of its own in front of it.
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp(sys.argv[1], sys.argv[1:])
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.tcsetpgrp(0, os.getpgrp())
            os.write(1, f"<stopped {os.WSTOPSIG(status)}>".encode())
            os.read(0, 1)  # any key is fg
            os.tcsetpgrp(0, child)
            os.kill(-child, signal.SIGCONT)
            continue
        os.write(1, f"<ended {os.waitstatus_to_exitcode(status)}>".encode())
        os._exit(0)
os.close(slave)
until("the program never came up", lambda: b"tick" in read())
if b"ready tty" not in output: sys.exit(f"FAIL: no terminal: {output!r}")
os.write(master, b"\x1a")
until("^Z stopped nothing", lambda: b"<stopped 20>" in read())
time.sleep(0.3)
before = read().count(b"tick")
time.sleep(0.5)
if read().count(b"tick") != before: sys.exit(f"FAIL: the program ran on while it was stopped: {output!r}")
os.write(master, b"\n")
until("fg did not continue the program", lambda: read().count(b"tick") > before + 2)
os.write(master, b"\x03")
until("^C did not end it", lambda: b"<ended" in read())
os.waitpid(job, 0)
read()
print(output.decode(errors="replace"))
E2

cat >ticks.py <<'E2'
import os, signal, sys, time
interrupts = 0
def interrupt(number, frame):
    global interrupts
    interrupts += 1
signal.signal(signal.SIGINT, interrupt)
print("ready", "tty" if os.isatty(0) and os.isatty(1) and os.isatty(2) else "none", flush=True)
while not interrupts:
    print("tick", flush=True)
    time.sleep(0.05)
time.sleep(0.3)  # for a second one that must not come
print(f"interrupts {interrupts}", flush=True)
sys.exit(5)
E2
python=$(python3 -c 'import sys; print(sys.executable)')
text=$("$python" job.py "$CLEAR" profile --db "$TMP/t.db" "$python" ticks.py) || fail "$text"
expect_match "$text" 'interrupts 1' "^C comes once"
expect_match "$text" '<ended 5>' "status"
expect_match "$text" 'clear: run 1 in' "closing words on the terminal"
expect_equal "$(sql t.db 'SELECT exit_status FROM runs')" 5 "the run's status"
