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
    CAST(used.value ->> 0 AS BIGINT) AS tid,
    coalesce(threads.name, '') AS thread,
    CAST(used.value ->> 1 AS BIGINT) AS first_ns,
    CAST(used.value ->> 2 AS BIGINT) AS last_ns,
    CAST(used.value ->> 3 AS BIGINT) AS events,
    CAST(used.value ->> 4 AS BIGINT) AS waits,
    CAST(used.value ->> 5 AS BIGINT) AS wait_ns,
    CAST(used.value ->> 6 AS BIGINT) AS max_wait_ns,
    CAST(used.value ->> 7 AS BIGINT) AS sleep_ns,
    CAST(used.value ->> 8 AS BIGINT) AS io_ns,
    CAST(used.value ->> 2 AS BIGINT) - CAST(used.value ->> 1 AS BIGINT)
    - CAST(used.value ->> 5 AS BIGINT) - CAST(used.value ->> 7 AS BIGINT)
    - CAST(used.value ->> 8 AS BIGINT) AS other_ns,
    CAST(used.value ->> 9 AS BIGINT) AS releases
FROM processes
-- The sums come from json_each, as in the view heap.
JOIN json_each(
    (SELECT json_group_array(sums)
     FROM (SELECT json_array(events.tid, min(events.start_ns), max(events.start_ns + events.duration_ns), count(*),
                              count(*) FILTER (WHERE class = 'wait'), sum(CASE WHEN class = 'wait' THEN duration_ns ELSE 0 END),
                             max(CASE WHEN class = 'wait' THEN duration_ns ELSE 0 END), sum(CASE WHEN class = 'sleep' THEN duration_ns ELSE 0 END),
                             sum(CASE WHEN class = 'io' THEN duration_ns ELSE 0 END), count(*) FILTER (WHERE class = 'release')) AS sums
           FROM events
           LEFT JOIN event_kinds ON event_kinds.kind = events.kind
           WHERE events.process_id = processes.id
           GROUP BY events.tid) AS thread)) AS used ON true
LEFT JOIN threads ON threads.process_id = processes.id AND threads.tid = CAST(used.value ->> 0 AS BIGINT);
