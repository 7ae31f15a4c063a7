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
    exit_signal
FROM runs
WHERE id = :run
