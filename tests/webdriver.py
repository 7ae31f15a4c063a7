"""A browser for tests: Debian's chromium, headless, driven over WebDriver with Python's standard library.

    with Browser() as browser:
        browser.open(url)
        browser.wait("document.title !== ''")
        browser.keys("/", "main", ENTER)
        assert browser.complaints() == []

The browser knows no host but this machine (names are not resolved), has a new profile in a temporary directory, and is ended with its
driver. A Failure says what was waited for and what the page's console says.
"""
import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.parse

# The codes of WebDriver for keys without a letter, for Browser.keys.
ENTER, ESCAPE, TAB, BACKSPACE = "\ue007", "\ue00c", "\ue004", "\ue003"
LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"
HOME, END, PAGE_UP, PAGE_DOWN = "\ue011", "\ue010", "\ue00e", "\ue00f"
SHIFT, CONTROL, ALT = "\ue008", "\ue009", "\ue00a"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key under which WebDriver names an element
PATIENCE = float(os.environ.get("BROWSER_PATIENCE", "20"))  # seconds: the machine that tests may be busy


# Looks each 20 ms, in the page, whether an expression is true, for so many milliseconds: a call of the driver costs 5 ms of a processor.
LOOK = """const [time, given, done] = arguments, end = performance.now() + time, what = function () { return (%s); };
(function look() {
  let value = null, trouble = null;
  try { value = what.apply(null, given); } catch (error) { trouble = String(error); }
  if (value || performance.now() > end) done([value, trouble]);
  else setTimeout(look, 20);
})();"""


class Failure(AssertionError):
    pass


def _options(directory, size, scheme):
    arguments = [
        "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--hide-scrollbars",
        "--force-color-profile=srgb", "--force-device-scale-factor=1", "--lang=en-US", "--font-render-hinting=none",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
        # A window of one page: to keep tabs and an address line up to date took a quarter of the browser's time.
        "--app=data:,", f"--user-data-dir={directory}", "--window-size=%d,%d" % size]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # chromium refuses to start one as root
    if scheme == "dark":
        arguments.append("--force-dark-mode")
    return {"binary": shutil.which("chromium") or "chromium", "args": arguments,
            "prefs": {"download.default_directory": os.path.join(directory, "downloads"), "download.prompt_for_download": False}}


class Browser:
    def __init__(self, size=(1280, 800), scheme="light", takes_any_certificate=False):
        self.directory = tempfile.mkdtemp(prefix="clear-browser.")
        self.downloads = os.path.join(self.directory, "downloads")
        os.mkdir(self.downloads)
        self.session = None
        self._seen = []
        self.driver = None
        try:
            self.port = self._start()
            self.session = self._begin({
                "browserName": "chrome", "goog:chromeOptions": _options(self.directory, size, scheme),
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                "acceptInsecureCerts": takes_any_certificate, "unhandledPromptBehavior": "accept"})
            self.scheme(scheme)
        except BaseException:
            self.close()
            raise

    def _begin(self, wanted):
        """The id of a session. A busy machine starts a browser too late now and then: three times at most."""
        for left in (2, 1, 0):
            try:
                return self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            except Failure:
                if not left:
                    raise

    def _start(self):
        """Starts the driver; the port that it listens on. It takes a free port of IPv4 and then the same one of IPv6, and ends if another process has that
        meanwhile ("IPv6 port not available"): five times at most."""
        for left in (4, 3, 2, 1, 0):
            self.driver = subprocess.Popen(
                [shutil.which("chromedriver") or "chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, env={**os.environ, "HOME": self.directory})
            said = ""
            for line in self.driver.stdout:
                found = re.search(r"started successfully on port (\d+)", line)
                if found:
                    return int(found.group(1))
                said += line
            self.driver.stdout.close()
            status = self.driver.wait()
            if not left or "port not available" not in said:
                raise Failure(f"chromedriver does not start (Debian package chromium-driver), status {status}: {said}")

    def _call(self, method, path, body=None, timeout=120):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        path = path if self.session is None else f"/session/{self.session}{path}"
        connection.request(method, path, None if method == "GET" else json.dumps(body or {}), {"Content-Type": "application/json"})
        value = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(value, dict) and "error" in value:
            raise Failure(f"{method} {path}: {value['error']}: {value.get('message', '').splitlines()[:1]}")
        return value

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Ends the browser and its driver, and removes the browser's profile. May be called again."""
        try:
            if self.session:
                self._call("DELETE", "", timeout=20)
        except (OSError, ValueError, Failure):
            pass
        self.session = None
        if self.driver:
            self._end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _end(self):
        self.driver.terminate()
        try:
            self.driver.wait(10)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.driver.stdout.close()

    # ---- pages

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def url(self):
        return self._call("GET", "/url")

    def back(self):
        self._call("POST", "/back")

    def forward(self):
        self._call("POST", "/forward")

    def reload(self):
        self._call("POST", "/refresh")

    def size(self, width, height):
        """Sets the size of the page, without the window's frame, in CSS pixels."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name, media=""):
        """What the system prefers: "light" or "dark"; media "print" shows the page as it is printed."""
        self.cdp("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": name}])

    def cdp(self, command, **parameters):
        """A command of the Chrome DevTools protocol."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def picture(self, path):
        """Writes the page as a PNG file."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", "/screenshot")))

    # ---- scripts and waiting

    def run(self, script, *arguments):
        """Runs the body of a function in the page and returns what it returns; `arguments` are its arguments[]."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def eval(self, expression, *arguments):
        return self.run(f"return ({expression});", *arguments)

    def run_async(self, script, *arguments):
        """Like run, for a script that calls its last argument with the result."""
        return self._call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def wait(self, expression, *arguments, seconds=PATIENCE):
        """Waits until the expression is true in the page, and returns its value."""
        end = time.monotonic() + seconds
        trouble = None
        while True:
            try:
                value, trouble = self.run_async(LOOK % expression, 1000 * max(0.02, min(5, end - time.monotonic())), list(arguments))
                if value:
                    return value
            except Failure as failure:  # the page may be between two documents
                trouble = failure
            if time.monotonic() > end:
                raise Failure(f"not true after {seconds:.0f} s: {expression} {arguments or ''}\n"
                              f"  {trouble or ''}\n  url: {self.url()}\n  complaints: {self.complaints()}")
            time.sleep(0.02)

    def downloaded(self, name, seconds=PATIENCE):
        """Waits until the file of that name is in the directory of downloads, and returns its path. The browser makes it empty, writes what is
        downloaded under another name, and puts that in its place."""
        end = time.monotonic() + seconds
        path = os.path.join(self.downloads, name)
        while not os.path.exists(path) or os.path.getsize(path) == 0:
            if time.monotonic() > end:
                raise Failure(f"no {name} after {seconds:.0f} s, but {os.listdir(self.downloads)}\n  complaints: {self.complaints()}")
            time.sleep(0.02)
        return path

    # ---- elements, by CSS selector

    def find(self, selector):
        return self._call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector):
        """The visible text of the first element that matches: what is drawn again between the two questions is asked once more."""
        for tries in range(3):
            try:
                return self._call("GET", f"/element/{self.find(selector)}/text")
            except Failure as failure:
                if "stale element" not in str(failure) or tries == 2: raise

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(element => element.textContent)", selector)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def click(self, selector):
        self._call("POST", f"/element/{self.find(selector)}/click")

    def fill(self, selector, text):
        """Types into a field of a form in place of what it holds."""
        element = self.find(selector)
        self._call("POST", f"/element/{element}/clear")
        self._call("POST", f"/element/{element}/value", {"text": text})

    # ---- keys and mouse, as a person uses them

    def keys(self, *keys):
        """Presses keys one after the other where the focus is. A tuple is a chord: keys((SHIFT, ENTER))."""
        actions = []
        for key in keys:
            for held in ([key] if isinstance(key, tuple) else [(letter,) for letter in key]):
                actions += [{"type": "keyDown", "value": one} for one in held]
                actions += [{"type": "keyUp", "value": one} for one in reversed(held)]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def _mouse(self, actions):
        self._call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    @staticmethod
    def _to(x, y):
        return {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y), "origin": "viewport"}

    def move(self, x, y):
        self._mouse([self._to(x, y)])

    def press(self, x, y, button=0, times=1):
        """Presses and releases a button at a point of the page: 0 left, 2 right; times=2 is a double click."""
        self._mouse([self._to(x, y)] + [{"type": kind, "button": button} for kind in ("pointerDown", "pointerUp") * times])

    def drag(self, x, y, to_x, to_y):
        middle = {**self._to((x + to_x) / 2, (y + to_y) / 2), "duration": 20}
        self._mouse([self._to(x, y), {"type": "pointerDown", "button": 0}, middle, self._to(to_x, to_y), {"type": "pointerUp", "button": 0}])

    def box(self, selector):
        """Left, top, width and height of the first element that matches, in CSS pixels of the viewport."""
        return self.run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
                        "return [box.left, box.top, box.width, box.height]", selector)

    # ---- what the browser itself noticed

    def complaints(self):
        """What the console said since the last call: errors, warnings, violations of the content security policy."""
        entries = self._call("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The URLs of all requests over a network since the browser was opened."""
        for entry in self._call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if urllib.parse.urlsplit(url).scheme in ("http", "https", "ws", "wss"):
                    self._seen.append(url)
        return list(self._seen)

    def foreign_requests(self, own):
        """The requests to another server than that of the URL `own`."""
        host = urllib.parse.urlsplit(own).netloc
        return [url for url in self.requests() if urllib.parse.urlsplit(url).netloc.rpartition("@")[2] != host]
