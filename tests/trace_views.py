"""Holds the views over events against sums made of the rows here: trace_views.py DB."""
import collections
import math
import sqlite3
import sys

WAITS = {"mutex", "rwlock", "read", "spin", "own", "cond", "sem", "barrier", "join", "futex", "channel"}
CLASSES = {**{kind: "wait" for kind in WAITS}, "sleep": "sleep", "syscall": "io"}

db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
events = db.execute("SELECT * FROM events").fetchall()
started, = db.execute("SELECT started_ns FROM runs").fetchone()
process = db.execute("SELECT * FROM processes").fetchone()


def check_off_cpu():
    wanted = collections.Counter()
    for event in events:
        if event["kind"] in CLASSES:
            wanted[event["tid"], event["kind"], event["object_id"], event["trace_id"]] += event["duration_ns"]
    got = {(row["tid"], row["kind"], row["object_id"], row["trace_id"]): row["time_ns"] for row in db.execute("SELECT * FROM off_cpu WHERE run_id = 1")}
    assert got == wanted, (got, wanted)
    assert all(CLASSES[row["kind"]] == row["class"] for row in db.execute("SELECT kind, class FROM off_cpu"))
    # The sums of a process are made once: nothing stands before it in the plan.
    assert "processes" in db.execute("EXPLAIN QUERY PLAN SELECT * FROM off_cpu").fetchone()["detail"]


def check_threads():
    for row in db.execute("SELECT * FROM thread_times WHERE run_id = 1"):
        mine = [event for event in events if event["tid"] == row["tid"]]
        times = collections.Counter()
        for event in mine:
            times[CLASSES.get(event["kind"])] += event["duration_ns"]
        first, last = min(e["start_ns"] for e in mine), max(e["start_ns"] + e["duration_ns"] for e in mine)
        assert (row["first_ns"], row["last_ns"], row["events"]) == (first, last, len(mine)), dict(row)
        assert (row["wait_ns"], row["sleep_ns"], row["io_ns"]) == (times["wait"], times["sleep"], times["io"]), dict(row)
        assert row["other_ns"] == last - first - times["wait"] - times["sleep"] - times["io"], dict(row)
        assert row["releases"] == sum(event["kind"] == "release" for event in mine), dict(row)
    assert db.execute("SELECT count(*) FROM thread_times").fetchone()[0] == len({event["tid"] for event in events})


def check_regions():
    rows = {row["region"]: row for row in db.execute("SELECT * FROM region_latency WHERE run_id = 1")}
    assert set(rows) == {"parse", "request"}, rows.keys()
    times = sorted(17 * i + 1 for i in range(1000))  # as the test made them
    row = rows["parse"]
    assert (row["count"], row["time_ns"], row["min_ns"], row["max_ns"]) == (1000, sum(times), 1, 16984), dict(row)
    for name, share in (("p50_ns", 50), ("p90_ns", 90), ("p99_ns", 99), ("p999_ns", 99.9)):
        assert row[name] == times[math.ceil(share * 10) - 1], (name, dict(row))
    assert db.execute("SELECT duration_ns FROM events WHERE id = ?", (row["slowest_id"],)).fetchone()[0] == 16984
    only = rows["request"]
    assert only["p50_ns"] == only["p999_ns"] == only["max_ns"] == only["min_ns"], dict(only)


def walk(tid, begin, end):
    """From the end back: [what, tid, start, end]"""
    steps, at = [], end
    while at > begin:
        waits = [event for event in events if event["tid"] == tid and event["kind"] in WAITS and event["start_ns"] < at]
        if not waits:
            return steps + [["ran", tid, begin, at]]
        wait = max(waits, key=lambda event: event["start_ns"])
        over = min(at, wait["start_ns"] + wait["duration_ns"])
        steps.append(["ran", tid, max(begin, over), at])
        if over <= begin:
            break
        releases = [event for event in events
                    if (event["kind"] == "death" and event["tid"] == wait["owner_tid"] if wait["kind"] == "join" else event["kind"] == "release" and event["address"] == wait["address"])
                    and wait["start_ns"] <= event["start_ns"] <= wait["start_ns"] + wait["duration_ns"] and not wait["is_late"]]
        if releases:
            release = max(releases, key=lambda event: event["start_ns"])
            steps.append(["woke", tid, max(begin, release["start_ns"]), over])
            tid, at = release["tid"], release["start_ns"]
        else:
            steps.append(["waited", tid, max(begin, wait["start_ns"]), over])
            at = wait["start_ns"]
    return steps


def check_path(region, tid, begin, end):
    rows = db.execute("SELECT * FROM critical_path WHERE run_id = 1 AND region_id IS ? ORDER BY step", (region,)).fetchall()
    got = [[row["what"], row["tid"], row["start_ns"], row["start_ns"] + row["duration_ns"]] for row in rows]
    assert got == walk(tid, begin, end), (got, walk(tid, begin, end))
    assert sum(row["duration_ns"] for row in rows) == end - begin
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))
    return rows


def check_paths():
    check_path(None, process["pid"], process["started_ns"] - started, process["ended_ns"] - started)
    for region in db.execute("SELECT events.* FROM events JOIN objects ON objects.id = object_id WHERE objects.name = 'request'").fetchall():
        rows = check_path(region["id"], region["tid"], region["start_ns"], region["start_ns"] + region["duration_ns"])
        # The program's own books: gamma waited for beta, which waited for alpha, who let go of `first` in hold_first.
        assert [row["thread"] for row in rows if row["what"] == "woke"] == ["gamma", "beta"], [tuple(row) for row in rows]
        assert rows[-1]["thread"] == "alpha"
        place, = db.execute("SELECT function FROM places WHERE trace_id = ?", (rows[-1]["trace_id"],)).fetchone()
        assert place == "hold_first", place


check_off_cpu()
check_threads()
check_regions()
check_paths()
