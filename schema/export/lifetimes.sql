-- The histograms of blocks of the windows of run :run that end after :from and up to :to, in the columns of `clear export --sql`: a
-- sample is a bucket.
SELECT
    histograms.trace_id,
    CASE histogram WHEN 'size' THEN from_value END AS "label:bytes/bytes",
    CASE histogram WHEN 'lifetime' THEN from_value END AS "label:lifetime/nanoseconds",
    CASE histogram WHEN 'passed' THEN from_value END AS "label:passed/count",
    sum(CASE histogram WHEN 'size' THEN count ELSE 0 END) AS "allocated/count",
    sum(CASE histogram WHEN 'lifetime' THEN count ELSE 0 END) AS "freed/count",
    sum(CASE histogram WHEN 'passed' THEN count ELSE 0 END) AS "freed_same_thread/count"
FROM histograms
JOIN profiles ON profiles.id = histograms.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), histograms.trace_id, histogram, from_value
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = histograms.trace_id), histograms.trace_id),
    histogram,
    from_value;
