-- What the threads of one run waited for that is no lock, its processes and windows summed, one row per identity and stack, as the
-- locks of diff/lock.sql. passes: waits that ended as they should, also those that took no time; waited: all that took time.
SELECT
    iif(locks.trace_id <> 0, locks.trace_id, objects.trace_id) AS trace_id,
    substr(objects.identity, 1, length(objects.identity) - number.length) AS identity,
    substr(objects.name, 1, length(objects.name) - number.length) AS name,
    sum(locks.acquires) AS passes,
    sum(locks.contended + locks.timeouts + locks.unfinished) AS waited,
    sum(locks.wait_ns) AS wait_ns,
    sum(locks.timeouts) AS timeouts,
    sum(locks.unfinished) AS unfinished,
    sum(locks.signals + locks.broadcasts) AS wakes,
    sum(locks.futile_wakes) AS futile_wakes
FROM profiles
JOIN locks ON locks.profile_id = profiles.id
JOIN objects ON objects.id = locks.object_id
JOIN (SELECT id, iif(identity GLOB 'heap:*#*', length(identity) - instr(identity, '#') + 1, 0) AS length
      FROM objects) AS number ON number.id = objects.id
WHERE profiles.run_id = :run AND profiles.kind = 'wait'
GROUP BY 2, 1
