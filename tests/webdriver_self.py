"""Tries every verb of webdriver.py on a page whose reactions are known: webdriver_self.py"""
import http.server
import os
import tempfile
import threading

from webdriver import ENTER, SHIFT, Browser, Failure

PAGE = b"""<!doctype html><title>page</title><p id=p>words</p><input id=i><div id=d>drag</div><script>
window.seen = [];
for (const name of ["keydown", "mousedown", "mouseup", "contextmenu", "dblclick"])
  addEventListener(name, event => seen.push(name + ":" + (event.shiftKey ? "shift+" : "") + (event.key || event.button)));
window.dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
</script>"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = self.path.startswith("/page")
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        if "strict" in self.path:
            self.send_header("Content-Security-Policy", "script-src 'self'")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *unused):
        pass


def try_verbs(browser, url):
    browser.open(url + "/page?a=1")
    assert browser.text("#p") == "words" and browser.count("p") == 1
    browser.fill("#i", "typed")
    assert browser.eval("document.querySelector('#i').value") == "typed"
    browser.run("document.activeElement.blur(); seen.length = 0")
    browser.keys("ab", ENTER, (SHIFT, "N"))
    assert browser.eval("seen.join()") == "keydown:a,keydown:b,keydown:Enter,keydown:shift+Shift,keydown:shift+N", browser.eval("seen")
    browser.run("seen.length = 0")
    left, top, width, height = browser.box("#d")
    browser.press(left + 3, top + 3, button=2)
    browser.press(left + 3, top + 3, times=2)
    assert "contextmenu:2" in browser.eval("seen") and "dblclick:0" in browser.eval("seen"), browser.eval("seen")
    browser.scheme("dark")
    assert browser.eval("dark()")
    browser.scheme("light")
    assert not browser.eval("dark()")
    browser.size(400, 700)
    assert browser.eval("innerWidth") == 400
    browser.open(url + "/page?a=2")
    browser.back()
    browser.wait("location.search === '?a=1'")
    browser.forward()
    browser.wait("location.search === '?a=2'")
    assert browser.run_async("arguments[1](arguments[0] + 1)", 1) == 2


def try_complaints(browser, url):
    assert browser.complaints() == [] or all("favicon" in line for line in browser.complaints())
    browser.run("console.error('trouble')")
    assert any("trouble" in line for line in browser.complaints())
    browser.open(url + "/page?strict")
    browser.wait("document.title === 'page'")
    assert any("Content Security Policy" in line for line in browser.complaints())
    assert browser.foreign_requests(url) == [] and any("a=2" in one for one in browser.requests())
    browser.run("fetch('http://localhost:1/').catch(() => 0)")
    browser.wait("true")
    assert any(":1/" in one for one in browser.foreign_requests(url))
    try:
        browser.wait("false", seconds=0.1)
    except Failure as failure:
        assert "false" in str(failure)
    else:
        raise AssertionError("a wait for what never happens came back")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with Browser() as browser:
        directory = browser.directory
        try_verbs(browser, url)
        try_complaints(browser, url)
        path = os.path.join(tempfile.gettempdir(), "picture.png")
        browser.picture(path)
        with open(path, "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n"
    assert not os.path.exists(directory) and browser.driver.returncode is not None


main()
