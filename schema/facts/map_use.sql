CREATE TABLE map_use_facts (
    -- The mappings of one use by one stack, of one process or ingested profile: the rows of `maps` in its windows summed.
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the newest profile of them that has the row
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that mapped
    use         TEXT NOT NULL, -- [text] as in maps
    map_count   INTEGER NOT NULL, -- [count] as in maps
    map_bytes   INTEGER NOT NULL, -- [bytes] as in maps
    unmap_count INTEGER NOT NULL, -- [count] as in maps
    unmap_bytes INTEGER NOT NULL, -- [bytes] as in maps
    PRIMARY KEY (profile_id, trace_id, use)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs maps
INSERT INTO map_use_facts(profile_id, trace_id, use, map_count, map_bytes, unmap_count, unmap_bytes)
SELECT max(profiles.id), trace_id, use, sum(map_count), sum(map_bytes), sum(unmap_count), sum(unmap_bytes)
FROM profiles
JOIN maps ON maps.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY coalesce(profiles.process_id, -profiles.id), profiles.kind, trace_id, use;
