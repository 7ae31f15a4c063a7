"""The page that a run opens on: browser_overview.py. What it says is compared with what clear prints; how many steps lead from it is counted."""
import urllib.parse

from browser import Page, Server, clear, clear_json
from webdriver import DOWN, ENTER, HOME

SETTLED = "!document.querySelector('.since[aria-busy]')"


def show(page, path):
    page.go(path)
    page.wait(SETTLED)


def first_line(db, *runs):
    """The words of the first lines of clear doctor up to the next thing that it says."""
    lines = clear("doctor", "--full-names", *runs, db=db).split("\n")
    more = [line.strip() for line in lines[1:3] if line.startswith("    ")]
    return " ".join([lines[0].split("; --top 0")[0]] + more[:1])


def rows(page, kind):
    return page.run("return [...document.querySelectorAll(`.costs[data-kind='${arguments[0]}'] li`)].map(row => [row.querySelector('a').title, Number(row.querySelector('[data-value]').dataset.value)])", kind)


def try_verdict(page):
    """Without a step: what is wrong, where, and who held the lock; one key or click to its line."""
    show(page, "/?runs=1")
    assert page.text("h1") == "Overview"
    said = page.text(".verdict h2")
    assert said == first_line("held.db", "1") and "held for 700.0 ms by insert_row, table.c:42" in said, said
    want = clear_json("doctor", "--json", "1", db="held.db")
    assert page.run("return [...document.querySelectorAll('.worst li')].map(one => one.dataset.code)") == ["contended", "leak", "dropped"]
    assert all(one in {finding["code"] for finding in want} for one in ("contended", "leak", "dropped"))
    page.run("document.querySelector('.verdict [data-is=holder]').click()")
    page.until("document.querySelector('.host-source')")
    assert [page.parameter(name) for name in ("function", "kind", "si")] == ["^insert_row$", "lock", "hold"]
    page.back()
    page.until("document.querySelector('.host-overview')")
    page.press_keys("w")
    page.until("document.querySelector('.host-source')")
    page.back()
    page.until("document.querySelector('.host-overview')")
    page.run("document.querySelector('.verdict a').click()")  # the lock itself
    page.until("document.querySelector('.host-locks')")
    assert page.parameter("q") == "server:g_lock"


def try_evidence(page):
    """Each finding leads to the kind of profile with its figures, but those of the recording, of a whole run, and of single events."""
    show(page, "/?runs=1")
    codes = [one["code"].partition("-") for one in clear_json("query", "--json", "SELECT code FROM advice", db="held.db")]
    without = page.import_module("pages/evidence.js", "const kinds = given[1].map(kind => ({ kind })); return given[0].filter(([section, , code]) => !m.evidenceOf({ kinds }, { section, code })[0]).map(([section]) => section)",
                                 codes, ["heap", "heap-peak", "lock", "cpu", "mvcc", "channels", "wait", "fibers", "io", "threads", "spin", "mmap", "c2c"])
    assert set(without) == {"saturation", "hardware", "processors", "trace"}, set(without)


def try_functions(page):
    """Who allocates: the figures of the view series, by their usual names; one key leads to the lines of the first."""
    show(page, "/?runs=1")
    want = clear_json("query", "--json", "SELECT substr(subject, 10) AS name, value FROM series_functions WHERE run_id = 1 AND figure = 'alloc_bytes' ORDER BY value DESC LIMIT 5", db="held.db")
    assert rows(page, "heap") == [[one["name"], one["value"]] for one in want]
    assert "größe::größe" in page.texts(".costs a")
    page.press_keys("a")
    page.until("document.querySelector('.host-source')")
    assert (page.parameter("function"), page.parameter("kind"), page.parameter("si")) == ("^insert_row$", "heap", "alloc_space")


def try_samples(page):
    """Nothing but samples: the hottest functions are those of clear top; no axis of time, no run before."""
    show(page, "/?runs=known")
    top = [[node["name"], node["flat"]] for node in clear_json("report", "json", "known")["nodes"] if node["flat"]]
    assert rows(page, "samples") == top and top[0] == ["read", 4000]
    assert page.text(".verdict h2") == "samples: 8,000 in all, 50 % of it in read."
    assert not page.count(".lanes") and not page.count(".since") and not page.count(".worst")
    page.press_keys("h")
    page.until("document.querySelector('.host-source')")
    assert page.parameter("function") == "^read$"


def changes_of(answer):
    """A function and its only line are one change."""
    return list(dict.fromkeys((row.get("subject", ""), name, figure["delta"]) for row in answer["rows"] for name, figure in row["figures"].items() if figure["is_change"] and row.get("judged_by", name) == name))


def try_changes(page):
    """What got worse since the run before of the same program, by the judgement of clear doctor --diff, each with the way to its evidence."""
    show(page, "/?runs=after")
    answer = clear_json("doctor", "before", "--diff", "after", "--json")
    want = changes_of(answer)
    shown = [float(value) for value in page.run("return [...document.querySelectorAll('.changed [data-value]')].map(one => one.dataset.value)")]
    assert want and shown == [delta for _, _, delta in want[:6]], (want, shown)
    assert answer["quote"] in page.text(".since") and "with other arguments" in page.text(".since")
    page.run("[...document.querySelectorAll('.changed a')].find(one => one.textContent.endsWith('of grown')).click()")
    page.until("document.querySelector('.flame')")
    before = clear_json("runs", "--json", "before")[0]["uuid"]
    assert (page.parameter("base"), page.parameter("f"), page.parameter("kind"), page.parameter("si")[:6]) == (before, "^grown$", "heap", "alloc_")
    page.back()
    page.until("document.querySelector('.host-overview')")
    page.wait(SETTLED)
    page.press_keys("c")
    page.until("document.querySelector('.host-compare')")
    assert page.text(".verdict h2") == answer["quote"]
    # A difference opens on the same words, and nothing is said twice.
    show(page, "/?runs=after&base=before")
    assert page.text(".verdict h2") == answer["quote"] and not page.count(".worst")
    assert [float(value) for value in page.run("return [...document.querySelectorAll('.changed [data-value]')].map(one => one.dataset.value)")] == shown


def try_set(page):
    show(page, "/?runs=before,after")
    want = clear_json("doctor", "--overview", "--together", "before,after")
    assert page.text(".verdict h2") == (want["verdict"]["text"] if want["verdict"]["severity"] else want["sentence"])
    lists = {one["kind"]: [[row["function"], row["value"]] for row in one["rows"]] for one in want["functions"]}
    assert rows(page, "heap") == lists["heap"]
    assert not page.count(".since")


def drag_lanes(page, from_part, to_part):
    left, top, width = page.run("const box = document.querySelector('.lane-over').getBoundingClientRect(); return [box.left, box.top, box.width]")
    page.drag(round(left + from_part * width), round(top + 20), round(left + to_part * width), round(top + 20))


def try_time(page):
    """What happened over time, with the peak; a drag selects whole windows, and then every page is of that part."""
    show(page, "/?runs=phases")
    overview = clear_json("doctor", "--overview", "phases")
    assert page.run("return [...document.querySelectorAll('.lane')].map(one => one.dataset.series)") == [one["name"] for one in overview["series"]]
    live = next(one for one in overview["series"] if one["name"] == "live")
    windows = clear_json("query", "--json", "SELECT max(from_ns, 0) AS first, to_ns AS last FROM windows WHERE run_id = :run AND kind = 'heap'", "run=phases")
    points = live["groups"][0]["points"]
    assert len(points) > 1 and {tuple(point[:2]) for point in points} <= {(one["first"], one["last"]) for one in windows}
    assert points[-1][2] == clear_json("runs", "--json", "phases")[0]["inuse_bytes"]
    peak = clear_json("query", "--json", "SELECT max(peak_bytes) AS bytes FROM peaks WHERE run_id = :run", "run=phases")[0]["bytes"]
    assert live["peak"]["bytes"] == peak == page.figure(".peak")
    page.run("document.querySelector('.peak').click()")
    page.until("document.querySelector('.flame')")
    assert page.parameter("kind") == "heap-peak" and page.figure(".total") == peak
    page.back()
    page.until("document.querySelector('.host-overview')")
    drag_lanes(page, 0.02, 0.5)
    page.until("document.querySelector('.chip')")
    low, high = [float(page.parameter(name).removesuffix("ms")) for name in ("from", "to")]
    edges = [edge / 1e6 for one in overview["series"] for group in one["groups"] for point in group["points"] for edge in point[:2]]
    assert low < high and all(min(abs(edge - at) for edge in edges) <= 0.001 for at in (low, high)), (low, high)
    assert page.text(".verdict h2") and not page.eval("document.querySelector('.lane-brush').hidden")
    part = clear_json("doctor", "--overview", "--from", page.parameter("from"), "--to", page.parameter("to"), "phases")
    assert rows(page, "heap") == [[row["function"], row["value"]] for one in part["functions"] if one["kind"] == "heap" for row in one["rows"]]
    chosen = (page.parameter("from"), page.parameter("to"))
    page.press_keys("g", "t")
    page.until("document.querySelector('.host-top')")
    assert (page.parameter("from"), page.parameter("to")) == chosen
    page.back()
    page.until("document.querySelector('.host-overview')")
    page.run("[...document.querySelectorAll('.over-time button')].find(one => one.textContent === 'Whole run').click()")
    page.until("!document.querySelector('.chip')")


def try_keys(page):
    """The arrows walk over all links, Enter opens; a row of Runs leads here, too."""
    show(page, "/?runs=1")
    page.press_keys(DOWN)
    assert page.eval("document.activeElement.closest('.verdict') !== null")
    href = page.eval("document.activeElement.getAttribute('href')")
    page.press_keys(ENTER)
    page.until("location.search === arguments[0]", href[1:])
    page.go("/")
    page.press_keys(HOME, ENTER)
    page.until("document.querySelector('.host-overview')")
    # The pages of a profile open on the kind that has most to say.
    kind = clear_json("doctor", "--overview", page.parameter("runs"), db="held.db")["kind"]
    flame = page.run("return [...document.querySelectorAll('#nav a')].find(one => one.textContent === 'Flame graph').getAttribute('href')")
    assert urllib.parse.parse_qs(flame.split("?")[1]).get("kind", [None])[0] == kind


def main():
    with Server("held.db") as server, Page(server) as page:
        try_verdict(page)
        try_evidence(page)
        try_functions(page)
        try_keys(page)
    with Server("t.db") as server, Page(server) as page:
        try_samples(page)
        try_changes(page)
        try_set(page)
        try_time(page)


main()
