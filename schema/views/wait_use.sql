DROP VIEW IF EXISTS wait_use;
CREATE VIEW wait_use AS
-- Question: which condition variable, semaphore, barrier, thread or futex do threads wait for, where, and how long?
-- Rows: one per run, process, object and caller, over all windows of the recording. What took no time, and the wakes, are a row
--   without a caller. A condition on run_id, also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that stack_of names; 0: none
--   object_id [id]: what is waited for, in objects
--   object [text]: its name for people
--   kind [text]: cond (condition variable), sem (semaphore), barrier, join (the end of a thread), futex (of another runtime, whose
--     acquisitions without a wait are not seen)
--   address [address]: of the object in the process
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   stack_of [text]: caller: the stack that waited; allocation: the stack that allocated the object; first: the stack that used it first
--     without a wait, which woke the waiters of a condition variable; empty: none is known
--   passes [count]: waits that ended as they should, also those that took no time
--   waited [count]: those of them that had to wait
--   timeouts [count]: waits that ended at their time limit or by a signal
--   unfinished [count]: waits that were not over when the process ended
--   wait_ns [ns]: sum of all waits
--   max_wait_ns [ns]: the longest
--   failed_tries [count]: calls that only try, and would have had to wait
--   signals [count]: wakes of one waiter
--   broadcasts [count]: wakes of several
--   futile_wakes [count]: of a condition variable: threads that were woken and waited again before they released the mutex
--   woken [count]: of a futex: threads that were woken, as the kernel says
--   own_wakes [count]: of a futex or semaphore: of the wakes, those by threads that had waited for it before: those of a lock or pool, and
--     not of a queue
--   mutex_address [address]: of a condition variable: of the mutex that its waiters release; condition variables of one process with
--     one mutex are the sides of a queue. 0: not known
--   waker_trace_id [id]: the stack that used the object first without a wait, in all its rows: of a condition variable, that woke its waiters
--     first; 0: not known
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
         WHEN coalesce((SELECT max(nullif(other.first_trace_id, 0))
              FROM locks AS other
              WHERE other.profile_id = locks.profile_id AND other.object_id = locks.object_id
                AND other.address = locks.address),
             CAST(substr(used.value, 321, 20) AS INTEGER)) <> 0 THEN 'first'
         ELSE '' END AS stack_of,
    coalesce(locks.acquires, CAST(substr(used.value, 81, 20) AS INTEGER)) AS passes,
    coalesce(locks.contended, CAST(substr(used.value, 101, 20) AS INTEGER)) AS waited,
    coalesce(locks.timeouts, CAST(substr(used.value, 121, 20) AS INTEGER)) AS timeouts,
    coalesce(locks.unfinished, CAST(substr(used.value, 141, 20) AS INTEGER)) AS unfinished,
    coalesce(locks.wait_ns, CAST(substr(used.value, 161, 20) AS INTEGER)) AS wait_ns,
    coalesce(locks.max_wait_ns, CAST(substr(used.value, 181, 20) AS INTEGER)) AS max_wait_ns,
    coalesce(locks.failed_tries, CAST(substr(used.value, 201, 20) AS INTEGER)) AS failed_tries,
    coalesce(locks.signals, CAST(substr(used.value, 221, 20) AS INTEGER)) AS signals,
    coalesce(locks.broadcasts, CAST(substr(used.value, 241, 20) AS INTEGER)) AS broadcasts,
    coalesce(locks.futile_wakes, CAST(substr(used.value, 261, 20) AS INTEGER)) AS futile_wakes,
    coalesce(locks.woken, CAST(substr(used.value, 281, 20) AS INTEGER)) AS woken,
    coalesce(locks.own_wakes, CAST(substr(used.value, 341, 20) AS INTEGER)) AS own_wakes,
    coalesce(locks.mutex_address, CAST(substr(used.value, 301, 20) AS INTEGER)) AS mutex_address,
    coalesce((SELECT max(nullif(other.first_trace_id, 0))
              FROM locks AS other
              WHERE other.profile_id = locks.profile_id AND other.object_id = locks.object_id
                AND other.address = locks.address),
             CAST(substr(used.value, 321, 20) AS INTEGER)) AS waker_trace_id
FROM window_roles AS profiles
-- The sums of windows come from json_each, as in the view heap.
JOIN json_each(
    CASE profiles.role
        WHEN 'only' THEN '[0]'
        WHEN 'newest' THEN
            (SELECT '["' || group_concat(sums, '","') || '"]'
             FROM (SELECT printf('%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d%20d',
                          locks.object_id, locks.address, locks.trace_id, max(windows.id), sum(locks.acquires),
                          sum(locks.contended), sum(locks.timeouts), sum(locks.unfinished), sum(locks.wait_ns),
                          max(locks.max_wait_ns), sum(locks.failed_tries), sum(locks.signals), sum(locks.broadcasts),
                          sum(locks.futile_wakes), sum(locks.woken), max(locks.mutex_address),
                          max(max(nullif(locks.first_trace_id, 0))) OVER (PARTITION BY locks.object_id, locks.address),
                          sum(locks.own_wakes)) AS sums
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
                                      ELSE coalesce((SELECT max(nullif(other.first_trace_id, 0))
              FROM locks AS other
              WHERE other.profile_id = locks.profile_id AND other.object_id = locks.object_id
                AND other.address = locks.address),
             CAST(substr(used.value, 321, 20) AS INTEGER)) END
WHERE profiles.kind = 'wait';
