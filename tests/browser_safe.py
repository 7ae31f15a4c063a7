"""Names that mean harm, on every page: browser_safe.py. Markup must come out as text, long names must not stop the page, marks that turn
the direction of writing must be seen; and nothing is run, asked of another host, or complained about."""
from browser import Page, Server
from harm import NAMES, check, make
from webdriver import DOWN, HOME


def main():
    make("t.db")
    with Server("t.db") as server, Page(server) as page:
        pages = page_list(page)
        for path in ["/", "/?q=%3Cimg"] + [f"/?runs=1&kind=samples&page={name}{more}" for name, more in pages]:
            page.go(path)
            check(page, path)
        page.go("/?runs=1&kind=samples")
        page.keys(HOME, DOWN, DOWN)
        for _ in NAMES:  # every box, its menu, and what it says
            page.keys("m")
            check(page, "menu")
            page.keys("\ue00c")
            page.keys("\ue014")
        assert "onerror" in page.run("return [...document.querySelectorAll('.flame [role=treeitem]')].map(one => one.textContent).join()")
        page.go("/?runs=1&kind=samples&page=graph&nf=0")
        assert page.count(".graph svg.plain") == 0, "graphviz did not draw these names"
        assert any("bell\\u0007" in name for name in page.texts(".graph .node")), page.texts(".graph .node")
        # What somebody puts into a URL is text too.
        for path in ["/?runs=1&kind=samples&q=%3Cimg%20src%3Dx%20onerror%3D%22window.owned%3D1%22%3E", "/?runs=1&kind=samples&f=%3Cscript%3Ewindow.owned%3D1%3C/script%3E"]:
            page.go(path, anew=True)
            check(page, path)
        page.trouble = ["status of 400"]
        page.open(server.url + "/?runs=%3Cimg%20src%3Dx%20onerror%3Dwindow.owned%3D1%3E")
        page.wait("document.querySelector('.failure')")
        check(page, "an unknown run")


def page_list(page):
    """The pages that the application has for this run, with what some of them must be asked."""
    page.go("/?runs=1")
    names = page.run("return [...document.querySelectorAll('#nav a')].map(link => new URLSearchParams(link.search).get('page')).filter(Boolean)")
    more = {"peek": "&function=main", "trend": "&function=main", "sql": "#sql=SELECT%20function,%20file%20FROM%20frames", "compare": "&base=2"}
    return [(name, more.get(name, "")) for name in names if name not in ("source", "disasm")]


main()
