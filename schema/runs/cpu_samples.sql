-- The number of CPU samples of one run, its processes and windows summed.
SELECT coalesce(sum(cpu.samples), 0) AS samples
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
