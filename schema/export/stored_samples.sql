-- What came in as profiles of any other kind of run :run, row by row: eight values, and the rest of them as JSON.
SELECT
    samples.trace_id,
    samples.label_set_id,
    v0,
    v1,
    v2,
    v3,
    v4,
    v5,
    v6,
    v7,
    more
FROM samples
JOIN profiles ON profiles.id = samples.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind
ORDER BY samples.profile_id, samples.trace_id, samples.label_set_id;
