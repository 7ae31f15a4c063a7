-- Adds the CPU samples of profile :from to those of profile :into.
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)
SELECT :into, trace_id, label_set_id, samples, cpu_ns
FROM cpu
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, label_set_id) DO UPDATE
SET samples = samples + excluded.samples,
    cpu_ns = cpu_ns + excluded.cpu_ns;
