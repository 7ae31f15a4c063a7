DROP VIEW IF EXISTS wait_use;
CREATE VIEW wait_use AS
-- Question: which condition variable, semaphore, barrier, thread or futex do threads wait for, where, and how long?
-- Rows: one per run, process, object and caller, over all windows of the recording. What took no time, and the wakes, are a row
--   without a caller. A condition WHERE run_id = 3, or = :run, reads that run only.
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
--   mutex_address [address]: of a condition variable: of the mutex that its waiters release; condition variables of one process with
--     one mutex are the sides of a queue. 0: not known
--   waker_trace_id [id]: the stack that used the object first without a wait, in all its rows: of a condition variable, that woke its waiters
--     first; 0: not known
SELECT
    used.run_id,
    used.profile_id,
    places.trace_id,
    used.object_id,
    objects.name AS object,
    used.kind,
    used.address,
    places.function,
    places.file,
    places.line,
    places.module,
    CASE WHEN used.trace_id <> 0 THEN 'caller' WHEN objects.trace_id <> 0 THEN 'allocation'
         WHEN used.waker_trace_id <> 0 THEN 'first' ELSE '' END AS stack_of,
    used.passes,
    used.waited,
    used.timeouts,
    used.unfinished,
    used.wait_ns,
    used.max_wait_ns,
    used.failed_tries,
    used.signals,
    used.broadcasts,
    used.futile_wakes,
    used.woken,
    used.mutex_address,
    used.waker_trace_id
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, locks.object_id, locks.address, locks.trace_id,
             max(locks.kind) AS kind, sum(acquires) AS passes, sum(contended) AS waited, sum(timeouts) AS timeouts,
             sum(unfinished) AS unfinished, sum(wait_ns) AS wait_ns, max(max_wait_ns) AS max_wait_ns,
             sum(failed_tries) AS failed_tries, sum(signals) AS signals, sum(broadcasts) AS broadcasts,
             sum(futile_wakes) AS futile_wakes, sum(woken) AS woken, max(mutex_address) AS mutex_address,
             max(max(first_trace_id)) OVER (PARTITION BY profiles.run_id, coalesce(profiles.process_id, -profiles.id),
                                                         locks.object_id, locks.address) AS waker_trace_id
      FROM locks
      JOIN profiles ON profiles.id = locks.profile_id
      WHERE profiles.kind = 'wait'
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, locks.object_id,
               locks.address, locks.trace_id) AS used
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = CASE WHEN used.trace_id <> 0 THEN used.trace_id
                                      WHEN objects.trace_id <> 0 THEN objects.trace_id
                                      ELSE used.waker_trace_id END;
