-- CPU samples of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)
SELECT c0, c1, c2, c3, c4
FROM memory_rows;
