-- The CPU samples of run :run, in the columns of `clear export --sql`.
SELECT
    cpu.trace_id,
    cpu.label_set_id,
    sum(cpu.samples) AS "samples/count",
    sum(cpu.cpu_ns) AS "cpu/nanoseconds"
FROM cpu
JOIN profiles ON profiles.id = cpu.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
GROUP BY cpu.trace_id, cpu.label_set_id
ORDER BY cpu.trace_id, cpu.label_set_id;
