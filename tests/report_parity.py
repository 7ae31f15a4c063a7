#!/usr/bin/env python3
"""report_parity.py CLEAR PPROF DIRECTORY PROFILE...: clear report against pprof, byte for byte.

Runs both on every PROFILE with combinations of options that cover every pair of values, and each value on its own, fixed by a
seed. A PROFILE is a file, which is ingested into a warehouse of its own so that traces have the order of the file, or
WAREHOUSE#RUN#KIND#OTHER-RUN for what was recorded: pprof then reads what oracle.py makes of the tables. What may differ, and why, is in
report_parity.known beside this program; an entry that nothing needs fails the test, as does anything else that differs.

With a pprof that is older than ours follows (older_pprof.py), the entries that begin with older- are undone here; with a newer one
they are not looked at.

The environment has set TZ, HOME and PPROF_TMPDIR. Exits 1 after printing the first differences."""
import concurrent.futures
import difflib
import itertools
import os
import random
import re
import subprocess
import sys
import threading
import time

import older_pprof
import oracle

SEED, ROWS = 7, 200
SHOWN = 12  # differences that are printed

# Values of each option; the first one is "not given". Patterns are wide, so that most rows still show something.
PARAMETERS = {
    "format": ["top", "tree", "peek=.", "traces", "tags", "raw", "comments", "text", "peek=[mM]a", "dot",
               "callgrind", "topproto", "list=[mM]a"],
    "sort": ["", "-cum", "-flat"],
    "granularity": ["", "-functions", "-filefunctions", "-files", "-lines", "-addresses"],
    "noinlines": ["", "-noinlines"],
    "showcolumns": ["", "-showcolumns"],
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


class Runner:
    def __init__(self, clear, pprof, directory):
        self.plain = os.environ.get("PLAIN_CLEAR", clear)  # for what is only set up, and for every other row of options
        self.clear, self.pprof, self.directory = clear, pprof, directory
        self.cache, self.scratches, self.lock = {}, 0, threading.Lock()
        self.is_older = older_pprof.is_older()

    def sql(self, db, text):
        return subprocess.run(["sqlite3", db, text], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def tables(self, db, run_id, kind):
        path = os.path.join(self.directory, f"{os.path.basename(db)}.{run_id}.{kind}.pb.gz")
        oracle.write(db, path, kind, run_id)
        return path

    def merged(self, file):
        """What the older pprof makes of a file when it has read it (older-input)."""
        if not file or not self.is_older:
            return file
        return older_pprof.merged(self.pprof, file, os.path.join(self.directory, "merged." + os.path.basename(file)))

    def ingested(self, file, other):
        """A warehouse with the file as run 1 and its other as run 2, and what the oracle makes of them, in the order of the warehouse."""
        file, other = self.merged(file), self.merged(other)
        db = os.path.join(self.directory, os.path.basename(file) + ".sqlite")
        subprocess.run([self.plain, "ingest", "-q", "--db", db, file] + ([other] if other else []), check=True)
        kinds = self.sql(db, "SELECT kind FROM profiles ORDER BY run_id").split()
        ordered = [self.tables(db, str(i + 1), kind) for i, kind in enumerate(kinds)]
        types = self.sql(db, "SELECT json_array_length(sample_types) FROM profiles LIMIT 1")
        return self.subject(os.path.basename(file), db, kinds[0], ["1", "2"], [file, other], (ordered + [None])[:2], int(types))

    def recorded(self, name):
        db, run_id, kind, other = name.split("#")
        ordered = [self.tables(db, each, kind) for each in (run_id, other)]
        subject = self.subject(f"recorded {kind}", db, kind, [run_id, other], ordered, ordered, len(oracle.KINDS[kind][0].split()))
        if self.is_older:
            subject.merged = self.ingested(*ordered)
            subject.merged.name = subject.name
            subject.has_no_stacks = any(self.has_no_stacks(file) for file in ordered)
        return subject

    def subject(self, *fields):
        subject = Subject(*fields)
        subject.knows_no_columns = self.is_older
        return subject

    def has_no_stacks(self, file):
        """Is there a sample without a stack?"""
        raw = run([self.pprof, "-symbolize=none", "-raw", file])[1].decode(errors="replace")
        return re.search(r"(?m)^( +-?[0-9]+)+: $", raw) is not None

    def expected(self, case, files):
        options, files = case.words(*files)
        command = [self.pprof, "-symbolize=none", "-" + case.format, *options, *files]
        key = tuple(command)
        if key not in self.cache:
            self.cache[key] = self.shown(case, command, ["-output", self.scratch()])
        return self.cache[key]

    def scratch(self):
        with self.lock:
            self.scratches += 1
            return os.path.join(self.directory, f"scratch{self.scratches}.pb.gz")

    def shown(self, case, command, output):
        """What the command prints; where that is a profile, what pprof says is in it."""
        if case.format != "topproto":
            return run(command)
        code, _ = run(command[:1] + output + command[1:] if command[0] == self.pprof else command + output)
        return run([self.pprof, "-symbolize=none", "-raw", output[1]]) if code == 0 else (code, b"")

    def got(self, case):
        options, runs = case.words(*case.subject.runs)
        if self.is_older and case.format in ("raw", "callgrind") and "-noinlines" in options:
            options.remove("-noinlines") # older-noinlines
        clear = self.plain if case.number % 2 else self.clear
        command = [clear, "report", "--db", case.subject.db, "--kind", case.subject.kind, *options, case.format, *runs]
        return self.shown(case, command, ["-o", self.scratch()])


class Subject:
    def __init__(self, name, db, kind, runs, files, ordered, types):
        self.name, self.db, self.kind, self.runs = name, db, kind, runs
        self.files, self.ordered, self.types = files, ordered, types
        self.merged, self.has_no_stacks, self.knows_no_columns = None, False, False # for the older pprof


class Case:
    def __init__(self, row, subject, number):
        self.number = number
        self.format, *values = row.values()
        # older-input: what is recorded comes to both sides as the older one merges it, where that shows.
        if subject.merged and (subject.has_no_stacks or self.format in ("raw", "traces", "topproto") or "-addresses" in values):
            subject = subject.merged
        self.row, self.subject = row, subject
        words = " ".join(value for value in values if value and value != "SECOND").split()
        has_other = subject.files[1] is not None
        self.second = row["second"] == "SECOND" and has_other
        # Not LAST but its number; and nothing that the profile does not have.
        self.options = [word.replace("LAST", str(subject.types - 1)) for word in words]
        if subject.knows_no_columns:
            self.options = [word for word in self.options if word != "-showcolumns"]
        if not has_other:
            self.options = [word for word in self.options if "OTHER" not in word and word != "-normalize"]
        if subject.types < 2 and "-sample_index=1" in self.options:
            self.options.remove("-sample_index=1")

    def words(self, first, other):
        return [word.replace("OTHER", other or "") for word in self.options], [first] + ([other] if self.second else [])

    def title(self):
        return f"{self.subject.name}: {self.format} {' '.join(self.options)}{' + another' if self.second else ''}"


# ---- what may differ: the names are those of report_parity.known ----

# The samples of a stack stand together in a warehouse; these two print samples in their order.
ORDERED = ("traces", "raw")


# A number of the reports, after which the rest of a line is a name; in dot what an edge or a tag weighs.
SIZES = {"dot": r'N[0-9_]+ -> N[0-9_]+ \[label=" (\S+)', "tree": r"([^|:(]*)", "tags": r"([^|:(]*)", "peek": r"([^|:(]*)"}


def opposite_weights(case, text):
    """Lines beside each other that show one size, with either sign, sorted."""
    size = SIZES.get(case.format.split("=")[0])
    if size is None:
        return b"\n".join(map(str.encode, callgrind_without_order(text))) if case.format == "callgrind" else text
    text = text.decode(errors="replace")
    if case.format == "dot": # a tag is two lines, and its number says where it stands
        text = re.sub(r"\bN([0-9]+)_[0-9]+\b|id=\"[^\"]*\"", r"N\1_0", re.sub(r"\n(?=N+[0-9]+ -> N+[0-9]+_)", " ", text))

    def without_sign(numbered):
        found = re.search(size, numbered[1])
        return re.sub(r"-(?=[0-9.])", "", found[1]).split() if found else numbered[0]

    lines = []
    for _, group in itertools.groupby(enumerate(text.splitlines()), without_sign):
        lines += sorted(line for _, line in group)
    return "\n".join(lines).encode()


def dot_without_order(text):
    """Nodes and edges by what they say, without their numbers, sorted."""
    return sorted(re.sub(r'\bN+[0-9_]+\b|id="[^"]*"', "", line) for line in text.decode(errors="replace").splitlines())


def callgrind_without_order(text):
    """Lines with their names spelled out and without addresses, which are relative to the line before, sorted."""
    names, lines = {}, []
    for line in text.decode(errors="replace").splitlines():
        tag, _, value = line.partition("=")
        known = re.match(r"\(([0-9]+)\)(?: (.*))?$", value)
        if known:
            kind = {"cfl": "fl", "cfn": "fn"}.get(tag, tag), known.group(1)
            names.setdefault(kind, known.group(2))
            line = f"{tag}={re.sub(r' [[][0-9]+(?=/[0-9]+[]]$)', ' [', names[kind] or '')}" # which of those alike it is
        lines.append(re.sub(r"^(calls=0 )?(\*|[+-][0-9]+|0x[0-9a-f]+) (?=[0-9])", r"\1", line))
    return sorted(lines)


def same_picture(case, got, want):
    """Of the formats in which nodes that look alike may stand in another order."""
    if case.format == "dot":
        return dot_without_order(got) == dot_without_order(want)
    return case.format == "callgrind" and callgrind_without_order(got) == callgrind_without_order(want)


def with_quotes(text):
    """pprof's text for graphviz with quotation marks in tags escaped."""
    return re.sub(rb'(?m)^(N+[0-9_]+ \[label = ")(.*)(" id="N+[0-9_]+" fontsize=8 shape=box3d )',
                  lambda found: found[1] + found[2].replace(b'"', b'\\"') + found[3], text)


def as_older(case, text):
    return older_pprof.raw(text) if case.format == "raw" else older_pprof.headers(text)


def check(runner, case):
    """The names of excuses that were needed, and None or what differs."""
    needed = set()
    code, got = runner.got(case)
    if runner.is_older:
        got = as_older(case, got)
    files = case.subject.files
    want_code, want = runner.expected(case, files)
    if (code != 0) != (want_code != 0):
        return needed, f"exit status {code}, pprof's is {want_code}\n"
    if got == want or code != 0:
        return needed, None
    if case.format in ORDERED and case.subject.ordered != files:
        needed.add("order-of-samples")
        want = runner.expected(case, case.subject.ordered)[1]
    if case.format == "dot" and with_quotes(want) != want:
        needed.add("quotes-in-tags")
        want = with_quotes(want)
    has_base = any("base" in word for word in case.options)
    if got != want and has_base and opposite_weights(case, got) == opposite_weights(case, want):
        needed.add("opposite-weights")
        want = got
    # With -mean an edge may weigh 0, and pprof sorts by -0 * log2(0), which is no number.
    if got != want and {"-call_tree", "-mean"} & set(case.options) and same_picture(case, got, want):
        needed.add("nodes-alike")
        want = got
    if got == want:
        return needed, None
    lines = difflib.unified_diff(want.decode(errors="replace").splitlines(), got.decode(errors="replace").splitlines(),
                                 "pprof", "clear", lineterm="", n=1)
    return needed, "\n".join(itertools.islice(lines, 24)) + "\n"


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout


def subjects(runner, names):
    """Each file's other, for -base and as a second source, is the same profile of another run, where there is one."""
    files = {os.path.basename(name): name for name in names}
    for name in names:
        if "#" in name:
            yield runner.recorded(name)
            continue
        base = os.path.basename(name)
        twin = base.replace("before_", "after_") if base.startswith("before_") else base.replace("after_", "before_")
        yield runner.ingested(name, files.get(twin) if twin != base else None)


def known():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report_parity.known")
    with open(path, encoding="utf-8") as text:
        return {line.split(":")[0] for line in text if re.match(r"(?!older-)[a-z-]+:", line)}


def main():
    clear, pprof, directory, *names = sys.argv[1:]
    started = time.monotonic()
    runner, rows = Runner(clear, pprof, directory), combinations()
    # Each row on one profile, on another than the row before; `make parity` has all.
    every = 1 if os.environ.get("PARITY") == "whole" else len(names)
    cases = [Case(row, subject, j) for i, subject in enumerate(subjects(runner, names)) for j, row in enumerate(rows) if (i + j) % every == 0]
    failures, full, needed = 0, 0, set()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, (excuses, difference) in zip(cases, pool.map(lambda case: check(runner, case), cases)):
            needed |= excuses
            if difference is None:
                continue
            failures += 1
            if failures <= SHOWN:
                print(f"---- {case.title()}\n{difference}")
    full = sum(len(output.splitlines()) > 8 for code, output in runner.cache.values() if code == 0)
    for name in sorted(known() ^ needed if every == 1 else needed - known()):
        failures += 1
        print(f"report_parity.known: {name} " + ("is needed, but not in it" if name in needed else "is in it, but never needed"))
    print(f"{older_pprof.name()}: {len(rows)} combinations, {len(cases)} comparisons on {len(names)} profiles, {full} of {len(runner.cache)} outputs of "
          f"more than 8 lines, {failures} failures, {time.monotonic() - started:.0f} s")
    sys.exit(failures > 0 or full * 3 < len(runner.cache))


main()
