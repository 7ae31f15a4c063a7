"""clear_profiles: reads a warehouse of clear in Python, with the standard library alone (SQLite 3.40 or later).

    import clear_profiles
    warehouse = clear_profiles.open("runs.sqlite")
    warehouse.findings()                 # of the latest run, worst first; a table in a notebook
    warehouse.heap(run=3)                # rows: function, file, line, alloc_bytes, inuse_bytes, ...
    warehouse.flame("cpu")               # a flame graph in a notebook, by _repr_html_
    warehouse.query("SELECT count(*) AS runs FROM runs")

The file is opened read-only, and no function but SQLite's own can be called from it: names of functions and texts from a profile are data, and are escaped where they become
HTML. Rows are dicts with the names of the columns; columns that end in _bytes and _ns have these units.
"""
import html
import json
import sqlite3
import urllib.parse

__all__ = ["open", "Warehouse", "Rows", "Flame", "ClearError"]

FLAME_VALUES = {
    "heap": ("alloc_bytes", "alloc_count", "inuse_bytes", "inuse_count", "free_bytes", "free_count"),
    "cpu": ("cpu_ns", "samples"),
}
FLAME_SQL = {
    "heap": "SELECT trace_id, sum({value}) FROM heap WHERE run_id = :run GROUP BY trace_id",
    "cpu": "SELECT trace_id, sum({value}) FROM cpu_use WHERE run_id = :run AND kind = 'cpu' GROUP BY trace_id",
}
SAMPLES_SQL = """SELECT samples.trace_id, sum(samples.v0) FROM samples JOIN profiles ON profiles.id = samples.profile_id
                 WHERE profiles.run_id = :run AND profiles.kind = :kind GROUP BY samples.trace_id"""


class ClearError(Exception):
    """What was asked for is not there; the text says what is."""


class Rows(list):
    """Rows as dicts, in order. In a notebook it is a table."""

    shown = 100

    def _repr_html_(self):
        if not self:
            return "<p>no rows</p>"
        columns = list(self[0])
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        lines = ["".join(f"<td>{html.escape(_text(row[column]))}</td>" for column in columns) for row in self[: self.shown]]
        rest = f"<p>{len(self) - self.shown} more rows</p>" if len(self) > self.shown else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>" + "".join(f"<tr>{line}</tr>" for line in lines) + f"</tbody></table>{rest}"


def _text(value):
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)


class Flame:
    """Stacks with their values: `stacks` is {(root, ..., leaf): value}, `total` their sum."""

    height, width, smallest = 17, 1000, 0.5  # pixels; narrower boxes are left out

    def __init__(self, title, unit, stacks):
        self.title, self.unit, self.stacks = title, unit, stacks
        self.total = sum(stacks.values())

    def tree(self):
        """{name: [value, children]}, where children is such a dict again."""
        root = {}
        for stack, value in self.stacks.items():
            level = root
            for name in stack:
                node = level.setdefault(name, [0, {}])
                node[0] += value
                level = node[1]
        return root

    def folded(self):
        """One line a stack, as flame graph tools read it."""
        return "".join(f"{';'.join(stack)} {value}\n" for stack, value in sorted(self.stacks.items()) if stack)

    def _boxes(self):
        scale = self.width / self.total if self.total > 0 else 0
        waiting = [(self.tree(), 0.0, 1)]
        yield self.title, self.total, 0.0, float(self.width), 0
        while waiting:
            level, left, depth = waiting.pop()
            for name in sorted(level):
                value, children = level[name]
                width = value * scale
                if width >= self.smallest:
                    yield name, value, left, width, depth
                    waiting.append((children, left, depth + 1))
                left += max(width, 0)

    def _repr_html_(self):
        boxes = list(self._boxes())
        depth = max(box[4] for box in boxes) + 1
        parts = []
        for name, value, left, width, level in boxes:
            share = 100 * value / self.total if self.total else 0
            tip = html.escape(f"{name}: {value} {self.unit}, {share:.1f} %")
            shown = name if len(name) * 7 < width else name[: max(int(width / 7) - 1, 0)]
            hue = sum(name.encode("utf-8", "replace")) % 40 + 15
            top = level * self.height
            parts.append(f'<g><title>{tip}</title><rect x="{left:.2f}" y="{top}" width="{width:.2f}" height="{self.height - 1}" fill="hsl({hue},80%,70%)"/>'
                         f'<text x="{left + 3:.2f}" y="{top + 12}" font-size="11" font-family="monospace">{html.escape(shown)}</text></g>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {depth * self.height}" width="100%" role="img">' + "".join(parts) + "</svg>"


class Warehouse:
    """An open warehouse. Close it, or use it in a `with`."""

    def __init__(self, path):
        self.path = str(path)
        try:
            self.connection = sqlite3.connect(f"file:{urllib.parse.quote(self.path)}?mode=ro", uri=True)
            self.connection.execute("PRAGMA query_only = ON")
            self.connection.execute("SELECT id FROM runs LIMIT 1")
        except sqlite3.Error as error:
            raise ClearError(f"{self.path}: is no warehouse of clear: {error}") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.connection.close()

    def query(self, sql, /, **parameters):
        """Rows of a SELECT; :name in it is the parameter of that name."""
        cursor = self.connection.execute(sql, parameters)
        names = [column[0] for column in cursor.description or ()]
        return Rows(dict(zip(names, row)) for row in cursor)

    def runs(self):
        return self.query("SELECT id, label, command, host, started_ns, duration_ns FROM runs ORDER BY started_ns DESC, id DESC")

    def run(self, run=None):
        """The id of a run: None is the latest; a number, or a label, whose latest run it is."""
        by = "id = :run" if isinstance(run, int) else "label = :run" if run is not None else ":run IS NULL"
        found = self.query(f"SELECT id FROM runs WHERE {by} ORDER BY started_ns DESC, id DESC LIMIT 1", run=run)
        if not found:
            raise ClearError(f"{self.path}: there is no run {run!r}" if run is not None else f"{self.path}: has no runs")
        return found[0]["id"]

    def findings(self, run=None):
        """What clear doctor says of a run, worst first; `evidence` is a dict of its figures, `trace_ids` a list of stacks."""
        rows = self.query("SELECT section, code, severity, subject, evidence, trace_ids, advice FROM doctor WHERE run_id = :run", run=self.run(run))
        for row in rows:
            row["evidence"], row["trace_ids"] = json.loads(row["evidence"] or "{}"), json.loads(row["trace_ids"] or "[]")
        return rows

    def heap(self, run=None):
        """A row for each allocating stack, the most bytes first."""
        return self.query("""SELECT trace_id, function, file, line, module, alloc_count, alloc_bytes, free_count, free_bytes, inuse_count, inuse_bytes
                             FROM heap WHERE run_id = :run ORDER BY alloc_bytes DESC, trace_id""", run=self.run(run))

    def flame(self, kind="heap", run=None, value=None):
        """A flame graph of a kind of profile. `value` chooses a column: for heap alloc_bytes (default), inuse_bytes, ...; for cpu cpu_ns or
        samples. Of a kind in the table samples it is the first sample type; others, as lock, have figures of their own, which query() reads."""
        run = self.run(run)
        known = FLAME_VALUES.get(kind)
        if value is not None and value not in (known or ()):
            raise ClearError(f"{kind} has no value {value!r}: {', '.join(known or ('the first sample type alone',))}")
        value = value or (known[0] if known else None)
        sql = FLAME_SQL[kind].format(value=value) if known else SAMPLES_SQL
        rows = dict(self.connection.execute(sql, {"run": run, "kind": kind}))
        totals = {trace: total for trace, total in rows.items() if total}
        if not totals:
            kinds = [row["kind"] for row in self.query("SELECT DISTINCT kind FROM profiles WHERE run_id = :run ORDER BY 1", run=run)]
            if kind in kinds and not known and not rows:
                raise ClearError(f"run {run}: {kind} is not drawn: a flame graph is of heap, of cpu or of a kind in the table samples; query() reads the others")
            raise ClearError(f"run {run} has nothing of {kind}; its profiles: {', '.join(kinds) or 'none'}")
        stacks = {}
        for trace, line in self.connection.execute("SELECT trace_id, stack FROM stacks WHERE trace_id IN (SELECT value FROM json_each(?))", (json.dumps(list(totals)),)):
            stack = tuple(line.split(";")) if line else ()
            stacks[stack] = stacks.get(stack, 0) + totals[trace]
        return Flame(f"{kind} of run {run}", value or "units", stacks)


def open(path="runs.sqlite"):
    """Opens a warehouse, read-only."""
    return Warehouse(path)
