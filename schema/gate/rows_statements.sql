-- The statements of query/gate/rows.c.

-- @run: One run: what must be known before its figures are compared. Losses: events that were dropped, or that stand for others.
SELECT
    uuid,
    started_ns,
    sample_n > 1 OR ' ' || flags LIKE '% sample_bytes=%' OR EXISTS (
        SELECT 1
        FROM profiles
        WHERE run_id = runs.id AND (dropped > 0 OR (kind = 'heap' AND period_type = 'space' AND period > 1))
    ) AS has_losses,
    ' ' || flags || ' ' LIKE '% unfinished %' AS is_unfinished,
    exit_status,
    exit_signal,
    EXISTS (SELECT 1
            FROM profiles
            JOIN counters ON counters.profile_id = profiles.id
            WHERE profiles.run_id = runs.id AND counters.name = 'recorder.paused_ms' AND counters.value * 1e6 >= 0.99 * runs.duration_ns)
        AS is_paused
FROM runs
WHERE id = :run

-- @series: The values of one figure of one run, for the subjects of one scope that match.
SELECT subject, value
FROM series
WHERE run_id = :run AND figure = :figure AND scope = :scope AND subject GLOB :subject

-- @series_of_any: The same for the subjects of every scope but the whole run.
SELECT subject, value
FROM series
WHERE run_id = :run AND figure = :figure AND scope <> 'run' AND subject GLOB :subject
