"""What the browser's pages cost, in a real browser: the figures of the row `web` of bench/ingest, each beside its goal.

Times are taken in the page by its own clock, from the request of the document to the frame in which the picture stands; `pprof -http` shows
the same file in the same browser. A task is what the browser's own PerformanceObserver calls a long task (50 ms and more)."""
import os
import socket
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLEAR = os.environ.setdefault("CLEAR", os.path.join(ROOT, "clear"))
sys.path[:0] = [os.path.join(ROOT, "tests")]

from browser import READY, Page, Server, fetched, find_url  # noqa: E402
from webdriver import DOWN, HOME, Browser, Failure  # noqa: E402

# Notes when the page first stands, and the longest task.
WATCH = """window.benchLongest = 0;
new PerformanceObserver(list => list.getEntries().forEach(one => { window.benchLongest = Math.max(window.benchLongest, one.duration); })).observe({ type: 'longtask', buffered: true });
(function look() {
  let stands = false;
  try { stands = READY && !!document.querySelector('.flame canvas, #stack-chart .boxtext, .boxes .boxtext, .stack-chart'); } catch { stands = false; }
  if (stands) requestAnimationFrame(() => { window.benchDrawn = performance.now(); });
  else requestAnimationFrame(look);
})();"""
# Presses a key, and says how long the page was busy with it, without what it asks of the server.
PRESS = """const done = arguments[1], channel = new MessageChannel();
document.querySelector('.flame').focus();
const begin = performance.now();
channel.port1.onmessage = () => done(performance.now() - begin);
document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true, cancelable: true }));
channel.port2.postMessage(0);"""
# A search in a tree of as many names, without and with a pattern.
SEARCH = """const done = arguments[1], count = arguments[0];
import('/web/charts/tree.js').then(m => {
  const nodes = { id: [], parent: [], name: [], value: [], self: [], hidden_count: [], hidden_value: [] }, names = [];
  for (let i = 0; i < count; i++) {
    names.push(`pkg${i % 97}.(*Type${i % 31}).Method${i}`);
    for (const [key, value] of Object.entries({ id: i + 1, parent: i ? (i - 1) >> 3 : 0, name: i, value: count - i, self: 1, hidden_count: 0, hidden_value: 0 })) nodes[key].push(value);
  }
  const root = m.decode({ names, places: names, nodes }), times = ['Method9', 'Type1.*9$'].map(words => {
    const begin = performance.now();
    m.search(root, m.patternOf(words));
    return performance.now() - begin;
  });
  done(Math.max(...times));
}, error => done(String(error)));"""


def middle(measure, rounds):
    return statistics.median([measure() for _ in range(rounds)])


def watch(page, ready="true"):
    page.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH.replace("READY", ready))
    page.cdp("Performance.enable")


def drawn(page, url):
    """Milliseconds from the request of the document to the frame in which its picture stands."""
    page.open(url)
    return page.wait("window.benchDrawn", seconds=300)


def heap_of(page):
    page.cdp("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in page.cdp("Performance.getMetrics")["metrics"]}
    return metrics["JSHeapUsedSize"]


def of_asked(page, words):
    """Milliseconds of the newest request whose URL has these words."""
    return page.wait("(list => list.length && list[list.length - 1].duration)(performance.getEntriesByType('resource').filter(one => one.name.includes(arguments[0]) && one.responseEnd))", words)


def zooms(page, rounds):
    """Redraws after a zoom and the details that follow, the slowest of each: down the widest boxes, and back."""
    redraws, details = [], []
    for _ in range(rounds):
        page.keys(HOME, DOWN, DOWN)
        for key in ("Enter", "ArrowDown", "Enter", "ArrowDown", "Enter", "0"):
            page.run("performance.clearResourceTimings()")
            redraws.append(page.run_async(PRESS, key))
            page.wait(READY)
            if key == "Enter" and page.eval("performance.getEntriesByType('resource').some(one => one.name.includes('root='))"):
                details.append(of_asked(page, "root="))
    return max(redraws), max(details, default=0)


def big(db, rounds, show):
    """The profile that bench/ingest has made: a server that has not seen it, a tree that is there, and what is done with it."""
    first = []
    for _ in range(rounds):
        with Server(db) as server, Page(server) as page:
            watch(page, READY)
            first.append(drawn(page, server.url + "/?runs=latest&page=flame"))
    show("first graph in the browser, ms", statistics.median(first), 1000)
    with Server(db) as server, Page(server) as page:
        watch(page, READY)
        url = server.url + "/?runs=latest&page=flame"
        drawn(page, url)
        show("cached graph in the browser, ms", middle(lambda: drawn(page, url), rounds), 150)
        redraw, detail = zooms(page, rounds)
        show("zoom: slowest redraw, ms", redraw, 16)
        show("zoom: slowest detail, ms", detail, 100)
        show("search over 100,000 names, ms", middle(lambda: page.run_async(SEARCH, 100_000), rounds), 50)
        page.go("/?runs=latest&page=flame&q=Method1", anew=True)
        show("search with narrow boxes (server), ms", of_asked(page, "search="), 100)
        show("longest task, ms", page.eval("window.benchLongest"), 50)
        show("heap of the page, MB", heap_of(page) / 1e6, 150)


def small(cwd, rounds, show):
    program = os.path.join(cwd, "worker")
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write("#include <stdlib.h>\n#include <unistd.h>\nint main(void) { for (int i = 0; i < 6000 && access(\"stop\", F_OK); i++) { free(*(void *volatile *)&(void *){malloc(99)}); usleep(10000); } }\n")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", "-o", program, program + ".c"], check=True)
    db = os.path.join(cwd, "small.sqlite")
    subprocess.run([CLEAR, "profile", "-q", "--db", db, "-o", os.path.join(cwd, "demo.profile"), "sh", "-c", "ls -R /usr/share/doc | sort | head -2000"], check=True, stdout=subprocess.DEVNULL, cwd=cwd)
    with Server(db) as server, Page(server) as page:
        watch(page, READY)
        url = server.url + "/?runs=latest&page=flame&kind=heap"
        drawn(page, url)
        show("a small run, request to drawn, ms", middle(lambda: drawn(page, url), rounds + 2), 150)
        cancels(server, page, rounds, show)
    live(cwd, db, program, show)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as listed:
        return listed.read().split()


def cancels(server, page, rounds, show):
    def until(is_there):
        end = time.monotonic() + 60
        while bool(children(server.process.pid)) != is_there:
            if time.monotonic() > end:
                raise Failure("the query does not " + ("begin" if is_there else "end"))
            time.sleep(0.002)

    def once():
        page.open("about:blank")  # or the same address would only be gone to
        page.go("/?page=sql#sql=WITH+RECURSIVE+n(i)+AS+(SELECT+1+UNION+ALL+SELECT+i+%2B+1+FROM+n)+SELECT+count(*)+FROM+n")
        until(True)
        begin = time.monotonic()
        page.run("[...document.querySelectorAll('.sql-main button')].find(one => one.textContent === 'Cancel').click()")
        until(False)
        return (time.monotonic() - begin) * 1000
    show("cancel of a query until it is gone, ms", max(once() for _ in range(rounds)), 200)


class Recording:
    """clear profile --http of a program that ends when the file `stop` is there."""

    def __init__(self, cwd, db, program):
        self.cwd = cwd
        self.process = subprocess.Popen([CLEAR, "profile", "--db", db, "--label", "live", "-o", "live.profile", "--interval", "500ms", "--http", "127.0.0.1:0", program], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.url = find_url(self.process.stderr)

    def end(self):
        open(os.path.join(self.cwd, "stop"), "w", encoding="utf-8").close()
        self.process.stderr.read()
        self.process.wait()


def live(cwd, db, program, show):
    """From the end of a window, as the warehouse has it, to the frame in which the timeline shows it."""
    recording = Recording(cwd, db, program)
    with Page(recording) as page:
        page.go("/?runs=live&kind=heap&page=live")
        late = page.run_async("""const done = arguments[0], times = [], shown = () => document.querySelectorAll('.timeline .window').length, first = shown();
          let last = first;
          (function look() {
            if (shown() > last) { last = shown(); times[last] = Date.now(); }
            if (last < first + 6) return requestAnimationFrame(look);
            fetch('/api/windows?runs=live&kind=heap').then(answer => answer.json()).then(list => done(times.map((time, i) => time ? time - list[i - 1].time_ns / 1e6 : null).filter(one => one !== null)));
          })();""")
        page.open("about:blank")
        recording.end()
    show("live window, end to drawn, ms (slowest)", max(late), 300)


def figures(cwd, db, rounds, show):
    """Calls show(what, figure, goal) for each; `db` has the profile of 1,000,000 samples."""
    big(db, rounds, show)
    small(cwd, rounds, show)
    sizes(db, show)


def sizes(db, show):
    """Of what a browser fetches: comments stay in the source."""
    with Server(db) as server:
        show("all JS and CSS, KiB", fetched(server) / 1024, 300)


def pprof(path, port, rounds):
    """The page of pprof -http of the same file: request to drawn of a new server, and once more; None where the browser cannot."""
    first, again = [], []
    for _ in range(rounds):
        server = subprocess.Popen(["go", "tool", "pprof", "-symbolize=none", "-no_browser", "-http", f"127.0.0.1:{port}", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with Browser() as browser:
                watch(browser)
                wait_for(port)
                for times in (first, again):
                    times.append(drawn(browser, f"http://127.0.0.1:{port}/ui/flamegraph"))
        except (Failure, OSError):  # the driver gives up after two minutes
            return None
        finally:
            server.terminate()
            server.wait()
    return statistics.median(first), statistics.median(again)


def wait_for(port, seconds=300):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.01)
    raise Failure(f"nothing listens on {port}")
