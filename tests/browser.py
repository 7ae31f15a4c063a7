"""What the tests of the pages share: a server over a warehouse, a browser on it, and clear's own answers to compare with.

    with Server("t.db") as server, Page(server) as page:
        page.go("/?runs=known&kind=cpu")
        assert page.figure(".total") == clear_json("report", "json", "known")["total"]
"""
import contextlib
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request

from webdriver import Browser

CLEAR = os.environ["CLEAR"]
READY = ("document.querySelector('#page > .host') && document.querySelector('#page > .page-head')"
         " && !document.querySelector('#page[aria-busy]')")
# Goes to a path, where the application is open.
HERE = ("location.origin === arguments[0] && document.querySelector('#page > .page-head')"
        " && (history.pushState(null, '', arguments[1]), dispatchEvent(new PopStateEvent('popstate')))")


def clear(*arguments, db="t.db"):
    """The standard output of a command; it must succeed."""
    return subprocess.run([CLEAR, arguments[0], "--db", db, *arguments[1:]], check=True, capture_output=True, text=True).stdout


def clear_json(*arguments, db="t.db"):
    return json.loads(clear(*arguments, db=db))


class Server:
    """`clear serve` on a free port; url is its root, without a slash at the end."""

    def __init__(self, db, *options, address="127.0.0.1:0", path=None):
        environment = dict(os.environ, PATH=path or os.environ["PATH"])
        self.process = subprocess.Popen([CLEAR, "serve", "--http", address, "--db", db, *options], stdout=subprocess.PIPE, text=True, env=environment)
        self.url = find_url(self.process.stdout)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        assert self.process.wait(20) == 0, "clear serve did not end well"
        self.process.stdout.close()


def find_url(stream):
    """The root of the server whose address the next lines name."""
    for line in stream:
        found = re.search(r"(https?://[^/\s]+)/", line)
        if found:
            return found.group(1)
    raise AssertionError("no address was printed")


def sources():
    """The JS and CSS of the pages, without the modules that only a file (clear export --html) has."""
    web = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "web")
    found = sorted(os.path.relpath(os.path.join(room, name), web) for room, _, names in os.walk(web) for name in names)
    return [os.path.join(web, name) for name in found if name.endswith((".js", ".css")) and not name.startswith("file/")]


def fetched(server):
    """Bytes of JS and CSS that a browser fetches of the server for all pages; options.js is made by it."""
    names = [path.partition("/web/")[2] for path in sources()] + ["state/options.js"]
    return sum(len(urllib.request.urlopen(f"{server.url}/web/{name}").read()) for name in names)


class Page(Browser):
    """A browser on the application; on leaving it, the browser must have had nothing to complain about."""

    def __init__(self, server, **options):
        super().__init__(**options)
        self.server = server
        self.size(1280, 800)
        self.trouble = []  # what a test expects the console to say: regular expressions

    def __exit__(self, kind, *unused):
        try:
            if kind is None:
                self.check()
        finally:
            self.close()

    def check(self):
        """The browser had nothing to complain about, and asked no other server."""
        said = [line for line in self.complaints() if not any(re.search(one, line) for one in self.trouble)]
        assert not said, said
        assert not self.server or self.foreign_requests(self.server.url) == []
        self.trouble = []

    @contextlib.contextmanager
    def at(self, server):
        """A block with the pages of another server. The browser is the same: to start one takes two seconds of a processor."""
        before = self.server
        self.leave()
        self.server = server
        yield self
        self.leave()
        self.server = before

    def leave(self):
        """Whatever comes next is a new document, and what was is checked."""
        self.check()
        self.open("about:blank")
        self._seen.clear()

    def go(self, path, anew=False):
        """Shows a page of the application, and waits until it shows what it should. Where the application is open it goes there as by the
        way back, which takes half of the time; anew: with a new document, as by the address line."""
        if anew or not self.eval(HERE, self.server.url, path):
            self.open(self.server.url + path)
        self.ready()

    def ready(self):
        self.wait(READY)

    def press_keys(self, *keys):
        self.keys(*keys)
        self.ready()

    def parameter(self, name):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.url()).query).get(name, [""])[0]

    def figure(self, selector):
        """The exact number behind a figure that is shown."""
        return float(self.eval("document.querySelector(arguments[0]).dataset.value", selector))

    def until(self, expression, *arguments):
        """Waits until the expression is true and the page is ready."""
        self.wait(expression, *arguments)
        self.ready()

    def listen_to_copies(self):
        """From now on, copied() is the text that was put on the clipboard last."""
        self.run("window.copies = []; navigator.clipboard.writeText = text => { copies.push(text); return Promise.resolve(); }")

    def copied(self):
        return self.wait("window.copies.length && window.copies[window.copies.length - 1]")

    def import_module(self, name, script, *arguments):
        """Runs `script` with a module of the application as `m`; the script's value must be JSON."""
        value = self.run_async(
            "const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);"
            f"const root = document.querySelector('script[type=module]'); import(new URL('{name}', root ? root.src : location.origin + '/web/')).then(m => {{ {script} }}).then(value => done({{ value }}), error => done({{ error: String(error.stack) }}))", *arguments)
        assert "error" not in value, value["error"]
        return value.get("value")


def tour(page, expectations):
    """Each URL shows what it should when it is opened, after a reload, and when back and forward lead to it."""
    for path, check in expectations:
        page.go(path, anew=True)
        page.wait(check)
    for path, check in reversed(expectations[:-1]):
        page.back()
        page.until(check)
    for path, check in expectations[1:]:
        page.forward()
        page.until(check)
    page.reload()
    page.until(expectations[-1][1])
