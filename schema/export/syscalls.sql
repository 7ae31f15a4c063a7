-- The system calls of profile :profile, one sample each, in the columns of `clear export --sql`.
SELECT
    name AS function,
    calls AS "calls/count",
    errors AS "errors/count",
    time_ns AS "time/nanoseconds"
FROM syscalls
WHERE profile_id = :profile
ORDER BY name;
