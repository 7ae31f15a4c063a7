#!/usr/bin/env python3
"""oracle.py DB OUT --kind KIND [--runs RUNS] [--base RUNS] [--from SECONDS] [--to SECONDS] [--window N]

A profile.proto of runs of a warehouse, made of its base tables by the sqlite3 module alone: no program, view or query of
ours. Where tests compare `clear export` and `clear report` with this, and give this to `go tool pprof`, the product does not
check itself. What a column means is said in schema/tables.sql; what a kind's values and labels are is in the tables below.

RUNS is a list of run numbers and ranges A..B with commas, or all (default: the newest run). --base takes runs away: their values
are negated and their samples have the label pprof::base=true, as with pprof -diff_base. --from and --to are seconds since the start
of a run, --window counts a kind's windows from 1, or from -1 backwards; whole windows are taken, by their ends. What is in use
is the sum of all windows up to the last one taken.

OUT is gzipped where its name ends with .gz. The same warehouse gives the same bytes. Samples are in the order of the warehouse:
run after run, by stack, then label set; kinds with objects by process, stack, object. Equal stacks of several runs are one sample.
"""
import argparse
import decimal
import gzip
import json
import re
import sqlite3
import sys

FIRST, LAST = -(1 << 63), (1 << 63) - 1  # of 64 bits; as times: no limit

# What the profile of a kind says where the recorder said nothing: sample types, default type, period type; and the kinds in the
# tables that it is made of. A kind that is not here has the sample types of its profiles.
KINDS = {
    "heap": ("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes", "inuse_space", "space/bytes", ()),
    "heap-peak": ("peak_objects/count peak_space/bytes", "peak_space", "space/bytes", ()),
    "leak": ("indirect_objects/count indirect_space/bytes lost_objects/count lost_space/bytes", "lost_space", "space/bytes", ()),
    "lock": ("contentions/count delay/nanoseconds hold/nanoseconds acquisitions/count", "delay", "contentions/count", ()),
    "mvcc": ("reads/count commits/count retries/count cow_bytes/bytes", "cow_bytes", "commits/count", ()),
    "channels": ("pushes/count pops/count push_blocked/count pop_blocked/count max_depth/count", "pushes", "pushes/count", ()),
    "cpu": ("samples/count cpu/nanoseconds", "cpu", "cpu/nanoseconds", ()),
    "recorder": ("samples/count cpu/nanoseconds", "cpu", "cpu/nanoseconds", ()),
    "threads": ("started/count lifetime/nanoseconds", "started", "started/count", ()),
    "spin": ("yields/count short_sleeps/count slept/nanoseconds failed_tries/count calls/count", "calls", "calls/count", ()),
    "fibers": ("spawns/count runs/count exits/count lifetime/nanoseconds", "lifetime", "spawns/count", ()),
    "syscalls": ("calls/count errors/count time/nanoseconds", "time", "calls/count", ()),
    "wait": ("waits/count delay/nanoseconds", "delay", "contentions/count", ()),
    "lifetimes": ("allocated/count freed/count freed_same_thread/count", "freed", "space/bytes", ()),
    "mmap": ("mapped_objects/count mapped_space/bytes inuse_objects/count inuse_space/bytes", "inuse_space", "space/bytes", ()),
    "io": ("calls/count bytes/bytes time/nanoseconds", "calls", "calls/count", ()),
    "mutex": ("contentions/count delay/nanoseconds", "delay", "contentions/count", ("lock",)),
    "block": ("contentions/count delay/nanoseconds", "delay", "contentions/count", ("lock", "channels", "wait")),
}
# An ingested profile has its own sample types, in any order; what was ingested as a kind of the table above stands in the columns
# that have these names there. gperftools calls what is in use plainly objects and space.
IN_USE = {"objects": "inuse_objects", "space": "inuse_space"}


class Wrong(Exception):
    """What the warehouse or the command line asks for is impossible."""


def pairs(types):
    return [tuple(one.split("/")) for one in types.split()]


class Warehouse:
    """Rows of the base tables, by their column names."""

    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        self.db.row_factory = sqlite3.Row
        self.kept = {}

    def rows(self, sql, *values):
        return self.db.execute(sql, values)

    def one(self, table, ident):
        key = table, ident
        if key not in self.kept:
            self.kept[key] = self.db.execute(f"SELECT * FROM {table} WHERE id = ?", (ident,)).fetchone()
            if self.kept[key] is None:
                raise Wrong(f"{table} has no row {ident}")
        return self.kept[key]

    def profiles(self, run, kinds):
        marks = ", ".join("?" * len(kinds))
        return self.rows(f"SELECT * FROM profiles WHERE run_id = ? AND kind IN ({marks}) ORDER BY id", run, *kinds).fetchall()

    def stack(self, trace):
        """Location ids, leaf first."""
        return tuple(json.loads(self.one("traces", trace)["stack"])) if trace else ()

    def labels(self, label_set):
        """(key, text or None, number, unit) each."""
        items = json.loads(self.one("label_sets", label_set)["labels"])
        return tuple((key, value, 0, "") if isinstance(value, str) else (key, None, value, unit[0] if unit and unit[0] else "")
                     for key, value, *unit in items)

    def lines(self, location):
        return self.rows("SELECT * FROM location_lines WHERE location_id = ? ORDER BY position", location)


# ---- samples ----
#
# A reader of a kind gives (order, identity, stack, labels, values) of the profiles of one run; rows of one identity are one sample. A
# stack has location ids, leaf first, or, instead of an id, (function name, line) of a frame that stands in no binary.

def place(profile):
    """What belongs together: the windows of a process; an ingested profile alone."""
    return profile["process_id"] or -profile["id"], profile["process_id"] or profile["id"]


def is_stored(profile):
    """Did it come in with sample types of its own? Then no recorder's word (labels, defaults) is added. What clear exported has those of
    its kind: its rows are as a recorder's."""
    is_again = profile["kind"] in READERS and [tuple(pair) for pair in json.loads(profile["sample_types"])] == pairs(KINDS[profile["kind"]][0])
    return profile["process_id"] is None and profile["sample_types"] != "[]" and not is_again


def add(total, values):
    return [a + b for a, b in zip(total, values)] if total else list(values)


def heap_values(warehouse, profile):
    for row in warehouse.rows("SELECT k.trace_id, k.label_set_id, k.block_bytes, r.* FROM site_rows AS r JOIN site_keys AS k"
                              " ON k.id = r.site_key_id WHERE r.profile_id = ?", profile["id"]):
        allocs, frees = row["alloc_count"], row["free_count"]
        alloc_bytes = allocs * row["block_bytes"] if row["alloc_bytes"] is None else row["alloc_bytes"]
        free_bytes = frees * row["block_bytes"] if row["free_bytes"] is None else row["free_bytes"]
        yield row, {"alloc_objects": allocs, "alloc_space": alloc_bytes, "inuse_objects": allocs - frees,
                    "inuse_space": alloc_bytes - free_bytes}


def peak_values(warehouse, profile):
    for row in warehouse.rows("SELECT *, 0 AS label_set_id FROM heap_peaks WHERE profile_id = ?", profile["id"]):
        yield row, {"peak_objects": row["peak_count"], "peak_space": row["peak_bytes"]}


def leak_values(warehouse, profile):
    for row in warehouse.rows("SELECT *, 0 AS label_set_id FROM leaks WHERE profile_id = ?", profile["id"]):
        yield row, {"lost_objects": row["lost_count"], "lost_space": row["lost_bytes"], "indirect_objects": row["indirect_count"],
                    "indirect_space": row["indirect_bytes"]}


def thread_values(warehouse, profile):
    for row in warehouse.rows("SELECT *, 0 AS label_set_id FROM thread_starts WHERE profile_id = ?", profile["id"]):
        yield row, {"started": row["started"], "lifetime": row["life_ns"]}


def spin_values(warehouse, profile):
    for row in warehouse.rows("SELECT *, 0 AS label_set_id FROM spins WHERE profile_id = ?", profile["id"]):
        yield row, {"yields": row["yields"], "short_sleeps": row["short_sleeps"], "slept": row["sleep_ns"], "failed_tries": row["failed_tries"],
                    "calls": row["yields"] + row["short_sleeps"] + row["failed_tries"]}


def map_values(warehouse, profile):
    for row in warehouse.rows("SELECT * FROM maps WHERE profile_id = ?", profile["id"]):
        yield row, {"mapped_objects": row["map_count"], "mapped_space": row["map_bytes"],
                    "inuse_objects": row["map_count"] - row["unmap_count"], "inuse_space": row["map_bytes"] - row["unmap_bytes"]}


def cpu_values(warehouse, profile):
    for row in warehouse.rows("SELECT * FROM cpu WHERE profile_id = ?", profile["id"]):
        yield row, {"samples": row["samples"], "cpu": row["cpu_ns"]}


def waits_of(row):
    """Also those that ended without what they were for, and those that were not over when the process was."""
    return row["contended"] + row["read_contended"] + row["timeouts"] + row["unfinished"]


def wait_values(warehouse, profile):
    for row in warehouse.rows("SELECT *, 0 AS label_set_id FROM locks WHERE profile_id = ?", profile["id"]):
        yield row, {"contentions": waits_of(row), "waits": waits_of(row), "delay": row["wait_ns"] + row["read_wait_ns"]}


def read_by_stack(warehouse, profiles, types, values_of, has_state, has_address):
    """Kinds with a row a stack and label set. Of windows before the span only what they left in use counts."""
    for profile, is_counted in profiles:
        if not is_counted and not has_state:
            continue
        for row, values in values_of(warehouse, profile):
            trace, labels = row["trace_id"], warehouse.labels(row["label_set_id"])
            if has_address and not is_stored(profile) and trace and warehouse.one("traces", trace)["location_id"]:
                address = warehouse.one("locations", warehouse.one("traces", trace)["location_id"])["address"]
                labels += (("addr", "%#x" % (address & (1 << 64) - 1), 0, ""),)
            wanted = [0 if not is_counted and name.startswith(("alloc_", "mapped_")) else values[name] for name in types]
            yield (trace, row["label_set_id"]), (trace, labels), warehouse.stack(trace), labels, wanted


def read_own_types(warehouse, profiles, types):
    """Kinds with sample types of their own: eight columns, and more in JSON."""
    for profile, is_counted in profiles:
        for row in warehouse.rows("SELECT * FROM samples WHERE profile_id = ?", profile["id"]) if is_counted else ():
            values = [row[f"v{i}"] for i in range(8)] + json.loads(row["more"] or "[]")
            values = (values + [0] * len(types))[:len(types)]
            trace, labels = row["trace_id"], warehouse.labels(row["label_set_id"])
            yield (trace, row["label_set_id"]), (trace, labels), warehouse.stack(trace), labels, values


def object_stack(warehouse, trace, name):
    """Where no caller was recorded, the object itself is the only frame."""
    return warehouse.stack(trace) if trace else ((name, 0),)


def counted_rows(warehouse, profiles, table):
    for profile, is_counted in profiles:
        for row in warehouse.rows(f"SELECT * FROM {table} WHERE profile_id = ?", profile["id"]) if is_counted else ():
            yield profile, place(profile), row


def read_lock(warehouse, profiles):
    for profile, (owner, order), row in counted_rows(warehouse, profiles, "locks"):
        name, trace = warehouse.one("objects", row["object_id"])["name"], row["trace_id"]
        key, labels = (owner, trace, row["object_id"]), () if is_stored(profile) else (("object", name, 0, ""),)
        yield (order, *key[1:]), key, object_stack(warehouse, trace, name), labels, [
            waits_of(row), row["wait_ns"] + row["read_wait_ns"], row["hold_ns"],
            row["acquires"] + row["read_acquires"]]


def read_other_waits(warehouse, profiles):
    """For what is no lock. What nobody waited for is left out."""
    waits = {}
    for profile, (owner, order), row in counted_rows(warehouse, profiles, "locks"):
        name, trace = warehouse.one("objects", row["object_id"])["name"], row["trace_id"]
        labels = () if is_stored(profile) else (("object", name, 0, ""), ("kind", row["kind"], 0, ""))
        key = owner, trace, row["object_id"], row["kind"], object_stack(warehouse, trace, name), labels
        waits[key] = (order, add((waits.get(key) or (0, None))[1], [waits_of(row), row["wait_ns"]]))
    for key, (order, values) in waits.items():
        if any(values):
            yield (order, *key[1:4]), key[:4], key[4], key[5], values


def read_mvcc(warehouse, profiles):
    """Each commit and each retry copies the cell; the size of a cell is the greatest that was seen."""
    cells = {}
    for _, (owner, order), row in counted_rows(warehouse, profiles, "cells"):
        cell = cells.setdefault((owner, row["trace_id"], row["object_id"], row["address"]), [order, 0, 0, 0, 0])
        cell[1:] = [max(cell[1], row["struct_size"]), cell[2] + row["reads"], cell[3] + row["commits"], cell[4] + row["retries"]]
    for (owner, trace, ident, _), (order, size, reads, commits, retries) in cells.items():
        name = warehouse.one("objects", ident)["name"]
        yield (order, trace, ident), (owner, trace, ident), object_stack(warehouse, trace, name), (("object", name, 0, ""),), [
            reads, commits, retries, size * (commits + retries)]


def read_channels(warehouse, profiles):
    """Capacity and depth are the greatest of all windows. No capacity, or an unknown one, is no label."""
    channels = {}
    for _, (owner, order), row in counted_rows(warehouse, profiles, "channels"):
        channel = channels.setdefault((owner, row["channel"], row["object_id"]), [order, 0, [0, 0, 0, 0], 0])
        channel[1], channel[3] = max(channel[1], row["capacity"]), max(channel[3], row["max_depth"])
        channel[2] = add(channel[2], [row["pushes"], row["pops"], row["push_blocked"], row["pop_blocked"]])
    for key, (order, capacity, sums, depth) in channels.items():
        name, number = warehouse.one("objects", key[2])["name"], f"channel#{key[1]}"
        labels = ((("object", name, 0, ""),) if name != number else ()) + ((("capacity", None, capacity, ""),) if capacity else ())
        yield (order, *key[1:]), key, ((number, 0),), labels, sums + [depth]


def read_fibers(warehouse, profiles):
    """The frame is the place in the source that spawns, as far as it is known: the transpiled source may come with any window."""
    sites = {}
    for _, (owner, order), row in counted_rows(warehouse, profiles, "task_sites"):
        site = sites.setdefault((owner, row["site"]), [order, {"kind": "", "line": 0, "dispatch": "", "form": ""}, None])
        site[1] = {name: max(known, row[name]) for name, known in site[1].items()}
        site[2] = add(site[2], [row["spawns"], row["runs"], row["exits"], row["total_lifetime_ns"]])
    for (owner, number), (order, said, sums) in sites.items():
        name = f"{said['kind'] or 'task'}#{number} line {said['line']}" if said["line"] > 0 else f"task#{number}"
        labels = tuple((key, said[key], 0, "") for key in ("dispatch", "form") if said[key])
        yield (order, number), (owner, number), ((name, said["line"]),), labels, sums


def read_syscalls(warehouse, profiles):
    for _, _, row in counted_rows(warehouse, profiles, "syscalls"):
        yield row["name"], row["name"], ((row["name"], 0),), (), [row["calls"], row["errors"], row["time_ns"]]


def read_lifetimes(warehouse, profiles):
    """A sample is a bucket of a histogram: its lower limit is a label, its blocks are a value."""
    buckets = {}
    names = {"size": ("bytes", "bytes", 0), "lifetime": ("lifetime", "nanoseconds", 1), "passed": ("passed", "count", 2)}
    for profile, (owner, order), row in counted_rows(warehouse, profiles, "histograms"):
        key = owner, row["trace_id"], row["histogram"], row["from_value"]
        buckets[key] = (order, (buckets.get(key) or (0, 0))[1] + row["count"])
    for (owner, trace, histogram, start), (order, count) in buckets.items():
        label, unit, place_of = names[histogram]
        yield (order, trace, histogram, start), (owner, trace, histogram, start), warehouse.stack(trace), ((label, None, start, unit),), \
            [count if i == place_of else 0 for i in range(3)]


def read_io(warehouse, profiles):
    calls = {}
    for profile, (owner, order), row in counted_rows(warehouse, profiles, "io"):
        key = owner, row["trace_id"], row["call"]
        calls[key] = (order, add((calls.get(key) or (0, None))[1], [row["calls"], row["bytes"], row["time_ns"]]))
    for (owner, trace, call), (order, values) in calls.items():
        yield (order, trace, call), (owner, trace, call), warehouse.stack(trace), (("call", call, 0, ""),), values


def read_waits(warehouse, profiles):
    """Go's mutex (locks) and block (channels and other waits too): what made nobody wait is left out."""
    waits = {}
    for profile, _, row in counted_rows(warehouse, profiles, "locks"):
        name, trace = warehouse.one("objects", row["object_id"])["name"], row["trace_id"]
        labels = () if is_stored(profile) else (("object", name, 0, ""),)
        key = trace, name, row["object_id"], object_stack(warehouse, trace, name), labels
        waits[key] = add(waits.get(key), [waits_of(row), row["wait_ns"] + row["read_wait_ns"]])
    for _, _, row in counted_rows(warehouse, profiles, "channels"):
        name = warehouse.one("objects", row["object_id"])["name"]
        key = 0, name, row["object_id"], ((f"channel#{row['channel']}", 0),), (("object", name, 0, ""),)
        waits[key] = add(waits.get(key), [row["push_blocked"] + row["pop_blocked"], row["push_blocked_ns"] + row["pop_blocked_ns"]])
    for key, values in waits.items():
        if any(values):
            trace, name, ident, stack, labels = key
            yield (trace, name, ("" if trace else stack[0][0]), ident), key, stack, labels, values


READERS = {"lock": read_lock, "wait": read_other_waits, "io": read_io, "lifetimes": read_lifetimes, "mvcc": read_mvcc, "channels": read_channels, "fibers": read_fibers, "syscalls": read_syscalls,
           "mutex": read_waits, "block": lambda warehouse, profiles: read_waits(warehouse, profiles)}
BY_STACK = {"heap": heap_values, "heap-peak": peak_values, "leak": leak_values, "mmap": map_values, "threads": thread_values, "spin": spin_values, "cpu": cpu_values, "recorder": cpu_values, "lock": wait_values, "wait": wait_values}


class Profile:
    """What goes out, in the terms of the warehouse: `samples` is {(stack, labels): values}."""

    def __init__(self):
        self.types, self.default, self.period_type = [], "", ("", "")
        self.period = self.time = self.duration = 0
        self.drop = self.keep = self.url = ""
        self.comments, self.mappings, self.samples = [], [], {}

    def comment(self, text):
        if text not in self.comments:
            self.comments.append(text)

    def sample(self, stack, labels, values):
        total = self.samples[stack, labels] = add(self.samples.get((stack, labels)), values)
        if not all(FIRST <= value <= LAST for value in total):
            raise Wrong("a sum is beyond 64 bits")


class Query:
    """Which profiles: runs of a kind, and for each run from when to when."""

    def __init__(self, warehouse, kind, since=None, until=None, window=None):
        self.warehouse, self.kind, self.since, self.until, self.window = warehouse, kind, since, until, window
        self.kinds = KINDS.get(self.kind, ((), "", "", ()))[3] or (self.kind,)

    def span(self, run):
        """Windows with an end after the first and up to the second."""
        first, last, start = FIRST, LAST, self.warehouse.one("runs", run)["started_ns"]
        if self.window:
            ends = sorted({profile["time_ns"] for profile in self.warehouse.profiles(run, self.kinds)})
            number = self.window + (len(ends) if self.window < 0 else -1)
            if not 0 <= number < len(ends):
                raise Wrong(f"run {run} has {len(ends)} windows")
            return ends[number - 1] if number else FIRST, ends[number]
        if self.since is not None:
            first = start + int(self.since * 10**9)
        if self.until is not None:
            last = start + int(self.until * 10**9)
        return first, last

    def profiles(self, run):
        """[(profile, whether it is in the span)]; those before it are there for what they left in use."""
        first, last = self.span(run)
        return [(profile, profile["time_ns"] > first) for profile in self.warehouse.profiles(run, self.kinds)
                if profile["time_ns"] <= last]

    def are_stored(self, runs):
        """Then all of it goes out with these types."""
        return all(is_stored(profile) for run in runs for profile in self.warehouse.profiles(run, self.kinds))

    def types(self, runs, are_stored):
        if not are_stored and self.kind in KINDS:
            return pairs(KINDS[self.kind][0])
        types = {profile["sample_types"] for run in runs for profile in self.warehouse.profiles(run, self.kinds)}
        if len(types) > 1:
            raise Wrong("profiles of other sample types: " + " ".join(sorted(types)))
        return [tuple(pair) for pair in json.loads(types.pop())]

    def read(self, run, types, are_stored):
        names, profiles = [IN_USE.get(name, name) for name, _ in types], self.profiles(run)
        table = self.kinds[0] if are_stored else self.kind
        if table in BY_STACK and (are_stored or self.kind not in ("lock", "wait")):
            return read_by_stack(self.warehouse, profiles, names, BY_STACK[table], table in ("heap", "mmap"), table in ("heap", "heap-peak", "leak"))
        if table in READERS:
            return READERS[table](self.warehouse, profiles)
        return read_own_types(self.warehouse, profiles, types)


# ---- what a profile says about itself ----

def drop_frames(warehouse):
    """The wrappers of allocators that call nothing else, as one expression, which profiles of the heap have: what was allocated is their
    caller's, but the time that they take is theirs. pprof takes the arguments off before it matches."""
    words = []
    for (glob,) in warehouse.rows("SELECT pattern FROM wrappers ORDER BY pattern"):
        is_plain = re.fullmatch(r"\w+\*?", glob, re.ASCII) and not re.match(r"_PyObject_GC_|PyType_GenericAlloc", glob)
        if not is_plain and not glob.startswith(("operator new", "operator delete")):
            continue
        name, parenthesis, arguments = glob.partition("(")
        expression = [re.sub(r"([\\.+()|{}^$\]])", r"\\\1", part).replace("*", ".*").replace("?", ".") for part in (name, parenthesis + arguments)]
        words.append(expression[0] + (f"(?:{expression[1]})?" if parenthesis else ""))
    return "^(?:" + "|".join(words) + ")$" if words else ""


class Head:
    """Fills the head of a profile. The windows of a process are one profile; the processes of a run ran beside each other, so a
    recorded one took from the first start to the last end; runs are added as pprof adds files."""

    def __init__(self, query, profile, are_stored):
        self.query, self.warehouse, self.profile, self.are_stored = query, query.warehouse, profile, are_stored
        self.default, self.period_type = KINDS.get(query.kind, ("", "", "/"))[1:3] if not are_stored else ("", "/")
        self.dropped = self.truncated = self.sample_n = self.sample_bytes = self.parts = self.runs = self.processes = 0

    def add_run(self, run):
        parts = {}
        for profile, is_counted in self.query.profiles(run):
            parts.setdefault(place(profile), []).append((profile, is_counted))
        for number, windows in enumerate(parts.values()):
            self.add_part(run, windows, number == 0)
        self.runs += 1
        if self.warehouse.one("runs", run)["content_hash"] is None:
            self.processes += len(parts)
            spans = [(p["time_ns"] - p["duration_ns"], p["time_ns"]) for windows in parts.values() for p, counted in windows if counted]
            if spans:
                self.profile.duration += max(end for _, end in spans) - min(start for start, _ in spans)

    def add_part(self, run, windows, is_first_of_run):
        out, first = self.profile, windows[0][0]
        is_recorded = self.warehouse.one("runs", run)["content_hash"] is None
        counted = [profile for profile, is_counted in windows if is_counted]
        if self.parts == 0:
            out.period_type = tuple(own or known for own, known in zip((first["period_type"], first["period_unit"]), self.period_type.split("/")))
            out.drop = first["drop_frames"] or (drop_frames(self.warehouse) if is_recorded and self.query.kind in ("heap", "heap-peak", "leak", "lifetimes") else "")
            out.keep, out.url = first["keep_frames"], first["doc_url"]
        self.parts += 1
        out.default = out.default or first["default_type"] or self.default
        if is_first_of_run:
            self.add_time(counted or [profile for profile, _ in windows], bool(counted) and not is_recorded)
            self.name_run(run, is_recorded)
        period, sample_n = (max(profile[name] for profile, _ in windows) for name in ("period", "sample_n"))
        self.sample_n = max(self.sample_n, sample_n)
        if sample_n <= 1 and first["period_type"] == "space" and is_recorded:
            self.sample_bytes = period
        out.period = max(out.period, period if period or self.are_stored else sample_n)
        self.dropped += sum(profile["dropped"] for profile in counted)
        self.truncated += sum(profile["truncated"] for profile in counted)
        for profile, _ in windows:
            for text in json.loads(profile["comments"]):
                out.comment(text)
        self.add_mappings([profile for profile, _ in windows])

    def add_time(self, windows, are_counted):
        out, end = self.profile, max(profile["time_ns"] for profile in windows)
        out.time = end if not out.time else min(out.time, end)
        if are_counted:
            out.duration += end - min(profile["time_ns"] - profile["duration_ns"] for profile in windows)

    def name_run(self, run, is_recorded):
        row = self.warehouse.one("runs", run)
        if is_recorded:
            for name, text in (("command", row["command"]), ("run", row["uuid"]), ("label", row["label"])):
                if text:
                    self.profile.comment(f"{name}: {text}")

    def add_mappings(self, profiles):
        """A window lists those that the ones before it lack; the executable of the process is the main one."""
        idents = [ident for profile in profiles for ident in json.loads(profile["mappings"])]
        process = profiles[0]["process_id"]
        executable = self.warehouse.one("processes", process)["executable"] if process else None
        idents.sort(key=lambda ident: self.warehouse.one("mappings", ident)["filename"] != executable)
        self.profile.mappings += [ident for ident in idents if ident not in self.profile.mappings]

    def close(self):
        """What is not exact says so."""
        comment = self.profile.comment
        if self.dropped:
            comment(f"WARNING: {self.dropped} samples dropped: every figure here may be too small")
        if self.truncated:
            comment(f"WARNING: {self.truncated} stacks truncated: their callers are missing")
        if self.sample_n > 1:
            comment(f"sampled: every {self.sample_n}th event, counted {self.sample_n} times")
        if self.sample_bytes > 1:
            comment(f"sampled: one allocation in {self.sample_bytes} bytes on average, scaled up")
        if self.query.kind in ("cpu", "recorder") and self.processes > self.runs:
            comment(f"CPU time of {self.processes} processes, added up; the duration is that of the whole run")


def load(query, runs):
    profile, are_stored = Profile(), query.are_stored(runs)
    for run in runs:
        if not query.warehouse.profiles(run, query.kinds):
            raise Wrong(f"run {run} has no {query.kind} profile")
    profile.types = query.types(runs, are_stored)
    head = Head(query, profile, are_stored)
    for run in runs:
        head.add_run(run)
        found = {}
        for order, key, stack, labels, values in query.read(run, profile.types, are_stored):
            one = found.setdefault(key, [order, stack, labels, None])
            one[3] = add(one[3], values)
        for _, stack, labels, values in sorted(found.values(), key=lambda one: one[0]):
            profile.sample(stack, labels, values)
    head.close()
    return profile


def subtract(profile, base, runs):
    if base.types != profile.types:
        raise Wrong("the base has other sample types")
    for (stack, labels), values in base.samples.items():
        labels = tuple(label for label in labels if label[0] != "pprof::base") + (("pprof::base", "true", 0, ""),)
        profile.sample(stack, labels, [-value for value in values])
    profile.comment(f"base: {len(runs)} run{'' if len(runs) == 1 else 's'}, the first is {runs[0]}")


# ---- profile.proto ----

def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def packed(field, values):
    return message(field, b"".join(map(varint, values))) if values else b""


class Encoder:
    """Ids are given in the order of first use, from 1."""

    def __init__(self, warehouse):
        self.warehouse, self.texts, self.parts = warehouse, {"": 0}, []
        self.mappings, self.functions, self.locations = {}, {}, {}

    def text(self, text):
        return self.texts.setdefault(text, len(self.texts))

    def value_type(self, field, pair):
        return message(field, number(1, self.text(pair[0])) + number(2, self.text(pair[1])))

    def mapping(self, ident):
        if not ident:
            return 0
        if ident not in self.mappings:
            self.mappings[ident] = len(self.mappings) + 1
            row = self.warehouse.one("mappings", ident)
            self.parts.append(message(3, number(1, self.mappings[ident]) + number(2, row["memory_start"])
                                      + number(3, row["memory_limit"]) + number(4, row["file_offset"])
                                      + number(5, self.text(row["filename"])) + number(6, self.text(row["build_id"]))
                                      + number(7, row["has_functions"]) + number(8, row["has_filenames"])
                                      + number(9, row["has_line_numbers"]) + number(10, row["has_inline_frames"])))
        return self.mappings[ident]

    def function(self, *said):
        if said not in self.functions:
            self.functions[said] = len(self.functions) + 1
            name, system_name, file, line = said
            self.parts.append(message(5, number(1, self.functions[said]) + number(2, self.text(name)) + number(3, self.text(system_name))
                                      + number(4, self.text(file)) + number(5, line)))
        return self.functions[said]

    def location(self, key):
        if key not in self.locations:
            data = self.named_frame(*key) if isinstance(key, tuple) else self.stored_location(key)
            self.locations[key] = len(self.locations) + 1
            self.parts.append(message(4, number(1, self.locations[key]) + data))
        return self.locations[key]

    def named_frame(self, name, line):
        return message(4, number(1, self.function(name, name, "", 0)) + number(2, line))

    def stored_location(self, ident):
        row, lines = self.warehouse.one("locations", ident), b""
        for line in self.warehouse.lines(ident):
            function = self.warehouse.one("functions", line["function_id"])
            ident = self.function(function["name"], function["system_name"], function["filename"], function["start_line"])
            lines += message(4, number(1, ident) + number(2, line["line"]) + number(3, line["column"]))
        return number(2, self.mapping(row["mapping_id"])) + number(3, row["address"]) + lines + number(5, row["is_folded"])

    def label(self, key, text, value, unit):
        return message(3, number(1, self.text(key)) + number(2, self.text(text) if text else 0) + number(3, value)
                       + number(4, self.text(unit)))

    def encode(self, profile):
        head = b"".join(self.value_type(1, pair) for pair in profile.types)
        for ident in profile.mappings:
            self.mapping(ident)
        samples = []
        for (stack, labels), values in profile.samples.items():
            samples.append(message(2, packed(1, [self.location(key) for key in stack]) + packed(2, values)
                                   + b"".join(self.label(*label) for label in labels)))
        tail = number(7, self.text(profile.drop)) + number(8, self.text(profile.keep)) + number(9, profile.time)
        tail += number(10, profile.duration) + self.value_type(11, profile.period_type) + number(12, profile.period)
        tail += packed(13, [self.text(text) for text in profile.comments]) + number(14, self.text(profile.default))
        tail += number(15, self.text(profile.url))
        texts = b"".join(message(6, text.encode("utf-8", "surrogateescape")) for text in self.texts)
        return head + b"".join(samples) + b"".join(self.parts) + texts + tail


# ---- the command ----

def run_numbers(warehouse, text):
    known = [row["id"] for row in warehouse.rows("SELECT id FROM runs ORDER BY id")]
    if text is None:
        return [max((row["started_ns"], row["id"]) for row in warehouse.rows("SELECT id, started_ns FROM runs"))[1]]
    runs = []
    for word in text.split(","):
        first, _, last = word.partition("..")
        low, high = sorted((int(first), int(last or first))) if word != "all" else (known[0], known[-1])
        runs += [run for run in known if low <= run <= high and run not in runs]
    return runs


def write(db, out, kind, runs=None, base=None, since=None, until=None, window=None, zeros=True):
    """The command, for tests in Python; zeros=False: without samples of nothing, and so without mappings that they alone use."""
    warehouse = Warehouse(db)
    query = Query(warehouse, kind, since, until, window)
    profile = load(query, run_numbers(warehouse, runs))
    if base:
        runs = run_numbers(warehouse, base)
        subtract(profile, load(query, runs), runs)
    if not zeros:
        profile.samples = {key: values for key, values in profile.samples.items() if any(values)}
    data = Encoder(warehouse).encode(profile)
    with open(out, "wb") as file:
        file.write(gzip.compress(data, 1, mtime=0) if out.endswith(".gz") else data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("db")
    parser.add_argument("out")
    parser.add_argument("--kind", required=True)
    parser.add_argument("--runs")
    parser.add_argument("--base")
    parser.add_argument("--from", dest="since", type=decimal.Decimal)
    parser.add_argument("--to", dest="until", type=decimal.Decimal)
    parser.add_argument("--window", type=int)
    write(**vars(parser.parse_args()))


if __name__ == "__main__":
    try:
        main()
    except Wrong as reason:
        sys.exit(f"oracle.py: {reason}")
