"""The flame graph in a browser: browser_flame.py DIRECTORY. Its truth is the folded file from which the run was made."""
import collections
import gzip
import os
import re
import xml.etree.ElementTree

from browser import Page, Server, clear, clear_json, tour
from webdriver import DOWN, END, ENTER, ESCAPE, HOME, LEFT, RIGHT, SHIFT, UP
from wire import block, number, varint

STACKS = {"main;parse;read": 4000, "main;parse;parse;read": 2000, "main;eval;alloc": 3000, "main;eval": 1000,
          **{f"main;tiny_{i:03}": 1 for i in range(200)}}
OTHER = {"main;parse;read": 1000, "main;eval;alloc": 3000, "main;fresh": 500}


def write(path, stacks):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{stack} {value}\n" for stack, value in stacks.items())


def write_sizes(path, sizes):
    """A profile of bytes: one sample for each function."""
    texts = ["", "space", "bytes", *sizes]
    out = block(1, number(1, 1) + number(2, 2))
    for i, size in enumerate(sizes.values(), 1):
        out += block(5, number(1, i) + number(2, 2 + i)) + block(4, number(1, i) + block(4, number(1, i))) + block(2, block(1, varint(i)) + block(2, varint(size)))
    with gzip.open(path, "wb") as file:
        file.write(out + b"".join(block(6, text.encode()) for text in texts))


def write_modules(path):
    """100 samples of main, deflate_stored with deflate inlined into it, and memcpy: each is in a module of its own."""
    texts = ["", "samples", "count", "/home/me/app", "/usr/lib/libz.so.1", "/usr/lib/libc.so.6", "main", "deflate", "memcpy", "deflate_stored"]
    mapping = lambda ident, start, name: block(3, number(1, ident) + number(2, start) + number(3, start + 4096) + number(5, name))
    location = lambda ident, module, address, *lines: block(4, number(1, ident) + number(2, module) + number(3, address) + b"".join(block(4, number(1, line)) for line in lines))
    out = block(1, number(1, 1) + number(2, 2)) + b"".join(mapping(i, 4096 * i, 2 + i) for i in (1, 2, 3))
    out += b"".join(block(5, number(1, i) + number(2, 5 + i)) for i in (1, 2, 3, 4))
    out += location(1, 1, 4100, 1) + location(2, 2, 8200, 2, 4) + location(3, 3, 12300, 3)
    out += block(2, block(1, varint(3) + varint(2) + varint(1)) + block(2, varint(100)))
    with gzip.open(path, "wb") as file:
        file.write(out + b"".join(block(6, text.encode()) for text in texts))


def inclusive(stacks):
    sums = collections.Counter()
    for stack, value in stacks.items():
        frames = stack.split(";")
        for depth in range(len(frames) + 1):
            sums[";".join(frames[:depth])] += value
    return sums


SUM = inclusive(STACKS)
KIND = "&kind=samples"


def kept(*options):
    """What is left of the values, as clear prints it."""
    return sum(int(line.rsplit(" ", 1)[1]) for line in clear("report", "folded", "--kind", "samples", *options, "known").splitlines())


def focused(page):
    """Name and value of the box under the keys."""
    return page.eval("(b => b ? [b.dataset.name || '', Number(b.dataset.value)] : null)(document.querySelector('.detail [data-value]'))")


def try_walking(page):
    page.go("/?runs=known" + KIND)
    assert page.figure(".total") == SUM[""] == clear_json("report", "json", "--kind", "samples", "known")["total"]
    for key, name, value in [(HOME, "all", SUM[""]), (DOWN, "main", SUM["main"]), (DOWN, "parse", SUM["main;parse"]), (RIGHT, "eval", SUM["main;eval"]),
                             (DOWN, "alloc", 3000), (UP, "eval", 4000), (LEFT, "parse", 6000), (DOWN, "read", 4000), (RIGHT, "parse", 2000), (UP, "parse", 6000)]:
        page.keys(key)
        assert focused(page) == [name, value], (key, focused(page), name, value)
    # The shadow for screen readers has the path of the focused box and what it calls.
    shadow = page.texts(".flame [role=treeitem]")
    assert [line.split(",")[0] for line in shadow] == ["all", "main", "parse", "read", "parse"], shadow
    assert page.eval("document.getElementById(document.querySelector('.flame').getAttribute('aria-activedescendant')).textContent").startswith("parse, 6,000")


def try_zoom(page):
    page.press_keys(ENTER)
    zoomed = page.parameter("zoom")
    assert zoomed and focused(page) == ["parse", 6000]
    page.press_keys(DOWN, ENTER)
    assert page.parameter("zoom") not in ("", zoomed)
    page.back()
    page.until("location.search.includes(arguments[0])", "zoom=" + zoomed)
    page.back()
    page.until("!location.search.includes('zoom')")
    page.forward()
    page.until("location.search.includes(arguments[0])", "zoom=" + zoomed)
    page.reload()
    page.ready()
    assert page.parameter("zoom") == zoomed
    page.press_keys(HOME, DOWN, DOWN)
    assert focused(page) == ["parse", 6000]
    page.press_keys("-")
    assert page.parameter("zoom") not in ("", zoomed)  # its caller
    page.press_keys("0")
    assert page.parameter("zoom") == ""
    # What was zoomed is no filter: the links to other pages have none.
    links = page.run("return [...document.querySelectorAll('#nav a[href]')].map(link => [...new URL(link.href).searchParams.keys()])")
    assert len(links) > 10 and not {"f", "i", "h", "s", "sf", "p", "zoom"} & {key for keys in links for key in keys}, links


def try_narrow(page):
    """What is too narrow is one box, which opens."""
    page.press_keys(HOME, DOWN, DOWN, RIGHT, RIGHT)
    assert focused(page) == ["", 200] and "200 functions too narrow" in page.text(".detail"), page.text(".detail")
    page.press_keys(ENTER)
    assert page.parameter("zoom").endswith("~")
    page.wait("document.querySelectorAll('.flame [role=treeitem]').length > 2")
    page.press_keys(HOME, DOWN, DOWN)
    name, value = focused(page)
    assert re.fullmatch(r"tiny_\d\d\d", name) and value == 1, (name, value)
    page.press_keys(ESCAPE)
    assert page.parameter("zoom") == ""


def try_search(page):
    page.press_keys("/", "parse")
    page.wait("document.querySelector('.found').textContent.includes('match')")
    assert page.text(".found").startswith("2 matches, 6,000"), page.text(".found")  # the nested one counts once
    page.press_keys(ENTER)
    assert focused(page) == ["parse", 6000]
    page.press_keys(ENTER)
    assert focused(page) == ["parse", 2000]
    page.press_keys((SHIFT, ENTER))
    assert focused(page) == ["parse", 6000]
    page.press_keys(ESCAPE)
    assert page.parameter("q") == "" and page.eval("document.activeElement.classList.contains('flame')")
    page.go("/?runs=known&q=read|tiny" + KIND, anew=True)
    page.wait("document.querySelector('.found').textContent.startsWith('202 matches, 2 drawn, 6,200 ')")  # with what is too narrow to be drawn
    page.press_keys(HOME, DOWN, DOWN, RIGHT, "+")
    page.until("document.querySelector('.found').textContent.startsWith('0 matches')")  # a search obeys the zoom
    page.press_keys("0", "r")
    page.go("/?runs=known&fold=1&q=parse" + KIND)
    page.wait("document.querySelector('.found').textContent.startsWith('1 match, 6,000 ')")
    page.go("/?runs=known&pivot=main&q=tiny" + KIND)
    page.wait("document.querySelector('.found').textContent.startsWith('200 matches, 0 drawn, 200 ')")
    page.go("/?runs=known&fold=1&q=parse" + KIND)
    page.press_keys(ESCAPE, "r")
    assert page.parameter("fold") == ""


def try_filters(page):
    page.go("/?runs=known" + KIND)
    page.press_keys(HOME, DOWN, DOWN, RIGHT, "f")
    page.until("document.querySelector('.chip')")
    assert page.parameter("f") == "^eval$" and page.figure(".total") == 4000 == kept("--focus", "^eval$")
    page.click(".chip button")
    page.until("!document.querySelector('.chip')")
    assert page.figure(".total") == SUM[""]
    for letter, option, pattern in [("i", "--ignore", "alloc"), ("sf", "--show_from", "parse"), ("h", "--hide", "eval")]:
        page.go(f"/?runs=known&{letter}={pattern}{KIND}")
        assert page.figure(".total") == kept(option, pattern), letter
    page.go("/?runs=known&inverted=1" + KIND)
    page.press_keys(HOME, DOWN)
    assert focused(page) == ["read", 6000]


def try_refine(page):
    """The dialog of all filters; what it keeps by name is there after a reload, and goes."""
    page.go("/?runs=known" + KIND)
    page.press_keys("e")
    page.wait("document.querySelector('dialog[open] form') && document.activeElement.name === 'f'")  # the cursor is in the first field
    page.fill(".refine [name=f]", "parse")
    page.fill(".refine [name=i]", "nothing_has_this_name")
    page.fill(".kept input", "only parse")
    page.run("[...document.querySelectorAll('.kept button')].find(one => one.textContent === 'Keep').click()")
    page.wait("document.querySelectorAll('.kept .chip').length === 1")
    page.click(".refine .main")
    page.until("document.querySelectorAll('.page-head .chip').length === 2")
    assert page.figure(".total") == 6000 == kept("--focus", "parse", "--ignore", "nothing_has_this_name")
    page.go("/?runs=known" + KIND)
    page.click(".page-head > button")
    page.wait("document.querySelector('.kept .chip')")
    page.click(".kept .chip button")
    page.until("document.querySelectorAll('.page-head .chip').length === 2")
    assert page.parameter("f") == "parse" and page.figure(".total") == 6000
    page.press_keys("e")
    assert page.eval("document.querySelector('.kept .word').getAttribute('aria-pressed')") == "true"  # it is what the page shows
    page.fill(".refine [name=f]", "eval")  # the same name is written over
    page.fill(".kept input", "only parse")
    page.run("[...document.querySelectorAll('.kept button')].find(one => one.textContent === 'Keep').click()")
    page.wait("document.querySelector('.kept .chip button').title.startsWith('focus: eval')")
    assert page.count(".kept .chip") == 1
    assert page.eval("document.querySelector('.kept .word').getAttribute('aria-pressed')") == "false"
    page.run("document.querySelector('.kept .chip button:last-child').click()")
    assert page.text(".kept .sure") == "Forget?" and page.count(".kept .chip") == 1
    page.run("document.querySelector('.kept .sure').click()")
    page.wait("!document.querySelector('.kept .chip')")
    page.press_keys(ESCAPE)


def try_unit(page):
    """A unit for all values; and the filters that clear.yaml shares."""
    page.go("/?runs=sizes&kind=space&page=top&unit=MB")
    assert page.text(".total") == "space: 3.5 MiB", page.text(".total")
    assert page.texts(".table-row [data-column=flat]") == ["2.5 MiB", "1 MiB"], page.texts(".table-row [data-column=flat]")
    page.go("/?runs=sizes&kind=space")
    assert page.text(".total") == "space: 3.5 MiB"
    page.press_keys("e")
    page.wait("document.querySelector('dialog[open] form')")
    page.run("document.querySelector('.refine [name=unit]').value = 'kB'")
    page.click(".refine .main")
    page.until("document.querySelector('.chip')")
    assert page.text(".total") == "space: 3,584 KiB" and page.parameter("unit") == "kB", page.text(".total")
    page.press_keys("e")
    page.wait("document.querySelector('.shared .chip')")
    page.run("document.querySelector('.shared .chip button').click()")
    page.until("location.search.includes('g=lines')")
    assert [page.parameter(name) for name in ("i", "g", "unit")] == ["big", "lines", ""] and page.figure(".total") == 2**20


def try_sandwich(page):
    page.go("/?runs=known" + KIND)
    page.press_keys(HOME, DOWN, DOWN, "s")
    page.until("document.querySelectorAll('.sandwich .flame').length === 2")
    assert page.parameter("pivot") == "^parse$" and page.figure(".total") == 6000
    page.run("document.querySelectorAll('.flame')[1].focus()")
    page.press_keys(HOME, DOWN, DOWN)
    assert focused(page) == ["read", 4000], focused(page)
    page.run("document.querySelectorAll('.flame')[0].focus()")
    page.press_keys(HOME, UP, UP)
    assert focused(page) == ["main", 6000], focused(page)
    page.press_keys(ESCAPE)
    page.until("!document.querySelector('.sandwich')")


def try_menu(page):
    page.go("/?runs=known" + KIND)
    page.listen_to_copies()
    page.press_keys(HOME, DOWN, DOWN, DOWN, "c")
    assert page.copied() == "main;parse;read"
    left, top, width, _ = page.box(".flame")
    page.press(left + width / 4, top + 50, button=2)
    page.wait("document.querySelector('[role=menu]')")
    labels = page.texts("[role=menuitem]")
    for wanted in ["Callers and callees", "Focus on it", "Ignore its stacks", "Hide it", "Show from it", "Copy name", "Copy stack", "As clear command line"]:
        assert wanted in labels, wanted
    page.keys(ESCAPE)
    assert page.count("[role=menu]") == 0 and page.eval("document.activeElement.classList.contains('flame')")
    page.press_keys("m")
    page.run("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'As clear command line').click()")
    assert page.copied() == "clear report flamegraph --kind samples --focus '^parse$' known", page.copied()
    page.press(left + width / 4, top + 50, button=2)
    page.run("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Ignore its stacks').click()")
    page.until("document.querySelector('.chip')")
    assert page.parameter("i") == "^parse$" and page.figure(".total") == SUM[""] - 6000


def try_difference(page):
    page.go("/?runs=known&base=other" + KIND)
    assert page.count(".legend .swatch") >= 5
    page.press_keys(HOME, DOWN, DOWN)
    assert "1,000 before, 6,000 after: +5,000" in page.text(".detail"), page.text(".detail")
    picture = "return document.querySelector('.flame canvas').toDataURL()"
    before = page.run(picture)
    page.run("const s = document.querySelector('.legend select'); s.value = 'orangepurple'; s.dispatchEvent(new Event('change'))")
    page.wait("document.querySelector('.legend').textContent.includes('orange')")
    assert page.run(picture) != before
    page.run("const s = document.querySelector('.legend select'); s.value = 'redblue'; s.dispatchEvent(new Event('change'))")


def pixel(page, name):
    """The colour of the left edge of the box with that name."""
    row = ["all", "main", "deflate_stored", "deflate", "memcpy"].index(name)
    return page.run("const c = document.querySelector('.flame canvas'), r = devicePixelRatio, one = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });"
                    "one.drawImage(c, 2 * r, (arguments[0] * 20 + 4) * r, 1, 1, 0, 0, 1, 1); return [...one.getImageData(0, 0, 1, 1).data].slice(0, 3).join()", row)


def try_modules(page):
    """Boxes have the colour of whose code they are; the legend says which, and makes the others pale; inlined functions are marked and said."""
    page.go("/?runs=modules&page=flame" + KIND)
    entries = "[...document.querySelectorAll('.legend .entry')].map(one => one.textContent)"
    assert page.eval(entries) == ["own code", "libz.so.1", "C library"], page.eval(entries)
    colours = {name: pixel(page, name) for name in ("all", "main", "deflate", "memcpy")}
    assert len(set(colours.values())) == 4, colours
    page.press_keys(HOME, DOWN, DOWN)
    assert "inlined" not in page.text(".detail"), page.text(".detail")
    page.press_keys(DOWN)
    assert "; inlined" in page.text(".detail"), page.text(".detail")
    page.run("[...document.querySelectorAll('.legend .entry')].find(one => one.textContent === 'libz.so.1').click()")
    page.until("document.querySelector('.legend .entry[aria-pressed=true]')")
    assert page.parameter("lit") == "library:libz.so.1"
    assert [pixel(page, name) for name in colours] == [colours["all"], colours["all"], colours["deflate"], colours["all"]]
    page.reload()
    page.until("document.querySelector('.legend .entry[aria-pressed=true]')")
    assert page.eval("[...document.querySelectorAll('.legend .entry[aria-pressed=true]')].map(one => one.textContent)") == ["libz.so.1"]
    page.run("[...document.querySelectorAll('.legend .entry')].find(one => one.textContent === 'show all').click()")
    page.until("!document.querySelector('.legend .entry[aria-pressed=true]')")
    assert pixel(page, "main") == colours["main"] and page.parameter("lit") == ""
    for mode in ("self", "package", "module"):  # a choice that the browser remembers
        before = pixel(page, "deflate")
        page.run("const s = document.querySelector('select[aria-label=colours]'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", mode)
        page.until("document.querySelector('select[aria-label=colours]').value === %r && Boolean(document.querySelector('.legend')) === %s" % (mode, str(mode == "module").lower()))
        assert pixel(page, "deflate") != before, mode
    page.press_keys(HOME, DOWN, DOWN, "m")
    page.run("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Hide its module').click()")
    page.until("document.querySelector('.chip')")
    assert page.parameter("h") == "^/usr/lib/libz\\.so\\.1$", page.parameter("h")
    page.until("![...document.querySelectorAll('.legend .entry')].some(one => one.textContent === 'libz.so.1')")
    page.go("/?runs=known" + KIND)  # folded stacks: no module is known
    assert page.count(".legend") == 0 and page.eval("[...document.querySelector('select[aria-label=colours]').options].map(one => one.value)") == ["package", "self"]


DETAILS = "document.querySelector('.about dl')"


def details(page):
    """What stands beside the picture: the figures of the chosen function, its callers and its callees."""
    return page.run("""const of = title => [...document.querySelectorAll('.about section')].filter(one => one.querySelector('h3').textContent === title)
          .flatMap(one => [...one.querySelectorAll('li')].map(li => [li.querySelector('[data-name]').dataset.name, Number(li.querySelector('.figure').dataset.value)]));
        return [[...document.querySelectorAll('.about dd')].map(dd => Number(dd.dataset.value)), of('Callers'), of('Callees')]""")


def try_details(page):
    """The chosen function beside the picture and beside the table: its figures, callers and callees are those of clear, and over two runs it has a line."""
    page.go("/?runs=known" + KIND)
    assert page.count(".about") == 0  # where there is little room it is shown when it is asked for
    page.press_keys("d")
    page.until("document.querySelector('.about')")
    page.press_keys(HOME, DOWN, DOWN, RIGHT)
    page.until(DETAILS + " && document.querySelector('.about h2').textContent === 'eval'")
    wanted = clear_json("report", "json", "--kind", "samples", "known")
    node = {one["name"]: one for one in wanted["nodes"]}
    names = [one["name"] for one in wanted["nodes"]]
    edges = lambda key, of, other: sorted(([names[one[other]], one["weight"]] for one in wanted["edges"] if names[one[key]] == of), key=lambda pair: -pair[1])
    assert details(page) == [[node["eval"]["flat"], node["eval"]["cum"]], edges("to", "eval", "from"), edges("from", "eval", "to")], details(page)
    # The same at once, of what the page has: the server, which may take long for a large profile, is not waited for.
    page.run("window.fetched = window.fetch; window.fetch = address => String(address).includes('report=peek') ? new Promise(() => {}) : window.fetched(address)")
    for inverted in "", "&inverted=1":
        page.go("/?runs=known" + KIND + inverted)
        page.press_keys("0", *(["/", "^eval$", ENTER, ENTER] if inverted else [HOME, DOWN, DOWN, RIGHT]))
        page.until(DETAILS + " && document.querySelector('.about h2').textContent === 'eval'")
        assert details(page) == [[node["eval"]["flat"], node["eval"]["cum"]], edges("to", "eval", "from"), edges("from", "eval", "to")], details(page)
    page.run("window.fetch = window.fetched")
    page.run("[...document.querySelectorAll('.about a')].find(one => one.textContent === 'alloc').click()")
    page.until("document.querySelector('.sandwich')")
    assert page.parameter("pivot") == "^alloc$" and page.count(".about") == 1
    page.go("/?runs=known&page=top" + KIND)
    page.press_keys(HOME)
    page.until(DETAILS)
    name = page.text(".about h2")
    assert details(page)[0] == [node[name]["flat"], node[name]["cum"]]
    page.run("[...document.querySelectorAll('button')].find(one => one.textContent === 'Details').click()")
    page.until("!document.querySelector('.about')")
    page.go("/?runs=known" + KIND)
    assert page.count(".about") == 0  # the browser remembers it
    page.go("/?runs=twice&page=flame" + KIND)
    page.press_keys("d", HOME, DOWN)
    page.until(DETAILS + " && document.querySelector('.about .sparkline')")
    assert "2 runs" in page.text(".about") and "+100%" in page.text(".about"), page.text(".about")
    page.go("/?runs=known&base=other" + KIND)
    page.press_keys(HOME, DOWN, DOWN)
    page.until(DETAILS + " && document.querySelector('.about h2').textContent === 'parse'")
    assert page.text(".about dd:last-of-type").startswith("+5,000"), page.text(".about")
    page.press_keys("d")
    page.until("!document.querySelector('.about')")


def download(page, *words):
    page.run("[...document.querySelectorAll('.toolbar button')].find(one => one.textContent === 'Download').click()")
    page.run("[...document.querySelectorAll('[role=menuitem]')].find(one => arguments[0].every(word => one.textContent.includes(word))).click()", list(words))


def try_download(page):
    page.go("/?runs=known&f=eval" + KIND)
    page.run("[...document.querySelectorAll('.toolbar button')].find(one => one.textContent === 'Download').click()")
    hrefs = page.run("return [...document.querySelectorAll('a[role=menuitem]')].map(one => one.getAttribute('href'))")
    for wanted in ("folded", "proto", "flamegraph", "csv", "json"):  # the bytes that the command writes
        href = next(href for href in hrefs if "format=" + wanted in href)
        got = page.run_async("const done = arguments[1]; fetch(arguments[0]).then(answer => answer.arrayBuffer())"
                             ".then(bytes => done([...new Uint8Array(bytes)]), error => done(String(error)))", href)
        clear("export", "--format", wanted, "--kind", "samples", "--focus", "eval", "known", "-o", "exported")
        with open("exported", "rb") as file:
            assert bytes(got) == file.read(), (wanted, bytes(got)[:300])
    page.go("/?runs=known" + KIND)  # without filters the profile is the stored one
    page.run("[...document.querySelectorAll('.toolbar button')].find(one => one.textContent === 'Download').click()")
    assert page.eval("Boolean(document.querySelector('a[role=menuitem][href*=\"format=pprof\"]'))")
    page.run("[...document.querySelectorAll('[role=menuitem]')].find(one => one.textContent.includes('png')).click()")
    page.downloaded("flamegraph.png")
    # A picture is what is shown, and says so: run, total, order, zoom, filters; a function's callers and callees are the stacks with it.
    page.go("/?runs=known&i=tiny&inverted=1" + KIND)
    page.press_keys(HOME, DOWN, ENTER)
    download(page, "svg)", "picture")
    texts = [one.text for one in xml.etree.ElementTree.parse(page.downloaded("flamegraph.svg")).getroot().iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:3] == ["known · samples: 10,000", "from the leaves · zoomed into read · ignore tiny", "all"] and {"read", "parse", "main"} <= set(texts) and "alloc" not in texts, texts


def downloaded_stacks(page):
    """{stack: value} of the folded stacks that the menu offers, which a profile of the same menu has too."""
    page.run("[...document.querySelectorAll('.toolbar button')].find(one => one.textContent === 'Download').click()")
    folded, profile = page.run("return ['folded', 'proto'].map(name => document.querySelector(`a[role=menuitem][href*='format=${name}']`).getAttribute('href'))")
    page.press_keys(ESCAPE)
    lines = page.run_async("fetch(arguments[0]).then(answer => answer.text()).then(arguments[1])", folded).splitlines()
    got = page.run_async("fetch(arguments[0]).then(answer => answer.arrayBuffer()).then(bytes => arguments[1]([...new Uint8Array(bytes)]))", profile)
    with open("zoomed.pb.gz", "wb") as file:
        file.write(bytes(got))
    assert clear("report", "folded", "zoomed.pb.gz").splitlines() == lines, (folded, profile)
    return {stack: int(value) for stack, value in (line.rsplit(" ", 1) for line in lines)}


def try_download_zoomed(page):
    """A file has the stacks through the zoomed box, and their sum is its value."""
    whole, parse = "main;parse;read", "main;parse;parse;read"
    for view, keys, box, wanted in [("", (DOWN, DOWN), ["parse", 6000], {whole, parse}), ("", (DOWN, DOWN, RIGHT), ["eval", 4000], {"main;eval", "main;eval;alloc"}),
                                    ("&inverted=1", (DOWN, DOWN, DOWN), ["main", 4000], {whole}), ("&inverted=1&i=tiny", (DOWN, DOWN), ["parse", 6000], {whole, parse}),
                                    ("&fold=1", (DOWN, DOWN, DOWN), ["read", 6000], {whole, parse})]:
        page.go("/?runs=known" + view + KIND)
        page.press_keys(HOME, *keys, ENTER)
        assert focused(page) == box and page.parameter("zoom"), (view, focused(page), box)
        got = downloaded_stacks(page)
        assert got == {stack: STACKS[stack] for stack in wanted} and sum(got.values()) == box[1], (view, box, got)
    # A function's callers and callees are the stacks with it, and of a zoomed half those through the box.
    page.go("/?runs=known&pivot=^parse$&f=read" + KIND)
    assert downloaded_stacks(page) == {stack: STACKS[stack] for stack in (whole, parse)}
    page.run("document.querySelectorAll('.flame')[1].focus()")
    page.press_keys(HOME, DOWN, DOWN, ENTER)
    assert focused(page) == ["read", 4000] and downloaded_stacks(page) == {whole: 4000}, focused(page)


TREE_ROWS = """return [...document.querySelectorAll('.table-body [data-index]')].map(row => [Number(row.getAttribute('aria-level')), row.querySelector('.tree-name').textContent.replace(/^[▸▾]/, ''),
    ...[...row.querySelectorAll('[data-value]')].map(cell => Number(cell.dataset.value)), row.getAttribute('aria-expanded')])"""


def try_calltree(page):
    """The call tree opens on the path to what does most itself; rows open and close by keys, what was too small comes from the server."""
    page.go("/?runs=known&page=calltree" + KIND)
    rows = page.run(TREE_ROWS)
    assert rows[:4] == [[1, "all", SUM[""], 0, "true"], [2, "main", SUM["main"], 0, "true"], [3, "parse", 6000, 0, "true"], [4, "read", 4000, 4000, None]], rows[:6]
    assert rows[4:6] == [[4, "parse", 2000, 0, "false"], [3, "eval", 4000, 1000, "false"]], rows[4:7]
    assert page.text("[role=treegrid] .current .tree-name") == "read"
    page.press_keys(DOWN, RIGHT, RIGHT)
    rows = page.run(TREE_ROWS)
    assert rows[4:6] == [[4, "parse", 2000, 0, "true"], [5, "read", 2000, 2000, None]] and page.text("[role=treegrid] .current .tree-name").endswith("read"), rows[:7]
    page.press_keys(LEFT, LEFT)
    assert page.run(TREE_ROWS)[4] == [4, "parse", 2000, 0, "false"]
    page.press_keys(LEFT, LEFT)
    assert page.run(TREE_ROWS)[2:4] == [[3, "parse", 6000, 0, "false"], [3, "eval", 4000, 1000, "false"]]
    # A search opens the paths to what it finds, and Enter goes from match to match.
    page.press_keys("/", *"alloc", ENTER)
    page.until("document.querySelector('.match')")
    assert page.texts(".match .tree-name") == ["alloc"] and page.text("[role=treegrid] .current .tree-name") == "alloc"
    page.press_keys(ESCAPE, ESCAPE)
    page.press_keys("d")
    page.until(DETAILS + " && document.querySelector('.about h2').textContent === 'alloc'")
    page.press_keys("d")
    # From the leaves, and against a base.
    page.go("/?runs=known&page=calltree&inverted=1" + KIND)
    rows = page.run(TREE_ROWS)
    assert rows[0][:3] == [1, "all", SUM[""]] and rows[1:3] == [[2, "read", 6000, "false"], [2, "alloc", 3000, "false"]], rows[:4]
    page.go("/?runs=known&base=other&page=calltree" + KIND)
    rows = page.run(TREE_ROWS)
    assert rows[0][:5] == [1, "all", 4500, SUM[""], SUM[""] - 4500], rows[0]
    # Nodes that are half a pixel in the flame graph, and less, are one row until it is opened.
    page.go("/?runs=narrow&page=calltree" + KIND)
    page.run("[...document.querySelectorAll('button')].find(one => one.textContent === 'Hottest path').click()")
    assert "3 more, too small to be sent: 3" in page.eval("[...document.querySelectorAll('.tree-name em')].map(one => one.textContent).join()"), page.run(TREE_ROWS)
    page.run("document.querySelector('[role=treegrid]').focus()")
    page.press_keys(END, ENTER)
    page.until("!document.querySelector('.tree-name em')")
    assert sorted(row[1:3] for row in page.run(TREE_ROWS))[-3:] == [["small_0", 1], ["small_1", 1], ["small_2", 1]], page.run(TREE_ROWS)


def try_pprof_links(page):
    """The addresses of pprof's own pages, with its letters."""
    for path, where in [("/top?f=eval" + KIND, "top"), ("/peek?f=%5Eeval%24" + KIND, "peek"), ("/flamegraph?i=read" + KIND, "flame"),
                        ("/graph?", "graph"), ("/weblist?f=main" + KIND, "source"), ("/disasm?f=main" + KIND, "disasm")]:
        page.go(path + "&runs=known", anew=True)
        assert page.count(f".host-{where}") == 1, path
    page.go("/peek?f=%5Eeval%24&runs=known" + KIND, anew=True)
    assert "eval" in page.text("main"), page.text("main")
    page.go("/flamegraph?i=read&runs=known" + KIND, anew=True)
    assert page.figure(".total") == kept("--ignore", "read")


def try_states(page):
    total = "Number(document.querySelector('.total').dataset.value) === "
    tour(page, [("/?runs=known" + KIND, total + str(SUM[""])), ("/?runs=known&f=eval" + KIND, total + "4000"),
                ("/?runs=known&i=eval" + KIND, total + "6200"), ("/?runs=known&q=read" + KIND, "document.querySelector('.found').textContent.startsWith('2 matches')"),
                ("/?runs=known&pivot=alloc" + KIND, total + "3000"), ("/?runs=other" + KIND, total + "4500")])


def imports_of(names):
    """The modules that these import, and what those import."""
    found, left = set(), list(names)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        if name == "state/options.js":
            continue  # which the server makes
        with open(os.path.join(os.path.dirname(__file__), "..", "web", name), encoding="utf-8") as file:
            left += [os.path.normpath(os.path.join(os.path.dirname(name), one)) for one in re.findall(r"^import .* from '(\.[\w./]+)';", file.read(), re.MULTILINE)]
    return found


def try_loading(page):
    """Nothing of the pages that runs open on waits for something else to come first: their modules are named by the document, and the overview or
    the tree is asked for while the server says what the runs are; once, also when the page comes back to it."""
    page.go("/?runs=known")
    preloaded = set(page.eval("[...document.querySelectorAll('link[rel=modulepreload]')].map(one => one.href.replace(/^.*\\/v-[0-9a-f]+\\//, ''))"))
    assert preloaded == imports_of(["main.js", "pages/overview.js", "pages/flame.js"]) - {"main.js", "ahead.js"}, preloaded
    asked = "performance.getEntriesByType('resource').filter(one => one.name.includes('/api/tree')).length"
    page.open("about:blank")
    page.go("/?runs=known")
    assert page.eval(asked) == 0 and page.eval(asked.replace("tree", "overview")) == 1
    for path in ("/?runs=known&page=flame", "/?runs=known&inverted=1&f=main"):
        page.open("about:blank")
        page.go(path)
        assert page.eval(asked) == 1, path
    page.go("/?runs=known&page=top")
    before = page.eval(asked)
    page.back()
    page.until("document.querySelector('.flame')")
    assert page.eval(asked) == before + 1
    page.open("about:blank")  # a run that is not there: said once, and nothing else
    page.trouble.append("404|400")
    page.go("/?runs=nobody")
    assert "nobody" in page.eval("document.querySelector('.failure').textContent")


def main():
    write("known.folded", STACKS)
    write("other.folded", OTHER)
    for name in ("other", "known"):
        clear("ingest", "--label", name, name + ".folded")
    write_sizes("sizes.pb.gz", {"big": 5 * 2**19, "small": 2**20})
    clear("ingest", "--label", "sizes", "sizes.pb.gz")
    write("narrow.folded", {"main;large": 10**6, **{f"main;small_{i}": 1 for i in range(3)}})
    clear("ingest", "--label", "narrow", "narrow.folded")
    for times in (1, 2):
        write("twice.folded", {"main;work": 100 * times})
        clear("ingest", "--label", "twice", "twice.folded")
    write_modules("modules.pb.gz")
    clear("ingest", "--label", "modules", "modules.pb.gz")
    with open("clear.yaml", "w", encoding="utf-8") as file:
        file.write("filters:\n  one file: {ignore: big, granularity: lines}\n")
    with Server("t.db") as server, Page(server) as page:
        for part in [part for part in (try_loading, try_walking, try_zoom, try_narrow, try_search, try_filters, try_refine, try_unit, try_sandwich, try_menu, try_difference, try_modules, try_details, try_calltree, try_pprof_links, try_states, try_download, try_download_zoomed) if os.environ.get("ONLY", "") in part.__name__]:
            part(page)


main()
