"""Doctor, Compare, Peek, Tags, Graph, Source, Disassembly, Trend, Windows, locks and other objects in a browser: browser_pages.py. Every
number is compared with what clear prints for the same selection."""
import os
import re

from browser import Page, Server, clear, clear_json, tour
from webdriver import ENTER, HOME

ROWS = ("return [...document.querySelectorAll(arguments[0] + ' .table-body [data-index]')].map(row => Object.fromEntries([...row.querySelectorAll('[data-column]')]"
        ".map(cell => [cell.dataset.column, cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent])))")


def rows(page, where="main"):
    return page.run(ROWS, where)


def press(page, words):
    page.run("[...document.querySelectorAll('main button, main a')].find(one => one.textContent === arguments[0]).click()", words)


def try_doctor(page):
    page.go("/?runs=locks&page=doctor")
    want = clear_json("doctor", "--json", "locks")
    assert want and sorted(page.run("return [...document.querySelectorAll('.finding')].map(one => one.dataset.code)")) == sorted(one["code"] for one in want)
    severities = page.run("return [...document.querySelectorAll('.finding')].map(one => one.className.split(' ')[1])")
    assert severities == sorted(severities, key=["critical", "warning", "note"].index)
    first = page.run("const one = document.querySelector('.finding'); return [one.dataset.code, one.querySelector('.subject-name').textContent, Object.fromEntries([...one.querySelectorAll('dd')].map(dd => [dd.dataset.name, dd.dataset.value]))]")
    evidence = next(one["evidence"] for one in want if one["code"] == first[0] and one["subject"] == first[1])
    assert first[2] and all(str(evidence[name]) == value for name, value in first[2].items()), first
    # Its stacks are those of the warehouse, and its row is in the table of locks.
    press(page, next(text for text in page.texts(".finding button") if "tack" in text))
    page.wait("document.querySelector('.stack li code')")
    traces = next(one["trace_ids"] for one in want if one["code"] == first[0] and one["subject"] == first[1])[:5]
    frames = clear_json("query", "--json", f"SELECT function FROM frames WHERE trace_id IN ({', '.join(map(str, traces))}) ORDER BY trace_id, depth")
    assert page.texts(".finding:first-child .stack li code") == [frame["function"] for frame in frames]
    press(page, "Its row")
    page.until("document.querySelector('.host-locks')")
    assert [row["name"] for row in rows(page)] == [first[1]]


def try_compare(page):
    page.go("/?runs=after&base=before&page=compare&fold=all")
    want = clear_json("doctor", "before", "--diff", "after", "--json")
    assert page.text(".verdict h2") == want["quote"]
    total = next(row for row in want["rows"] if row["section"] == "totals")
    shown = {row["figure"]: row for row in rows(page) if row["section"] == "totals"}
    for name, heading in (("alloc_bytes", "allocated bytes"), ("alloc_count", "allocated count"), ("duration_ns", "duration")):
        figure = total["figures"][name]
        assert [shown[heading][key] for key in ("before", "after", "delta")] == [figure["old"]["mean"], figure["new"]["mean"], figure["delta"]], name
    page.go("/?runs=after&base=before&page=compare")
    changed = sum(1 for row in want["rows"] for name, figure in row["figures"].items() if figure["is_change"] and row.get("judged_by", name) == name)
    assert page.eval("document.querySelector('.table').getAttribute('aria-rowcount')") == str(changed + 1)
    page.go("/?page=compare&runs=after")
    assert "two sides" in page.text("main")


def try_objects(page):
    for name, label, view, figures in (("locks", "locks", "lock_use", ["acquires", "contended", "wait_ns", "hold_ns"]), ("channels", "queues", "channel_use", ["pushes", "pops"]), ("cells", "cells", "cell_use", ["reads", "commits", "retries"])):
        page.go(f"/?runs={label}&page={name}")
        got = {row["name"]: row for row in rows(page)}
        sums = ", ".join(f"sum({figure}) AS {figure}" for figure in figures)
        want = clear_json("query", "--json", f"SELECT object AS name, {sums} FROM {view} WHERE run_id = :run GROUP BY 1", f"run={label}")
        if name == "locks":  # the page counts readers with the others
            want = clear_json("query", "--json", f"SELECT object AS name, sum(acquires + read_acquires) AS acquires, sum(contended + read_contended) AS contended, sum(wait_ns + read_wait_ns) AS wait_ns, sum(hold_ns) AS hold_ns FROM {view} WHERE run_id = :run GROUP BY 1", f"run={label}")
        assert want and set(got) == {row["name"] for row in want}, (got, want)
        for row in want:
            for figure in figures:
                assert got[row["name"]][figure] == row[figure], (name, row["name"], figure, got[row["name"]], row)
        page.press_keys(HOME)
        page.wait("document.querySelector('.callers .table-body [data-index]')")
        assert rows(page, ".callers")


def try_peek(page):
    page.go("/?runs=known&kind=samples&page=peek&function=%5Eeval%24")
    text = page.texts(".peek tr")
    assert any("main" in line and "4,000" in line for line in text) and any("alloc" in line and "3,000" in line for line in text), text
    page.run("[...document.querySelectorAll('.peek a')].find(link => link.textContent === 'main').click()")
    page.until("location.search.includes('main')")
    assert [float(value) for value in page.run("return [...document.querySelectorAll('.peek tbody:last-child [data-value]')].map(one => one.dataset.value)")] == [6000, 4000]


def try_tags(page):
    page.go("/?runs=locks&kind=cpu&page=tags")
    said = clear("report", "tags", "--kind", "cpu", "locks")
    keys = re.findall(r"^ *(\S+): Total", said, re.M)
    assert keys and [caption.split()[0] for caption in page.texts(".tags caption")] == keys
    for value, label in re.findall(r"^ *(\S+) \( *\S+\): (.*)$", said, re.M):
        assert any(value in row and label in row for row in page.texts(".tags tbody tr")), (value, label)
    press(page, "keep")
    page.until("document.querySelector('.chip')")
    assert page.parameter("tf").startswith(keys[0] + "=")


def try_graph(page):
    page.go("/?runs=known&kind=samples&page=graph")
    page.wait("document.querySelectorAll('.graph .node').length >= 5")
    names = set(page.run("return [...document.querySelectorAll('.graph [data-name]')].map(one => one.dataset.name)"))
    assert {"main", "parse", "read", "eval", "alloc"} <= names, names
    page.press_keys("/", "eval")
    page.wait("document.querySelector('.graph .match')")
    page.run("document.querySelector('.graph .match').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    page.wait("document.querySelector('[role=menu]')")


def try_code(page):
    page.go("/?runs=parser&kind=cpu&page=source&function=%5Ewrite_line%24")
    lines = [row for row in rows(page) if row["line"]]
    listed = clear("report", "list=^write_line$", "--kind", "cpu", "parser")
    total = re.search(r"^ *(\S+) +(\S+) \(flat, cum\)", listed, re.M)
    assert lines and total, listed
    text = open("parser.c", encoding="utf-8").read().splitlines()
    for row in lines:
        assert row["text"].strip() == text[int(row["line"]) - 1].expandtabs(8).strip(), row
    flat = next(node for node in clear_json("report", "json", "--kind", "cpu", "--nodefraction", "0", "--focus", "^write_line$", "parser")["nodes"] if node["name"] == "write_line")
    heads = [row for row in rows(page) if not row["line"]]
    assert heads[0]["flat"] == flat["flat"] and heads[0]["cum"] == flat["cum"], (heads, flat)
    press(page, "Disassembly")
    page.until("document.querySelector('.host-disasm .source.code')")
    code = page.texts(".source.code")
    assert any(re.search(r"call|mov|ret|push", line) for line in code), code
    page.go("/?runs=parser&kind=cpu&page=source")
    assert page.count(".offer a") > 3


def points(page):
    return [float(value) for value in page.run("return [...document.querySelectorAll('.point')].map(one => one.dataset.value)")]


def try_trend(page):
    page.go("/?runs=before&page=trend&figure=alloc_bytes&subject=all")
    want = [run["alloc_bytes"] for run in reversed(clear_json("runs", "--json"))]
    assert points(page) == want
    page.run("document.querySelectorAll('.point')[0].focus()")
    page.press_keys(ENTER)
    page.until("document.querySelectorAll('.point.chosen').length === 1")
    page.run("document.querySelectorAll('.point')[2].dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    page.until("document.querySelectorAll('.point.chosen').length === 2")
    assert "Compare" in page.texts(".choice a")
    page.go("/?runs=known&page=trend&kind=samples&function=%5Eeval%24&subject=known,other")
    assert sorted(points(page)) == [3500, 4000], points(page)
    page.go("/?runs=known&page=trend&kind=samples&function=%5Eeval%24&figure=flat&subject=known,other")
    assert sorted(points(page)) == [500, 1000], points(page)


def try_windows(page):
    page.go("/?runs=phases&kind=heap&page=live")
    got = rows(page)
    assert sum(row["alloc_bytes"] for row in got) == clear_json("runs", "--json", "phases")[0]["alloc_bytes"]
    assert page.count(".timeline .window") == len(got)
    left, top, width, _ = page.box(".timeline")
    page.drag(left + 1, top + 60, left + width * 0.5, top + 60)
    page.until("location.search.includes('to=')")
    inside = page.count(".timeline .window.inside")
    assert 0 < inside < len(got)
    low, high = page.parameter("from"), page.parameter("to")
    page.run("[...document.querySelectorAll('#nav a')].find(link => link.textContent === 'Top').click()")
    page.until("document.querySelector('.host-top')")
    page.go(f"/?runs=phases&kind=heap&si=alloc_space&from={low}&to={high}&page=top")
    assert page.count(".chip") == 2 and page.figure(".total") == sum(row["alloc_bytes"] for row in got[:inside])


def try_states(page):
    tour(page, [("/?runs=locks&page=doctor", "document.querySelector('.host-doctor .finding')"), ("/?runs=after&base=before&page=compare", "document.querySelector('.host-compare .verdict')"),
                ("/?runs=locks&page=locks", "document.querySelector('.host-locks .table-row')"), ("/?runs=known&kind=samples&page=graph", "document.querySelector('.host-graph .node')"),
                ("/?runs=phases&kind=heap&page=live", "document.querySelector('.host-live .window')")])


def make():
    fixtures = os.environ["FIXTURES"]
    with open("known.folded", "w", encoding="utf-8") as file:
        file.write("main;parse;read 4000\nmain;parse;parse;read 2000\nmain;eval;alloc 3000\nmain;eval 1000\n")
    with open("other.folded", "w", encoding="utf-8") as file:
        file.write("main;parse;read 1000\nmain;eval;alloc 3000\nmain;eval 500\n")
    for name in ("other", "known"):
        clear("ingest", "--label", name, name + ".folded")
    for label, fixture, options in (("locks", "lock_contended", ["--cpu=999"]), ("queues", "channels", []), ("cells", "mvcc", []), ("before", "heap_counts", []), ("after", "leak", []),
                                    ("phases", "phases", ["--interval", "100ms"])):
        clear("profile", "-q", "--label", label, "-o", label + ".profile", *options, f"{fixtures}/{fixture}")
    clear("profile", "-q", "--label", "parser", "--cpu=999", "-o", "parser.profile", "./parser")


def main():
    make()
    only = os.environ.get("ONLY", "")
    with Server("t.db") as server, Page(server) as page:
        for part in (try_doctor, try_compare, try_objects, try_peek, try_tags, try_graph, try_windows, try_states, try_code, try_trend):
            if only in part.__name__:
                part(page)


main()
