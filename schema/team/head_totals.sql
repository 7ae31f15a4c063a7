-- The totals of the runs with the months $2 and uuids $3 (arrays, one for one) of project $1, as the table run_totals of a file has them: place in
-- the arrays, then its columns. A figure that was not recorded is 0. Joins of sets: with a subquery for each run 10,000 runs took 9 s.
WITH wanted AS (
    SELECT month, run, number
    FROM unnest($2::date[], $3::uuid[]) WITH ORDINALITY AS item(month, run, number)
),
totals AS (
    SELECT
        wanted.number,
        sum(value) FILTER (WHERE figure = 'alloc_count') AS alloc_count,
        sum(value) FILTER (WHERE figure = 'alloc_bytes') AS alloc_bytes,
        sum(value) FILTER (WHERE figure = 'inuse_count') AS inuse_count,
        sum(value) FILTER (WHERE figure = 'inuse_bytes') AS inuse_bytes,
        sum(value) FILTER (WHERE figure = 'peak_bytes') AS peak_bytes,
        sum(value) FILTER (WHERE figure = 'lock_acquires') AS lock_acquires,
        sum(value) FILTER (WHERE figure = 'lock_contended') AS lock_contended,
        sum(value) FILTER (WHERE figure = 'lock_wait_ns') AS lock_wait_ns,
        sum(value) FILTER (WHERE figure = 'cpu_ns') AS cpu_ns,
        sum(value) FILTER (WHERE figure = 'recorder_cpu_ns') AS recorder_cpu_ns
    FROM wanted
    JOIN clear.figures ON figures.project = $1 AND figures.month = wanted.month AND figures.run = wanted.run AND figures.subject = ''
    GROUP BY wanted.number
),
losses AS (
    SELECT
        wanted.number,
        sum(dropped) AS dropped,
        sum(truncated) AS truncated,
        max(sample_n) AS sample_n,
        max(period) FILTER (WHERE kind = 'heap' AND period_type = 'space' AND sample_n <= 1) AS sample_bytes
    FROM wanted
    JOIN clear.profiles ON profiles.project = $1 AND profiles.month = wanted.month AND profiles.run = wanted.run
    GROUP BY wanted.number
)
SELECT
    wanted.number,
    coalesce(totals.alloc_count, 0)::bigint,
    coalesce(totals.alloc_bytes, 0)::bigint,
    coalesce(totals.inuse_count, 0)::bigint,
    coalesce(totals.inuse_bytes, 0)::bigint,
    coalesce(totals.peak_bytes, 0)::bigint,
    coalesce(totals.lock_acquires, 0)::bigint,
    coalesce(totals.lock_contended, 0)::bigint,
    coalesce(totals.lock_wait_ns, 0)::bigint,
    coalesce(totals.cpu_ns, 0)::bigint,
    coalesce(totals.recorder_cpu_ns, 0)::bigint,
    coalesce(losses.dropped, 0)::bigint,
    coalesce(losses.truncated, 0)::bigint,
    greatest(losses.sample_n, 1)::bigint,
    greatest(losses.sample_bytes, 1)::bigint
FROM wanted
LEFT JOIN totals ON totals.number = wanted.number
LEFT JOIN losses ON losses.number = wanted.number
ORDER BY wanted.number
