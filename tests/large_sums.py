"""large_sums.py CLEAR DIRECTORY: warehouses with values near 2^63, and every report and export of them. Where 64 bits hold a sum, the
figure is right (Python's integers decide); where they do not, clear says so, exits with 1 and prints nothing. Prints what is wrong. In the
gate (tests/run --suite) each report is asked of a third of the kinds, and each kind by a third of the reports; else all of each."""
import gzip
import json
import os
import re
import sqlite3
import subprocess
import sys

from wire import varint

CLEAR, DIRECTORY = sys.argv[1:3]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HALF, LAST = 1 << 62, (1 << 63) - 1
KINDS = ("heap", "lock", "mvcc", "channels", "cpu", "fibers")
SUMMED = ("top", "tree", "traces", "tags", "list=.", "peek=.", "proto", "topproto", "folded", "flamegraph", "speedscope", "csv", "samples",
          "callgrind", "dot", "json", "svg")
IN_GATE = "SANITIZED_CLEAR" in os.environ
failures = calls = 0


def some(words, first):
    """A third of them in the gate, others for each `first`."""
    return words[first % 3::3] if IN_GATE else words


def fault(what, text):
    global failures
    failures += 1
    if failures < 20:
        print(f"---- {what}: {text}")


def clear(*words):
    global calls
    calls += 1
    done = subprocess.run([CLEAR, *words], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def refused(*words):
    """A sum is too large: an error that says so and no output."""
    code, out, said = clear(*words)
    if code != 1 or out or "larger than 2^63 - 1" not in said:
        fault(" ".join(words), f"exit {code}, {len(out)} bytes, {said[:300]}")


def right(want, pattern, *words):
    """The sum of the numbers that the pattern finds in the output is `want`."""
    code, out, said = clear(*words)
    got = sum(int(number) for number in re.findall(pattern, out.decode(errors="replace")))
    if code != 0 or got != want:
        fault(" ".join(words), f"exit {code}, {got} and not {want}, {said[:300]}")


def warehouse(name, script):
    path = os.path.join(DIRECTORY, name)
    db = sqlite3.connect(path)
    for part in ("schema/tables.sql", "tests/export_data.sql"):
        db.executescript(open(os.path.join(ROOT, part), encoding="utf-8").read())
    for table in ("site_rows", "locks", "cells", "channels", "cpu"):
        db.execute(f"DELETE FROM {table}")
    db.executescript(script)
    db.close()
    return path


def all_kinds(one, two):
    """Of each kind two samples of run 1 that have no stack, lock, channel or site in common."""
    return f"""
        INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings) VALUES (50, 1, 1, 'fibers', 1700000005000000000, 1, '[2,1]');
        INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES
            (1, 2, 0, {one}, {one}, 0, 0), (1, 3, 0, {two}, {two}, 0, 0);
        INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns) VALUES
            (3, 1, 8, 1, 'mutex', {one}, {one}, {one}, 5, {one}, 5), (3, 2, 16, 2, 'mutex', {two}, {two}, {two}, 5, {two}, 5);
        INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures) VALUES
            (4, 3, 100, 1, 1, {one}, {one}, 0, 0, 0), (4, 3, 100, 2, 1, {two}, {two}, 0, 0, 0);
        INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth, push_blocked_ns, pop_blocked_ns)
            VALUES (5, 4, 1, 8, {one}, 0, {one}, 0, 8, {one}, 0), (5, 5, 2, 8, {two}, 0, {two}, 0, 8, {two}, 0);
        INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (6, 1, 0, {one}, {one}), (6, 2, 0, {two}, {two});
        INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns) VALUES
            (50, 1, {one}, {one}, {one}, {one}), (50, 2, {two}, {two}, {two}, {two});"""


def check_kinds():
    """2^62 and 2^62 - 1 are 2^63 - 1; twice 2^62 is beyond it."""
    fits = warehouse("fits.db", all_kinds(HALF, HALF - 1))
    beyond = warehouse("beyond.db", all_kinds(HALF, HALF))
    for i, kind in enumerate(KINDS):
        for report in some(SUMMED, i):
            refused("report", report, "--db", beyond, "--kind", kind, "1")
        for option in some(("--call_tree", "--focus=serve|channel|task", "--granularity=lines", "--cum"), i):
            refused("report", "top", option, "--db", beyond, "--kind", kind, "1")
        right(LAST, r'"total":(\d+)', "report", "json", "--db", fits, "--kind", kind, "1")
        right(LAST, r" (\d+)\n", "report", "folded", "--db", fits, "--kind", kind, "1")
        for report in some(SUMMED[:-1], i + 1):
            right(0, "a^", "report", report, "--db", fits, "--kind", kind, "1")
        path = os.path.join(DIRECTORY, "out.pb.gz")
        right(0, "a^", "export", "--db", beyond, "--kind", kind, "-o", path, "1")  # each sample keeps its value
        if gzip.open(path).read().count(varint(HALF)) < 2:
            fault(f"export of {kind}", "not both values are in it")
    for words in (("runs",), ("doctor", "1"), ("doctor", "1", "--cumulative"), ("doctor", "1", "--peek", "serve"), ("export", "1", "--kind", "heap", "--format",
                  "dump", "-o", os.path.join(DIRECTORY, "out.txt"))):
        refused(words[0], "--db", beyond, *words[1:])
        right(0, "a^", words[0], "--db", fits, *words[1:])
    picture = os.path.join(DIRECTORY, "out.svg")
    refused("export", "--db", beyond, "--format", "memory", "-o", picture, "1")
    right(0, "a^", "export", "--db", fits, "--format", "memory", "-o", picture, "1")
    with open(picture, encoding="utf-8") as svg:
        labels = re.findall(r">([^<>]*) EiB<", svg.read())
    if not 2 <= len(labels) <= 20 or "6.0" not in labels:
        fault("export --format memory", f"the axis says {labels}")
    right(LAST, r"(\d[\d,]*) allocations".replace(",", ""), "query", "--db", fits, "--format", "csv",
          "SELECT sum(alloc_count) || ' allocations' FROM heap WHERE run_id = 1")
    refused("doctor", "--db", beyond, "--diff", "1", "2")


def check_samples():
    """Where a sample counts more than once: a recursion through two lines, a label that a sample has twice."""
    twice = warehouse("twice.db", f"""
        INSERT INTO locations(id, mapping_id, address) VALUES (20, 2, 9000), (21, 2, 9008);
        INSERT INTO location_lines(location_id, position, function_id, line, "column") VALUES (20, 0, 2, 50, 0), (21, 0, 2, 51, 0);
        INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES (20, 20, 220, '[20,21,1,5]', 20, 2, 50);
        INSERT INTO label_sets(id, labels) VALUES (5, '[["key","a"],["key","b"],["bytes",7,"bytes"],["bytes",9,"bytes"]]');
        INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (6, 20, 5, 1, {HALF});""")
    right(HALF, r'"total":(\d+)', "report", "json", "--db", twice, "--kind", "cpu", "1")
    right(0, "a^", "report", "top", "--db", twice, "--kind", "cpu", "1")
    for report in ("tags", "list=serve"):
        refused("report", report, "--db", twice, "--kind", "cpu", "1")


def check_sets():
    """Sums over runs, differences, means and columns."""
    values = {"one": f"main;f {HALF}", "two": f"main;f {HALF}\nmain;h 1", "other": f"main;g {HALF}", "small": "main;f 1", "odd": f"main;f {HALF - 1}", "negative": f"main;f -{HALF}"}
    path = os.path.join(DIRECTORY, "sets.db")
    for name, text in values.items():
        file = os.path.join(DIRECTORY, name + ".folded")
        with open(file, "w", encoding="utf-8") as out:
            out.write(text + "\n")
        right(0, "a^", "ingest", "-q", "--db", path, "--label", name, "--tag", f"t={name}", file)
    db = ("--db", path)
    for report in ("top", "raw", "json", "folded", "proto", "csv", "text", "--by_tag=t"):
        report = ("top", report) if report.startswith("-") else (report,)
        refused("report", *report, *db, "one", "two")  # one stack
        refused("report", *report, *db, "one", "other")  # two stacks
    right(HALF + 1, r" (\d+)\n", "report", "folded", *db, "one", "small")
    right(HALF - 1, r'"total":(\d+)', "report", "json", *db, "one", "--base", "small")
    right(1, r'"total":(\d+)', "report", "json", *db, "one", "--base", "odd")
    refused("report", "top", *db, "one", "--base", "negative")
    refused("report", "folded", *db, "one", "--diff_base", "negative")
    over = json.loads(clear("report", "json", "--over_runs", *db, "one", "two", "other")[1])
    if over["total"]["mean"] != float(HALF):
        fault("over_runs", over["total"])
    refused("export", "--sql", f"SELECT 1 AS n, 'f' AS frame UNION ALL SELECT {LAST}, 'f'", *db, "-o", os.path.join(DIRECTORY, "x.pb.gz"))
    refused("report", "top", "--mean", "--db", os.path.join(DIRECTORY, "beyond.db"), "--kind", "lock", "1")


check_kinds()
check_samples()
check_sets()
print(f"{calls} calls, {failures} failures")
sys.exit(failures > 0 or calls < (100 if IN_GATE else 200))
