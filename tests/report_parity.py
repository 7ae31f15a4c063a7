#!/usr/bin/env python3
"""report_parity.py CLEAR PPROF DIRECTORY FILE...: clear report against pprof, byte for byte.

Runs both on every FILE with combinations of options that cover every pair of values (and rows of one option at a time), fixed
by a seed. Each file is ingested into a warehouse of its own, so that traces come in the order of the file. What may differ, and
why, is in tests/report_parity.known; a line there that is never needed fails the test too.

The environment has set TZ, HOME and PPROF_TMPDIR. Exits 1 after printing each difference (the first lines of a diff)."""
import concurrent.futures
import difflib
import itertools
import os
import random
import subprocess
import sys
import time

SEED, ROWS = 7, 200
SHOWN = 12  # differences that are printed

# Values of each option; the first one is "not given". Patterns are wide, so that most rows still show something.
PARAMETERS = {
    "format": ["top", "tree", "peek=.", "traces", "tags", "raw", "comments", "text", "peek=[mM]a"],
    "sort": ["", "-cum", "-flat"],
    "granularity": ["", "-functions", "-filefunctions", "-files", "-lines", "-addresses"],
    "noinlines": ["", "-noinlines"],
    "nodecount": ["", "-nodecount=0", "-nodecount=3", "-nodecount=25"],
    "nodefraction": ["", "-nodefraction=0", "-nodefraction=0.05", "-nodefraction=0.3"],
    "edgefraction": ["", "-edgefraction=0", "-edgefraction=0.1"],
    "trim": ["", "-trim=false"],
    "unit": ["", "-unit=auto", "-unit=kb", "-unit=ms", "-unit=seconds", "-unit=foo"],
    "divide_by": ["", "-divide_by=3", "-divide_by=0.5", "-divide_by=1000000"],
    "mean": ["", "-mean"],
    "sample_index": ["", "-sample_index=0", "-sample_index=1", "-sample_index=LAST", "-inuse_objects"],
    "drop_negative": ["", "-drop_negative"],
    "base": ["", "-base=OTHER", "-diff_base=OTHER", "-base=OTHER -normalize", "-diff_base=OTHER -normalize"],
    "relative": ["", "-relative_percentages"],
    "compact": ["", "-compact_labels"],
    "call_tree": ["", "-call_tree"],
    "focus": ["", "-focus=a", "-focus=^runtime|main|std", "-focus=(?i)M[a-m]"],
    "ignore": ["", "-ignore=zzz", "-ignore=gc|Gosched", "-ignore=json"],
    "show": ["", "-show=[aeiou]", "-show=main|json|runtime|Driver"],
    "hide": ["", "-hide=^runtime\\.m", "-hide=alloc|gzip", "-hide=\\.go$"],
    "show_from": ["", "-show_from=main|json|Bench|start", "-show_from=."],
    "prune_from": ["", "-prune_from=malloc|json", "-prune_from=^x"],
    "tagfocus": ["", "-tagfocus=bytes=1kb:", "-tagfocus=16:100000", "-tagfocus=work", "-tagfocus=phase=.", "-tagfocus=.,:"],
    "tagignore": ["", "-tagignore=bytes=:64b", "-tagignore=zz", "-tagignore=bytes=2kb:3kb"],
    "tagshow": ["", "-tagshow=bytes|work", "-tagshow=phase"],
    "taghide": ["", "-taghide=bytes", "-taghide=xx"],
    "tagroot": ["", "-tagroot=bytes", "-tagroot=phase,worker"],
    "tagleaf": ["", "-tagleaf=bytes,nothing", "-tagleaf=phase"],
    "trim_path": ["", "-trim_path=/usr/lib/go-1.19/src:/usr/local", "-source_path=/x/src"],
    "second": ["", "SECOND"],
}


def pairs_of(row, names):
    return {(a, row[a], b, row[b]) for a, b in itertools.combinations(names, 2)}


def all_pairs(rng):
    """Rows of values such that every two values of two options meet in one: greedily, the best of some random rows."""
    names = list(PARAMETERS)
    missing = {(a, x, b, y) for a, b in itertools.combinations(names, 2) for x in PARAMETERS[a] for y in PARAMETERS[b]}
    rows = []
    while missing:
        best, gain = None, -1
        seeds = rng.sample(sorted(missing), min(4, len(missing)))
        for a, x, b, y in seeds:
            for _ in range(3):
                row = {name: rng.choice(PARAMETERS[name]) for name in names}
                row[a], row[b] = x, y
                for name in rng.sample(names, 6):  # a little better where that is cheap
                    if name in (a, b):
                        continue
                    row[name] = max(PARAMETERS[name], key=lambda value, name=name: sum(
                        ((n, row[n], name, value) if names.index(n) < names.index(name) else (name, value, n, row[n])) in missing
                        for n in names if n != name))
                count = len(pairs_of(row, names) & missing)
                if count > gain:
                    best, gain = row, count
        missing -= pairs_of(best, names)
        rows.append(best)
    return rows


def combinations():
    rng = random.Random(SEED)
    rows = all_pairs(rng)
    names = list(PARAMETERS)
    # Rows where all of forty options meet show little; so also each value with one other, and nothing else.
    plain = {name: PARAMETERS[name][0] for name in names}
    for name in names:
        for value in PARAMETERS[name]:
            other = rng.choice([n for n in names if n not in (name, "format")])
            row = dict(plain, **{other: rng.choice(PARAMETERS[other]), name: value})
            if name != "format":
                row["format"] = rng.choice(PARAMETERS["format"][:5])
            rows.append(row)
    return rows


class Case:
    def __init__(self, row, file, other, types):
        self.row, self.file, self.other = row, file, other
        self.format, *values = [value for value in row.values()]
        words = " ".join(value for value in values if value and value != "SECOND").split()
        # Not LAST but its number: what a file has.
        self.options = [word.replace("LAST", str(types - 1)) for word in words]
        self.second = row["second"] == "SECOND" and other is not None
        if other is None:
            self.options = [word for word in self.options if "OTHER" not in word and word != "-normalize"]
        if "-sample_index=1" in self.options and types < 2:
            self.options.remove("-sample_index=1")

    def words(self, file, other):
        return [word.replace("OTHER", other or "") for word in self.options], [file] + ([other] if self.second else [])

    def title(self):
        return f"{os.path.basename(self.file)}: {self.format} {' '.join(self.options)}{' + another' if self.second else ''}"


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    return done.returncode, done.stdout


class Runner:
    def __init__(self, clear, pprof, directory):
        self.clear, self.pprof, self.directory = clear, pprof, directory
        self.cache = {}

    def warehouse(self, file, other):
        """A warehouse with the file as run 1 and its other as run 2; their exports in the order of the warehouse."""
        name = os.path.join(self.directory, os.path.basename(file))
        db = name + ".sqlite"
        subprocess.run([self.clear, "ingest", "-q", "--db", db, file] + ([other] if other else []), check=True)
        exports = []
        for number in [1, 2] if other else [1]:
            kind = subprocess.run(["sqlite3", db, f"SELECT kind FROM profiles WHERE run_id = {number}"], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout.strip()
            exports.append(f"{name}.{number}.pb.gz")
            subprocess.run([self.clear, "export", "--db", db, str(number), "--kind", kind, "-o", exports[-1]], check=True)
        types = subprocess.run(["sqlite3", db, "SELECT json_array_length(sample_types) FROM profiles LIMIT 1"], check=True,
                               stdout=subprocess.PIPE, text=True).stdout
        return db, exports + [None] * (2 - len(exports)), int(types)

    def expected(self, case, file, other):
        options, files = case.words(file, other)
        command = [self.pprof, "-symbolize=none", "-" + case.format, *options, *files]
        key = tuple(command)
        if key not in self.cache:
            self.cache[key] = run(command)
        return self.cache[key]

    def got(self, case, db):
        options, runs = case.words("1", "2")
        return run([self.clear, "report", "--db", db, *options, case.format, *runs])


# A warehouse keeps the samples of a stack together, whatever their order in the file was: these two show that order.
ORDERED = ("traces", "raw")


def check(runner, case, db, exports):
    """None, or what differs."""
    code, got = runner.got(case, db)
    is_ordered = case.format in ORDERED
    want_code, want = runner.expected(case, *(exports if is_ordered else (case.file, case.other)))
    if (code != 0) != (want_code != 0):
        return f"exit status {code}, pprof's is {want_code}\n"
    if got == want or code != 0:
        return None
    lines = difflib.unified_diff(want.decode(errors="replace").splitlines(), got.decode(errors="replace").splitlines(),
                                 "pprof", "clear", lineterm="", n=1)
    return "\n".join(itertools.islice(lines, 24)) + "\n"


def others(files):
    """Each file's partner for -base and a second source: the same profile of another run, where there is one."""
    names = {os.path.basename(file): file for file in files}
    for file in files:
        name = os.path.basename(file)
        twin = name.replace("before_", "after_") if name.startswith("before_") else name.replace("after_", "before_")
        yield file, names.get(twin) if twin != name else None


def main():
    clear, pprof, directory, *files = sys.argv[1:]
    rows = combinations()
    runner = Runner(clear, pprof, directory)
    started = time.monotonic()
    cases = []
    per_file = max(1, int(os.environ.get("PARITY_FILES", "0")))
    prepared = [(file, other, *runner.warehouse(file, other)) for file, other in others(files)]
    every = per_file == 1
    for index, row in enumerate(rows):
        for at, (file, other, db, exports, types) in enumerate(prepared):
            if every or (index + at) % (len(prepared) // per_file or 1) == 0:
                cases.append((Case(row, file, other, types), db, exports))
    failures, shown, empty = 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, difference in zip(cases, pool.map(lambda item: check(runner, *item), cases)):
            if difference is None:
                continue
            failures += 1
            if shown < SHOWN:
                shown += 1
                print(f"---- {case[0].title()}\n{difference}")
    print(f"{len(rows)} combinations, {len(cases)} comparisons on {len(files)} files, {failures} differ, "
          f"{time.monotonic() - started:.0f} s")
    sys.exit(failures > 0)


main()
