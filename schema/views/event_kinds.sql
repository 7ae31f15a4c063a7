DROP VIEW IF EXISTS event_kinds;
CREATE VIEW event_kinds AS
-- Question: what do events of a kind have in common?
-- Rows: one per kind of event that has a meaning here. Events of other kinds are regions if they take time, else marks.
-- Columns:
--   kind [text]: as in events
--   class [text]: wait: the thread stood still until somebody let it go on; sleep: for a time that it chose; io: in a system call, until the
--     system had done it. These three are off-CPU time. release: it let others go on; hold: it had a lock; ready: it would have
--     run on, and had no processor; region: work that has a name;
--     mark: a moment; sample: a stack that ran
--   topic [text]: of waits sync, as of Go's tracer; of others sleep, io, and empty
SELECT column1 AS kind, column2 AS class, CASE column2 WHEN 'wait' THEN 'sync' WHEN 'sleep' THEN 'sleep' WHEN 'io' THEN 'io' ELSE '' END AS topic
FROM (VALUES
    ('mutex', 'wait'), ('rwlock', 'wait'), ('read', 'wait'), ('spin', 'wait'), ('own', 'wait'), ('cond', 'wait'), ('sem', 'wait'),
    ('barrier', 'wait'), ('join', 'wait'), ('futex', 'wait'), ('channel', 'wait'),
    ('release', 'release'), ('hold', 'hold'), ('preempted', 'ready'), ('sleep', 'sleep'), ('syscall', 'io'), ('region', 'region'), ('cpu', 'sample'),
    ('mark', 'mark'), ('flow', 'mark'), ('retry', 'mark'), ('alloc', 'mark'), ('free', 'mark'), ('birth', 'mark'), ('death', 'mark'),
    ('fork', 'mark'), ('exec', 'mark'), ('exit', 'mark'), ('fiber', 'region'), ('spawn', 'mark'), ('finish', 'mark')) AS kinds;
