-- One run: what must be known before its figures are compared. Losses: events that were dropped, or that stand for others.
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
