-- The heap samples of profile :profile: trace, label set, values. Rows of one stack are summed by the reader. Of a window before the
-- ones that are asked for (:counted is 0) only what it left in use counts: a state is no difference.
SELECT
    trace_id,
    label_set_id,
    alloc_count * :counted AS "alloc_objects/count",
    alloc_bytes * :counted AS "alloc_space/bytes",
    alloc_count - free_count AS "inuse_objects/count",
    alloc_bytes - free_bytes AS "inuse_space/bytes"
FROM sites
WHERE profile_id = :profile;
