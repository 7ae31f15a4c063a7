-- The CPU samples of the run :run, and the time that they stand for.
SELECT coalesce(sum(samples), 0) AS samples, coalesce(sum(cpu_ns), 0) AS cpu_ns
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
