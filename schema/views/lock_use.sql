DROP VIEW IF EXISTS lock_use;
CREATE VIEW lock_use AS
-- Question: which lock is taken how often, who waits for it, and how long is it held? One row a run, process, lock and caller, over
--   all windows of the recording; of an ingested artefact one a profile, lock and caller.
-- object: what a person calls the lock; address: where it stood in the process. kind: mutex, rwlock, spin, '' unknown.
-- trace_id and function, file, line, module (as in the view places): the caller's stack where it was recorded
--   (stack_of = 'caller'), else the stack that allocated the lock ('allocation'), else none (0, '').
-- acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns: exclusive side. read_*: shared side, whose holds are
--   not timed. Waits are those of contended operations, nanoseconds. profile_id: the newest profile that has the row.
-- WHERE run_id = 3, or = :run, reads that run alone.
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
    CASE WHEN used.trace_id <> 0 THEN 'caller' WHEN objects.trace_id <> 0 THEN 'allocation' ELSE '' END AS stack_of,
    used.acquires,
    used.contended,
    used.wait_ns,
    used.max_wait_ns,
    used.hold_ns,
    used.max_hold_ns,
    used.read_acquires,
    used.read_contended,
    used.read_wait_ns,
    used.read_max_wait_ns
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, locks.object_id, locks.address, locks.trace_id,
             max(locks.kind) AS kind, sum(acquires) AS acquires, sum(contended) AS contended, sum(wait_ns) AS wait_ns,
             max(max_wait_ns) AS max_wait_ns, sum(hold_ns) AS hold_ns, max(max_hold_ns) AS max_hold_ns,
             sum(read_acquires) AS read_acquires, sum(read_contended) AS read_contended,
             sum(read_wait_ns) AS read_wait_ns, max(read_max_wait_ns) AS read_max_wait_ns
      FROM locks
      JOIN profiles ON profiles.id = locks.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, locks.object_id,
               locks.address, locks.trace_id) AS used
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = CASE WHEN used.trace_id <> 0 THEN used.trace_id ELSE objects.trace_id END;
