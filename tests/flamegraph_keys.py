"""Of tests/flamegraph_keys.sh: what is expected comes from the folded stacks, summed up here."""
import collections
import os

from webdriver import BACKSPACE, DOWN, ENTER, ESCAPE, LEFT, RIGHT, TAB, UP, Browser

LONG = "server::Table<int, std::less<int> >::find_the_one_that_was_asked_for"
PLAIN = "server::Table<…>::find_the_one_that_was_asked_for"


def stacks(path):
    for line in open(path, encoding="utf-8"):
        names, value = line.rstrip("\n").rsplit(" ", 1)
        yield names.split(";"), int(value)


def matched(path, word):
    """Percent of the values whose stack has a name with that word."""
    values = [(value, any(word in name for name in names)) for names, value in stacks(path)]
    return 100 * sum(value for value, hit in values if hit) / sum(value for value, _ in values)


def own(path):
    sums = collections.Counter()
    for names, value in stacks(path):
        sums[names[-1]] += value
    return sums


class Graph:
    def __init__(self, browser):
        self.browser = browser

    def open(self, name, query=""):
        self.browser.open(f"file://{os.getcwd()}/{name}{query}")
        self.browser.wait("document.querySelectorAll('.f').length > 1 && document.getElementById('details').textContent !== ''")

    def boxes(self):
        """Of the boxes that are seen: name, row, left and width in percent, the text on it."""
        return [tuple(box) for box in self.browser.run(
            "return [...document.querySelectorAll('.f')].filter(f => f.style.display !== 'none')"
            ".map(f => [f.dataset.n, Math.round((f.getAttribute('y') - 92) / 18), parseFloat(f.getAttribute('x')),"
            " parseFloat(f.getAttribute('width')), f.querySelector('text').textContent])")]

    def named(self, name):
        return [box for box in self.boxes() if box[0] == name]

    def share(self, name):
        return sum(box[3] for box in self.named(name))

    def text(self, id):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", id)

    def search(self):
        return self.browser.run("return document.getElementById('search').value")

    def at(self):
        return self.browser.run("const at = document.querySelector('.f.at'); return at && at.dataset.n")

    def keys(self, *keys):
        self.browser.keys(*keys)

    def click(self, name):
        self.browser.run("window.found = [...document.querySelectorAll('.f')].find(f => f.dataset.n === arguments[0])", name)
        left, top, width, height = self.browser.run("const r = window.found.querySelector('rect').getBoundingClientRect();"
                                                    "return [r.left, r.top, r.width, r.height]")
        self.browser.press(left + width / 2, top + height / 2)


def near(got, want, what):
    assert abs(got - want) < 0.06, f"{what}: {got}, not {want}"


def equal(got, want, what):
    assert got == want, f"{what}: {got!r}, not {want!r}"


def searching(graph):
    graph.open("calls.svg")
    near(graph.share("server::run"), 60, "width of server::run")
    for word in ("alloc", "queue::p", "log"):
        graph.keys(word)
        equal(graph.search(), word, "what was typed")
        found = {"queue::p": "Queue::p"}.get(word, word)  # letters of either case match
        equal(graph.text("matched"), f"matched: {matched('calls.folded', found):.1f} %", f"matches of {word}")
        hits = set(graph.browser.run("return [...document.querySelectorAll('.hit')].map(f => f.dataset.n)"))
        equal(hits, {name for names, _ in stacks("calls.folded") for name in names if found in name}, f"hits of {word}")
        graph.keys(ESCAPE)
        equal((graph.search(), graph.text("matched")), ("", ""), "after Escape")
    graph.keys("table<…>::find")  # the plain name is searched as well
    equal(graph.text("matched"), "matched: 25.0 %", "matches of a plain name")
    graph.keys(ESCAPE)
    graph.keys("/", "alloc[")
    assert graph.browser.run("return document.getElementById('search').classList.contains('wrong')"), "half an expression"
    graph.keys(ESCAPE)
    graph.open("calls.svg", "?search=alloc")
    equal(graph.text("matched"), "matched: 55.0 %", "a search in the address")


def zooming(graph):
    graph.open("calls.svg")
    whole = graph.boxes()
    graph.keys(DOWN, DOWN)
    equal(graph.at(), "main", "the first step down")
    graph.keys(DOWN)
    equal(graph.at(), "server::run", "the widest below")
    assert "600, 60.00 %" in graph.text("details"), graph.text("details")
    graph.keys(LEFT)
    equal(graph.at(), LONG, "beside it")
    graph.keys(RIGHT, UP)
    equal(graph.at(), "main", "the parent")
    graph.keys(DOWN, ENTER)
    near(graph.share("server::run"), 100, "zoomed by Enter")
    near(graph.share("server::Queue::push"), 100 * 400 / 600, "below it")
    equal({box[0] for box in graph.boxes()}, {"all", "main", "server::run", "server::Queue::push", "server::Queue::pop", "alloc"}, "what is seen")
    graph.keys(BACKSPACE)
    near(graph.share("server::run"), 60, "zoomed out by Backspace")
    graph.click("server::Queue::push")
    near(graph.share("server::Queue::push"), 100, "zoomed by a click")
    left, top, width, height = graph.browser.box("#reset")
    graph.browser.press(left + width / 2, top + height / 2)
    equal(graph.boxes(), whole, "after reset zoom")
    graph.click("log::write")
    graph.keys(ESCAPE)
    equal(graph.boxes(), whole, "after Escape")


def turning(graph):
    for name in ("callers", "flip"):
        graph.open("calls.svg")
        before = graph.boxes()
        while graph.browser.run("return document.activeElement && document.activeElement.id") != name:
            graph.keys(TAB)
        graph.keys(ENTER)
        if name == "callers":
            sums, whole = own("calls.folded"), sum(value for _, value in stacks("calls.folded"))
            got = {box[0]: box for box in graph.boxes() if box[1] == 1}
            equal(set(got), set(sums), "functions that cost something themselves")
            for function, box in got.items():
                near(box[3], 100 * sums[function] / whole, f"itself: {function}")
            left, right = got["alloc"][2], got["alloc"][2] + got["alloc"][3]
            below = {box[0] for box in graph.boxes() if box[1] == 2 and left <= box[2] < right}
            equal(below, {LONG, "server::Queue::push"}, "who calls alloc")
        else:
            rows = {(box[0], box[2]): box[1] for box in graph.boxes()}
            equal(rows, {(box[0], box[2]): max(box[1] for box in before) - box[1] for box in before}, "the root at the bottom")
        graph.keys(ENTER)
        equal(graph.boxes(), before, f"{name} pressed again")


def apart(graph):
    """What is said of a frame ends before the buttons, in a narrow window too."""
    for size in (900, 1280):
        graph.browser.size(size, 800)
        graph.open("heap.svg")
        end, first = graph.browser.run("return [14 + document.getElementById('line').width.baseVal.value,"
                                       " document.getElementById('type').getBoundingClientRect().left]")
        assert 100 < end <= first, (end, first)


def types(graph):
    graph.open("heap.svg")
    names = graph.browser.run("return [...document.querySelectorAll('#type option')].map(option => option.textContent)")
    equal(names, ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"], "types to choose from")
    for number, name in enumerate(names, 1):
        graph.keys(str(number))
        assert graph.text("subtitle").startswith(name + ": "), graph.text("subtitle")
        values = collections.Counter()
        for frames, value in stacks(f"{name}.folded"):
            values.update({frame: value for frame in set(frames)})
        total = sum(value for _, value in stacks(f"{name}.folded"))
        near(graph.share("main"), 100 * values["main"] / total, f"main of {name}")


def change(graph):
    graph.open("change.svg")
    colours = graph.browser.run("return Object.fromEntries([...document.querySelectorAll('.f')].map(f => [f.dataset.n, f.querySelector('rect').getAttribute('fill')]))")
    assert colours["server::Queue::pop"].startswith("hsl(4,") and colours["log::write"].startswith("hsl(215,"), colours
    assert colours["alloc"].startswith("hsl(0,0%"), colours
    graph.keys("pop", ESCAPE)
    graph.click("log::write")
    assert "100 → 0 (-100, -100 %)" in graph.browser.run("return window.found.querySelector('title').textContent"), "a vanished frame"


def narrow(graph):
    """In narrow windows the last part of a name stays: it tells functions apart."""
    for width in (1600, 800, 500):
        graph.browser.size(width, 700)
        graph.open("calls.svg")
        for name, _, _, _, shown in graph.boxes():
            if name == LONG:
                name = PLAIN
            if not shown or shown == name:
                continue
            last = name.split("::")[-1]
            assert "…" in shown, (width, name, shown)
            assert name.endswith(shown.lstrip("…")) or last.startswith(shown.rstrip("…")), (width, name, shown)
            if width == 500 and name == PLAIN:
                assert shown.startswith("find_") and shown.endswith("…"), shown
    left = {name: shown for name, _, _, _, shown in graph.boxes()}
    assert left["server::Queue::pop"].startswith("…") and left["server::Queue::pop"].endswith("pop"), left


with Browser() as browser:
    graph = Graph(browser)
    for part in (searching, zooming, turning, types, apart, change, narrow):
        part(graph)
        complaints = browser.complaints()
        assert not complaints, complaints
    assert not browser.requests(), browser.requests()
