"""The timeline of a traced run: every figure as plain sqlite3 has it in the table events."""
import json
import random
import sqlite3
import urllib.parse
import urllib.request

from browser import Page, Server

WAITS = ("mutex", "rwlock", "read", "spin", "own", "cond", "sem", "barrier", "join", "futex", "channel")
OFF_CPU = (*WAITS, "sleep", "syscall")


def events_of(db):
    columns = ("id", "process_id", "tid", "start_ns", "duration_ns", "kind", "address", "owner_tid", "is_late")
    found = db.execute(f"SELECT {', '.join('events.' + one for one in columns)} FROM events JOIN processes ON processes.id = process_id JOIN runs ON runs.id = run_id WHERE label = 'books'")
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


def part(page):
    return [int(one) for one in page.parameter("zoom").split("-")]


def try_owner(page, events):
    wait = max((one for one in events if one["kind"] in WAITS and one["owner_tid"] and release_of(one, events)), key=lambda one: one["duration_ns"])
    release = release_of(wait, events)
    page.go(f"/?runs=books&page=timeline&subject={wait['tid']}%40{wait['start_ns']}")
    assert page.figure(".detail [data-value]") == wait["duration_ns"]
    assert str(wait["owner_tid"]) in page.eval("document.querySelector('.detail').textContent")
    page.run("document.querySelector('.threads-frame').focus()")
    page.press_keys("o")
    page.wait("new URLSearchParams(location.search).get('subject') === arguments[0]", f"{release['tid']}@{release['start_ns']}")
    page.back()
    page.until("document.querySelector('.detail .to-owner')")
    page.run("document.querySelector('.detail .to-owner').click()")
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
        try_owner(page, events)
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
