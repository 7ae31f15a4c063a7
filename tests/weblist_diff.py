#!/usr/bin/env python3
"""weblist_diff.py PPROF.html OURS.html: are the same functions, lines and instructions in both pages, in the same order, with the same values?
Prints what is not and exits 1. `weblist_diff.py --lines PAGE.html` prints FUNCTION LINE FLAT CUM of each line that has a value."""
import html.parser
import re
import sys


class Theirs(html.parser.HTMLParser):
    """pprof's page: h2, p.filename, and a pre in which lines and code are columns of text."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.path, self.where, self.text = [], [], None, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.path.append((tag, dict(attributes).get("class")))
        if tag in ("h2", "p", "pre"):
            self.text = ""

    def handle_endtag(self, tag):
        self.path.pop()
        if tag == "h2":
            self.where = self.text
        elif tag == "p":
            self.where = (self.where, self.text)
        elif tag == "pre":
            self.read(self.text)

    def handle_data(self, data):
        inside = self.path[-1][1] if self.path and self.path[-1][0] == "span" else None
        self.text += f"\x01{inside}\x02{data}" if inside else data

    def read(self, text):
        total = re.match(r"\s*Total: +(\S+) +(\S+) \(flat", text)
        self.rows.append((*self.where, "total", total[1], total[2]))
        number = None
        for kind, data in re.findall("\x01(\\w+)\x02([^\x01]*)", text):
            if kind == "line":
                number = data.strip()
            elif kind in ("nop", "livesrc", "deadsrc"):
                self.rows.append((*self.where, int(number), *data.split()[:2]))
            elif kind == "asm":
                for flat, cum, address, code in re.findall(r"^ +(\S+) +(\S+) +([0-9a-f]+): *(.*)$", data, re.M):
                    self.rows.append((*self.where, int(number), flat, cum, address, " ".join(code.split())))


class Ours(html.parser.HTMLParser):
    """Each part a span of a class of its own: n number, f flat, c cum, a address, t code, s source."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.function, self.file, self.number, self.parts, self.open, self.in_code = [], "", "", None, {}, [], False
        self.feed(text)
        self.flush()

    def handle_starttag(self, tag, attributes):
        kind = dict(attributes).get("class") or tag
        if tag in ("meta", "input"):
            return
        if tag == "section":
            self.flush()
            self.function = self.file = ""
            self.in_code = True
        if tag == "div" or kind == "n":
            self.flush()
        self.open.append(kind)

    def handle_endtag(self, _tag):
        if self.open.pop() == "sum":
            self.rows.append((self.function, self.file, "total", self.parts.get("f"), self.parts.get("c")))
            self.parts = {}

    def handle_data(self, data):
        kind = self.open[-1] if self.open else ""
        if kind == "h2":
            self.function += data
        elif kind == "file":
            self.file += data
        elif kind in ("n", "f", "c", "a", "t", "s") and self.in_code:
            self.parts[kind] = self.parts.get(kind, "") + data

    def flush(self):
        parts, self.parts = self.parts, {}
        where = (self.function, self.file)
        if parts.get("n", "").isdigit():
            self.number = int(parts["n"])
            self.rows.append((*where, self.number, parts["f"], parts["c"]))
        elif "a" in parts:
            self.rows.append((*where, self.number, parts["f"], parts["c"], parts["a"], " ".join(parts["t"].split())))


def read(kind, path):
    with open(path, encoding="utf-8") as file:
        return kind(file.read()).rows


def main():
    if sys.argv[1] == "--lines":
        kind = Theirs if "pprof_toggle_asm" in open(sys.argv[2], encoding="utf-8").read() else Ours
        for row in read(kind, sys.argv[2]):
            if len(row) == 5 and row[2] != "total" and row[4] not in ".0":
                print(row[0], *row[2:])
        return
    theirs, ours = read(Theirs, sys.argv[1]), read(Ours, sys.argv[2])
    theirs = [row[:3] + tuple("." if cell == "0" else cell for cell in row[3:5]) + row[5:] for row in theirs]
    if theirs == ours and sum(len(row) == 7 for row in theirs) > 3 and sum(len(row) == 5 for row in theirs) > 3:
        return
    for name, rows, others in (("pprof", theirs, set(ours)), ("ours", ours, set(theirs))):
        print(f"{name}: {len(rows)} rows")
        for row in [row for row in rows if row not in others][:10]:
            print("   ", *row)
    sys.exit(1)


main()
