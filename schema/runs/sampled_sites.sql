-- What each stack of the run :run allocated and has live, of profiles that were sampled: as estimated, with their rate. A row is a stack of a
-- process; sample_n 1 and period 0 are no sampling of that kind.
SELECT
    max(profiles.sample_n, 1) AS sample_n,
    iif(profiles.period_type = 'space' AND profiles.sample_n <= 1, profiles.period, 0) AS period,
    sum(sites.alloc_count) AS alloc_count,
    sum(sites.alloc_bytes) AS alloc_bytes,
    sum(sites.alloc_count - sites.free_count) AS inuse_count,
    sum(sites.alloc_bytes - sites.free_bytes) AS inuse_bytes
FROM profiles
JOIN sites ON sites.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'heap'
  AND (profiles.sample_n > 1 OR profiles.period_type = 'space' AND profiles.period > 1)
GROUP BY 1, 2, coalesce(profiles.process_id, -profiles.id), sites.trace_id
