"""Names that mean harm, for tests of pages: a warehouse that has them in every place, and what must not come of them."""
import sqlite3

from browser import clear

MARKUP = "<img src=x onerror='window.owned=1'><script>window.owned=1</script>\"'></title><svg onload=window.owned=1>"
TURNED = "safe\u202e\u2066cod.exe"
LONG = "very_long_" * 1024
BELL = "bell\x07\x1b[2J\x7f&#7;\ufffe\\N"  # what neither a folded file nor XML may hold
NAMES = [MARKUP, TURNED, LONG, "javascript:window.owned=1", "{{owned}}${owned}", "placeholder"]


def make(db):
    with open("evil.folded", "w", encoding="utf-8") as file:
        file.writelines(f"main;{name.replace(';', ',')} {1000 - i}\n" for i, name in enumerate(NAMES))
    clear("ingest", "--label", "evil" + MARKUP, "--tag", "key=" + MARKUP, "evil.folded", db=db)
    with open("other.folded", "w", encoding="utf-8") as file:
        file.write("main;other 5\n")
    clear("ingest", "--label", "evil" + MARKUP, "--tag", "key=" + TURNED, "other.folded", db=db)
    base = sqlite3.connect(db)
    base.execute("UPDATE runs SET command = ?", (MARKUP + TURNED,))
    base.execute("INSERT INTO queries (name, description, params, sql, export) VALUES (?, ?, '[]', 'SELECT 1', '{}')", (MARKUP, MARKUP + TURNED))
    base.execute("UPDATE functions SET name = ? WHERE name = 'placeholder'", (BELL,))
    base.execute("UPDATE functions SET filename = ?", (MARKUP,))
    base.commit()
    base.close()


def check(page, path, own=0):
    """`own`: scripts that stand in the page itself."""
    owned = page.run("return [window.owned === undefined, [...document.scripts].filter(one => !one.src.startsWith(location.origin + '/web/')).length, document.querySelectorAll('main img, main svg script, main iframe, [onerror], [onload]').length, document.querySelectorAll('a[href^=\"javascript:\"]').length]")
    assert owned == [True, own, 0, 0], (path, owned)
    raw = page.run("return /[\\u202a-\\u202e\\u2066-\\u2069\\u0007\\u001b\\u007f]/.test([...document.querySelectorAll('main *, nav *, header *')].filter(one => !['INPUT', 'TEXTAREA', 'OPTION', 'SELECT'].includes(one.tagName)).map(one => one.textContent).join('') + document.title)")
    assert not raw, path
    assert page.eval("document.documentElement.scrollWidth") <= 1280, path
