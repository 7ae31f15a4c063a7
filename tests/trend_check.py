"""trend_check.py DB: compares what clear trend printed with how tests/trend_warehouse.py made it, and every value with the view series."""

import csv
import json
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])


def wrong(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, not {want!r}")


def series_of(name):
    return json.load(open(name))


def check_values(name, figure=None):
    """Every value is that of the view; a subject that the view lacks is 0."""
    trend = series_of(name)
    for series in trend["series"]:
        for run, value in zip(trend["runs"], series["values"]):
            want, = db.execute("SELECT sum(value) FROM series WHERE run_id = ? AND figure = ? AND subject = ?",
                               (run["run_id"], series["figure"], series["subject"])).fetchone()
            if series["subject"] and want is None:
                want = 0
            wrong(f"{name}: {series['figure']} {series['subject']} of run {run['run_id']}", value, want)
    return trend


def changes(trend, figure, subject=""):
    found, = [series["changes"] for series in trend["series"] if series["figure"] == figure and series["subject"] == subject]
    return found


trend = check_values("all.json")
wrong("runs", [run["run_id"] for run in trend["runs"]], list(range(1, 61)))
wrong("commits", [run["commit"] for run in trend["runs"]], [f"{run - 1:010x}{'f' * 30}" for run in range(1, 61)])
wrong("runs without an end", trend["unfinished"], 2)
wrong("figures that changed", sorted(series["figure"] for series in trend["series"] if series["changes"]),
      ["alloc_count", "cpu_ns", "inuse_bytes", "inuse_count", "lock_wait_ns"])
change, = changes(trend, "alloc_count")
wrong("the change of alloc_count", [change[key] for key in ("run_id", "first_run_id", "last_run_id", "before", "after", "percent", "exact", "p", "accepted")],
      [31, 31, 31, 10000, 10100, 1, True, 0, None])
wrong("its commits", [change["commit_before"][:10], change["commit_after"][:10]], ["000000001d", "000000001e"])
change, = changes(trend, "inuse_bytes")
wrong("the change of inuse_bytes", [change["run_id"], change["before"], change["after"], change["percent"]], [55, 0, 5000, None])
change, = changes(trend, "cpu_ns")
if not (change["first_run_id"] <= 41 <= change["last_run_id"] and abs(change["percent"] - 10) < 2 and 0 < change["p"] < 1e-4 and not change["exact"]):
    sys.exit(f"the change of cpu_ns: {change}")
wrong("the commits around it", [int(change["commit_before"][:10], 16) + 1 < 41, int(change["commit_after"][:10], 16) + 1 >= 41], [True, True])
up, down = changes(trend, "lock_wait_ns")
wrong("waits", [up["run_id"], down["run_id"]], [21, 41])

functions = check_values("functions.json")
# parse and its copy parse.isra.0 are one function; the largest stands first.
wrong("functions", [series["subject"] for series in functions["series"]],
      ["function load", "function parse", "function odd \"name\"\nwith a line end"])
wrong("the change of parse", [(c["run_id"], c["before"], c["after"]) for c in changes(functions, "alloc_bytes", "function parse")], [(31, 900000, 910000)])
wrong("what varies", changes(functions, "alloc_bytes", "function load"), [])
wrong("what is new", [(c["run_id"], c["before"]) for c in changes(functions, "alloc_bytes", "function odd \"name\"\nwith a line end")], [(55, 0)])
everything = check_values("everything.json")
wrong("scopes", {series["subject"].split(" ")[0] for series in everything["series"]}, {"function", "site"})

locks = check_values("locks.json")
wrong("locks that changed", [[c["run_id"] for c in changes(locks, "lock_wait_ns", "lock " + name)] for name in ("pool:lock", "cache:lock")], [[21, 41], []])
findings = check_values("findings.json")
wrong("finished runs of last=42", len(findings["runs"]), 40)
rows = db.execute("SELECT run_id, count(*) FROM series WHERE figure = 'findings' AND subject GLOB 'finding *leak*' AND run_id BETWEEN 21 AND 60 GROUP BY 1").fetchall()
wrong("findings", [sum(values) for values in zip(*(series["values"] for series in findings["series"]))],
      [dict(rows).get(run["run_id"], 0) for run in findings["runs"]]) if findings["series"] else wrong("findings", rows, [])

points = list(csv.DictReader(open("cpu.csv", newline="")))
wrong("CSV", [(int(row["run_id"]), int(row["value"])) for row in points],
      db.execute("SELECT run_id, value FROM series WHERE figure = 'cpu_ns' AND scope = 'run' AND run_id BETWEEN 49 AND 60 ORDER BY 1").fetchall())
wrong("columns", list(points[0]), ["run_id", "uuid", "started_ns", "commit_id", "figure", "subject", "value", "change_percent", "accepted"])
wrong("other runs first", [run["run_id"] for run in series_of("everyone.json")["runs"]][:4], [101, 102, 103, 1])
