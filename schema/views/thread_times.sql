DROP VIEW IF EXISTS thread_times;
CREATE VIEW thread_times AS
-- Question: what did each thread do with its time?
-- Rows: one per thread with events (clear profile --trace). The view thread_use has which stacks start threads. A condition on run_id, also by
--   a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process
--   tid [number]: the thread, by the kernel's id
--   thread [text]: its name; empty: it has none
--   first_ns [ns]: start of its first event, since the start of the run
--   last_ns [ns]: end of its last one
--   events [count]: its events that were kept
--   waits [count]: waits for others
--   wait_ns [ns]: their time
--   max_wait_ns [ns]: the longest
--   sleep_ns [ns]: time asleep
--   io_ns [ns]: time in blocking system calls
--   other_ns [ns]: what is left of the time from first_ns to last_ns: it ran, or was ready to
--   releases [count]: how often it let others go on
SELECT
    processes.run_id,
    processes.id AS process_id,
    CAST(substr(used.value, 1, 20) AS INTEGER) AS tid,
    coalesce(threads.name, '') AS thread,
    CAST(substr(used.value, 21, 20) AS INTEGER) AS first_ns,
    CAST(substr(used.value, 41, 20) AS INTEGER) AS last_ns,
    CAST(substr(used.value, 61, 20) AS INTEGER) AS events,
    CAST(substr(used.value, 81, 20) AS INTEGER) AS waits,
    CAST(substr(used.value, 101, 20) AS INTEGER) AS wait_ns,
    CAST(substr(used.value, 121, 20) AS INTEGER) AS max_wait_ns,
    CAST(substr(used.value, 141, 20) AS INTEGER) AS sleep_ns,
    CAST(substr(used.value, 161, 20) AS INTEGER) AS io_ns,
    CAST(substr(used.value, 41, 20) AS INTEGER) - CAST(substr(used.value, 21, 20) AS INTEGER)
    - CAST(substr(used.value, 101, 20) AS INTEGER) - CAST(substr(used.value, 141, 20) AS INTEGER)
    - CAST(substr(used.value, 161, 20) AS INTEGER) AS other_ns,
    CAST(substr(used.value, 181, 20) AS INTEGER) AS releases
FROM processes
-- The sums come from json_each, as in the view heap.
JOIN json_each(
    (SELECT '["' || group_concat(sums, '","') || '"]'
     FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d', events.tid, min(events.start_ns), max(events.start_ns + events.duration_ns),
                         count(*), count(*) FILTER (WHERE class = 'wait'), sum(iif(class = 'wait', duration_ns, 0)),
                         max(iif(class = 'wait', duration_ns, 0)), sum(iif(class = 'sleep', duration_ns, 0)),
                         sum(iif(class = 'io', duration_ns, 0)), count(*) FILTER (WHERE class = 'release')) AS sums
           FROM events
           LEFT JOIN event_kinds ON event_kinds.kind = events.kind
           WHERE events.process_id = processes.id
           GROUP BY events.tid))) AS used
LEFT JOIN threads ON threads.process_id = processes.id AND threads.tid = CAST(substr(used.value, 1, 20) AS INTEGER);
