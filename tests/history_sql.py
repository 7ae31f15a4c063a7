#!/usr/bin/env python3
"""history_sql.py CLEAR DIRECTORY: the views over many runs. Each view that adds windows is compared with sums that are made here, in
Python, of the rows of the tables; and each must read the rows of the asked runs only, however the condition on run_id is written:
SQLite's own count of steps in a file with many runs may not exceed that in a file with few."""

import json
import os
import random
import sqlite3
import subprocess
import sys
from collections import defaultdict

CLEAR, DIRECTORY = sys.argv[1:3]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIG = 1 << 40
NAME = 'f{}"<\\>\n\x1b\x01é' # whatever a name may have
FEW, MANY = 6, 120

# view: table, kinds of profile (None: any, "-wait": all but wait), key columns, sums, maxima; scope: "process" or "run"
USES = {
    "heap": ("sites", None, ("trace_id", "label_set_id"), ("alloc_count", "alloc_bytes", "free_count", "free_bytes"), (), "process"),
    "cpu_use": ("cpu", None, ("trace_id", "label_set_id"), ("samples", "cpu_ns"), (), "process"),
    "lock_use": ("locks", "-wait", ("object_id", "address", "trace_id"),
                 ("acquires", "contended", "wait_ns", "hold_ns", "read_acquires", "read_contended", "read_wait_ns", "timeouts",
                  "unfinished", "failed_tries", "condition_waits", "timed_holds"), ("max_wait_ns", "max_hold_ns", "read_max_wait_ns"),
                 "process"),
    "wait_use": ("locks", "wait", ("object_id", "address", "trace_id"),
                 ("timeouts", "unfinished", "wait_ns", "failed_tries", "signals", "broadcasts", "futile_wakes", "woken",
                  "own_wakes"),
                 ("max_wait_ns", "mutex_address"), "process"),
    "cell_use": ("cells", None, ("object_id", "address", "trace_id"),
                 ("reads", "commits", "multi_commits", "retries", "update_failures"), ("struct_size",), "process"),
    "channel_use": ("channels", None, ("object_id", "channel"),
                    ("pushes", "pops", "push_blocked", "pop_blocked", "push_blocked_ns", "pop_blocked_ns"),
                    ("capacity", "max_depth"), "process"),
    "io_use": ("io", None, ("trace_id", "call"),
               ("calls", "bytes", "errors", "would_block", "small_calls", "small_bytes", "short_calls", "time_ns", "timed_calls"),
               ("max_time_ns",), "process"),
    "map_use": ("maps", None, ("trace_id", "use"), ("map_count", "map_bytes", "unmap_count", "unmap_bytes"), (), "process"),
    "spin_use": ("spins", None, ("trace_id",), ("yields", "short_sleeps", "sleep_ns", "failed_tries", "naps", "nap_ns"), (), "run"),
    "thread_use": ("thread_starts", None, ("trace_id",), ("started", "ended", "life_ns", "short_count", "short_ns"), ("max_life_ns",), "run"),
}
NEW_TABLES = "io", "maps", "spins", "thread_starts" # of version 4
KIND_OF = {"sites": "heap", "cpu": "cpu", "cells": "mvcc", "channels": "channels", "io": "io", "maps": "mmap", "spins": "spins",
           "thread_starts": "threads"}


def check(truth, what):
    if not truth:
        sys.exit(f"FAIL: {what}")


def insert(db, table, row):
    """Into what the file has: an old one has fewer tables and columns."""
    known = {column for _, column, *_ in db.execute(f"PRAGMA table_info({table})")}
    row = {column: value for column, value in row.items() if column in known}
    if row:
        db.execute(f"INSERT INTO {table}({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def names(db):
    """Twelve stacks of six functions; two label sets; locks, cells and channels, some of them with an allocation stack."""
    for i in range(1, 7):
        insert(db, "functions", {"id": i, "name": NAME.format(i)})
        insert(db, "locations", {"id": i, "mapping_id": 0, "address": i})
        insert(db, "location_lines", {"location_id": i, "position": 0, "function_id": i, "line": i})
    for i in range(1, 13):
        f = (i - 1) % 6 + 1
        insert(db, "traces", {"id": i, "hash": i, "signature": f, "stack": f"[{f}]", "location_id": f, "function_id": f, "line": f})
    insert(db, "label_sets", {"id": 1, "labels": '[["k","v"]]'})
    for kind, first in ("lock", 1), ("cell", 11), ("channel", 21), ("wait", 31):
        for i in range(first, first + 4):
            insert(db, "objects", {"id": i, "kind": kind, "identity": f"o{i}", "name": "o" + NAME.format(i), "trace_id": i % 3})


def measured(db, source, table, kind, profile):
    """Some rows of a table in a profile, every figure drawn. Large figures show what is not kept to the last digit."""
    _, _, keys, sums, maxima, _ = next(use for use in USES.values() if use[0] == table and use[1] in (None, kind, f"-{kind}", "-wait"))
    if kind == "wait":
        _, _, keys, sums, maxima, _ = USES["wait_use"]
    first = {"locks": 31 if kind == "wait" else 1, "cells": 11, "channels": 21}.get(table)
    seen = set()
    for _ in range(source.randrange(1, 7)):
        values = {"trace_id": source.randrange(1 if table in ("sites", "cpu") else 0, 13), "label_set_id": source.randrange(2),
                  "object_id": (first or 0) + source.randrange(4), "address": source.choice((0, 16, -BIG)), "channel": source.randrange(3),
                  "call": source.choice(("read", "write", 'o"\\d')), "use": source.choice(("file", "stack"))}
        row = {key: values[key] for key in keys}
        if tuple(row.values()) in seen:
            continue
        seen.add(tuple(row.values()))
        row |= {column: source.choice((0, 1, source.randrange(1000), source.randrange(BIG))) for column in sums + maxima}
        if table == "sites":
            row["alloc_count"], row["free_count"] = source.randrange(50), source.randrange(50)
            size = source.choice((8, 100))
            row["alloc_bytes"], row["free_bytes"] = row["alloc_count"] * size + source.choice((0, 0, 3)), row["free_count"] * size
        if table == "locks":
            row |= {"acquires": source.randrange(5000), "contended": source.randrange(900), "first_trace_id": source.randrange(4),
                    "kind": "cond" if kind == "wait" else "mutex"}
        if table == "maps":
            row["label_set_id"] = 0
        insert(db, table, {"profile_id": profile} | row)


def add_run(db, source, run):
    """A recorded run of some processes with some windows, or an ingested one with two profiles of a kind."""
    recorded = run % 5 != 0
    insert(db, "runs", {"id": run, "uuid": f"u{run}", "started_ns": run * 1000, "duration_ns": 10**9, "source": "profile" if recorded else "x",
                        "label": f"l{run}"})
    insert(db, "tags", {"run_id": run, "key": "commit", "value": f"c{run}"})
    processes = [None, None]
    if recorded:
        processes = [run * 10 + i for i in range(source.randrange(1, 4))]
        for process in processes:
            insert(db, "processes", {"id": process, "run_id": run, "pid": process, "ppid": 1, "executable": "/x", "started_ns": run * 1000,
                                     "ended_ns": run * 1000 + 10**9})
    kinds = [(table, kind) for table, kind in KIND_OF.items()] + [("locks", "lock"), ("locks", "wait")]
    profile = run * 1000
    for process in processes:
        for table, kind in kinds:
            for window in range(1 if process is None else source.choice((1, 1, 3, 6))):
                profile += 1
                insert(db, "profiles", {"id": profile, "run_id": run, "process_id": process, "kind": kind, "duration_ns": 10**8,
                                        "time_ns": run * 1000 + window * 10**8 + 10**8})
                measured(db, source, table, kind, profile)
        judged(db, run, process, source, profile + 1)
        profile += 1


def judged(db, run, process, source, profile):
    """What the other diagnoses are about: counters of the processor, fibers, warnings, losses."""
    insert(db, "profiles", {"id": profile, "run_id": run, "process_id": process, "kind": "fibers", "dropped": 5, "truncated": run,
                            "comments": json.dumps(["# WARNING: " + NAME.format(run)])})
    for name, value in ("cycles", 10**10), ("instructions", 10**9 + source.randrange(1000)), ("cache-references", 1000), ("cache-misses", 900):
        insert(db, "counters", {"profile_id": profile, "name": name, "value": value})
    insert(db, "fibers", {"profile_id": profile, "total_fibers": 10000 + run, "very_short_fibers": 9000})
    for scheduler, fibers in (0, 5000 + run), (1, 3):
        insert(db, "schedulers", {"profile_id": profile, "scheduler": scheduler, "fibers": fibers})
    insert(db, "task_sites", {"profile_id": profile, "site": 4, "runs": 100, "dispatch": "local", "schedulers": '{"0":90,"1":10}',
                              "kind": "BG", "line": 8})


def warehouse(name, runs):
    """The last run is the same in every file."""
    path = f"{DIRECTORY}/{name}"
    with open(f"{DIRECTORY}/empty.folded", "w", encoding="ascii") as file:
        file.write("a;b 1\n")
    subprocess.run([CLEAR, "ingest", "-q", "--db", path, f"{DIRECTORY}/empty.folded"], check=True)
    db = sqlite3.connect(path)
    for table in "runs", "profiles", "cpu", "samples", "traces", "location_lines", "locations", "functions", "run_totals":
        db.execute(f"DELETE FROM {table}" + (" WHERE id <> 0" if table == "traces" else ""))
    fill(db, runs)
    seal(db)
    return db


def seal(db):
    """Sums that tables of facts have are those of the rows when the run was sealed."""
    db.commit()
    path = db.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]
    subprocess.run([CLEAR, "reseal", "--db", path], check=True, stdout=subprocess.DEVNULL)


def fill(db, runs):
    names(db)
    for run in [*range(1, runs), 1999]:
        add_run(db, random.Random(run), run)
    db.commit()


def older_warehouse(name, runs):
    """A file of schema version 3 with the same rows, as far as it has the columns, which clear then brings up to date."""
    db = sqlite3.connect(f"{DIRECTORY}/{name}")
    for text in "fixtures/warehouse_v1.sql", "schema/migrations/2.sql", "schema/migrations/3.sql":
        with open(f"{ROOT}/{text}", encoding="utf-8") as file:
            db.executescript(file.read())
    check(db.execute("PRAGMA user_version").fetchone() == (3,), "no file of version 3")
    fill(db, runs)
    db.close()
    subprocess.run([CLEAR, "ingest", "-q", "--db", f"{DIRECTORY}/{name}", f"{DIRECTORY}/empty.folded"], check=True)
    db = sqlite3.connect(f"{DIRECTORY}/{name}")
    db.execute("DELETE FROM runs WHERE source GLOB '*empty.folded'")
    db.execute("DELETE FROM cpu WHERE profile_id IN (SELECT id FROM profiles WHERE run_id NOT IN (SELECT id FROM runs))")
    db.execute("DELETE FROM profiles WHERE run_id NOT IN (SELECT id FROM runs)")
    db.commit()
    check(db.execute("SELECT max(user_version) > 3 FROM pragma_user_version").fetchone() == (1,), "the file was not brought up to date")
    return db


# ---- what the views say is what the tables say ----

def groups(db, view):
    """The sums of a view's rows: {(run, group, key...): [figures...]}."""
    table, kinds, keys, sums, maxima, scope = USES[view]
    found = defaultdict(lambda: [0] * len(sums) + [None] * len(maxima) + [0])
    for run, process, profile, kind, *values in db.execute(
            f"SELECT run_id, process_id, profiles.id, profiles.kind, {', '.join(f'{table}.{column}' for column in keys + sums + maxima)}"
            f" FROM {table} JOIN profiles ON profiles.id = profile_id"):
        if kinds == "-wait" and kind == "wait" or kinds == "wait" and kind != "wait":
            continue
        group = (process or -profile, kind) if scope == "process" else ()
        row = found[(run, group, tuple(values[:len(keys)]))]
        for i, value in enumerate(values[len(keys):]):
            row[i] = row[i] + value if i < len(sums) else value if row[i] is None else max(row[i], value)
        row[-1] = max(row[-1], profile)
    return found


def compare(db, view, condition="", what="", least=1):
    """As multisets: a view need not say by which process or label set a row is its own."""
    _, _, keys, sums, maxima, _ = USES[view]
    shown = [column for column in keys if column not in ("label_set_id", "trace_id" if "object_id" in keys else "")]
    want = sorted((run, *(value for column, value in zip(keys, key) if column in shown), *row) for (run, _, key), row in groups(db, view).items()
                  if not condition or db.execute(f"SELECT :run IN (SELECT id FROM runs WHERE {condition})", {"run": run}).fetchone()[0])
    got = sorted(db.execute(f"SELECT run_id, {', '.join([*shown, *sums, *maxima])}, profile_id FROM {view}"
                            + (f" WHERE run_id IN (SELECT id FROM runs WHERE {condition})" if condition else "")).fetchall())
    check(len(want) >= least or condition, f"{view}: no row to compare")
    check(got == want, f"{view} {what}: {set(got) ^ set(want)}")


def compare_texts(db):
    """Names, objects and what a stack is of, of rows of windows and of others alike."""
    for view in USES:
        for trace, function, line in db.execute(f"SELECT DISTINCT trace_id, function, line FROM {view}"):
            want = (NAME.format((trace - 1) % 6 + 1), (trace - 1) % 6 + 1) if trace and view != "cpu_use" else (function, line)
            check((function, line) == want, f"{view}: stack {trace} is {function}:{line}")
    bad, = db.execute("SELECT count(*) FROM lock_use JOIN objects ON objects.id = object_id WHERE objects.name <> lock_use.object"
                      " OR lock_use.kind <> 'mutex' OR stack_of = 'allocation' AND lock_use.trace_id <> objects.trace_id").fetchone()
    check(bad == 0, f"lock_use: {bad} rows with another lock's name")
    wakers = db.execute("SELECT DISTINCT run_id, process_id, object_id, address, max(first_trace_id) OVER (PARTITION BY run_id,"
                        " coalesce(process_id, -profiles.id), object_id, address) FROM locks JOIN profiles ON profiles.id = profile_id"
                        " WHERE profiles.kind = 'wait' ORDER BY 1, 2, 3, 4, 5").fetchall()
    got = db.execute("SELECT DISTINCT wait_use.run_id, process_id, object_id, address, waker_trace_id FROM wait_use"
                     " JOIN profiles ON profiles.id = profile_id ORDER BY 1, 2, 3, 4, 5").fetchall()
    check(got == sorted(set(wakers), key=lambda row: tuple((value is not None, value) for value in row)), "wait_use: the wakers")


def compare_history(db):
    columns = "alloc_count", "alloc_bytes", "free_count", "free_bytes"
    want = db.execute("SELECT run_id, signature, max(traces.id), " + ", ".join(f"sum({column})" for column in columns) + " FROM sites"
                      " JOIN profiles ON profiles.id = profile_id JOIN traces ON traces.id = trace_id GROUP BY 1, 2 ORDER BY 1, 2").fetchall()
    got = db.execute(f"SELECT run_id, signature, trace_id, {', '.join(columns)} FROM site_history ORDER BY 1, 2").fetchall()
    check(want and got == want, f"site_history: {set(got) ^ set(want)}")


CHANGES = (
    "DELETE FROM sites WHERE profile_id % 2 = 0 AND trace_id < 5",
    "UPDATE sites SET alloc_count = alloc_count + 7, alloc_bytes = alloc_bytes + 1000 WHERE trace_id = 7",
    "INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count) SELECT min(id), 12, 1, 5 FROM profiles WHERE kind = 'heap'"
    " AND process_id IS NOT NULL AND id NOT IN (SELECT profile_id FROM sites WHERE trace_id = 12) GROUP BY process_id",
    "UPDATE locks SET wait_ns = wait_ns + 5, first_trace_id = 3 WHERE address = 16",
    "DELETE FROM profiles WHERE id IN (SELECT max(id) FROM profiles WHERE process_id IS NOT NULL GROUP BY process_id, kind)",
    "UPDATE profiles SET process_id = NULL WHERE run_id = 3",
    "DELETE FROM runs WHERE id = 2",
)


def compare_all(db):
    for view in USES:
        compare(db, view)
        compare(db, view, "id = 3", "of run 3")
        compare(db, view, "label IN ('l4', 'l5')", "of two labels")
    compare_texts(db)
    compare_history(db)


def compare_changed(db):
    db.execute("PRAGMA foreign_keys = ON") # the rows of what is deleted go too
    for change in CHANGES:
        before = db.total_changes
        db.execute(change)
        check(db.total_changes > before, f"nothing changed: {change}")
        seal(db)
        for view in USES:
            compare(db, view, what=f"after {change}")
        compare_history(db)


def compare_doctor(db):
    """The doctor is its sections, and the newest run comes first in it, with what was not recorded before all else."""
    columns = "run_id, section, code, severity, subject, evidence, trace_ids, advice"
    rows = db.execute(f"SELECT {columns} FROM doctor").fetchall()
    check({row[1] for row in rows} >= {"saturation", "heap", "lock", "thread", "wait", "channel", "cell", "fibers", "hardware"},
          f"sections: {sorted({row[1] for row in rows})}")
    parts = [row for view in DOCTORS for row in db.execute(f"SELECT {columns} FROM {view}")]
    check(sorted(rows, key=repr) == sorted(parts, key=repr), f"doctor: {set(rows) ^ set(parts)}")
    severity = ("critical", "warning", "note", "ok")
    order = [(-row[0], row[1] != "saturation", severity.index(row[3])) for row in rows]
    check(order == sorted(order), "doctor: the order")
    for row in rows:
        json.loads(row[5]), json.loads(row[6])
    warnings = {row[4] for row in rows if row[2] == "warning"}
    check(warnings == {"WARNING: " + NAME.format(run) for run, in db.execute("SELECT id FROM runs")}, f"doctor: warnings {warnings}")


# ---- a condition reaches the rows ----

DOCTORS = tuple("doctor_" + section for section in ("saturation", "heap", "lock", "thread", "io", "wait", "channel", "cell", "fibers", "freeze",
                                                    "sharing", "hardware", "polling", "map", "spin", "queue", "line", "call", "memory"))

FORMS = ("SELECT {what} FROM {view} WHERE run_id = 1999",
         "SELECT {what} FROM {view} WHERE run_id = :run",
         "SELECT {what} FROM {view} WHERE run_id = (SELECT max(id) FROM runs)",
         "SELECT {what} FROM {view} WHERE run_id IN (SELECT id FROM runs WHERE label = 'l1999')",
         "SELECT {what} FROM {view} JOIN runs ON runs.id = {view}.run_id WHERE runs.label = 'l1999'",
         "SELECT {what} FROM runs JOIN {view} ON {view}.run_id = runs.id WHERE runs.label = 'l1999'",
         "SELECT {what} FROM tags JOIN {view} ON {view}.run_id = tags.run_id WHERE tags.key = 'commit' AND tags.value = 'c1999'")


def steps(db, sql):
    """The rows of a query, and how many hundreds of instructions SQLite's machine took for it."""
    count = [0]

    def tick():
        count[0] += 1
    db.set_progress_handler(tick, 100)
    rows = db.execute(sql, {"run": 1999} if ":run" in sql else {}).fetchall()
    db.set_progress_handler(None, 0)
    return rows, count[0]


def reaches(few, many, view):
    for form in FORMS:
        for what in f"{view}.*", "count(*)":
            sql = form.format(view=view, what=what)
            (rows, small), (same, large) = steps(few, sql), steps(many, sql)
            check(sorted(rows) == sorted(same), f"other rows in a file with more runs: {sql}")
            check(rows and rows != [(0,)] or view in ("doctor_io", "doctor_freeze", "doctor_sharing", "doctor_map", "doctor_spin", "doctor_queue", "doctor_line", "doctor_call", "doctor_memory"), f"no row: {sql}")
            check(large <= small * 1.5 + 20, f"{sql}: {small} hundred steps in a file with {FEW} runs, {large} in one with {MANY}")


def main():
    few, many = warehouse("few.db", FEW), warehouse("many.db", MANY)
    compare_all(few)
    compare_doctor(few)
    compare_changed(warehouse("changed.db", FEW))
    older = older_warehouse("older.db", FEW)
    for view in USES:
        compare(older, view, what="of a file of version 3", least=0)
        check(older.execute(f"SELECT count(*) FROM {view}").fetchone()[0] > 0 or USES[view][0] in NEW_TABLES, f"{view}: version 3 has no row")
    compare_history(older)
    for view in [*USES, "site_history", "hardware", "doctor", *DOCTORS]:
        reaches(few, many, view)


if __name__ == "__main__":
    main()
