-- The statements of query/runs/timespan.c.

-- @timespan: Which windows of a kind of run :run end after :from and up to :to: the first and the last number, how many the run has, from
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
      WHERE run_id = :run AND kind IN (:kind, :also, :further));

-- @window: Window :number (negative: from the end) of a kind of run :run: how many there are, the end of the one before, its end. Numbers
-- are those of the view windows.
WITH
ends(time_ns, number) AS (
    SELECT time_ns, row_number() OVER (ORDER BY time_ns)
    FROM (SELECT DISTINCT time_ns FROM profiles WHERE run_id = :run AND kind IN (:kind, :also, :further))
),
wanted(number) AS (
    SELECT iif(:number < 0, (SELECT count(*) FROM ends) + 1 + :number, :number)
)
SELECT
    (SELECT count(*) FROM ends),
    (SELECT time_ns FROM ends WHERE number = (SELECT number FROM wanted) - 1),
    (SELECT time_ns FROM ends WHERE number = (SELECT number FROM wanted));
