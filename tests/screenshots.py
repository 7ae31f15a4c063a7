"""Pictures of every page in both colours: screenshots.py DIRECTORY."""
import os
import sys

from browser import Page, Server
from demo_warehouse import PAGES, make


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    make("t.db")
    with Server("t.db") as server, Page(server) as page:
        for scheme in ("light", "dark"):
            page.scheme(scheme)
            for name, path in PAGES:
                page.go(path, anew=True)
                if name == "sql":
                    page.wait("document.querySelector('.result .chart') && document.querySelector('.sql-side details')")
                if name == "trend":
                    page.wait("document.querySelector('.chart .point.change')")
                page.run("document.activeElement.blur()")
                page.picture(os.path.join(directory, f"{name}-{scheme}.png"))
    print(f"{2 * len(PAGES)} pictures in {directory}")


main()
