"""The application with --http-anywhere and a token, with TLS, and with both: browser_secure.py. The pages show what they show without."""
import os

from browser import Page, Server, clear, clear_json
from webdriver import ENTER

TOKEN = "token-of-a-test-0123456789abcdef"


def try_pages(page, total):
    page.go("/?runs=known&kind=samples")
    assert page.figure(".total") == total
    page.go("/?runs=known&kind=samples&page=graph")
    page.wait("document.querySelectorAll('.graph .node').length >= 4")
    page.go("/?page=sql#sql=SELECT+count(*)+AS+n+FROM+frames")
    page.wait("document.querySelector('.result [data-index] [data-value]')")
    assert page.eval("document.querySelector('.result [data-index] [data-value]').dataset.value") == str(clear_json("query", "--json", "SELECT count(*) AS n FROM frames")[0]["n"])
    page.go("/")
    page.press_keys(ENTER)
    assert not any(TOKEN in url for url in page.run("return [location.href, document.title, JSON.stringify(localStorage)]"))
    got = page.run_async("const done = arguments[0]; fetch(location.origin + '/api/export?runs=known&format=folded').then(answer => answer.text()).then(done, error => done(String(error)))")
    assert got == clear("export", "--format", "folded", "--kind", "samples", "known", "-o", "-")


def main():
    with open("known.folded", "w", encoding="utf-8") as file:
        file.write("main;parse;read 4000\nmain;eval;alloc 3000\nmain;eval 1000\n")
    clear("ingest", "--label", "known", "known.folded")
    os.environ["CLEAR_HTTP_TOKEN"] = TOKEN
    with Page(None, takes_any_certificate=True) as page:
        for options, scheme in ((["--http-anywhere"], "http"), (["--tls-cert", "cert.pem", "--tls-key", "key.pem"], "https"),
                                (["--http-anywhere", "--tls-cert", "cert.pem", "--tls-key", "key.pem"], "https")):
            with Server("t.db", *options) as server, page.at(server):
                assert server.url.startswith(scheme + "://"), server.url
                if "--http-anywhere" in options:
                    # Without the token there is nothing; a user who is asked for it types what stands here before the address.
                    page.trouble = ["status of 401"]
                    page.open(server.url + "/web/icon.svg")
                    assert page.eval("!document.querySelector('svg')")
                    page.open(f"{scheme}://any:{TOKEN}@{server.url.split('://')[1]}/?runs=known&kind=samples")
                    page.ready()
                    assert page.figure(".total") == 8000
                try_pages(page, 8000)


main()
