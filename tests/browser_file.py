"""A run as one HTML file, opened from the disk with the network off: browser_file.py. Every number is compared with what clear prints of the
same run; the callers and callees that the page makes itself are compared with those of a server."""
import json
import os
import random
import re
import subprocess
import urllib.parse
import urllib.request

import harm
from browser import READY, Page, Server, clear, clear_json
from webdriver import ENTER, HOME

MOST = 5 << 20
ROWS = ("return [...document.querySelectorAll(arguments[0] + ' .table-body [data-index]')].filter(row => arguments[0] !== 'main' || !row.closest('.callers')).map(row => Object.fromEntries([...row.querySelectorAll('[data-column]')]"
        ".map(cell => [cell.dataset.column, cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent])))")


class FilePage(Page):
    """A browser on files, offline. On leaving one, it must have had nothing to complain about and nothing asked."""

    def __init__(self, path):
        super().__init__(None)
        self.cdp("Network.enable")
        self.take(path)

    def take(self, path):
        """Goes on with another file. The browser is the same: to start one takes two seconds of a processor."""
        self.leave()
        self.connect(False)
        self.is_open = False
        self.root = "file://" + os.path.abspath(path)

    def connect(self, to):
        self.cdp("Network.emulateNetworkConditions", offline=not to, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def check(self):
        super().check()
        assert self.server or self.requests() == []

    def open_at(self, search):
        """The first page is a new document; from there on the way is that of a link."""
        if not self.is_open:
            self.open(self.root + ("#?" + search if search else ""))
        else:
            self.run_async("const [to, done] = arguments; if (location.hash === to) return done();"
                           "addEventListener('hashchange', () => done(), { once: true }); location.hash = to;", "#?" + search)
        self.is_open = True
        self.wait(READY)

    def go(self, search=""):
        self.open_at(search)
        assert self.count(".failure") == 0, (search, self.texts(".failure"))

    def rows(self, where="main"):
        return self.run(ROWS, where)


def export(label, path, *options):
    """Writes the file into a directory without the warehouse."""
    clear("export", "--html", label, "-o", "elsewhere/" + path, *options)
    assert 100_000 < os.path.getsize("elsewhere/" + path) <= MOST
    return "elsewhere/" + path


def report(*arguments):
    return clear_json("report", *arguments)


# ---- profiles

def types_of(label):
    return [(kind["kind"], one["type"]) for kind in clear_json("runs", "--describe", label)["kinds"] for one in kind["types"]]


def try_profile(page, label, kind, of):
    want = report("json", "--kind", kind, "--sample_index", of, "--nodecount", "100000", "--nodefraction", "0", label)
    for more in ("", "&inverted=1"):
        page.go(f"page=flame&kind={kind}&si={of}{more}")
        assert page.count(".flame") == 0 or page.figure(".toolbar .total") == want["total"], (kind, of, more)
    page.go(f"page=top&kind={kind}&si={of}")
    assert page.figure(".toolbar .total") == want["total"]
    shown = page.rows()
    nodes = {node["name"]: node for node in want["nodes"]}
    assert shown, (kind, of)
    for row in shown:
        assert (row["flat"], row["cum"]) == (nodes[row["name"]]["flat"], nodes[row["name"]]["cum"]), row


def try_code(page, label):
    for name, form in (("source", "source"), ("disasm", "code")):
        want = report(f"{form}=^copy_token$", "--kind", "heap", "--sample_index", "alloc_space", label)["functions"][0]
        page.go(f"page={name}&kind=heap&si=alloc_space&function=%5Ecopy_token%24")
        lines = {line["line"]: (line["flat"], line["cum"]) for line in want["lines"]}
        table = ".code-pair > .table-frame" if page.count(".code-pair") else "main"  # the source, without the code beside it
        got = {int(row["line"]): (row["flat"], row["cum"]) for row in page.rows(table) if str(row["line"]).isdigit()}
        assert got and (name == "disasm" or all(lines[line] == of for line, of in got.items())), (got, lines)
        assert any("strndup" in row["text"] for row in page.rows(table)), name


def try_peek(page, label):
    want = report("json", "--kind", "heap", "--sample_index", "alloc_space", "--around", "^split$", "--trim=false", label)
    page.go("page=peek&kind=heap&si=alloc_space&function=%5Esplit%24")
    got = sorted((row["what"], row["name"].removesuffix(" (inline)"), row["value"]) for row in page.rows() if row["what"] != "function")
    names = [node["name"] for node in want["nodes"]]
    at = names.index("split")
    assert got == sorted([("caller", names[edge["from"]], edge["weight"]) for edge in want["edges"] if edge["to"] == at]
                         + [("callee", names[edge["to"]], edge["weight"]) for edge in want["edges"] if edge["from"] == at]) and got


def try_graph_and_tags(page, label):
    page.go("page=graph&kind=heap")
    assert page.count(".graph svg.plain") == 0 and page.count(".graph .node") > 3
    page.go("page=graph&kind=heap&si=alloc_objects")  # neither the main type nor one of the overview
    assert page.count(".graph svg.plain") == 1 and "alloc_objects" in page.eval("document.querySelector('.toolbar').textContent")
    page.go("page=tags&kind=heap")
    values = re.findall(r"\): (.*)$", clear("report", "tags", "--kind", "heap", label), re.M)
    assert values and {row["label"] for row in page.rows()} <= set(values)


# ---- the run

def try_run(page, label):
    run = next(one for one in clear_json("runs", "--json") if one["label"] == label)
    page.go("page=overview")
    overview = clear_json("doctor", "--overview", label)
    assert page.text(".verdict h2") == overview["verdict"]["text"]
    assert page.run("return [...document.querySelectorAll('.costs [data-value]')].map(one => Number(one.dataset.value))") == [
        row["value"] for of in overview["functions"] for row in of["rows"]]
    page.go("page=runs")
    assert [(row["label"], row["duration_ns"]) for row in page.rows()] == [(label, run["duration_ns"])]
    page.go(f"page=trend&figure=duration_ns")
    assert [row["figure"] for row in page.rows()] == [run["duration_ns"]]
    page.go("page=doctor")
    findings = clear_json("doctor", "--json", label)
    assert sorted(page.run("return [...document.querySelectorAll('.finding')].map(one => one.dataset.code)")) == sorted(one["code"] for one in findings)
    first = page.eval("document.querySelector('.finding .subject-name').title")
    finding = next(one for one in findings if one["subject"] == first)
    page.run("[...document.querySelectorAll('.finding button')].find(one => /[Ss]tack/.test(one.textContent)).click()")
    page.wait("document.querySelector('.stack li code')")
    frames = clear_json("query", "--json", f"SELECT function FROM frames WHERE trace_id IN ({', '.join(map(str, finding['trace_ids'][:5]))}) ORDER BY trace_id, depth")
    assert page.texts(".finding:first-child .stack li code") == [frame["function"] for frame in frames]


def try_objects(page, label, pages):
    offered = page.run("return [...document.querySelectorAll('#nav a')].map(one => new URLSearchParams(one.hash.slice(2)).get('page'))")
    assert "sql" not in offered and "live" not in offered and set(pages) <= set(offered), offered
    for name, view, figure in ((name, *of) for name, of in pages.items()):
        page.go("page=" + name)
        want = clear_json("query", "--json", f"SELECT object, sum({figure}) AS sum FROM {view} WHERE run_id = (SELECT id FROM runs WHERE label = '{label}') GROUP BY 1")
        assert sorted(row["name"] for row in page.rows()) == sorted({row["object"] for row in want}), name
        page.run("document.querySelector('main .table-body [data-index]').click()")
        page.wait("document.querySelector('.callers .table-body [data-index]')")
        chosen = page.rows(".host > .table-frame")[0]["name"]
        assert sum(row.get(figure, 0) for row in page.rows(".callers")) == next(row["sum"] for row in want if row["object"] == chosen), (name, chosen)


def try_timeline(page, label):
    want = clear_json("query", "--json", f"SELECT tid, start_ns, duration_ns FROM events JOIN processes ON processes.id = process_id WHERE run_id = (SELECT id FROM runs WHERE label = '{label}')")
    page.go("page=timeline")
    assert page.figure(".host .total") == len(want)
    start, end = sorted(one["start_ns"] for one in want)[len(want) // 3], sorted(one["start_ns"] for one in want)[len(want) // 2]
    busy = max((one["tid"] for one in want), key=[one["tid"] for one in want].count)  # the stacks of its waits stand below it when it is opened
    page.go(f"page=timeline&find=%20{busy}%24")
    tall = "document.querySelector('.threads-frame').scrollHeight"
    lanes = page.eval(tall)
    page.run("document.querySelector('.threads-frame').focus()")
    page.press_keys("s")
    page.wait(tall + " > arguments[0]", lanes)
    page.go(f"page=timeline&zoom={start}-{end}")
    inside = sum(one["start_ns"] <= end and one["start_ns"] + one["duration_ns"] >= start for one in want)
    assert f": {inside:,} of {len(want):,} events" in page.text(".host .total")


# ---- what the page makes itself

def stacks(answer):
    """{path: figures} of an answer of /api/tree, whatever the order and the numbers of its nodes."""
    nodes, paths = answer["nodes"], [()]
    for name, parent in list(zip(nodes["name"], nodes["parent"]))[1:]:
        paths.append(paths[parent] + (answer["names"][name],))
    return dict(zip(paths, zip(*(nodes[name] for name in ("value", "self", "base", "base_self") if name in nodes))))


def try_callers(page, label, base):
    """What is made of the whole tree, leaf first or of one function, is what the server makes of the samples; also of a difference."""
    page.connect(True)
    with Server("t.db") as server, page.at(server):
        page.open(server.url)
        page.ready()
        for of in ({}, {"base": base}):
            ask = lambda **more: json.load(urllib.request.urlopen(f"{server.url}/api/tree?" + urllib.parse.urlencode({"runs": label, "kind": "cpu", "width": 10 ** 9, **of, **more})))
            whole = ask()
            make = lambda name, *given: page.import_module("file/file_trees.js", f"return m.{name}(given[0], new RegExp(given[1]))", whole, *given)
            assert make("isWhole") and stacks(make("invertedOf")) == stacks(ask(inverted=1))
            for pattern in ["^main$", "^split$", "i", "no such function"]:
                assert stacks(make("calleesOf", pattern)) == stacks(ask(pivot=pattern)), pattern
                assert stacks(make("callersOf", pattern)) == stacks(ask(pivot=pattern, inverted=1)), pattern


def try_ways(page):
    """Zoom, search and the way from a row to its callers work; what needs the warehouse says so and leaves the page as it is."""
    page.go("page=flame&kind=heap&si=alloc_objects")
    page.fill("#search", "split")
    page.until("document.querySelector('#header .found').textContent.includes('2,200,000')")
    page.go("page=top&kind=heap&si=alloc_objects")
    page.run("document.querySelector('main .table').focus()")
    page.keys(HOME, ENTER)
    page.until("document.querySelector('.sandwich')")
    assert page.eval("new URLSearchParams(location.hash.slice(1)).get('pivot')") == "^copy_token$"
    page.back()
    page.until("document.querySelector('.host-top')")
    assert page.eval("document.querySelector('.page-head button').disabled")
    for search in ("page=top&f=main", "page=live", "page=sql", "page=top&from=1ms", "page=compare&base=latest~1", "runs=12345678&page=top"):
        page.open_at(search)
        page.wait("document.querySelector('.failure')")
        assert "clear web" in page.text(".failure"), (search, page.text(".failure"))


def try_base(page):
    want = clear_json("doctor", "again", "--diff", "parser", "--json")
    page.open("about:blank")
    page.is_open = False
    page.go()
    page.run("[...document.querySelectorAll('#nav a')].find(one => one.textContent === 'Compare').click()")
    page.until("document.querySelector('.host-compare .verdict')")
    assert page.text(".verdict h2") == (want["quote"] or "Nothing changed by more than the noise.")
    diff = report("json", "--kind", "heap", "--diff_base", "again", "parser")
    page.go("page=top&kind=heap&base=base")
    assert page.figure(".toolbar .total") == diff["total"]
    page.go("page=flame&kind=heap&base=base")
    page.run("document.querySelector('.chip.base button').click()")
    page.until("!document.querySelector('.chip.base')")


def try_policy(page):
    """Not even a script of the page's own markup runs, but for the one whose hash is in the policy."""
    page.run("const one = document.createElement('script'); one.textContent = 'window.owned = 1'; document.body.append(one); document.body.setAttribute('onclick', 'window.owned = 1'); document.body.click();"
             "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.owned = 1\">'); fetch('https://example.org/').catch(() => {})")
    assert page.eval("window.owned === undefined")
    said = page.complaints()
    assert len(said) >= 3 and all("Content Security Policy" in line or "ERR_" in line for line in said), said


def try_harm(page):
    harm.make("evil.db")
    clear("export", "--html", "1", "-o", "evil.html", db="evil.db")
    with open("evil.html", encoding="utf-8") as file:
        markup = file.read()
    assert "<img" not in markup and "window.owned" not in markup and "safe" + harm.TURNED[4:6] not in markup and markup.count("<script") == 2 and markup.count("</script") == 2
    page.take("evil.html")
    page.go()
    names = page.run("return [...document.querySelectorAll('#nav a')].map(one => new URLSearchParams(one.hash.slice(2)).get('page'))")
    for name in names:
        for more in ("", "&function=main", "&inverted=1&fold=1"):
            if name == "trend" and more:
                continue
            page.open_at(f"page={name}&kind=samples{more}")
            harm.check(page, (name, more), own=2)
    page.go("page=flame&kind=samples")
    assert "onerror" in page.run("return [...document.querySelectorAll('.flame [role=treeitem]')].map(one => one.textContent).join()")


def try_room(page):
    """Of a profile that is too large the answers that fit are there, the others are told of, and the pages that miss them say so."""
    source = random.Random(5)
    with open("large.folded", "w", encoding="ascii") as file:
        for _ in range(12_000):
            file.write("main;" + "".join(source.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=200)) + " 1\n")
    clear("ingest", "large.folded", db="large.db")
    said = subprocess.run([os.environ["CLEAR"], "export", "--db", "large.db", "--html", "-o", "large.html"], check=True, capture_output=True, text=True).stderr
    assert re.search(r"\d+ answers? had no room in 5 MiB", said), said
    assert os.path.getsize("large.html") <= MOST
    page.take("large.html")
    page.go("page=flame")
    page.open_at("page=top")
    page.wait("document.querySelector('.failure')")
    assert "clear web" in page.text(".failure")


def main():
    parser, books = export("parser", "parser.html", "--base", "again"), "elsewhere/books.html"
    with FilePage(parser) as page:
        try_run(page, "parser")
        for kind, of in types_of("parser"):
            if kind in ("heap", "cpu"):
                try_profile(page, "parser", kind, of)
        try_code(page, "parser")
        try_peek(page, "parser")
        try_graph_and_tags(page, "parser")
        try_ways(page)
        try_base(page)
        try_policy(page)
        page.take(books)
        page.go()
        try_objects(page, "books", {"locks": ("lock_use", "acquires"), "waits": ("wait_use", "waited")})
        try_timeline(page, "books")
        try_callers(page, "parser", "again")
        try_harm(page)
        try_room(page)


main()
