-- What the profiles of one kind of run :run say about themselves, the oldest first. Of unlike
-- periods the greatest goes out and values are added as given, as pprof merges files.
SELECT
    profiles.time_ns,
    profiles.duration_ns,
    profiles.period,
    profiles.period_type,
    profiles.period_unit,
    profiles.default_type,
    profiles.comments,
    profiles.drop_frames,
    profiles.keep_frames,
    profiles.doc_url,
    profiles.mappings,
    profiles.dropped,
    profiles.truncated,
    profiles.sample_n,
    runs.command,
    runs.uuid,
    runs.label,
    runs.content_hash IS NULL AS recorded
FROM profiles
JOIN runs ON runs.id = profiles.run_id
WHERE profiles.run_id = :run AND profiles.kind IN (:kind, :also)
ORDER BY profiles.id;
