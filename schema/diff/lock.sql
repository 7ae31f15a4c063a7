-- The locks of one run, its processes and windows summed, one row per identity and stack: the stack of the caller if it was
-- recorded, else the stack that allocated the lock, else none. Exclusive and shared operations are added. Locks in the blocks of one
-- stack are one row, without the number at the end: which of them is the first depends on which thread comes first.
SELECT
    iif(locks.trace_id <> 0, locks.trace_id, objects.trace_id) AS trace_id,
    substr(objects.identity, 1, length(objects.identity) - number.length) AS identity,
    substr(objects.name, 1, length(objects.name) - number.length) AS name,
    sum(locks.acquires + locks.read_acquires) AS operations,
    sum(locks.contended + locks.read_contended + locks.timeouts + locks.unfinished) AS contended,
    sum(locks.wait_ns + locks.read_wait_ns) AS wait_ns,
    sum(locks.hold_ns) AS hold_ns,
    sum(locks.timeouts) AS timeouts,
    sum(locks.unfinished) AS unfinished,
    sum(locks.failed_tries) AS failed_tries
FROM profiles
JOIN locks ON locks.profile_id = profiles.id
JOIN objects ON objects.id = locks.object_id
JOIN (SELECT id, iif(identity GLOB 'heap:*#*', length(identity) - instr(identity, '#') + 1, 0) AS length
      FROM objects) AS number ON number.id = objects.id
WHERE profiles.run_id = :run AND profiles.kind <> 'wait'
GROUP BY 2, 1
