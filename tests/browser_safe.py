"""Names that mean harm, on every page: browser_safe.py. Markup must come out as text, long names must not stop the page, marks that turn
the direction of writing must be seen; and nothing is run, asked of another host, or complained about."""
import sqlite3

from browser import Page, Server, clear
from webdriver import DOWN, HOME

MARKUP = "<img src=x onerror='window.owned=1'><script>window.owned=1</script>\"'></title><svg onload=window.owned=1>"
TURNED = "safe\u202e\u2066cod.exe"
LONG = "very_long_" * 1024
BELL = "bell\x07\x1b[2J\x7f&#7;\ufffe\\N"  # what neither a folded file nor XML may hold
NAMES = [MARKUP, TURNED, LONG, "javascript:window.owned=1", "{{owned}}${owned}", "placeholder"]


def make(db):
    with open("evil.folded", "w", encoding="utf-8") as file:
        file.writelines(f"main;{name.replace(';', ',')} {1000 - i}\n" for i, name in enumerate(NAMES))
    clear("ingest", "--label", "evil" + MARKUP, "--tag", "key=" + MARKUP, "evil.folded")
    with open("other.folded", "w", encoding="utf-8") as file:
        file.write("main;other 5\n")
    clear("ingest", "--label", "evil" + MARKUP, "--tag", "key=" + TURNED, "other.folded")
    base = sqlite3.connect(db)
    base.execute("UPDATE runs SET command = ?", (MARKUP + TURNED,))
    base.execute("INSERT INTO queries (name, description, params, sql, export) VALUES (?, ?, '[]', 'SELECT 1', '{}')", (MARKUP, MARKUP + TURNED))
    base.execute("UPDATE functions SET name = ? WHERE name = 'placeholder'", (BELL,))
    base.execute("UPDATE functions SET filename = ?", (MARKUP,))
    base.commit()
    base.close()


def check(page, path):
    owned = page.run("return [window.owned === undefined, [...document.scripts].filter(one => !one.src.startsWith(location.origin + '/web/')).length, document.querySelectorAll('main img, main svg script, main iframe, [onerror], [onload]').length, document.querySelectorAll('a[href^=\"javascript:\"]').length]")
    assert owned == [True, 0, 0, 0], (path, owned)
    raw = page.run("return /[\\u202a-\\u202e\\u2066-\\u2069\\u0007\\u001b\\u007f]/.test([...document.querySelectorAll('main *, nav *, header *')].filter(one => !['INPUT', 'TEXTAREA', 'OPTION', 'SELECT'].includes(one.tagName)).map(one => one.textContent).join('') + document.title)")
    assert not raw, path
    assert page.eval("document.documentElement.scrollWidth") <= 1280, path


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
            page.go(path)
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
