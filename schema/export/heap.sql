-- The heap samples of profile :profile: trace, label set, values. Rows of one stack are summed by the reader.
SELECT
    trace_id,
    label_set_id,
    alloc_count AS "alloc_objects/count",
    alloc_bytes AS "alloc_space/bytes",
    alloc_count - free_count AS "inuse_objects/count",
    alloc_bytes - free_bytes AS "inuse_space/bytes"
FROM sites
WHERE profile_id = :profile
ORDER BY trace_id, label_set_id;
