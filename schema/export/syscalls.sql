-- The system calls of the profiles of run :run that end after :from and up to :to, in the columns of `clear export --sql`.
SELECT
    name AS function,
    sum(calls) AS "calls/count",
    sum(errors) AS "errors/count",
    sum(syscalls.time_ns) AS "time/nanoseconds"
FROM syscalls
JOIN profiles ON profiles.id = syscalls.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY name
ORDER BY name;
