"""A run that is being recorded, in a browser: browser_live.py. New windows appear, zoom and focus stay, recording is switched with the token,
and the end of the run is noticed."""
import os
import re
import signal
import subprocess
import threading

from browser import CLEAR, Page, clear_json, find_url
from webdriver import DOWN, ENTER, HOME

TOKEN = "token-of-a-test-0123456789abcdef"
WINDOWS = "document.querySelectorAll('.timeline .window').length"


class Recording:
    """`clear profile --http` of a program that allocates until it is told to end."""

    def __init__(self):
        self.process = subprocess.Popen(
            [CLEAR, "profile", "--db", "t.db", "--label", "live", "-o", "live.profile", "--interval", "200ms", "--http", "127.0.0.1:0", "./worker"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "CLEAR_HTTP_TOKEN": TOKEN})
        self.url = find_url(self.process.stderr)
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self):
        return self

    def end(self):
        open("stop", "w", encoding="utf-8").close()
        assert self.process.wait(30) == 0

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)


def try_windows(page):
    page.go("/?runs=live&kind=heap&page=live")
    count = page.wait(WINDOWS)
    page.wait(WINDOWS + " > arguments[0]", count)  # without a request by hand
    page.wait("document.querySelector('.badge.live')?.textContent.includes('recording')")


def try_zoom(page):
    page.go("/?runs=live&kind=heap&si=alloc_space")
    page.press_keys(HOME, DOWN, DOWN, ENTER)
    zoom, before = page.parameter("zoom"), page.figure(".total")
    focus = "document.querySelector('.detail [data-name]').dataset.name"
    name = page.eval(focus)
    page.wait("Number(document.querySelector('.total').dataset.value) > arguments[0]", before)
    page.ready()
    assert page.parameter("zoom") == zoom and zoom
    assert page.eval(focus) == name, (page.eval(focus), name)


def try_words(page):
    """It is not a run that lost something, but one that is being recorded."""
    page.go("/?runs=live&kind=heap&page=top")
    page.wait("document.querySelector('.losses.live')?.textContent.startsWith('Being recorded')")
    assert "not over" not in page.text("main") and "interrupted" not in page.text("main")


def try_stopped(page):
    """The server is gone with the recording: the next page says so, and what to do."""
    page.run("[...document.querySelectorAll('#nav a')].find(one => one.textContent === 'Doctor').click()")
    page.wait("document.querySelector('.failure h2')?.textContent === 'The server has stopped'")
    assert "Reload the page when it runs again" in page.text(".failure") and page.texts(".failure button") == ["Reload"]


def press(page, words):
    """Presses a button of the page as soon as it is there: a window that comes draws the page anew."""
    page.wait("(one => one && (one.click(), true))([...document.querySelectorAll('main button')].find(one => one.textContent === arguments[0]))", words)


def try_switch(page):
    page.go("/?runs=live&kind=heap&page=live")
    page.run("window.prompt = () => 'a wrong token'")
    press(page, "Switch off")
    page.wait("document.getElementById('status').textContent === 'The token is wrong'")
    page.run(f"window.prompt = () => '{TOKEN}'")
    press(page, "Switch off")
    page.wait("document.querySelector('.badge.live').textContent === 'recording is off'")
    assert TOKEN not in page.url() and not page.eval("JSON.stringify(localStorage).includes('token')") and not any(TOKEN in url for url in page.requests())
    press(page, "Switch on")
    page.wait("document.querySelector('.badge.live').textContent === 'recording'")


def main():
    with Recording() as recording, Page(recording) as page:
        page.trouble = [re.escape(recording.url) + "/debug/pprof/toggle - .*status of 403",  # the wrong token
                        re.escape(recording.url) + "/api/.*status of 503",  # of a server that is about to stop
                        "net::ERR_"]  # the server is gone when the recording is
        for part in (try_windows, try_zoom, try_words, try_switch):
            part(page)
        recording.end()
        try_stopped(page)
    assert clear_json("runs", "--json", "live")[0]["exit"] == "exit 0"


main()
