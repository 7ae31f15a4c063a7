-- The statements of query/runs/sampling_error.c.

-- @cpu_samples: The number of CPU samples of one run and their time, its processes and windows summed, and how many independent samples they are as
-- exact as: those that the recorder says, or all where they are not the recorder's (0); NULL: the recorder did not say.
SELECT
    coalesce(sum(cpu.samples), 0) AS samples, coalesce(sum(cpu.cpu_ns), 0) AS cpu_ns,
    CASE WHEN (SELECT source FROM runs WHERE id = :run) <> 'profile' THEN 0
         ELSE (SELECT max(value)
               FROM counters
               JOIN profiles ON profiles.id = counters.profile_id
               WHERE profiles.run_id = :run AND name = 'recorder.cpu_effective_samples')
         END AS independent
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu'

-- @sampled_sites: What each stack of the run :run allocated and has live, of profiles that were sampled: as estimated, with their rate. A row is a stack of a
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

-- @count_variances: Of the run :run, the variance of its number of allocated and of live blocks, where its recorder says it; else NULL. And whether a
-- recorder wrote it.
SELECT
    max(value) FILTER (WHERE name = 'recorder.alloc_count_variance') AS alloc_variance,
    max(value) FILTER (WHERE name = 'recorder.live_count_variance') AS live_variance,
    (SELECT source = 'profile' FROM runs WHERE id = :run) AS is_recorded
FROM counters
JOIN profiles ON profiles.id = counters.profile_id
WHERE profiles.run_id = :run

-- @budget_totals: Of the run :run, recorded with a budget and sampled for a part of it: what it allocated and has live, and the variance of the bytes, as
-- its recorder says. No row of others.
SELECT
    sum(alloc_count), sum(alloc_bytes), sum(alloc_count) - sum(free_count), sum(alloc_bytes) - sum(free_bytes),
    (SELECT max(value) FROM counters JOIN profiles ON profiles.id = counters.profile_id
     WHERE profiles.run_id = :run AND name = 'recorder.alloc_bytes_variance') AS alloc_variance,
    (SELECT max(value) FROM counters JOIN profiles ON profiles.id = counters.profile_id
     WHERE profiles.run_id = :run AND name = 'recorder.live_bytes_variance') AS live_variance
FROM profiles
JOIN sites ON sites.profile_id = profiles.id
WHERE profiles.run_id = :run AND profiles.kind = 'heap'
HAVING alloc_variance IS NOT NULL

-- @sampling_rate: How the heap of the run :run was sampled, the coarsest of its processes and windows: every how many events one was recorded, and every how
-- many bytes; 1 and 0: not at all.
SELECT
    coalesce(max(max(sample_n, 1)), 1) AS sample_n,
    coalesce(max(iif(period_type = 'space' AND sample_n <= 1 AND period > 1, period, 0)), 0) AS period
FROM profiles
WHERE run_id = :run AND kind = 'heap'
