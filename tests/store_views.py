"""store_views.py CLEAR FILE STORE PROJECT: every view of a file has the same rows in a store that has the file's runs alone.

Rows are compared as sets, with these differences, which docs/store.md names: ids are the store's, so what they stand for is compared;
numbers that are equal are equal, whether a point is behind them or not (15 digits of a real number); of lists of stacks and
of the waits and calls that an advice names the order is not; site_history shows another one of the stacks with a signature."""
import collections
import json
import sqlite3
import subprocess
import sys

clear, path, store, project = sys.argv[1:5]
file = sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def of_file(sql):
    cursor = file.execute(sql)
    return [column[0] for column in cursor.description], cursor.fetchall()


def of_store(sql):
    asked = subprocess.run([clear, "query", "--remote", "--db", store, "--project", project, "--timeout", "300", "--format", "arrays", sql],
                           capture_output=True, text=True)
    if asked.returncode:
        raise SystemExit(f"FAIL: {sql}: {asked.stderr}")
    lines = [json.loads(line) for line in asked.stdout.splitlines()]
    return lines[0]["columns"], lines[1:-1]


class Names:
    """What the ids of one side stand for."""

    def __init__(self, ask):
        def rows(sql):
            return ask(sql)[1]

        runs = {number: uuid for number, uuid in rows("SELECT id, uuid FROM runs")}
        of_run = {"process": dict(rows("SELECT id, run_id FROM processes")), "profile": dict(rows("SELECT id, run_id FROM profiles"))}
        mappings = {row[0]: tuple(row[1:]) for row in rows("SELECT * FROM mappings")}
        functions = {row[0]: tuple(row[1:]) for row in rows("SELECT * FROM functions")}
        lines = collections.defaultdict(list)
        for location, place, function, *rest in rows('SELECT location_id, position, function_id, line, "column" FROM location_lines'):
            lines[location].append((place, functions[function], *rest))
        locations = {key: (mappings[mapping], address, folded, tuple(sorted(lines[key])))
                     for key, mapping, address, folded in rows("SELECT id, mapping_id, address, is_folded FROM locations")}
        self.signatures = dict(rows("SELECT id, signature FROM traces"))
        traces = {key: tuple(locations[step] for step in json.loads(stack)) for key, stack in rows("SELECT id, stack FROM traces")}
        objects = {row[0]: tuple(row[1:]) for row in rows("SELECT id, kind, identity FROM objects")}
        labels = dict(rows("SELECT id, labels FROM label_sets"))
        events = {}
        for key, process, trace, thing, *rest in rows(
                "SELECT id, process_id, trace_id, object_id, tid, start_ns, duration_ns, kind, address, owner_tid, is_late, value FROM events"):
            events[key] = (process & 0xffffffff, traces[trace], objects[thing], *rest)
        ids = {
            "run": lambda key: runs[key],
            "process": lambda key: (runs[of_run["process"][key]], key & 0xffffffff),
            "profile": lambda key: (runs[of_run["profile"][key]], key & 0xffffffff),
            "mapping": mappings.get, "function": functions.get, "location": locations.get, "trace": traces.get, "object": objects.get,
            "label_set": labels.get, "event": events.get}
        self.things = {thing: find for thing, find in ids.items()}

    def thing_of(self, column):
        if column in ("release_id", "slowest_id", "region_id"):
            return "event"
        if column == "other_id":
            return "object"
        for thing in self.things:
            if column == thing + "_id" or column.endswith("_" + thing + "_id"):
                return thing
        return None

    def normal(self, column, value):
        thing = self.thing_of(column)
        if thing and value is not None:
            meant = self.things[thing](value)
            assert meant is not None or value == 0, f"{column} {value} is no {thing}"
            return hash(meant)
        if column == "trace_ids" and value:
            return sorted(map(str, (self.things["trace"](key) for key in json.loads(value))))
        if column == "evidence" and value:
            return sorted((key, self.normal(key, item)) for key, item in json.loads(value).items())
        if column == "sites" and value:  # in evidence it is an array already
            return json.loads(value) if isinstance(value, str) else value
        if column == "advice" and value:
            return sorted(value.replace(".", " ").replace(";", " ").split())
        return number(value)


def number(value):
    return float(f"{value:.15g}") if isinstance(value, (int, float)) and not abs(value) > 1 << 52 else value


def rows_of(ask, names, view):
    columns, rows = ask(f'SELECT * FROM "{view}"')
    made = collections.Counter()
    for row in rows:
        if view == "site_history":  # shows one of the stacks with the signature: the one with the greatest id
            assert names.signatures[row[columns.index("trace_id")]] == row[columns.index("signature")], row
            row = [None if column in ("trace_id", "line") else value for column, value in zip(columns, row)]
        made[repr([(column, names.normal(column, value)) for column, value in zip(columns, row)])] += 1
    return columns, made


views = sys.argv[5:] or [name for name, in file.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]
here, there = Names(of_file), Names(of_store)
wrong = 0
for view in views:
    in_file, in_store = rows_of(of_file, here, view), rows_of(of_store, there, view)
    if in_file != in_store:
        wrong += 1
        missing, more = in_file[1] - in_store[1], in_store[1] - in_file[1]
        print(f"FAIL: {path}: {view}: {sum(missing.values())} rows of the file are not in the store, {sum(more.values())} are others")
        for which, rows in (("file", missing), ("store", more)):
            for row in sorted(rows)[:2]:
                print(f"  {which}: {row[:700]}")
    elif in_file[1]:
        print(f"{view}: {sum(in_file[1].values())}")
sys.exit(1 if wrong else 0)
