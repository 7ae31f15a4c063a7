-- Adds the allocation sites of profile :from to those of profile :into. Bytes that are NULL in both stay NULL: the blocks of such a
-- site have one size (schema/tables.sql).
INSERT INTO site_rows(profile_id, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes)
SELECT :into, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes
FROM site_rows
WHERE profile_id = :from
ON CONFLICT (profile_id, site_key_id) DO UPDATE
SET alloc_count = alloc_count + excluded.alloc_count,
    free_count = free_count + excluded.free_count,
    alloc_bytes = iif(site_rows.alloc_bytes IS NULL AND excluded.alloc_bytes IS NULL, NULL,
        coalesce(site_rows.alloc_bytes,
                 site_rows.alloc_count * (SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id))
        + coalesce(excluded.alloc_bytes,
                   excluded.alloc_count * (SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id))),
    free_bytes = iif(site_rows.free_bytes IS NULL AND excluded.free_bytes IS NULL, NULL,
        coalesce(site_rows.free_bytes,
                 site_rows.free_count * (SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id))
        + coalesce(excluded.free_bytes,
                   excluded.free_count * (SELECT block_bytes FROM site_keys WHERE site_keys.id = site_rows.site_key_id)));
