-- The waits of a run for a trace file, with their releases. Times are ns since the start of the run.
SELECT
    waits.start_ns,
    waits.duration_ns,
    processes.pid,
    waits.tid,
    waits.kind,
    waits.object,
    waits.function,
    waits.file,
    waits.line,
    waits.owner_tid,
    waits.owner,
    waits.is_late,
    releases.start_ns AS release_ns,
    waits.released_by,
    waits.release_function,
    waits.release_id
FROM lock_waits AS waits
JOIN processes ON processes.id = waits.process_id
LEFT JOIN events AS releases ON releases.id = waits.release_id
WHERE waits.run_id = :run
ORDER BY waits.start_ns, waits.event_id;
