"""Doctor, Compare, Peek, Tags, Graph, Source, Disassembly, Trend, Windows, locks and other objects in a browser: browser_pages.py. Every
number is compared with what clear prints for the same selection."""
import gzip
import os
import re
import sqlite3

from browser import Page, Server, clear, clear_json, tour
from webdriver import DOWN, END, ENTER, ESCAPE, HOME
from wire import block, number, varint

ROWS = ("return [...document.querySelectorAll(arguments[0] + ' .table-body [data-index]')].filter(row => arguments[0] !== 'main' || !row.closest('.callers')).map(row => Object.fromEntries([...row.querySelectorAll('[data-column]')]"
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
    # The first with a row: on a busy machine the first of all may be about the processors.
    lock = page.eval("[...document.querySelectorAll('.finding')].find(one => [...one.querySelectorAll('button, a')].some(of => of.textContent === 'Its row')).querySelector('.subject-name').textContent")
    press(page, "Its row")
    page.until("document.querySelector('.host-locks')")
    assert [row["name"] for row in rows(page)] == [lock], (rows(page), lock)


CARDS = "document.querySelectorAll('.finding').length"


def try_many_findings(page):
    """Of many findings the first stand at once, and the others when they come in sight or are asked for; each once."""
    want = [one["subject"] for one in clear_json("doctor", "--json", "leaky")]
    assert len(want) >= 150, len(want)
    page.size(1280, 800)
    page.go("/?runs=leaky&page=doctor")
    first = page.eval(CARDS)
    assert 60 <= first < len(want), first
    assert "more findings" in page.text(".more")
    page.run("document.querySelector('.more').click()")  # as a key does
    page.wait(CARDS + " > arguments[0]", first)
    # As somebody who reads on to the end.
    page.wait("([...document.querySelectorAll('.finding')].pop().scrollIntoView({ block: 'end' }), " + CARDS + " === arguments[0])", len(want))
    shown = page.run("return [...document.querySelectorAll('.finding')].map(one => one.querySelector('.subject-name').title)")
    assert sorted(shown) == sorted(want) and not page.count(".more")
    # A search looks at all of them, those that no card has been made for too.
    page.go("/?runs=leaky&page=doctor&q=" + want[-1].split()[0])
    assert want[-1] in page.run("return [...document.querySelectorAll('.finding')].map(one => one.querySelector('.subject-name').title)")


def relative_words(page):
    """What the comparison says of figures that were 0 before and are not now."""
    return set(page.run("const cell = (row, name) => row.querySelector(`[data-column=${name}]`); return [...document.querySelectorAll('.table-body [data-index]')]"
                        ".filter(row => cell(row, 'before').dataset.value === '0' && cell(row, 'after').dataset.value !== '0').map(row => cell(row, 'percent').textContent)"))


def try_compare(page):
    page.go("/?runs=after&base=before&page=compare&fold=all")
    want = clear_json("doctor", "before", "--diff", "after", "--json")
    assert page.text(".verdict h2") == want["quote"]
    total = next(row for row in want["rows"] if row["section"] == "totals")
    shown = {row["figure"]: row for row in rows(page) if row["section"] == "totals"}
    for name, heading in (("alloc_bytes", "allocated bytes"), ("alloc_count", "allocated count"), ("duration_ns", "duration")):
        figure = total["figures"][name]
        assert [shown[heading][key] for key in ("before", "after", "delta")] == [figure["old"]["mean"], figure["new"]["mean"], figure["delta"]], name
    page.go("/?runs=after&base=before&page=compare&fold=all&sort=percent&order=down")
    assert relative_words(page) == {"from 0"}
    assert page.eval("[...document.querySelectorAll('[data-column=percent]')].every(cell => cell.scrollWidth <= cell.clientWidth)")
    page.go("/?runs=after&base=before&page=compare")
    changed = sum(1 for row in want["rows"] for name, figure in row["figures"].items() if figure["is_change"] and row.get("judged_by", name) == name)
    assert page.eval("document.querySelector('.table').getAttribute('aria-rowcount')") == str(changed + 1)
    page.go("/?runs=all:stormy&base=all:calm&page=compare")  # with the noise of several runs all columns are in sight too
    assert page.eval("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.table'))")
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
        if name != "locks":  # who uses a channel is not recorded, who uses a cell only with --sync-callstacks
            page.wait("document.querySelector('main').textContent.includes('Its callers were not recorded')")
            continue
        page.wait("document.querySelector('.callers .table-body [data-index]')")
        assert rows(page, ".callers")
        if name == "locks":  # of what is not counted by caller the page says whose stack it shows
            assert any("of all without a row of their own" in str(row) for row in page.run("return [...document.querySelectorAll('.callers .table-body [data-index]')].map(one => one.textContent)"))


def colour_at(page, x, row):
    """Red, green and blue of the picture at a point of a row."""
    return page.run("const probe = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true }); probe.drawImage(document.querySelector('.flame canvas'), -arguments[0], -arguments[1]);"
                    "return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3)", x, row * 20 + 3)


def try_noise(page):
    """A difference of two sets: what changed by no more than the noise is grey, what changed by more is red, as clear doctor --diff judges."""
    want = {row["subject"]: row["is_change"] for row in clear_json("doctor", "all:calm", "--diff", "all:stormy", "--json")["rows"] if row["by"] == "function" and row["section"] == "heap"}
    assert want == {"grown": True, "noisy": False}, want
    page.go("/?runs=all:stormy&base=all:calm&kind=heap&si=alloc_space")
    page.wait("document.querySelector('.legend').textContent.includes('grey: noise')")
    page.press_keys(HOME)
    name, row = "", 0
    while name != "grown":  # down the widest boxes
        page.keys(DOWN)
        name, row = page.eval("document.querySelector('.detail [data-name]').dataset.name"), row + 1
        assert row < 20, name
    width = page.eval("document.querySelector('.flame canvas').width")
    grey = page.import_module("charts/palette.js", "const probe = new OffscreenCanvas(1, 1).getContext('2d'); probe.fillStyle = m.changeColour(NaN, false); probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3)")
    red = colour_at(page, 30, row)
    assert red[0] > red[2] + 30, red
    assert colour_at(page, width - 30, row) == grey, (colour_at(page, width - 30, row), grey)
    assert colour_at(page, 30, row - 1) != grey  # a caller of what changed
    # The table of functions has the same judgement, means and noise; the row of a function in Compare leads to its sample type.
    page.go("/?runs=all:stormy&base=all:calm&kind=heap&si=alloc_space&page=top")
    judged = {row["subject"]: row["figures"]["alloc_bytes"] for row in clear_json("doctor", "all:calm", "--diff", "all:stormy", "--json")["rows"] if row["by"] == "function"}
    got = rows(page)
    assert got[0]["name"] == "grown" and "up" in got[0]["word"]
    for row in got:
        figure = judged[row["name"]]
        assert [row["before"], row["after"], row["flat"], row["error"]] == [figure["old"]["mean"], figure["new"]["mean"], figure["delta"], figure["error"]], (row, figure)
        assert ("noise" in row["word"] or "unchanged" in row["word"]) == (not figure["is_change"])
    page.go("/?runs=all:stormy&base=all:calm&page=compare")
    page.run("document.querySelector('.table').focus()")
    at = page.run("return [...document.querySelectorAll('.table-body [data-index]')].findIndex(one => one.textContent.includes('grown'))")
    page.run("document.querySelectorAll('.table-body [data-index]')[arguments[0]].click()", at)
    page.press_keys("m")
    links = page.run("return [...document.querySelectorAll('[role=menuitem]')].map(one => one.getAttribute('href') || '')")
    for name in ("flame", "top", "source", "trend"):
        assert any(f"page={name}" in link and "kind=heap" in link and "si=alloc_" in link for link in links), (name, links)
    page.keys(ESCAPE)
    page.press_keys(ENTER)
    page.until("document.querySelector('.host-flame .flame')")
    assert page.parameter("kind") == "heap" and page.parameter("si").startswith("alloc_") and page.figure(".detail [data-value], .total") > 0
    page.go("/?page=runs&label=calm")  # as many runs as there are, by the name of their set
    press(page, "All as the base")
    page.until("new URLSearchParams(location.search).get('against') === 'all:calm'")
    # Of one run against one, no noise is known.
    page.go("/?runs=stormy&base=calm&kind=heap&si=alloc_space")
    page.wait("document.querySelector('.legend')")
    assert "noise" not in page.text(".legend")


def try_peek(page):
    page.go("/?runs=known&kind=samples&page=peek&function=%5Eeval%24", anew=True)
    listed = [(row["what"], row["name"].split("  ")[0], row["value"]) for row in rows(page)]
    assert listed == [("caller", "main", 4000), ("function", "eval", 4000), ("callee", "alloc", 3000)], listed
    page.run("[...document.querySelectorAll('.host-peek .table a')].find(link => link.textContent === 'main').click()")
    page.until("location.search.includes('main')")
    assert [row["value"] for row in rows(page) if row["what"] == "callee"] == [6000, 4000]
    # All functions at once: main, its 50 parts, and the 3,000 functions of these, each with its callers and callees. Only what is in sight is in the page.
    page.go("/?runs=wide&kind=samples&page=peek&function=.")
    assert page.eval("document.querySelector('.table').getAttribute('aria-rowcount')") == str(1 + 3051 + 2 * 3050)
    assert page.count(".table-body [data-index]") < 100


def try_tags(page):
    page.go("/?runs=locks&kind=cpu&page=tags", anew=True)
    said = clear("report", "tags", "--kind", "cpu", "locks")
    want, key = [], None
    for line in said.splitlines():
        head, row = re.match(r" *(\S+): Total", line), re.match(r" *(\S+) \( *(\S+)\): (.*)$", line)
        if head:
            key = head.group(1)
        elif row:
            want.append((key, row.group(3), row.group(1), row.group(2)))
    assert want and [(row["key"], row["label"], row["value"], row["share"]) for row in rows(page)] == want
    press(page, "keep")
    page.until("document.querySelector('.chip')")
    assert page.parameter("tf") == f"{want[0][0]}=^{re.escape(want[0][1])}$".replace("\\-", "-").replace("\\_", "_")
    page.go("/?runs=tagged&kind=space&page=tags&sort=value&order=up")  # 3,000 values of one label; 2 kB is more than 100 B
    assert page.eval("document.querySelector('.table').getAttribute('aria-rowcount')") == "3001" and page.count(".table-body [data-index]") < 100
    first = rows(page)[0]
    page.press_keys(END)
    assert (first["value"], rows(page)[-1]["value"]) == ("8.0B", "23.4kB"), (first, rows(page)[-1])


def try_graph(page):
    page.go("/?runs=known&kind=samples&page=graph")
    page.wait("document.querySelectorAll('.graph .node').length >= 5")
    names = set(page.run("return [...document.querySelectorAll('.graph [data-name]')].map(one => one.dataset.name)"))
    assert {"main", "parse", "read", "eval", "alloc"} <= names, names
    # The wheel zooms at the pointer, a drag moves, and its end opens no menu.
    wide = "document.querySelector('.graph-drawn').getBoundingClientRect().width"
    left, top, width, height = page.box(".graph")
    before = page.eval(wide)
    for _ in range(6):
        page.run("document.querySelector('.graph').dispatchEvent(new WheelEvent('wheel', { deltaY: -100, clientX: arguments[0], clientY: arguments[1], bubbles: true, cancelable: true }))", left + width / 2, top + height / 2)
    assert page.eval(wide) > 2 * before
    scroll = page.run("const one = document.querySelector('.graph'); return [one.scrollLeft, one.scrollTop]")
    page.drag(left + width / 2, top + height / 2, left + width / 2 - 60, top + height / 2 - 40)
    moved = page.run("const one = document.querySelector('.graph'); return [one.scrollLeft, one.scrollTop]")
    assert moved[0] > scroll[0] or moved[1] > scroll[1], (scroll, moved)
    assert not page.count("[role=menu]")
    page.press_keys("/", "eval")
    page.wait("document.querySelector('.graph .match')")
    page.run("document.querySelector('.graph .match').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    page.wait("document.querySelector('[role=menu]')")


def try_graph_without(page, path, status, words):
    """Where graphviz cannot draw, the page lays the same functions out itself, and says why."""
    with Server("t.db", path=path) as server, page.at(server):
        page.trouble = [rf"status of {status} "]
        page.go("/?runs=known&kind=samples&page=graph")
        page.wait("document.querySelectorAll('.graph svg.plain .node').length >= 5")
        said = page.eval("document.querySelector('.host-graph .toolbar .quiet-text').textContent")
        assert re.search(words, said), said


SOURCE = ".code-pair > .table-frame"


def try_code(page):
    page.go("/?runs=parser&kind=cpu&page=source&function=%5Ewrite_line%24", anew=True)
    lines = [row for row in rows(page, SOURCE) if row["line"]]
    listed = clear("report", "list=^write_line$", "--kind", "cpu", "parser")
    total = re.search(r"^ *(\S+) +(\S+) \(flat, cum\)", listed, re.M)
    assert lines and total, listed
    text = open("parser.c", encoding="utf-8").read().splitlines()
    for row in lines:
        assert row["text"].strip() == text[int(row["line"]) - 1].expandtabs(8).strip(), row
    flat = next(node for node in clear_json("report", "json", "--kind", "cpu", "--nodefraction", "0", "--focus", "^write_line$", "parser")["nodes"] if node["name"] == "write_line")
    heads = [row for row in rows(page, SOURCE) if not row["line"]]
    assert heads[0]["flat"] == flat["flat"] and heads[0]["cum"] == flat["cum"], (heads, flat)
    # Beside it the machine code of all of its lines; n goes to the hottest line and on, and an instruction to its line.
    page.wait("document.querySelector('.code-beside .table-row.chosen')")
    code = clear_json("report", "code=^write_line$", "--kind", "cpu", "parser")["functions"]
    wanted = {one["address"]: one["cum"] for of in code for line in of["lines"] for one in line["instructions"]}
    page.run("document.querySelector('.host-source .table').focus()")
    order = sorted((row for row in lines if isinstance(row["flat"], int | float) and (row["flat"] or row["cum"])), key=lambda row: -(row["flat"] or row["cum"] / 1e6))
    now = page.eval("document.querySelector('" + SOURCE + " .current [data-column=line]').textContent")
    page.press_keys("n")
    at = [row["line"] for row in order].index(now) if now in [row["line"] for row in order] else -1
    page.wait("document.querySelector('" + SOURCE + " .current [data-column=line]').textContent === arguments[0]", order[(at + 1) % len(order)]["line"])
    shown = {row["address"]: row["cum"] for row in rows(page, ".code-beside") if row["address"]}
    assert shown and all(wanted[address] == (cum or 0) for address, cum in shown.items()), (shown, wanted)
    lines_of = {one["address"]: {line["line"] for of in code for line in of["lines"] for other in line["instructions"] if other["address"] == one["address"]} for of in code for line in of["lines"] for one in line["instructions"]}
    clicked = page.run("const row = [...document.querySelectorAll('.code-beside .table-body [data-index]:not(.chosen)')].find(one => one.querySelector('[data-column=address]').textContent);"
                       "if (!row) return ''; row.click(); return row.querySelector('[data-column=address]').textContent")
    if clicked:
        page.wait("arguments[0].includes(Number(document.querySelector('" + SOURCE + " .current [data-column=line]').textContent))", sorted(lines_of[clicked]))
    press(page, "Disassembly")
    page.until("document.querySelector('.host-disasm .source.code')")
    code = page.texts(".source.code")
    assert any(re.search(r"call|mov|ret|push", line) for line in code), code
    page.go("/?runs=parser&kind=cpu&page=source")
    assert page.count(".offer a") > 3
    # Beside a picture, the hottest lines of the chosen function are those of the list.
    page.go("/?runs=parser&kind=cpu&pivot=%5Ewrite_line%24")
    page.press_keys("d", HOME, DOWN)
    page.until("document.querySelector('.about .lines')")
    wanted = {int(row["line"]): row["cum"] for row in lines}
    shown = page.run("return [...document.querySelectorAll('.about .lines .figure')].map(one => [Number(one.dataset.line), Number(one.dataset.value)])")
    assert shown and all(wanted[line] == figure for line, figure in shown), (shown, wanted)
    assert page.eval("document.querySelector('.about .lines code').textContent") == text[shown[0][0] - 1].strip()
    page.press_keys("d")


def points(page):
    return [float(value) for value in page.run("return [...document.querySelectorAll('.point')].map(one => one.dataset.value)")]


def try_trend(page):
    page.go("/?runs=before&page=trend&figure=alloc_bytes&subject=all", anew=True)
    want = [run["alloc_bytes"] for run in reversed(clear_json("runs", "--json"))]
    assert points(page) == want
    page.run("document.querySelectorAll('.point')[0].focus()")
    page.press_keys(ENTER)
    page.until("document.querySelectorAll('.point.chosen').length === 1")
    x, y, width, _ = page.box(".point:nth-of-type(3)")
    page.press(round(x + width / 2 + 10), round(y - 4))  # a finger is larger than a point: 15 pixels beside it is for it, too
    page.until("document.querySelectorAll('.point.chosen').length === 2 && document.querySelectorAll('.point')[2].classList.contains('chosen')")
    assert "Compare" in page.texts(".choice a")
    # From ten times on a change is a factor, and one from 0 says so.
    runs = clear_json("runs", "--json")[::-1]
    for figure in ("alloc_bytes", "lock_wait_ns"):
        page.go(f"/?runs=before&page=trend&figure={figure}&subject=all")
        got = page.run("return [...document.querySelectorAll('[data-column=change]')].map(cell => cell.textContent)")
        for (old, new), words in zip(zip(runs, runs[1:]), got[1:]):
            before, after = old[figure], new[figure]
            assert words.startswith("> ×" if before and after >= 1e6 * before else "× " if before and after >= 10 * before else "from 0" if not before and after else "+" if after > (before or 0) else "-" if after < before else ""), (before, after, words)
            if before and 10 <= after / before < 1e6:
                assert abs(float(words[2:].replace(",", "")) - after / before) <= 0.5, (before, after, words)
    page.go("/?runs=known&page=trend&kind=samples&function=%5Eeval%24&subject=known,other")
    assert sorted(points(page)) == [3500, 4000], points(page)
    page.go("/?runs=known&page=trend&kind=samples&function=%5Eeval%24&figure=flat&subject=known,other")
    assert sorted(points(page)) == [500, 1000], points(page)


def try_histories(page):
    """A lock and a finding over all runs, from the links of the doctor and of the table of locks."""
    page.go("/?runs=locks&page=doctor")
    first = clear_json("doctor", "--json", "locks")
    lock = next(one for one in first if one["section"] == "lock")
    page.run("[...document.querySelectorAll('.finding')].find(one => one.dataset.code === arguments[0] && one.querySelector('.subject-name').textContent === arguments[1]).querySelectorAll('a').forEach(one => one.textContent === 'Over runs' && one.click())", lock["code"], lock["subject"])
    page.until("document.querySelector('.host-trend')")
    page.fill("[aria-label=runs]", "all")
    page.keys(ENTER)
    page.until("document.querySelectorAll('.point').length > 5")
    want = clear_json("query", "--json", "SELECT runs.id, (SELECT count(*) FROM doctor WHERE run_id = runs.id AND section = 'lock' AND code = 'CODE' AND subject = 'SUBJECT') AS n FROM runs ORDER BY started_ns"
                      .replace("CODE", lock["code"]).replace("SUBJECT", lock["subject"].replace("'", "''")))
    assert points(page) == [row["n"] for row in want] and sum(points(page)) >= 1
    page.go("/?runs=locks&page=locks")
    name = rows(page)[0]["name"]
    page.press_keys(HOME, "m")
    page.run("[...document.querySelectorAll('[role=menuitem]')].find(one => one.textContent === 'Over runs').click()")
    page.until("document.querySelector('.host-trend')")
    page.go("/" + page.url().split("/", 3)[3] + "&subject=locks,queues&figure=lock_acquires")
    want = clear_json("query", "--json", "SELECT coalesce(sum(acquires + read_acquires), 0) AS n FROM runs LEFT JOIN lock_use ON lock_use.run_id = runs.id AND object = 'NAME' WHERE label IN ('locks', 'queues') GROUP BY runs.id ORDER BY started_ns"
                      .replace("NAME", name.replace("'", "''")))
    assert points(page) == [row["n"] for row in want] and max(points(page)) > 0, (points(page), want)


def try_function_changes(page):
    """The changes of functions that match a pattern are those that clear trend finds of the same function."""
    runs = [run["run_id"] for label in ("calm", "stormy") for run in reversed(clear_json("runs", "--json", "--label", label))]
    subject = ",".join(map(str, runs))
    want = next(one for one in clear_json("trend", "--json", "alloc_bytes", subject, "--of", "function grown")["series"])["changes"]
    assert [change["run_id"] for change in want] == [runs[3]], want
    page.go(f"/?runs={runs[0]}&page=trend&kind=heap&si=alloc_space&figure=flat&function=%5Egrown%24&subject={subject}")
    page.wait("document.querySelectorAll('.chart .point.change').length === 1")
    assert page.run("return [...document.querySelectorAll('.chart .point')].map(one => one.classList.contains('change'))") == [run == runs[3] for run in runs]
    assert f"(+{round(want[0]['percent'])}%)" in page.text(".changes li"), (page.text(".changes li"), want)
    told = clear_json("report", "json", "--kind=heap", "--sample_index=alloc_space", "--history=^grown$", *map(str, runs))
    assert [(row["run_id"], row["changes"]["flat"]["before"], row["changes"]["flat"]["after"]) for row in told if "flat" in row["changes"]] == [(runs[3], want[0]["before"], want[0]["after"])]
    page.go(f"/?runs={runs[0]}&page=trend&kind=heap&si=alloc_space&function=%5Enoisy%24&subject={subject}")
    page.wait("document.querySelectorAll('.chart .point').length === 6")
    assert page.count(".chart .point.change") == sum("cum" in row["changes"] for row in clear_json("report", "json", "--kind=heap", "--sample_index=alloc_space", "--history=^noisy$", *map(str, runs)))


def try_changes(page):
    """The changes of a figure are those that clear trend finds, an accepted one with its reason."""
    runs = [run["run_id"] for run in reversed(clear_json("runs", "--json", "--label", "calm") )] + [run["run_id"] for run in reversed(clear_json("runs", "--json", "--label", "stormy"))]
    subject = ",".join(map(str, runs))
    clear("trend", "--accept", str(runs[3]), "alloc_count", "a <storm> was expected")
    want = clear_json("trend", "--json", "alloc_count", subject)["series"][0]["changes"]
    assert [change["run_id"] for change in want] == [runs[3]] and want[0]["accepted"], want
    page.go(f"/?runs={runs[0]}&page=trend&figure=alloc_count&subject={subject}")
    page.wait("document.querySelectorAll('.chart .point.change').length === 1")
    assert page.run("return [...document.querySelectorAll('.chart .point')].map(one => one.classList.contains('change'))") == [run == runs[3] for run in runs]
    words = page.text(".changes li")
    assert "accepted: a <storm> was expected" in words and f"(+{round(want[0]['percent'])}%)" in words, (words, want)
    page.run("document.querySelector('.changes a').click()")
    page.until("document.querySelector('.host-compare')")
    uuids = {run["run_id"]: run["uuid"] for run in clear_json("runs", "--json")}
    assert (page.parameter("runs"), page.parameter("base")) == (uuids[runs[3]], uuids[runs[2]])


def try_windows(page):
    page.go("/?runs=phases&kind=heap&page=live")
    got = rows(page)
    assert sum(row["alloc_bytes"] for row in got) == clear_json("runs", "--json", "phases")[0]["alloc_bytes"]
    assert page.count(".timeline .window") == len(got)
    # A bar is as high as what happened in a second of its window, on an axis with round numbers.
    assert page.text(".toolbar select") and page.texts(".timeline-axis span")[0] == "0" and all(one.endswith("/s") for one in page.texts(".timeline-axis span")[1:])
    heights = page.run("return [...document.querySelectorAll('.timeline .window')].map(one => Number(one.getAttribute('height')))")
    rates = [row["alloc_count"] / (row["to_ns"] - row["from_ns"]) for row in got]
    assert all(abs(height / max(heights) - rate / max(rates)) < 0.03 for height, rate in zip(heights, rates)), (heights, rates)
    left, top, _, _ = page.box(".timeline")
    # From the left, to the middle of the longest window but the last: on a busy machine windows are as long as they happen to be.
    boxes = page.run("return [...document.querySelectorAll('.timeline .window')].map(one => one.getBoundingClientRect()).map(one => [one.left, one.right])")
    longest = max(range(len(boxes) - 1), key=lambda i: boxes[i][1] - boxes[i][0])
    page.drag(left + 1, top + 60, sum(boxes[longest]) / 2, top + 60)
    page.until("location.search.includes('to=')")
    low, high = page.parameter("from"), page.parameter("to")
    inside = page.count(".timeline .window.inside")
    assert inside == longest + 1, (boxes, inside, low, high, got)
    page.run("[...document.querySelectorAll('#nav a')].find(link => link.textContent === 'Top').click()")
    page.until("document.querySelector('.host-top')")
    page.go(f"/?runs=phases&kind=heap&si=alloc_space&from={low}&to={high}&page=top")
    assert page.count(".chip") == 2 and page.figure(".total") == sum(row["alloc_bytes"] for row in got[:inside])


def alloc_bytes_between(low, high):
    """Bytes allocated in the windows of the run that end in that part, from the tables."""
    return clear_json("query", "--json", "SELECT sum(alloc_bytes) AS n FROM windows JOIN sites USING (profile_id) WHERE run_id = :run AND kind = 'heap' "
                      f"AND to_ns > {nanoseconds(low)} AND to_ns <= {nanoseconds(high)}", "run=phases")[0]["n"]


def nanoseconds(words):
    """"12.5ms", as the URL has it."""
    return round(float(words.removesuffix("ms")) * 1e6)


def try_parts(page):
    """Two parts of one run as a difference: chosen on the page of windows, kept in the URL, and the same as clear report prints."""
    page.go("/?runs=phases&kind=heap&si=alloc_space&page=live")
    page.press_keys(HOME, DOWN, ENTER)  # the first window has the program's start alone
    page.until("location.search.includes('to=')")
    press(page, "Use this part as the base")
    page.until("document.querySelector('.timeline .window.base')")
    assert not page.parameter("from") and page.parameter("base_to")
    left, top, width, _ = page.box(".timeline")
    page.drag(left + width * 0.5, top + 60, left + width - 2, top + 60)
    page.until("document.querySelector('.timeline .window.inside')")
    assert page.count(".timeline .window.base") == 1
    press(page, "Difference as a flame graph")
    page.until("document.querySelector('.legend')")
    names = ("from", "to", "base_from", "base_to")
    low, high, base_low, base_high = (page.parameter(name) for name in names)
    before, after = alloc_bytes_between(base_low, base_high), alloc_bytes_between(low, high)
    assert 0 < before != after > 0 and page.figure(".total") == after, (before, after)
    options = [f"--{name}={page.parameter(name)}" for name in names]
    want = clear_json("report", "json", "--kind=heap", "--sample_index=alloc_space", *options, "--diff_base=phases", "--nodefraction=0", "phases")
    assert sum(node["flat"] for node in want["nodes"]) == after - before, want
    url = page.url()
    page.reload()
    page.until("document.querySelector('.legend')")
    assert page.figure(".total") == after and page.url() == url and page.count(".chip") == 5  # four parts, and what it is against
    page.go(url.removeprefix(page.server.url).replace("page=flame", "page=top"))
    got = {row["name"]: row["flat"] for row in rows(page) if row["flat"]}
    assert got == {node["name"]: node["flat"] for node in want["nodes"] if node["flat"]}, (got, want)
    page.run("document.querySelector('[aria-label=\"Compare with nothing\"]').click()")
    page.until("!location.search.includes('base')")
    # By keys: Enter chooses a window, b makes one the base.
    page.go("/?runs=phases&kind=heap&page=live")
    page.press_keys(HOME, "b")
    page.until("document.querySelector('.timeline .window.base')")
    page.press_keys(DOWN, ENTER)  # from the row that b was pressed on
    page.until("document.querySelector('.timeline .window.inside') && document.querySelector('.timeline .window.base')")


def try_foreign_windows(page):
    """Windows of a kind of another tool have the figures of its sample types."""
    with sqlite3.connect("t.db") as db:
        run, process = db.execute("SELECT run_id, id FROM processes WHERE run_id = (SELECT id FROM runs WHERE label = 'phases')").fetchone()
        start, trace = db.execute("SELECT started_ns FROM runs WHERE id = ?", (run,)).fetchone()[0], db.execute("SELECT min(id) FROM traces WHERE id > 0").fetchone()[0]
        for window in (1, 2):
            profile = db.execute("INSERT INTO profiles(run_id, process_id, kind, time_ns, duration_ns, sample_types) VALUES (?, ?, 'gpu', ?, 1000000, ?) RETURNING id",
                                 (run, process, start + window * 1_000_000, '[["launches","count"],["busy","nanoseconds"]]')).fetchone()[0]
            db.execute("INSERT INTO samples(profile_id, trace_id, v0, v1) VALUES (?, ?, ?, ?)", (profile, trace, 10 * window, 1000 * window))
    db.close()
    page.go("/?runs=phases&kind=gpu&page=live")
    assert [(row["v0"], row["v1"]) for row in rows(page)] == [(10, 1000), (20, 2000)]
    heads = page.texts(".table-head [data-column], .table [role=columnheader]")
    assert "launches" in heads and "busy" in heads, heads


def try_kinds(page):
    """Each kind of profile has a flame graph, a table and windows with its own figures."""
    for kind, table, figures in (("io", "io", {"calls": "calls", "bytes": "bytes", "call_ns": "time_ns"}), ("threads", "thread_starts", {"started": "started"}),
                                 ("spin", "spins", {"spins": "yields + short_sleeps + failed_tries"}), ("wait", "locks", {"wait_ns": "wait_ns + read_wait_ns", "acquires": "acquires + read_acquires"})):
        page.go(f"/?runs=waits&kind={kind}&page=live")
        want = clear_json("query", "--json", f"SELECT {', '.join(f'sum(t.{column}) AS {name}' if ' ' not in column else f'sum({column}) AS {name}' for name, column in figures.items())} FROM {table} AS t "
                          f"JOIN profiles ON profiles.id = t.profile_id WHERE profiles.kind = '{kind}' AND run_id = :run", "run=waits")[0]
        got = rows(page)
        assert got and {name: sum(row[name] for row in got) for name in figures} == want, (kind, got, want)
        page.go(f"/?runs=waits&kind={kind}")
        assert page.figure(".total") == clear_json("report", "json", "--kind", kind, "waits")["total"]
    # Sizes and lifetimes of blocks, and what was live at the peak, which is a window of its own.
    for kind, sql in (("lifetimes", "SELECT sum(count) FILTER (WHERE histogram = 'size') AS allocated, sum(count) FILTER (WHERE histogram = 'lifetime') AS freed FROM histograms"),
                      ("heap-peak", "SELECT sum(peak_count) AS peak_count, sum(peak_bytes) AS peak_bytes FROM heap_peaks")):
        page.go(f"/?runs=phases&kind={kind}&page=live")
        want = clear_json("query", "--json", f"{sql} JOIN profiles ON profiles.id = profile_id WHERE run_id = :run", "run=phases")[0]
        assert {name: sum(row[name] for row in rows(page)) for name in want} == want and min(want.values()) > 0, (kind, rows(page), want)
    page.go("/?runs=waits&page=waits", anew=True)
    want = {row["name"]: row["wait_ns"] for row in clear_json("query", "--json", "SELECT object AS name, sum(wait_ns) AS wait_ns FROM wait_use WHERE run_id = :run GROUP BY 1", "run=waits")}
    assert want and {row["name"]: row["wait_ns"] for row in rows(page)} == want
    assert "Waits" in page.texts("#nav a")
    # Nobody holds a wait, and none has readers: a column is there if it has a figure.
    heads = page.texts(".table [role=columnheader]")
    assert heads[:2] == ["wait", "wait ▼"] and "passes" in heads and not {"hold", "max hold", "read wait", "read acquires"} & set(heads), heads


def try_wall(page):
    """Where threads were at all times: the pages of wall and off-cpu, with what clear prints of them."""
    for kind, type_ in (("wall", "wall"), ("off-cpu", "off_cpu")):
        want = clear_json("report", "json", "--kind", kind, "--nodefraction=0", "--nodecount=100000", "waiting")
        page.go(f"/?runs=waiting&kind={kind}")
        assert page.figure(".total") == want["total"] > 0 and page.text(".total").startswith(type_ + ":"), (page.text(".total"), want["total"])
        page.go(f"/?runs=waiting&kind={kind}&page=top")
        got, nodes = {row["name"]: (row["flat"], row["cum"]) for row in rows(page)}, {node["name"]: (node["flat"], node["cum"]) for node in want["nodes"]}
        assert len(got) > 10 and all(nodes[name] == figures for name, figures in got.items()) and {"[nanosleep]", "[poll]", "[mutex]"} <= set(got), (got, nodes)
        page.go(f"/?runs=waiting&kind={kind}&page=live")
        windows = rows(page)
        assert len(windows) > 1 and sum(row["v1"] or 0 for row in windows) == want["total"], (windows, want["total"])  # "": no sample in that window
        assert page.eval("document.querySelector('[aria-label=figure], .toolbar select').selectedOptions[0].textContent") == type_
    # Off the processor is what a state other than running says.
    others = clear_json("report", "json", "--kind", "wall", "--nodefraction=0", "--nodecount=100000", "--tagignore", "state=^running$", "waiting")["nodes"]
    page.go("/?runs=waiting&kind=off-cpu")
    assert page.figure(".total") == sum(node["flat"] for node in others), others
    page.go("/?runs=waiting&kind=wall&page=runs")
    assert "waiting" in [row["label"] for row in rows(page)]


def try_states(page):
    tour(page, [("/?runs=locks&page=doctor", "document.querySelector('.host-doctor .finding')"), ("/?runs=after&base=before&page=compare", "document.querySelector('.host-compare .verdict')"),
                ("/?runs=locks&page=locks", "document.querySelector('.host-locks .table-row')"), ("/?runs=known&kind=samples&page=graph", "document.querySelector('.host-graph .node')"),
                ("/?runs=phases&kind=heap&page=live", "document.querySelector('.host-live .window')")])


def write_labelled(path, count):
    """A profile in which each sample has a label of its own, and 8 bytes more than the one before."""
    texts = ["", "space", "bytes", "main", "request"] + [f"number {i}" for i in range(count)]
    out = block(1, number(1, 1) + number(2, 2)) + block(5, number(1, 1) + number(2, 3)) + block(4, number(1, 1) + block(4, number(1, 1)))
    for i in range(count):
        out += block(2, block(1, varint(1)) + block(2, varint(8 * (i + 1))) + block(3, number(1, 4) + number(2, 5 + i)))
    with gzip.open(path, "wb") as file:
        file.write(out + b"".join(block(6, text.encode()) for text in texts))


def make():
    fixtures = os.environ["FIXTURES"]
    with open("known.folded", "w", encoding="utf-8") as file:
        file.write("main;parse;read 4000\nmain;parse;parse;read 2000\nmain;eval;alloc 3000\nmain;eval 1000\n")
    with open("other.folded", "w", encoding="utf-8") as file:
        file.write("main;parse;read 1000\nmain;eval;alloc 3000\nmain;eval 500\n")
    with open("wide.folded", "w", encoding="utf-8") as file:
        file.writelines(f"main;part_{i % 50};function_{i:04} {i + 1}\n" for i in range(3000))
    for name in ("other", "known", "wide"):
        clear("ingest", "--label", name, name + ".folded")
    for label, grown, sizes in (("calm", 1000, (900, 1000, 1100)), ("stormy", 3000, (930, 1010, 1080))):
        for noisy in sizes:
            clear("profile", "-q", "--label", label, "-o", "weather.profile", "--cpu=off", "./weather", str(grown), str(noisy))
    write_labelled("tagged.pb.gz", 3000)
    clear("ingest", "--label", "tagged", "tagged.pb.gz")
    for label, fixture, options in (("locks", "lock_contended", ["--cpu=999"]), ("queues", "channels", []), ("cells", "mvcc", []), ("before", "heap_counts", []), ("after", "leak", []),
                                    ("waits", "wait_counts", []), ("phases", "phases", ["--interval", "100ms", "--lifetimes"])):
        clear("profile", "-q", "--label", label, "-o", label + ".profile", *options, f"{fixtures}/{fixture}")
    clear("profile", "-q", "--label", "waiting", "-o", "waiting.profile", "--wall", "--interval", "200ms", f"{fixtures}/wall_books", "1")
    clear("profile", "-q", "--label", "leaky", "--cpu=off", "-o", "leaky.profile", "./leaky")
    clear("profile", "-q", "--label", "parser", "--cpu=999", "-o", "parser.profile", "./parser")


def main():
    make()
    only = os.environ.get("ONLY", "")
    with Server("t.db") as server, Page(server) as page:
        for part in (try_doctor, try_many_findings, try_compare, try_noise, try_objects, try_peek, try_tags, try_graph, try_windows, try_parts, try_kinds, try_wall, try_foreign_windows, try_states, try_code, try_trend, try_histories, try_changes, try_function_changes):
            if only in part.__name__:
                part(page)
        if only in "try_graph_without":
            os.makedirs("empty", exist_ok=True)
            os.makedirs("broken", exist_ok=True)
            with open("broken/dot", "w", encoding="ascii") as file:
                os.chmod(file.fileno(), 0o755)
                file.write("#!/bin/sh\necho this is no graph >&2\nexit 3\n")
            try_graph_without(page, os.path.abspath("empty"), 501, "not installed")
            try_graph_without(page, os.path.abspath("broken"), 500, "this is no graph")


main()
