#!/usr/bin/env python3
"""formats.py CLEAR PPROF DIRECTORY WAREHOUSE...: the formats that clear export and clear report both write.

Of each WAREHOUSE every kind of every run, all runs that have a kind together, and their newest less the others:
- The same format gives the same bytes, whichever command was asked.
- What is in them is what `go tool pprof -raw` prints of the profile that tests/oracle.py makes of the tables: stacks, labels and
  values of folded, csv, samples and speedscope, every box of flamegraph, nodes and edges of json.
- svg is what graphviz draws of pprof's graph, and callgrind_annotate sums up callgrind's costs to pprof's.
Of a part of the profiles (oracle_compare.py says which); of those each format by both commands of every other one, and pictures but
svg of a sixth. Of all with ORACLE=whole. Where
PLAIN_CLEAR is another build than CLEAR, CLEAR writes a quarter of each profile's formats, others than of the profile before.
Prints what differs; exits 1 where something did."""
import collections
import csv
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
import zlib

import older_pprof
import oracle
import oracle_compare

SMALL = 3000  # bytes of a graph in DOT
PICTURES = ("png", "pdf", "ps", "gif")  # and svg
FEWEST = 5  # profiles a warehouse; fewer prove nothing
NO_REPORTS = ("pprof", "otlp", "dump", "datasette-metadata", "memory", "chrome", "perfetto", "firefox")  # formats of clear export of which no report can be made


def without_time(pdf):
    """The streams of a PDF, inflated, and no time: a newer cairo has the time inside of one, and lengths and offsets behind it."""
    streams = []
    for head, stream in re.findall(rb"<<([^\n]*(?:\n[^\n]*){0,8}?)>>\s*stream\n(.*?)\nendstream", pdf, re.S):
        if b"/XRef" in head:
            continue
        try:
            stream = zlib.decompress(stream)
        except zlib.error:
            pass
        streams.append(re.sub(rb"/CreationDate \(.*?\)", b"", stream))
    assert streams, "a PDF without streams"
    return streams


class Raw:
    """What pprof -raw prints: `types` (name, unit), `samples` (values, names leaf first, labels), `shown`: the default type."""

    def __init__(self, text):
        self.types, self.shown, samples = [], None, []
        section, last, places, mappings = "", None, {}, {}
        for line in text.splitlines():
            if line in ("Samples:", "Locations", "Mappings"):
                section = line
            elif section == "Samples:" and not self.types:
                words = line.split()
                self.types = [tuple(word.replace("[dflt]", "").split("/", 1)) for word in words]
                self.shown = next((i for i, word in enumerate(words) if word.endswith("[dflt]")), len(words) - 1)
            elif section == "Samples:":
                values = re.match(r"^ *([-0-9 ]+): ?([0-9 ]*)$", line)
                if values:
                    samples.append(([int(word) for word in values[1].split()], values[2].split(), []))
                else:
                    samples[-1][2].extend(re.findall(r"(\S+):\[(.*?)\](?= |$)", line.strip()))
            elif section == "Locations":
                place = re.match(r"^ +(\d+): (0x[0-9a-f]+) (?:M=(\d+) )?(?:\[F\] )?(.*)$", line)
                if place:
                    last = places[place[1]] = (int(place[2], 16), place[3], [])
                function = re.match(r"^(.*) \S*?:\d+(?::\d+)? s=-?\d+(\(.*\))?$", place[4] if place else line.strip())
                if function:
                    last[2].append(function[1])
            elif section == "Mappings" and line.strip():
                mapping = re.match(r"^(\d+): (0x[0-9a-f]+)/(0x[0-9a-f]+)/(0x[0-9a-f]+) (\S*)", line)
                mappings[mapping[1]] = (int(mapping[2], 16), int(mapping[4], 16), mapping[5])
        names = {ident: self.names(*place, mappings) for ident, place in places.items()}
        self.samples = [(values, [name for ident in stack for name in names[ident]], self.labels(labels))
                        for values, stack, labels in samples]

    @staticmethod
    def names(address, mapping, functions, mappings):
        """An unknown function is where it is in its binary."""
        start, offset, path = mappings.get(mapping, (0, 0, ""))
        unknown = f"{path.rsplit('/', 1)[-1]}+{address - start + offset:#x}" if path else f"{address:#x}"
        return [name or unknown for name in functions] or [unknown]

    @staticmethod
    def labels(labels):
        """pprof prints a number with its unit behind it."""
        return tuple(sorted((key, re.sub(r"(?<=\d) ?[a-zA-Z]+\b", "", value) if re.match(r"-?\d", value) else value)
                            for key, value in labels))

    def has_base(self):
        return any(("pprof::base", "true") in labels for _, _, labels in self.samples)

    def sides(self, kind, least=None):
        """{stack root first: [before, after]} of one type; of samples with `least` at least."""
        sums = collections.defaultdict(lambda: [0, 0])
        for values, names, labels in self.samples:
            before = values[kind] < 0 or ("pprof::base", "true") in labels
            value = -values[kind] if before else values[kind]
            sums[tuple(reversed(names))][not before] += value if least is None or value >= least else 0
        return sums


def plain(name):
    return name.replace(";", ":").replace("\n", " ").replace("\r", " ")


# ---- a check a format: what it says, and what pprof says, in one shape ----

def folded(text, raw):
    got, want, columns = {}, collections.Counter(), 2 if raw.has_base() else 1
    for line in text.decode().splitlines():
        stack, *values = line.rsplit(" ", columns)
        got[stack] = tuple(map(int, values))
    for stack, (before, after) in raw.sides(raw.shown).items():
        if before or after:
            want[";".join(map(plain, stack)) or "[no stack]"] = (before, after) if columns == 2 else (after - before,)
    return got, {stack: values for stack, values in want.items() if any(values)}


def counted(rows):
    """Rows of (stack, labels, values), counted. Left out are rows of zeros, which samples and csv leave out and an older pprof loses, and
    labels of 0 without a unit, which pprof loses."""
    return collections.Counter((stack, tuple(sorted((key, text) for key, text in labels if text != "0")), values)
                               for stack, labels, values in rows if any(values))


def rows_of(raw, stack=tuple):
    return counted((stack(names), labels, tuple(values)) for values, names, labels in raw.samples)


def samples(text, raw):
    profile, got = json.loads(text), []
    for sample in profile["samples"]:
        labels = ((key, " ".join(map(str, value)) if isinstance(value, list) else str(value)) for key, value in sample["labels"].items())
        names = tuple(profile["frames"][i]["function"] for i in sample["stack"])
        got.append((names, tuple(labels), tuple(sample["values"])))
    return ([(one["type"], one["unit"]) for one in profile["sample_types"]], counted(got)), (raw.types, rows_of(raw))


def csv_rows(text, raw):
    header, *rows = csv.reader(io.StringIO(text.decode(), newline=""))
    keys = [re.sub(r"^label:(.*?)(/[a-z]+)?$", r"\1", name) for name in header if name.startswith("label:")]
    types, got = [tuple(name.split("/", 1)) for name in header[1 + len(keys):]], []
    for stack, *cells in rows:
        labels = tuple((key, cell) for key, cell in zip(keys, cells) if cell)
        got.append((stack, labels, tuple(map(int, cells[len(keys):]))))
    return (types, counted(got)), (raw.types, rows_of(raw, lambda names: ";".join(name.replace(";", ":") for name in reversed(names))))


def speedscope(text, raw):
    file, got, want = json.loads(text), {}, {}
    names = [frame["name"] for frame in file["shared"]["frames"]]
    for profile in file["profiles"]:
        sums = got[profile["name"]] = collections.Counter()
        for stack, weight in zip(profile["samples"], profile["weights"]):
            sums[tuple(names[frame] for frame in stack)] += weight
    for kind, (name, _) in enumerate(raw.types):
        sides = raw.sides(kind, 1)  # nothing in this format is negative
        is_two = raw.has_base() or any(before for before, _ in sides.values())
        for side, suffix in enumerate((" before", " after")):
            sums = collections.Counter({stack: values[side] for stack, values in sides.items() if values[side]})
            if is_two or side:
                want[name + (suffix if is_two else "")] = sums
    shown = file["profiles"][file["activeProfileIndex"]]["name"]
    return (shown.replace(" after", ""), got), (raw.types[raw.shown][0], want)


def flamegraph(text, raw):
    """Each box, by the names from the root to it, and its part of the whole in percent. Narrow ones are not compared."""
    narrow, svg, got, rows = 0.05, "{http://www.w3.org/2000/svg}", {}, {}
    for box in xml.fromstring(text).iter(svg + "svg"):
        if box.get("class") == "f":
            left, width = (float(box.get(key).rstrip("%")) for key in ("x", "width"))
            rows.setdefault(int(box.get("y")), []).append((left, width, box.get("data-n")))
    above = [(0, 100, ())]
    for _, boxes in sorted(rows.items()):
        here = []
        for left, width, name in boxes:
            path = next(path for start, size, path in above if start <= left + width / 2 <= start + size) + (name,)
            here.append((left, width, path))
            got[path[1:]] = width
        above = here
    sums = collections.Counter()
    for stack, sides in raw.sides(raw.shown).items():
        for depth in range(len(stack) + 1):
            sums[stack[:depth]] += max(*sides, 0)
    want = {path: 100 * value / sums[()] for path, value in sums.items()} if sums[()] else {(): 0}
    wide = {path for path, share in want.items() if share > narrow or not path}
    boxes = {path: want[path] if abs(share - want[path]) < 1e-3 else share for path, share in got.items() if path in wide}
    return (boxes, set(got) - set(want)), ({path: want[path] for path in wide}, set())


def graph(text, raw):
    """Of functions that have a name; what has none is one node a binary for pprof, whose name has no address in it."""
    report, flat, cum, edges = json.loads(text), collections.Counter(), collections.Counter(), collections.Counter()
    for values, names, _ in raw.samples:
        value = values[raw.shown]
        flat.update({names[0]: value} if names else {})
        cum.update({name: value for name in set(names)})
        edges.update({pair: value for pair in set(zip(names[1:], names)) if pair[0] != pair[1]})
    names = [node.get("function") for node in report["nodes"]]
    got = {node["function"]: (node["flat"], node["cum"]) for node in report["nodes"] if "function" in node}
    got_edges = {(names[edge["from"]], names[edge["to"]]): edge["weight"] for edge in report["edges"] if edge["from"] != edge["to"]}
    want = {name: (flat[name], cum[name]) for name in cum
            if name in got or (not re.search(r"(^|\+)0x[0-9a-f]+$", name) and (flat[name] or cum[name]))}
    # Where differences come to nothing, their functions are left out, and edges go past them.
    is_past = any(cum[name] == 0 for name in cum)
    known = lambda edges: {pair: weight for pair, weight in edges.items() if weight and not is_past and pair[0] in got and pair[1] in got}
    return (report["type"], got, known(got_edges)), (raw.types[raw.shown][0], want, known(edges))


def difference(got, want, path=""):
    """The parts that differ."""
    if type(got) is type(want) and isinstance(got, tuple) and len(got) == len(want) and path.count("/") < 3:
        for at, pair in enumerate(zip(got, want)):
            yield from difference(*pair, f"{path}/{at}")
    elif isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(set(got) | set(want), key=str):
            if got.get(key) != want.get(key):
                yield from difference(got.get(key), want.get(key), f"{path}/{key}")
    elif got != want:
        yield f"{path}: {got}, not {want}"


CHECKS = {"folded": folded, "samples": samples, "csv": csv_rows, "speedscope": speedscope, "flamegraph": flamegraph, "json": graph}
WHOLE = {"json": ["-nodefraction=0", "-edgefraction=0", "-nodecount=0"]}
# These show both sides of a difference, whichever option named the base.
TWO_SIDED = ("folded", "samples", "csv", "speedscope", "flamegraph")


class Formats(oracle_compare.Comparer):
    def __init__(self, clear, pprof, directory):
        super().__init__(clear, pprof, directory)
        # The formats are written by the same code, whoever asks: what the sanitizers see of a quarter of the reports is enough of it. They
        # make 60 ms of 80 of a report.
        self.plain = os.environ.get("PLAIN_CLEAR", clear)
        done = subprocess.run([clear, "export", "--kind", "heap", "--format", "?"], stderr=subprocess.PIPE, text=True)
        self.formats = [name for name in re.search(r"'\?': ([a-z, -]+)", done.stderr)[1].strip().split(", ") if name not in NO_REPORTS]

    def output(self, *command, given=None):
        done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise oracle.Wrong(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def raw(self, case, option):
        want, base = self.file("want"), self.file("base")
        self.write(case, case.runs, (), want)
        if case.base:
            self.write(case, case.base, (), base)
        return Raw(self.output(self.pprof, "-symbolize=none", "-raw", *([option, base] if case.base else []), want).decode())

    def reported(self, case, name, *options):
        kept = self.local.__dict__.setdefault("outputs", {})
        if kept.get("case") is not case:
            kept.clear()
            kept["case"] = case
        if (name, options) not in kept:
            kept[name, options] = self.report_on(case, name, *options)
        return kept[name, options]

    def report_on(self, case, name, *options):
        base = [case.option, oracle_compare.names(case.base)] if case.base else []
        clear = self.plain if (case.number + self.formats.index(name)) % 4 else self.clear
        return self.output(clear, "report", name, *options, *base, "--db", case.db, "--kind", case.kind, oracle_compare.names(case.runs))

    def same(self, case, name):
        base = [f"-{case.option}", oracle_compare.names(case.base)] if case.base else []
        reported = self.reported(case, name)
        exported = self.output(self.plain, "export", "--format", name, *base, "--db", case.db, "--kind", case.kind,
                               oracle_compare.names(case.runs), "-o", "-")
        if name == "pdf":  # graphviz writes the time into it
            exported, reported = without_time(exported), without_time(reported)
        return "" if exported == reported else f"{len(exported)} bytes exported, {len(reported)} reported: not the same\n"

    def truth(self, case, name):
        raw = self.raw(case, "-diff_base" if name in TWO_SIDED else case.option)
        got, want = CHECKS[name](self.reported(case, name, *WHOLE.get(name, [])), raw)
        return "" if got == want else "\n".join(difference(got, want)) + "\n"

    def drawn(self, case):
        """svg is what graphviz makes of our graph, and that draws as pprof's. pprof writes a quotation mark in a label as it is:
        graphviz reads no such graph."""
        if case.base:
            return ""  # weights of opposite sign have no order
        want, ours = self.file("want"), self.reported(case, "dot")
        self.write(case, case.runs, (), want)
        if self.reported(case, "svg") != self.picture(ours):
            return "not what graphviz makes of the graph\n"
        try:
            theirs = self.picture(self.output(self.pprof, "-symbolize=none", "-dot", want))
        except oracle.Wrong:
            return ""
        ours = older_pprof.headers(ours) if older_pprof.is_older() else ours
        return "" if self.picture(ours) == theirs else "not what graphviz makes of pprof's graph\n"

    def picture(self, dot):
        return self.output("dot", "-Tsvg", given=dot)

    def annotated(self, case):
        """callgrind_annotate adds up what each function costs itself, of every sample type, to what pprof says."""
        raw, path = self.raw(case, case.option), self.file("callgrind")
        if case.base:
            return ""  # it knows no negative costs
        with open(path, "wb") as file:
            file.write(self.reported(case, "callgrind", "-all_types"))
        got, want = collections.Counter(), collections.Counter()
        for line in self.output("callgrind_annotate", "--threshold=100", "--auto=no", path).decode().splitlines():
            row = re.match(r"^([-0-9,.()% ]+)  \S*?:(.*?)(?: \[.*\])?$", line)
            for at, cell in enumerate(re.findall(r"([-0-9,]+|\.(?= |$))(?: \([ 0-9.]+%\))?", row[1]) if row else ()):
                got[row[2], at] += 0 if cell == "." else int(cell.replace(",", ""))
        for values, names, _ in raw.samples:
            for at, value in enumerate(values if names else ()):
                want[names[0], at] += value
        known = lambda sums: {key: value for key, value in sums.items() if value and not re.search(r"(^|[+ 0])0?x?[0-9a-f]{4,}", key[0])}
        return "" if known(got) == known(want) else "\n".join(difference(known(got), known(want))) + "\n"

    def check(self, case):
        """All pictures are drawn from one graph, and drawing takes long: those of large graphs are left out."""
        is_small = len(self.reported(case, "dot")) < SMALL
        left_out = ("svg", *PICTURES) if not is_small else PICTURES if case.number % 6 and not oracle_compare.is_whole() else ()
        both = [name for i, name in enumerate(self.formats) if name not in left_out and (
            oracle_compare.is_whole() or name in PICTURES or (case.number + i) % 2 == 0)]
        checks = [(name, lambda name=name: self.same(case, name)) for name in both]
        checks += [(name, lambda name=name: self.truth(case, name)) for name in CHECKS]
        checks += [("svg", lambda: self.drawn(case))] if is_small else []
        checks += [("callgrind", lambda: self.annotated(case))]
        found = []
        for name, check in checks:
            try:
                text = check()
            except oracle.Wrong as reason:
                text = f"{reason}\n"
            with self.lock:
                self.compared += 1
            if text:
                found.append((name, text))
        return found


def cases_of(db):
    for case in oracle_compare.cases_of(db):
        if case.span():
            continue
        query = case.query()
        try:
            profile = oracle.load(query, case.runs)
            if case.base:
                oracle.subtract(profile, oracle.load(query, case.base), case.base)
            yield case
        except oracle.Wrong:
            pass  # sums beyond 64 bits: tests/formats.sh


def main():
    clear, pprof, directory, *warehouses = sys.argv[1:]
    formats = Formats(clear, pprof, directory)
    known = [list(cases_of(db)) for db in warehouses]
    cases = [case for some in known for case in oracle_compare.chosen(some)]
    for number, case in enumerate(cases):
        case.number = number
    failures = oracle_compare.check_all(cases, formats.check)
    print(f"{formats.compared} comparisons of {len(cases)} profiles as {', '.join(formats.formats)}: {failures} failures")
    sys.exit(failures > 0 or sum(map(len, known)) < FEWEST * len(warehouses))


main()
