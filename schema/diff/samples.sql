-- The stacks of one run in profiles of other kinds (goroutines, folded stacks), with the default value of the profile, or its last
-- value if it names none, as viewers do.
WITH chosen AS (
    SELECT
        profiles.id, profiles.kind,
        coalesce((SELECT max(type.key) FROM json_each(profiles.sample_types) AS type
                  WHERE type.value ->> 0 = profiles.default_type),
                 json_array_length(profiles.sample_types) - 1) AS place,
        profiles.sample_types
    FROM profiles
    WHERE profiles.run_id = :run
)
SELECT
    samples.trace_id,
    chosen.kind || iif(chosen.sample_types ->> place ->> 0 = chosen.kind, '', ' ' || (chosen.sample_types ->> place ->> 0)) ||
        ', ' || (chosen.sample_types ->> place ->> 1) AS what,
    sum(CASE place WHEN 0 THEN v0 WHEN 1 THEN v1 WHEN 2 THEN v2 WHEN 3 THEN v3 WHEN 4 THEN v4 WHEN 5 THEN v5 WHEN 6 THEN v6
                   WHEN 7 THEN v7 ELSE coalesce(more ->> (place - 8), 0) END) AS value
FROM chosen
JOIN samples ON samples.profile_id = chosen.id
GROUP BY 1, 2
