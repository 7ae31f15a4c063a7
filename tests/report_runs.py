#!/usr/bin/env python3
"""report_runs.py CLEAR PPROF DIRECTORY: reports that tell runs apart, against what go tool pprof says of each run's own file and Python's
statistics make of that: --over-runs, --by-tag over tags of runs and labels of samples, and runs mixed with files. Made-up runs: functions
come and go, two runs share a commit, one has none, and they are ingested in another order than they were taken."""
import collections
import gzip
import json
import os
import random
import re
import statistics
import subprocess
import sys

import older_pprof
from wire import block, number, varint

CLEAR, PPROF, DIRECTORY = sys.argv[1:4]
PLAIN = os.environ.get("PLAIN_CLEAR", CLEAR)  # for what the test only sets up; of the reports CLEAR makes every third
DB = os.path.join(DIRECTORY, "runs.db")
MINUTE = 60 * 10**9
USERS = ["ann", "bob", "cid", "dora", "eve"]
failures = checks = reports = 0


def write_profile(path, samples, time_ns):
    """samples: (functions leaf first, values, user or None, size). A function calls from two lines: f from 10 and 11."""
    texts, out, functions = {"": 0}, bytearray(), {}

    def text(value):
        return texts.setdefault(value, len(texts))

    for kind, unit in (("objects", "count"), ("space", "bytes")):
        out += block(1, number(1, text(kind)) + number(2, text(unit)))
    for stack, values, user, size in samples:
        ids = []
        for name, line in stack:
            function = functions.setdefault(name, len(functions) + 1)
            ids.append(function * 2 + line)
        labels = block(3, number(1, text("size")) + number(3, size) + number(4, text("bytes")))
        if user:
            labels += block(3, number(1, text("user")) + number(2, text(user)))
        out += block(2, block(1, b"".join(map(varint, ids))) + block(2, b"".join(map(varint, values))) + labels)
    out += block(3, number(1, 1) + number(2, 0x400000) + number(3, 0x500000) + number(5, text("/bin/made")) + number(7, 1))
    for name, function in functions.items():
        for line in (0, 1):
            out += block(4, number(1, function * 2 + line) + number(2, 1) + number(3, 0x400000 + int(name[1:]) * 64 + line)
                         + block(4, number(1, function) + number(2, 10 + line)))
        out += block(5, number(1, function) + number(2, text(name)) + number(3, text(name)) + number(4, text("/src/" + name + ".c")))
    for value in texts:
        out += block(6, value.encode())
    out += number(9, time_ns) + number(10, MINUTE)
    with open(path, "wb") as file:
        file.write(gzip.compress(bytes(out), mtime=0))


def make_runs():
    """[(file, commit or None)] in the order of their times."""
    program = random.Random(7)
    stacks = [[(f"f{program.randrange(30)}", program.randrange(2)) for _ in range(program.randrange(1, 7))] + [("f99", 0)] for _ in range(90)]
    runs = []
    for at in range(9):
        some = random.Random(100 + at)
        samples = []
        for stack in stacks:
            if some.random() < 0.4:
                continue
            objects, size = some.randrange(1, 500), some.choice((16, 512, 3000))
            samples.append((stack, (objects, objects * size), some.choice(USERS + [None]), size))
        path = os.path.join(DIRECTORY, f"run{at}.pb.gz")
        write_profile(path, samples, 1700000000 * 10**9 + at * MINUTE)
        runs.append((path, None if at == 4 else f"commit-{at // 2}"))
    return runs


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}: {done.stderr}")
    return done.stdout


def clear(*words):
    global reports
    reports += 1
    return run([PLAIN if reports % 3 else CLEAR, "top", "--db", DB, *words])


def pprof(files, *options):
    return run([PPROF, "-symbolize=none", "-top", *options, *files])


def value_of(text):
    return int(text.rstrip("B"))


def top_of(files, *options):
    """{name: (flat, cum)} in pprof's order, whole numbers, nothing left out."""
    rows, seen = {}, False
    for line in pprof(files, "-unit=B", "-trim=false", *options).splitlines():
        words = line.split(None, 5)
        if seen:
            rows[words[5]] = (value_of(words[0]), value_of(words[3]))
        seen |= words[:2] == ["flat", "flat%"]
    return rows


def check(what, got, want):
    global failures, checks
    checks += 1
    if isinstance(got, str) and older_pprof.is_older():
        got = older_pprof.headers(got.encode()).decode()
    if got != want:
        failures += 1
        print(f"{what}:\n  got  {got}\n  want {want}", file=sys.stderr)


def near(a, b):
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


# ---- over runs ----


def shown(value):
    text = f"{value:.2f}"
    text = text[:-3] if text.endswith(".00") else text
    return "0" if text in ("0", "-0") else text + "B"


def spread_of(tops, names, at):
    columns = {name: [top.get(name, (0, 0))[at] for top in tops] for name in names}
    return {name: (statistics.mean(values), statistics.stdev(values)) for name, values in columns.items()}


def over_runs(files, options):
    what = "over runs " + " ".join(options)
    tops = [top_of([file], *options) for file in files]
    names = sorted(set().union(*tops))
    flat, cum = spread_of(tops, names, 0), spread_of(tops, names, 1)
    key = cum if "-cum" in options else flat
    order = sorted(names, key=lambda name: (-key[name][0], name))
    report = json.loads(clear("--over-runs", "--json", "--all", *options, "all"))
    check(what + ": order", [node["name"] for node in report["nodes"]], order)
    for node in report["nodes"]:
        name = node["name"]
        check(f"{what}: n of {name}", node["n"], sum(name in top for top in tops))
        for side, want in (("flat", flat[name]), ("cum", cum[name])):
            got = (node[side]["mean"], node[side]["sd"])
            check(f"{what}: {side} of {name}: {got}, not {want}", near(got[0], want[0]) and near(got[1], want[1]), True)
    # The text says the same, to two decimals.
    lines = [line.split(None, 8) for line in clear("--over-runs", "-unit=B", "-trim=false", *options, "all").splitlines()]
    start = next(i for i, words in enumerate(lines) if words[:2] == ["flat", "flat%"])
    want = [[shown(flat[name][0]), shown(flat[name][1]), shown(cum[name][0]), shown(cum[name][1]),
             str(sum(name in top for top in tops)), name] for name in order]
    check(what + ": text", [[words[0], words[3], words[4], words[6], words[7], words[8]] for words in lines[start + 1:]], want)
    return order, flat, cum


def over_runs_trimmed(files):
    order, flat, cum = over_runs(files, [])
    cutoff = int(sum(mean for mean, _ in flat.values()) * 0.3)
    report = json.loads(clear("--over-runs", "--json", "-nodefraction=0.3", "-nodecount=3", "all"))
    kept = [name for name in order if cum[name][0] >= cutoff]
    check("over runs: what is left", [node["name"] for node in report["nodes"]], kept[:3])
    check("over runs: what is dropped", report["dropped_nodes"], len(order) - len(kept))
    totals = [sum(flat for flat, _ in top_of([file]).values()) for file in files]
    check("over runs: total", near(report["total"]["mean"], statistics.mean(totals)) and near(report["total"]["sd"], statistics.stdev(totals)), True)
    one = json.loads(clear("--over-runs", "--json", "--all", "1"))
    check("over one run: sd", {node["flat"]["sd"] for node in one["nodes"]} | {one["total"]["sd"]}, {None})


# ---- by tag ----


def by_tag(runs, columns, key, options, most):
    """columns: [(value, pprof's files and options)], as they must come."""
    what = f"by {key} {' '.join(options)}"
    report = json.loads(clear(f"--by-tag={key}", "--json", "--all", f"--columns={most}", *options, "all"))
    check(what + ": columns", [column["value"] if column["role"] == "value" else column["role"] for column in report["columns"]],
          [value for value, _, _ in columns])
    whole = top_of([file for file, _ in runs], *options)
    check(what + ": order", [node["name"] for node in report["nodes"]], list(whole))
    parts = [top_of(files, *options, *more) if files else {} for _, files, more in columns]
    for node in report["nodes"]:
        name = node["name"]
        check(f"{what}: sum of {name}", (node["total_flat"], node["total_cum"]), whole[name])
        for side, at in (("flat", 0), ("cum", 1)):
            check(f"{what}: {side} of {name}", node[side], [part.get(name, (0, 0))[at] for part in parts])
    text = clear(f"--by-tag={key}", "--all", f"--columns={most}", *options, "all").splitlines()
    start = next(i for i, line in enumerate(text) if line.split()[-2:] == ["total%", "sum%"])
    side = "cum" if "-cum" in options else "flat"
    want = [[*node[side], node["total_" + side]] for node in report["nodes"]]
    got = [[value_of(word) for word in line.split()[:len(columns) + 1]] for line in text[start + 2:]]
    check(what + ": text", got, want)
    check(what + ": row of all", [value_of(word) for word in text[start + 1].split()[:len(columns)]], [column["total"] for column in report["columns"]])
    return text


def by_commit(runs):
    files = collections.defaultdict(list)
    for file, commit in runs:
        files[commit].append(file)
    commits = [commit for commit in dict.fromkeys(commit for _, commit in runs) if commit]
    none = ("none", files[None], [])
    for options in ([], ["-cum"], ["-focus=f1", "-lines"], ["-sample_index=objects"], ["-tagfocus=user=ann"], ["-mean"]):
        by_tag(runs, [(commit, files[commit], []) for commit in commits] + [none], "commit", options, 8)
    old = [file for commit in commits[:-2] for file in files[commit]]
    text = by_tag(runs, [(commit, files[commit], []) for commit in commits[-2:]] + [("other", old, []), none], "commit", [], 2)
    said = f"Showing the newest 2 of {len(commits)} values of commit; the other {len(commits) - 2} are in (other), see --columns"
    check("by commit: what is not shown is said", said in text, True)


def by_label(runs):
    files = [file for file, _ in runs]
    totals = {user: sum(flat for flat, _ in top_of(files, f"-tagfocus=user=^{user}$").values()) for user in USERS}
    users = sorted(totals, key=lambda user: (-totals[user], user))
    none = ("none", files, ["-tagignore=user=."])
    by_tag(runs, [(user, files, [f"-tagfocus=user=^{user}$"]) for user in users] + [none], "user", [], 8)
    other = ("other", files, ["-tagfocus=user=^(" + "|".join(users[2:]) + ")$"])
    text = by_tag(runs, [(user, files, [f"-tagfocus=user=^{user}$"]) for user in users[:2]] + [other, none], "user", ["-cum"], 2)
    check("by user: what is not shown is said", "Showing the largest 2 of 5 values of user; the other 3 are in (other), see --columns" in text, True)


# ---- sets and files ----


def mixed(runs):
    files = [file for file, _ in runs]
    for words, want in ((["1..3", files[3]], files[:4]), (["tag:commit=commit-0", files[8], files[7]], [files[0], files[1], files[8], files[7]]),
                        (["1,2,tag:commit=commit-1", files[8]], files[:4] + [files[8]])):
        for options in ([], ["-cum", "-nodecount=4"]):
            check(f"runs and files: {words} {options}", clear(*options, *words), pprof(want, *options))
    check("a run less a file", clear("--base", files[0], "2"), pprof([files[1]], f"-base={files[0]}"))
    check("a file less a run", clear("--base", "1", files[1]), pprof([files[1]], f"-base={files[0]}"))
    check("the latest run less a file", clear("--base", files[0]), pprof([files[8]], f"-base={files[0]}"))
    report = json.loads(clear("--over-runs", "--json", "--all", "1..2", files[2]))
    check("over runs and files", report["runs"], 3)


def main():
    runs = make_runs()
    order = [3, 0, 8, 5, 1, 7, 2, 6, 4]
    for at in order:
        tag = ["--tag", f"commit={runs[at][1]}"] if runs[at][1] else []
        run([PLAIN, "ingest", "-q", "--db", os.path.join(DIRECTORY, "shuffled.db"), *tag, runs[at][0]])
    global DB
    straight, DB = DB, os.path.join(DIRECTORY, "shuffled.db")
    by_commit(runs)
    by_label(runs)
    DB = straight
    for file, commit in runs:
        run([PLAIN, "ingest", "-q", "--db", DB, *(["--tag", f"commit={commit}"] if commit else []), file])
    files = [file for file, _ in runs]
    over_runs_trimmed(files)
    for options in (["-cum"], ["-focus=f1"], ["-lines"], ["-sample_index=objects", "-ignore=f2"], ["-tagfocus=user=ann", "-cum"], ["-files"], ["-hide=f3", "-addresses"], ["-mean"]):
        over_runs(files, options)
    mixed(runs)
    if failures:
        sys.exit(f"{failures} of {checks} differ")
    print(f"{checks} comparisons")


main()
