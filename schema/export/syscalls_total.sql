-- The last line of syscalls.txt of run :run.
SELECT
    100.0,
    coalesce(sum(syscalls.time_ns), 0) / 1e9,
    coalesce(sum(syscalls.time_ns), 0) / 1000 / max(coalesce(sum(syscalls.calls), 1), 1),
    sum(syscalls.calls),
    sum(syscalls.errors),
    'total'
FROM syscalls
JOIN profiles ON profiles.id = syscalls.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'syscalls';
