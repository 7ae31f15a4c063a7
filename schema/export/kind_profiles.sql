-- The profiles of run :run of kind :kind (or :also or :further, NULL for none) that end up to :to: whether each came in with sample types of its
-- own, these types, and whether it counts in full, since it ends after :from; else what it left in use counts alone.
SELECT
    id,
    process_id IS NULL AND sample_types <> '[]',
    sample_types,
    time_ns > :from
FROM profiles
WHERE run_id = :run AND kind IN (:kind, :also, :further) AND time_ns <= :to
ORDER BY id;
