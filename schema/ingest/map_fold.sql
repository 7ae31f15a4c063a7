-- Adds the mappings of profile :from to those of profile :into.
INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes, unmap_count, unmap_bytes)
SELECT :into, trace_id, use, label_set_id, map_count, map_bytes, unmap_count, unmap_bytes
FROM maps
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, use) DO UPDATE
SET map_count = map_count + excluded.map_count,
    map_bytes = map_bytes + excluded.map_bytes,
    unmap_count = unmap_count + excluded.unmap_count,
    unmap_bytes = unmap_bytes + excluded.unmap_bytes;
