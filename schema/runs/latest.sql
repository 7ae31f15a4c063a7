-- The run that is :back runs before the newest. A run whose recording has written no data yet comes after all others: whoever asks
-- for the latest run wants figures.
SELECT id
FROM runs
ORDER BY
    (' ' || flags || ' ') GLOB '* unfinished *' AND NOT EXISTS (SELECT 1 FROM profiles WHERE run_id = runs.id),
    started_ns DESC,
    id DESC
LIMIT 1 OFFSET :back
