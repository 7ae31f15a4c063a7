-- The stacks of one run with CPU samples, its processes and windows summed.
SELECT
    cpu.trace_id,
    sum(cpu.cpu_ns) AS cpu_ns,
    sum(cpu.samples) AS samples
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
WHERE profiles.run_id = :run
  AND profiles.kind <> 'recorder'
GROUP BY cpu.trace_id
