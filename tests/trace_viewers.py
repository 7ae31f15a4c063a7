"""Holds a trace file against the tables: trace_viewers.py DB DIRECTORY perfetto|chrome|kinds|fibers TRACE, where DIRECTORY has Google's trace processor.
Counts slices, flows, threads and counters by its SQL and compares them with what plain sqlite3 says of the tables."""
import json
import pathlib
import sqlite3
import subprocess
import sys

WAITS = ("mutex", "rwlock", "read", "spin", "own", "cond", "sem", "barrier", "join", "futex", "channel")


class TraceProcessor:
    def __init__(self, directory, trace):
        command = ["node", str(pathlib.Path(__file__).with_name("trace_processor.mjs")), directory, trace]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, sql):
        self.process.stdin.write(" ".join(sql.split()) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, sql
        return [tuple(row) for row in json.loads(answer)]


def same(got, wanted, what):
    got, wanted = sorted(got, key=repr), sorted(wanted, key=repr)
    if got != wanted:
        ours, theirs = [row for row in wanted if row not in got][:5], [row for row in got if row not in wanted][:5]
        sys.exit(f"{what}: {len(got)} rows, {len(wanted)} in the tables; only in the tables {ours}; only in the trace {theirs}")


def check_common(db, trace, run):
    """Slices of threads, their flows, and who the threads are."""
    same(trace.ask("SELECT name, idx, value FROM stats WHERE severity IN ('error', 'data_loss') AND value <> 0"), [], "errors of the trace processor")
    waits = db.execute(f"""SELECT start_ns, duration_ns, tid, events.kind, 'wait for ' || objects.name FROM events JOIN objects ON objects.id = object_id
                           JOIN processes ON processes.id = process_id WHERE run_id = ? AND events.kind IN {WAITS}""", (run,)).fetchall()
    assert waits
    same(trace.ask(f"""SELECT ts, dur, tid, category, slice.name FROM slice JOIN thread_track ON thread_track.id = track_id JOIN thread USING (utid)
                       WHERE category IN {WAITS}"""), waits, "waits")
    same(trace.ask("SELECT ts, tid FROM slice JOIN thread_track ON thread_track.id = track_id JOIN thread USING (utid) WHERE category = 'release'"),
         db.execute("SELECT start_ns, tid FROM events JOIN processes ON processes.id = process_id WHERE run_id = ? AND kind = 'release'", (run,)).fetchall(),
         "releases")
    same(trace.ask("""SELECT first.ts, first_thread.tid, second.ts, second_thread.tid FROM flow
                      JOIN slice AS first ON first.id = slice_out JOIN thread_track AS first_track ON first_track.id = first.track_id
                      JOIN thread AS first_thread ON first_thread.utid = first_track.utid
                      JOIN slice AS second ON second.id = slice_in JOIN thread_track AS second_track ON second_track.id = second.track_id
                      JOIN thread AS second_thread ON second_thread.utid = second_track.utid"""),
         db.execute("""SELECT events.start_ns, released_by, lock_waits.start_ns + lock_waits.duration_ns, lock_waits.tid FROM lock_waits
                       JOIN events ON events.id = release_id WHERE run_id = ?""", (run,)).fetchall(), "flows from a release to the end of its wait")
    same(trace.ask("""SELECT tid, thread.name, pid, process.name FROM thread JOIN process USING (upid)
                      WHERE utid IN (SELECT utid FROM thread_track JOIN slice ON slice.track_id = thread_track.id)"""),
         db.execute("""SELECT DISTINCT tid, threads.name, pid, executable FROM threads JOIN processes ON processes.id = threads.process_id
                       WHERE run_id = ? AND EXISTS (SELECT 1 FROM events WHERE events.process_id = threads.process_id AND events.tid = threads.tid)""",
                    (run,)).fetchall(), "threads")


def check_perfetto(db, trace, run):
    """What only this format has: tracks of locks, counters, places and stacks."""
    same(trace.ask("""SELECT track.name, parent.name, slice.ts, slice.dur, slice.name FROM slice JOIN track ON track.id = slice.track_id
                      LEFT JOIN track AS parent ON parent.id = track.parent_id
                      WHERE track.name GLOB '*waiters' AND track.name <> 'waiters'
                      UNION ALL
                      SELECT parent.name, NULL, slice.ts, slice.dur, slice.name FROM slice JOIN track ON track.id = slice.track_id
                      JOIN track AS parent ON parent.id = track.parent_id WHERE track.name = 'waiters'"""),
         db.execute(f"""SELECT kind || ' ' || object || ': waiters', NULL, start_ns, duration_ns, thread FROM lock_waits
                        WHERE run_id = ? AND kind IN {WAITS}""", (run,)).fetchall(), "waits on the tracks of locks")
    same(trace.ask("SELECT counter.ts, counter.value FROM counter JOIN counter_track ON counter_track.id = track_id WHERE name = 'live bytes'"),
         [(at, float(value)) for at, value in db.execute("SELECT at_ns, live_bytes FROM memory WHERE run_id = ?", (run,))], "live bytes")
    waits, wait_ns = db.execute("""SELECT sum(contended + read_contended), sum(wait_ns + read_wait_ns) FROM locks
                                   JOIN profiles ON profiles.id = profile_id WHERE run_id = ?""", (run,)).fetchone()
    for name, value in (("waits in the window", waits), ("wait time in the window", wait_ns)):
        same(trace.ask(f"SELECT sum(counter.value) FROM counter JOIN counter_track ON counter_track.id = track_id WHERE name = '{name}'"), [(float(value),)], name)
    places = db.execute("SELECT DISTINCT function, file, line FROM lock_waits WHERE run_id = ? AND function <> ''", (run,)).fetchall()
    same(trace.ask("""SELECT DISTINCT function.string_value, file.string_value, line.int_value FROM slice
                      JOIN args AS function ON function.arg_set_id = slice.arg_set_id AND function.key = 'source.function_name'
                      LEFT JOIN args AS file ON file.arg_set_id = slice.arg_set_id AND file.key = 'source.file_name'
                      LEFT JOIN args AS line ON line.arg_set_id = slice.arg_set_id AND line.key = 'source.line_number'
                      WHERE slice.name GLOB 'wait for *'"""), [(name, file or None, line or None) for name, file, line in places], "places of waits")
    same(trace.ask("SELECT DISTINCT name FROM stack_profile_frame"),
         db.execute("""SELECT DISTINCT function FROM frames WHERE trace_id IN (SELECT trace_id FROM events JOIN processes ON processes.id = process_id
                       WHERE run_id = ?)""", (run,)).fetchall(), "functions of stacks")


def check_kinds(db, trace, run):
    """Every kind of event (--trace=all): slices and instants of threads, who held which lock, CPU samples with their stacks."""
    same(trace.ask("SELECT name, idx, value FROM stats WHERE severity IN ('error', 'data_loss') AND value <> 0"), [], "errors of the trace processor")
    events = db.execute("""SELECT start_ns, duration_ns, tid, events.kind, objects.name, coalesce(threads.name, ''), events.trace_id FROM events
                           JOIN objects ON objects.id = object_id JOIN processes ON processes.id = process_id
                           LEFT JOIN threads USING (process_id, tid) WHERE run_id = ?""", (run,)).fetchall()
    for kind in ("hold", "cpu", "region", "mark", "flow", "sleep", "syscall", "alloc"):
        assert any(event[3] == kind for event in events), f"the recording has no {kind}"
    same(trace.ask("SELECT ts, dur, tid, category FROM slice JOIN thread_track ON thread_track.id = track_id JOIN thread USING (utid) WHERE category IS NOT NULL"),
         [event[:4] for event in events if event[3] not in ("hold", "cpu")], "slices and instants of threads")
    same(trace.ask("SELECT track.name, slice.ts, slice.dur, slice.name FROM slice JOIN track ON track.id = slice.track_id WHERE track.name GLOB '*: holders'"),
         [(f"hold {name}: holders", start, duration, thread) for start, duration, _, kind, name, thread, _ in events if kind == "hold"], "holds on the tracks of locks")
    callers = {row[0]: row[1:] for row in trace.ask("""SELECT callsite.id, callsite.parent_id, frame.name FROM stack_profile_callsite AS callsite
                                                      JOIN stack_profile_frame AS frame ON frame.id = callsite.frame_id""")}
    def stack(callsite):
        names = []
        while callsite is not None:
            callsite, name = callers[callsite]
            names.append(name)
        return tuple(names)
    def functions(trace_id):
        return tuple(name for name, in db.execute("SELECT function FROM frames WHERE trace_id = ? ORDER BY depth", (trace_id,)))
    same([(ts, tid, pid, stack(callsite)) for ts, tid, pid, callsite in
          trace.ask("SELECT ts, tid, pid, callsite_id FROM perf_sample JOIN thread USING (utid) JOIN process USING (upid)")],
         [(*row[:3], functions(row[3])) for row in
          db.execute("""SELECT start_ns, tid, pid, events.trace_id FROM events JOIN processes ON processes.id = process_id
                        WHERE run_id = ? AND kind = 'cpu'""", (run,))], "CPU samples")


def check_fibers(db, trace, run):
    """Fibers: their slices and moments with their numbers, and all of one fiber, on any threads, as one flow in the order of time."""
    same(trace.ask("SELECT name, idx, value FROM stats WHERE severity IN ('error', 'data_loss') AND value <> 0"), [], "errors of the trace processor")
    events = db.execute("""SELECT start_ns, duration_ns, tid, events.kind, events.kind || ' ' || objects.name, value FROM events
                           JOIN objects ON objects.id = object_id JOIN processes ON processes.id = process_id
                           WHERE run_id = ? AND events.kind IN ('spawn', 'fiber', 'finish')""", (run,)).fetchall()
    assert events
    same(trace.ask("""SELECT ts, dur, tid, category, slice.name, args.int_value FROM slice JOIN thread_track ON thread_track.id = track_id JOIN thread USING (utid)
                      JOIN args ON args.arg_set_id = slice.arg_set_id AND args.key = 'debug.fiber'"""), events, "fibers")
    flows = trace.ask("""SELECT before.int_value, after.int_value, first.ts, second.ts FROM flow
                         JOIN slice AS first ON first.id = slice_out JOIN args AS before ON before.arg_set_id = first.arg_set_id AND before.key = 'debug.fiber'
                         JOIN slice AS second ON second.id = slice_in JOIN args AS after ON after.arg_set_id = second.arg_set_id AND after.key = 'debug.fiber'""")
    assert all(before == after and first <= second for before, after, first, second in flows), "a flow from fiber to fiber, or backwards"
    same([(len(flows),)], [(len(events) - len({event[5] for event in events}),)], "steps of fibers")


def main(path, directory, kind, file):
    db = sqlite3.connect(path)
    run, = db.execute("SELECT max(id) FROM runs").fetchone()
    trace = TraceProcessor(directory, file)
    if kind in ("kinds", "fibers"):
        (check_kinds if kind == "kinds" else check_fibers)(db, trace, run)
        return
    check_common(db, trace, run)
    if kind == "perfetto":
        check_perfetto(db, trace, run)


if __name__ == "__main__":
    main(*sys.argv[1:])
