"""trend_warehouse.py DB CLEAR: a warehouse of 60 runs of ./server, 2 without an end and 3 of ./other, with known steps. Git commits are the
number of the run, in 40 hex digits; runs are stored in another order than they were started in."""

import random
import sqlite3
import subprocess
import sys

path, clear = sys.argv[1:]
with open("empty.folded", "w") as file:
    file.write("a 1\n")
subprocess.run([clear, "ingest", "-q", "--db", path, "empty.folded"], check=True)
db = sqlite3.connect(path)
db.execute("PRAGMA foreign_keys = ON")
db.execute("DELETE FROM runs")
source = random.Random(1608)
START = 1_700_000_000_000_000_000
HOUR = 3_600_000_000_000

names = ["parse", "parse.isra.0", "load", "odd \"name\"\nwith a line end"]
for i, name in enumerate(names, 101):
    db.execute("INSERT INTO functions(id, name, filename) VALUES (?, ?, '/src/server.c')", (i, name))
    db.execute("INSERT INTO locations(id, mapping_id, address) VALUES (?, 0, ?)", (i, i))
    db.execute("INSERT INTO location_lines VALUES (?, 0, ?, 7, 0)", (i, i))
    db.execute("INSERT INTO traces(id, hash, signature, stack, location_id, function_id) VALUES (?, ?, ?, ?, ?, ?)", (i, i, i, f"[{i}]", i, i))
db.execute("INSERT INTO objects(id, kind, identity, name) VALUES (101, 'lock', 'a', 'pool:lock'), (102, 'lock', 'b', 'cache:lock')")


def noisy(level, percent=2):
    return round(level * (1 + percent / 100 * source.gauss(0, 1)))


def add(run, command, flags=""):
    late = run > 30
    db.execute("INSERT INTO runs(id, uuid, command, started_ns, duration_ns, source, flags) VALUES (?, ?, ?, ?, ?, 'profile', ?)",
               (run, f"{run:032x}", command, START + run * HOUR, noisy(10**9), flags))
    db.execute("INSERT INTO tags VALUES (?, 'git_commit', ?)", (run, f"{run - 1:010x}{'f' * 30}"))
    process = db.execute("INSERT INTO processes(run_id, pid, ppid, executable, started_ns) VALUES (?, 1, 1, 'x', 0)", (run,)).lastrowid

    def profile(kind):
        return db.execute("INSERT INTO profiles(run_id, process_id, kind) VALUES (?, ?, ?)", (run, process, kind)).lastrowid

    heap, cpu, lock = profile("heap"), profile("cpu"), profile("lock")
    # Allocations: exact, 1 % more from run 31 on, all in parse. The bytes of `load` vary.
    parse = 101 if run % 2 else 102
    db.execute("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES (?, ?, ?, ?, ?, ?)",
               (heap, parse, 9000 + 100 * late, 900000 + 10000 * late, 9000 + 100 * late, 900000 + 10000 * late))
    large = noisy(50_000_000)
    db.execute("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES (?, 103, 1000, ?, 1000, ?)",
               (heap, large, large))
    if run >= 55:  # was never there before, and is not freed
        db.execute("UPDATE sites SET alloc_count = 990 WHERE profile_id = ? AND trace_id = 103", (heap,))
        db.execute("UPDATE sites SET free_count = 990 WHERE profile_id = ? AND trace_id = 103", (heap,))
        db.execute("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (?, 104, 10, 5000)", (heap,))
    # CPU time: 10 % more from run 41 on.
    db.execute("INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (?, 103, 50, ?)", (cpu, noisy(500_000_000 * (1.1 if run > 40 else 1))))
    # Waits for one of two locks: five times as long from run 21 to 40.
    db.execute("INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, wait_ns) VALUES (?, 101, 1, 'mutex', 100, ?, ?)",
               (lock, 5 + source.randrange(3), noisy(50_000_000 * (5 if 20 < run <= 40 else 1), 10)))
    db.execute("INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, wait_ns) VALUES (?, 102, 2, 'mutex', 100, 5, ?)",
               (lock, noisy(50_000_000, 10)))


order = list(range(1, 61))
source.shuffle(order)
for run in order:
    add(run, "./server")
for run in (61, 62):
    add(run, "./server", "unfinished")
for run in (101, 102, 103):
    add(run, "./other")
db.execute("UPDATE runs SET started_ns = started_ns - 200 * ? WHERE id > 100", (HOUR,))
db.commit()
