"""failing_writes.py CLEAR ATTEMPTS [SEED]: clear adds a run to a warehouse, and one system call of it fails, or all from one on
(EIO, ENOSPC), or ends it (SIGKILL). strace injects that. Afterwards the file must pass PRAGMA integrity_check, all former rows must
be there, the new run must be there whole or not at all, and whole if the status was 0. The same command once more must complete it.
Prints a line for each failure; the last line counts. Exit 77 where strace may not trace."""

import collections
import os
import random
import shutil
import sqlite3
import subprocess
import sys

CLEAR, ATTEMPTS = sys.argv[1], int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "corpus")
CALLS = ("pwrite64", "fdatasync", "fsync", "ftruncate", "fallocate", "unlink", "pread64", "openat")
WALL_S = 120
random.seed(SEED)


def ingest(path, before=()):
    words = [*before, CLEAR, "ingest", "-q", "--db", path, os.path.join(CORPUS, "legacy", "gobench.heap")]
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WALL_S)


def rows(path):  # how many each table has; a failed check is an exception
    db = sqlite3.connect(path, timeout=10)
    try:
        said = db.execute("PRAGMA integrity_check").fetchall() + db.execute("PRAGMA foreign_key_check").fetchall()
        if said != [("ok",)]:
            raise sqlite3.DatabaseError("integrity_check: %s" % said[:3])
        names = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")]
        return {name: db.execute('SELECT count(*) FROM "%s"' % name).fetchone()[0] for name in names}
    finally:
        db.close()


def count_calls():
    shutil.copy("writes-base.db", "writes.db")
    done = ingest("writes.db", ("strace", "-f", "-o", "writes.trace", "-e", "trace=" + ",".join(CALLS)))
    if done.returncode != 0:
        print("strace may not trace here: %r" % done.stderr[-200:])
        sys.exit(77)
    with open("writes.trace") as file:
        return collections.Counter(call for line in file for call in CALLS if " %s(" % call in line)


def trial(call, when, fault, before, after):  # why it is a failure, or None
    for end in ("", "-wal", "-shm", "-journal"):
        if os.path.exists("writes.db" + end):
            os.remove("writes.db" + end)
    shutil.copy("writes-base.db", "writes.db")
    inject = "inject=%s:%s:when=%s" % (call, fault, when)
    try:
        done = ingest("writes.db", ("strace", "-f", "-o", "/dev/null", "-e", "trace=" + call, "-e", inject))
    except subprocess.TimeoutExpired:
        return "no end within %d s" % WALL_S
    is_killed = "SIGKILL" in fault and done.returncode == -9
    is_loader = done.returncode == 127 and b"error while loading shared libraries" in done.stderr  # clear had not begun
    if done.returncode not in (0, 1, 2) and not is_killed and not is_loader:
        return "status %d: %r" % (done.returncode, done.stderr[-300:])
    try:
        now = rows("writes.db")
        if now != after and (now != before or done.returncode == 0):
            return "status %d, and rows are neither as before nor whole: %s" % (done.returncode, {k: v for k, v in now.items() if v != before[k]})
        again = ingest("writes.db")
        if again.returncode != 0:
            return "the next ingest: %r" % again.stderr[-300:]
        return None if rows("writes.db") == after else "the run is not whole after the next ingest"
    except sqlite3.Error as error:
        return str(error)


def main():
    done = subprocess.run([CLEAR, "ingest", "-q", "--db", "writes-base.db", os.path.join(CORPUS, "folded", "app.folded"),
                           os.path.join(CORPUS, "legacy", "gobench.cpu")], stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    calls, before, after = count_calls(), rows("writes-base.db"), rows("writes.db")
    assert after["runs"] == before["runs"] + 1
    failures = 0
    for attempt in range(ATTEMPTS):
        call = random.choice([call for call in CALLS if calls[call]])
        when = "%d%s" % (random.randrange(calls[call]) + 1, random.choice(("", "+")))
        fault = random.choice(("error=EIO", "error=ENOSPC", "signal=SIGKILL"))
        why = trial(call, when, fault, before, after)
        if why:
            failures += 1
            print("attempt %d of seed %d (%s, %s, when %s): %s" % (attempt, SEED, call, fault, when, why), flush=True)
    print("%d attempts, %d failures" % (ATTEMPTS, failures))
    return failures != 0


sys.exit(main())
