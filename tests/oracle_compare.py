#!/usr/bin/env python3
"""oracle_compare.py CLEAR PPROF DIRECTORY WAREHOUSE...: clear export and clear report against tests/oracle.py, in meaning.

Of each WAREHOUSE every kind of every run, all runs that have a kind together, their newest less the others, and of the run with
the most windows the first, the second, the last, and stretches of time: of it alone, of all runs, and less those of the others.
`clear export` must say what the oracle says. `clear report proto` must say what `go tool pprof -proto` makes of the oracle's
profile, which merges mappings and leaves out frames that are to be dropped. Of these a fixed 24th is compared, and the first of each kind and of each way to choose runs;
all with ORACLE=whole in the environment.
Prints what differs; exits 1 where something did."""
import concurrent.futures
import contextlib
import io
import os
import re
import subprocess
import sys
import threading

import older_pprof
import oracle
import profile_diff

SHOWN = 12  # differences that are printed
FEWEST = 35  # comparisons a warehouse; fewer prove nothing
SINGLE_RUNS = 12  # of a kind that are compared one by one


class Case:
    """Runs of a kind, less a base, or of a window or a stretch of time. `option` is how the base is given to a report."""

    def __init__(self, db, kind, runs, base=(), option="-diff_base", since=None, until=None, window=0):
        self.db, self.kind, self.runs, self.base, self.option = db, kind, list(runs), list(base), option
        self.since, self.until, self.window = since, until, window

    def query(self, warehouse=None):
        return oracle.Query(warehouse or oracle.Warehouse(self.db), self.kind, self.since, self.until, self.window)

    def span(self):
        named = (("--from", self.since), ("--to", self.until), ("--window", self.window or None))
        return [word for option, value in named if value is not None for word in (option, str(value))]

    def way(self):
        """How its runs are chosen, whatever they are."""
        return len(self.runs) > 1, bool(self.base), self.option, self.window, self.since is not None, self.until is not None

    def title(self):
        base = ["--base", names(self.base)] if self.base else []
        return " ".join([os.path.basename(self.db), "--kind", self.kind, *base, *self.span(), names(self.runs)])


def names(runs):
    return ",".join(map(str, runs))


class Comparer:
    def __init__(self, clear, pprof, directory):
        self.clear, self.pprof, self.directory = clear, pprof, directory
        self.local, self.compared, self.lock = threading.local(), 0, threading.Lock()

    def file(self, name):
        return os.path.join(self.directory, f"{threading.get_ident()}.{name}.pb.gz")

    def write(self, case, runs, base, path, zeros=True):
        """What the oracle says of these runs."""
        oracle.write(case.db, path, case.kind, names(runs), names(base), case.since, case.until, case.window, zeros)

    def run(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return "" if done.returncode == 0 else f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}"

    def differ(self, want, got, *flags):
        with self.lock, contextlib.redirect_stdout(io.StringIO()) as said:
            self.compared += 1
            return said.getvalue() if profile_diff.compare(want, got, *flags) else ""

    def exported(self, case):
        want, got = self.file("want"), self.file("got")
        base = ["--base", names(case.base)] if case.base else []
        # One ingested run is as it came, to the last sample of nothing; of all others such samples mean nothing.
        is_whole = case.query().are_stored(case.runs) and len(case.runs) == 1 and not base and not case.span()
        self.write(case, case.runs, case.base, want, is_whole)
        flags = ["comments"] + ([] if is_whole else ["nonzero"])
        return (self.run(self.clear, "export", "--db", case.db, "--kind", case.kind, *base, *case.span(), names(case.runs), "-o", got)
                or self.differ(want, got, *flags))

    def reported(self, case):
        want, got, merged, base = self.file("want"), self.file("got"), self.file("merged"), self.file("base")
        self.write(case, case.runs, (), want)
        if case.base:
            self.write(case, case.base, (), base)
        # Runs come to pprof as one file, which it merges only where it is an older one.
        used = ["used"] if len(case.runs) > 1 and not older_pprof.is_older() else []
        return (self.run(self.pprof, "-symbolize=none", "-proto", "-output", merged, *([case.option, base] if case.base else []), want)
                or self.report(case, "proto", got)
                or self.differ(merged, self.as_installed(got), "comments", "nonzero", "old", *used)
                or self.newer([want] + ([base] if case.base else []), got))

    def as_installed(self, path):
        """What the installed pprof makes of a file alone: an older one merges it (older-input in report_parity.known)."""
        return older_pprof.merged(self.pprof, path, self.file("as_installed")) if older_pprof.is_older() else path

    def report(self, case, word, path, *options):
        base = [case.option, names(case.base)] if case.base else []
        return self.run(self.clear, "report", word, "--db", case.db, "--kind", case.kind, *options, *base, "-o", path, names(case.runs))

    def newer(self, wants, got):
        """What an older pprof takes away: columns are some of the oracle's, for dropped frames are gone; so is the URL."""
        known, shown = ({word for path in paths for line in sum(profile_diff.norm(path), [])
                         for word in re.findall(r"^default .*( doc .*)|([^>\[ ]*\|[^|]*\|[^|]*\|\d+:\d+:\d+)", line)}
                        for paths in (wants, [got]))
        return f"not the oracle's: {shown - known}\n" if shown - known else ""

    def refused(self, case, reason):
        """What the oracle has no answer to, the product has none to either."""
        what = ["--db", case.db, "--kind", case.kind, names(case.runs), "-o", self.file("got")]
        commands = [[self.clear, "export", *what, *(["--base", names(case.base)] if case.base else [])],
                    [self.clear, "report", "proto", *what, *([case.option, names(case.base)] if case.base else [])]]
        return [(command[1], f"{reason}, but there was no error\n") for command in commands if not self.run(*command)]

    def check(self, case):
        """[(what was compared, how it differs)]"""
        found = []
        try:
            self.write(case, case.runs, case.base, self.file("want"))
        except oracle.Wrong as reason:
            return self.refused(case, str(reason))
        found.append(("export", self.exported(case)))
        if not case.span():
            found.append((f"report {case.option}", self.reported(case)))
        return [(what, text) for what, text in found if text]


def kinds_of(warehouse):
    """{kind: runs that have it}, by the tables; and what Go calls kinds that are made of these."""
    kinds = {}
    for row in warehouse.rows("SELECT DISTINCT kind, run_id FROM profiles WHERE kind <> 'counters' ORDER BY run_id"):
        kinds.setdefault(row["kind"], []).append(row["run_id"])
    for name, (_, _, _, parts) in oracle.KINDS.items():
        runs = sorted({run for part in parts for run in kinds.get(part, ())})
        if runs and any(parts):
            kinds[name] = runs
    return kinds


def windows_of(warehouse, kind, run):
    """Ends of the windows of a run, in seconds from its start, each with a little added, as a person would give them."""
    parts = oracle.KINDS.get(kind, ((), "", "", ()))[3] or (kind,)
    start = warehouse.one("runs", run)["started_ns"]
    return sorted({round((profile["time_ns"] - start) / 10**9 + 0.0005, 3) for profile in warehouse.profiles(run, parts)})


def alike(warehouse, kind, runs):
    """Lists of those runs that have the same sample types, and so can be taken from each other."""
    parts, lists = oracle.KINDS.get(kind, ((), "", "", ()))[3] or (kind,), {}
    for run in runs:
        types = sorted({profile["sample_types"] for profile in warehouse.profiles(run, parts)})
        lists.setdefault(str(types), []).append(run)
    return lists.values()


def cases_of(db):
    warehouse = oracle.Warehouse(db)
    for kind, runs in kinds_of(warehouse).items():
        for run in runs[:SINGLE_RUNS]:
            yield Case(db, kind, [run])
        lists = list(alike(warehouse, kind, runs))
        for some in lists:
            if len(some) > 1:
                yield Case(db, kind, some)
                yield Case(db, kind, some[-1:], base=some[:-1])
                yield Case(db, kind, some[:1], base=some[1:], option="-base")
        # Recorded and ingested ones of a kind of ours are added up as recorded ones.
        if len(lists) > 1 and kind in oracle.KINDS and not Case(db, kind, runs).query(warehouse).are_stored(runs):
            yield Case(db, kind, runs)
        ends, run = max(((windows_of(warehouse, kind, run), run) for run in runs), key=lambda one: len(one[0]))
        if len(ends) > 2:
            # The last flush is behind the end of a short run, where no part may begin.
            duration = (warehouse.one("runs", run)["duration_ns"] or 0) / 10**9
            middle = max([end for end in ends[1 : len(ends) // 2 + 1] if end < duration] or ends[1:2])
            yield Case(db, kind, [run], window=1)
            yield Case(db, kind, [run], window=-1)
            yield Case(db, kind, [run], window=2)
            yield Case(db, kind, [run], since=ends[0], until=middle)
            if middle < duration: yield Case(db, kind, [run], since=middle)
            yield Case(db, kind, [run], until=middle)
            for some in lists:
                others = [one for one in some if one != run]
                if run in some and others:
                    yield Case(db, kind, some, until=middle)
                    yield Case(db, kind, [run], base=others, until=middle)


def is_whole():
    return os.environ.get("ORACLE") == "whole"


def chosen(cases):
    """A fixed 24th, and one at least of each kind and of each way to choose runs; all where the environment wants them."""
    cases = list(cases)
    if is_whole():
        return cases
    firsts = {}
    for i, case in enumerate(cases):
        firsts.setdefault(case.kind, i)
        firsts.setdefault(case.way(), i)
    return [case for i, case in enumerate(cases) if i % 24 == 0 or i in firsts.values()]


def check_all(cases, check):
    """The number of failures that check(case) finds, as (what, text); the first ones are printed."""
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, found in zip(cases, pool.map(check, cases)):
            for what, text in found:
                failures += 1
                if failures <= SHOWN:
                    print(f"---- {what} of {case.title()} ({case.option})\n{text[:2000]}")
    return failures


def main():
    clear, pprof, directory, *warehouses = sys.argv[1:]
    comparer = Comparer(clear, pprof, directory)
    cases = [case for db in warehouses for case in chosen(cases_of(db))]
    failures = check_all(cases, comparer.check)
    print(f"{comparer.compared} comparisons of {len(cases)} profiles in {len(warehouses)} warehouses, {failures} failures")
    sys.exit(failures > 0 or comparer.compared < FEWEST * len(warehouses))


if __name__ == "__main__":
    main()
