-- From version 4 to 5: what a run lost and how it was sampled among its totals, which are computed again when they are first needed; the
-- base of a gate's rule; numbers of events; an index of the runs by start, and one of sleeps and system calls.

ALTER TABLE events ADD COLUMN value INTEGER;
CREATE INDEX events_blocked ON events(process_id, tid, start_ns) WHERE kind IN ('sleep', 'syscall');
CREATE INDEX runs_started ON runs(started_ns DESC, id DESC);

DROP TRIGGER run_totals_profiles_update;
DROP TABLE run_totals;
CREATE TABLE run_totals (
    -- The totals of a run, kept when it ends or was read, so that the view run_summary reads one row of a run instead of its sites. A run
    -- without a row is summed from its rows: a run that is not over, or one whose row was deleted because its rows were changed by hand.
    run_id          INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    alloc_count     INTEGER NOT NULL, -- [count] blocks allocated
    alloc_bytes     INTEGER NOT NULL, -- [bytes] bytes allocated
    inuse_count     INTEGER NOT NULL, -- [count] blocks live at the end
    inuse_bytes     INTEGER NOT NULL, -- [bytes] bytes live at the end
    peak_bytes      INTEGER NOT NULL, -- [bytes] live at most: the sum of the peaks of its processes; 0: not recorded
    lock_acquires   INTEGER NOT NULL, -- [count] acquisitions of locks, exclusive and shared
    lock_contended  INTEGER NOT NULL, -- [count] how often a thread had to wait for one, whether it got it or not
    lock_wait_ns    INTEGER NOT NULL, -- [ns] sum of their waits
    cpu_ns          INTEGER NOT NULL, -- [ns] CPU time of the program that was sampled
    recorder_cpu_ns INTEGER NOT NULL, -- [ns] CPU time that the recording took inside the program, beside cpu_ns
    dropped         INTEGER NOT NULL, -- [count] events that could not be recorded
    truncated       INTEGER NOT NULL, -- [count] stacks that were cut
    sample_n        INTEGER NOT NULL, -- [number] every Nth event was recorded; 1: all were
    sample_bytes    INTEGER NOT NULL  -- [number] allocations were sampled by size, one per this many bytes on average; 1: all were recorded
) STRICT;

CREATE TRIGGER run_totals_profiles_insert AFTER INSERT ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id = NEW.run_id;
END;

CREATE TRIGGER run_totals_profiles_update AFTER UPDATE OF id, run_id, kind, dropped, truncated, sample_n, period, period_type ON profiles
BEGIN
    DELETE FROM run_totals WHERE run_id IN (OLD.run_id, NEW.run_id);
END;

CREATE TEMP TABLE old_gates AS SELECT * FROM main.gates;
DROP TABLE main.gates;
CREATE TABLE gates (
    -- One rule of clear gate: which change of which figure is too much. They come from `gates:` in clear.yaml, or else are clear's own.
    name          TEXT PRIMARY KEY, -- [text] of the rule
    place         INTEGER NOT NULL, -- [number] 1, 2, ...: the order in which the rules were given
    figure        TEXT NOT NULL DEFAULT '',  -- [text] figure of the view series; empty: the rule is a query
    query         TEXT NOT NULL DEFAULT '',  -- [text] @NAME of a saved query, or a SELECT, with the columns subject, old and new
    subject       TEXT NOT NULL DEFAULT '',  -- [text] GLOB pattern of the subjects that are judged; empty: the whole run
    base          TEXT NOT NULL DEFAULT '',  -- [text] set of runs that are compared with where --base names none; clear gc keeps them. Empty: none
    direction     TEXT NOT NULL DEFAULT 'up', -- [text] up, down or both: which change is judged
    limit_percent REAL NOT NULL DEFAULT 0,   -- [percent] of the old value: a change must be more than this, ...
    limit_value   REAL NOT NULL DEFAULT 0,   -- [unit of the figure] ... and more than this
    runs          INTEGER NOT NULL DEFAULT 1, -- [count] runs that each side needs at least; never less than 5 of a timed figure
    is_timed      INTEGER NOT NULL DEFAULT 0, -- [0 or 1] the figure varies from run to run
    action        TEXT NOT NULL DEFAULT 'fail', -- [text] fail or warn
    is_own        INTEGER NOT NULL DEFAULT 0 -- [0 or 1] the rule is clear's own
) STRICT;
INSERT INTO gates(name, place, figure, query, subject, direction, limit_percent, limit_value, runs, is_timed, action, is_own)
SELECT name, place, figure, query, subject, direction, limit_percent, limit_value, runs, is_timed, action, is_own FROM old_gates;
DROP TABLE old_gates;

PRAGMA user_version = 5;
