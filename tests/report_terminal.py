#!/usr/bin/env python3
"""report_terminal.py COMMAND...: types at the prompt of clear report on a pseudo terminal, and looks at what comes of it."""
import fcntl
import os
import pty
import re
import select
import signal
import stat
import struct
import sys
import termios
import time

PROMPT = "(clear) "


class Terminal:
    def __init__(self, command, env):
        self.text = b""
        self.child, self.master = pty.fork()
        if self.child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))  # wide: no line wraps
            os.execvpe(command[0], command, env)

    def read(self, seconds=0.02):
        while select.select([self.master], [], [], seconds)[0]:
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                return False
            if not piece:
                return False
            self.text += piece
        return True

    def screen(self):
        """What can be seen: a terminal as far as libedit asks for one, whose lines never wrap or scroll away."""
        lines, row, at = [[]], 0, 0
        for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z@]|\x1b[()].|\x1b.|[^\x1b]", self.text.decode(errors="replace"), re.S):
            line = lines[row]
            count = int((re.findall(r"\d+", token) or ["1"])[0]) if token.startswith("\x1b[") else 0
            last = token[-1]
            if token == "\n":
                row += 1
                if row == len(lines):
                    lines.append([])
            elif token == "\r":
                at = 0
            elif token == "\b" or (count and last == "D"):
                at = max(0, at - (count or 1))
            elif count and last == "C":
                at += count
            elif count and last == "A":
                row = max(0, row - count)
            elif count and last in "KJ":
                del line[at:]
            elif count and last == "P":
                del line[at:at + count]
            elif count and last == "@":
                line[at:at] = [" "] * count
            elif not token.startswith("\x1b") and token >= " ":
                line.extend([" "] * (at - len(line)))
                line[at:at + 1] = [token]
                at += 1
        return "\n".join("".join(line).rstrip() for line in lines)

    def until(self, what, test, seconds=30):
        end = time.time() + seconds
        while time.time() < end:
            alive = self.read()
            value = test(self.screen())
            if value:
                return value
            if not alive:
                break
        sys.exit(f"FAIL: {what}; the terminal shows:\n{self.screen()[-3000:]}")

    def type(self, keys):
        os.write(self.master, keys.encode())

    def prompts(self):
        return self.screen().count(PROMPT.rstrip())

    def wait_for_prompt(self, what):
        self.until(what, lambda screen: screen.split("\n")[-1].startswith(PROMPT.rstrip()) and
                   screen.split("\n")[-1].strip() == PROMPT.strip())

    def say(self, line):
        """Types a line, and gives what was printed until the next prompt."""
        self.wait_for_prompt(f"no prompt before {line!r}")
        before = len(self.screen().split("\n"))
        self.type(line + "\r")
        self.until(f"no prompt after {line!r}", lambda screen: len(screen.split("\n")) > before and
                   screen.split("\n")[-1].strip() == PROMPT.strip())
        return "\n".join(self.screen().split("\n")[before:-1])

    def line(self):
        return self.screen().split("\n")[-1]

    def end(self, keys="\x04", prompt=PROMPT.strip()):
        self.until("no prompt at the end", lambda screen: self.line() == prompt)
        self.type(keys)
        end = time.time() + 20
        while time.time() < end:
            self.read()
            pid, status = os.waitpid(self.child, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        sys.exit(f"FAIL: it does not end:\n{self.screen()[-2000:]}")


def want(what, test):
    if not test:
        sys.exit(f"FAIL: {what}:\n{terminal.screen()[-3000:]}")


command = sys.argv[1:]
state = os.path.join(os.environ["TMP"], "state")
env = dict(os.environ, TERM="vt100", LC_ALL="C.UTF-8", XDG_STATE_HOME=state, HOME=os.environ["TMP"])
env.pop("COLUMNS", None)

# ---- greeting, a report, an error, the end ----
terminal = Terminal(command, env)
terminal.wait_for_prompt("no prompt came up")
want("the greeting says what it is about", "Type: inuse_space" in terminal.screen() and "help lists" in terminal.screen())
want("a report", "flat%" in terminal.say("top 3"))
want("an error is said without a line number", terminal.say("zebra") == "unknown command 'zebra'; help lists them")

# ---- completion ----
for typed, becomes in (("tra", "traces "), ("gran", "granularity="), ("quot", "quot"), ("sample_index=alloc_s", "sample_index=alloc_space "),
                       ("help edge", "help edgefraction "), ("sql @hot-s", "sql @hot-sites ")):
    terminal.wait_for_prompt("no prompt before a tab")
    terminal.type(typed + "\t")
    terminal.until(f"completion of {typed!r} to {becomes!r}",
                   lambda screen, becomes=becomes: screen.split("\n")[-1].rstrip().startswith((PROMPT + becomes).rstrip()))
    terminal.type("\x03")
    terminal.wait_for_prompt("no prompt after ^C")
terminal.type("t\t")
terminal.until("the list of candidates", lambda screen: re.search(r"tagfocus= +taghide= +tagignore=", screen))
terminal.type("\x15")
terminal.wait_for_prompt("no prompt after ^U")
name = os.environ["FUNCTION"]  # a function of the profile, and a beginning that no other one has
terminal.type(f"peek {os.environ['BEGINNING']}\t")
terminal.until("completion of a function", lambda screen: screen.split("\n")[-1].rstrip() == f"{PROMPT}peek {name}")
terminal.type("\r")
terminal.until("the report on it", lambda screen: re.search(r"\| +" + re.escape(name) + "$", screen, re.M))

# ---- characters that are no ASCII ----
terminal.wait_for_prompt("no prompt")
terminal.type("top größe\x1b[D\x1b[Dx")
terminal.until("UTF-8 is edited", lambda screen: terminal.line() == PROMPT + "top gröxße")
terminal.type("\x15")

# ---- ^C: a line is given up; a report and a query end alone ----
terminal.wait_for_prompt("no prompt")
terminal.type("top 3 nonsense")
terminal.until("the typed line", lambda screen: screen.endswith("nonsense"))
terminal.type("\x03")
terminal.until("^C is shown", lambda screen: "^C" in screen)
terminal.wait_for_prompt("^C ended the session")
want("what was given up is not run", "no samples" not in terminal.screen())
terminal.type("sql WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n\r")
time.sleep(0.5)
terminal.type("\x03")
terminal.wait_for_prompt("^C did not stop a query")
want("the query says that it was stopped", "nterrupted" in terminal.screen() or "stopped" in terminal.screen())

# ---- history, in this session and kept ----
terminal.say("comments")
terminal.type("\x1b[A")
terminal.until("the last line again", lambda screen: screen.endswith(PROMPT + "comments"))
terminal.type("\x1b[A\x1b[A")
terminal.until("an older line", lambda screen: f"{PROMPT}peek {name}" in screen.split("\n")[-1])
terminal.type("\x15")
want("^D ends it with 0", terminal.end() == 0)
path = os.path.join(state, "clear", "report_history")
with open(path) as file:
    lines = file.read().split("\n")
want("what was typed is kept", "top 3" in lines and "comments" in lines and "top 3 nonsense" not in lines)
want("others cannot read it", stat.S_IMODE(os.stat(path).st_mode) == 0o600)
want("nor its directory", stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700)

terminal = Terminal(command, env)
terminal.wait_for_prompt("no prompt the second time")
terminal.type("\x1b[A")
terminal.until("the history of the last session", lambda screen: screen.endswith(PROMPT + "comments"))
terminal.type("\x15")
want("quit ends it with 0", terminal.end("quit\r") == 0)

# ---- functions whose names mean something in a pattern, from a beginning and from the middle ----
with open("names.folded", "w") as file:
    file.write("main;json.(*Decoder).read 5\nmain;json.(*Encoder).write 2\nmain;operator new[](unsigned long) 1\n")
terminal = Terminal(command + ["./names.folded"], env)
for typed, becomes in (("json.(*D", "json.\\(\\*Decoder\\).read"), ("json.\\(\\*E", "json.\\(\\*Encoder\\).write"),
                       (").wri", "json.\\(\\*Encoder\\).write"), ("oper", "operator.new\\[\\]\\(unsigned.long\\)"),
                       ("-oper", "-operator.new\\[\\]\\(unsigned.long\\)")):
    terminal.wait_for_prompt("no prompt before a function")
    terminal.type(f"top {typed}\t")
    terminal.until(f"completion of {typed} to {becomes}", lambda screen, becomes=becomes: terminal.line().rstrip() == f"{PROMPT}top {becomes}")
    terminal.type("\r")
    terminal.wait_for_prompt("no report on what was completed")
name = "json.(*Decoder).read"
want("what was completed matches", name in terminal.screen() and "no samples" not in terminal.screen())
want("it ends with 0", terminal.end() == 0)

# ---- ^C while a report is made: graphviz takes minutes for this one ----
with open("big.folded", "w") as file:
    for i in range(6000):
        file.write(";".join(f"f{(i * k * 7919 + k) % 1500}" for k in range(1, 12)) + " 1\n")
terminal = Terminal(command + ["./big.folded"], env)
terminal.say("trim=false")
terminal.type("svg\r")
terminal.until("the picture begins", lambda screen: f"{PROMPT}svg\n" in screen)
time.sleep(1)
terminal.read()
want("the picture takes its time", terminal.line() == "")
terminal.type("\x03")
terminal.wait_for_prompt("^C did not stop a report")
want("nothing half-made is left", not [name for name in os.listdir(".") if name.startswith("profile0")])
want("the session goes on", "flat%" in terminal.say("top 3"))
want("it ends with 0", terminal.end() == 0)

# ---- ^Z, under a shell: at the prompt and in a report, which stops with all that it started ----
terminal = Terminal(["bash", "--norc", "-i"], dict(env, PS1="shell> "))
terminal.type(" ".join(command + ["./big.folded"]) + "\r")
terminal.wait_for_prompt("no prompt under a shell")
terminal.type("trim=fal\x1a")
terminal.until("^Z at the prompt", lambda screen: "Stopped" in screen and terminal.line() == "shell>")
terminal.type("fg\r")
terminal.until("the line is there again", lambda screen: terminal.line() == PROMPT + "trim=fal")
terminal.type("se\r")
terminal.wait_for_prompt("no prompt after fg")
terminal.type("svg\r")
time.sleep(1)
terminal.type("\x1a")
terminal.until("^Z in a report", lambda screen: screen.count("Stopped") == 2 and terminal.line() == "shell>")
terminal.type("ps -o stat=,comm= | grep -E 'clear|dot' | grep -cv '^T'\r")
terminal.until("something runs on", lambda screen: terminal.screen().split("\n")[-2:] == ["0", "shell>"])
terminal.type("fg\r")
time.sleep(0.5)
terminal.type("\x03")
terminal.wait_for_prompt("^C after fg")
want("the session goes on after ^Z", "flat%" in terminal.say("top 3"))
terminal.type("\x04")
terminal.until("back in the shell", lambda screen: terminal.line() == "shell>")
want("the shell ends", terminal.end("exit\r", "shell>") == 0)

# ---- no place for a history: nothing is said ----
terminal = Terminal(command, dict(env, XDG_STATE_HOME="/proc/nowhere"))
want("a report without a history", "flat%" in terminal.say("top 3"))
want("nothing is said of it", "nowhere" not in terminal.screen() and "istory" not in terminal.screen())
want("errors do not matter to the status at a terminal", "unknown" in terminal.say("hello"))
want("it ends with 0", terminal.end() == 0)

# ---- a signal from outside leaves the terminal as it was ----
terminal = Terminal(command, env)
terminal.wait_for_prompt("no prompt")
os.kill(terminal.child, signal.SIGTERM)
_, status = os.waitpid(terminal.child, 0)
want("SIGTERM ends it", os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM)
modes = termios.tcgetattr(terminal.master)[3]
want("the terminal is as it was", modes & termios.ICANON and modes & termios.ECHO and modes & termios.ISIG)
print("the terminal does as it should")
