"""Compares what clear ingest made of a trace with what Google's trace processor makes of it: trace_ingest.py DB RUN DIRECTORY TRACE."""
import sqlite3
import sys

import trace_viewers

db, run, directory, trace = sqlite3.connect(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
theirs = trace_viewers.TraceProcessor(directory, trace).ask("""SELECT slice.ts - (SELECT min(ts) FROM slice), slice.dur, slice.name, coalesce(thread.tid, -1)
    FROM slice LEFT JOIN thread_track ON thread_track.id = track_id LEFT JOIN thread USING (utid)""")
ours = db.execute("""SELECT start_ns, iif(is_late, -1, duration_ns), objects.name, iif(tid < 4294967296, tid, -1) FROM events
    JOIN objects ON objects.id = object_id JOIN processes ON processes.id = process_id WHERE run_id = ?""", (run,)).fetchall()
trace_viewers.same(theirs, ours, trace)
