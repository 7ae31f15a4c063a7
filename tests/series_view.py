"""series_view.py DB: compares the view series with sums that are made here, of the tables alone. Then adds copies of functions and hostile
names to the file, and compares again; then counts the steps of SQLite's machine for conditions that must not read everything."""

import collections
import json
import os
import re
import sqlite3
import subprocess
import sys

db = sqlite3.connect(sys.argv[1])


def rows(sql, *values):
    return db.execute(sql, values).fetchall()


COPY = re.compile(r"(?<=.)(\.(isra|constprop|part|lto_priv|llvm)\.\d.*|\.cold(\..*)?| \[clone .*)$", re.S)


def base(path):
    return path.rsplit("/", 1)[-1]


class Names:
    """What a stack is called, from traces, locations and functions."""

    def __init__(self):
        self.functions = {i: (name, file) for i, name, file in rows("SELECT id, name, filename FROM functions")}
        self.lines = dict(rows("SELECT location_id, function_id FROM location_lines WHERE position = 0"))
        self.locations = {i: (mapping, address) for i, mapping, address in rows("SELECT id, mapping_id, address FROM locations")}
        self.mappings = {i: rest for i, *rest in rows("SELECT id, filename, memory_start, file_offset FROM mappings")}
        self.traces = {i: (sign, json.loads(stack), location, function)
                       for i, sign, stack, location, function in rows("SELECT id, signature, stack, location_id, function_id FROM traces")}

    def of(self, function, location):
        if function:
            name, file = self.functions[function]
            return COPY.sub("", name), base(file)
        if not location:
            return "", ""
        mapping, address = self.locations[location]
        file, start, offset = self.mappings[mapping]
        return (f"{base(file)}+0x{address - start + offset:x}" if mapping and file else f"0x{address:x}"), ""

    def subjects(self, trace, is_leaf):
        sign, stack, location, function = self.traces[trace]
        if is_leaf:
            location = stack[0] if stack else None
            function = self.lines.get(location)
        name, file = self.of(function, location)
        site = f"site {name}{' ' + file if file else ''} {sign % 2**64:016x}"
        return "function " + name, site, sign


HEAP = [("alloc_count", 0), ("alloc_bytes", 1), ("inuse_count", 2), ("inuse_bytes", 3)]


def expected():
    """{(run, figure, subject): value}; sites by (run, figure, signature), because stacks of one signature may have several names."""
    names, sums, sites = Names(), collections.Counter(), collections.Counter()
    objects = dict(rows("SELECT id, name FROM objects"))
    kinds = {i: (run, kind) for i, run, kind in rows("SELECT id, run_id, kind FROM profiles")}
    process_of = dict(rows("SELECT id, process_id FROM profiles"))
    most = collections.defaultdict(float) # of the memory of each process

    def add_stack(profile, trace, figure, value, is_leaf=False):
        function, _, sign = names.subjects(trace, is_leaf)
        run = kinds[profile][0]
        sums[run, figure, ""] += value
        sums[run, figure, function] += value
        sites[run, figure, sign] += value

    def add_object(profile, scope, thing, figure, value):
        run = kinds[profile][0]
        sums[run, figure, ""] += value
        sums[run, figure, f"{scope} {objects[thing]}"] += value

    for profile, trace, count, size, freed, freed_size in rows("SELECT profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes FROM sites"):
        for figure, value in ("alloc_count", count), ("alloc_bytes", size), ("inuse_count", count - freed), ("inuse_bytes", size - freed_size):
            add_stack(profile, trace, figure, value)
    for profile, trace, value in rows("SELECT profile_id, trace_id, peak_bytes FROM heap_peaks"):
        add_stack(profile, trace, "peak_bytes", value)
    for profile, trace, calls, moved, time in rows("SELECT profile_id, trace_id, calls, bytes, time_ns FROM io"):
        for figure, value in ("io_calls", calls), ("io_bytes", moved), ("io_time_ns", time):
            add_stack(profile, trace, figure, value)
    for profile, trace, value in rows("SELECT profile_id, trace_id, cpu_ns FROM cpu"):
        if kinds[profile][1] == "recorder":
            sums[kinds[profile][0], "recorder_cpu_ns", ""] += value
        else:
            add_stack(profile, trace, "cpu_ns", value, True)
    for row in db.execute("SELECT * FROM locks").fetchall():
        row = dict(zip(LOCK_COLUMNS, row))
        profile, thing = row["profile_id"], row["object_id"]
        if kinds[profile][1] == "wait":
            add_object(profile, "wait", thing, "waits", row["contended"] + row["timeouts"] + row["unfinished"])
            add_object(profile, "wait", thing, "wait_ns", row["wait_ns"])
            continue
        add_object(profile, "lock", thing, "lock_acquires", row["acquires"] + row["read_acquires"])
        add_object(profile, "lock", thing, "lock_contended", row["contended"] + row["read_contended"] + row["timeouts"] + row["unfinished"])
        add_object(profile, "lock", thing, "lock_wait_ns", row["wait_ns"] + row["read_wait_ns"])
        add_object(profile, "lock", thing, "lock_hold_ns", row["hold_ns"])
    for profile, thing, *values in rows("SELECT profile_id, object_id, reads, commits, retries, update_failures FROM cells"):
        for figure, value in zip(("reads", "commits", "retries", "update_failures"), values):
            add_object(profile, "cell", thing, "cell_" + figure, value)
    for profile, thing, *values in rows("SELECT profile_id, object_id, pushes, pops, push_blocked, pop_blocked FROM channels"):
        for figure, value in zip(("pushes", "pops", "push_blocked", "pop_blocked"), values):
            add_object(profile, "channel", thing, "channel_" + figure, value)
    for run, duration in rows("SELECT id, duration_ns FROM runs WHERE duration_ns > 0"):
        sums[run, "duration_ns", ""] = duration
    for run, threads in rows("SELECT run_id, sum(threads_started) FROM processes GROUP BY 1"):
        sums[run, "threads_started", ""] += threads
    for run, dropped, truncated in rows("SELECT run_id, sum(dropped), sum(truncated) FROM profiles GROUP BY 1"):
        sums[run, "dropped", ""], sums[run, "truncated", ""] = dropped, truncated
    for profile, name, value in rows("SELECT profile_id, name, value FROM counters WHERE value IS NOT NULL AND name NOT GLOB 'recorder.*'"):
        if name.startswith("process.") and name.endswith("_bytes"): most[kinds[profile][0], name, process_of[profile]] = max(value, most[kinds[profile][0], name, process_of[profile]])
        else: sums[kinds[profile][0], "counter", "counter " + name] += value
    for (run, name, _), value in most.items(): sums[run, "counter", "counter " + name] += value
    for profile, types in rows("SELECT DISTINCT profile_id, sample_types FROM samples JOIN profiles ON profiles.id = profile_id"):
        for at, (kind, unit) in enumerate(json.loads(types)):
            value, = rows(f"SELECT sum(v{at}) FROM samples WHERE profile_id = ?", profile)[0]
            sums[kinds[profile][0], "sample", f"sample {kinds[profile][1]} {kind}/{unit}"] += value
    for run, section, code, subject in rows("SELECT run_id, section, code, subject FROM doctor WHERE severity <> 'ok'"):
        sums[run, "findings", f"finding {section}-{code} {subject}"] += 1
    return sums, sites, names


def wrong(what, got, want):
    sys.exit(f"{what}: {got!r} in the view, {want!r} in the tables")


def compare():
    sums, sites, names = expected()
    got, got_sites = collections.Counter(), collections.Counter()
    seen = set()
    for run, started, figure, subject, value, scope in rows("SELECT run_id, started_ns, figure, subject, value, scope FROM series"):
        if (scope == "run") != (subject == "") or (subject and subject.split(" ", 1)[0] != scope):
            wrong("scope", scope, subject)
        if figure != "findings" and (run, figure, subject) in seen:
            wrong("rows", (run, figure, subject), "one row")
        seen.add((run, figure, subject))
        if scope == "site":
            sign = int(subject[-16:], 16)
            sign -= 2**64 if sign >= 2**63 else 0
            got_sites[run, figure, sign] += value
            known = {names.subjects(trace, figure == "cpu_ns")[1] for trace, (other, *_) in names.traces.items() if other == sign}
            if subject not in known:
                wrong("site", subject, known)
        else:
            got[run, figure, subject] += value
    for name, left, right in (("figures", got, sums), ("sites", got_sites, sites)):
        for key in left.keys() | right.keys():
            if left[key] != right[key]:
                wrong(f"{name} {key}", left[key], right[key])
    return sums


def seal():
    """The figures of functions and objects are facts: clear makes those of runs that changed."""
    db.commit()
    subprocess.run([os.environ["CLEAR"], "reseal", "--db", sys.argv[1], "all"], check=True, stdout=subprocess.DEVNULL)


def steps(sql):
    count = 0

    def step():
        nonlocal count
        count += 1

    db.set_progress_handler(step, 100)
    db.execute(sql).fetchall()
    db.set_progress_handler(None, 0)
    return 100 * count


LOCK_COLUMNS = [name for _, name, *_ in rows("PRAGMA table_info(locks)")]
sums = compare()
for scope in ("function", "lock", "wait", "cell", "channel", "finding", "sample"):
    if not any(subject.startswith(scope + " ") for _, _, subject in sums):
        sys.exit(f"nothing of the scope {scope} was compared")
if sums[rows("SELECT max(id) FROM runs")[0][0], "sample", "sample samples samples/count"] != 12:
    sys.exit("samples: " + str([key for key in sums if key[1] == "sample"]))

# Copies of functions, one name in two files, hostile names; a counter in two profiles.
run, profile = rows("SELECT run_id, id FROM profiles WHERE kind = 'heap' ORDER BY id LIMIT 1")[0]
hostile = ["parse.isra.0", "parse.part.1.cold", "parse", "parse [clone .lto_priv.0]", "a.cold", ".cold", "go.part.f", 'quote"\\', "new\nline\u00e9", "x.llvm.123"]
for name in hostile:
    for file in ("/one/a.c", "/two/b.c"):
        function = db.execute("INSERT INTO functions(name, filename) VALUES (?, ?)", (name, file)).lastrowid
        location = db.execute("INSERT INTO locations(mapping_id, address) VALUES (0, ?)", (function,)).lastrowid
        db.execute("INSERT INTO location_lines VALUES (?, 0, ?, 3, 0)", (location, function))
        trace = db.execute("INSERT INTO traces(hash, signature, stack, location_id, function_id) VALUES (?, ?, ?, ?, ?)",
                           (function, -function, f"[{location}]", location, function)).lastrowid
        db.execute("INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (?, ?, 3, 100)", (profile, trace))
for i, name in enumerate(hostile):
    thing = db.execute("INSERT INTO objects(kind, identity, name) VALUES ('lock', ?, ?)", (name, name.upper() if i % 2 else name)).lastrowid
    db.execute("INSERT INTO locks(profile_id, object_id, address, acquires) SELECT id, ?, 1, 7 FROM profiles WHERE run_id = ? AND kind = 'lock' LIMIT 1", (thing, run))
for name, value in (("cycles:u", 1.5), ("cycles:u", 2.25), ('bad"name', 3.0), ("gone", None)):
    other = db.execute("INSERT INTO profiles(run_id, kind) VALUES (?, 'counters')", (run,)).lastrowid
    db.execute("INSERT INTO counters(profile_id, name, value) VALUES (?, ?, ?)", (other, name, value))
db.execute("DELETE FROM run_totals WHERE run_id = ?", (run,))
seal()
sums = compare()
if sums[run, "alloc_bytes", "function parse"] != 800 or sums[run, "counter", "counter cycles:u"] != 3.75 or sums[run, "counter", "counter gone"] != 0:
    sys.exit("the rows that were added: " + str({key: value for key, value in sums.items() if "parse" in key[2] or key[1] == "counter"}))

# The catalogue has each figure, with the unit that its name ends in, and the scopes that it has.
for figure, scopes in rows("SELECT figure, group_concat(DISTINCT scope) FROM series GROUP BY figure"):
    known = rows("SELECT unit, scopes FROM figure_kinds WHERE figure = ?", figure)
    if len(known) != 1 or not set(scopes.split(",")) <= set(known[0][1].split()):
        sys.exit(f"figure_kinds: {figure} has the scopes {scopes}: {known}")
    if figure.rsplit("_", 1)[-1] in ("ns", "bytes") and known[0][0] != figure.rsplit("_", 1)[-1]:
        sys.exit(f"figure_kinds: the unit of {figure} is {known[0][0]}")

# Hundreds of runs more, of 50 sites: what is about one run, or about totals, does not read them.
db.commit()
db.execute("PRAGMA foreign_keys = ON")
db.execute("DELETE FROM runs WHERE id <> ?", (run,))
few = {}
for count in (10, 300):
    for i in range(count):
        one = db.execute("INSERT INTO runs(uuid, started_ns, duration_ns, source) VALUES (hex(randomblob(16)), 5, 5, 'profile')").lastrowid
        heap = db.execute("INSERT INTO profiles(run_id, kind) VALUES (?, 'heap')", (one,)).lastrowid
        db.executemany("INSERT INTO site_rows(profile_id, site_key_id, alloc_count) VALUES (?, ?, 1)",
                       [(heap, key) for key, in rows("SELECT id FROM site_keys WHERE id > 0 LIMIT 50")])
        db.execute("INSERT INTO run_totals VALUES (?, 50, 50, 50, 50, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1)", (one,))
    seal()
    runs = rows("SELECT count(*) FROM runs")[0][0]
    everything = steps("SELECT * FROM series WHERE figure = 'alloc_bytes'")
    for where, at_most in ((f"run_id = {run}", None), (f"run_id = {run} AND figure = 'alloc_bytes'", None),
                           ("scope = 'run' AND figure = 'alloc_bytes'", 100 * runs + 5000), ("figure = 'duration_ns' AND subject = ''", 100 * runs + 5000),
                           ("scope = 'function' AND figure = 'alloc_bytes' AND subject = 'function parse'", 100 * runs + 5000),
                           ("scope = 'lock' AND subject = 'lock parse'", 300 * runs + 5000),
                           (f"run_id = (SELECT id FROM runs WHERE id = {run})", None)):
        for what in ("*",) if "SELECT" in where else ("*", "sum(value)"):
            got = steps(f"SELECT {what} FROM series WHERE {where}")
            if at_most is None:
                few.setdefault((where, what), got)
                at_most_here = few[where, what] * 1.2 + (1000 * runs if "SELECT" in where else 2000)
            else:
                at_most_here = at_most
            if got > at_most_here or everything < 1000 * count:
                sys.exit(f"{where}: {got} steps with {runs} runs, at most {at_most_here:.0f} expected, {everything} for everything")
