"""Twelve questions and how many keys and clicks answer each: browser_tasks.py. A step is a key, a click or a drag; each task begins on the page that the
run opens on. What the pages answer is compared with what clear prints of the same run."""
import os
import re

from browser import Page, Server, clear, clear_json
from webdriver import ENTER

RUN = "/?runs=latest"
ROW = "(name => document.querySelector(`.host .table-row.current [data-column=${name}]`))"  # the row that is chosen where a page opens


class Steps:
    """Keys and clicks on a page, counted."""

    def __init__(self, page):
        self.page, self.count = page, 0

    def key(self, *keys):
        self.count += len(keys)
        self.page.press_keys(*keys)

    def click(self, expression):
        """Where that element is, with the mouse."""
        self.count += 1
        x, y = self.page.run(f"const one = {expression}; one.scrollIntoView({{ block: 'center' }}); const box = one.getBoundingClientRect(); return [box.left + Math.min(20, box.width / 2), box.top + box.height / 2]")
        self.page.press(x, y)
        self.page.ready()

    def drag(self, selector, low, high):
        self.count += 1
        left, top, width, height = self.page.run("const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.left, box.top, box.width, box.height]", selector)
        self.page.drag(round(left + low * width), round(top + height / 3), round(left + high * width), round(top + height / 3))
        self.page.ready()


def link(words):
    return f"[...document.querySelectorAll('main a, main button')].find(one => one.textContent === '{words}')"


def lines_of(function, *options):
    """{line: [flat, cum]} of a function."""
    listed = clear("report", f"list=^{function}$", *options, "latest")
    return {int(number): (flat, cum) for flat, cum, number in re.findall(r"^ *(\S+) +(\S+) +(\d+):", listed, re.M)}


def source_line(number):
    with open("shop.c", encoding="utf-8") as file:
        return file.read().splitlines()[number - 1].strip()


# ---- the tasks: each leaves its answer in the page, and checks it

def what_is_wrong(page, steps):
    said = clear("doctor", "--full-names", "latest").split("\n")
    assert page.text(".verdict h2").startswith(said[0].split("; --top 0")[0]), said
    assert re.search(r"lock .*shop:cache", page.text(".verdict h2"))


def who_held_the_lock(page, steps):
    line = re.search(r"by save_snapshot, shop.c:(\d+)", page.text(".verdict h2")).group(1)
    steps.key("w")
    page.until("document.querySelector('.host-source .current') && " + ROW + "('line')?.textContent === arguments[0]", line)
    assert page.parameter("function") == "^save_snapshot$", page.url()


def which_line_is_hot(page, steps):
    steps.key("h")
    page.until("document.querySelector('.host-source .current')")
    line = int(page.eval(ROW + "('line').textContent"))
    assert page.parameter("function") == "^price$" and source_line(line) in ("sum += i * i % 7;", "for (long i = 0; i < 12000000 * size; i++)"), line
    assert line in lines_of("price", "--kind", "cpu")


def which_instruction_is_hot(page, steps):
    steps.key("h")
    page.until("document.querySelector('.host-source')")
    steps.click(link("Disassembly"))
    page.until("document.querySelector('.host-disasm .current')")
    code = page.run("return [...document.querySelectorAll('.host-disasm .table-body .source.code')].map(one => Number(one.parentNode.querySelector('[data-column=cum]').dataset.value))")
    assert float(page.eval(ROW + "('cum').dataset.value")) == max(code) > 0 and page.eval(ROW + "('text').classList.contains('code')")


def who_allocates(page, steps):
    steps.key("a")
    page.until("document.querySelector('.host-source .current')")
    assert page.parameter("function") == "^parse_orders$" and "malloc(2000)" in source_line(int(page.eval(ROW + "('line').textContent")))


def who_held_the_peak(page, steps):
    steps.click("document.querySelector('.peak span')")
    page.until("document.querySelector('.flame')")
    peak = clear_json("query", "--json", "SELECT max(peak_bytes) AS bytes FROM peaks WHERE run_id = (SELECT max(id) FROM runs)")[0]["bytes"]
    assert page.parameter("kind") == "heap-peak" and page.figure(".total") == peak
    assert "load_catalogue" in str(clear_json("report", "json", "--kind", "heap-peak", "latest")["nodes"][0])


def what_got_worse(page, steps):
    steps.key("c")
    page.until("document.querySelector('.host-compare .verdict')")
    answer = clear_json("doctor", "latest~1", "--diff", "latest", "--json")
    assert page.text(".verdict h2") == answer["quote"] and page.eval(ROW + "('word').textContent.startsWith('↑')")


def where_did_it_get_worse(page, steps):
    page.wait("document.querySelector('.changed a')")
    steps.click("[...document.querySelectorAll('.changed a')].find(one => / of (parse_orders|price)$/.test(one.textContent))")
    page.until("document.querySelector('.flame') && document.querySelector('.legend')")
    assert page.parameter("base") and page.parameter("f") in ("^parse_orders$", "^price$")


def since_when(page, steps):
    steps.key("g", "h")
    page.until("document.querySelector('.chart .point')")
    runs = clear_json("runs", "--json", "--label", "shop")[::-1]
    assert [float(one) for one in page.run("return [...document.querySelectorAll('.point')].map(one => one.dataset.value)")] == [run["duration_ns"] for run in runs]


def what_was_the_longest_wait(page, steps):
    steps.key("g", "l")
    page.until("document.querySelector('.host-locks .current') && document.querySelector('.callers .table-body [data-index]')")
    want = clear_json("query", "--json", "SELECT object, max(max_wait_ns) AS longest FROM lock_use WHERE run_id = (SELECT max(id) FROM runs) GROUP BY 1 ORDER BY 2 DESC LIMIT 1")[0]
    assert (page.eval(ROW + "('name').textContent"), float(page.eval(ROW + "('max_wait_ns').dataset.value"))) == ("shop:cache", want["longest"])
    assert page.text(".callers [data-index] [data-column=function]") == "look_up"  # who waits, with its place


def what_happened_then(page, steps):
    steps.drag(".lane-over", 0.3, 0.7)
    page.until("document.querySelector('.chip')")
    part = clear_json("doctor", "--overview", "--from", page.parameter("from"), "--to", page.parameter("to"), "latest")
    got = page.run("return [...document.querySelectorAll('.costs[data-kind=heap] [data-value]')].map(one => Number(one.dataset.value))")
    assert got == [row["value"] for one in part["functions"] if one["kind"] == "heap" for row in one["rows"]]


def who_calls_it(page, steps):
    steps.key("g", "t")
    page.until("document.querySelector('.host-top .current')")
    steps.key(ENTER)
    page.until("document.querySelectorAll('.sandwich .flame').length === 2")
    kind = clear_json("doctor", "--overview", "latest")["kind"]  # the one that has most to say
    first = clear_json("report", "json", "--kind", kind, "latest")["nodes"][0]
    assert (page.parameter("kind"), page.parameter("pivot"), page.figure(".total")) == (kind, f"^{first['name']}$", first["cum"]), (first, page.url())


# Question: at most so many steps.
TASKS = [(what_is_wrong, 0), (who_held_the_lock, 1), (which_line_is_hot, 1), (which_instruction_is_hot, 2), (who_allocates, 1), (who_held_the_peak, 1),
         (what_got_worse, 1), (where_did_it_get_worse, 1), (since_when, 2), (what_was_the_longest_wait, 2), (what_happened_then, 1), (who_calls_it, 3)]


def written():
    """{question: steps} as the table of docs/browser.md has them."""
    with open(os.path.join(os.environ["ROOT"], "docs", "browser.md"), encoding="utf-8") as file:
        return [int(steps) for steps in re.findall(r"^\| \d+ \|.*\| (\d) \|$", file.read(), re.M)]


def main():
    assert len(TASKS) == 12 and written() == [most for _, most in TASKS], written()
    only = os.environ.get("ONLY", "")
    with Server("t.db") as server, Page(server) as page:
        for task, most in TASKS:
            if only not in task.__name__:
                continue
            page.go(RUN)
            page.until("document.querySelector('.host-overview .verdict')")
            page.wait("!document.querySelector('.since[aria-busy]')")
            steps = Steps(page)
            task(page, steps)
            assert steps.count <= most, f"{task.__name__}: {steps.count} steps, not {most}"


main()
