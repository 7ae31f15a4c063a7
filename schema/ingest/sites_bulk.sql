-- Allocation sites of a profile out of memory (schema/bulk.h). A row that is there already is replaced.
INSERT OR FAIL INTO site_rows(profile_id, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes)
SELECT c0, c1, c2, c3, c4, c5
FROM memory_rows
WHERE true -- without it, SQLite takes ON for a join's
ON CONFLICT (profile_id, site_key_id) DO UPDATE
SET alloc_count = excluded.alloc_count,
    free_count = excluded.free_count,
    alloc_bytes = excluded.alloc_bytes,
    free_bytes = excluded.free_bytes;
