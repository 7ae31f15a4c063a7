-- Which windows of a kind of run :run end after :from and up to :to: the first and the last number, how many the run has, from
-- when to when, in nanoseconds from the start of the run.
SELECT
    coalesce(min(number) FILTER (WHERE is_taken), 0),
    coalesce(max(number) FILTER (WHERE is_taken), 0),
    coalesce(max(number), 0),
    min(time_ns - duration_ns) FILTER (WHERE is_taken) - (SELECT started_ns FROM runs WHERE id = :run),
    max(time_ns) FILTER (WHERE is_taken) - (SELECT started_ns FROM runs WHERE id = :run)
FROM (SELECT time_ns, duration_ns, dense_rank() OVER (ORDER BY time_ns) AS number,
             time_ns > :from AND time_ns <= :to AS is_taken
      FROM profiles
      WHERE run_id = :run AND kind IN (:kind, :also));
