-- Adds the looks at threads of profile :from, of kind wall or off-cpu, to those of profile :into.
INSERT INTO samples(profile_id, trace_id, label_set_id, v0, v1)
SELECT :into, trace_id, label_set_id, v0, v1
FROM samples
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, label_set_id) DO UPDATE
SET v0 = v0 + excluded.v0,
    v1 = v1 + excluded.v1;
