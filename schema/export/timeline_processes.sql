-- The processes of a run that have events, with the range of ids in which those are.
SELECT
    processes.id,
    processes.pid,
    processes.executable,
    (SELECT min(events.id) FROM events WHERE events.process_id = processes.id) AS first_event,
    (SELECT max(events.id) FROM events WHERE events.process_id = processes.id) AS last_event
FROM processes
WHERE processes.run_id = :run AND EXISTS (SELECT 1 FROM events WHERE events.process_id = processes.id)
ORDER BY processes.id;
