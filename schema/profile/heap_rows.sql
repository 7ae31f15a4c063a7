-- The statements of query/profile/load/heap_rows.c.

-- @joined: The sites of a profile for bulk.h: figures, then what its site is. Bytes that are NULL are the count times the block_bytes.
SELECT take_row(:into, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes, trace_id, label_set_id, block_bytes)
FROM site_rows
CROSS JOIN site_keys ON site_keys.id = site_rows.site_key_id
WHERE profile_id = :profile

-- @plain: The same where the sites are known.
SELECT take_row(:into, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes)
FROM site_rows
WHERE profile_id = :profile

-- @sites: What sites are, from site :first on.
SELECT id, trace_id, label_set_id, block_bytes
FROM site_keys
WHERE id >= :first
ORDER BY id
