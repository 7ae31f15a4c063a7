DROP VIEW IF EXISTS lock_use;
CREATE VIEW lock_use AS
-- Question: which lock is taken how often, who waits for it, and how long is it held?
-- Rows: one per run, process, lock and caller, over all windows of the recording; of an ingested file one per profile, lock and
--   caller. Of a recorded lock all acquisitions without a wait are one row without a caller, and holds of them that are longer than 5 to
--   8 us are rows of the stack that released the lock. A condition on run_id, also by a join or a subquery, reads the rows of those runs only.
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
--   max_hold_ns [ns]: the longest exclusive hold that was timed; where timed_holds is less than acquires there may be longer ones
--   read_acquires [count]: shared acquisitions, whose holds are not timed
--   read_contended [count]: those of them that had to wait
--   read_wait_ns [ns]: sum of their waits
--   read_max_wait_ns [ns]: the longest of their waits
--   timeouts [count]: waits that ended at their time limit, without the lock; their time is in wait_ns
--   unfinished [count]: waits that were not over when the process ended; their time is in wait_ns
--   failed_tries [count]: calls that only try, and found the lock taken
--   condition_waits [count]: of a mutex: waits on condition variables that released it
--   timed_holds [count]: holds that were timed: where less than acquires, hold_ns is an estimate; 0: not known
--   wait_seen_ns [ns]: of wait_ns and read_wait_ns, about: waits that a look of the recorder met, with shorter ones that these stand for
--   wait_delay_ns [ns]: of wait_seen_ns: the thread that had the lock, or the one that waited, was ready and had no processor; at least
--   hold_delay_ns [ns]: of hold_ns, while others waited: the thread that had the lock was ready and had no processor; at least
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
         WHEN used.first_trace_id <> 0 THEN 'first'
         ELSE '' END AS stack_of,
    used.acquires,
    used.contended,
    used.wait_ns,
    used.max_wait_ns,
    used.hold_ns,
    used.max_hold_ns,
    used.read_acquires,
    used.read_contended,
    used.read_wait_ns,
    used.read_max_wait_ns,
    used.timeouts,
    used.unfinished,
    used.failed_tries,
    used.condition_waits,
    used.timed_holds,
    used.wait_seen_ns,
    used.wait_delay_ns,
    used.hold_delay_ns
FROM profiles
JOIN lock_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = CASE WHEN used.trace_id <> 0 THEN used.trace_id
                                      WHEN objects.trace_id <> 0 THEN objects.trace_id
                                      ELSE used.first_trace_id END;
