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
--   lost_wakes [count]: of a condition variable: waits that ended at their time limit though a signal had come before them that met nobody
--   mutex_address [address]: of a condition variable: of the mutex that its waiters release; condition variables of one process with
--     one mutex are the sides of a queue. 0: not known
--   waker_trace_id [id]: the stack that used the object first without a wait, in all its rows: of a condition variable, that woke its waiters
--     first; 0: not known
SELECT
    profiles.run_id,
    used.profile_id,
    places.trace_id,
    objects.id AS object_id,
    objects.name AS object,
    used.kind,
    used.address,
    places.function,
    places.file,
    places.line,
    places.module,
    CASE WHEN used.trace_id <> 0 THEN 'caller'
         WHEN objects.trace_id <> 0 THEN 'allocation'
         WHEN used.waker_trace_id <> 0 THEN 'first'
         ELSE '' END AS stack_of,
    used.acquires AS passes,
    used.contended AS waited,
    used.timeouts,
    used.unfinished,
    used.wait_ns,
    used.max_wait_ns,
    used.failed_tries,
    used.signals,
    used.broadcasts,
    used.futile_wakes,
    used.woken,
    used.own_wakes,
    used.lost_wakes,
    used.mutex_address,
    used.waker_trace_id
FROM profiles
JOIN wait_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = CASE WHEN used.trace_id <> 0 THEN used.trace_id
                                      WHEN objects.trace_id <> 0 THEN objects.trace_id
                                      ELSE used.waker_trace_id END;
