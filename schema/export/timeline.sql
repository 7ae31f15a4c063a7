-- The statements of export/timeline.c.

-- @events: The events of a :process, which were stored one after the other: a range of ids is read faster than an index.
SELECT id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid, is_late, value, kind = 'flow' AS is_flow,
       kind IN ('spawn', 'fiber', 'finish') AS is_fiber
FROM events NOT INDEXED
WHERE id BETWEEN :first AND :last AND process_id = :process;

-- @processes: The processes of a run that have events, with the range of ids in which those are.
SELECT
    processes.id,
    processes.pid,
    processes.executable,
    (SELECT min(events.id) FROM events WHERE events.process_id = processes.id) AS first_event,
    (SELECT max(events.id) FROM events WHERE events.process_id = processes.id) AS last_event
FROM processes
WHERE processes.run_id = :run AND EXISTS (SELECT 1 FROM events WHERE events.process_id = processes.id)
ORDER BY processes.id;

-- @threads: The threads of a :process and their names.
SELECT tid, name
FROM threads
WHERE process_id = :process
ORDER BY tid;
