DROP VIEW IF EXISTS lock_use;
CREATE VIEW lock_use AS
-- Question: which lock is taken how often, who waits for it, and how long is it held? One row a profile, lock and caller.
-- object: what a person calls the lock; address: where it stood in the process. kind: mutex, rwlock, spin, '' unknown.
-- trace_id and function, file, line, module (as in the view places): the caller's stack where it was recorded
--   (stack_of = 'caller'), else the stack that allocated the lock ('allocation'), else none (0, '').
-- acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns: exclusive side. read_*: shared side, whose holds are
--   not timed. Waits are those of contended operations, nanoseconds.
SELECT
    profiles.run_id,
    locks.profile_id,
    places.trace_id,
    locks.object_id,
    objects.name AS object,
    locks.kind,
    locks.address,
    places.function,
    places.file,
    places.line,
    places.module,
    CASE WHEN locks.trace_id <> 0 THEN 'caller' WHEN objects.trace_id <> 0 THEN 'allocation' ELSE '' END AS stack_of,
    locks.acquires,
    locks.contended,
    locks.wait_ns,
    locks.max_wait_ns,
    locks.hold_ns,
    locks.max_hold_ns,
    locks.read_acquires,
    locks.read_contended,
    locks.read_wait_ns,
    locks.read_max_wait_ns
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN objects ON objects.id = locks.object_id
JOIN places ON places.trace_id = CASE WHEN locks.trace_id <> 0 THEN locks.trace_id ELSE objects.trace_id END;
