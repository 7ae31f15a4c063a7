-- The locks of a set of runs, those that cost most waiting first. :spans is a JSON array of [run, from, to]: the windows of that run that end
-- after from and up to to, in ns since the epoch. :kind is lock, or wait for what is waited for that is no lock.
SELECT
    objects.name,
    objects.identity,
    min(locks.kind) AS kind,
    sum(wait_ns + read_wait_ns) AS wait_ns,
    max(max(max_wait_ns, read_max_wait_ns)) AS max_wait_ns,
    sum(hold_ns) AS hold_ns,
    max(max_hold_ns) AS max_hold_ns,
    sum(acquires + read_acquires) AS acquires,
    sum(contended + read_contended) AS contended,
    sum(read_acquires) AS read_acquires,
    sum(read_wait_ns) AS read_wait_ns,
    sum(timeouts) AS timeouts,
    sum(unfinished) AS unfinished,
    sum(failed_tries) AS failed_tries,
    sum(condition_waits) AS condition_waits
FROM json_each(:spans) AS span
JOIN profiles ON profiles.run_id = span.value ->> 0
             AND profiles.time_ns > span.value ->> 1
             AND profiles.time_ns <= span.value ->> 2
JOIN locks ON locks.profile_id = profiles.id
JOIN objects ON objects.id = locks.object_id
WHERE profiles.kind = :kind
GROUP BY objects.id
ORDER BY wait_ns DESC, hold_ns DESC, acquires DESC, objects.id
