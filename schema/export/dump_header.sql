-- Headers of the text dumps of run :run, over its profiles of :kind that end after :from and up to :to.
SELECT
    coalesce(max(profiles.sample_n), 1) AS sample_n,
    coalesce(sum(profiles.dropped), 0) AS dropped,
    coalesce(sum(profiles.truncated), 0) AS truncated,
    (SELECT coalesce(sum(sites.alloc_count), 0)
     FROM sites
     JOIN profiles ON profiles.id = sites.profile_id
     WHERE profiles.run_id = :run AND profiles.kind = 'heap' AND profiles.time_ns > :from
       AND profiles.time_ns <= :to) AS total_allocs,
    EXISTS (SELECT 1
            FROM locks
            JOIN profiles ON profiles.id = locks.profile_id
            WHERE profiles.run_id = :run AND profiles.kind = 'lock' AND locks.trace_id <> 0) AS lock_callers,
    -- Allocations that were sampled by size: mean bytes between two of them, else 0.
    coalesce(max(profiles.period) FILTER (WHERE profiles.kind = 'heap' AND profiles.period_type = 'space'
                                                AND profiles.sample_n <= 1), 0) AS sample_bytes
FROM profiles
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to;
