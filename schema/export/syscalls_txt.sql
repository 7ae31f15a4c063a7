-- Lines of syscalls.txt of run :run, as strace -c prints them: the most expensive first.
SELECT
    coalesce(100.0 * sum(syscalls.time_ns) / nullif(sum(sum(syscalls.time_ns)) OVER (), 0), 0.0),
    sum(syscalls.time_ns) / 1e9,
    sum(syscalls.time_ns) / 1000 / max(sum(syscalls.calls), 1),
    sum(syscalls.calls),
    sum(syscalls.errors),
    syscalls.name
FROM syscalls
JOIN profiles ON profiles.id = syscalls.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'syscalls'
GROUP BY syscalls.name
ORDER BY sum(syscalls.time_ns) DESC, sum(syscalls.calls) DESC, syscalls.name;
