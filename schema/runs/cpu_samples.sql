-- The number of CPU samples of one run and their time, its processes and windows summed.
SELECT coalesce(sum(cpu.samples), 0) AS samples, coalesce(sum(cpu.cpu_ns), 0) AS cpu_ns
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
