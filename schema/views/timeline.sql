DROP VIEW IF EXISTS timeline;
CREATE VIEW timeline AS
-- Question: what did the threads do and wait for, when, and for how long?
-- Rows: one per event of a recording with clear profile --trace, or of an ingested trace, but the releases, which stand with the waits
--   that they ended. Only the latest are kept: processes.lost_events has how many are not.
-- Columns: those of lock_waits, which are NULL from owner_tid on for what is no wait, and
--   class [text]: as in event_kinds; region or mark where that has no such kind
--   value [number]: as in events; NULL of a wait
SELECT *, 'wait' AS class, NULL AS value
FROM lock_waits
UNION ALL
SELECT
    events.id,
    processes.run_id,
    events.process_id,
    events.start_ns,
    events.duration_ns,
    events.tid,
    coalesce(threads.name, ''),
    events.kind,
    events.object_id,
    objects.name,
    events.address,
    events.trace_id,
    places.function,
    places.file,
    places.line,
    NULL, NULL, events.is_late, NULL, NULL, NULL, NULL, NULL, NULL,
    coalesce((SELECT class FROM event_kinds WHERE event_kinds.kind = events.kind), CASE WHEN events.duration_ns > 0 THEN 'region' ELSE 'mark' END),
    events.value
FROM processes
JOIN events ON events.process_id = processes.id
           AND events.kind NOT IN (SELECT kind FROM event_kinds WHERE class IN ('wait', 'release'))
JOIN objects ON objects.id = events.object_id
JOIN places ON places.trace_id = events.trace_id
LEFT JOIN threads ON threads.process_id = events.process_id AND threads.tid = events.tid;
