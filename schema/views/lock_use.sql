DROP VIEW IF EXISTS lock_use;
CREATE VIEW lock_use AS
-- Question: which lock is taken how often, who waits for it, and how long is it held?
-- Rows: one per run, process, lock and caller, over all windows of the recording; of an ingested file one per profile, lock and
--   caller. Of a recorded lock all acquisitions without a wait are one row without a caller. A condition on run_id, also by a
--   join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that stack_of names; 0: none
--   object_id [id]: the lock, in objects
--   object [text]: its name for people
--   kind [text]: mutex, rwlock, spin, own; empty: unknown
--   address [address]: of the lock in the process
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   stack_of [text]: caller: where callers were recorded; allocation: the stack that allocated the lock; first: the stack that took it
--     first, of a lock that is not in the heap; empty: none is known
--   acquires [count]: exclusive acquisitions
--   contended [count]: those of them that had to wait
--   wait_ns [ns]: sum of their waits
--   max_wait_ns [ns]: the longest of their waits
--   hold_ns [ns]: sum of the exclusive holds
--   max_hold_ns [ns]: the longest exclusive hold
--   read_acquires [count]: shared acquisitions, whose holds are not timed
--   read_contended [count]: those of them that had to wait
--   read_wait_ns [ns]: sum of their waits
--   read_max_wait_ns [ns]: the longest of their waits
--   timeouts [count]: waits that ended at their time limit, without the lock; their time is in wait_ns
--   unfinished [count]: waits that were not over when the process ended; their time is in wait_ns
--   failed_tries [count]: calls that only try, and found the lock taken
--   condition_waits [count]: of a mutex: waits on condition variables that released it
--   timed_holds [count]: holds that were timed: where less than acquires, hold_ns is an estimate; 0: not known
SELECT
    profiles.run_id,
    coalesce(locks.profile_id, CAST(substr(used.value, 61, 20) AS INTEGER)) AS profile_id,
    places.trace_id,
    objects.id AS object_id,
    objects.name AS object,
    coalesce(locks.kind, (SELECT max(seen.kind)
                          FROM locks AS seen
                          WHERE seen.profile_id = CAST(substr(used.value, 61, 20) AS INTEGER)
                            AND seen.object_id = objects.id AND seen.address = CAST(substr(used.value, 21, 20) AS INTEGER)
                            AND seen.trace_id = CAST(substr(used.value, 41, 20) AS INTEGER))) AS kind,
    coalesce(locks.address, CAST(substr(used.value, 21, 20) AS INTEGER)) AS address,
    places.function,
    places.file,
    places.line,
    places.module,
    CASE WHEN coalesce(locks.trace_id, CAST(substr(used.value, 41, 20) AS INTEGER)) <> 0 THEN 'caller'
         WHEN objects.trace_id <> 0 THEN 'allocation'
         WHEN coalesce(locks.first_trace_id, CAST(substr(used.value, 381, 20) AS INTEGER)) <> 0 THEN 'first'
         ELSE '' END AS stack_of,
    coalesce(locks.acquires, CAST(substr(used.value, 81, 20) AS INTEGER)) AS acquires,
    coalesce(locks.contended, CAST(substr(used.value, 101, 20) AS INTEGER)) AS contended,
    coalesce(locks.wait_ns, CAST(substr(used.value, 121, 20) AS INTEGER)) AS wait_ns,
    coalesce(locks.max_wait_ns, CAST(substr(used.value, 141, 20) AS INTEGER)) AS max_wait_ns,
    coalesce(locks.hold_ns, CAST(substr(used.value, 161, 20) AS INTEGER)) AS hold_ns,
    coalesce(locks.max_hold_ns, CAST(substr(used.value, 181, 20) AS INTEGER)) AS max_hold_ns,
    coalesce(locks.read_acquires, CAST(substr(used.value, 201, 20) AS INTEGER)) AS read_acquires,
    coalesce(locks.read_contended, CAST(substr(used.value, 221, 20) AS INTEGER)) AS read_contended,
    coalesce(locks.read_wait_ns, CAST(substr(used.value, 241, 20) AS INTEGER)) AS read_wait_ns,
    coalesce(locks.read_max_wait_ns, CAST(substr(used.value, 261, 20) AS INTEGER)) AS read_max_wait_ns,
    coalesce(locks.timeouts, CAST(substr(used.value, 281, 20) AS INTEGER)) AS timeouts,
    coalesce(locks.unfinished, CAST(substr(used.value, 301, 20) AS INTEGER)) AS unfinished,
    coalesce(locks.failed_tries, CAST(substr(used.value, 321, 20) AS INTEGER)) AS failed_tries,
    coalesce(locks.condition_waits, CAST(substr(used.value, 341, 20) AS INTEGER)) AS condition_waits,
    coalesce(locks.timed_holds, CAST(substr(used.value, 361, 20) AS INTEGER)) AS timed_holds
FROM window_roles AS profiles
-- The sums of windows come from json_each, as in the view heap.
JOIN json_each(
    CASE profiles.role
        WHEN 'only' THEN '[0]'
        WHEN 'newest' THEN
            (SELECT '["' || group_concat(sums, '","') || '"]'
             FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d',
                          locks.object_id, locks.address, locks.trace_id, max(windows.id), sum(locks.acquires),
                          sum(locks.contended), sum(locks.wait_ns), max(locks.max_wait_ns), sum(locks.hold_ns),
                          max(locks.max_hold_ns), sum(locks.read_acquires), sum(locks.read_contended), sum(locks.read_wait_ns),
                          max(locks.read_max_wait_ns), sum(locks.timeouts), sum(locks.unfinished), sum(locks.failed_tries),
                          sum(locks.condition_waits), sum(locks.timed_holds), max(nullif(locks.first_trace_id, 0))) AS sums
                   FROM profiles AS windows
                   JOIN locks ON locks.profile_id = windows.id
                   WHERE windows.process_id = profiles.process_id AND windows.kind = profiles.kind
                     AND windows.run_id = profiles.run_id
                   GROUP BY locks.object_id, locks.address, locks.trace_id))
        ELSE '[]'
    END) AS used
LEFT JOIN locks ON locks.profile_id = iif(used.value = 0, profiles.profile_id, NULL)
JOIN objects ON objects.id = iif(used.value = 0, locks.object_id, CAST(substr(used.value, 1, 20) AS INTEGER))
JOIN places ON places.trace_id = CASE WHEN coalesce(locks.trace_id, CAST(substr(used.value, 41, 20) AS INTEGER)) <> 0 THEN coalesce(locks.trace_id, CAST(substr(used.value, 41, 20) AS INTEGER))
                                      WHEN objects.trace_id <> 0 THEN objects.trace_id
                                      ELSE coalesce(locks.first_trace_id, CAST(substr(used.value, 381, 20) AS INTEGER)) END
WHERE profiles.kind <> 'wait';
