-- The threads of the run :run that had events, processes in the order of their start, and the events of each in figures.
SELECT
    threads.process_id,
    processes.pid,
    threads.tid,
    threads.name AS thread,
    count(events.id) AS events,
    coalesce(min(events.start_ns), 0) AS start_ns,
    coalesce(max(events.start_ns + events.duration_ns), 0) AS end_ns,
    coalesce(sum(events.duration_ns) FILTER (WHERE event_kinds.class = 'wait'), 0) AS wait_ns
FROM processes
JOIN threads ON threads.process_id = processes.id
LEFT JOIN events ON events.process_id = threads.process_id AND events.tid = threads.tid
LEFT JOIN event_kinds ON event_kinds.kind = events.kind
WHERE processes.run_id = :run
GROUP BY threads.process_id, threads.tid
ORDER BY threads.process_id, 6, threads.tid
