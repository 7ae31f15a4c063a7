"""The page of SQL in a browser: browser_sql.py. Rows as clear query prints them, completion, cancel, errors, flame graph and chart of a result."""
import os
import time
import urllib.parse

from browser import Page, Server, clear, clear_json
from webdriver import CONTROL, ENTER, ESCAPE

ROWS = "return [...document.querySelectorAll('.result .table-body [data-index]')].map(row => [...row.querySelectorAll('[data-column]')].map(cell => cell.dataset.value))"
DONE = "!document.querySelector('.sql-main button.main').disabled && document.querySelector('.total').textContent.includes(' in ')"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
STREAM = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000) SELECT i, i * 2 AS twice_bytes FROM n"


def link(sql, more=""):
    return "/?page=sql" + more + "#" + urllib.parse.urlencode({"sql": sql})


def type_query(page, sql):
    page.run("const e = document.querySelector('.sql-text'); e.value = arguments[0]; e.dispatchEvent(new Event('input')); e.focus()", sql)
    page.keys((CONTROL, ENTER))


def try_rows(page):
    sql = "SELECT label, source, alloc_bytes, 1.5 AS half, NULL AS none FROM run_summary ORDER BY run_id"
    page.go(link(sql))
    page.wait(DONE)
    want = clear_json("query", "--json", sql)
    assert page.run(ROWS) == [["" if value is None else str(value) for value in row.values()] for row in want]
    page.run("document.querySelectorAll('.result [data-key]')[0].click()")
    page.until("location.search.includes('sort=0')")
    assert page.eval("document.querySelector('.sql-text').value") == sql
    page.reload()
    page.wait(DONE)
    assert page.run(ROWS) and page.eval("location.hash.includes('SELECT')")
    assert not any("sql=" in url for url in page.requests())  # the text of a query is in no URL that is sent


def try_many(page):
    type_query(page, STREAM)
    page.wait(DONE)
    assert "10,000 rows (the first 10,000 are kept)" in page.text(".toolbar .total")
    assert page.eval("document.querySelector('.result .table').getAttribute('aria-rowcount')") == "10001" and page.count(".result [data-index]") < 100
    page.back()
    page.wait("document.querySelector('.sql-text').value.startsWith('SELECT label')")
    page.wait(DONE)


def children(pid):
    """How many processes the server has: a statement runs in one of its own."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                count += int(file.read().rsplit(")", 1)[1].split()[1]) == pid
        except OSError:  # it has ended
            pass
    return count


def try_cancel(page, server):
    server_id = server.process.pid
    type_query(page, ENDLESS)
    page.wait("document.querySelector('.total').textContent.includes(' s')")
    end = time.monotonic() + 20
    while not children(server_id) and time.monotonic() < end:
        time.sleep(0.01)
    assert children(server_id)
    page.run("[...document.querySelectorAll('.sql-main button')].find(one => one.textContent === 'Cancel').click()")
    page.wait("document.querySelector('.total').textContent.startsWith('Cancelled')")
    while children(server_id) and time.monotonic() < end:
        time.sleep(0.01)
    assert not children(server_id), "the statement still runs"
    assert not page.eval("document.querySelector('.sql-main button.main').disabled")


def try_errors(page):
    for sql, words in [("SELECT nothing FROM runs", "nothing"), ("DELETE FROM runs", "")]:
        type_query(page, sql)
        page.wait("document.querySelector('.result .failure')")
        assert words in page.text(".result .failure")
        page.run("document.querySelector('.result').replaceChildren()")
    assert len(clear_json("runs", "--json")) == 2


def try_editor(page):
    page.go("/?page=sql")
    page.wait("document.querySelector('.sql-side details')")
    page.run("const e = document.querySelector('.sql-text'); e.value = ''; e.dispatchEvent(new Event('input')); e.focus()")
    page.keys("SELECT la")
    page.keys(ESCAPE)
    page.keys(" FROM run_su")
    page.wait("!document.querySelector('.offers').hidden")
    assert "run_summary" in page.text(".offers [aria-selected=true]")
    page.keys(ENTER)
    assert page.eval("document.querySelector('.sql-text').value") == "SELECT la FROM run_summary"
    # What could come next goes away when the query runs.
    page.keys(" WHERE run_su")
    page.wait("!document.querySelector('.offers').hidden")
    page.keys((CONTROL, ENTER))
    page.wait("document.querySelector('.offers').hidden && document.querySelector('.result .failure')")
    page.run("const e = document.querySelector('.sql-text'); e.value = 'SELECT la FROM run_summary'; e.dispatchEvent(new Event('input')); e.focus()")
    assert page.eval("document.querySelector('.sql-colours').textContent.trimEnd()") == "SELECT la FROM run_summary"
    assert page.texts(".sql-colours .sql-keyword") == ["SELECT", "FROM"]
    columns = set(clear_json("query", "--json", "SELECT * FROM run_summary LIMIT 1")[0])
    listed = set(page.run("return [...[...document.querySelectorAll('.sql-side details')].find(one => one.querySelector('summary').textContent === 'run_summary').querySelectorAll('button')].map(one => one.textContent)"))
    assert columns == listed
    names = page.texts(".saved button")
    assert names and names == [row["name"] for row in clear_json("query", "--json", "SELECT name FROM queries ORDER BY name")]
    page.run("[...document.querySelectorAll('.saved button')].find(one => one.textContent === 'biggest-stacks').click()")
    assert ":run" not in page.eval("document.querySelector('.sql-text').value")


def choose(page, name):
    page.wait("document.querySelector('.saved')")
    page.run("[...document.querySelectorAll('.saved button')].find(one => one.textContent === arguments[0]).click()", name)


def try_parameters(page):
    """A saved query is asked for its values, and gives the rows that clear query @NAME gives for them."""
    page.go("/?page=sql&runs=one")
    choose(page, "modules")
    assert page.run("return [...document.querySelectorAll('.sql-values input')].map(one => [one.name, one.value])") == [["run", "latest"]]
    page.go("/?page=sql")
    choose(page, "compare-runs")
    for base, run in (("latest~1", "latest"), ("two", "one"), ("1", "2")):
        page.fill(".sql-values [name=base]", base)
        page.fill(".sql-values [name=run]", run)
        page.keys(ENTER)
        page.wait(DONE)
        want = clear_json("query", "--json", "@compare-runs", f"base={base}", f"run={run}")
        assert page.run(ROWS) == [["" if value is None else str(value) for value in row.values()] for row in want], (base, run)
    choose(page, "callers")
    assert page.eval("document.activeElement.name") == "function"  # the one without a default
    page.keys("o'clock")
    assert "GLOB 'o''clock'" in page.eval("document.querySelector('.sql-text').value")
    page.run("const e = document.querySelector('.sql-text'); e.value += ' '; e.dispatchEvent(new Event('input'))")
    assert page.eval("document.querySelector('.sql-values').hidden")


def try_pictures(page):
    page.go(link("SELECT 'main;parse;read' AS stack, 40 AS cpu_ns UNION ALL SELECT 'main;eval', 60", "&query=flame"))
    page.wait("document.querySelector('.result .flame [role=treeitem]')")
    page.run("document.querySelector('.result .flame').focus()")
    assert page.texts(".result .flame [role=treeitem]")[0].startswith("all, 100 ns")
    page.go(link("SELECT id AS trace_id, 7 AS bytes FROM traces", "&query=flame"))
    page.wait("document.querySelector('.result .flame [role=treeitem]')")
    traces = clear_json("query", "--json", "SELECT count(*) AS n FROM traces")[0]["n"]
    said = page.texts(".result .flame [role=treeitem]")
    assert said[0].startswith(f"all, {7 * traces} B"), (said, traces)
    page.go(link("SELECT run_id, 10 * run_id AS cpu_ns FROM runs JOIN (SELECT id AS run_id FROM runs) AS one ON one.run_id = runs.id ORDER BY 1", "&query=chart"))
    page.wait("document.querySelectorAll('.result .point').length === 2")
    assert page.run("return [...document.querySelectorAll('.result .point')].map(one => one.dataset.value)") == ["10", "20"]


def main():
    for label, value in (("one", 4000), ("two", 5000)):
        with open(label + ".folded", "w", encoding="utf-8") as file:
            file.write(f"main;parse;read {value}\nmain;eval;alloc 3000\nmain;eval 1000\n")
        clear("ingest", "--label", label, label + ".folded")
    with Server("t.db") as server, Page(server) as page:
        page.trouble = ["status of 400"]
        try_rows(page)
        try_many(page)
        try_cancel(page, server)
        try_errors(page)
        try_editor(page)
        try_parameters(page)
        try_pictures(page)


main()
