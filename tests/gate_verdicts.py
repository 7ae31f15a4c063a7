"""Verdicts of clear gate on seeded warehouses against tests/gate_seed.py."""

import json
import math
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
        step = rng.choice([0, 0, 0, 0.01, 0.05, 0.3, -0.1, 0.2, 1.5, -0.6])
        rows.append({
            "name": f"f{i}", "timed": timed, "direction": rng.choice(["up", "up", "down", "both"]),
            "limit_percent": rng.choice([0, 1, 5, 10]), "limit": rng.choice([0, 0, 2, base // 50]),
            "runs": rng.choice([1, 1, 3, 6] if timed else [1, 1, 3]), "action": rng.choice(["fail", "fail", "warn"]),
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
    """thresholds: gate_false_percent and gate_doubt_percent, and so of times with few runs, or the defaults."""
    rng = random.Random(seed)
    n_old, n_new = rng.choice([(1, 1), (5, 1), (1, 5), (5, 5), (8, 6), (3, 3), (20, 1), (20, 3), (2, 2)])
    rows = random_rows(rng, n_old, n_new)
    make("v.db", rows, n_old, n_new)
    expected(rows, *((thresholds, thresholds) if thresholds else ()))
    config = rules_of(rows)
    if thresholds:
        config += "thresholds: {" + ", ".join(f"gate_{kind}false_percent: {thresholds[0]}, gate_{kind}doubt_percent: {thresholds[1]}"
                                              for kind in ("", "few_")).replace("few_false", "few") + "}\n"
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


def says(old, new, config="queries: {}\n", each=None):
    """(verdict, status, why) of clear's own rule `cpu`, of runs of so many ms; each: how many of them an independent sample stands for."""
    warehouse = Warehouse("o.db")
    for side, values in (("old", old), ("new", new)):
        for value in values:
            warehouse.add_run(cpu={"work": round(value * 1e6)}, tags={"side": side}, independent=each and value / each)
    warehouse.done()
    status, out, _ = gate("tag:side=new", "--base", "tag:side=old", "--db", "o.db", "--json", config=config)
    row, = (row for row in json.loads(out)["rows"] if row["figure"] == "cpu_ns")
    return row["verdict"], status, row["why"] or ""


def spread(mean, percent, count):
    """Values about the mean, the same each time, with that standard deviation of their logarithms."""
    steps = [(2 * i - count + 1) / count for i in range(count)] # of a uniform distribution, whose deviation is 1 / sqrt(3)
    return [mean * math.exp(percent / 100 * math.sqrt(3) * step) for step in steps]


def own_rules():
    """What clear's own rules say of CPU time: one run against a history, few runs on both sides, and no history at all."""
    history, noisy, wild = spread(1000, 3, 20), spread(1000, 6, 20), spread(1000, 60, 20)
    cases = [
        # one run against 20: the noise of the history decides, above 10 %
        (history, [1200], "fail", ""), (history, [1050], "pass", ""), (history, [1095], "pass", ""), (history, [800], "pass", ""),
        (noisy, [1250], "fail", ""), (noisy, [1120], "pass", "within the noise (p 0.088): 3 runs like the new ones would decide it"),
        (noisy, [1160], "undecided", ": 2 runs like the new ones would decide it"), (noisy, [1160] * 2, "fail", ""),
        # five of them are the least; or three a side
        (spread(1000, 2, 5), [1200], "fail", ""), (spread(1000, 2, 3), spread(1200, 2, 3), "fail", ""),
        (spread(1000, 2, 4), [1200], "undecided", "4 and 1 runs do not tell how much it varies: 3 runs a side would, or 5 of the base and 1"),
        # no history: twice as much and 100 ms more are no noise
        ([1000], [1230], "undecided", "3 runs a side would"), ([1000], [1050], "pass", ""), ([1000], [1999], "undecided", "3 runs a side would"),
        ([1000], [2000], "fail", "2 times as much: too much for the noise of single runs"), ([1000], [23000], "fail", "23 times as much"),
        ([50], [149], "undecided", "3 runs a side would"), ([50], [150], "fail", "3 times as much"), ([3], [103], "fail", "34.3 times as much"),
        ([23000], [1000], "pass", ""), ([1000, 1300], [2400], "fail", "times as much"),
        # twice as much is never undecided: not in doubt, and where the history does it by itself it is noise
        (wild, [4000], "fail", "times as much"), (wild, [2100], "pass", "within the noise"),
    ]
    for old, new, verdict, why in cases:
        said = says(old, new)
        assert said[:2] == (verdict, STATUS[verdict]) and why in said[2], (old, new, verdict, why, said)
    # A rule of a user that asks for more runs has them; waits and better are no failure of one run; less of what shall be more is one.
    runs = "gates:\n  cpu: {figure: cpu_ns, limit_percent: 10, runs: 3}\n"
    assert says(history, [1200], runs) == ("undecided", 4, "needs 3 runs a side, has 20 and 1")
    assert says([23000], [1000], "gates:\n  cpu: {figure: cpu_ns, direction: down}\n") == ("fail", 3, "23 times as little: too much for the noise of single runs")
    # The time of a function is known from samples, each of 10 ms where nobody says it: 15 of them after 5 may be chance, 150 after 50 are not.
    function = "gates:\n  cpu: {figure: cpu_ns, subject: 'function work'}\n"
    assert says([50], [150], function)[0] == "undecided" and says([500], [1500], function)[0] == "fail"
    # The recorder says how many independent ones there are: five of 100 ms each.
    assert says([500], [1500], function, 100)[0] == "undecided" and says([500], [1500], "queries: {}\n", 100)[0] == "fail"
    print(f"{len(cases)} cases of clear's own rule cpu are as they should be")


def main():
    own_rules()
    is_whole = os.environ.get("VERDICTS") == "whole"
    seen = []
    for seed in range(60 if is_whole else 16):
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
