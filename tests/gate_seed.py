"""A warehouse whose figures are chosen, made with Python's sqlite3 alone, and what a gate must say of them, worked out without any
code of clear: Welch's and Student's test with the density of Student's t integrated here, and the steps of Benjamini and Hochberg."""

import math
import os
import sqlite3
import statistics
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLEAR = os.environ.get("CLEAR", os.path.join(ROOT, "clear"))


class Warehouse:
    """add_run() gives a run its CPU time and allocations by function; done() closes the file and lets clear make its views."""

    def __init__(self, path):
        self.path = path
        if os.path.exists(path):
            os.remove(path)
        self.db = sqlite3.connect(path)
        self.db.executescript("PRAGMA synchronous = OFF; BEGIN;")
        with open(os.path.join(ROOT, "schema/tables.sql"), encoding="utf-8") as tables:
            self.db.executescript(tables.read())
        self.functions, self.runs, self.profiles = {}, 0, 0

    def trace(self, function, file="/src/app.c", line=0):
        """The id of a stack of that one function."""
        if function not in self.functions:
            number = len(self.functions) + 1
            self.functions[function] = number
            self.db.execute("INSERT INTO functions(id, name, filename, start_line) VALUES (?, ?, ?, ?)", (number, function, file, line or number))
            self.db.execute("INSERT INTO locations(id, mapping_id, address) VALUES (?, 0, ?)", (number, number * 16))
            self.db.execute("INSERT INTO location_lines VALUES (?, 0, ?, ?, 0)", (number, number, line or number))
            self.db.execute("INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?, ?)", (number, number, number, f"[{number}]", number, number, line or number))
        return self.functions[function]

    def profile(self, run, kind, dropped=0):
        self.profiles += 1
        self.db.execute("INSERT INTO profiles(id, run_id, kind, period, dropped) VALUES (?, ?, ?, 1, ?)", (self.profiles, run, kind, dropped))
        return self.profiles

    def add_run(self, cpu=None, allocations=None, tags=None, status=0, signal=None, flags="", dropped=0, label=None, independent=None):
        """cpu: ns by function, and how many independent samples that is; allocations: (blocks, bytes) by function. The id of the run."""
        self.runs += 1
        run = self.runs
        self.db.execute(
            "INSERT INTO runs(id, uuid, command, label, started_ns, duration_ns, exit_status, exit_signal, source, flags) VALUES (?, ?, './app', ?, ?, 5, ?, ?, 'profile', ?)",
            (run, f"{run:08d}-0000-4000-8000-000000000000", label, 1700000000000000000 + run * 10**9, None if signal else status, signal, flags))
        self.db.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(run, key, value) for key, value in (tags or {}).items()])
        if cpu is not None:
            profile = self.profile(run, "cpu")
            for function, ns in cpu.items():
                self.db.execute("INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (?, ?, 1, ?)", (profile, self.trace(function), ns))
            if independent is not None:
                self.db.execute("INSERT INTO counters(profile_id, name, value, unit) VALUES (?, 'recorder.cpu_effective_samples', ?, 'count')", (profile, independent))
        if allocations is not None:
            profile = self.profile(run, "heap", dropped)
            for function, (blocks, size) in allocations.items():
                self.db.execute("INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES (?, ?, 0, ?, ?, ?, ?)",
                                (profile, self.trace(function), blocks, size, blocks, size))
        return run

    def done(self):
        self.db.commit()
        self.db.close()
        subprocess.run([CLEAR, "runs", "--db", self.path], check=True, stdout=subprocess.DEVNULL)


def gate(*arguments, config=None, check=None):
    """Runs clear gate; (status, output, errors)."""
    environment = {**os.environ, "HOME": "/nonexistent", "XDG_CONFIG_HOME": ""}
    words = [CLEAR, "gate", *arguments]
    if config is not None:
        with open("gate.yaml", "w", encoding="utf-8") as out:
            out.write(config)
        words += ["--config", "gate.yaml"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False)
    out, errors = done.stdout.decode(), done.stderr.decode()
    assert check is None or done.returncode == check, (words, done.returncode, out, errors)
    return done.returncode, out, errors


# ---- what must come out ----

def p_of(t, df):
    """Two-sided, by Simpson's rule over x = tan(u)."""
    if math.isinf(t):
        return 0.0
    norm = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    low, high, n = math.atan(abs(t)), math.pi / 2 - 1e-12, 4000
    h = (high - low) / n

    def density(u):
        return norm * (1 + math.tan(u) ** 2 / df) ** (-(df + 1) / 2) / math.cos(u) ** 2
    return 2 * h / 3 * (density(low) + density(high) + sum((4 if i % 2 else 2) * density(low + i * h) for i in range(1, n)))


def welch(old, new):
    """p; None where no test is possible or nothing varies."""
    n1, n2 = len(old), len(new)
    if not n1 or not n2 or n1 + n2 == 2:
        return None
    s1 = statistics.variance(old) if n1 > 1 else None
    s2 = statistics.variance(new) if n2 > 1 else None
    if not s1 and not s2:
        return None
    if n1 > 1 and n2 > 1:
        e1, e2 = s1 / n1, s2 / n2
        df = (e1 + e2) ** 2 / (e1 ** 2 / (n1 - 1) + e2 ** 2 / (n2 - 1))
        error = math.sqrt(e1 + e2)
    else:
        error, df = math.sqrt((s1 or s2) * (1 / n1 + 1 / n2)), n1 + n2 - 2
    difference = statistics.mean(new) - statistics.mean(old)
    return 1.0 if difference == 0 else p_of(difference / error, df)


def pooled(old, new):
    """p of Student's test of the logarithms, with one deviation for both sides, as a time with few runs on a side is judged."""
    if not old or not new or len(old) + len(new) == 2 or (len(set(old)) == 1 and len(set(new)) == 1):
        return welch(old, new)
    if statistics.mean(old) == statistics.mean(new):
        return 1.0
    old, new = ([math.log(value) for value in side] if min(*old, *new) > 0 else side for side in (old, new))
    df = len(old) + len(new) - 2
    squares = sum((value - statistics.mean(side)) ** 2 for side in (old, new) for value in side)
    return p_of((statistics.mean(new) - statistics.mean(old)) / math.sqrt(squares / df * (1 / len(old) + 1 / len(new))), df)


def many_times(row, old, new):
    """Is the CPU time of a function twice as much and more, by 100 ms, and not by the chance of samples each 10 ms?"""
    change = abs(new - old)
    return row["timed"] and change >= max(min(old, new), 1e8) and change ** 2 >= 16 * 1e7 * (old + new)


def largest_below(ps, rate):
    """Benjamini and Hochberg: the largest p that is at most rate * rank / count; -1: none."""
    ps = sorted(ps)
    return max([p for i, p in enumerate(ps) if p <= rate * (i + 1) / len(ps)], default=-1)


def expected(rows, many=(0.2, 1), few=(1, 5)):
    """rows: dicts with old, new, direction, limit_percent, limit, runs, timed, action; many and few: percent that may fail by chance, and
    percent up to which there is doubt. Sets few, p and verdict."""
    for row in rows:
        row["few"] = row["timed"] and min(len(row["old"]), len(row["new"])) < 5
        row["p"] = (pooled if row["few"] else welch)(row["old"], row["new"])
    limits = {}
    for is_few, rates in ((False, many), (True, few)):
        tested = [row["p"] for row in rows if row["p"] is not None and row["few"] == is_few]
        limits[is_few] = [largest_below(tested, rate / 100) for rate in rates]
    for row in rows:
        sure, doubt = limits[row["few"]]
        old, new = statistics.mean(row["old"]), statistics.mean(row["new"])
        worse = {"up": new - old, "down": old - new, "both": abs(new - old)}[row["direction"]]
        over = worse > 0 and worse > row["limit"] and worse > row["limit_percent"] / 100 * abs(old)
        counts = [len(row["old"]), len(row["new"])]
        enough = min(counts) >= row["runs"] and (not row["timed"] or sum(counts) >= 6)
        fails = "warn" if row["action"] == "warn" else "fail"
        if not over:
            row["verdict"] = "pass"
        elif enough and (row["p"] is None or row["p"] <= sure):
            row["verdict"] = fails
        elif enough and row["p"] > doubt:
            row["verdict"] = "pass"
        else:
            row["verdict"] = fails if many_times(row, old, new) else "undecided"


def overall(rows):
    said = [row["verdict"] for row in rows if row["action"] == "fail"]
    return "fail" if "fail" in said else "undecided" if "undecided" in said else "pass"
