DROP VIEW IF EXISTS critical_path;
CREATE VIEW critical_path AS
-- Question: what decided how long a process, or one of its regions, took?
-- Rows: the steps back from the end of a process in its first thread, or from the end of a region in its own. Where the thread was let go
--   on by a release of another one, the path goes on in that thread at that moment, because what it did until then is what was waited for.
--   The steps are one after the other: their times add up to the whole. Read one with WHERE run_id = ... AND region_id IS NULL, or
--   WHERE region_id = ... Paths end after 100,000 steps.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process
--   region_id [id]: the region, in events; NULL: the whole process
--   step [number]: 1 is the last in time
--   what [text]: ran: the thread ran, or was ready to, or slept, or was in a system call; woke: it had been let go on and did not run yet;
--     waited: for something whose end no release in the events explains
--   tid [number]: the thread, by the kernel's id
--   thread [text]: its name
--   start_ns [ns]: of the step, since the start of the run
--   duration_ns [ns]: of the step
--   event_id [id]: the wait before it (ran), or that it is (woke, waited), in events; NULL: none
--   object_id [id]: what that wait was for, in objects; NULL: none
--   object [text]: its name for people
--   trace_id [id]: ran: the stack at which the step ends, where it is known: of the release, or of the wait after it; else of the wait
WITH targets(run_id, process_id, region_id, tid, start_ns, end_ns) AS (
    SELECT processes.run_id, processes.id, NULL, processes.pid, max(processes.started_ns - runs.started_ns, 0), processes.ended_ns - runs.started_ns
    FROM processes
    JOIN runs ON runs.id = processes.run_id
    WHERE processes.ended_ns IS NOT NULL AND EXISTS (SELECT 1 FROM events WHERE events.process_id = processes.id)
    UNION ALL
    SELECT processes.run_id, processes.id, events.id, events.tid, events.start_ns, events.start_ns + events.duration_ns
    FROM processes
    JOIN events ON events.process_id = processes.id
    WHERE events.kind = 'region'
)
SELECT
    targets.run_id,
    targets.process_id,
    targets.region_id,
    CAST(steps.key AS BIGINT) + 1 AS step,
    steps.value ->> 0 AS what,
    CAST(steps.value ->> 1 AS BIGINT) AS tid,
    coalesce(threads.name, '') AS thread,
    CAST(steps.value ->> 2 AS BIGINT) AS start_ns,
    CAST(steps.value ->> 3 AS BIGINT) - CAST(steps.value ->> 2 AS BIGINT) AS duration_ns,
    waits.id AS event_id,
    waits.object_id,
    objects.name AS object,
    coalesce(nullif(CAST(steps.value ->> 5 AS BIGINT), 0), waits.trace_id, 0) AS trace_id
FROM targets
JOIN json_each(
    (WITH RECURSIVE path(step, what, tid, start_ns, end_ns, wait_id, next_what, next_tid, next_ns, trace_id, next_trace_id) AS (
         SELECT 0, '', CAST(NULL AS BIGINT), targets.end_ns, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), 'ran', targets.tid,
                CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)
         UNION ALL
         SELECT
             path.step + 1,
             path.next_what,
             path.next_tid,
             max(targets.start_ns, CASE WHEN path.next_what = 'ran'
                                        THEN coalesce(min(waits.start_ns + waits.duration_ns, path.start_ns), targets.start_ns)
                                        ELSE path.next_ns END),
             path.start_ns,
             CASE WHEN path.next_what = 'ran' THEN waits.id ELSE path.wait_id END,
             CASE WHEN path.next_what <> 'ran' THEN 'ran'
                  WHEN releases.id IS NOT NULL THEN 'woke'
                  ELSE 'waited' END,
             CASE WHEN path.next_what = 'ran' THEN path.next_tid ELSE coalesce(releases.tid, path.next_tid) END,
             coalesce(releases.start_ns, waits.start_ns),
             path.next_trace_id,
             CASE WHEN path.next_what <> 'ran' THEN coalesce(releases.trace_id, old.trace_id) END
         FROM path
         -- The last wait before the step in its thread.
         LEFT JOIN events AS waits
             ON path.next_what = 'ran'
            AND waits.id = (SELECT events.id
                            FROM events
                            WHERE events.process_id = targets.process_id AND events.tid = path.next_tid AND events.start_ns < path.start_ns
                              AND events.kind IN (SELECT kind FROM event_kinds WHERE class = 'wait')
                            ORDER BY events.start_ns DESC
                            LIMIT 1)
         LEFT JOIN events AS old ON path.next_what <> 'ran' AND old.id = path.wait_id
         -- What let it go on: the last release, or, as a join returns when its thread ends, the end of that thread (of any, where it is not
         -- known which one was joined).
         LEFT JOIN events AS releases
             ON coalesce(waits.is_late, old.is_late) = 0
            AND releases.id = CASE coalesce(waits.kind, old.kind) WHEN 'join'
                THEN (SELECT events.id
                      FROM events
                      WHERE events.process_id = targets.process_id AND events.kind = 'death'
                        AND events.tid = coalesce(waits.owner_tid, old.owner_tid, events.tid)
                        AND events.start_ns BETWEEN coalesce(waits.start_ns, old.start_ns)
                                                AND coalesce(waits.start_ns + waits.duration_ns, old.start_ns + old.duration_ns)
                      ORDER BY events.start_ns DESC
                      LIMIT 1)
                ELSE (SELECT events.id
                      FROM events
                      WHERE events.process_id = targets.process_id AND events.kind = 'release'
                        AND events.address = coalesce(waits.address, old.address)
                        AND events.start_ns BETWEEN coalesce(waits.start_ns, old.start_ns)
                                                AND coalesce(waits.start_ns + waits.duration_ns, old.start_ns + old.duration_ns)
                      ORDER BY events.start_ns DESC
                      LIMIT 1) END
         WHERE path.start_ns > targets.start_ns AND path.step < 100000 AND (path.what <> 'ran' OR path.wait_id IS NOT NULL)
     )
     SELECT json_group_array(json_array(what, tid, start_ns, end_ns, wait_id, trace_id))
     FROM path
     WHERE step > 0)) AS steps ON true
LEFT JOIN events AS waits ON waits.id = CAST(steps.value ->> 4 AS BIGINT)
LEFT JOIN objects ON objects.id = waits.object_id
LEFT JOIN threads ON threads.process_id = targets.process_id AND threads.tid = CAST(steps.value ->> 1 AS BIGINT);
