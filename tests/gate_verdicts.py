"""Verdicts of clear gate on seeded warehouses against tests/gate_seed.py."""

import json
import os
import random
import sys

from gate_seed import Warehouse, expected, gate, overall, welch

STATUS = {"pass": 0, "fail": 3, "undecided": 4}


def rules_of(rows):
    lines = ["gates:"]
    for row in rows:
        figure = "cpu_ns" if row["timed"] else "alloc_count"
        limit = f"{row['limit']}ns" if row["timed"] else row["limit"]
        lines.append(f"  {row['name']}: {{figure: {figure}, subject: 'function {row['name']}', direction: {row['direction']}, "
                     f"limit_percent: {row['limit_percent']}, limit: {limit}, runs: {row['runs']}, action: {row['action']}}}")
    return "\n".join(lines) + "\n"


def random_rows(rng, n_old, n_new):
    rows = []
    for i in range(rng.randint(3, 12)):
        timed = rng.random() < 0.6
        base = rng.choice([40, 1000, 10**6]) if not timed else rng.choice([10**7, 10**9])
        noise = rng.choice([0, 0.005, 0.02, 0.1]) if timed or rng.random() < 0.3 else 0
        step = rng.choice([0, 0, 0, 0.01, 0.05, 0.3, -0.1])
        rows.append({
            "name": f"f{i}", "timed": timed, "direction": rng.choice(["up", "up", "down", "both"]),
            "limit_percent": rng.choice([0, 1, 5, 10]), "limit": rng.choice([0, 0, 2, base // 50]),
            "runs": rng.choice([5, 6] if timed else [1, 1, 3]), "action": rng.choice(["fail", "fail", "warn"]),
            "old": [max(0, round(rng.gauss(base, base * noise))) for _ in range(n_old)],
            "new": [max(0, round(rng.gauss(base * (1 + step), base * noise))) for _ in range(n_new)]})
    return rows


def make(path, rows, n_old, n_new):
    warehouse = Warehouse(path)
    for side, count in (("old", n_old), ("new", n_new)):
        for i in range(count):
            warehouse.add_run(cpu={row["name"]: row[side][i] for row in rows if row["timed"]},
                              allocations={row["name"]: (row[side][i], row[side][i] * 16) for row in rows if not row["timed"]},
                              tags={"side": side})
    warehouse.done()


def check_against_python(seed, thresholds=None):
    """thresholds: gate_false_percent and gate_doubt_percent, or the defaults."""
    rng = random.Random(seed)
    n_old, n_new = rng.choice([(1, 1), (5, 1), (1, 5), (5, 5), (8, 6), (3, 3)])
    rows = random_rows(rng, n_old, n_new)
    make("v.db", rows, n_old, n_new)
    expected(rows, *(thresholds or ()))
    config = rules_of(rows)
    if thresholds:
        config += f"thresholds: {{gate_false_percent: {thresholds[0]}, gate_doubt_percent: {thresholds[1]}}}\n"
    status, out, _ = gate("tag:side=new", "--base", "tag:side=old", "--db", "v.db", "--json", config=config)
    answer = json.loads(out)
    assert answer["verdict"] == overall(rows), (seed, answer["verdict"], overall(rows))
    assert status == STATUS[overall(rows)], (seed, status)
    got = {row["rule"]: row for row in answer["rows"]}
    assert len(got) == len(answer["rows"]) == len(rows), seed
    for row in rows:
        said = got[row["name"]]
        assert said["verdict"] == row["verdict"], (seed, row, said)
        assert (said["old"]["n"], said["new"]["n"]) == (n_old, n_new), (seed, said)
        if row["p"] is not None:
            assert abs(said["p"] - row["p"]) <= 1e-6 + 1e-4 * row["p"], (seed, row["p"], said)
    return [row["verdict"] for row in rows]


def no_change(gates, series, noise):
    """Gates of runs that differ by chance alone: (rows that alert, rows that a plain t test at 95 % would report)."""
    rng, alerts, plain = random.Random(16), 0, 0
    for _ in range(gates):
        warehouse = Warehouse("n.db")
        values = []
        for side in ("old", "new"):
            for _ in range(8):
                cpu = {f"f{i}": round(rng.gauss(1e8, noise * 1e8)) for i in range(series)}
                values.append(cpu)
                warehouse.add_run(cpu=cpu, tags={"side": side})
        warehouse.done()
        _, out, _ = gate("tag:side=new", "--base", "tag:side=old", "--db", "n.db", "--json",
                         config="gates:\n  cpu: {figure: cpu_ns, subject: 'function *'}\n")
        rows = json.loads(out)["rows"]
        assert len(rows) == series, len(rows)
        alerts += sum(row["verdict"] != "pass" for row in rows)
        for i in range(series):
            old, new = ([run[f"f{i}"] for run in runs] for runs in (values[:8], values[8:]))
            plain += welch(old, new) < 0.05
    return alerts, plain


def step_found(tries, noise, step):
    """Of how many gates a step is found in one of 20 series, with eight runs a side and no floor."""
    rng, found = random.Random(5), 0
    for _ in range(tries):
        warehouse = Warehouse("s.db")
        for side in ("old", "new"):
            for _ in range(8):
                means = {f"f{i}": 1e8 * (1 + step * (side == "new" and i == 7)) for i in range(20)}
                warehouse.add_run(cpu={name: round(rng.gauss(mean, noise * mean)) for name, mean in means.items()}, tags={"side": side})
        warehouse.done()
        status, out, _ = gate("tag:side=new", "--base", "tag:side=old", "--db", "s.db", "--json",
                              config="gates:\n  cpu: {figure: cpu_ns, subject: 'function *'}\n")
        failing = [row["subject"] for row in json.loads(out)["rows"] if row["verdict"] == "fail"]
        found += status == 3 and "function f7" in failing
    return found


def main():
    is_whole = os.environ.get("VERDICTS") == "whole"
    seen = []
    for seed in range(60 if is_whole else 12):
        seen += check_against_python(seed)
    for seed in range(60, 75 if is_whole else 64):
        seen += check_against_python(seed, (20, 60))
    counts = {word: seen.count(word) for word in ("pass", "fail", "undecided", "warn")}
    assert all(count >= (10 if is_whole else 3) for count in counts.values()), counts
    print("rows as Python says:", counts)
    gates = 20 if is_whole else 1
    alerts, plain = no_change(gates, 50, 0.02)
    print(f"{gates} gates without a change, 50 series each: {alerts} alerts; a plain t test at 95 %: {plain}")
    assert alerts <= gates // 20 and plain >= gates, (alerts, plain)
    found = step_found(gates, 0.02, 0.1)
    print(f"a step of 10 % at 2 % noise, 8 runs a side, 20 series: found in {found} of {gates}")
    assert found >= gates * 19 // 20 and found > 0, found


main()
sys.exit(0)
