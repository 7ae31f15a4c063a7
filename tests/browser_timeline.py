"""The timeline of a traced run: every figure as plain sqlite3 has it in the table events."""
import json
import random
import sqlite3
import urllib.parse
import urllib.request

from browser import Page, Server

WAITS = ("mutex", "rwlock", "read", "spin", "own", "cond", "sem", "barrier", "join", "futex", "channel")
OFF_CPU = (*WAITS, "sleep", "syscall")


def events_of(db, label="books"):
    columns = ("id", "process_id", "tid", "start_ns", "duration_ns", "kind", "address", "owner_tid", "is_late")
    found = db.execute(f"SELECT {', '.join('events.' + one for one in columns)} FROM events JOIN processes ON processes.id = process_id JOIN runs ON runs.id = run_id WHERE label = ?", (label,))
    return [dict(zip(columns, row)) for row in found]


def release_of(wait, events):
    """The last release of the lock before the wait's end; of a join the end of the thread that was joined."""
    kind, key, of = ("death", "tid", wait["owner_tid"]) if wait["kind"] == "join" else ("release", "address", wait["address"])
    inside = [one for one in events if one["kind"] == kind and one[key] == of and wait["start_ns"] <= one["start_ns"] <= wait["start_ns"] + wait["duration_ns"]]
    return max(inside, key=lambda one: one["start_ns"], default=None) if not wait["is_late"] else None


def ask(server, query):
    with urllib.request.urlopen(f"{server.url}/api/timeline?{query}") as answer:
        return json.load(answer)


def try_api(server, events):
    got = {one["event_id"]: one for one in ask(server, "runs=books")}
    assert set(got) == {one["id"] for one in events}
    for event in events:
        told, release = got[event["id"]], release_of(event, events) if event["kind"] in WAITS else None
        assert all(told[key] == event[key] for key in ("tid", "start_ns", "duration_ns", "kind", "owner_tid", "is_late")), (told, event)
        assert told["released_by"] == (release and release["tid"]) and told["released_ns"] == (release and release["start_ns"]), (told, release)
    threads = ask(server, "runs=books&of=threads")
    assert {(one["tid"], one["events"]) for one in threads} == {(tid, sum(event["tid"] == tid for event in events)) for tid in {event["tid"] for event in events}}
    start, end = sorted(event["start_ns"] for event in events)[len(events) // 3], sorted(event["start_ns"] for event in events)[len(events) // 2]
    inside = sorted((event["duration_ns"] for event in events if event["start_ns"] <= end and event["start_ns"] + event["duration_ns"] >= start), reverse=True)
    assert [one["duration_ns"] for one in ask(server, f"runs=books&start={start}&end={end}&limit=3")] == inside[:3]


def try_stacks_api(server, db, label):
    """Waits and samples of each thread with their stacks, and when threads ran, against the tables. Returns the thread with the most samples."""
    events = events_of(db, label)
    period = db.execute("SELECT max(period) FROM profiles JOIN runs ON runs.id = run_id WHERE label = ? AND kind = 'cpu'", (label,)).fetchone()[0]
    traces = dict(db.execute("SELECT id, trace_id FROM events"))
    ran = ask(server, f"runs={label}&of=running")
    for thread in ask(server, f"runs={label}&of=threads"):
        mine = [event for event in events if event["tid"] == thread["tid"]]
        samples = sorted(event["start_ns"] for event in mine if event["kind"] == "cpu")
        rows = ask(server, f"runs={label}&of=stacks&process={thread['process_id']}&tid={thread['tid']}")
        waits = [(row["start_ns"], row["duration_ns"], row["kind"], row["trace_id"]) for row in rows if row["class"] != "sample"]
        assert sorted(waits) == sorted((one["start_ns"], one["duration_ns"], one["kind"], traces[one["id"]]) for one in mine if one["kind"] in OFF_CPU)
        assert sorted(row["start_ns"] + row["duration_ns"] for row in rows if row["class"] == "sample") == samples and thread["samples"] == len(samples)
        assert all(0 <= row["duration_ns"] <= period for row in rows if row["class"] == "sample")
        stacks = {row["trace_id"]: json.loads(row["stack"]) for row in rows if row["stack"]}
        assert set(stacks) == {row["trace_id"] for row in rows}  # each once
        for trace, stack in stacks.items():
            assert stack == [name for name, in db.execute("SELECT function FROM frames WHERE trace_id = ? ORDER BY depth", (trace,))]
        times = [(one["start_ns"], one["start_ns"] + one["duration_ns"]) for one in ran if one["tid"] == thread["tid"]]
        assert all(sum(start <= at <= end for start, end in times) == 1 for at in samples), (samples, times)
        assert sum(one["samples"] for one in ran if one["tid"] == thread["tid"]) == len(samples)
    if not ran:
        return 0
    busy = max((row["tid"] for row in ran), key=lambda tid: sum(event["tid"] == tid and event["kind"] == "cpu" for event in events))
    few = ask(server, f"runs={label}&of=stacks&process={events[0]['process_id']}&tid={busy}&limit=3")
    assert len([row for row in few if row["class"] == "sample"]) <= 3 and len(few) <= 6, few
    return busy


def part(page):
    return [int(one) for one in page.parameter("zoom").split("-")]


def try_owner(page, events):
    wait = max((one for one in events if one["kind"] in WAITS and one["owner_tid"] and release_of(one, events)), key=lambda one: one["duration_ns"])
    release = release_of(wait, events)
    page.go(f"/?runs=books&page=timeline&subject={wait['tid']}%40{wait['start_ns']}")
    assert page.figure(".detail [data-value]") == wait["duration_ns"]
    assert str(wait["owner_tid"]) in page.eval("document.querySelector('.detail').textContent")
    page.run("document.querySelector('.threads-frame').focus()")
    page.press_keys("o")  # the owner, in the hold of that lock where there is one: the thread that the table names
    page.wait("new URLSearchParams(location.search).get('subject').startsWith(arguments[0])", f"{wait['owner_tid']}@")
    at = int(page.parameter("subject").split("@")[1])
    holds = [one["start_ns"] for one in events if one["kind"] == "hold" and one["tid"] == wait["owner_tid"] and one["address"] == wait["address"] and one["start_ns"] <= wait["start_ns"] <= one["start_ns"] + one["duration_ns"]]
    assert at in (holds or [wait["start_ns"]]), (at, holds, wait)
    page.back()
    page.until("document.querySelector('.detail .to-releaser')")
    page.press_keys("O")  # and who let it go on
    page.wait("new URLSearchParams(location.search).get('subject') === arguments[0]", f"{release['tid']}@{release['start_ns']}")
    page.back()
    page.until("document.querySelector('.detail .to-releaser')")
    page.run("document.querySelector('.detail .to-releaser').click()")
    page.wait("new URLSearchParams(location.search).get('subject') === arguments[0]", f"{release['tid']}@{release['start_ns']}")
    page.ready()


def try_zoom(page, events):
    first, last = min(one["start_ns"] for one in events), max(one["start_ns"] + one["duration_ns"] for one in events)
    page.go("/?runs=books&page=timeline")
    assert page.figure(".total") == len(events)
    page.run("document.querySelector('.threads-frame').focus()")
    page.press_keys("+")
    page.until("new URLSearchParams(location.search).get('zoom')")
    start, end = part(page)
    assert first <= start < end <= last and abs((end - start) - (last - first) / 2) <= 2
    page.press_keys("0")
    page.until("!new URLSearchParams(location.search).get('zoom')")
    left, top, width, _ = page.box(".threads-frame")
    page.drag(left + width * 0.4, top + 30, left + width * 0.6, top + 30)
    page.until("new URLSearchParams(location.search).get('zoom')")
    start, end = part(page)
    assert first < start < end < last
    seen = [one for one in events if one["start_ns"] <= end and one["start_ns"] + one["duration_ns"] >= start]
    page.wait("document.querySelector('.host .total').textContent.includes(`: ${arguments[0]} of `)", str(len(seen)))
    moment = events[0]["start_ns"]
    page.go(f"/?runs=books&page=timeline&zoom={moment}-{moment + 1}")  # one nanosecond
    page.wait("document.querySelector('.host .total').textContent.includes(' of ')")
    page.press_keys("0")
    page.until("!new URLSearchParams(location.search).get('zoom')")


SEEN = "document.querySelector('.threads-frame').scrollHeight"


def try_threads(page, server, busy):
    """Groups, the filter, and the stacks of a thread that is opened: by the mouse and by keys."""
    threads = ask(server, "runs=burn&of=threads")
    page.go("/?runs=burn&page=timeline")
    lanes = page.eval(SEEN)
    press = "[...document.querySelectorAll('.host-timeline .toolbar button')].find(one => one.textContent.trim() === arguments[0]).click()"
    page.run(press, "Groups")
    page.until("new URLSearchParams(location.search).get('fold') === '1'")
    assert len({one["of_group"] for one in threads}) == len(threads) or page.eval(SEEN) < lanes
    page.go(f"/?runs=burn&page=timeline&find=%20{busy}%24")  # the one thread
    assert page.eval(SEEN) < lanes
    left, top, _, _ = page.box(".threads-frame")
    page.press(left + 60, top + 35)
    page.until("new URLSearchParams(location.search).get('pick') === arguments[0]", str(busy))
    page.wait(SEEN + " > 70")  # its functions stand below it
    opened = page.eval(SEEN)
    frame = "{clientX: arguments[0], clientY: arguments[1], bubbles: true}"
    page.wait("(document.querySelector('.threads-frame').dispatchEvent(new PointerEvent('pointermove', " + frame + ")), document.querySelector('body > .tip:not([hidden])'))", left + 60, top + 35)
    assert "CPU" in page.eval("document.querySelector('body > .tip:not([hidden]) span').textContent")
    page.run("document.querySelector('.threads-frame').focus()")
    page.press_keys("s")
    page.until("!new URLSearchParams(location.search).get('pick')")
    assert page.eval(SEEN) < opened
    page.run("document.querySelector('.threads-legend [data-class=sample]').click()")
    page.until("document.querySelector('.threads-legend [data-class=sample]').getAttribute('aria-pressed') === 'true'")
    for order in ("cpu", "wait", "name"):
        page.go(f"/?runs=burn&page=timeline&figure={order}")
        assert page.eval("document.querySelector('[aria-label=\"order of the threads\"]').value") == order


ROWS_OF = """const made = [...Array(1000).keys()].map(i => ({ process_id: 1, tid: i + 1, thread: i % 10 ? `worker-${i}` : `io ${i}`, of_group: i % 10 ? 'worker' : 'io', cpu_ns: i * 7 % 1000, wait_ns: i * 3 % 1000 }));
const keys = more => m.rowsOf(made, more).rows.map(row => row.key), last = more => m.rowsOf(made, more).rows.at(-1);
return { grouped: keys({}), single: keys({ fold: '0', by: 'cpu' }).slice(0, 3).map(key => made[key - 1].cpu_ns), found: keys({ pattern: / 31$/ }), opened: keys({ open: new Set(['io*']) }).length,
  places: m.placesOf(m.rowsOf(made, {}).rows).size, inside: [...m.placesOf(m.rowsOf(made, {}).rows).values()].every(one => one.y + one.height <= m.rowsOf(made, {}).height),
  boxes: m.stackBoxes([{ trace_id: 1, class: 'sample', start_ns: 0, duration_ns: 10, stack: '["a","main"]' }, { trace_id: 2, class: 'sample', start_ns: 10, duration_ns: 10, stack: '["b","main"]' },
    { trace_id: 1, class: 'sample', start_ns: 100, duration_ns: 10 }, { trace_id: 2, class: 'wait', kind: 'mutex', object: 'm', start_ns: 110, duration_ns: 50 }]).boxes.map(box => [box.name, box.depth, box.start_ns, box.end_ns]) };"""


def try_layout(page):
    """A thousand threads as rows, and samples as boxes over time."""
    got = page.import_module("charts/timeline_layout.js", ROWS_OF)
    assert got["grouped"] == ["io*", "worker*"] and got["single"] == [999, 998, 997] and got["found"] == ["31"] and got["opened"] == 102, got
    assert got["places"] == 1000 and got["inside"], got
    assert got["boxes"] == [["main", 0, 0, 20], ["a", 1, 0, 10], ["b", 1, 10, 20], ["main", 0, 100, 160], ["a", 1, 100, 110], ["b", 1, 110, 160], ["mutex m", 2, 110, 160]], got["boxes"]


def try_flame(page, db, events):
    start = min(one["start_ns"] for one in events)
    end = (start + max(one["start_ns"] + one["duration_ns"] for one in events)) // 2
    page.go(f"/?runs=books&page=timeline&zoom={start}-{end}")
    page.run("document.querySelector('.off-cpu').click()")
    page.until("document.querySelector('.result-flame .flame')")
    sql = urllib.parse.parse_qs(urllib.parse.urlsplit(page.url()).fragment)["sql"][0]
    want = sum(max(0, min(one["start_ns"] + one["duration_ns"], end) - max(one["start_ns"], start)) for one in events if one["kind"] in OFF_CPU)
    assert sum(row[1] for row in db.execute(sql)) == want > 0


def add_events(db, count):
    """Makes a run of so many events, of all lengths, out of one of a few, and says that others were lost. Returns (start, duration) of each."""
    process = db.execute("SELECT id FROM processes WHERE run_id = (SELECT id FROM runs WHERE label = 'many')").fetchone()[0]
    tids = [row[0] for row in db.execute("SELECT DISTINCT tid FROM events WHERE process_id = ?", (process,))]
    like = db.execute("SELECT kind, object_id, address, trace_id FROM events WHERE process_id = ? AND kind = 'mutex'", (process,)).fetchone()
    source = random.Random(7)
    made = [(process, source.choice(tids), i * 1000, int(source.expovariate(1 / 3000)) + (i % 97 == 0) * 400_000, *like) for i in range(count)]
    db.executemany("INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", made)
    db.execute("UPDATE processes SET lost_events = 12345 WHERE id = ?", (process,))
    db.commit()
    return db.execute("SELECT start_ns, duration_ns FROM events WHERE process_id = ?", (process,)).fetchall()


def try_many(page, db):
    """More events than are sent at once: of the whole run the longest, of a part all of them, and what was lost stands above."""
    events = add_events(db, 30_000)
    page.go("/?runs=many&page=timeline")
    assert "12,345 events" in page.text(".losses")
    assert f"the longest 5,000 of {len(events):,} events" in page.text(".host .total"), page.text(".host .total")
    for start, end in ((10_000_000, 10_500_000), (29_000_000, 29_000_001), (500_000, 4_000_000)):
        page.go(f"/?runs=many&page=timeline&zoom={start}-{end}")
        inside = sum(1 for at, duration in events if at <= end and at + duration >= start)
        assert f": {inside:,} of {len(events):,} events" in page.text(".host .total"), (inside, page.text(".host .total"))
    page.press_keys("+")  # a part of that part: nothing is asked for
    page.until("document.querySelector('.host .total').textContent.includes(' of ')")


def main():
    db = sqlite3.connect("t.db")
    events = events_of(db)
    with Server("t.db") as server, Page(server) as page:
        try_api(server, events)
        try_stacks_api(server, db, "books")
        busy = try_stacks_api(server, db, "burn")
        try_owner(page, events)
        try_threads(page, server, busy)
        try_layout(page)
        try_zoom(page, events)
        try_flame(page, db, events)
        try_many(page, db)
        offered = "[...document.querySelectorAll('#nav a')].some(one => one.textContent === 'Timeline')"
        page.go("/?runs=books")
        assert page.eval(offered)
        page.go("/?runs=plain")  # without events
        assert not page.eval(offered)
        page.go("/?runs=plain&page=timeline")
        assert "--trace" in page.eval("document.querySelector('.empty').textContent")


main()
