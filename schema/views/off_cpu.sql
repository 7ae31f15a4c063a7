DROP VIEW IF EXISTS off_cpu;
CREATE VIEW off_cpu AS
-- Question: where does the time go in which threads do not run: waits, sleeps, system calls?
-- Rows: one per process, thread, kind, object and stack of a recording with clear profile --trace. Only the latest events are kept:
--   processes.lost_events has how many are not. A condition on run_id, also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process
--   tid [number]: the thread, by the kernel's id
--   thread [text]: its name
--   class [text]: wait, sleep or io, as in event_kinds
--   kind [text]: as in events
--   object_id [id]: what it waited for, in objects
--   object [text]: its name for people
--   trace_id [id]: the stack that waited; 0: unknown
--   function [text]: of that stack, as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   count [count]: how often
--   time_ns [ns]: sum of the times
--   max_ns [ns]: the longest
SELECT
    processes.run_id,
    processes.id AS process_id,
    CAST(used.value ->> 0 AS BIGINT) AS tid,
    coalesce(threads.name, '') AS thread,
    (SELECT event_kinds.class FROM event_kinds WHERE event_kinds.kind = used.value ->> 6) AS class,
    used.value ->> 6 AS kind,
    objects.id AS object_id,
    objects.name AS object,
    places.trace_id,
    places.function,
    places.file,
    places.line,
    CAST(used.value ->> 3 AS BIGINT) AS count,
    CAST(used.value ->> 4 AS BIGINT) AS time_ns,
    CAST(used.value ->> 5 AS BIGINT) AS max_ns
FROM processes
-- The sums come from json_each, as in the view heap. Kinds are looked up row by row: SQLite would join them first, and make the sums for each kind.
JOIN json_each(
    (SELECT json_group_array(sums)
     FROM (SELECT json_array(events.tid, events.object_id, events.trace_id, count(*), sum(events.duration_ns),
                             max(events.duration_ns), events.kind) AS sums
           FROM events
           WHERE events.process_id = processes.id AND events.kind IN (SELECT kind FROM event_kinds WHERE class IN ('wait', 'sleep', 'io'))
           GROUP BY events.tid, events.kind, events.object_id, events.trace_id) AS off)) AS used ON true
JOIN objects ON objects.id = CAST(used.value ->> 1 AS BIGINT)
JOIN places ON places.trace_id = CAST(used.value ->> 2 AS BIGINT)
LEFT JOIN threads ON threads.process_id = processes.id AND threads.tid = CAST(used.value ->> 0 AS BIGINT);
