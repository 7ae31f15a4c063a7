-- Samples of other types of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO samples(profile_id, trace_id, label_set_id, v0, v1, v2, v3, v4, v5, v6, v7, more)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11
FROM memory_rows;
