"""axe-core over every page of the application in both colours: a11y.py AXE-MIN-JS. Prints what it finds; its status is 1 if that is anything."""
import sys

from browser import Page, Server
from demo_warehouse import PAGES, make
from webdriver import DOWN, HOME

SOURCE = open(sys.argv[1], encoding="utf-8").read()
RUN = """const done = arguments[0];
axe.run(document, { resultTypes: ['violations'] }).then(found => done(found.violations.map(one => `${one.impact} ${one.id}: ${one.help}: ` +
  one.nodes.slice(0, 4).map(node => node.target.join(' ') + ' ' + (node.any[0] ? node.any[0].message : '')).join('; '))), error => done([String(error)]));"""


# What opens on a page: its name, the page, the key that opens it, and what is there then.
OPENED = [("refine", "flame", "e", "dialog[open] .kept .chip"), ("keys", "flame", "?", "dialog[open] kbd"), ("menu", "top", "m", "[role=menu]"), ("values of a saved query", "sql", "", ".sql-values:not([hidden]) input")]


def look(page, name):
    """Prints what axe-core finds; how much that is."""
    page.run(SOURCE)
    found = page.run_async(RUN)
    for line in found:
        print(f"{name}: {line}")
    return len(found)


def open_up(page, name, key, there):
    """Presses the key, on a box or a row where it needs one; the SQL page has a query with parameters chosen."""
    if name == "sql":
        page.wait("document.querySelector('.saved')")
        page.run("[...document.querySelectorAll('.saved button')].find(one => one.textContent === 'callers').click()")
    else:
        page.run("localStorage.setItem('clear.configurations', JSON.stringify({ mine: { f: 'main' } }))")
        page.keys(HOME, DOWN, key)
    page.wait("document.querySelector(arguments[0])", there)


def main():
    make("t.db")
    total = 0
    with Server("t.db") as server, Page(server) as page:
        for scheme in ("light", "dark"):
            page.scheme(scheme)
            for name, path in PAGES:
                page.go(path, anew=True)
                total += look(page, f"{name} ({scheme})")
            for name, where, key, there in OPENED:
                page.go(dict(PAGES)[where], anew=True)
                open_up(page, where, key, there)
                total += look(page, f"{name} ({scheme})")
    print(f"{2 * (len(PAGES) + len(OPENED))} pages, {total} violations")
    return total > 0


sys.exit(main())
