-- What came in as CPU profiles of run :run, row by row: samples and time.
SELECT
    cpu.trace_id,
    cpu.label_set_id,
    cpu.samples,
    cpu.cpu_ns
FROM cpu
JOIN profiles ON profiles.id = cpu.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind
ORDER BY cpu.profile_id, cpu.trace_id, cpu.label_set_id;
