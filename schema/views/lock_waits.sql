DROP VIEW IF EXISTS lock_waits;
CREATE VIEW lock_waits AS
-- Question: who waited for whom, when, for how long, and who let it go on?
-- Rows: one per wait of a recording with clear profile --trace: for a lock, a condition variable, a semaphore, a barrier, the end of a
--   thread or a futex. Only the latest are kept: processes.lost_events has how many are not.
-- Columns:
--   event_id [id]: the wait, in events
--   run_id [id]: the run
--   process_id [id]: the process
--   start_ns [ns]: when it began, since the start of the run
--   duration_ns [ns]: how long it took
--   tid [number]: the thread that waited, by the kernel's id
--   thread [text]: its name
--   kind [text]: as in events
--   object_id [id]: what it waited for, in objects
--   object [text]: its name for people
--   address [address]: of it in the process
--   trace_id [id]: the stack that waited; 0: unknown
--   function [text]: of that stack, as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   owner_tid [number]: the thread that had the lock when the wait began; of a join the thread that was joined; NULL: unknown, or none
--   owner [text]: its name; NULL: unknown
--   is_late [0 or 1]: 1: it ended at its time limit, or was interrupted or cancelled
--   release_id [id]: the release that ended it, in events: the last one of the lock before the end of the wait; NULL: none is known. A lock
--     is released several times during one wait where others get it first. Of a join: the end of the thread
--   released_by [number]: the thread that released it
--   release_trace_id [id]: the stack that released it, which is where the lock was held to
--   release_function [text]: of that stack, as in the view places
--   release_file [text]: as in the view places
--   release_line [line]: as in the view places
SELECT
    waits.id AS event_id,
    processes.run_id,
    waits.process_id,
    waits.start_ns,
    waits.duration_ns,
    waits.tid,
    coalesce(waiters.name, '') AS thread,
    waits.kind,
    waits.object_id,
    objects.name AS object,
    waits.address,
    waits.trace_id,
    places.function,
    places.file,
    places.line,
    waits.owner_tid,
    owners.name AS owner,
    waits.is_late,
    releases.id AS release_id,
    releases.tid AS released_by,
    releases.trace_id AS release_trace_id,
    CASE WHEN releases.id IS NOT NULL THEN release_places.function END AS release_function,
    CASE WHEN releases.id IS NOT NULL THEN release_places.file END AS release_file,
    CASE WHEN releases.id IS NOT NULL THEN release_places.line END AS release_line
FROM processes
JOIN events AS waits ON waits.process_id = processes.id AND waits.kind IN (SELECT kind FROM event_kinds WHERE class = 'wait')
JOIN objects ON objects.id = waits.object_id
JOIN places ON places.trace_id = waits.trace_id
LEFT JOIN threads AS waiters ON waiters.process_id = waits.process_id AND waiters.tid = waits.tid
LEFT JOIN threads AS owners ON owners.process_id = waits.process_id AND owners.tid = waits.owner_tid
LEFT JOIN events AS releases
    ON releases.id = CASE waits.kind WHEN 'join'
        THEN (SELECT events.id
              FROM events
              WHERE events.process_id = waits.process_id AND events.tid = waits.owner_tid AND events.kind = 'death'
                AND events.start_ns BETWEEN waits.start_ns AND waits.start_ns + waits.duration_ns
                AND waits.is_late = 0
              ORDER BY events.start_ns DESC
              LIMIT 1)
        ELSE (SELECT events.id
              FROM events
              WHERE events.process_id = waits.process_id AND events.address = waits.address AND events.kind = 'release'
                AND events.start_ns BETWEEN waits.start_ns AND waits.start_ns + waits.duration_ns
                AND waits.is_late = 0
              ORDER BY events.start_ns DESC
              LIMIT 1) END
JOIN places AS release_places ON release_places.trace_id = coalesce(releases.trace_id, 0); -- a LEFT JOIN would read all places
