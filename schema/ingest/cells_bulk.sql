-- Cells of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries,
                          update_failures)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9
FROM memory_rows;
