"""flipped_pages.py CLEAR ATTEMPTS [SEED [WAREHOUSE]]: reads damaged copies of a warehouse. Each attempt damages one copy (bits,
pages, the schema, the header, the length) and runs commands that only read. Each must end with status 0, 1 or 2, within the time,
without a signal, below the limit of memory, and leave the file as it was. Copies stay as flipped-N.db where one did not.
Prints a line for each failure; the last line counts attempts, commands and failures. Without WAREHOUSE it records one."""

import os
import random
import resource
import sqlite3
import subprocess
import sys

CLEAR, ATTEMPTS = sys.argv[1], int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
FIXTURES = os.environ["FIXTURES"]
CPU_S, WALL_S, MEMORY, FILE = 30, 240, 4 << 30, 1 << 30
SANITIZED = bool(os.environ.get("SANITIZED"))  # their shadow memory needs all addresses
COMMANDS = [
    ["runs"], ["runs", "--json"], ["doctor"], ["doctor", "--json"], ["doctor", "--cumulative"], ["top", "--kind", "heap"], ["top", "--kind", "lock"],
    ["export", "--kind", "heap", "--format", "folded", "-o", "-"], ["export", "--kind", "heap", "--format", "pprof", "-o", "-"],
    ["query", "hot-sites"], ["query", "SELECT * FROM heap"], ["query", "SELECT * FROM lock_use"], ["doctor", "1", "--diff", "2"],
]
random.seed(SEED)


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def record(path):
    for program in ("leak", "lock_contended", "leak"):
        subprocess.run([CLEAR, "profile", "-q", "--db", path, "-o", "flipped.profile", os.path.join(FIXTURES, program)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=WALL_S)
    assert sqlite3.connect(path).execute("SELECT count(*) FROM runs").fetchone()[0] == 3, "no warehouse could be recorded"


def some_bits(file, page, first, pages):
    for _ in range(random.choice((1, 2, 8, 64))):
        at = random.randrange(first * page, min((first + pages) * page, len(file)))
        file[at] ^= 1 << random.randrange(8)


def flip(file, page):  # what was done
    count = len(file) // page
    which, other = random.randrange(count), random.randrange(count)
    kind = random.choice(("bits", "bytes of one page", "head of a page", "header", "schema", "random page", "zero page", "swapped pages", "cut"))
    if kind == "bits":
        some_bits(file, page, 0, count)
    elif kind == "bytes of one page":
        some_bits(file, page, which, 1)
    elif kind == "head of a page":  # its kind, the number of its cells, where they are
        at = which * page + (100 if which == 0 else 0)
        for _ in range(random.choice((1, 2, 4))):
            file[at + random.randrange(24)] = random.choice((0, 1, 2, 5, 10, 13, 127, 128, 255))
    elif kind == "header":
        for _ in range(random.choice((1, 2, 4))):
            file[random.randrange(16, 100)] = random.choice((0, 1, 2, 3, 4, 127, 128, 255))
    elif kind == "schema":  # the text of tables and views: another letter, a word for another
        words = (b"CREATE", b"SELECT", b"run_id", b"FROM", b"WHERE", b"trace_id", b"INTEGER", b"sum(", b"JOIN", b"REFERENCES")
        word, new = random.choice(words), random.choice(words)
        places = [at for at in range(len(file)) if file.startswith(word, at)]
        for at in random.sample(places, min(len(places), random.choice((1, 2, 20)))):
            file[at:at + len(word)] = new[:len(word)].ljust(len(word))
    elif kind == "random page":
        file[which * page:(which + 1) * page] = random.randbytes(page)
    elif kind == "zero page":
        file[which * page:(which + 1) * page] = bytes(page)
    elif kind == "swapped pages":
        a, b = slice(which * page, (which + 1) * page), slice(other * page, (other + 1) * page)
        file[a], file[b] = file[b], file[a]
    else:
        del file[random.randrange(1, len(file)):]
    return kind


def run(path, command):  # why it is a failure, or None
    words = [CLEAR, command[0], "--db", path, *command[1:]]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WALL_S, preexec_fn=limits)
    except subprocess.TimeoutExpired:
        return "no end within %d s" % WALL_S
    if done.returncode not in (0, 1, 2):
        return "status %d: %r" % (done.returncode, done.stderr[-300:])
    if done.returncode and not done.stderr:
        return "status %d without a message" % done.returncode
    return None


def schema_of(path):  # what clear puts right where it is not its own: the version, which it migrates, and the views
    try:
        with sqlite3.connect("file:%s?mode=ro" % path, uri=True) as db:
            return db.execute("PRAGMA user_version").fetchall() + db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def without_counters(file):  # how often it was changed: also by the attempt to bring up to date what damage made look old
    return file[:24] + file[28:92] + file[96:]


def main():
    base = sys.argv[4] if len(sys.argv) > 4 else "flipped-base.db"
    if len(sys.argv) <= 4:
        record(base)
    with open(base, "rb") as file:
        original = file.read()
    page, schema = int.from_bytes(original[16:18], "big"), schema_of(base)
    page = 65536 if page == 1 else page
    failures = commands = 0
    for attempt in range(ATTEMPTS):
        file, path = bytearray(original), "flipped-%d.db" % attempt
        kind, bad = flip(file, page), False
        with open(path, "wb") as out:
            out.write(file)
        may_mend = schema_of(path) != schema or file[18:20] != original[18:20]  # a file in WAL mode becomes one file again
        for command in random.sample(COMMANDS, 3):
            commands += 1
            why = run(path, command)
            with open(path, "rb") as now:
                if not why and not may_mend and without_counters(now.read()) != without_counters(file):
                    why = "the file was changed"
            if why:
                failures, bad = failures + 1, True
                print("attempt %d of seed %d (%s), clear %s: %s" % (attempt, SEED, kind, " ".join(command), why), flush=True)
                break
        if bad:
            with open(path, "wb") as out:
                out.write(file)
        for end in ("-wal", "-shm", "-journal") + (() if bad else ("",)):
            if os.path.exists(path + end):
                os.remove(path + end)
    print("%d attempts, %d commands, %d failures" % (ATTEMPTS, commands, failures))
    return failures != 0


sys.exit(main())
