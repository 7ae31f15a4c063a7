"""Runs, Top, Peek, Tags and Source in a browser: browser_tables.py. Every number is compared with what clear prints for the same selection."""
import os
import time

from browser import Page, Server, clear, clear_json, tour
from webdriver import DOWN, END, ENTER, ESCAPE, HOME, UP

ROWS = "return [...document.querySelectorAll('.table-body [data-index]')].map(row => Object.fromEntries([...row.querySelectorAll('[data-column]')].map(cell => [cell.dataset.column, cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent])))"


def rows(page):
    return page.run(ROWS)


def column(page, name):
    return [row[name] for row in rows(page)]


def press(page, words):
    page.run("[...document.querySelectorAll('button, a.button, summary')].find(one => one.textContent === arguments[0]).click()", words)


def try_runs(page):
    page.go("/")
    want = clear_json("runs", "--json")
    got = rows(page)
    assert [row["label"] for row in got] == [run["label"] for run in want]
    for name in ("duration_ns", "alloc_count", "alloc_bytes", "inuse_bytes", "lock_wait_ns", "cpu_ns"):
        assert [row[name] for row in got] == [run[name] for run in want], name
    directory = os.environ["FIXTURES"]  # does not push the name of the program out of sight
    assert f"…/lock_contended" in page.texts("[data-column=command]") and page.run("return [...document.querySelectorAll('[data-column=command]')].map(one => one.title)").count(directory + "/lock_contended") == 1
    said = {"exit": lambda run: run["exit_status"] or run["exit_signal"], "lost": lambda run: run["flags"], "tags": lambda run: run["tags"]}
    page.size(1280, 800)
    for label in sorted({run["label"] for run in want}):
        page.go(f"/?label={label}")
        shown, titles = [run for run in want if run["label"] == label], page.texts("[role=columnheader]")
        for title, is_said in said.items():
            assert (title in titles) == any(map(is_said, shown)), (label, title, titles)
        assert any(any(map(is_said, shown)) for is_said in said.values()) or page.eval("document.querySelector('.table').scrollWidth <= document.querySelector('.table').clientWidth"), label
    page.go("/")
    cut = "[...document.querySelectorAll('[data-column=chosen], [data-column=started_ns], [data-column=duration_ns], [data-column=alloc_bytes]')]"
    assert not page.eval(f"{cut}.some(cell => cell.scrollWidth > cell.clientWidth)"), "a time, a figure or a box is cut"
    page.press_keys("/", "locks", ESCAPE)
    page.go("/?q=locks")
    assert column(page, "label") == [run["label"] for run in want if "locks" in run["label"] + run["command"]]
    page.go("/?tag=branch%3Dmain")
    assert column(page, "label") == [run["label"] for run in clear_json("runs", "--json", "--tag", "branch=main")]
    page.go("/?kind=lock")
    assert set(column(page, "label")) == {"locks"}
    day = want[0]["started_ns"] // 10**9 // 86400 * 86400
    name = lambda days: time.strftime("%Y-%m-%d", time.gmtime(day + 86400 * days))
    for path, first, last in ((f"/?since={name(0)}", 0, 9), (f"/?since={name(1)}", 1, 9), (f"/?until={name(0)}", -9999, 0), (f"/?until={name(-1)}", -9999, -1), (f"/?since={name(-1)}&until={name(0)}", -1, 0)):
        page.go(path, anew=True)
        assert column(page, "label") == [run["label"] for run in want if first <= (run["started_ns"] // 10**9 - day) // 86400 <= last], path
        days = ["--" + one for one in path[2:].split("&")]
        assert column(page, "label") == [run["label"] for run in clear_json("runs", "--json", *days)], path
        asked = page.eval("performance.getEntriesByType('resource').map(one => one.name).filter(one => one.includes('/api/runs?'))")
        assert asked and all(path[2:] in one for one in asked), (path, asked)  # the server leaves out the others
    page.run("const field = [...document.querySelectorAll('input[type=date]')][0]; field.value = arguments[0]; field.dispatchEvent(new Event('change'))", name(1))
    page.until("location.search.includes(arguments[0])", "since=" + name(1))
    press(page, "All runs")
    page.until("!location.search.includes('since')")
    page.go("/?label=known")
    assert set(column(page, "label")) == {"known"}
    page.go("/?tag=branch%3Dmain&figure=cpu_ns")
    assert page.count(".sparkline") == 1 and page.text(".figure-words").startswith("CPU time over 3 runs")
    tour(page, [("/", f"document.querySelector('.table').getAttribute('aria-rowcount') === '{len(want) + 1}'"), ("/?label=locks", "document.querySelector('.table').getAttribute('aria-rowcount') === '2'"),
                ("/?sort=label&order=up", "document.querySelector('[aria-sort=ascending]').textContent.startsWith('label')")])


def try_choosing(page):
    """One run by Enter, a set by Space, a comparison by b: without a mouse."""
    page.go("/", anew=True)  # where no row has the focus
    want = clear_json("runs", "--json")
    page.press_keys(HOME, DOWN, ENTER)
    page.until("location.search.startsWith('?runs=')")
    assert page.parameter("runs") == want[1]["uuid"]
    page.back()
    page.until("document.querySelector('.host-runs')")
    page.press_keys(HOME, " ", DOWN, " ", DOWN, "b")
    assert page.parameter("pick").split(",") == [run["uuid"][:13] for run in want[:2]] and page.parameter("against") == want[2]["uuid"][:13]
    assert page.text(".choice").startswith("2 runs chosen, 1 run as base")
    page.reload()
    page.ready()
    assert page.count(".table-row.chosen") == 3
    href = page.run("return [...document.querySelectorAll('.choice a')].map(one => one.getAttribute('href'))")
    assert any("page=compare" in one and "base=" in one for one in href) and any("page=flame" in one for one in href), href


def top_of(*options):
    return clear_json("report", "json", "--nodefraction", "0", "--nodecount", "100000", *options)


def try_top(page):
    page.go("/?runs=known&kind=samples&page=top")
    want = top_of("--kind", "samples", "known")
    assert page.figure(".total") == want["total"]
    assert [(row["name"], row["flat"], row["cum"]) for row in rows(page)] == [(node["name"], node["flat"], node["cum"]) for node in want["nodes"]][:len(rows(page))]
    page.run("document.querySelector('[data-key=cum]').click()")
    page.until("location.search.includes('sort=cum')")
    cums = column(page, "cum")
    assert cums == sorted(cums, reverse=True) and cums[0] == want["total"]
    page.reload()
    page.ready()
    assert column(page, "cum") == cums
    page.press_keys("/", "al", DOWN)
    page.until("location.search.includes('q=al')")
    assert set(column(page, "name")) == {node["name"] for node in want["nodes"] if "al" in node["name"]}
    page.listen_to_copies()
    page.press_keys(HOME, "c")
    assert page.copied().split("\t")[0] == str(int(rows(page)[0]["flat"]))
    press(page, "Copy table")
    page.wait("copies.length === 2")
    assert page.copied().splitlines()[0].split("\t")[:2] == ["flat", "flat%"] and len(page.copied().splitlines()) == 1 + len(rows(page))
    page.press_keys(ESCAPE)
    page.press_keys(HOME, "f")
    page.until("document.querySelector('.chip')")
    page.go("/?runs=known&base=other&kind=samples&page=top")
    want = top_of("--kind", "samples", "--diff_base", "other", "known")
    assert {(row["name"], row["flat"]) for row in rows(page)} <= {(node["name"], node["flat"]) for node in want["nodes"]}


def try_long(page):
    """A long table: only what is in sight is in the page, and every row can be reached."""
    page.go("/?runs=wide&kind=samples&page=top")
    assert page.eval("document.querySelector('.table').getAttribute('aria-rowcount')") == "20003", page.eval("document.querySelector('.table').getAttribute('aria-rowcount')")
    assert page.count(".table-body [data-index]") < 100
    page.press_keys(END)
    assert page.eval("document.querySelector('.table-row.current').dataset.index") == "20001"
    page.press_keys(UP, HOME)
    assert page.eval("document.querySelector('.table-row.current').dataset.index") == "0"


def main():
    with open("known.folded", "w", encoding="utf-8") as file:
        file.write("main;parse;read 4000\nmain;parse;parse;read 2000\nmain;eval;alloc 3000\nmain;eval 1000\n")
    with open("other.folded", "w", encoding="utf-8") as file:
        file.write("main;parse;read 1000\nmain;eval;alloc 3500\n")
    with open("wide.folded", "w", encoding="utf-8") as file:
        file.writelines(f"main;function_{i:05} {i + 1}\n" for i in range(20001))
    for name in ("wide", "other", "known"):
        clear("ingest", "--label", name, "--tag", "branch=main", name + ".folded")
    clear("profile", "-q", "--label", "locks", "-o", "locks.profile", os.environ["FIXTURES"] + "/lock_contended")
    with Server("t.db") as server, Page(server) as page:
        for part in (try_runs, try_choosing, try_top, try_long):
            part(page)


main()
