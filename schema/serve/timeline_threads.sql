-- The threads of the run :run that had events, processes in the order of their start, the events of each in figures, and how many events of its
-- process are not here (processes.lost_events). A class is looked up only for what took time, which is less than half of the events.
SELECT
    threads.process_id,
    processes.pid,
    threads.tid,
    threads.name AS thread,
    count(events.id) AS events,
    coalesce(min(events.start_ns), 0) AS start_ns,
    coalesce(max(events.start_ns + events.duration_ns), 0) AS end_ns,
    coalesce(sum(CASE WHEN events.duration_ns > 0 AND events.kind IN (SELECT kind FROM event_kinds WHERE class = 'wait') THEN events.duration_ns END), 0) AS wait_ns,
    processes.lost_events
FROM processes
CROSS JOIN threads ON threads.process_id = processes.id
LEFT JOIN events ON events.process_id = threads.process_id AND events.tid = threads.tid
WHERE processes.run_id = :run
GROUP BY threads.process_id, threads.tid
ORDER BY threads.process_id, 6, threads.tid
