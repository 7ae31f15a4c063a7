-- The :limit longest events of the run :run that touch the time from :start to :end, in ns since its start, and took at most :longest ns; and of
-- a wait who ended it. What took no longer than that began no earlier than that before :start, so that a part of a run is read by the index
-- alone.
WITH found AS (
    SELECT events.id
    FROM processes
    CROSS JOIN threads ON threads.process_id = processes.id
    CROSS JOIN events ON events.process_id = processes.id AND events.tid = threads.tid
        AND events.start_ns BETWEEN CAST(:start AS INTEGER) - CAST(:longest AS INTEGER) AND CAST(:end AS INTEGER)
    WHERE processes.run_id = :run AND events.start_ns + events.duration_ns >= CAST(:start AS INTEGER) AND events.duration_ns <= CAST(:longest AS INTEGER)
    ORDER BY events.duration_ns DESC, events.id
    LIMIT CAST(:limit AS INTEGER)),
longest AS (SELECT events.* FROM found CROSS JOIN events ON events.id = found.id)
SELECT
    longest.id AS event_id,
    longest.process_id,
    longest.tid,
    longest.start_ns,
    longest.duration_ns,
    longest.kind,
    coalesce(event_kinds.class, iif(longest.duration_ns, 'region', 'mark')) AS class,
    objects.name AS object,
    longest.trace_id,
    places.function,
    longest.owner_tid,
    longest.is_late,
    releases.tid AS released_by,
    releases.start_ns AS released_ns,
    release_places.function AS release_function
FROM longest
JOIN objects ON objects.id = longest.object_id
JOIN places ON places.trace_id = longest.trace_id
LEFT JOIN event_kinds ON event_kinds.kind = longest.kind
LEFT JOIN events AS releases ON releases.id = (SELECT release_id FROM lock_waits WHERE lock_waits.event_id = longest.id)
LEFT JOIN places AS release_places ON release_places.trace_id = releases.trace_id
ORDER BY longest.duration_ns DESC, longest.id
