DROP VIEW IF EXISTS wait_chains;
CREATE VIEW wait_chains AS
-- Question: what did the thread wait for that another one waited for, and so on?
-- Rows: one per step of each wait whose owner is known (clear profile --trace). Step 1 is the wait itself; step 2 a wait of the owner at the
--   same time, in which it could not go on either; step 3 one of that wait's owner. Chains end after 16 steps: a circle is a deadlock.
--   The events of all runs are read, whatever a condition says.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process
--   event_id [id]: the wait that the chain explains, in events and in lock_waits
--   step [count]: 1, 2, ...
--   step_event_id [id]: the wait of this step
--   start_ns [ns]: when the step began to matter, since the start of the run
--   duration_ns [ns]: for how much of the first wait it did
--   tid [number]: the thread that waits in this step
--   kind [text]: as in events
--   object_id [id]: what it waits for
--   object [text]: its name for people
--   trace_id [id]: the stack that waits
--   owner_tid [number]: the thread that has it; NULL: unknown, or none
WITH RECURSIVE chains(event_id, step, step_event_id, start_ns, end_ns) AS (
    SELECT id, 1, id, start_ns, start_ns + duration_ns
    FROM events
    WHERE owner_tid IS NOT NULL AND kind IN (SELECT kind FROM event_kinds WHERE class = 'wait')
    UNION ALL
    SELECT chains.event_id, chains.step + 1, next.id, max(chains.start_ns, next.start_ns),
           min(chains.end_ns, next.start_ns + next.duration_ns)
    FROM chains
    JOIN events AS waits ON waits.id = chains.step_event_id
    -- From the owner's last wait before the step began, which may still last, to those that begin within it.
    JOIN events AS next
        ON next.process_id = waits.process_id AND next.tid = waits.owner_tid
       AND next.start_ns >= coalesce((SELECT max(before.start_ns)
                                      FROM events AS before
                                      WHERE before.process_id = waits.process_id AND before.tid = waits.owner_tid
                                        AND before.start_ns <= chains.start_ns
                                        AND before.kind IN (SELECT kind FROM event_kinds WHERE class = 'wait')), 0)
       AND next.start_ns < chains.end_ns
    WHERE next.kind IN (SELECT kind FROM event_kinds WHERE class = 'wait') AND next.start_ns + next.duration_ns > chains.start_ns AND chains.step < 16
)
SELECT
    processes.run_id,
    waits.process_id,
    chains.event_id,
    chains.step,
    chains.step_event_id,
    chains.start_ns,
    chains.end_ns - chains.start_ns AS duration_ns,
    waits.tid,
    waits.kind,
    waits.object_id,
    objects.name AS object,
    waits.trace_id,
    waits.owner_tid
FROM chains
JOIN events AS waits ON waits.id = chains.step_event_id
JOIN processes ON processes.id = waits.process_id
JOIN objects ON objects.id = waits.object_id;
