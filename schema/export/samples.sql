-- The samples of profile :profile of a kind that has no table of its own: trace, label set, values in the order of
-- profiles.sample_types, those after the eighth as JSON.
SELECT
    trace_id,
    label_set_id,
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
WHERE profile_id = :profile;
