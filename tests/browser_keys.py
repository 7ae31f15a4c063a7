"""The whole application without a mouse: browser_keys.py. Only keys are pressed; what they lead to is read from the URL and the page."""
import os

from browser import Page, Server, clear
from webdriver import CONTROL, DOWN, ENTER, ESCAPE, HOME, SHIFT, TAB

HEADING = "document.querySelector('#page h1').textContent"


def press_until(page, key, expression, most=60):
    """Presses a key until the expression is true: how Tab gets to a control."""
    for _ in range(most):
        page.keys(key)
        if page.eval(expression):
            return
    raise AssertionError(f"{most} keys did not lead to {expression}")


def go_to(page, letter, title):
    page.keys("g", letter)
    page.until(HEADING + " === arguments[0]", title)


def try_tour(page):
    page.go("/")
    page.press_keys(HOME, ENTER)
    page.until("location.search.startsWith('?runs=')")
    assert page.eval(HEADING) == "Overview"
    go_to(page, "f", "Flame graph")
    assert page.eval("document.activeElement.classList.contains('flame')")
    pages = page.run("return [...document.querySelectorAll('#nav a')].map(link => link.textContent)")
    letters = dict(page.import_module("state/keys.js", "return Object.entries(m.PLACES)"))
    titles = {"runs": "Runs", "overview": "Overview", "flame": "Flame graph", "calltree": "Call tree", "top": "Top", "graph": "Graph", "peek": "Peek", "source": "Source", "disasm": "Disassembly", "tags": "Tags", "doctor": "Doctor",
              "compare": "Compare", "trend": "Trend", "locks": "Locks", "waits": "Waits", "sql": "SQL", "live": "Windows", "timeline": "Timeline"}
    for letter, name in letters.items():
        if titles[name] not in pages or name in ("runs", "sql"):
            continue
        go_to(page, letter, titles[name])
        assert page.parameter("runs"), name  # the selection goes along
    go_to(page, "f", "Flame graph")


def try_help(page):
    page.keys("?")
    page.wait("document.querySelector('dialog[open]')")
    assert "next match" in page.text("dialog") and page.eval("document.querySelector('dialog').contains(document.activeElement)")
    page.keys("f")  # keys of the page sleep below a dialog
    page.keys(ESCAPE)
    page.wait("!document.querySelector('dialog')")
    assert not page.parameter("f")


def try_controls(page):
    """Tab reaches the choice of the kind, the removal of a filter, the menu; Escape gives the focus back."""
    page.press_keys(HOME, DOWN, DOWN, "f")
    page.until("document.querySelector('.chip')")
    page.run("document.activeElement.blur()")
    press_until(page, TAB, "document.activeElement.title === 'kind of profile'")
    press_until(page, TAB, "document.activeElement.matches('.chip button')")
    page.press_keys(ENTER)
    page.until("!document.querySelector('.chip')")
    page.run("document.querySelector('.flame').focus()")
    page.press_keys(HOME, DOWN, "m")
    page.wait("document.activeElement.matches('[role=menuitem]')")
    first = page.eval("document.activeElement.textContent")
    page.keys(DOWN)
    assert page.eval("document.activeElement.textContent") != first
    page.keys(ESCAPE)
    assert page.count("[role=menu]") == 0 and page.eval("document.activeElement.classList.contains('flame')")
    # Every control has a name, and what has the focus is marked.
    nameless = page.run("return [...document.querySelectorAll('button, a, input, select, [tabindex=\"0\"]')].filter(one => !(one.textContent.trim() || one.getAttribute('aria-label') || one.title)).map(one => one.outerHTML.slice(0, 100))")
    assert nameless == [], nameless


def try_search_field(page):
    page.press_keys("/")
    assert page.eval("document.activeElement.id") == "search"
    page.keys("f", "0", "r", "?")  # letters in a text are text
    page.until("location.search.includes('q=')")
    assert page.parameter("q") == "f0r?" and not page.parameter("fold")
    page.press_keys(ESCAPE)
    assert page.parameter("q") == "" and page.eval("document.activeElement.id") != "search"


def try_browser_keys(page):
    """With Control a key is the browser's."""
    before = page.url()
    page.keys((CONTROL, "f"), (CONTROL, "c"), ESCAPE)
    page.keys((SHIFT, TAB))
    assert page.url() == before and page.eval(HEADING) == "Flame graph"


def try_theme(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    page.scheme("dark")
    dark = page.eval(colour)
    page.scheme("light")
    light = page.eval(colour)
    assert dark != light
    page.run("document.querySelector('.flame').focus()")
    page.keys("t", "t")  # light, then dark, whatever the system says
    assert page.eval(colour) == dark
    page.reload()
    page.ready()
    assert page.eval(colour) == dark
    page.keys("t")
    assert page.eval(colour) == light


def try_narrow(page):
    """In a narrow window nothing is cut off at the side, and no text anywhere is smaller than 12 px."""
    small = "return [...document.querySelectorAll('body *')].filter(one => one.firstChild && one.firstChild.nodeType === 3 && one.textContent.trim() && !one.closest('.graph, .hidden-visually') && parseFloat(getComputedStyle(one).fontSize) < 12).map(one => one.className + ': ' + one.textContent.slice(0, 40))"
    for width in (1280, 480):
        page.size(width, 800)
        for path in ("/", "/?runs=known", "/?runs=locks", "/?runs=known&page=flame", "/?runs=known&page=top"):
            page.go(path)
            assert page.eval("document.documentElement.scrollWidth") <= width, (path, width)
            assert page.run(small) == [], (path, page.run(small))
        page.go("/?runs=known&page=trend&subject=all")  # the axis below the chart can be seen
        assert page.eval("document.querySelector('.chart-frame').clientHeight >= document.querySelector('.chart').getBoundingClientRect().height"), width
    page.size(1280, 800)
    page.scheme("light", "print")
    page.go("/?runs=known")
    assert page.eval("getComputedStyle(document.getElementById('nav')).display") == "none"
    page.scheme("light")


def main():
    with open("known.folded", "w", encoding="utf-8") as file:
        file.write("main;parse;read 4000\nmain;eval;alloc 3000\nmain;eval 1000\n")
    clear("profile", "-q", "--label", "locks", "-o", "locks.profile", os.environ["FIXTURES"] + "/lock_contended")
    clear("ingest", "--label", "known", "known.folded")
    with Server("t.db") as server, Page(server) as page:
        for part in (try_tour, try_help, try_controls, try_search_field, try_browser_keys, try_theme, try_narrow):
            part(page)


main()
