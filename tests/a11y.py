"""axe-core over every page of the application in both colours: a11y.py AXE-MIN-JS. Prints what it finds; its status is 1 if that is anything."""
import sys

from browser import Page, Server
from demo_warehouse import PAGES, make

SOURCE = open(sys.argv[1], encoding="utf-8").read()
RUN = """const done = arguments[0];
axe.run(document, { resultTypes: ['violations'] }).then(found => done(found.violations.map(one => `${one.impact} ${one.id}: ${one.help}: ` +
  one.nodes.slice(0, 4).map(node => node.target.join(' ') + ' ' + (node.any[0] ? node.any[0].message : '')).join('; '))), error => done([String(error)]));"""


def main():
    make("t.db")
    total = 0
    with Server("t.db") as server, Page(server) as page:
        for scheme in ("light", "dark"):
            page.scheme(scheme)
            for name, path in PAGES:
                page.go(path)
                page.run(SOURCE)
                found = page.run_async(RUN)
                total += len(found)
                for line in found:
                    print(f"{name} ({scheme}): {line}")
    print(f"{2 * len(PAGES)} pages, {total} violations")
    return total > 0


sys.exit(main())
